package study_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"

	"locklab/algorithms"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
)

// TestStoppedMatrix: after Ctrl-C no further cell is played than those that are being played.
func TestStoppedMatrix(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var played, late atomic.Int64
	_, err := study.Matrix(ctx, algorithms.All(), scenarios.All(), 0, func(*race.Outcome) {
		if ctx.Err() != nil {
			late.Add(1)
		}
		if played.Add(1) == 3 {
			stop()
		}
	}, nil)
	if !errors.Is(err, context.Canceled) || played.Load() < 3 || late.Load() > int64(runtime.GOMAXPROCS(0)) {
		t.Errorf("%v; %d cells are played, %d of them too late", err, played.Load(), late.Load())
	}
}
