package simulator

import (
	"slices"

	"locklab/simulator/node"
	"locklab/simulator/process"
)

// A Length is a time for which code has waited, or that servers keep something, and a LengthOf is
// what it is of; see package node.
type (
	Length   = node.Length
	LengthOf = node.LengthOf
)

// The values of LengthOf.
const (
	KeyLife    = node.KeyLife
	Session    = node.Session
	Timer      = node.Timer
	Patience   = node.Patience
	WaitLimit  = node.WaitLimit
	Inside     = node.Inside
	Remainders = node.Remainders
	Insight    = node.Insight
)

// Lengths are the different lengths that clients and servers have met since some moment.
type Lengths struct {
	List []Length // in the order in which they were met

	histories [MaxClients]int
	requests  int
}

func (l *Lengths) add(one Length) {
	if !slices.ContainsFunc(l.List, func(o Length) bool { return o.Compare(one) == 0 }) {
		l.List = append(l.List, one)
	}
}

// Learn appends to l what the tables hold and did not when it was called last, of the
// first so many clients. NewWorld makes l void.
func (s *Simulator) Learn(l *Lengths, clients int) {
	for i, p := range s.clients.procs[:clients] {
		for ; l.histories[i] < p.Len(); l.histories[i]++ {
			e := p.At(uint32(l.histories[i]))
			for t := range e.Ops {
				if o := &e.Ops[t]; e.Fresh&(1<<t) != 0 && o.D > 0 && o.D < Never {
					l.addOp(o)
				}
			}
		}
	}
	if k, ok := s.kind.(node.Timekeeper); ok {
		asked := k.Asked()
		for _, a := range asked[l.requests:] {
			if a.Of != node.ClockReads {
				a.Request = slices.Clone(a.Request)
				l.add(a)
			}
		}
		l.requests = len(asked)
	}
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
