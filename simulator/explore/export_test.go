package explore

import (
	"context"

	"locklab/simulator"
)

// SaveAlways makes searches save at every layer, and within one after each so many arcs,
// until restore is called.
func SaveAlways(arcs int) (restore func()) {
	before := batchSize
	always, batchSize = true, arcs
	return func() { always, batchSize = false, before }
}

// Forge leaves a checkpoint of a search within b from which nothing is left to visit, in which
// no fault was injected anywhere, although it says that the given one was.
func Forge(ctx context.Context, b *Bounds, fault simulator.Choice) error {
	sim, err := b.Simulator()
	if err != nil {
		return err
	}
	defer sim.Close()
	defer SaveAlways(64)()
	opt := b.Options()
	k, err := openCheckpoint(ctx, opt.Checkpoint)
	if err != nil {
		return err
	}
	defer k.release()
	s, err := k.search(ctx, sim, &opt, nil)
	if err != nil {
		return err
	}
	s.faultless = true
	s.visited.triggered = make([]bool, s.choice(fault)+1)
	s.visited.triggered[s.choice(fault)] = true
	return s.run(ctx, k)
}

// SetLimits sets lower limits of the numbers that searches give, until restore is called.
func SetLimits(ids, states, choices int) (restore func()) {
	i, s, c := maxIDs, maxStates, maxChoices
	maxIDs, maxStates, maxChoices = ids, states, choices
	return func() { maxIDs, maxStates, maxChoices = i, s, c }
}
