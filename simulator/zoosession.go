package simulator

import (
	"slices"
	"time"

	"locklab/simulator/zookeeper"
)

// ZooKeeper is the client's session with the ensemble, as a client library
// keeps it: there from the start of the process, connected again when the
// connection breaks, and begun anew when it has ended. It is nil if the lab's
// server is none.
func (c *Client) ZooKeeper() *Session {
	if c.p.sim.zoo == nil {
		return nil
	}
	return &Session{c.p}
}

// A Session is a client's with the ensemble. One thread of the process may wait
// on it at a time, for an answer or for a watch: what comes on one connection
// comes in one order.
type Session struct{ p *process }

// Do sends a request and waits for the answer. An error is a [zookeeper.Code] if
// the ensemble refused, and a *net.OpError if the connection broke, or the
// answer did not come within two thirds of the session's time-out: then the
// request may have been run. While there is no connection it waits for one.
//
// Of the reply a client is told Code, Path, Data, Children, and of Exists
// Stat.Czxid: whatever else a server tells would keep apart what comes to the
// same.
func (s *Session) Do(r zookeeper.Request) (zookeeper.Reply, error) {
	r.Watch = false
	reply, _, err := s.ask(r)
	return reply, err
}

// Watch is Do, and leaves a watch, which r.Op must be one to do. The watch is nil
// if there is an error, other than that of Exists on a znode that is not there.
func (s *Session) Watch(r zookeeper.Request) (zookeeper.Reply, *Watch, error) {
	r.Watch = true
	return s.ask(r)
}

// own makes sure that no other thread waits on the session.
func (s *Session) own() {
	s.p.own()
	l := s.p.live
	for i, o := range l.ops {
		if i != l.current && (o.kind == opZoo || o.kind == opWatch) {
			panic(limit("two threads wait on one ZooKeeper session at a time, for an answer or a watch: let one of them do both"))
		}
	}
}

func (s *Session) ask(r zookeeper.Request) (zookeeper.Reply, *Watch, error) {
	p, t := s.p, s.p.sim.zoo
	s.own()
	seen := p.mustAsk(op{kind: opZoo, node: ensemble, batch: t.internRequest(r)})
	if err := seen.err("read"); err != nil {
		return zookeeper.Reply{}, nil, err
	}
	a := &t.answers[seen.val]
	l := &p.live.session
	l.hear(a.news)
	l.seen = max(l.seen, a.reply.Zxid)
	w := l.watch(p, r, a.reply.Code)
	if a.reply.Code != zookeeper.OK {
		return a.reply, w, a.reply.Code
	}
	reply := a.reply
	reply.Children = slices.Clone(reply.Children)
	return reply, w, nil
}

// A Watch is one that a client has left.
type Watch struct {
	p            *process
	watch        zookeeper.Watch
	fired, ended bool // ended: it will not fire any more
}

// Wait blocks the calling thread until the watch has fired, for at most patience
// on the client's own clock. It returns [zookeeper.SessionExpired] if the session
// with which it was left has ended.
func (w *Watch) Wait(patience time.Duration) (fired bool, err error) {
	switch {
	case w.ended:
		return false, zookeeper.SessionExpired
	case w.fired:
		return true, nil
	}
	(&Session{w.p}).own()
	t := w.p.sim.zoo
	seen := w.p.mustAsk(op{kind: opWatch, batch: t.internWatch(w.watch), d: max(patience, 0)})
	if seen.kind == slept {
		return false, nil
	}
	w.p.live.session.hear(t.answers[seen.val].news)
	if w.ended {
		return false, zookeeper.SessionExpired
	}
	return w.fired, nil
}

// clientSession is what a client's library remembers of its session. It follows from
// what the client has observed, and so belongs to an incarnation.
type clientSession struct {
	seen    int64    // the last transaction when the latest watch was left
	watches []*Watch // that have not fired
}

// hear takes in what has reached the client.
func (l *clientSession) hear(news []zookeeper.Event) {
	for _, e := range news {
		l.watches = slices.DeleteFunc(l.watches, func(w *Watch) bool {
			if !ends(e, w.watch) {
				return false
			}
			w.ended = e.Type == sessionEnded
			w.fired = !w.ended
			return true
		})
		if e.Type == sessionEnded {
			l.seen = 0
		}
	}
}

// watch remembers the watch that a request has left; nil if it has left none.
func (l *clientSession) watch(p *process, r zookeeper.Request, code zookeeper.Code) *Watch {
	kind := zookeeper.WatchData
	switch {
	case !r.Watch || code != zookeeper.OK && (r.Op != zookeeper.Exists || code != zookeeper.NoNode):
		return nil
	case r.Op == zookeeper.GetChildren:
		kind = zookeeper.WatchChildren
	case code == zookeeper.NoNode:
		kind = zookeeper.WatchCreation
	}
	w := &Watch{p: p, watch: zookeeper.Watch{Kind: kind, Path: r.Path}}
	l.watches = append(l.watches, w)
	return w
}

// memory is what the library needs to connect again.
func (l *clientSession) memory() (m zooMemory) {
	if len(l.watches) > 0 {
		m.seen = l.seen
	}
	for _, w := range l.watches {
		if !slices.Contains(m.watches, w.watch) {
			m.watches = append(m.watches, w.watch)
		}
	}
	return m
}
