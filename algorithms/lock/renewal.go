package lock

import (
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
)

// A Renewal calls Send periodically, each time in a thread of its own, until Send fails or
// the renewal is stopped. Each call arms the timer for the next, so that calls to a slow
// server are delayed and never pile up.
//
// The thread that starts and stops it shares it with the threads of the timer.
type Renewal struct {
	Clock Clock
	Every time.Duration
	Send  func() error

	timer atomic.Pointer[clockwork.Timer] // of the next call
	ended atomic.Bool
}

// Arm lets the next call begin after d on the client's clock.
func (r *Renewal) Arm(d time.Duration) {
	if r.ended.Load() {
		return
	}
	timer := r.Clock.AfterFunc(d, r.tick)
	r.timer.Store(&timer)
	// If Stop was called since the check above, it has stopped the previous timer only.
	if r.ended.Load() {
		timer.Stop()
	}
}

// tick is one call of Send. Any failure is final, and the holder gets no notice.
func (r *Renewal) tick() {
	if r.ended.Load() {
		return
	}
	if err := r.Send(); err != nil {
		r.ended.Store(true)
		return
	}
	r.Arm(r.Every)
}

// Stop ends the renewal. It does not cancel a call in progress.
func (r *Renewal) Stop() {
	r.ended.Store(true)
	if timer := r.timer.Load(); timer != nil {
		(*timer).Stop()
	}
}

// Over reports whether the renewal has been stopped or has failed.
func (r *Renewal) Over() bool { return r.ended.Load() }
