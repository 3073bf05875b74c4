package simulator

import (
	"cmp"
	"slices"
	"time"

	"locklab/simulator/process"
)

// A Length is a time for which code has waited, or that servers keep something.
type Length struct {
	Of      LengthOf
	D       time.Duration // above 0; of Remainders: 0
	Request []string      // of what a server was asked for: the first request that did
}

// Compare orders lengths by what they are of and how long they are; 0: they are told as one.
func (l Length) Compare(other Length) int {
	return cmp.Or(cmp.Compare(l.Of, other.Of), cmp.Compare(l.D, other.D))
}

// LengthOf is what a Length is of.
type LengthOf uint8

const (
	KeyLife    LengthOf = iota // how long a server was to keep a key; its server's clock
	Session                    // time-out that was wanted for a session with a ZooKeeper
	Timer                      // a sleep or a timer; the client's clock
	Patience                   // how long code itself has said that it waits for an answer; the client's clock
	WaitLimit                  // how long a server was to wait for its replicas (WAIT)
	Inside                     // how long a client may work, or do a part of it; the client's clock
	Remainders                 // no length: a request has asked how long a key has still to live
)

// Lengths are the different lengths that clients and servers have met since some moment.
type Lengths struct {
	List []Length // in the order in which they were met

	histories [MaxClients]int
	requests  int
	known     map[lengthKey]bool
}

type lengthKey struct {
	of LengthOf
	d  time.Duration
}

func (l *Lengths) add(one Length) {
	key := lengthKey{one.Of, one.D}
	if l.known[key] {
		return
	}
	if l.known == nil {
		l.known = map[lengthKey]bool{}
	}
	l.known[key] = true
	l.List = append(l.List, one)
}

// Learn appends to l what the tables hold and did not when it was called last, of the
// first so many clients. NewWorld makes l void.
func (s *Simulator) Learn(l *Lengths, clients int) {
	for i, p := range s.procs[:clients] {
		for ; l.histories[i] < p.Len(); l.histories[i]++ {
			e := p.At(uint32(l.histories[i]))
			for t := range e.Ops {
				if o := &e.Ops[t]; e.Fresh&(1<<t) != 0 && o.D > 0 && o.D < Never {
					l.addOp(o)
				}
			}
		}
	}
	if s.ensemble != nil {
		if d := s.ensemble.Asked(); d > 0 {
			l.add(Length{Of: Session, D: d})
		}
		return
	}
	asked := s.redis.Asked()
	for _, a := range asked[l.requests:] {
		of := KeyLife
		switch {
		case a.D == 0:
			of = Remainders
		case a.Wait:
			of = WaitLimit
		}
		l.add(Length{of, a.D, slices.Clone(a.Request)})
	}
	l.requests = len(asked)
}

func (l *Lengths) addOp(o *process.Op) {
	switch o.Kind {
	case process.Sleep, process.Watch:
		l.add(Length{Of: Timer, D: o.D})
	case process.Request, process.Listen:
		l.add(Length{Of: Patience, D: o.D})
	case process.Idle:
		l.add(Length{Of: Inside, D: o.D})
	}
}
