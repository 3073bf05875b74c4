package verdict

import (
	"time"

	"locklab/simulator/history"
)

// BLOCKED and DEADLOCK, where nothing bars the lock: it is free, no server is down and no key is left, but a client
// that asks is neither let in nor refused. It waits for a message sent before it listened, or that no client sends.
//
// The interval lasts as long as all of this holds; an Enter of any client ends it. If it lasts for a lease or longer it
// is BLOCKED: a lock that asks again by itself, however seldom, does so sooner. If the run was stopped by its horizon
// it is DEADLOCK from two leases on. Clients: those that waited from its beginning.
//
// A paused client does not count: it is its own pause that it waits for.
type unwoken struct {
	waiting history.ClientSet
	since   time.Duration
	paused  history.ClientSet
}

func (u *unwoken) observe(in *input) {
	switch in.event.Kind {
	case history.Pause:
		u.paused.Add(in.client())
	case history.Resume, history.Crash:
		u.paused.Remove(in.client())
	}
	still := history.ClientSet(0)
	if in.reading.free() && !in.reading.barred(in.run) && (in.reading.keyChanged || in.reading.those(dead) == 0) {
		still = in.reading.those(acquiring) &^ u.paused
	}
	switch {
	case u.waiting&still == 0:
		u.end(in, Blocked)
		u.waiting, u.since = still, in.at
	default:
		u.waiting &= still
	}
}

func (u *unwoken) end(in *input, w Word) {
	if u.waiting != 0 && in.run.TTL > 0 && in.at-u.since >= in.run.TTL {
		in.report(Finding{Verdict: w, Clients: u.waiting.AppendTo(nil), From: u.since, To: in.at})
	}
}

func (u *unwoken) finish(in *input, horizon bool) {
	w := Blocked
	if horizon && in.at-u.since >= 2*in.run.TTL {
		w = Deadlock
	}
	u.end(in, w)
}
