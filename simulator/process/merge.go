package process

import (
	"errors"
	"slices"

	"locklab/simulator/hypothesis"
)

// A process with Merge shares one entry among bisimilar histories: the quotient by an equivalence that is refined by
// counterexample (Paige and Tarjan 1987, partition refinement; Clarke et al. 2000, CEGAR).
//
// Histories that agree in their state are members of one class. Whatever one member observes all members do, on the
// real code. They must then do the same (SameActions), and their successors must be members of one class again. So, by
// induction, no observation that is ever made distinguishes two members, and the first member represents the class.
//
// A new history joins the first class that it fits into: it does what the class does, for all that the class has
// observed so far. A later observation may distinguish them. Then the partition is computed again, from all known of
// the entries (divide), and Advance returns a *hypothesis.Refuted: a history may have another representative then.
//
// Members observe whatever any of them does, also what they could never come to observe in a run.
type merged struct {
	p       *Process
	by      hypothesis.Merging
	classes []class
	called  map[state][]uint32 // numbers of classes, by what their members have in common
	of      []position         // by entry
	chains  map[chain]uint32   // numbers, from 1
	answers map[question][]int64
	again   int // members that are not the first of their class
	orders
	divisions int
	parts     []uint32 // by entry, since the last division: those of different parts are apart; newer entries have none
}

// A class is histories that are taken for bisimilar.
type class struct {
	Members []uint32      // the first one represents them
	Used    []Observation // what they have observed: all of them all of it
}

// state has what the members of a class agree in.
type state struct {
	root    uint32
	seen    [MaxThreads]uint32 // by thread, what it has observed: how much, or a chain
	ops     [MaxThreads]Op
	outcome Outcome
	reads   bool
}

// chain is the observations of one thread: one after another chain.
type chain struct {
	before uint32
	seen   Observation
}

// position is the place of an entry among the classes.
type position struct {
	root, class uint32 // class: outside as long as it has none
	seen        [MaxThreads]uint32
}

const outside = ^uint32(0)

// A question is a request without its numbers, a read or a write. Histories observe its first
// answers before a search asks for it, so that they are distinguished soon.
type question struct {
	kind OpKind
	text string
}

const (
	maxAnswers = 2 // of a question
	maxAhead   = 8 // observations that nobody has asked for yet, in a row

	// maxRepeated bounds how many histories run only for comparison, and maxDivisions how often they are divided anew.
	maxRepeated  = 40_000
	maxDivisions = 100
)

// Merge has Forget share one entry among histories with equal future behaviour, refined by
// counterexample. A change empties the table. Of the code of a Host only orders are merged; see orders.
func (p *Process) Merge(by hypothesis.Merging) {
	if p.host != nil {
		by = min(by, hypothesis.MergeOrders)
	}
	if p.merged == nil && by == hypothesis.NoMerging || p.merged != nil && p.merged.by == by {
		return
	}
	p.merged, p.added = nil, nil
	if by != hypothesis.NoMerging && !p.keeps && !p.noMemo {
		p.merged = &merged{p: p, by: by}
		p.added = p.merged.enter
	}
	p.Clear()
}

func (m *merged) clear() {
	m.undo()
	m.of, m.divisions, m.parts = nil, 0, nil
	m.chains, m.answers = map[chain]uint32{}, map[question][]int64{}
}

// undo removes all classes.
func (m *merged) undo() {
	m.classes, m.called, m.again, m.orders = nil, map[state][]uint32{}, 0, orders{}
	for i := range m.of {
		m.of[i].class = outside
	}
}

// enter notes the position of a new entry. Its parent was entered before.
func (m *merged) enter(at uint32, e *Entry) {
	p := m.p
	if e.Parent == at {
		m.of = append(m.of, position{root: at, class: outside})
		return
	}
	before := &p.entries[e.Parent]
	if m.by == hypothesis.MergeHistories && e.Seen.Kind == Replied {
		q := m.question(&before.Ops[e.Seen.Thread])
		if known := m.answers[q]; len(known) < maxAnswers && !slices.Contains(known, e.Seen.Val) {
			m.answers[q] = append(known, e.Seen.Val)
		}
	}
	s := m.of[e.Parent]
	s.class = outside
	seen := &s.seen[e.Seen.Thread]
	if m.by == hypothesis.MergeHistories {
		*seen++
	} else {
		c := chain{*seen, e.Seen}
		if m.chains[c] == 0 {
			m.chains[c] = uint32(len(m.chains) + 1)
		}
		*seen = m.chains[c]
	}
	m.of = append(m.of, s)
}

