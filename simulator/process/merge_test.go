package process

import (
	"errors"
	"testing"
	"time"

	"locklab/simulator/hypothesis"
	"locklab/simulator/intern"
)

// Two timers that fire at the same time: in both orders the same is left, and the first
// history stands for both, unless what the code does next tells the orders apart. Code that
// tells them apart only later is found out, and then they are two.
func TestMergeOrders(t *testing.T) {
	const (
		never = iota
		atOnce
		later
	)
	for name, tells := range map[string]int{"never": never, "at once": atOnce, "later": later} {
		t.Run(name, func(t *testing.T) {
			var p *Process
			p = newProcess(t, func() {
				var fired []int
				for i := range 2 {
					p.code.Clock().AfterFunc(time.Second, func() { fired = append(fired, i) })
				}
				p.code.Clock().Sleep(5 * time.Second)
				wait := time.Minute
				if tells != never && len(fired) > 0 {
					wait *= time.Duration(1 + fired[0])
				}
				p.code.Clock().Sleep(wait)
			})
			if tells == atOnce {
				p.program = func() {
					var fired []int
					for i := range 2 {
						p.code.Clock().AfterFunc(time.Second, func() {
							fired = append(fired, i)
							if len(fired) == 2 {
								p.code.Clock().Sleep(time.Duration(1+fired[0]) * time.Minute)
							}
						})
					}
					p.code.Clock().Sleep(5 * time.Second)
				}
			}
			p.Merge(hypothesis.MergeOrders)
			one := func(thread uint8) Observation { return Observation{Thread: thread, Kind: Slept} }
			orders := []string{"12", "21"}
			var at []uint32
			for _, order := range orders {
				at = append(at, observe(t, p, Observation{Kind: Started}, one(order[0]-'0'), one(order[1]-'0')))
			}
			if merged := first(t, p, at[1]) != at[1]; merged != (tells != atOnce) {
				t.Errorf("history %d of %d is taken for %d", at[1], at, first(t, p, at[1]))
			}
			_, err := p.Advance(at[0], one(0))
			differ := (*hypothesis.Refuted)(nil)
			if errors.As(err, &differ) != (tells == later) {
				t.Errorf("then %v", err)
			}
			if differ != nil && (differ.End || first(t, p, at[0]) == first(t, p, at[1])) {
				t.Errorf("%v, and they are still one", differ)
			}
		})
	}
}

// A thread goes on in one of two ways, and then sleeps three times. Once the code has told the
// way for the last time, both histories are one, and not before.
func TestMergeHistories(t *testing.T) {
	ways := [2]Observation{{Kind: Slept, Val: 0}, {Kind: Slept, Val: 1}}
	slept := Observation{Kind: Slept}
	for _, c := range []struct {
		name   string
		tells  int // by the length of which of its sleeps it tells the way
		merged [3]bool
	}{
		{"first", 1, [3]bool{false, true, true}},
		{"second", 2, [3]bool{false, false, true}},
		{"third", 3, [3]bool{false, false, false}},
		{"never", 4, [3]bool{true, true, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p *Process
			p = newProcess(t, func() {
				way := p.code.Clock().Idle(time.Second, 1)
				for i := 1; i <= 3; i++ {
					d := time.Duration(i) * time.Minute
					if i == c.tells {
						d += time.Duration(way) * time.Second
					}
					p.code.Clock().Sleep(d)
				}
			})
			p.Merge(hypothesis.MergeHistories)
			for again := true; again; {
				again = false
				for n := range 3 {
					var at [2]uint32
					for w, way := range ways {
						var err error
						if at[w], err = advance(p,
							append([]Observation{{Kind: Started}, way}, slept, slept)[:2+n]...); err != nil {
							again = true
						}
					}
					if !again && (first(t, p, at[0]) == first(t, p, at[1])) != c.merged[n] {
						t.Errorf("after %d sleeps histories %d are taken for %d and %d",
							n, at, first(t, p, at[0]), first(t, p, at[1]))
					}
				}
			}
		})
	}
}

// The answer to a question that has been asked before is tried before anybody observes it,
// so that what differs is of two classes from the start.
func TestMergeLooksAhead(t *testing.T) {
	var p *Process
	p = newProcess(t, func() {
		way := p.code.Clock().Idle(time.Second, 1)
		p.code.MustAsk(Op{Kind: Read})
		p.code.MustAsk(Op{Kind: Read})
		p.code.Clock().Sleep(time.Duration(1+way) * time.Minute)
	})
	p.Merge(hypothesis.MergeHistories)
	read := Observation{Kind: Replied, Val: 7}
	observe(t, p, Observation{Kind: Started}, Observation{Kind: Slept}, read, read, Observation{Kind: Slept})
	other := observe(t, p, Observation{Kind: Started}, Observation{Kind: Slept, Val: 1})
	if first(t, p, other) != other {
		t.Errorf("history %d is taken for %d", other, first(t, p, other))
	}
}

func newProcess(t *testing.T, program func()) *Process {
	p := New(1, program, nil, intern.NewRoom())
	p.Use(noLibrary{})
	t.Cleanup(p.Close)
	return p
}

func advance(p *Process, seen ...Observation) (at uint32, err error) {
	for _, s := range seen {
		if at, err = p.Advance(at, s); err != nil {
			return at, err
		}
	}
	return at, nil
}

func observe(t *testing.T, p *Process, seen ...Observation) uint32 {
	t.Helper()
	at, err := advance(p, seen...)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func first(t *testing.T, p *Process, at uint32) uint32 {
	t.Helper()
	to, err := p.Forget(at)
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// noLibrary is the Library of a process that uses no server.
type noLibrary struct{}

func (noLibrary) Start(uint32)   {}
func (noLibrary) Stop()          {}
func (noLibrary) Memory() uint32 { return 0 }
func (noLibrary) Idle() bool     { return true }
func (noLibrary) Close()         {}
