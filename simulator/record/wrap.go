package record

import (
	"context"
	"errors"

	"locklab/algorithms/lock"
)

// Wrap records what the user of a lock sees: a client of that name, one thread of one process.
// What the client does inside is its own to record, as Read and Wrote.
func Wrap(s lock.Strategy, to *Recorder, client string) lock.Strategy {
	return &recorded{s, to, client}
}

type recorded struct {
	lock.Strategy
	to     *Recorder
	client string
}

var _ lock.Strategy = (*recorded)(nil)

// Acquire implements lock.Strategy.
func (r *recorded) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	from := r.to.Now()
	inner, err := r.Strategy.Acquire(ctx, key)
	if err != nil {
		r.to.Record(Line{From: from, Client: r.client, Event: Refused, Key: key, Note: err.Error()})
		return nil, err
	}
	l := &lease{inner, r, key}
	l.acquired(from)
	if _, ok := lock.As[lock.Renewer](inner); ok {
		return &renewing{l}, nil
	}
	return l, nil
}

// A lease records its end. Its other powers are those of what it wraps, see lock.As.
type lease struct {
	lock.Lease
	by  *recorded
	key string
}

// Unwrap returns the lease itself.
func (l *lease) Unwrap() lock.Lease { return l.Lease }

func (l *lease) acquired(from Instant) {
	line := Line{From: from, Client: l.by.client, Event: Acquired, Key: l.key}
	if f, ok := lock.As[lock.Fencer](l.Lease); ok {
		line.Token = f.FencingToken()
	}
	l.by.to.Record(line)
}

// Release implements lock.Lease.
func (l *lease) Release(ctx context.Context) error {
	l.by.to.Record(Line{Client: l.by.client, Event: Leaving, Key: l.key})
	from := l.by.to.Now()
	err := l.Lease.Release(ctx)
	line := Line{From: from, Client: l.by.client, Event: Released, Key: l.key}
	_, reports := lock.As[lock.Reporter](l.Lease)
	line.OK, line.Note = Answer(err, reports)
	l.by.to.Record(line)
	return err
}

// Answer is what a lock says by an error of its release, renewal or check, as OK and Note of a line:
// states says whether no error means that the lock was still the caller's.
func Answer(err error, states bool) (ok *bool, note string) {
	switch {
	case err == nil && states:
		return new(true), ""
	case errors.Is(err, lock.ErrNotHeld):
		return new(false), err.Error()
	case err != nil:
		return nil, err.Error()
	}
	return nil, ""
}

// renewing is a lease that can be renewed.
type renewing struct{ *lease }

var _ lock.Renewer = (*renewing)(nil)

// Renew implements lock.Renewer.
func (l *renewing) Renew(ctx context.Context) error {
	r, _ := lock.As[lock.Renewer](l.Lease)
	from := l.by.to.Now()
	err := r.Renew(ctx)
	if ok, note := Answer(err, true); ok != nil {
		l.by.to.Record(Line{From: from, Client: l.by.client, Event: Renewed, Key: l.key, OK: ok, Note: note})
	}
	return err
}
