package process

import (
	"fmt"
	"slices"
)

// Threads of a process mostly have nothing to do with each other: in which order they
// observe what they observe makes no difference to the code. A process with MergeOrders
// takes that for a hypothesis, and checks it.
//
// Histories in which each thread has observed the same, in whatever order of the threads,
// and after which the code waits for the same, are members of one class (order). Whatever
// one member observes all members do, on the real code, and must do the same (SameDeeds).
// What they come to are members of one class again, because each thread has then observed
// the same. So, by induction, no observation that is ever made tells two members apart, and
// the first member stands for all of them. If two of them differ, Advance returns an
// *OrderError.
type orders struct {
	classes map[order]uint32    // the first member
	members map[uint32][]uint32 // of a first member: all, in their order
	used    map[uint32][]Observation
	chains  map[chain]uint32 // numbers of the observations of one thread, from 1
	of      []standing       // by entry
	again   int              // entries that are not the first of their class
}

// order is what the members of a class have in common.
type order struct {
	root            uint32
	seen            [MaxThreads]uint32 // by thread, the number of a chain; 0: nothing
	ops             [MaxThreads]Op
	memory          uint32
	entered, inside bool
}

// chain is what a thread has observed: one observation after another chain.
type chain struct {
	before uint32
	seen   Observation
}

type standing struct {
	root, first uint32
	seen        [MaxThreads]uint32
	threads     bool // more than one has observed something; else its class is itself
}

// maxRepeated bounds how many histories run only to be compared with others. Members of a
// class observe what any of them does, also what the others could never come to observe.
const maxRepeated = 20_000

// OrderError says why the order in which threads observe what they do is not forgotten:
// code looks at it, or, if A is empty, there are too many orders to make sure.
type OrderError struct {
	Client int    // from 1
	A, B   string // what it does in one order and in another
}

func (e *OrderError) Error() string {
	if e.A == "" {
		return fmt.Sprintf("simulator: the threads of c%d go on in more than %d orders", e.Client, maxRepeated)
	}
	return fmt.Sprintf("simulator: what c%d does depends on the order in which its threads go on: %s, or %s", e.Client, e.A, e.B)
}

// MergeOrders has Forget take histories for one that differ in nothing but the order of what
// different threads have observed; see orders. A change empties the table.
func (p *Process) MergeOrders(on bool) {
	if on == (p.orders != nil) {
		return
	}
	p.orders = nil
	if on && p.host == nil && !p.keeps && !p.noMemo {
		p.orders = &orders{}
	}
	p.Clear()
}

func (o *orders) clear() {
	*o = orders{classes: map[order]uint32{}, members: map[uint32][]uint32{}, used: map[uint32][]Observation{}, chains: map[chain]uint32{}}
}

// enter puts an entry into its class. Its parent has one.
func (o *orders) enter(at uint32, e *Entry) {
	s := standing{root: at}
	if e.Parent != at {
		s = o.of[e.Parent]
		c := chain{s.seen[e.Seen.Thread], e.Seen}
		if o.chains[c] == 0 {
			o.chains[c] = uint32(len(o.chains) + 1)
		}
		s.seen[e.Seen.Thread] = o.chains[c]
		for t, seen := range s.seen {
			s.threads = s.threads || t != int(e.Seen.Thread) && seen != 0
		}
	}
	if !s.threads {
		s.first = at
		o.of = append(o.of, s)
		return
	}
	k := order{s.root, s.seen, e.Ops, e.Memory, e.Entered, e.Inside}
	first, ok := o.classes[k]
	if ok {
		o.again++
	} else {
		first = at
		o.classes[k] = at
	}
	s.first = first
	o.members[first] = append(o.members[first], at)
	o.of = append(o.of, s)
}

// use notes that a class observes s; false: it did before, or has one member only.
func (o *orders) use(first uint32, s Observation) bool {
	if !o.of[first].threads || slices.Contains(o.used[first], s) {
		return false
	}
	o.used[first] = append(o.used[first], s)
	return true
}

// compare has the entry that follows at when s is observed, which is to, and its class
// observe what other members of the classes have.
func (p *Process) compare(at uint32, s Observation, to uint32) error {
	o := p.orders
	if o.again > maxRepeated {
		return &OrderError{Client: p.id}
	}
	first := o.of[at].first
	if o.use(first, s) {
		for i := 0; i < len(o.members[first]); i++ {
			if err := p.agree(o.members[first][i], s, to); err != nil {
				return err
			}
		}
	}
	first = o.of[to].first
	for i := 0; first != to && i < len(o.used[first]); i++ {
		s := o.used[first][i]
		does, err := p.Advance(first, s)
		if err != nil {
			return err
		}
		if err := p.agree(to, s, does); err != nil {
			return err
		}
	}
	return nil
}

// agree checks that what the code does when s is observed at an entry is what it does at
// entry does.
func (p *Process) agree(at uint32, s Observation, does uint32) error {
	to, err := p.Advance(at, s)
	if err != nil {
		return err
	}
	a, b := &p.entries[does], &p.entries[to]
	if !a.SameDeeds(b) || rootAt(a) != rootAt(b) || a.Resting != b.Resting || a.Inside != b.Inside {
		return &OrderError{Client: p.id, A: p.Describe(a), B: p.Describe(b)}
	}
	return nil
}
