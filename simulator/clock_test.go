package simulator_test

import (
	"testing"
	"time"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/history"
)

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
