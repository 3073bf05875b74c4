package main

import (
	"context"
	"errors"
	"path/filepath"

	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// doomFiles separates the files for the doom curve, as picture or numbers, from the
// others.
func (a *app) doomFiles(files []string, doom bool) (curve, rest []string, err error) {
	for _, f := range files {
		switch {
		case chartFormats[filepath.Ext(f)] == nil:
			rest = append(rest, f)
		case !doom:
			return nil, nil, text.Errorf("error.doom.missing", "file", f)
		default:
			curve = append(curve, f)
		}
	}
	return withNumbers(curve), rest, nil
}

// findDoom computes the doom curve of the run that is to be shown.
// unanswered: there are too many continuations, which is reported after the run.
func (a *app) findDoom(ctx context.Context, entry lock.Entry, t simulator.Trace, harm verdict.Word) (unanswered, err error) {
	d, err := study.DoomOn(ctx, entry, t, harm)
	large, limit := (*explore.TooLargeError)(nil), (*simulator.LimitError)(nil)
	switch {
	case errors.As(err, &large) || errors.As(err, &limit) || errors.Is(err, context.Canceled):
		return &exitError{exitNoAnswer, err}, nil
	case err != nil:
		return nil, err
	}
	a.doom = &chart.Doom{Doom: d}
	return nil, nil
}

// printDoom prints the curve, if there is one.
func (a *app) printDoom() error {
	if a.doom == nil {
		return nil
	}
	a.Printf("\n")
	return internal(chart.Text(a.Out, a.doom, a.options()))
}

type doomJSON struct {
	Harm     verdict.Word   `json:"harm"`
	NoReturn int            `json:"no_return"`
	States   int            `json:"states"`
	Takeaway string         `json:"takeaway"`
	Steps    []doomStepJSON `json:"steps"`
}

type doomStepJSON struct {
	Step  int     `json:"step"`
	AtNS  int64   `json:"at_ns"`
	Fault bool    `json:"fault"` // the step is a fault
	Share float64 `json:"share"`
}

// doomToJSON returns nil if there is no curve.
func (a *app) doomToJSON() *doomJSON {
	if a.doom == nil {
		return nil
	}
	out := &doomJSON{Harm: a.doom.Harm, NoReturn: a.doom.NoReturn, States: a.doom.States, Takeaway: a.doom.Takeaway("en")}
	for n, s := range a.doom.Steps {
		out.Steps = append(out.Steps, doomStepJSON{n, int64(s.At), s.Fault, s.Share})
	}
	return out
}

// showcaseDoom returns the doom curve of the report: the usual lock with one pause.
func (a *app) showcaseDoom(ctx context.Context) (*chart.Doom, error) {
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
		return nil, text.Errorf("error.doom.survives", "lock", entry.ID)
	}
	w := s.Witnesses[0]
	d, err := study.DoomOn(ctx, entry, w.Trace, w.Verdict)
	if err != nil {
		return nil, err
	}
	return &chart.Doom{Doom: d}, nil
}
