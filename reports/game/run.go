package game

import (
	"time"

	"locklab/reports"
	"locklab/reports/motion"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/verdict"
)

// RunJSON is a run to be watched, with the lines of the lock's code.
type RunJSON struct {
	Version       int              `json:"version"`
	Lock          string           `json:"lock"`
	Race          string           `json:"race"` // "search": none
	Title         Words            `json:"title"`
	Verdicts      []verdict.Word   `json:"verdicts"`
	Price         Words            `json:"price,omitempty"`          // of surviving the race
	NotApplicable Words            `json:"not_applicable,omitempty"` // why there is no run
	NotInjected   []Words          `json:"not_injected,omitempty"`
	Settings      []SettingJSON    `json:"settings"`
	Link          string           `json:"link"`
	Run           *motion.Timeline `json:"run,omitempty"`
	Listings      []motion.Listing `json:"listings,omitempty"`
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
	run, listings := motion.Of(o.History, o.Judgement, o.Verdicts, text.Languages(), true)
	run.Replay = "locklab run " + j.Link
	var book motion.Book
	book.Add("", run, listings)
	j.Run, j.Listings = run, book.Listings
	return j
}
