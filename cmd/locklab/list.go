package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
)

type listedStrategy struct {
	ID      string      `json:"id"`
	Article string      `json:"article"`
	Family  lock.Family `json:"family"`
	Year    int         `json:"year"`
	Title   string      `json:"title"`
	TitleZH string      `json:"title_zh"`
	// Contracted is false for a lock that no contract speaks of, and absent else.
	Contracted *bool `json:"contracted,omitempty"`
}

type listedScenario struct {
	ID      string `json:"id"`
	Race    string `json:"race"`
	Title   string `json:"title"`
	TitleZH string `json:"title_zh"`
}

type listedFault struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	TitleZH string `json:"title_zh"`
}

var listable = []string{"strategies", "scenarios", "faults"}

func (a *app) list() *cobra.Command {
	var families []string
	c := &cobra.Command{
		Use:       "list [strategies|scenarios|faults]",
		Short:     "the locks in historical order, the races, the faults",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: listable,
		RunE: func(_ *cobra.Command, args []string) error {
			what := ""
			if len(args) == 1 {
				what = args[0]
			}
			switch what {
			case "", "strategies", "scenarios", "faults":
			default:
				return fmt.Errorf("cannot list %q:%s write one of %s", what, faults.DidYouMean(what, listable), strings.Join(listable, ", "))
			}
			entries := algorithms.All()
			if families != nil {
				var err error
				if entries, err = ofFamilies(families); err != nil {
					return err
				}
				if what == "" {
					what = "strategies"
				}
			}
			if families != nil && what != "strategies" {
				return fmt.Errorf("--families says which locks, and %s have none: leave it out", what)
			}
			if a.json {
				return a.listJSON(what, entries)
			}
			a.listText(what, entries)
			return nil
		},
	}
	addFamilies(c.Flags(), &families)
	return c
}

func strategies(entries []lock.Entry) (l []listedStrategy) {
	for _, e := range entries {
		l = append(l, listed(e))
	}
	return l
}

func listed(e lock.Entry) listedStrategy {
	l := listedStrategy{ID: e.ID, Article: e.Article, Family: e.Family, Year: e.Year, Title: e.Title.EN, TitleZH: e.Title.ZH}
	if uncontracted(e) {
		l.Contracted = new(false)
	}
	return l
}

// uncontracted says whether no contract speaks of a lock in any race.
func uncontracted(e lock.Entry) bool {
	return len(contract.Uncovered(e)) == len(scenarios.All())
}

func races() (l []listedScenario) {
	for _, s := range scenarios.All() {
		l = append(l, listedRace(s))
	}
	return l
}

func listedRace(s race.Scenario) listedScenario {
	return listedScenario{s.ID, s.Race, story(s, "title").EN, story(s, "title").ZH}
}

func misfortunes() (l []listedFault) {
	for _, f := range faults.All() {
		l = append(l, listedFault{f.Name(), f.Title, f.TitleZH})
	}
	return l
}

func (a *app) listJSON(what string, entries []lock.Entry) error {
	switch what {
	case "strategies":
		return a.printJSON(strategies(entries))
	case "scenarios":
		return a.printJSON(races())
	case "faults":
		return a.printJSON(misfortunes())
	}
	return a.printJSON(map[string]any{"strategies": strategies(entries), "scenarios": races(), "faults": misfortunes()})
}

func (a *app) listText(what string, entries []lock.Entry) {
	if what == "" || what == "strategies" {
		a.printf("%s\n", a.say("Locks, in the order in which one was meant to mend another", "锁，按演进顺序排列"))
		for _, e := range strategies(entries) {
			en, zh := e.Title, e.TitleZH
			if e.Contracted != nil {
				en, zh = en+" (no contract speaks of it)", zh+"（契约没有提到）"
			}
			a.wrap(fmt.Sprintf("  %-19s %-9s %d  ", e.ID, e.Article, e.Year), a.say(en, zh))
		}
	}
	if what == "" || what == "scenarios" {
		a.printf("%s\n", a.say("Races", "竞态场景"))
		for _, s := range races() {
			a.wrap(fmt.Sprintf("  %-20s %-10s ", s.ID, s.Race), a.say(s.Title, s.TitleZH))
		}
	}
	if what == "" || what == "faults" {
		a.printf("%s\n", a.say("Faults", "故障"))
		for _, f := range misfortunes() {
			a.wrap(fmt.Sprintf("  %-14s ", f.ID), a.say(f.Title, f.TitleZH))
		}
	}
	a.next("locklab run token gc-pause", "locklab explain R18", "locklab matrix")
}
