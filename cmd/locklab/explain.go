package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/scenarios"
	"locklab/simulator"
	"locklab/simulator/verdict"
)

func (a *app) explain() *cobra.Command {
	return &cobra.Command{
		Use:   "explain STRATEGY | SCENARIO | STRATEGY SCENARIO | LINK|FILE",
		Short: "what a lock, a race or a run is about",
		Long: `Explains a lock (what it falls to and what it stands), a race (its story, its
numbers, who falls), one lock in one race, or a trace. All outcomes are played
while you wait.`,
		Example: "  locklab explain redlock\n  locklab explain R18\n  locklab explain 003-C failed-renewal --lang zh",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return fmt.Errorf("%d names given: explain takes a lock, a race, both, or a trace", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 2 {
				return a.explainPair(args[0], args[1])
			}
			if entry, ok := algorithms.ByName(args[0]); ok {
				return a.explainLock(entry)
			}
			sc, notRace := scenarios.ByName(args[0])
			if notRace == nil {
				return a.explainRace(sc)
			}
			t, notTrace := readTrace(args[0])
			if notTrace == nil {
				o, err := scenarios.Replay(t)
				if err != nil {
					return err
				}
				return a.explainRun(o)
			}
			if _, err := os.Stat(args[0]); err == nil || !errors.Is(notTrace, simulator.ErrTraceForeign) {
				return notTrace // it was meant as a trace
			}
			return unknownName(args[0])
		},
	}
}

func unknownName(name string) error {
	var names []string
	for _, e := range algorithms.All() {
		names = append(names, e.Names()...)
	}
	for _, s := range scenarios.All() {
		names = append(names, s.ID, s.Race)
	}
	return fmt.Errorf("there is no lock, race or file %q:%s 'locklab list' shows all names", name, faults.DidYouMean(name, names))
}

func (a *app) explainPair(strategy, scenario string) error {
	entry, err := scenarios.Strategy(strategy)
	if err != nil {
		return err
	}
	sc, err := scenarios.ByName(scenario)
	if err != nil {
		return err
	}
	o, err := scenarios.Play(entry, sc, sc.Settings)
	if err != nil {
		return err
	}
	return a.explainRun(o)
}

func (a *app) explainRun(o *scenarios.Outcome) error {
	if a.json {
		return a.printJSON(outcomeJSON(o))
	}
	a.tellRace(o.Scenario)
	a.printf("\n")
	return a.tell(o, "lanes,story")
}

func (a *app) tellRace(sc scenarios.Scenario) {
	a.printf("%s %s: %s\n\n", sc.Race, sc.ID, a.say(sc.Title.EN, sc.Title.ZH))
	for _, lang := range a.langs() {
		a.wrap("", in(lang, sc.Story))
		a.printf("\n")
		a.wrap(map[string]string{"en": "Why these numbers: ", "zh": "为什么是这些数字："}[lang], in(lang, sc.Numbers))
		a.wrap(map[string]string{"en": "What mends it: ", "zh": "怎么解决："}[lang], in(lang, sc.Cure))
	}
}

func in(lang string, t scenarios.Text) string {
	if lang == "zh" {
		return t.ZH
	}
	return t.EN
}

type explainedJSON struct {
	Version int             `json:"version"`
	Lock    *listedStrategy `json:"strategy,omitempty"`
	Race    *listedScenario `json:"scenario,omitempty"`
	Story   *scenarios.Text `json:"story,omitempty"`
	Numbers *scenarios.Text `json:"numbers,omitempty"`
	Cells   []cellJSON      `json:"cells"`
}

func (a *app) explainRace(sc scenarios.Scenario) error {
	outcomes, err := playRow(algorithms.Milestones(), []scenarios.Scenario{sc})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(explainedJSON{
			Version: schema, Race: new(listedRace(sc)), Story: &sc.Story, Numbers: &sc.Numbers, Cells: cellsJSON(outcomes),
		})
	}
	a.tellRace(sc)
	a.printf("\n%s\n", a.say("What becomes of each lock:", "各种锁的结局："))
	for _, o := range outcomes {
		a.outcomeLine(fmt.Sprintf("%-13s %-6s", o.Strategy.ID, o.Strategy.Article), o)
	}
	fallen := gravest(outcomes).Strategy.ID
	a.next("locklab run "+fallen+" "+sc.ID, "locklab explain "+fallen+" "+sc.ID, "locklab matrix")
	return nil
}

func (a *app) explainLock(e algorithms.Entry) error {
	outcomes, err := playRow([]algorithms.Entry{e}, scenarios.All())
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(explainedJSON{
			Version: schema, Lock: new(listed(e)), Cells: cellsJSON(outcomes),
		})
	}
	a.printf("%s (%s, %d): %s\n", e.ID, e.Article, e.Year, a.say(e.Title.EN, e.Title.ZH))
	a.printf("%s\n", a.say(
		fmt.Sprintf("Servers: %d. The article's lease: %s.", e.Nodes, leaseText(e.TTL, "none")),
		fmt.Sprintf("节点数：%d。文章中的租约：%s。", e.Nodes, leaseText(e.TTL, "没有"))))
	a.printf("\n%s\n", a.say("What becomes of it in each race:", "它在各个竞态中的结局："))
	for _, o := range outcomes {
		a.outcomeLine(fmt.Sprintf("%-5s %-20s", o.Scenario.Race, o.Scenario.ID), o)
	}
	fallen := gravest(outcomes).Scenario.ID
	steps := []string{"locklab explain " + e.ID + " " + fallen, "locklab run " + e.ID + " " + fallen + " --view redis"}
	if s, ok := scenarios.Successor(e); ok {
		steps = append(steps, "locklab explain "+s.ID)
	}
	a.next(steps...)
	return nil
}

// gravest is the outcome worth looking at first: one that breaks exclusion, or
// else progress, or else any that was played.
func gravest(outcomes []*scenarios.Outcome) *scenarios.Outcome {
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

func leaseText(d time.Duration, none string) string {
	if d == 0 {
		return none
	}
	return d.String()
}

func (a *app) outcomeLine(label string, o *scenarios.Outcome) {
	text := join(o.Verdicts)
	if d := longest(o, verdict.Blocked); d > 0 {
		text += " (" + d.Round(100*time.Millisecond).String() + ")"
	}
	if why := o.NotApplicable; why != (scenarios.Text{}) {
		text += ": " + a.say(why.EN, why.ZH)
	}
	a.wrap("  "+label+" ", text)
}

// longest is the length of an outcome's longest finding of one verdict.
func longest(o *scenarios.Outcome, w verdict.Word) (d time.Duration) {
	for _, f := range o.Judgement.Findings {
		if f.Verdict == w {
			d = max(d, f.To-f.From)
		}
	}
	return d
}

func playRow(locks []algorithms.Entry, scs []scenarios.Scenario) (outcomes []*scenarios.Outcome, err error) {
	for _, sc := range scs {
		for _, e := range locks {
			o, err := scenarios.Play(e, sc, sc.Settings)
			if err != nil {
				return nil, internal(err)
			}
			outcomes = append(outcomes, o)
		}
	}
	return outcomes, nil
}
