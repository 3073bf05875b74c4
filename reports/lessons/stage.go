package lessons

import (
	"locklab/algorithms/lock"
	"locklab/scenarios"
	"locklab/scenarios/race"
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

// With returns the outcome with other settings, such as "idle=8h", and does not keep it.
func (s *Stage) With(e lock.Entry, sc race.Scenario, settings string) (*race.Outcome, error) {
	changed, err := sc.Settings.With(settings)
	if err != nil {
		return nil, err
	}
	return s.runner.Play(e, sc, changed)
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
