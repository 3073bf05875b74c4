package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"

	"locklab/scenarios/share"
	"locklab/simulator/i18n"
)

// A Worker computes chunks.
type Worker struct {
	Redis asynq.RedisConnOpt
	Build string // share.Build, but for tests
	// Compute computes the tasks of a chunk. One is computed at a time.
	Compute func(ctx context.Context, p *Chunk) ([]share.Result, error)
	// Ready is called when the worker has reached the server; it may be nil.
	Ready func()
	// Done is called for each chunk that was computed; it may be nil.
	Done func(p *Chunk, took time.Duration)
	// Report is called with the errors of asynq; it may be nil.
	Report func(message string)

	name  string        // of this run: Self, and something that no other worker has
	looks chan struct{} // for tests: looks for other builds, beside those at intervals
}

// errComputed is returned for a chunk that this worker has computed and that another one is
// to compute as well: it goes back to the queue.
var errComputed = errors.New("fleet: computed by this worker before")

// shutdown is the time that a worker that ends waits for the server.
const shutdown = time.Second

// A worker gives up when the server has not answered unreachable times in a row, at intervals of
// healthInterval.
const (
	unreachable    = 6
	healthInterval = 5 * time.Second
)

// Run works until ctx ends, and gives a chunk that it has not finished back to the queue.
// The error is that the server cannot be reached, or that its coordinators are of another
// build.
func (w *Worker) Run(ctx context.Context) error {
	w.name = Self() + "/" + rand.Text()[:6]
	inspector := asynq.NewInspector(bound{w.Redis, ctx})
	defer inspector.Close()
	if err := w.refuseOthers(inspector); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	connected, disconnect := lingering(ctx, shutdown) // to give the present chunk back
	defer disconnect()
	lost := make(chan error, 1)
	failures := atomic.Int64{}
	server := asynq.NewServer(bound{w.Redis, connected}, asynq.Config{
		Concurrency: 1, Queues: map[string]int{Queue(w.Build): 1}, Logger: quiet{w.Report}, LogLevel: asynq.ErrorLevel,
		BaseContext:       func() context.Context { return ctx },
		TaskCheckInterval: 200 * time.Millisecond, DelayedTaskCheckInterval: 200 * time.Millisecond,
		// what failed was the machine: another one, or this one, tries at once
		RetryDelayFunc:      func(int, error, *asynq.Task) time.Duration { return 0 },
		IsFailure:           func(err error) bool { return !errors.Is(err, errComputed) },
		ShutdownTimeout:     shutdown,
		HealthCheckInterval: healthInterval,
		HealthCheckFunc: func(err error) {
			if err == nil {
				failures.Store(0)
			} else if failures.Add(1) == unreachable {
				lost <- err
			}
		},
	})
	if err := server.Start(asynq.HandlerFunc(w.process)); err != nil {
		return redisError(err)
	}
	defer server.Shutdown()
	if w.Ready != nil {
		w.Ready()
	}
	ticker := time.NewTicker(healthInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-lost:
			return marked{i18n.Errorf("error.fleet.lost", "cause", err), ErrRedis}
		case <-ticker.C:
		case <-w.looks:
		}
		// a coordinator of another build may have come
		if err := w.refuseOthers(inspector); err != nil && !errors.Is(err, ErrRedis) {
			return err
		}
	}
}

// refuseOthers returns an error if there is work of other builds only.
func (w *Worker) refuseOthers(inspector *asynq.Inspector) error {
	queues, err := inspector.Queues()
	if err != nil {
		return redisError(err)
	}
	for _, name := range queues {
		if !strings.HasPrefix(name, queuePrefix) || slices.Contains(queues, Queue(w.Build)) {
			continue
		}
		waiting, err := inspector.ListPendingTasks(name, asynq.PageSize(1))
		if err != nil || len(waiting) == 0 {
			continue
		}
		p := Chunk{}
		if json.Unmarshal(waiting[0].Payload, &p) == nil && p.Build != w.Build {
			return i18n.Errorf("error.fleet.build", "there", p.Build, "here", w.Build)
		}
	}
	return nil
}

func (w *Worker) process(ctx context.Context, t *asynq.Task) error {
	began := time.Now()
	p := &Chunk{}
	if err := json.Unmarshal(t.Payload(), p); err != nil {
		return fmt.Errorf("%w: %w", err, asynq.SkipRetry)
	}
	if p.Build != w.Build {
		return fmt.Errorf("%w: %w", i18n.Errorf("error.fleet.build", "there", p.Build, "here", w.Build), asynq.SkipRetry)
	}
	if p.Not == w.name {
		return errComputed
	}
	results, err := w.Compute(ctx, p)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil: // it would fail anywhere
		return fmt.Errorf("%w: %w", err, asynq.SkipRetry)
	}
	content, err := answer(p, w.name, results)
	if err != nil {
		return err
	}
	if _, err := t.ResultWriter().Write(content); err != nil {
		return err
	}
	if w.Done != nil {
		w.Done(p, time.Since(began))
	}
	return nil
}
