package zookeeper

import (
	"fmt"
	"slices"
)

// Real is a real ensemble that does whatever the ensemble of a Kind does, act by act. What it
// answers is what the clients hear; what the lab answers is only compared. Clients are numbered
// from 1. Errors of the connection to it are its own business: it returns the lab's answer
// then.
type Real interface {
	// Serve has it run a request of a client. The events have reached the client by the
	// lab's answer. Of the answer, what a client is told counts: see Session.Do.
	Serve(client int8, r Request, lab Reply, events []Event) (answer Reply)
	// ServeOrphan has it run a request whose connection has broken.
	ServeOrphan(client int8, r Request, lab Reply)
	// Notify brings events to a client that waits for one.
	Notify(client int8, events []Event)
	// Cut breaks the connection of a client, and Connect makes another, over which the client's
	// library leaves its watches again, if it has any, and tells the last transaction that it has
	// seen. ended: the session has ended, and the client begins another.
	Cut(client int8)
	Connect(client int8, seen int64, watches []Watch, ended bool)
	// End ends the session of a client.
	End(client int8)
	// Holds says what the lab's ensemble holds after each of these.
	Holds(s State)
}

// real has the real ensemble do what the lab's has done; the answer is the one to hear.
func (k *Kind) real(before uint32, a act, eff *effect) (answer uint32) {
	if k.Real == nil {
		return eff.answer
	}
	answer = eff.answer
	switch a.kind {
	case actServe, actServeOrphan, actServeBeside:
		if eff.refused {
			return answer
		}
		r, was := k.requests.At(a.arg).Request, k.contents.At(before)
		_, reply, _ := was.state.Apply(0, was.peers[a.client-1].session, r)
		if a.kind == actServeOrphan {
			k.Real.ServeOrphan(a.client, r, reply)
			break
		}
		events := k.answers.At(eff.answer).events
		if is := k.Real.Serve(a.client, r, reply, events); r.Told(is) != r.Told(reply) {
			answer = k.answers.ID(storedAnswer{events, known(r, is), replyText(r, is), k.answers.At(answer).left})
		}
	case actNotify:
		k.Real.Notify(a.client, k.answers.At(eff.answer).events)
	case actCut:
		k.Real.Cut(a.client)
	case actConnect:
		m := *k.memories.At(a.arg)
		if k.contents.At(before).peers[a.client-1].sessionEnded() {
			m = memory{}
		}
		k.Real.Connect(a.client, m.last(), m.watches, eff.refused)
	case actEnd:
		if !eff.refused {
			k.Real.End(a.client)
		}
	}
	k.Real.Holds(k.contents.At(eff.to).state)
	return answer
}

// Told is what of a reply a client is told, in words; the children are in order.
func (r Request) Told(reply Reply) string {
	reply = known(r, reply)
	text := fmt.Sprintf("%s %q %q %q", codeText[reply.Code], reply.Path, reply.Data, slices.Sorted(slices.Values(reply.Children)))
	if reply.Stat.Czxid != 0 {
		text += fmt.Sprintf(", transaction %d", reply.Stat.Czxid)
	}
	return text
}

// Text is the request as histories show it.
func (r Request) Text() []string { return requestText(r) }
