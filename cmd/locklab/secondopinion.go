package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/text"
	"locklab/scenarios/study"
	"locklab/simulator/promela"
)

// secondOpinion asks SPIN what a search asks.
func (a *app) secondOpinion() *cobra.Command {
	var (
		q            = opinions{bounds: study.DefaultBounds()}
		timing, uses string
		late         lateFlags
	)
	c := &cobra.Command{
		Use:     "second-opinion [STRATEGY...]",
		Example: a.examples("second-opinion", "second-opinion", "second-opinion setnx token --timing any", "second-opinion watchdog --budget lose-reply=1 -o watchdog", "second-opinion zk-naive --attempts 1 --uses check,wait --budget expire-session=1"),
		RunE: func(c *cobra.Command, args []string) error {
			entries := algorithms.Milestones()
			if len(args) > 0 {
				var err error
				if entries, err = a.named(args); err != nil {
					return err
				}
			}
			var err error
			if q.bounds.Timing, err = study.ParseTiming(timing); err != nil {
				return err
			}
			if q.bounds.Timing == study.AutoTiming {
				return text.Errorf("error.opinion.timing", "value", timing)
			}
			if err = late.read(&q.bounds); err != nil {
				return err
			}
			if q.bounds.Uses, err = study.ParseUses(uses); err != nil {
				return err
			}
			if q.bounds.Uses == study.AutoUses {
				return text.Errorf("error.opinion.uses", "value", uses)
			}
			q.bounds.Budget = faults.Canonical(q.bounds.Budget)
			for _, e := range entries {
				if err := q.of(e).Check(e); err != nil {
					return err
				}
			}
			if err := promela.Installed(); err != nil {
				return err
			}
			return a.askTwice(c.Context(), entries, &q)
		},
	}
	f, usage := c.Flags(), a.usage("second-opinion")
	f.StringVar(&q.bounds.Budget, "budget", q.bounds.Budget, usage("budget"))
	f.IntVar(&q.bounds.Clients, "clients", q.bounds.Clients, usage("clients"))
	f.IntVar(&q.bounds.Attempts, "attempts", q.bounds.Attempts, usage("attempts"))
	f.IntVar(&q.bounds.Nodes, "nodes", 3, usage("nodes"))
	f.StringVar(&timing, "timing", study.Lockstep.String(), usage("timing"))
	late.add(f, usage)
	f.StringVar(&uses, "uses", study.FormatUses(0), usage("uses"))
	f.BoolVar(&q.kept, "histories", false, usage("histories"))
	f.BoolVar(&a.timed, "time", false, usage("time"))
	f.IntVar(&q.bounds.MaxStates, "max-states", 2_000_000, usage("max-states"))
	f.StringVarP(&q.folder, "out", "o", "", usage("out"))
	return c
}

// opinions are the questions of one call.
type opinions struct {
	bounds study.Bounds
	kept   bool   // histories as well
	folder string // "": none
	width  int    // of the names of the locks
}

// of are the bounds for a lock.
func (q *opinions) of(e lock.Entry) study.Bounds {
	b := q.bounds
	b.Nodes = min(b.Nodes, e.Servers())
	b.Retries = 0
	return b
}

type opinionJSON struct {
	Strategy    string   `json:"strategy"`
	Bounds      string   `json:"bounds"`
	Agrees      *bool    `json:"agrees,omitempty"` // absent: not asked
	Why         string   `json:"why,omitempty"`    // it was not, in English
	Lab         []string `json:"lab,omitempty"`
	Spin        []string `json:"spin,omitempty"`
	States      int      `json:"states,omitempty"`
	Seconds     float64  `json:"seconds,omitempty"`
	Plain       []int    `json:"plain,omitempty"` // states and transitions without symmetry and reduction
	PlainSecs   float64  `json:"plain_seconds,omitempty"`
	SpinPlain   []int    `json:"spin_plain,omitempty"`
	SpinSecs    float64  `json:"spin_seconds,omitempty"`
	Histories   int      `json:"states_with_histories,omitempty"`
	HistorySecs float64  `json:"histories_seconds,omitempty"`
}

