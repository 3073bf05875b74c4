package process

import (
	"errors"
	"testing"
	"time"

	"locklab/simulator/internal/table"
)

// Two timers that fire at the same time: in both orders the same is left, and the first
// history stands for both, unless what the code does next tells the orders apart. Code that
// tells them apart only later is found out.
func TestMergeOrders(t *testing.T) {
	const (
		never = iota
		atOnce
		later
	)
	for name, tells := range map[string]int{"never": never, "at once": atOnce, "later": later} {
		t.Run(name, func(t *testing.T) {
			var p *Process
			p = New(1, func() {
				var fired []int
				for i := range 2 {
					p.Clock().AfterFunc(time.Second, func() { fired = append(fired, i) })
				}
				p.Clock().Sleep(5 * time.Second)
				wait := time.Minute
				if tells != never && len(fired) > 0 {
					wait *= time.Duration(1 + fired[0])
				}
				p.Clock().Sleep(wait)
			}, nil, table.NewRoom())
			p.Use(noLibrary{})
			t.Cleanup(p.Close)
			if tells == atOnce {
				p.program = func() {
					var fired []int
					for i := range 2 {
						p.Clock().AfterFunc(time.Second, func() {
							fired = append(fired, i)
							if len(fired) == 2 {
								p.Clock().Sleep(time.Duration(1+fired[0]) * time.Minute)
							}
						})
					}
					p.Clock().Sleep(5 * time.Second)
				}
			}
			p.MergeOrders(true)
			slept := func(at uint32, thread uint8) uint32 {
				t.Helper()
				to, err := p.Advance(at, Observation{Thread: thread, Kind: Slept})
				if err != nil {
					t.Fatal(err)
				}
				return to
			}
			begun, err := p.Advance(0, Observation{Kind: Started})
			if err != nil {
				t.Fatal(err)
			}
			a, b := slept(slept(begun, 1), 2), slept(slept(begun, 2), 1)
			for _, at := range []uint32{a, b} {
				to, err := p.Forget(at)
				if err != nil {
					t.Fatal(err)
				}
				if merged := to != at; merged != (at == b && tells != atOnce) {
					t.Errorf("history %d of %d and %d is taken for %d", at, a, b, to)
				}
			}
			_, err = p.Advance(a, Observation{Kind: Slept})
			if differs := (*OrderError)(nil); errors.As(err, &differs) != (tells == later) {
				t.Errorf("then %v", err)
			}
		})
	}
}
