package explore

import (
	"context"

	"locklab/simulator"
)

// Forge leaves a checkpoint of a search of m from which nothing is left to visit, in which
// no fault was injected anywhere, although it says that the given one was.
func Forge(ctx context.Context, m *Model, fault simulator.Choice) error {
	sim, err := m.Simulator()
	if err != nil {
		return err
	}
	defer sim.Close()
	opt := m.Options()
	opt.Plain.SaveAfter = 64
	opt.assumed.Assumptions = simulator.Assumptions{Symmetric: opt.Symmetric, Rests: true}
	sim.Assume(opt.assumed.Assumptions)
	k, err := openCheckpoint(ctx, &opt)
	if err != nil {
		return err
	}
	defer k.release()
	s, err := k.search(ctx, sim, &opt, nil)
	if err != nil {
		return err
	}
	s.successors.faultless = true
	s.visited.triggered = make([]bool, s.choice(fault)+1)
	s.visited.triggered[s.choice(fault)] = true
	return s.run(ctx, k)
}
