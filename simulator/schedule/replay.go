package schedule

import (
	"locklab/simulator"
	"locklab/simulator/i18n"
)

// Replay makes a saved list of choices. If one of them is not possible the error says
// which; the run then ends before it.
func Replay(sim *simulator.Simulator, choices []simulator.Choice) (*Run, error) {
	run := &Run{}
	w := sim.NewWorld()
	for i, c := range choices {
		events, err := sim.Step(&w, c)
		if err != nil {
			return run, i18n.Errorf("error.choice", "n", i+1, "all", len(choices), "cause", err)
		}
		run.Choices = append(run.Choices, c)
		run.Events = append(run.Events, events...)
	}
	run.End = w.Now()
	run.Horizon = !sim.Quiet(&w)
	return run, nil
}
