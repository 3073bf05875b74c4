package locktest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"locklab/faults"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
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
func contradictedByCauses(ctx context.Context, p *plan, s *search.Search, c Claim) string {
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
func causesWithin(ctx context.Context, p *plan, bounds search.Bounds, c Claim) (ways [][]explore.Cause, all bool, err error) {
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

var (
	reportFlag = flag.String("locklab.report", "", "write what tests find, as data, into this `folder`, which exists; locklab check reads it")
	moreFlag   = flag.String("locklab.more", "", "beside the search of a Check, find out, for the report: a `list` of par, tolerance, races")
)

// The kinds of -locklab.more.
const (
	morePars      = "par"
	moreTolerance = "tolerance"
	moreRaces     = "races"
)

// wants reports whether -locklab.more asks for a kind. The error is about the flag.
func wants(kind string) (bool, error) {
	all := strings.FieldsFunc(*moreFlag, func(r rune) bool { return r == ',' })
	for _, one := range all {
		if !slices.Contains([]string{morePars, moreTolerance, moreRaces}, one) {
			return false, text.Errorf("locktest.more", "value", one)
		}
	}
	return slices.Contains(all, kind), nil
}

// report writes the data of a test, under its name, when the test has ended.
func (p *plan) report(c *study.Checked) {
	c.Test, c.Nodes, c.TTL = p.t.Name(), p.bounds.Servers, p.bounds.TTL
	p.t.Cleanup(func() {
		c.Failed = p.t.Failed()
		if err := write(c, filepath.Join(*reportFlag, url.PathEscape(c.Test)+".json")); err != nil {
			p.t.Errorf("-locklab.report: %v", err)
		}
	})
}

func write(c *study.Checked, name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(c.Write(f), f.Close())
}

// unknown reports that a test has no answer, and why.
func (p *plan) unknown(key string) {
	if *reportFlag != "" {
		p.report(&study.Checked{Unknown: tell(key)})
	}
}

// examine finds out what a report is to have, beside the search s.
func (p *plan) examine(s *search.Search, took time.Duration) (*study.Checked, error) {
	search, err := p.withRuns(s, took)
	if err != nil {
		return nil, err
	}
	c := &study.Checked{Search: search}
	for kind, find := range map[string]func(c *study.Checked) error{morePars: p.findPars, moreTolerance: p.findTolerance, moreRaces: p.findRaces} {
		wanted, err := wants(kind)
		if err == nil && wanted {
			err = find(c)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// withRuns is a search as data, with the runs of its witnesses.
func (p *plan) withRuns(s *search.Search, took time.Duration) (*study.CheckedSearch, error) {
	out := study.CheckedSearch{Search: s, Seconds: took.Seconds()}
	for _, w := range s.Witnesses {
		o, err := p.play(w.Trace)
		if err != nil {
			return nil, err
		}
		out.Runs = append(out.Runs, study.NewCheckedRun(o))
	}
	return &out, nil
}

// findPars searches within each of the budgets of one fault.
func (p *plan) findPars(c *study.Checked) error {
	b := search.DefaultBounds()
	b.TTL, b.Nodes, b.MaxStates = p.study.TTL, p.study.Nodes, p.study.MaxStates
	for _, budget := range study.SingleFaults() {
		b.Budget = faults.Budget(budget)
		began := time.Now()
		s, err := p.searchWithin(p.t.Context(), b)
		if err != nil {
			return fmt.Errorf("%s: %w", b.Budget, err)
		}
		c.Pars = append(c.Pars, study.CheckedSearch{Search: s, Seconds: time.Since(began).Seconds()})
	}
	return nil
}

// findTolerance bisects the sizes of faults. Clocks of clients cannot be set.
func (p *plan) findTolerance(c *study.Checked) error {
	rivals := study.Rivals{TTL: p.study.TTL, Retries: explore.RetrySleeps(p.study.TTL, explore.MaxRetries), Code: p.putInto}
	for _, h := range study.Hazards() {
		limit := study.Limit{Lock: p.entry.ID, Fault: h.Fault, Answer: study.NotAsked}
		if h.Fault != wallClock {
			err := p.untilTimed(func() (err error) {
				limit, err = rivals.Limit(p.t.Context(), p.entry, h)
				return err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", h.Fault, err)
			}
		}
		c.Limits = append(c.Limits, limit)
	}
	return nil
}

// wallClock is the fault that code in a bubble cannot be shown.
const wallClock = "client-clock"

// findRaces plays all races.
func (p *plan) findRaces(c *study.Checked) error {
	r := newRacer(p.t, p.bounds, p.code)
	table, err := r.playAll()
	c.Races = runs(table)
	return err
}

func runs(table []*race.Outcome) (all []study.CheckedRun) {
	for _, o := range table {
		all = append(all, study.NewCheckedRun(o))
	}
	return all
}
