package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/reports"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/verdict"
)

func (a *app) explain() *cobra.Command {
	return &cobra.Command{
		Use:   "explain LOCK | RACE | LOCK RACE | LINK|FILE | path [N] | interview [TOPIC] | glossary | TERM",
		Short: "what a lock, a race, a run or a word is about; a guided tour; interview answers",
		Long: `The lab as a teacher.

  LOCK               where it comes from, how it works, how it falls, when to choose it
  RACE               its story, why it happens, who falls, what mends it
  LOCK RACE          what happened, in which line of the lock's code, and from when it was certain
  LINK or FILE       the same of a trace
  path [N]           the way from a mutex to a fencing token, in ten screens
  interview [TOPIC]  answers in 30 seconds and in 2 minutes, and what is asked next
  glossary, TERM     what the words mean

All figures, replies and verdicts are played while you wait. On a terminal what is
longer than the screen goes through $PAGER, or else less.`,
		Example: "  locklab explain redlock\n  locklab explain R18 --lang zh\n  locklab explain 003-C failed-renewal\n  locklab explain path 3\n  locklab explain lease",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return fmt.Errorf("%d names given: explain takes a lock, a race, both, a trace, a term, or path, interview or glossary", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			a.ctx, a.stage = c.Context(), newStage()
			return a.paged(func() error { return a.explainAny(args) })
		},
	}
}

// explainAny finds out what is to be explained.
func (a *app) explainAny(args []string) error {
	second := ""
	if len(args) == 2 {
		second = args[1]
	}
	switch args[0] {
	case "path":
		return a.explainPath(second)
	case "interview":
		return a.explainInterview(second)
	case "glossary":
		return a.explainGlossary(second)
	}
	if len(args) == 2 {
		return a.explainPair(args[0], second)
	}
	if entry, ok := algorithms.ByName(args[0]); ok {
		return a.explainLock(entry)
	}
	if sc, err := scenarios.ByName(args[0]); err == nil {
		return a.explainRace(sc)
	}
	if slug, ok := termOf(args[0]); ok {
		return a.explainGlossary(slug)
	}
	t, notTrace := readTrace(args[0])
	if notTrace == nil {
		o, err := study.Replay(t)
		if err != nil {
			return err
		}
		return a.explainRun(o)
	}
	if _, err := os.Stat(args[0]); err == nil || !errors.Is(notTrace, simulator.ErrTraceForeign) {
		return notTrace // it was meant as a trace
	}
	return unknownName(args[0])
}

func unknownName(name string) error {
	var names []string
	for _, e := range algorithms.All() {
		names = append(names, e.Names()...)
	}
	for _, s := range scenarios.All() {
		names = append(names, s.ID, s.Race)
	}
	names = append(append(names, terms()...), "path", "interview", "glossary")
	return fmt.Errorf("there is no lock, race, term or file %q:%s 'locklab list' and 'locklab explain glossary' show all names", name, faults.DidYouMean(name, names))
}

func in(lang string, t reports.Text) string {
	if lang == "zh" {
		return t.ZH
	}
	return t.EN
}

// gravest is the outcome worth looking at first: one that breaks exclusion, or
// else progress, or else any that was played.
func gravest(outcomes []*race.Outcome) *race.Outcome {
	best, rank := outcomes[0], 0
	for _, o := range outcomes {
		r := 0
		switch {
		case o.Judgement.Safety() != nil:
			r = 3
		case o.Judgement.Progress() != nil:
			r = 2
		case o.History != nil:
			r = 1
		}
		if r > rank {
			best, rank = o, r
		}
	}
	return best
}

// longest is the length of an outcome's longest finding of one verdict.
func longest(o *race.Outcome, w verdict.Word) (d time.Duration) {
	for _, f := range o.Judgement.Findings {
		if f.Verdict == w {
			d = max(d, f.To-f.From)
		}
	}
	return d
}
