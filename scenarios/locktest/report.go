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

	"locklab/faults"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator/lists"
)

var (
	reportFlag = flag.String("locklab.report", "",
		"write what tests find, as data, into this `folder`, which exists; locklab check reads it")
	moreFlag = flag.String("locklab.more", "",
		"beside the search of a Check, find out, for the report: a `list` of par, tolerance, races")
)

// report writes the data of a test, under its name, when the test has ended.
func (p *plan) report(c *study.Checked) {
	if *reportFlag == "" {
		return
	}
	c.Test, c.Nodes, c.TTL, c.Drawing = p.t.Name(), p.bounds.Servers, p.bounds.TTL, p.Drawing
	p.run.folders.Range(func(folder, _ any) bool {
		c.Folders = append(c.Folders, folder.(string))
		return true
	})
	slices.Sort(c.Folders)
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
func (p *plan) examine(s *search.Search) (*study.Checked, error) {
	c := &study.Checked{Search: &study.CheckedSearch{Search: s}}
	for _, w := range s.Witnesses {
		o, err := p.play(w.Trace)
		if err != nil {
			return nil, err
		}
		c.Search.Runs = append(c.Search.Runs, study.NewCheckedRun(o))
	}
	for kind := range strings.SplitSeq(*moreFlag, ",") {
		err := error(nil)
		switch kind {
		case "":
		case "par":
			err = p.findPars(c)
		case "tolerance":
			err = p.findTolerance(c)
		case "races":
			var table []*race.Outcome
			table, err = newRacer(p.t, p.bounds, p.run.code).playAll()
			c.Races = runs(table)
		default:
			err = text.Errorf("locktest.more", "value", kind)
		}
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// findPars searches within each of the budgets of one fault.
func (p *plan) findPars(c *study.Checked) error {
	b := search.DefaultBounds()
	b.TTL, b.Nodes, b.MaxStates = p.study.TTL, p.study.Nodes, p.study.MaxStates
	for _, budget := range study.SingleFaults() {
		b.Budget = faults.Budget(budget)
		s, err := p.searchWithin(p.t.Context(), b)
		if err != nil {
			return fmt.Errorf("%s: %w", b.Budget, err)
		}
		c.Pars = append(c.Pars, study.CheckedSearch{Search: s})
	}
	return nil
}

// findTolerance bisects the sizes of faults. Clocks of clients cannot be set.
func (p *plan) findTolerance(c *study.Checked) error {
	rivals := study.Rivals{TTL: p.study.TTL, Code: p.putInto}
	for _, h := range study.Hazards() {
		limit := study.Limit{Lock: p.entry.ID, Fault: h.Fault, Answer: study.NotAsked}
		if h.Fault != faults.ClientClock.Name {
			err := p.run.untilKnown(func() (err error) {
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

func runs(table []*race.Outcome) []study.CheckedRun { return lists.Each(table, study.NewCheckedRun) }
