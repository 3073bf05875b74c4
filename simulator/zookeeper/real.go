package zookeeper

import (
	"fmt"
	"slices"
)

// Real is a real ensemble that does whatever the ensemble of a Kind does, act by act. Its
// answers go to the clients; those of the lab are only compared. Clients are numbered
// from 1. It handles errors of the connection itself, and returns the lab's answer
// then.
type Real interface {
	// Serve has it run a request of a client. The events have reached the client by the
	// lab's answer. Of the answer, what a client observes counts: see Session.Do.
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

// real has the real ensemble do what the lab's has done; the answer is the one to send.
func (k *Kind) real(a act, eff *effect) (answer uint32) {
	if k.Real == nil {
		return eff.answer
	}
	answer = eff.answer
	x := k.Executor
	switch a.kind {
	case actServe, actServeOrphan, actServeBeside:
		if eff.refused {
			return answer
		}
		r, was := x.requests.At(a.arg).Request, x.contents.At(a.contents)
		_, reply, _ := was.state.Apply(0, was.peers[a.client-1].session, r)
		if a.kind == actServeOrphan {
			k.Real.ServeOrphan(a.client, r, reply)
			break
		}
		events := x.answers.At(eff.answer).events
		if is := k.Real.Serve(a.client, r, reply, events); r.Observed(is) != r.Observed(reply) {
			answer = x.answers.ID(storedAnswer{events, known(r, is), replyText(r, is), x.answers.At(answer).left})
		}
	case actNotify:
		k.Real.Notify(a.client, x.answers.At(eff.answer).events)
	case actCut:
		k.Real.Cut(a.client)
	case actConnect:
		m := *x.memories.At(a.arg)
		if x.contents.At(a.contents).peers[a.client-1].sessionEnded() {
			m = memory{}
		}
		k.Real.Connect(a.client, m.last(), m.watches, eff.refused)
	case actEnd:
		if !eff.refused {
			k.Real.End(a.client)
		}
	}
	k.Real.Holds(x.contents.At(eff.to).state)
	return answer
}

// Observed returns what of a reply a client can observe, in words; the children are in order.
func (r Request) Observed(reply Reply) string {
	reply = known(r, reply)
	text := fmt.Sprintf("%s %q %q %q", codes[reply.Code].text, reply.Path, reply.Data, slices.Sorted(slices.Values(reply.Children)))
	if reply.Stat.Czxid != 0 {
		text += fmt.Sprintf(", transaction %d", reply.Stat.Czxid)
	}
	return text
}

// Text is the request as histories show it.
func (r Request) Text() []string { return requestText(r) }
