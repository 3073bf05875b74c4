package locktest

import (
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
	"locklab/simulator/lists"
)

var (
	reportFlag = flag.String("locklab.report", "", "write what tests find, as data, into this `folder`, which exists; locklab check reads it")
	moreFlag   = flag.String("locklab.more", "", "beside the search of a Check, find out, for the report: a `list` of par, tolerance, races")
)

// moreKinds are the kinds of -locklab.more, and how they are found out.
var moreKinds = []struct {
	name string
	find func(examination) error
}{{"par", examination.pars}, {"tolerance", examination.tolerance}, {"races", examination.races}}

// An examination finds out what a report has beside the search.
type examination struct {
	of    *plan
	found *study.Checked
}

// report writes the data of a test, under its name, when the test has ended.
func (p *plan) report(c *study.Checked) {
	if *reportFlag == "" {
		return
	}
	c.Test, c.Nodes, c.TTL = p.t.Name(), p.bounds.Servers, p.bounds.TTL
	p.t.Cleanup(func() {
		c.Failed = p.t.Failed()
		f, err := os.Create(filepath.Join(*reportFlag, url.PathEscape(c.Test)+".json"))
		if err == nil {
			err = errors.Join(c.Write(f), f.Close())
		}
		if err != nil {
			p.t.Errorf("-locklab.report: %v", err)
		}
	})
}

// examine finds out what a report is to have, beside the search s. The error may be about -locklab.more.
func (p *plan) examine(s *search.Search, took time.Duration) (*study.Checked, error) {
	c := &study.Checked{Search: &study.CheckedSearch{Search: s, Seconds: took.Seconds()}}
	for _, w := range s.Witnesses {
		o, err := p.play(w.Trace)
		if err != nil {
			return nil, err
		}
		c.Search.Runs = append(c.Search.Runs, study.NewCheckedRun(o))
	}
	wanted := strings.FieldsFunc(*moreFlag, func(r rune) bool { return r == ',' })
	for _, kind := range moreKinds {
		if slices.Contains(wanted, kind.name) {
			if err := kind.find(examination{p, c}); err != nil {
				return nil, err
			}
		}
		wanted = slices.DeleteFunc(wanted, func(name string) bool { return name == kind.name })
	}
	if len(wanted) > 0 {
		return nil, text.Errorf("locktest.more", "value", wanted[0])
	}
	return c, nil
}

// findPars searches within each of the budgets of one fault.
func (x examination) pars() error {
	b := search.DefaultBounds()
	b.TTL, b.Nodes, b.MaxStates = x.of.study.TTL, x.of.study.Nodes, x.of.study.MaxStates
	for _, budget := range study.SingleFaults() {
		b.Budget = faults.Budget(budget)
		began := time.Now()
		s, err := x.of.searchWithin(x.of.t.Context(), b)
		if err != nil {
			return fmt.Errorf("%s: %w", b.Budget, err)
		}
		x.found.Pars = append(x.found.Pars, study.CheckedSearch{Search: s, Seconds: time.Since(began).Seconds()})
	}
	return nil
}

// findTolerance bisects the sizes of faults. Clocks of clients cannot be set.
func (x examination) tolerance() error {
	rivals := study.Rivals{TTL: x.of.study.TTL, Code: x.of.putInto}
	for _, h := range study.Hazards() {
		limit := study.Limit{Lock: x.of.entry.ID, Fault: h.Fault, Answer: study.NotAsked}
		if h.Fault != wallClock {
			err := x.of.run.untilKnown(func() (err error) {
				limit, err = rivals.Limit(x.of.t.Context(), x.of.entry, h)
				return err
			})
			if err != nil {
				return fmt.Errorf("%s: %w", h.Fault, err)
			}
		}
		x.found.Limits = append(x.found.Limits, limit)
	}
	return nil
}

// wallClock is the fault that code in a bubble cannot be shown.
const wallClock = "client-clock"

// findRaces plays all races.
func (x examination) races() error {
	r := newRacer(x.of.t, x.of.bounds, x.of.run.code)
	table, err := r.playAll()
	x.found.Races = runs(table)
	return err
}

func runs(table []*race.Outcome) []study.CheckedRun { return lists.Each(table, study.NewCheckedRun) }
