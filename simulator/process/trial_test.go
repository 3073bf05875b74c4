package process

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// Histories are tried beside each other as one after the other: what is found is the same, and code that does something else in one execution of
// hundreds is found.
func TestTwins(t *testing.T) {
	const histories = 200
	for name, c := range map[string]struct {
		// code runs after a program was told something and has read its clock, in one of its executions.
		code    func(c Clock, told int, read time.Time, execution int64)
		refused error // an error of this type; nil: none
	}{
		"measures": {code: func(c Clock, _ int, read time.Time, _ int64) { c.Sleep(c.Now().Sub(read)) }},
		"looks at the year": {code: func(c Clock, told int, read time.Time, _ int64) {
			if told == 77 && read.Year() > 2050 {
				c.Sleep(time.Minute)
			}
		}, refused: &TimeOfDayError{}},
		"does something else once": {code: func(c Clock, _ int, _ time.Time, execution int64) {
			if execution == histories+50 {
				c.Sleep(time.Minute)
			}
		}, refused: &NondeterministicError{}},
	} {
		t.Run(name, func(t *testing.T) {
			first := ""
			for _, n := range []int{0, 1, 3} {
				var executions atomic.Int64
				made := func() *Process {
					var p *Process
					p = newProcess(t, func() {
						execution, clock := executions.Add(1), p.code.Clock()
						told := clock.Idle(time.Second, histories-1)
						c.code(clock, told, clock.Now(), execution)
						clock.Sleep(time.Second)
					})
					return p
				}
				p, only := made(), 0
				for way := range int64(histories) {
					observe(t, p, Observation{Kind: Started}, Observation{Kind: Slept, Val: way}, Observation{Kind: ClockRead, Val: way})
				}
				twins := Twins{ReadOnly: func(on bool) {
					if on {
						only++
					}
				}}
				for range n {
					twins.List = append(twins.List, made())
				}
				err := errors.Join(p.Repeat(twins), p.CheckMeasures(func(uint32) bool { return true }, twins))
				if (only > 0) != (n > 0) {
					t.Errorf("%d twins: %d times in several goroutines", n, only)
				}
				dated, chance := (*TimeOfDayError)(nil), (*NondeterministicError)(nil)
				switch c.refused.(type) {
				case nil:
					if err != nil {
						t.Errorf("%d twins: %v", n, err)
					}
				case *TimeOfDayError:
					if said := fmt.Sprint(err); !errors.As(err, &dated) || first != "" && said != first {
						t.Errorf("%d twins: %v, without %v", n, err, first)
					}
					first = fmt.Sprint(err)
				default:
					if !errors.As(err, &chance) {
						t.Errorf("%d twins: %v, want a NondeterministicError", n, err)
					}
				}
			}
		})
	}
}
