package main

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/scenarios"
)

type listedStrategy struct {
	ID      string `json:"id"`
	Article string `json:"article"`
	Year    int    `json:"year"`
	Title   string `json:"title"`
}

type listedScenario struct {
	ID    string `json:"id"`
	Race  string `json:"race"`
	Title string `json:"title"`
}

type listedFault struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

var listable = []string{"strategies", "scenarios", "faults"}

func (a *app) list() *cobra.Command {
	return &cobra.Command{
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
				return fmt.Errorf("cannot list %q: did you mean %s? Write one of %s", what, scenarios.Nearest(what, listable), strings.Join(listable, ", "))
			}
			if a.json {
				return a.listJSON(what)
			}
			a.listText(what)
			return nil
		},
	}
}

func strategies() (l []listedStrategy) {
	for _, e := range algorithms.All() {
		l = append(l, listedStrategy{e.ID, e.Article, e.Year, e.Title})
	}
	return l
}

func races() (l []listedScenario) {
	for _, s := range scenarios.All() {
		l = append(l, listedScenario{s.ID, s.Race, s.Title})
	}
	return l
}

func misfortunes() (l []listedFault) {
	for _, f := range faults.All() {
		l = append(l, listedFault{f.Name(), f.Title})
	}
	return l
}

func (a *app) listJSON(what string) error {
	switch what {
	case "strategies":
		return a.printJSON(strategies())
	case "scenarios":
		return a.printJSON(races())
	case "faults":
		return a.printJSON(misfortunes())
	}
	return a.printJSON(map[string]any{"strategies": strategies(), "scenarios": races(), "faults": misfortunes()})
}

func (a *app) listText(what string) {
	if what == "" || what == "strategies" {
		a.printf("%s\n", a.say("Locks, in the order in which one was meant to mend another", "锁，按演进顺序排列"))
		for _, e := range strategies() {
			a.printf("  %-19s %-9s %d  %s\n", e.ID, e.Article, e.Year, e.Title)
		}
	}
	if what == "" || what == "scenarios" {
		a.printf("%s\n", a.say("Races", "竞态场景"))
		for _, s := range races() {
			a.printf("  %-20s %-10s %s\n", s.ID, s.Race, s.Title)
		}
	}
	if what == "" || what == "faults" {
		a.printf("%s\n", a.say("Faults", "故障"))
		for _, f := range misfortunes() {
			a.printf("  %-14s %s\n", f.ID, runewidth.Truncate(f.Title, max(40, a.width-17), "..."))
		}
	}
	a.next("locklab run token gc-pause", "locklab explain R18", "locklab matrix")
}