func (m *merged) state(at uint32) state {
	p := m.p
	e, s := &p.entries[at], &m.of[at]
	k := state{s.root, s.seen, e.Ops, e.Outcome, e.Reads}
	if e.Resting { // however it got there
		k.root, k.seen = 0, [MaxThreads]uint32{}
	}
	return k
}

func (m *merged) question(o *Op) question {
	p := m.p
	q := question{kind: o.Kind}
	if o.Kind.ToServer() {
		q.text = withoutDigits(p.text(o))
	}
	return q
}

// first returns the representative of an entry.
func (m *merged) first(at uint32) (uint32, error) {
	if err := m.place(at, maxAhead); err != nil {
		return at, err
	}
	return m.classes[m.of[at].class].Members[0], nil
}

// observed is called when s is observed at an entry, from which to follows: the others of its class observe s too.
func (m *merged) observed(at uint32, s Observation, to uint32) error {
	p := m.p
	if err := m.place(at, maxAhead); err != nil {
		return err
	}
	if err := m.place(to, maxAhead); err != nil {
		return err
	}
	c := m.of[at].class
	if slices.Contains(m.classes[c].Used, s) {
		return nil
	}
	m.classes[c].Used = append(m.classes[c].Used, s)
	for _, member := range m.classes[c].Members {
		x, err := p.step(member, s)
		if err != nil {
			return m.differs(to, err)
		}
		same := p.entries[x].SameActions(&p.entries[to])
		if same {
			if same, err = m.join(m.of[to].class, x); err != nil {
				return err
			}
		}
		if !same {
			return m.divide(to, x)
		}
	}
	if m.again > maxRepeated {
		return &hypothesis.Refuted{Of: hypothesis.Merged, Client: p.code.id, End: true}
	}
	return nil
}

// place puts an entry into a class. If that is a new one, the entry makes so many of the likely observations, in a row.
func (m *merged) place(at uint32, ahead int) error {
	p := m.p
	if m.of[at].class != outside {
		return nil
	}
	k := m.state(at)
	for _, c := range m.called[k] {
		if ok, err := m.join(c, at); ok || err != nil {
			return err
		}
	}
	c := uint32(len(m.classes))
	m.classes = append(m.classes, class{})
	m.called[k] = append(m.called[k], c)
	m.put(membership{c, at})
	if ahead == 0 {
		return nil
	}
	for _, s := range m.likely(at) {
		to, err := p.step(at, s)
		if err != nil {
			return nil // which nobody has asked for
		}
		m.classes[c].Used = append(m.classes[c].Used, s)
		if err := m.place(to, ahead-1); err != nil {
			return err
		}
	}
	return nil
}

// likely returns the observations that an entry may make, if others made them: of its first thread that can go on.
func (m *merged) likely(at uint32) (all []Observation) {
	p := m.p
	e := &p.entries[at]
	if e.Resting || m.by != hypothesis.MergeHistories {
		return nil
	}
	for t := range e.Ops {
		o := &e.Ops[t]
		switch o.Kind {
		case None, Join:
			continue
		case Sleep, Idle:
			all = append(all, Observation{Thread: uint8(t), Kind: Slept})
		case Request, Read, Write:
			for _, val := range m.answers[m.question(o)] {
				all = append(all, Observation{uint8(t), Replied, val})
			}
		}
		return all
	}
	return nil
}

// put makes an entry a member of a class, which observes what the class does unless that is full.
func (m *merged) put(as membership) {
	m.of[as.entry].class = as.class
	if m.full(as) {
		if m.p.host != nil {
			m.others = append(m.others, as.entry)
		}
		return
	}
	c := &m.classes[as.class]
	if len(c.Members) > 0 {
		m.again++
	}
	c.Members = append(c.Members, as.entry)
}

