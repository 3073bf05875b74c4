package schedule

import (
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
)

// A Recorder makes the choices of one run, each when its caller says so, and keeps what
// happens.
type Recorder struct {
	sim   *simulator.Simulator
	world simulator.World
	run   Run
}

// Record begins a run of sim.
func Record(sim *simulator.Simulator) *Recorder {
	return &Recorder{sim: sim, world: sim.NewWorld()}
}

// World returns the present world. The caller must not change it.
func (r *Recorder) World() *simulator.World { return &r.world }

// Step makes a choice and returns what happens. The run does not keep a choice that fails.
func (r *Recorder) Step(c simulator.Choice) ([]history.Event, error) {
	events, err := r.sim.Step(&r.world, c)
	if err != nil {
		return nil, err
	}
	first := len(r.run.Events)
	r.run.Choices = append(r.run.Choices, c)
	r.run.Events = append(r.run.Events, events...)
	return r.run.Events[first:], nil
}

// Run returns the run up to now.
func (r *Recorder) Run() *Run {
	r.run.End, r.run.Horizon = r.world.Now(), !r.sim.Quiet(&r.world)
	return &r.run
}

// Replay makes a saved list of choices. If one of them is not possible the error says
// which; the run then ends before it.
func Replay(sim *simulator.Simulator, choices []simulator.Choice) (*Run, error) {
	r := Record(sim)
	for i, c := range choices {
		if _, err := r.Step(c); err != nil {
			return &r.run, i18n.Errorf("error.choice", "n", i+1, "all", len(choices), "cause", err)
		}
	}
	return r.Run(), nil
}
