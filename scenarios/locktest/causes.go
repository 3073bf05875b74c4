package locktest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"locklab/faults"
	"locklab/reports/text"
	"locklab/scenarios/study"
	"locklab/simulator/explore"
)

// checkCauses returns what is wrong with the causes of claims about p.
func checkCauses(claims []Claim, p *plan) error {
	for _, c := range claims {
		for _, by := range c.causes {
			fault, err := faults.ByName(by.fault)
			switch {
			case err != nil:
				return text.Errorf("locktest.by.fault", "verdict", c.word, "cause", err)
			case !p.study.Allows(fault):
				return text.Errorf("locktest.by.budget", "fault", by.fault, "budget", p.bounds.Budget)
			}
			for _, v := range by.victims {
				if v != Waiter && v != Holder {
					return text.Errorf("locktest.by.victim", "fault", by.fault, "victim", fmt.Sprintf("%q", string(v)))
				}
			}
		}
		if len(c.causes) > c.par {
			return text.Errorf("locktest.by.many", "verdict", c.word, "par", c.par, "n", len(c.causes))
		}
	}
	if p.any != nil {
		return refuseCauses(claims)
	}
	return nil
}

// refuseCauses is the error of claims with causes where no search looks for them.
func refuseCauses(claims []Claim) error {
	if slices.ContainsFunc(claims, func(c Claim) bool { return c.causes != nil }) {
		return text.Errorf("locktest.by.check")
	}
	return nil
}

// contradictedByCauses returns why the causes by which a verdict comes about, with as many faults as the claim says, contradict it, or do
// not decide it; "": they bear it out.
func contradictedByCauses(ctx context.Context, p *plan, s *study.Search, c Claim) string {
	ctx, cancel := within(ctx, p.bounds.MaxTime)
	defer cancel()
	ways, all, err := causesWithin(ctx, p, s.Bounds, c)
	switch {
	case slices.ContainsFunc(ways, func(way []explore.Cause) bool { return borneOut(c.causes, way) }):
		return ""
	case err != nil && ctx.Err() == nil:
		return explain(err)
	case !all:
		return tell("locktest.by.cut", "claim", written(c))
	}
	var found []string
	for _, way := range ways {
		other := c
		other.causes = nil
		for _, one := range way {
			other.causes = append(other.causes, causeOf(one))
		}
		found = append(found, written(other))
	}
	return tell("locktest.by.others", "claim", written(c), "par", fmt.Sprint(c.par), "found", strings.Join(found, "; "))
}

// causesWithin searches the code for the causes of a claim's verdict.
func causesWithin(ctx context.Context, p *plan, bounds study.Bounds, c Claim) (ways [][]explore.Cause, all bool, err error) {
	err = p.untilTimed(func() error {
		m, err := p.within(bounds)
		if err == nil {
			ways, all, err = explore.CausesOf(ctx, m, c.word, c.par)
		}
		return err
	})
	return ways, all, err
}

// borneOut reports whether each cause of a claim is another one of a way.
func borneOut(claimed []cause, way []explore.Cause) bool {
	if len(claimed) == 0 {
		return true
	}
	for i, one := range way {
		first := claimed[0]
		is := one.Fault == first.fault && (len(first.victims) == 0 || slices.Contains(first.victims, one.Victim))
		if is && borneOut(claimed[1:], slices.Delete(slices.Clone(way), i, i+1)) {
			return true
		}
	}
	return false
}

func causeOf(c explore.Cause) cause {
	if c.Victim == "" {
		return cause{c.Fault, nil}
	}
	return cause{c.Fault, []Victim{c.Victim}}
}

// written returns a claim as a test writes it.
func written(c Claim) string {
	out := fmt.Sprintf("Breaks(%q, %d)", c.word, c.par)
	for _, by := range c.causes {
		out += fmt.Sprintf(".By(%q", by.fault)
		for _, v := range by.victims {
			out += map[Victim]string{Waiter: ", locktest.Waiter", Holder: ", locktest.Holder"}[v]
		}
		out += ")"
	}
	return out
}
