package zookeeper

import (
	"context"
	"slices"
	"time"

	"locklab/simulator/process"
)

// A Session is a client's session with the ensemble, as a client library keeps it: there from the start of the
// process, connected again when the connection breaks, and begun anew when it has ended. Several threads of the
// process may wait on it, but for one watch only one of them.
type Session struct {
	x       *Executor
	p       *process.Code
	watches []*ClientWatch // that have not fired; they follow from what the client has observed
}

// Library is the session of process p.
func (k *Kind) Library(p *process.Code) process.Library { return &Session{x: k.Executor, p: p} }

// Start has the library remember these watches, for which no thread waits any more.
func (s *Session) Start(memory uint32) {
	s.watches = nil
	m := s.x.memories.At(memory)
	for at, w := range m.watches {
		s.watches = append(s.watches, &ClientWatch{s: s, watch: w, left: m.left[at]})
	}
}

// Stop and Close have nothing to end.
func (s *Session) Stop()  {}
func (s *Session) Close() {}

// Memory numbers what the library needs to connect again.
func (s *Session) Memory() uint32 {
	var m memory
	for _, w := range s.watches {
		if !slices.Contains(m.watches, w.watch) { // of two neither has missed anything
			m.watches, m.left = append(m.watches, w.watch), append(m.left, w.left)
		}
	}
	return s.x.memories.ID(m)
}

// Do sends a request and waits for the answer. An error is a [Code] if the ensemble refused, and a *net.OpError if the
// connection broke, or the answer did not come within two thirds of the session's time-out: then the request may have
// been run. While there is no connection it waits for one.
//
// Of the reply a client observes Code, Path, Data, Children, and of Exists Stat.Czxid: whatever else a server sends
// would distinguish histories that are equivalent.
func (s *Session) Do(r Request) (Reply, error) {
	r.Watch = false
	reply, _, err := s.ask(r)
	return reply, err
}

// Watch is Do, and leaves a watch, which r.Op must be one to do. The watch is nil
// if there is an error, other than that of Exists on a znode that is not there.
func (s *Session) Watch(r Request) (Reply, *ClientWatch, error) {
	r.Watch = true
	return s.ask(r)
}

func (s *Session) ask(r Request) (Reply, *ClientWatch, error) {
	s.p.Own()
	request := s.x.internRequest(wireRequest{Request: r})
	seen := s.p.MustAsk(process.Op{Kind: process.Request, Node: number, Arg: request})
	if err := seen.Err("read"); err != nil {
		return Reply{}, nil, err
	}
	a := s.x.answers.At(uint32(seen.Val))
	s.receive(a.events)
	var w *ClientWatch
	if watch, leaves := r.leaves(a.reply.Code); leaves {
		w = &ClientWatch{s: s, watch: watch, left: a.left}
		s.watches = append(s.watches, w)
	}
	reply := a.reply
	if reply.Code != OK {
		return reply, w, reply.Code
	}
	reply.Children = slices.Clone(reply.Children)
	return reply, w, nil
}

// A ClientWatch is a watch that a client has left.
type ClientWatch struct {
	s     *Session
	watch Watch
	left  stamp // what it looked at when it was left
	fired bool
	ended error // SessionExpired: it will not fire any more
}

// Wait blocks the calling thread until the watch has fired, for at most patience on the client's own clock. It returns
// [SessionExpired] if the session with which it was left has ended.
func (w *ClientWatch) Wait(patience time.Duration) (fired bool, err error) {
	if s := w.s; !w.fired && w.ended == nil {
		s.p.Own()
		seen := s.p.MustAsk(process.Op{Kind: process.Watch, Arg: s.x.watches.ID(w.watch), D: max(patience, 0)})
		if seen.Kind == process.Slept {
			return false, nil
		}
		s.receive(s.x.answers.At(uint32(seen.Val)).events)
	}
	return w.fired, w.ended
}

// Heed says for which context the calling thread acts, until restore is called; see process.Code.Heed.
func (s *Session) Heed(ctx context.Context) (restore func()) { return s.p.Heed(ctx) }

// receive updates the watches by events that have reached the client.
func (s *Session) receive(events []Event) {
	for _, e := range events {
		s.watches = slices.DeleteFunc(s.watches, func(w *ClientWatch) bool {
			if !ends(e, w.watch) {
				return false
			}
			if w.fired = e.Type != sessionEnded; !w.fired {
				w.ended = SessionExpired
			}
			id, asked := s.x.watches.Find(w.watch)
			if asked && s.p.OthersWait(process.Op{Kind: process.Watch, Arg: id}) {
				process.Exceed("limit.session") // that thread would not be notified
			}
			return true
		})
	}
}

// Idle is true: a session lives on from one use of a lock to the next, but it is the ensemble's.
func (s *Session) Idle() bool { return true }
