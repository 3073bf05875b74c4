package lessons

import (
	"fmt"
	"slices"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/verdict"
)

// A Stage plays locks in races and keeps what it has played. All outcomes that there are take
// 400 MB.
type Stage struct {
	runner race.Runner
	cells  map[[2]string]*race.Outcome
	order  [][2]string // of cells, the oldest first
	most   int         // of cells kept, the latest; 0: all
}

// NewStage returns a stage on which nothing has been played.
func NewStage() *Stage { return &Stage{cells: map[[2]string]*race.Outcome{}} }

// NewSmallStage returns a stage for a program that runs for days: it keeps the races of three
// locks, more than one lesson needs.
func NewSmallStage() *Stage {
	s := NewStage()
	s.most = 300
	return s
}

// Play returns the outcome of a lock in a race with the race's own settings.
func (s *Stage) Play(e lock.Entry, sc race.Scenario) (*race.Outcome, error) {
	cell := [2]string{e.ID, sc.ID}
	if o := s.cells[cell]; o != nil {
		return o, nil
	}
	o, err := s.runner.Play(e, sc, sc.Settings)
	if err != nil {
		return nil, err
	}
	if len(s.order) == s.most && s.most > 0 {
		delete(s.cells, s.order[0])
		s.order = s.order[1:]
	}
	s.cells[cell], s.order = o, append(s.order, cell)
	return o, nil
}

// Named plays a lock in a race, both by name.
func (s *Stage) Named(id, raceID string) (*race.Outcome, error) {
	e, err := race.Strategy(id)
	if err != nil {
		return nil, err
	}
	sc, err := scenarios.ByName(raceID)
	if err != nil {
		return nil, err
	}
	return s.Play(e, sc)
}

// With returns the outcome with other settings, such as "idle=8h", and does not keep it.
func (s *Stage) With(e lock.Entry, sc race.Scenario, settings string) (*race.Outcome, error) {
	changed, err := sc.Settings.With(settings)
	if err != nil {
		return nil, err
	}
	return s.runner.Play(e, sc, changed)
}

// Alone plays one client without contention and faults.
func (s *Stage) Alone(e lock.Entry) (*race.Outcome, error) {
	calm, err := s.Named(e.ID, "calm")
	if err != nil {
		return nil, err
	}
	o, err := s.With(e, calm.Scenario, "clients=1")
	if err == nil && o.History == nil {
		err = fmt.Errorf("lessons: %s cannot be played without contention", e.ID)
	}
	return o, err
}

// Row returns the outcomes of one lock in all races.
func (s *Stage) Row(e lock.Entry) (row []*race.Outcome, err error) {
	for _, sc := range scenarios.All() {
		o, err := s.Play(e, sc)
		if err != nil {
			return nil, err
		}
		row = append(row, o)
	}
	return row, nil
}

// Example returns the outcome by which a race is explained: the most severe of the milestones, token before the
// others, or else of all locks. played are all outcomes that it chose from.
func (s *Stage) Example(sc race.Scenario) (example *race.Outcome, played []*race.Outcome, err error) {
	usual, err := race.Strategy("token")
	if err != nil {
		return nil, nil, err
	}
	milestones := append([]lock.Entry{usual}, slices.DeleteFunc(algorithms.Milestones(), func(e lock.Entry) bool { return e.ID == usual.ID })...)
	for _, locks := range [][]lock.Entry{milestones, algorithms.All()} {
		played = nil
		for _, e := range locks {
			o, err := s.Play(e, sc)
			if err != nil {
				return nil, nil, err
			}
			played = append(played, o)
		}
		if example = mostSevere(played); example.Verdicts[0].Broken() {
			break
		}
	}
	return example, played, nil
}

// mostSevere returns the outcome to look at first: one that breaks exclusion, or else progress, or else any that was
// played.
func mostSevere(outcomes []*race.Outcome) *race.Outcome {
	severity := func(o *race.Outcome) int {
		switch {
		case slices.ContainsFunc(o.Judgement.Verdicts, verdict.Word.Safety):
			return 3
		case slices.ContainsFunc(o.Judgement.Verdicts, verdict.Word.Broken):
			return 2
		case o.History != nil:
			return 1
		}
		return 0
	}
	return slices.MaxFunc(outcomes, func(a, b *race.Outcome) int { return severity(a) - severity(b) })
}
