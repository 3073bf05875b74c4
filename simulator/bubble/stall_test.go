package bubble

import (
	"testing"
	"time"
)

// TestChance: what a busy machine does not give to code is not held against it. Code that runs has had its chance when
// processors have worked for patience, and what waits for something else when so much time has passed between looks
// that came on time.
func TestChance(t *testing.T) {
	const ms = time.Millisecond
	type look struct{ due, came, worked time.Duration } // worked since the look before
	for _, test := range []struct {
		what  string
		looks []look
		times int
		state string
		want  bool
	}{
		{"it runs on a busy machine", []look{{20 * ms, 900 * ms, 2 * ms}}, 1000, "runnable", false},
		{"it runs on a busy machine, and looks are on time", []look{{640 * ms, 641 * ms, 20 * ms}}, 100, "runnable", false},
		{"it has run", []look{{20 * ms, 900 * ms, 20 * ms}}, 151, "running", true},
		{"it waits for the system on a busy machine", []look{{20 * ms, 900 * ms, 0}}, 1000, "syscall", false},
		{"it waits for the system", []look{{20 * ms, 21 * ms, 0}, {20 * ms, 200 * ms, 0}}, 143, "syscall", true},
		{"the lab runs", []look{{20 * ms, 20 * ms, 20 * ms}}, 1499, "", false},
		{"the lab runs without end", []look{{20 * ms, 20 * ms, 20 * ms}}, 1501, "", true},
	} {
		var had chance
		var worked time.Duration
		for range test.times {
			for _, l := range test.looks {
				worked += l.worked
				had.look(l.due, l.came, worked)
			}
		}
		if after, _, is := had.over(test.state); is != test.want {
			t.Errorf("%s: after %v: %t", test.what, after, is)
		}
	}
	var had chance
	for _, came := range []time.Duration{21 * ms, 31 * ms} { // what waits as it did at the look before is judged by the second
		if had.look(20*ms, came, 0); had.calm != (came == 21*ms) {
			t.Errorf("a look after %v is on time: %t", came, had.calm)
		}
	}
}
