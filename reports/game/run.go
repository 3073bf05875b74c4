package game

import (
	"slices"
	"strings"
	"time"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// RunJSON is a run to be watched, with the lines of the lock's code.
type RunJSON struct {
	Version       int               `json:"version"`
	Lock          string            `json:"lock"`
	Race          string            `json:"race"` // "search": none
	Title         Words             `json:"title"`
	Verdicts      []verdict.Word    `json:"verdicts"`
	Price         Words             `json:"price,omitempty"`          // of surviving the race
	NotApplicable Words             `json:"not_applicable,omitempty"` // why there is no run
	NotInjected   []Words           `json:"not_injected,omitempty"`
	Settings      []SettingJSON     `json:"settings"`
	Link          string            `json:"link"`
	Run           *reports.Run      `json:"run,omitempty"`
	Listings      []reports.Listing `json:"listings,omitempty"`
}

// SettingJSON is a setting of a race that can be changed.
type SettingJSON struct {
	Name  string        `json:"name"`
	Value time.Duration `json:"value_ns"`
	Usual time.Duration `json:"usual_ns"` // the race's own
}

// raceRun plays a lock in a race.
func raceRun(lock, scenario, settings string) (*RunJSON, error) {
	entry, err := race.Strategy(lock)
	if err != nil {
		return nil, err
	}
	sc, err := scenarios.ByName(scenario)
	if err != nil {
		return nil, err
	}
	s, err := sc.Settings.With(settings)
	if err != nil {
		return nil, err
	}
	o, err := (&race.Runner{Lines: true}).Play(entry, sc, s)
	if err != nil {
		return nil, err
	}
	return runJSON(o), nil
}

// replayed plays a trace again, or its attack on another lock.
func replayed(t simulator.Trace, lock string) (*RunJSON, error) {
	play := study.Against
	if lock == "" || lock == t.Strategy {
		lock, play = t.Strategy, study.ReplayWithCodeOn
	}
	entry, err := race.Strategy(lock)
	if err != nil {
		return nil, err
	}
	o, err := play(entry, t)
	if err != nil {
		return nil, err
	}
	return runJSON(o), nil
}

func runJSON(o *race.Outcome) *RunJSON {
	j := &RunJSON{
		Version: Format, Lock: o.Strategy.ID, Race: o.Scenario.ID, Verdicts: o.Verdicts, Link: o.Trace.Link(), Settings: []SettingJSON{},
		Title: sayAll(func(lang string) string { return text.ScenarioTitle(o.Scenario.ID, lang) }),
	}
	usual := map[string]time.Duration{}
	if sc, err := scenarios.ByName(o.Scenario.ID); err == nil {
		for _, s := range sc.Settings.Lengths() {
			usual[s.Name] = s.Length
		}
	}
	for _, s := range o.Settings.Lengths() {
		if usual[s.Name] != 0 {
			j.Settings = append(j.Settings, SettingJSON{s.Name, s.Length, usual[s.Name]})
		}
	}
	for _, why := range o.NotInjected {
		j.NotInjected = append(j.NotInjected, sayAll(func(lang string) string { return text.SayError(lang, why) }))
	}
	if o.NotApplicable != "" {
		j.NotApplicable = sayAll(func(lang string) string { return text.Reason(lang, "na", string(o.NotApplicable)) })
		return j
	}
	if o.Forever() {
		j.Price = sayAll(reports.Forever)
	}
	run, listings := reports.RunOf(o.History, o.Judgement, o.Verdicts, text.Languages(), true)
	run.Replay = "locklab run " + j.Link
	var book reports.Book
	book.Add("", run, listings)
	j.Run, j.Listings = run, book.Listings
	return j
}

// A Difficulty is how hard a question is: as hard as its lock or its race, whichever is harder.
type Difficulty int

// The difficulties; AnyDifficulty asks for none of them.
const (
	AnyDifficulty Difficulty = iota
	Easy
	Medium
	Hard
)

// Difficulties are their names.
var Difficulties = []string{"easy", "medium", "hard"}

// ParseDifficulty reads a name; "" is AnyDifficulty. The error names them all.
func ParseDifficulty(name string) (Difficulty, error) {
	if name == "" {
		return AnyDifficulty, nil
	}
	i := slices.Index(Difficulties, strings.ToLower(name))
	if i < 0 {
		return AnyDifficulty, i18n.Errorf("error.quiz.difficulty", "name", name, "names", strings.Join(Difficulties, ", "))
	}
	return Easy + Difficulty(i), nil
}

// What an article begins with is easy; several servers, ZooKeeper and clocks that are wrong are hard.
var (
	easyLocks = []string{"mutex", "setnx", "setnx-expire", "token"}
	easyRaces = []string{"calm", "crash-holding", "crash-before-expire", "slow-work", "late-release", "gc-pause"}
)

func difficultyOf(c Cell) Difficulty {
	entry, err := race.Strategy(c.Lock)
	switch {
	case err == nil && (entry.Servers() > 1 || entry.OnZooKeeper()) || clocked(c.Race):
		return Hard
	case slices.Contains(easyLocks, c.Lock) && slices.Contains(easyRaces, c.Race):
		return Easy
	}
	return Medium
}

func clocked(race string) bool {
	return strings.Contains(race, "clock") || strings.Contains(race, "skew") || strings.Contains(race, "drift")
}
