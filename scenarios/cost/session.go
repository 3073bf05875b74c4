package cost

import (
	"context"
	"errors"
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator/zookeeper"
)

var _ lock.ZooKeeper = (*session)(nil)

// A session is that of one client with the ensemble. It does not end.
type session struct {
	process *process
	id      zookeeper.SessionID
	fired   []zookeeper.Event
	waits   func() // resumes a client that waits for a watch
}

func newSession(c *process) *session {
	s := &session{process: c}
	c.ensemble, s.id = c.ensemble.Connect(c.now, time.Hour)
	c.sessions[s.id] = s
	return s
}

func (s *session) do(r zookeeper.Request) (reply zookeeper.Reply, err error) {
	b := s.process.simulation
	s.process.ask(1, func() {
		var fired []zookeeper.Event
		b.ensemble, reply, fired = b.ensemble.Apply(b.now, s.id, r)
		for _, e := range fired {
			to := b.sessions[e.Session]
			b.after(to.process.trip(), func() { to.notify(e) })
		}
	})
	switch reply.Code {
	case zookeeper.OK:
		return reply, nil
	case zookeeper.NoNode:
		return reply, lock.ErrNoNode
	case zookeeper.NodeExists:
		return reply, lock.ErrNodeExists
	case zookeeper.SessionExpired:
		return reply, lock.ErrSessionEnded
	}
	return reply, reply.Code
}

func (s *session) notify(e zookeeper.Event) {
	s.fired = append(s.fired, e)
	s.process.woken++
	if s.waits != nil {
		s.waits()
	}
}

func (s *session) Create(_ context.Context, path string, kind lock.Znode) (string, error) {
	r := zookeeper.Request{Op: zookeeper.Create, Path: path}
	if kind == lock.EphemeralSequential {
		r.Mode = zookeeper.Ephemeral | zookeeper.Sequential
	}
	reply, err := s.do(r)
	return reply.Path, err
}

func (s *session) Delete(_ context.Context, path string) error {
	_, err := s.do(zookeeper.Request{Op: zookeeper.Delete, Path: path, Version: zookeeper.AnyVersion})
	return err
}

func (s *session) Exists(_ context.Context, path string) (uint64, error) {
	reply, err := s.do(zookeeper.Request{Op: zookeeper.Exists, Path: path})
	return uint64(reply.Stat.Czxid), err
}

func (s *session) Children(_ context.Context, path string) ([]string, error) {
	reply, err := s.do(zookeeper.Request{Op: zookeeper.GetChildren, Path: path})
	return reply.Children, err
}

func (s *session) WatchNode(_ context.Context, path string) (lock.Watch, error) {
	s.fired = slices.DeleteFunc(s.fired, func(e zookeeper.Event) bool { return e.Path == path })
	_, err := s.do(zookeeper.Request{Op: zookeeper.GetData, Path: path, Watch: true})
	return watch{s, path, false}, err
}

func (s *session) WatchChildren(_ context.Context, path string) ([]string, lock.Watch, error) {
	s.fired = slices.DeleteFunc(s.fired, func(e zookeeper.Event) bool { return e.Path == path })
	reply, err := s.do(zookeeper.Request{Op: zookeeper.GetChildren, Path: path, Watch: true})
	return reply.Children, watch{s, path, true}, err
}

type watch struct {
	session  *session
	path     string
	children bool
}

var errPatience = errors.New("waiting: a watch is waited for without end")

// Wait waits without end: nobody loses patience here.
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
