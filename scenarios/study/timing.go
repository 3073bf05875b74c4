package study

import (
	"os"
	"strconv"
	"time"

	"locklab/simulator"
	"locklab/simulator/explore"
)

// A Timing is how time passes in a search.
type Timing string

const (
	Lockstep  Timing = ""    // what is due happens before time passes to the next deadline
	AnyTiming Timing = "any" // everything takes any time within explore.Timing
)

func (b Bounds) timing() *explore.Timing {
	if b.Timing != AnyTiming {
		return nil
	}
	step := b.TTL / 9
	idle := simulator.Never
	if v := os.Getenv("LTIDLE"); v != "" {
		n, _ := strconv.Atoi(v)
		idle = time.Duration(n) * step
	}
	t := &explore.Timing{Step: step, Work: 2 * step, Latency: step, Lateness: step, Timeout: 3 * step, Idle: idle}
	if b.Nodes > 1 {
		t.Latency, t.Timeout = 0, step
	}
	return t
}

var _ = time.Second
