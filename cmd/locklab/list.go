package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/lessons"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/lists"
)

type lockListed struct {
	ID      string      `json:"id"`
	Article string      `json:"article"`
	Family  lock.Family `json:"family"`
	Year    int         `json:"year"`
	Title   string      `json:"title"`
	TitleZH string      `json:"title_zh"`
	// Contracted is false for a lock that the contract does not cover, and absent else.
	Contracted *bool `json:"contracted,omitempty"`
}

// listed is a race or a fault.
type listed struct {
	ID      string `json:"id"`
	Code    string `json:"code,omitempty"` // its number; a fault has none
	Title   string `json:"title"`
	TitleZH string `json:"title_zh"`
}

// listable are the kinds of things to list.
var listable = []string{"locks", "races", "faults"}

func listCommand() *command {
	l, all := &lockFlags{}, false
	return &command{
		use: "list [locks|races|faults]", complete: oneOf(listable), args: between(0, 1, ""),
		flags: func(f *flags) {
			l.add(f, f.e.Say("help.flag.locks.known"))
			f.add("all", &all)
		},
		run: func(e *env, kinds []string) error {
			switch {
			case len(kinds) == 0 && l.names != nil:
				kinds = listable[:1]
			case len(kinds) == 0:
				kinds = listable
			case !slices.Contains(listable, kinds[0]):
				_, err := choose("error.list", kinds[0], listable)
				return err
			case l.names != nil && kinds[0] != "locks":
				return text.Errorf("error.list.locks", "name", kinds[0])
			}
			usual := algorithms.Known()
			if all || e.json {
				usual = algorithms.All()
			}
			entries, err := l.pick(usual)
			if err != nil {
				return err
			}
			e.show("list", toJSON(kinds, entries), func() { listText(e.Printer, kinds[0], entries, all) })
			return nil
		},
	}
}

func listedLock(e lock.Entry) lockListed {
	l := lockListed{ID: e.ID, Article: e.Article, Family: e.Family, Year: e.Year,
		Title: text.LockTitle(e.ID, "en"), TitleZH: text.LockTitle(e.ID, "zh")}
	if lessons.Uncovered(e) {
		l.Contracted = new(false)
	}
	return l
}

func listedRace(s race.Race) listed {
	return listed{s.ID, s.Code, lessons.Story("en", s, "title"), lessons.Story("zh", s, "title")}
}

func listedFault(f *simulator.Fault) listed {
	return listed{f.Name, "", text.FaultTitle(f.Name, "en"), text.FaultTitle(f.Name, "zh")}
}

func toJSON(kinds []string, entries []lock.Entry) any {
	all := map[string]any{"locks": lists.Each(entries, listedLock), "races": lists.Each(scenarios.All(), listedRace),
		"faults": lists.Each(faults.All(), listedFault)}
	maps.DeleteFunc(all, func(kind string, _ any) bool { return !slices.Contains(kinds, kind) })
	return all
}

func listText(e *text.Printer, kind string, entries []lock.Entry, all bool) {
	shown := func(command string) bool { return all && strings.HasSuffix(command, "--all") }
	switch kind {
	case "locks":
		listLocks(e, entries)
		e.Next(slices.DeleteFunc([]string{"locklab list --all", "locklab list races", "locklab run token"}, shown)...)
	case "races":
		listRaces(e, all)
		next := []string{"locklab list races --all", "locklab list faults", "locklab explain gc-pause"}
		e.Next(slices.DeleteFunc(next, shown)...)
	case "faults":
		e.Printf("%s\n", e.Say("list.faults"))
		for _, f := range faults.All() {
			e.Wrap(fmt.Sprintf("    %-15s ", f.Name),
				e.Each(func(lang string) string { return text.FaultTitle(f.Name, lang) }))
		}
		e.Next("locklab explain pause", "locklab explore token --budget pause=1")
	}
}

