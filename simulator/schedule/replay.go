package schedule

import (
	"fmt"

	"locklab/simulator"
)

// Replay plays a saved list of choices. A choice that cannot happen is an error
// that says which one it is; nothing after it is played.
func Replay(sim *simulator.Simulator, choices []simulator.Choice) (*Run, error) {
	run := &Run{}
	w := sim.NewWorld()
	for i, c := range choices {
		events, err := sim.Step(&w, c)
		if err != nil {
			return run, fmt.Errorf("choice %d of %d: %w", i+1, len(choices), err)
		}
		run.Choices = append(run.Choices, c)
		run.Events = append(run.Events, events...)
	}
	run.End = w.Now()
	run.Horizon = !sim.Quiet(&w)
	return run, nil
}
