package redis

import (
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"

	"locklab/algorithms/lock"
)

// A renewal sends something again and again, each time in a thread of its own,
// until sending fails or the renewal is stopped. Each sending arms the next, so
// that a slow server delays the renewals and never piles them up.
//
// It is shared by the thread that starts and stops it and those that send.
type renewal struct {
	clock lock.Clock
	every time.Duration
	send  func() error

	timer atomic.Pointer[clockwork.Timer] // of the next sending
	ended atomic.Bool
}

// arm lets the next sending begin after d of the client's clock.
func (r *renewal) arm(d time.Duration) {
	if r.ended.Load() {
		return
	}
	timer := r.clock.AfterFunc(d, r.tick)
	r.timer.Store(&timer)
	// A stop since the look above has stopped the timer before this one.
	if r.ended.Load() {
		timer.Stop()
	}
}

// tick is one sending. Any failure is final: nobody is told.
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

// stop ends the renewal. A sending that is under way is not called back.
func (r *renewal) stop() {
	r.ended.Store(true)
	if timer := r.timer.Load(); timer != nil {
		(*timer).Stop()
	}
}

// over says whether the renewal was stopped or has failed.
func (r *renewal) over() bool { return r.ended.Load() }