// full reports whether a class follows no other member in what it observes. Members that rest have equal memories.
func (m *merged) full(as membership) bool {
	members := len(m.classes[as.class].Members)
	if m.p.host != nil {
		return members >= mostFollowed
	}
	return members > 0 && m.p.entries[as.entry].Resting
}

// join makes an entry a member of a class if it is one already, or fits.
func (m *merged) join(c, at uint32) (bool, error) {
	var joined []membership
	ok, err := m.fits(membership{c, at}, &joined)
	if !ok || err != nil {
		return false, err
	}
	for _, one := range joined {
		m.put(one)
	}
	return true, nil
}

type membership struct{ class, entry uint32 }

// fits reports whether an entry does what a class does, for all that the class has observed. It
// appends what then becomes a member of which class.
func (m *merged) fits(as membership, joined *[]membership) (bool, error) {
	p := m.p
	if c := m.of[as.entry].class; c != outside {
		return c == as.class, nil
	}
	first := m.classes[as.class].Members[0]
	if m.state(first) != m.state(as.entry) || m.apart(first, as.entry) {
		return false, nil
	}
	if m.full(as) {
		*joined = append(*joined, as)
		return true, nil
	}
	for _, s := range m.classes[as.class].Used {
		a, _ := p.known(first, s)
		b, err := p.step(as.entry, s)
		if err != nil {
			return false, m.differs(a, err)
		}
		if !p.entries[a].SameActions(&p.entries[b]) {
			return false, nil
		}
		if ok, err := m.fits(membership{m.of[a].class, b}, joined); !ok || err != nil {
			return false, err
		}
	}
	*joined = append(*joined, as)
	return true, nil
}

// apart reports whether a division has distinguished two entries.
func (m *merged) apart(a, b uint32) bool {
	return int(max(a, b)) < len(m.parts) && m.parts[a] != m.parts[b]
}

// differs is that code fails with err where other code does what an entry says. Nothing divides them.
func (m *merged) differs(does uint32, err error) error {
	p := m.p
	if wrong := (*NondeterministicError)(nil); errors.As(err, &wrong) {
		return err
	}
	return &hypothesis.Refuted{
		Of: hypothesis.Merged, Client: p.code.id, Was: p.Describe(&p.entries[does]), Is: err.Error(), End: true,
	}
}

// divide computes the partition anew, since successors of a class's members differ. Those are of one part that agree in
// their state and, where both observed the same, in what they do. What follows from an entry has a higher number.
func (m *merged) divide(a, b uint32) error {
	p := m.p
	follow := make([][]uint32, len(p.entries))
	for at := range uint32(len(p.entries)) {
		if from := p.entries[at].Parent; from != at {
			follow[from] = append(follow[from], at)
		}
	}
	type part struct {
		number uint32
		does   map[Observation]uint32 // an entry
	}
	of := make([]uint32, len(p.entries))
	parts := map[state][]*part{}
	n := uint32(0)
	for i := range of {
		at := uint32(len(of) - 1 - i)
		k := m.state(at)
		agrees := func(one *part) bool {
			for _, to := range follow[at] {
				e := &p.entries[to]
				if other, ok := one.does[e.Seen]; ok && (of[other] != of[to] || !p.entries[other].SameActions(e)) {
					return false
				}
			}
			return true
		}
		which := slices.IndexFunc(parts[k], agrees)
		if which < 0 {
			which = len(parts[k])
			parts[k] = append(parts[k], &part{number: n, does: map[Observation]uint32{}})
			n++
		}
		in := parts[k][which]
		of[at] = in.number
		for _, to := range follow[at] {
			in.does[p.entries[to].Seen] = to
		}
	}
	m.undo()
	m.divisions, m.parts = m.divisions+1, of
	return &hypothesis.Refuted{
		Of: hypothesis.Merged, Client: p.code.id, Was: p.Describe(&p.entries[a]), Is: p.Describe(&p.entries[b]),
		End: m.divisions > maxDivisions,
	}
}
