package process

import (
	"math/rand/v2"
	"slices"

	"locklab/simulator/hypothesis"
	"locklab/simulator/internal/clock"
)

// A Host's code takes long to run, and what several threads observe comes in many orders: three answers in six, those
// of two rounds of requests to three servers in thirty-six. A class of a Host's histories therefore follows only two of
// its members. Each other one goes on in some ways that are drawn, to the end, as the class did (Process.Repeat); what
// only other ways show is not seen. Where it does something else the classes are divided, as everywhere.

// mostFollowed is the number of members that a class of a Host's histories follows.
const mostFollowed = 2

// waysTried is the number of ways in which each other member goes on. A way is drawn anew at every observation.
const waysTried = 8

// orders are the histories of a Host's code that their classes do not follow.
type orders struct {
	others []uint32 // entries
	tried  int      // of them, so many
}

// try has each other history go on in some ways, all of them at every call: their classes have observed more since.
// Where some differ from their classes, all their members go that way, so that one division distinguishes them.
func (m *merged) try() error {
	var split *difference
	divided := map[uint32]bool{} // classes
	for _, at := range m.others {
		c := m.of[at].class
		if divided[c] {
			continue
		}
		way, err := m.goOnSomehow(at)
		if err != nil {
			return err
		}
		if way == nil {
			continue
		}
		divided[c] = true
		if split, err = m.distinguish(c, way, split); err != nil {
			return err
		}
	}
	m.tried = len(m.others)
	if split != nil {
		return m.divide(split.was, split.is)
	}
	return nil
}

// goOnSomehow has a history go on in waysTried ways, and returns the first on which it does something else; nil: none.
func (m *merged) goOnSomehow(at uint32) (way []Observation, err error) {
	var tried [][]Observation
	for k := 0; k < waysTried && way == nil && err == nil; k++ {
		as := m.draw(at, rand.New(rand.NewPCG(uint64(at), uint64(k))))
		if !slices.ContainsFunc(tried, func(other []Observation) bool { return slices.Equal(other, as) }) {
			tried = append(tried, as)
			way, err = m.goOn(at, as)
		}
	}
	return way, err
}

// draw returns a way to the end, of what the class of a history has observed.
func (m *merged) draw(at uint32, random *rand.Rand) (way []Observation) {
	for c := &m.classes[m.of[at].class]; len(c.Used) > 0; {
		s := c.Used[random.IntN(len(c.Used))]
		to, _ := m.p.known(c.Members[0], s)
		way, c = append(way, s), &m.classes[m.of[to].class]
	}
	return way
}

// goOn has a history go on as its class did on a way. It returns the way up to where it differs; nil: nowhere.
func (m *merged) goOn(at uint32, way []Observation) (differs []Observation, err error) {
	for range mostTries {
		if differs, err = m.goOnOnce(at, way); err != errOtherWay {
			return differs, err
		}
	}
	return differs, nil
}

// goOnOnce is goOn of one execution. The error is errOtherWay if that does not take the ways of the class.
func (m *merged) goOnOnce(at uint32, way []Observation) (differs []Observation, err error) {
	p := m.p
	if _, err := p.rerun(p.lastRun(at), clock.Shift{}); err != nil {
		return nil, err
	}
	defer p.stop() // the table has nothing of how it goes on
	for i, s := range way {
		c := &m.classes[m.of[at].class]
		to, _ := p.known(c.Members[0], s)
		if at = to; p.lastRun(to) != to {
			continue
		}
		_, what := p.input(c.Members[0], s)
		is := p.entries[to]
		did, err := p.run.Observe(what, &is)
		switch {
		case err == nil && did.SameActions(&is):
		case what.Branch:
			return way[:i+1], errOtherWay
		default:
			return way[:i+1], nil
		}
	}
	return nil, nil
}

// A difference is two entries of one class that do different things.
type difference struct{ was, is uint32 }

// distinguish has all entries of a class go on in a way, on which one differs from the class. That is found, or split.
func (m *merged) distinguish(class uint32, way []Observation, split *difference) (*difference, error) {
	p := m.p
	for at := range uint32(len(m.of)) {
		if m.of[at].class != class {
			continue
		}
		c, is := class, at
		for _, s := range way {
			was, _ := p.known(m.classes[c].Members[0], s)
			to, err := p.step(is, s)
			if err != nil {
				return nil, m.differs(was, err)
			}
			if !p.entries[was].SameActions(&p.entries[to]) {
				split = &difference{was, to}
				break
			}
			c, is = m.of[was].class, to
		}
	}
	if split == nil {
		return nil, &hypothesis.Refuted{
			Of: hypothesis.Merged, Client: p.code.id, Was: p.Describe(&p.entries[m.classes[class].Members[0]]),
			Is: "something else", End: true,
		}
	}
	return split, nil
}

// Tried returns the number of histories of a Host's code that differ from others in the order of what their threads
// have observed, and have gone on in some ways only.
func Tried(p *Process) int {
	if p.merged == nil {
		return 0
	}
	return p.merged.tried
}

// Represents reports whether a Host's entry represents itself; false: another order of what its threads observed does.
func Represents(p *Process, at uint32) bool {
	if p.merged == nil || p.host == nil || p.merged.of[at].class == outside {
		return true
	}
	return p.merged.classes[p.merged.of[at].class].Members[0] == at
}
