package redisnode

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"locklab/simulator/internal/codec"
)

// What a script did is remembered for the life of the program: a miniredis makes a Lua state for each call of one, and
// a lock is played in many simulators, in every race and under every budget.

// A scripted is what a batch with a script has come to.
type scripted struct {
	reply string
	to    keyspace
	left  []time.Duration
	needs needs
}

// mostRecalled bounds the batches that are remembered: when there are more, all are forgotten.
const mostRecalled = 1 << 15

var recalled = struct {
	sync.Mutex
	batches map[string]scripted
}{batches: map[string]scripted{}}

// recallKey has all that a batch with a script depends on that needs at most n; "": none, or more than keys come of it.
func (e *engine) recallKey(s *keyspace, ttls []time.Duration, now time.Time, b *batch, n needs) string {
	if e.noMemo || b.unfit != "" || len(s.conns) > 0 || b.on != (connRef{}) || len(b.commands) != 1 ||
		!strings.HasPrefix(strings.ToUpper(b.commands[0][0]), "EVAL") {
		return ""
	}
	if n < needsClock {
		now = time.Time{}
	}
	return fmt.Sprintf("%v %v %v %v\n%s\n%s", n, e.refuses, ttls, now.UnixNano(), writeBatch(b.commands), codec.Key(*s))
}

// recall is run, as far as what came of a script is known.
func (e *engine) recall(s *keyspace, ttls []time.Duration, now time.Time, b *batch, n needs) (
	reply string, to keyspace, left []time.Duration, err error) {
	key := e.recallKey(s, ttls, now, b, n)
	if key != "" {
		recalled.Lock()
		known, ok := recalled.batches[key]
		recalled.Unlock()
		if ok {
			e.needs, e.ran = known.needs, false
			return known.reply, known.to, known.left, nil
		}
	}
	e.ran = true
	reply, to, left, err = e.run(s, ttls, now, b)
	if key != "" && err == nil && e.published == nil && len(to.conns) == 0 {
		recalled.Lock()
		if len(recalled.batches) >= mostRecalled {
			clear(recalled.batches)
		}
		recalled.batches[key] = scripted{reply, to, left, e.needs}
		recalled.Unlock()
	}
	return reply, to, left, err
}
