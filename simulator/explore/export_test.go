package explore

import (
	"context"

	"locklab/simulator"
)

// Forge leaves a checkpoint of a search within b from which nothing is left to visit, in which
// no fault was injected anywhere, although it says that the given one was.
func Forge(ctx context.Context, b *Bounds, fault simulator.Choice) error {
	sim, err := b.Simulator()
	if err != nil {
		return err
	}
	defer sim.Close()
	opt := b.Options()
	opt.Plain.SaveAfter = 64
	k, err := openCheckpoint(ctx, &opt)
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