// listLocks prints locks by family, the locks of a family in historical order, with a mark before the milestones.
func listLocks(e *text.Printer, entries []lock.Entry) {
	without := func(of []lock.Entry) int {
		return len(lists.Pick(of, func(e lock.Entry) bool { return e.Guard != "" }))
	}
	n, all := without(entries), without(algorithms.All())
	e.Sentence("list.locks", "locks", fmt.Sprint(len(entries)-n), "all", fmt.Sprint(len(algorithms.All())-all),
		"ways", fmt.Sprint(n), "each", fmt.Sprint(all))
	for _, family := range algorithms.Families() {
		of := lists.Pick(entries, func(entry lock.Entry) bool { return entry.Family == family })
		if len(of) > 0 {
			e.Printf("%s: %s\n", family, e.Each(func(lang string) string {
				return text.FamilyTitle(string(family), lang)
			}))
		}
		for _, entry := range of {
			mark, title := " ", e.Each(func(lang string) string { return text.LockTitle(entry.ID, lang) })
			if algorithms.IsMilestone(entry.ID) {
				mark = "*"
			}
			if lessons.Uncovered(entry) {
				title = e.Say("list.uncovered", "title", title)
			}
			e.Wrap(fmt.Sprintf(" %s %-19s %-9s %d  ", mark, entry.ID, entry.Article, entry.Year), title)
		}
	}
}

// listRaces prints races by group.
func listRaces(e *text.Printer, all bool) {
	races := scenarios.Known()
	if all {
		races = scenarios.All()
	}
	e.Sentence("list.races", "races", fmt.Sprint(len(races)-1), "all", fmt.Sprint(len(scenarios.All())-1))
	for i, s := range races {
		if i == 0 || s.Group != races[i-1].Group {
			e.Printf("%s\n", e.Say("list.races."+s.Group))
		}
		e.Wrap(fmt.Sprintf("   %-20s %-5s ", s.ID, s.Code),
			e.Each(func(lang string) string { return lessons.Story(lang, s, "title") }))
	}
}

// lockFlags choose the locks of a command, by name or by family.
type lockFlags struct{ names []string }

// add declares the flag; usual says which locks it stands for if it is not given.
func (l *lockFlags) add(f *flags, usual string) { f.add("locks", &l.names, "usual", usual) }

// pick returns the locks that were named, or the usual ones if none were. A name is that of a family, whose locks
// follow in historical order, or else of a lock. An empty list is an error: an unset variable of a script must not
// look like a grid without failures.
func (l *lockFlags) pick(usual []lock.Entry) ([]lock.Entry, error) {
	switch {
	case l.names == nil:
		return usual, nil
	case slices.Equal(l.names, []string{"all"}):
		return algorithms.All(), nil
	}
	var ids []string
	for _, name := range l.names {
		family := lock.Family(strings.ToLower(name))
		members := lists.Pick(algorithms.All(), func(e lock.Entry) bool { return e.Family == family })
		if _, known := algorithms.ByName(name); known && members == nil {
			members = []lock.Entry{{ID: name}}
		} else if members == nil {
			return nil, race.NoLock(name, familyNames()...)
		}
		ids = append(ids, lists.Each(members, func(e lock.Entry) string { return e.ID })...)
	}
	return locksNamed(ids)
}

// lockNames returns the ids of locks, and those that the articles have for them.
func lockNames() []string { return slices.Concat(lists.Each(algorithms.All(), lock.Entry.Names)...) }

func locksNamed(names []string) ([]lock.Entry, error) {
	return named("locks", "error.locks.none", names, race.Lock, func(e lock.Entry) string { return e.ID })
}

// named returns what a flag names: something, and nothing twice. none is the key of the error of no names.
func named[T any](flag, none string, names []string, find func(string) (T, error),
	id func(T) string) (all []T, err error) {
	if len(names) == 0 {
		return nil, text.Errorf(none)
	}
	for _, n := range names {
		one, err := find(n)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(o T) bool { return id(o) == id(one) }) {
			return nil, text.Errorf("error.twice", "flag", "--"+flag, "name", id(one))
		}
		all = append(all, one)
	}
	return all, nil
}

// choose returns the index of a name, or an error with that key, which offers the nearest.
func choose(key, name string, names []string) (int, error) {
	if i := slices.Index(names, name); i >= 0 {
		return i, nil
	}
	return 0, text.Errorf(key, "name", name, "near", text.Near(name, names), "names", strings.Join(names, ", "))
}

func familyNames() []string {
	return lists.Each(algorithms.Families(), func(f lock.Family) string { return string(f) })
}

// pickRaces returns the races that were named, or all if none were.
func pickRaces(names []string) ([]race.Race, error) {
	if names == nil {
		return scenarios.All(), nil
	}
	return named("races", "error.races.none", names, scenarios.ByName, func(sc race.Race) string { return sc.ID })
}
