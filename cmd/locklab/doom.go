package main

import (
	"errors"
	"path/filepath"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/text"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// doomFiles separates the files for the doom curve, as picture or numbers, from the
// others.
func doomFiles(files []string, doom bool) (curve, rest []string, err error) {
	for _, f := range files {
		switch {
		case chart.Formats[filepath.Ext(f)] == nil:
			rest = append(rest, f)
		case !doom:
			return nil, nil, text.Errorf("error.doom.missing", "file", f)
		default:
			curve = append(curve, f)
		}
	}
	return withNumbers(curve), rest, nil
}

// findDoom computes the doom curve of a run.
// unanswered: there are too many continuations, which is reported after the run.
func findDoom(e *env, entry lock.Entry, t simulator.Trace, harm verdict.Word) (curve *chart.Doom, unanswered, err error) {
	d, err := study.DoomOn(e.ctx, entry, t, harm)
	large, limit := (*explore.TooLargeError)(nil), (*simulator.LimitError)(nil)
	switch {
	case errors.As(err, &large) || errors.As(err, &limit) || stoppedBy(err):
		return nil, &exitError{exitNoAnswer, err}, nil
	case err != nil:
		return nil, nil, err
	}
	return &chart.Doom{Doom: d}, nil, nil
}

// withDoom returns how to draw a run that has a curve, or none.
func withDoom(e *env, d *chart.Doom) reports.Look {
	o := e.look()
	if d != nil {
		o.NoReturn = d.NoReturnEvent()
	}
	return o
}

// printDoom prints the curve, if there is one.
func printDoom(e *env, d *chart.Doom) {
	if d != nil {
		e.Printf("\n")
		e.chart(d)
	}
}
