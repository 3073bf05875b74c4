package redis

import (
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"

	"locklab/algorithms/lock"
)

// A renewal calls send periodically, each time in a thread of its own, until send fails or
// the renewal is stopped. Each call arms the timer for the next, so that calls to a slow
// server are delayed and never pile up.
//
// The thread that starts and stops it shares it with the threads of the timer.
type renewal struct {
	clock lock.Clock
	every time.Duration
	send  func() error

	timer atomic.Pointer[clockwork.Timer] // of the next call
	ended atomic.Bool
}

// arm lets the next call begin after d on the client's clock.
func (r *renewal) arm(d time.Duration) {
	if r.ended.Load() {
		return
	}
	timer := r.clock.AfterFunc(d, r.tick)
	r.timer.Store(&timer)
	// If stop was called since the check above, it has stopped the previous timer only.
	if r.ended.Load() {
		timer.Stop()
	}
}

// tick is one call of send. Any failure is final, and the holder gets no notice.
func (r *renewal) tick() {
	if r.ended.Load() {
		return
	}
	if err := r.send(); err != nil {
		r.ended.Store(true)
		return
	}
	r.arm(r.every)
}

// stop ends the renewal. It does not cancel a call in progress.
func (r *renewal) stop() {
	r.ended.Store(true)
	if timer := r.timer.Load(); timer != nil {
		(*timer).Stop()
	}
}

// over reports whether the renewal has been stopped or has failed.
func (r *renewal) over() bool { return r.ended.Load() }
