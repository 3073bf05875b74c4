package zookeeper

// Real is a real ensemble that does whatever the ensemble of a Kind does, action by action. Its answers go to the
// clients; those of the lab are only compared. On an error of the connection it returns the lab's answer.
type Real interface {
	Do(a Action) (answer Reply)
}

// An Action is what the lab's ensemble has done.
type Action struct {
	Kind    ActKind
	Client  int8    // from 1
	Request Request // ActServe, ActServeBeside, ActServeOrphan
	Lab     Reply   // to that. What a client observes of it counts: see Session.Do
	Events  []Event // that have reached the client by it; not of ActServeOrphan
	// Seen and Watches are the last transaction that the client has seen, and the watches that its library
	// leaves again on a new connection. Ended says that the session has ended, and the client begins another.
	Seen    int64
	Watches []Watch
	Ended   bool
	Holds   State // what the lab's ensemble holds afterwards
}

// real has the real ensemble do what the lab's has done; the answer is the one to send.
func (k *Kind) real(a act, eff *effect) (answer uint32) {
	if k.Real == nil || eff.refused && a.kind != ActConnect {
		return eff.answer
	}
	x := k.Executor
	was := x.contents.At(a.contents)
	own := was.at(a.client)
	do := Action{Kind: a.kind, Client: a.client, Ended: eff.refused, Holds: x.contents.At(eff.to).state}
	if a.kind.answers() {
		do.Events = x.answers.At(eff.answer).events
	}
	switch {
	case a.kind.serves():
		do.Request = x.requests.At(a.arg).Request
		_, do.Lab, _ = was.state.Apply(own.session, do.Request)
	case a.kind == ActConnect && !own.sessionEnded():
		m := x.memories.At(a.arg)
		do.Seen, do.Watches = m.last(), m.watches
	}
	is, r := k.Real.Do(do), do.Request
	if a.kind == ActServeOrphan || !a.kind.serves() || r.Observed(is) == r.Observed(do.Lab) {
		return eff.answer
	}
	return x.answers.ID(storedAnswer{do.Events, known(r, is), replyText(r, is), x.answers.At(eff.answer).left})
}
