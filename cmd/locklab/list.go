package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/lessons"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
)

type listedStrategy struct {
	ID      string      `json:"id"`
	Article string      `json:"article"`
	Family  lock.Family `json:"family"`
	Year    int         `json:"year"`
	Title   string      `json:"title"`
	TitleZH string      `json:"title_zh"`
	// Contracted is false for a lock that the contract does not cover, and absent else.
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
		ValidArgs: listable,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return nil
			}
			return a.noArguments(c, args[1:])
		},
		RunE: func(_ *cobra.Command, args []string) error {
			entries, what, err := a.toList(args, families)
			if err != nil {
				return err
			}
			if a.json {
				return a.listJSON(what, entries)
			}
			a.listText(what, entries)
			return nil
		},
	}
	a.addFamilies(c.Flags(), &families)
	return c
}

// toList returns the kinds of things to list, and which locks.
func (a *app) toList(args, families []string) (entries []lock.Entry, kinds []string, err error) {
	kinds = args
	if len(args) == 1 && !slices.Contains(listable, args[0]) {
		return nil, nil, text.Errorf("error.list", "name", args[0], "near", text.Near(args[0], listable), "names", strings.Join(listable, ", "))
	}
	if families == nil {
		if len(args) == 0 {
			kinds = listable
		}
		return algorithms.All(), kinds, nil
	}
	if len(args) == 0 {
		kinds = listable[:1]
	}
	if entries, err = a.ofFamilies(families); err != nil {
		return nil, nil, err
	}
	if kinds[0] != "strategies" {
		return nil, nil, text.Errorf("error.list.families", "name", kinds[0])
	}
	return entries, kinds, nil
}

func listedLock(e lock.Entry) listedStrategy {
	l := listedStrategy{ID: e.ID, Article: e.Article, Family: e.Family, Year: e.Year, Title: lessons.LockTitle("en", e), TitleZH: lessons.LockTitle("zh", e)}
	if lessons.Uncovered(e) {
		l.Contracted = new(false)
	}
	return l
}

func listedRace(s race.Scenario) listedScenario {
	return listedScenario{s.ID, s.Race, lessons.Story("en", s, "title"), lessons.Story("zh", s, "title")}
}

func (a *app) listJSON(kinds []string, entries []lock.Entry) error {
	all := map[string]any{}
	for _, kind := range kinds {
		switch kind {
		case "strategies":
			all[kind] = each(entries, listedLock)
		case "scenarios":
			all[kind] = each(scenarios.All(), listedRace)
		case "faults":
			all[kind] = each(faults.All(), func(f faults.Entry) listedFault {
				return listedFault{f.Name(), text.FaultTitle(f.Name(), "en"), text.FaultTitle(f.Name(), "zh")}
			})
		}
	}
	if len(kinds) == 1 {
		return a.printJSON(all[kinds[0]])
	}
	return a.printJSON(all)
}

func each[T, U any](all []T, f func(T) U) (out []U) {
	for _, x := range all {
		out = append(out, f(x))
	}
	return out
}

func (a *app) listText(kinds []string, entries []lock.Entry) {
	for _, kind := range kinds {
		switch kind {
		case "strategies":
			a.listLocks(entries)
		case "scenarios":
			a.listRaces()
		case "faults":
			a.Printf("%s\n", a.Say("list.faults"))
			for _, f := range faults.All() {
				a.Wrap(fmt.Sprintf("    %-15s ", f.Name()), a.Each(func(lang string) string { return text.FaultTitle(f.Name(), lang) }))
			}
		}
	}
	a.Next("locklab run token gc-pause", "locklab explain R18", "locklab matrix")
}

// listLocks prints locks by family, the locks of a family in historical order.
func (a *app) listLocks(entries []lock.Entry) {
	a.Printf("%s\n", a.Say("list.locks"))
	for _, family := range lock.Families() {
		first := true
		for _, e := range entries {
			if e.Family != family {
				continue
			}
			if first {
				a.Printf("  %s: %s\n", family, a.Each(func(lang string) string { return text.FamilyTitle(string(family), lang) }))
				first = false
			}
			title := a.Each(func(lang string) string { return lessons.LockTitle(lang, e) })
			if lessons.Uncovered(e) {
				title = a.Say("list.uncovered", "title", title)
			}
			a.Wrap(fmt.Sprintf("    %-19s %-9s %d  ", e.ID, e.Article, e.Year), title)
		}
	}
}

type raceGroup struct {
	key  string
	last int
}

// raceGroups are the groups of races: the keys of their headings with the last number
// in them, such as 5 of R05.
var raceGroups = []raceGroup{
	{"list.races.calm", 0},
	{"list.races.lease", 5},
	{"list.races.takeover", 8},
	{"list.races.clientclock", 10},
	{"list.races.shutdown", 11},
	{"list.races.owner", 12},
	{"list.races.reentrancy", 13},
	{"list.races.renewal", 17},
	{"list.races.pause", 20},
	{"list.races.servers", 24},
	{"list.races.time", 28},
	{"list.races.majority", 30},
	{"list.races.replies", 34},
	{"list.races.waiting", 37},
	{"list.races.strangers", 38},
	{"list.races.zookeeper", 42},
	{"list.races.use", 99},
}

// groupOf returns the key of a race's group. The races that search has found are a group
// of their own.
func groupOf(s race.Scenario) string {
	number := strings.TrimRightFunc(strings.TrimPrefix(s.Race, "R"), unicode.IsLetter)
	n, err := strconv.Atoi(number)
	if err != nil {
		return "list.races.search"
	}
	i := slices.IndexFunc(raceGroups, func(g raceGroup) bool { return n <= g.last })
	return raceGroups[i].key
}

// listRaces prints the races by group.
func (a *app) listRaces() {
	a.Printf("%s\n", a.Say("list.races"))
	group := ""
	for _, s := range scenarios.All() {
		if g := groupOf(s); g != group {
			group = g
			a.Printf("  %s\n", a.Say(group))
		}
		a.Wrap(fmt.Sprintf("    %-20s %-5s ", s.ID, s.Race), a.Each(func(lang string) string { return lessons.Story(lang, s, "title") }))
	}
}
