package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// doomHelp is what --doom prints, for the commands that have it.
const doomHelp = `--doom shows for each step how much is lost already: the exact share of all that
can follow that ends in the harm, if no fault strikes any more and each next
step is equally likely; and it marks the point of no return. -o FILE draws it as
.png or .svg, with its numbers beside it as .csv.`

// doomFiles takes the files that are pictures of a doom curve, or its numbers, out
// of the others.
func doomFiles(files []string, doom bool) (curve, rest []string, err error) {
	for _, f := range files {
		switch {
		case chartFormats[filepath.Ext(f)] == nil:
			rest = append(rest, f)
		case !doom:
			return nil, nil, fmt.Errorf("-o %s: what can be drawn of one run is its doom curve: add --doom", f)
		default:
			curve = append(curve, f)
		}
	}
	return withNumbers(curve), rest, nil
}

// foresee works out the doom curve of the run that is to be shown, and writes its
// files. That more can follow than can be counted is no reason to show nothing:
// that error comes back to be told at the end.
func (a *app) foresee(ctx context.Context, entry lock.Entry, t simulator.Trace, harm verdict.Word, files []string) (untold, err error) {
	d, err := study.DoomOn(ctx, entry, t, harm)
	large, limit := (*explore.TooLargeError)(nil), (*simulator.LimitError)(nil)
	switch {
	case errors.As(err, &large) || errors.As(err, &limit) || errors.Is(err, context.Canceled):
		return &exitError{exitUntold, err}, nil
	case err != nil:
		return nil, err
	}
	a.doom = doomCurve(d)
	return nil, a.writeCharts(a.doom, files)
}

func doomCurve(d *study.Doom) *reports.Doom {
	c := &reports.Doom{Harm: d.Harm, History: d.Run.History, NoReturn: d.NoReturn, States: d.States}
	for _, s := range d.Steps {
		c.Steps = append(c.Steps, reports.DoomStep{At: s.At, Events: s.Events, Strike: s.Fault, Share: s.Share})
	}
	return c
}

// tellDoom prints the curve, if somebody asked for one.
func (a *app) tellDoom() error {
	if a.doom == nil {
		return nil
	}
	a.printf("\n")
	return internal(a.doom.Text(a.stdout, a.options()))
}

type doomJSON struct {
	Harm     verdict.Word   `json:"harm"`
	NoReturn int            `json:"no_return"`
	States   int            `json:"states"`
	Takeaway string         `json:"takeaway"`
	Steps    []doomStepJSON `json:"steps"`
}

type doomStepJSON struct {
	Step   int     `json:"step"`
	AtNS   int64   `json:"at_ns"`
	Strike bool    `json:"strike"`
	Share  float64 `json:"share"`
}

// doomToJSON is nil where nobody asked for a curve.
func (a *app) doomToJSON() *doomJSON {
	if a.doom == nil {
		return nil
	}
	out := &doomJSON{Harm: a.doom.Harm, NoReturn: a.doom.NoReturn, States: a.doom.States, Takeaway: a.doom.Takeaway("en")}
	for n, s := range a.doom.Steps {
		out.Steps = append(out.Steps, doomStepJSON{n, int64(s.At), s.Strike, s.Share})
	}
	return out
}

// showcaseDoom is the doom curve of the report: the lock that most people would
// write, and one pause.
func (a *app) showcaseDoom(ctx context.Context) (*reports.Doom, error) {
	entry, err := race.Strategy("token")
	if err != nil {
		return nil, err
	}
	b := study.DefaultBounds()
	b.Budget = "pause=1"
	s, err := study.Explore(ctx, entry, b)
	if err != nil {
		return nil, err
	}
	if len(s.Witnesses) == 0 {
		return nil, fmt.Errorf("%s stands one pause: there is no doom to draw", entry.ID)
	}
	w := s.Witnesses[0]
	d, err := study.DoomOn(ctx, entry, w.Trace, w.Verdict)
	if err != nil {
		return nil, err
	}
	return doomCurve(d), nil
}
