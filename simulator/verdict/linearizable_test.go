package verdict_test

import (
	"math"

	"github.com/anishathalye/porcupine"

	"locklab/simulator/history"
)

// linearizable reports whether the clients of h could have locked and unlocked an ordinary
// mutex in the same way. That must be so exactly if no two clients are inside at the
// same time in h (OVERLAP).
//
// Every Enter is the return of a lock that was called at the Acquire before it; an Enter
// of a client that is inside already does not count. Every Leave is the call of an
// unlock, which returns at the Released event or never. A crash inside is the call of an
// unlock that never returns. Attempts that were refused or cut short are left out,
// because a mutex may always refuse. Events are compared by their order, which is finer
// than their times.
func linearizable(h *history.History) bool {
	t := converter{clients: make([]client, h.Clients+1)}
	for i := range h.Events {
		t.observe(int64(i), &h.Events[i])
	}
	for c := range t.clients {
		t.giveBack(c, math.MaxInt64)
	}
	return porcupine.CheckOperations(mutex, t.operations)
}

// mutex is a lock that only its owner can give back. Its state is the owner, 0
// for none; an input is a client that locks, or minus a client that unlocks.
var mutex = porcupine.Model{
	Init: func() any { return 0 },
	Step: func(state, input, _ any) (bool, any) {
		owner, c := state.(int), input.(int)
		if c > 0 {
			return owner == 0, c
		}
		return owner == -c, 0
	},
}

// A converter turns a history into operations.
type converter struct {
	operations []porcupine.Operation
	clients    []client
}

// A client is what is under way: times of call, where something is.
type client struct {
	inside  bool
	leaving bool
	asked   int64
	left    int64
}

func (t *converter) observe(at int64, e *history.Event) {
	switch c := &t.clients[e.Client]; e.Kind {
	case history.Acquire:
		t.giveBack(e.Client, at)
		c.asked = at
	case history.Enter:
		if !c.inside {
			t.operation(e.Client, e.Client, c.asked, at)
		}
		c.inside = true
	case history.Leave:
		c.inside, c.leaving, c.left = false, true, at
	case history.Released:
		t.giveBack(e.Client, at)
	case history.Crash:
		if c.inside {
			c.inside, c.leaving, c.left = false, true, at
		}
		t.giveBack(e.Client, math.MaxInt64)
	}
}

// giveBack ends the unlock of a client that is giving the lock back.
func (t *converter) giveBack(c int, at int64) {
	if t.clients[c].leaving {
		t.operation(c, -c, t.clients[c].left, at)
		t.clients[c].leaving = false
	}
}

func (t *converter) operation(c, input int, call, end int64) {
	t.operations = append(t.operations, porcupine.Operation{ClientId: c - 1, Input: input, Call: call, Return: end})
}
