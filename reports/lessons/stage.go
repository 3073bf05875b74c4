package lessons

import (
	"locklab/algorithms/lock"
	"locklab/scenarios"
	"locklab/scenarios/race"
)

// A Stage plays locks in races and keeps what it has played.
type Stage struct {
	runner race.Runner
	cells  map[[2]string]*race.Outcome
}

// NewStage returns a stage on which nothing has been played.
func NewStage() *Stage { return &Stage{cells: map[[2]string]*race.Outcome{}} }

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
	s.cells[cell] = o
	return o, nil
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
