package study

import (
	"context"
	"errors"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator/process"
)

// sleepy is a lock that sleeps in real time, as a library does that tries again.
type sleepy struct{ lock.Strategy }

func (s sleepy) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	time.Sleep(30 * time.Millisecond)
	return s.Strategy.Acquire(ctx, key)
}

// Code that waits otherwise than by its Env is named, and nothing is proved.
func TestRealTime(t *testing.T) {
	token := racetest.Must(race.Strategy("token"))(t)
	entry := token.Variant("sleepy", 2026, func(env lock.Env) lock.Strategy { return sleepy{token.New(env)} })
	s, err := Explore(t.Context(), entry, DefaultBounds())
	waits := (*process.WaitError)(nil)
	if !errors.As(err, &waits) || waits.State != "sleep" || s != nil {
		t.Errorf("%v, %v: want a WaitError", s, err)
	}
}
