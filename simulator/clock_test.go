package simulator_test

import (
	"testing"
	"time"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/history"
)

// watcher notes its clock before and after a sleep of ten seconds on it.
func watcher(c *simulator.Client) {
	told := func() { note(c, c.Clock().Now().Sub(simulator.Epoch)) }
	told()
	c.Clock().Sleep(10 * sec)
	told()
}

// TestClientClock reads clocks that are wrong in every way. The numbers before the colons
// are true times.
func TestClientClock(t *testing.T) {
	for _, test := range []struct {
		name   string
		offset time.Duration
		ppm    int32
		want   string
	}{
		{"right", 0, 0, "0s:0s 10s:10s"},
		{"ahead", 3 * sec, 0, "0s:3s 10s:13s"},
		{"behind", -3 * sec, 0, "0s:-3s 10s:7s"},
		{"fast, so it sleeps too short", 0, 250_000, "0s:0s 8s:10s"},
		{"slow, so it sleeps too long", 0, -200_000, "0s:0s 12.5s:10s"},
		{"behind and fast", -sec, 250_000, "0s:-1s 8s:9s"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, simulator.Config{Clients: []simulator.ClientConfig{{Program: watcher, Offset: test.offset, PPM: test.ppm}}})
			s.settle(sec * 60)
			s.wantNotes(test.want)
			for _, e := range s.told {
				drift := time.Duration(test.ppm) * (e.At / 1_000_000)
				if e.Client == 1 && e.Skew != test.offset+drift {
					t.Errorf("%v at %v has a skew of %v", e.Kind, e.At, e.Skew)
				}
			}
		})
	}
}

// A jump shows in the readings, and does not change how long a sleep lasts that has
// begun.
func TestClientClockJumps(t *testing.T) {
	for d, want := range map[time.Duration]string{sec: "0s:0s 10s:11s", -sec: "0s:0s 10s:9s"} {
		s := solo(t, watcher)
		s.settle(2 * sec)
		s.step(faults.ClientClockOf(1, d))
		s.settle(60 * sec)
		s.wantNotes(want)
		if last := s.told[len(s.told)-1]; last.Skew != d {
			t.Errorf("after a jump of %v the skew is %v", d, last.Skew)
		}
	}
}

// The time-out of a command is measured on the client's own clock.
func TestTimeoutRunsOnTheClientsClock(t *testing.T) {
	program := func(c *simulator.Client) { do(c, 1, "PING") }
	s := newStage(t, simulator.Config{
		Clients: []simulator.ClientConfig{{Program: program, PPM: 250_000}}, Timeout: 10 * sec, Faults: budget(t),
	})
	s.step(simulator.Choice{Verb: simulator.Start, Client: 1}, faults.LoseRequestOf(1, 0))
	s.settle(60 * sec)
	if e := s.told[len(s.told)-2]; e.Kind != history.Timeout || e.At != 8*sec {
		t.Errorf("got %v at %v, want a time-out at 8s", e.Kind, e.At)
	}
}

// TestServerClock ends a lease of ten seconds by servers' clocks that drift or are set
// wrong.
func TestServerClock(t *testing.T) {
	holder := func(c *simulator.Client) {
		do(c, 1, "SET", "lock", "x", "PX", 10000)
		c.Clock().Sleep(60 * sec)
	}
	const ms = time.Millisecond
	for _, test := range []struct {
		name string
		node simulator.NodeConfig
		jump time.Duration // at two seconds
		want time.Duration // true time at which the key goes
	}{
		{"right", simulator.NodeConfig{}, 0, 10*sec + ms},
		{"ahead", simulator.NodeConfig{Offset: 3 * sec}, 0, 10*sec + ms},
		{"half a millisecond ahead", simulator.NodeConfig{Offset: ms / 2}, 0, 10*sec + ms/2},
		{"half a millisecond behind", simulator.NodeConfig{Offset: -ms / 2}, 0, 10*sec + ms/2},
		{"fast", simulator.NodeConfig{PPM: 250_000}, 0, 8*sec + ms*8/10},
		{"slow", simulator.NodeConfig{PPM: -200_000}, 0, 12500*ms + ms*10/8},
		{"set forward", simulator.NodeConfig{}, 900 * ms, 9100*ms + ms},
		{"set back", simulator.NodeConfig{}, -900 * ms, 10900*ms + ms},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t, simulator.Config{
				Clients: []simulator.ClientConfig{{Program: holder}}, Nodes: []simulator.NodeConfig{test.node}, Faults: budget(t),
			})
			s.settle(2 * sec)
			var until time.Duration
			for _, e := range s.told {
				if e.Kind == history.Change {
					until = e.Until
				}
			}
			if test.jump != 0 {
				s.step(faults.NodeClockOf(1, test.jump))
			} else if until != test.want {
				t.Errorf("the grant is told to last until %v, want %v", until, test.want)
			}
			s.settle(20 * sec)
			for _, e := range s.told {
				if e.Kind == history.Expire {
					if e.At != test.want || e.Key != "lock" || e.Before != "x" || e.Node != 1 {
						t.Errorf("%q expired at %v, want lock at %v", e.Key, e.At, test.want)
					}
					return
				}
			}
			t.Error("the key did not expire")
		})
	}
}

// A server's clock that is set far forward ends a lease at once.
func TestServerClockJumpEndsALease(t *testing.T) {
	s := solo(t, func(c *simulator.Client) {
		do(c, 1, "SET", "lock", "x", "PX", 500)
		do(c, 1, "GET", "lock")
	})
	for range 3 {
		s.step(s.sim.Enabled(&s.world, nil)[0])
	}
	s.step(faults.NodeClockOf(1, 501*time.Millisecond))
	if s.count(history.Expire) != 1 {
		t.Error("the key lives on")
	}
	s.settle(sec)
	s.wantNotes("0s:OK 0s:<nil>")
}
