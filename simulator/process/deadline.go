package process

import "context"

// A deadline is a context whose deadline comes when the scheduler likes, but only while
// the thread waits: the first wait that ends for nothing ends the context.
type deadline struct {
	context.Context
	over   bool
	cancel context.CancelFunc
}

// Err implements context.Context.
func (d *deadline) Err() error {
	if d.over {
		return context.DeadlineExceeded
	}
	return nil
}

// WithDeadline returns a context whose deadline comes when the scheduler likes. Until stop
// is called, the calling thread, and tasks that it runs side by side, may at any moment
// stop waiting for a server, unless what they ask is none of the context's (see Heed).
func (p *Code) WithDeadline() (ctx context.Context, stop func()) {
	inner, cancel := context.WithCancel(context.Background())
	d := &deadline{Context: inner, cancel: cancel}
	t := &p.live.threads[p.live.current]
	t.deadline = d
	return d, func() {
		t.deadline = nil
		cancel()
	}
}

// Heed says that the calling thread now acts for ctx, until restore is called: a context
// without end, as of context.WithoutCancel, bears no deadline.
func (p *Code) Heed(ctx context.Context) (restore func()) {
	if p.live == nil || ctx.Done() != nil {
		return func() {}
	}
	t := &p.live.threads[p.live.current]
	d := t.deadline
	t.deadline = nil
	return func() { t.deadline = d }
}

// hastens reports whether the deadline may come while the thread waits for o.
func (t *thread) hastens(o *Op) bool {
	if t.deadline == nil || t.deadline.over {
		return false
	}
	return o.Kind == Request || o.Kind == Listen || o.Kind == Watch
}

// expire ends the deadline of a thread that has waited for o for nothing.
func (t *thread) expire(o *Op) {
	if o.Open && t.deadline != nil && (t.given.Kind == TimedOut || t.given.Kind == Slept) {
		t.deadline.over = true
		t.deadline.cancel()
	}
}
