package verdict

import (
	"time"

	"locklab/simulator/history"
)

// NOISY, only where history.History.Noisy is above 0: while a client waits for the lock it sends more requests than
// that to servers in one second. Clients: that one. It is reported at the first request too many, once for each second.
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
func noisy(in *input) {
	if in.run.Noisy == 0 {
		return
	}
	switch e, me := in.event, in.me(); {
	case in.run.begins(e):
		me.second, me.sent = in.at+time.Second, 0
	case ends(e.Kind):
		me.second, me.sent = 0, 0
	case e.Kind == history.Send && e.Node > 0 && me.second > 0:
		me.passSecond(in.at)
		if int(me.sent) == in.run.Noisy {
			in.instant(Noisy, e.Client)
		}
		me.sent = min(me.sent+1, uint32(in.run.Noisy)+1)
	}
}

// passSecond begins another second of a wait if that which runs has ended at true time now.
func (me *client) passSecond(now time.Duration) {
	if now >= me.second {
		me.second, me.sent = me.second+(now-me.second).Truncate(time.Second)+time.Second, 0
	}
}
