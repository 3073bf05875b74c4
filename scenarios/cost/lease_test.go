package cost_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/database"
	"locklab/algorithms/lock"
	"locklab/scenarios/cost"
	"locklab/scenarios/internal/racetest"
	"locklab/simulator/effort"
)

// TestLeases: what the runs say of a lease is what the list of locks says of its end.
func TestLeases(t *testing.T) {
	effort.Unwatched(t, "one goroutine computes")
	renewed := map[string][3]float64{} // in a lease of 30 s: first after, then every, and what is left then
	for ids, seconds := range map[string][3]float64{
		"daemon-10 daemon-10-owned set-ifeq watchdog redisson-rearm redisson-entry": {10, 10, 30},
		"daemon-20 daemon-20-owned": {20, 20, 30}, "daemon-29 daemon-29-owned": {29, 20, 20},
	} {
		for id := range strings.FieldsSeq(ids) {
			renewed[id] = seconds
		}
	}
	var beside, withHolder []string // what lets a second client in, and what ends with its holder
	for _, e := range algorithms.All() {
		l := racetest.Must(cost.MeasureLease(t.Context(), e, time.Hour))(t)
		if len(l.Spans) == 0 {
			beside = append(beside, e.ID)
			continue
		}
		first := l.Spans[0].Left
		if first == 0 {
			withHolder = append(withHolder, e.ID)
			continue
		}
		want := map[bool]float64{true: 1, false: math.Inf(1)}[e.Expiry != lock.ExpiryNone]
		if e.ID == "lock-delay" {
			want = 1.5
		}
		if first != want && math.Abs(first-want) > 0.001 {
			t.Errorf("%s: a lease of %g, want %g", e.ID, first, want)
		}
		if l.Kept != (e.Expiry == lock.ExpirySession) {
			t.Errorf("%s: renewed all the time: %t", e.ID, l.Kept)
		}
		seconds, ok := renewed[e.ID]
		right := !ok || len(l.Spans) >= 4
		for i, span := range l.Spans[1:] {
			at := seconds[0] + float64(i)*seconds[1]
			right = right && (!ok || math.Abs(span.From*30-at) <= 0.05 && math.Abs(span.Left*30-seconds[2]) <= 0.05)
		}
		if !right {
			t.Errorf("%s: %v, want it renewed after %v s", e.ID, l.Spans, seconds)
		}
	}
	var wantWithHolder []string
	wantBeside := []string{"mutex", "spin-reentrant", "zk-semaphore", "zk-read"} // a mutex is one of each process
	// the session of a process that has died ends at once; what is no lock lets all in
	for _, e := range database.All() {
		switch {
		case e.Guard != "":
			wantBeside = append(wantBeside, e.ID)
		case e.Expiry == lock.ExpirySession:
			wantWithHolder = append(wantWithHolder, e.ID)
		}
	}
	if !slices.Equal(beside, wantBeside) || !slices.Equal(withHolder, wantWithHolder) {
		t.Errorf("%v let a second client in, want %v; %v end with their holder, want %v",
			beside, wantBeside, withHolder, wantWithHolder)
	}
}

// TestStopped: a measurement that is stopped gives its reason and nothing else.
func TestStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	token, _ := algorithms.ByName("token")
	known := limitsOf([]lock.Entry{token})
	if l, err := cost.MeasureLease(ctx, token, time.Hour); l.Spans != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("measured %+v, %v", l, err)
	}
	o := cost.RecoveryOrder{TTL: time.Second}
	if all, err := cost.FindRecovery(ctx, []lock.Entry{token}, o, nil); all != nil ||
		!errors.Is(err, context.Canceled) {
		t.Errorf("found %+v, %v", all, err)
	}
	if table, err := cost.FindRates(ctx, cost.UsualRateOrder(), known); table != nil ||
		!errors.Is(err, context.Canceled) {
		t.Errorf("computed %+v, %v", table, err)
	}
}

// TestCount: what locks cost, counted by hand from their code.
func TestCount(t *testing.T) {
	for id, want := range map[string]cost.Price{
		"mutex":            {},                             // asks no server
		"setnx":            {Commands: 2, RoundTrips: 2},   // SETNX; DEL
		"setnx-expire":     {Commands: 3, RoundTrips: 3},   // SETNX, EXPIRE; DEL
		"token":            {Commands: 2, RoundTrips: 2},   // SET; EVAL
		"watch-multi":      {Commands: 4, RoundTrips: 4},   // SET; WATCH, GET, MULTI and DEL and EXEC at once
		"daemon-20":        {Commands: 2, RoundTrips: 2},   // what the daemon sends after the release is not its price
		"redlock":          {Commands: 10, RoundTrips: 10}, // five SET and five EVAL, one after the other
		"redlock-parallel": {Commands: 10, RoundTrips: 2},  // and all at once
		"zk-recheck":       {Commands: 4, RoundTrips: 4},
	} {
		if p, err := cost.Count(racetest.Lock(t, id)); err != nil || p != want {
			t.Errorf("%s: %+v, %v, want %+v", id, p, err, want)
		}
	}
}