// askTwice asks the lab and SPIN, lock by lock.
func (a *app) askTwice(ctx context.Context, entries []lock.Entry, q *opinions) error {
	if q.folder != "" {
		if err := os.MkdirAll(q.folder, 0o777); err != nil {
			return text.Errorf("error.cause", "of", "-o "+q.folder, "cause", err)
		}
	}
	if !a.json {
		title := "opinion.title"
		if a.timed {
			title = "opinion.title.timed"
		}
		a.Printf("%s\n\n", a.Say(title, "clients", fmt.Sprint(q.bounds.Clients), "attempts", fmt.Sprint(q.bounds.Attempts), "budget", q.bounds.Faults(), "timing", q.bounds.Timing.String()))
		for _, e := range entries {
			q.width = max(q.width, len(e.ID)+2)
		}
		a.printOpinionHead(q)
	}
	all, differ, open := []opinionJSON{}, 0, 0
	for _, e := range entries {
		b := q.of(e)
		o, err := study.SecondOpinion(ctx, e, b, q.kept)
		if errors.Is(err, context.Canceled) {
			return noAnswer("error.stopped")
		}
		j := opinionJSON{Strategy: e.ID, Bounds: b.String()}
		if why := unasked(o, err, q.bounds.MaxStates); why != nil {
			open++
			j.Why = text.SayError("en", why)
			if !a.json {
				a.Wrap(text.Pad(e.ID, q.width), a.Error(why))
			}
			all = append(all, j)
			continue
		}
		if err != nil {
			return internal(err)
		}
		if q.folder != "" {
			if err := a.writeModel(filepath.Join(q.folder, e.ID), o.Spin.Files); err != nil {
				return err
			}
		}
		agrees := o.Agrees()
		if !agrees {
			differ++
		}
		all = append(all, a.opinionToJSON(j, o, agrees))
		if !a.json {
			a.printOpinion(q, o, agrees)
		}
	}
	if a.json {
		if err := a.printJSON(struct {
			Version  int           `json:"version"`
			Opinions []opinionJSON `json:"opinions"`
		}{schema, all}); err != nil {
			return err
		}
	} else {
		a.Printf("\n")
		a.concludeOpinions(len(entries), differ, open)
		if q.folder != "" {
			a.Printf("%s\n", a.Say("opinion.written", "folder", q.folder))
		}
		a.Next("locklab explore "+entries[0].ID+" "+q.of(entries[0]).Flags(), "locklab verify")
	}
	switch {
	case differ > 0:
		return &exitError{exitDiffers, nil}
	case open > 0:
		return noAnswer("error.opinion.open", "n", fmt.Sprint(open))
	}
	return nil
}

func (a *app) concludeOpinions(locks, differ, open int) {
	switch {
	case differ > 0:
		a.Sentence("opinion.differ", "n", fmt.Sprint(differ))
	case open < locks:
		a.Sentence("opinion.agree")
	}
	if open > 0 {
		a.Sentence("opinion.not.asked", "n", fmt.Sprint(open))
	}
}

// writeModel writes the files of a model to a folder.
func (a *app) writeModel(folder string, files map[string][]byte) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return internal(text.Errorf("error.write", "file", folder, "cause", err))
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := a.write(filepath.Join(folder, name), replaces, func(w io.Writer) error {
			_, err := w.Write(files[name])
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// unasked is why there is no second opinion; nil: there is, or something has failed. A search ends at most states.
func unasked(o *study.Opinion, err error, most int) error {
	unfit, incomplete := (*promela.UnfitError)(nil), (*promela.IncompleteError)(nil)
	switch {
	case errors.As(err, &unfit), errors.As(err, &incomplete):
		return err
	case err == nil && !o.Complete, err == nil && !o.Plain.Complete:
		return text.Errorf("opinion.cut", "states", fmt.Sprint(most))
	}
	return nil
}

func (a *app) opinionToJSON(j opinionJSON, o *study.Opinion, agrees bool) opinionJSON {
	j.Bounds = o.Bounds.String() // Idle may be set
	j.Agrees, j.Lab, j.Spin, j.States, j.Seconds = &agrees, o.Lab(), o.Spins(), o.Search.States, a.seconds(o.Took)
	j.Plain, j.PlainSecs = []int{o.Plain.States, o.Plain.Transitions}, a.seconds(o.TookPlain)
	j.SpinPlain, j.SpinSecs = []int{o.Spin.States, o.Spin.Transitions}, a.seconds(o.Spin.Took)
	if o.Kept != nil {
		j.Histories, j.HistorySecs = o.Kept.States, a.seconds(o.TookKept)
	}
	return j
}

// The columns of the table: numbers of states and, with --time, seconds.
const statesWidth, secondsWidth = 9, 7

func (a *app) printOpinionHead(q *opinions) {
	line := text.Pad("", q.width)
	heads := []string{"opinion.head.lab", "opinion.head.plain", "opinion.head.spin"}
	if q.kept {
		heads = append([]string{"opinion.head.kept"}, heads...)
	}
	for _, h := range heads {
		line += text.PadLeft(a.Say(h), statesWidth)
		if a.timed {
			line += text.PadLeft("s", secondsWidth)
		}
	}
	a.Printf("%s\n", line)
}

func (a *app) printOpinion(q *opinions, o *study.Opinion, agrees bool) {
	line := text.Pad(o.Strategy.ID, q.width)
	add := func(states int, took time.Duration) {
		line += text.PadLeft(fmt.Sprint(states), statesWidth)
		if a.timed {
			line += text.PadLeft(fmt.Sprintf("%.2f", took.Seconds()), secondsWidth)
		}
	}
	if o.Kept != nil {
		add(o.Kept.States, o.TookKept)
	}
	add(o.Search.States, o.Took)
	add(o.Plain.States, o.TookPlain)
	add(o.Spin.States, o.Spin.Took)
	if agrees {
		a.Printf("%s  %s\n", line, cmp.Or(strings.Join(o.Lab(), " "), "-"))
		return
	}
	a.Printf("%s  %s\n", line, a.Say("opinion.differs", "lab", cmp.Or(strings.Join(o.Lab(), " "), "-"), "spin", cmp.Or(strings.Join(o.Spins(), " "), "-"),
		"transitions", fmt.Sprint(o.Plain.Transitions), "others", fmt.Sprint(o.Spin.Transitions)))
}
