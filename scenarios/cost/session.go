package cost

import (
	"context"
	"errors"
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator/client"
	"locklab/simulator/zookeeper"
)

var _ client.Requester = (*session)(nil)

// A session is that of one client with the ensemble. It does not end.
type session struct {
	process *process
	id      zookeeper.SessionID
	fired   []zookeeper.Event
	waits   func() // resumes a client that waits for a watch
}

func newSession(c *process) *session {
	s := &session{process: c}
	c.ensemble, s.id = c.ensemble.Connect()
	c.sessions[s.id] = s
	return s
}

func (s *session) Do(_ context.Context, r zookeeper.Request) (reply zookeeper.Reply, err error) {
	b := s.process.simulation
	s.process.ask(1, func() {
		var fired []zookeeper.Event
		b.ensemble, reply, fired = b.ensemble.Apply(s.id, r)
		for _, e := range fired {
			to := b.sessions[e.Session]
			b.after(to.process.trip(), func() { to.notify(e) })
		}
	})
	if reply.Code != zookeeper.OK {
		err = reply.Code
	}
	return reply, err
}

func (s *session) Watch(ctx context.Context, r zookeeper.Request) (zookeeper.Reply, lock.Watch, error) {
	s.fired = slices.DeleteFunc(s.fired, func(e zookeeper.Event) bool { return e.Path == r.Path })
	r.Watch = true
	reply, err := s.Do(ctx, r)
	return reply, watch{s, r.Path, r.Op == zookeeper.GetChildren}, err
}

func (s *session) notify(e zookeeper.Event) {
	s.fired = append(s.fired, e)
	s.process.woken++
	if s.waits != nil {
		s.waits()
	}
}

type watch struct {
	session  *session
	path     string
	children bool
}

var errPatience = errors.New("waiting: a watch is waited for without end")

// Wait waits without end: no client of this simulation gives up.
func (w watch) Wait(_ context.Context, patience time.Duration) (bool, error) {
	if patience < time.Hour {
		return false, errPatience
	}
	s := w.session
	fired := func() bool {
		return slices.ContainsFunc(s.fired, func(e zookeeper.Event) bool {
			return e.Path == w.path && (e.Type == zookeeper.NodeDeleted || (e.Type == zookeeper.NodeChildrenChanged) == w.children)
		})
	}
	for !fired() {
		s.process.wait(func(resume func()) { s.waits = resume })
		s.waits = nil
	}
	return true, nil
}
