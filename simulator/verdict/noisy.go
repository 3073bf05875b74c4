package verdict

import (
	"time"

	"locklab/simulator/history"
)

// NOISY, only where history.History.Noisy is above 0: while a client waits for the lock it sends more
// requests than that to servers within one second. Clients: that one. It is reported at the first request
// that is too many, once for each second.
//
// Rules:
//
//   - The client waits from its Acquire to the Enter or Refuse that answers it. Who calls Acquire
//     again and again asks too often by itself.
//   - The seconds are those of the wait: [0 s, 1 s) after the Acquire, [1 s, 2 s) after it, and so on, in
//     true time.
//   - Every request counts that the process sends, whichever thread sends it, whether it arrives or not,
//     and also what a library sends again. What goes to the resource does not.
//   - To renew or check (an Acquire with a Note) is not to wait. The probe of a search is not judged.
type noisy struct {
	waiting history.ClientSet
	second  [MaxClients]second // of those that are waiting
}

// second is the running second of a wait.
type second struct {
	ends time.Duration // true time
	sent int           // requests, to one too many
}

func (n *noisy) observe(in *input) {
	if in.run.noisy == 0 {
		return
	}
	c := client8(in.event.Client)
	switch {
	case in.run.begins(in.event):
		n.waiting.Add(c)
		n.second[c-1] = second{ends: in.at + time.Second}
	case ends(in.event.Kind):
		n.waiting.Remove(c)
		n.second[c-1] = second{}
	case in.event.Kind == history.Send && in.event.Node > 0 && n.waiting.Has(c):
		now := &n.second[c-1]
		now.pass(in.at)
		if now.sent == in.run.noisy {
			in.instant(Noisy, int(c))
		}
		now.sent = min(now.sent+1, in.run.noisy+1)
	}
}

// pass begins another second if s has ended at true time now.
func (s *second) pass(now time.Duration) {
	if now >= s.ends {
		*s = second{ends: s.ends + (now - s.ends).Truncate(time.Second) + time.Second}
	}
}

// rebase makes now the zero of times.
func (n *noisy) rebase(now time.Duration) {
	for waiting := n.waiting; waiting != 0; waiting &= waiting - 1 {
		s := &n.second[waiting.First()-1]
		s.pass(now)
		s.ends -= now
	}
}

func (n *noisy) rename(to *history.Names) {
	n.waiting = n.waiting.Renamed(to)
	for c, s := range n.second { // of a copy
		n.second[to[c+1]-1] = s
	}
}
