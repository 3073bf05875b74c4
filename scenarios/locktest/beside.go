package locktest

import (
	"context"
	"errors"
	"time"

	"locklab/reports/text"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/process"
)

// besides returns the bounds of the search at any timing beside one in lockstep. One with most of its states unvisited at a quarter of the
// limit has no hope to end.
func besides(p *plan) study.Bounds {
	b := p.study
	b.Timing, b.Noisy = study.AnyTiming, 0
	b.MaxStates = p.bounds.Beside
	b.Hopeful = b.MaxStates / 4
	return b
}

// searchBeside searches at any timing beside s, a complete search in lockstep that began at a time, and adds to s what that finds: messages that take time
// and clients that come later show what lockstep hides. Code that cannot be carried so is no error: the certificate has the reason.
// Nor has code that looks at its clock such a search, which takes very many states.
func searchBeside(ctx context.Context, p *plan, s *study.Search, began time.Duration) error {
	if p.study.Timing == study.AnyTiming || p.timed || !s.Complete || p.bounds.Beside < 0 {
		return nil
	}
	left := p.bounds.MaxTime
	if left > 0 {
		left = max(left-(worked()-began), time.Second)
	}
	ctx, cancel := within(ctx, left)
	defer cancel()
	drawn, same := p.drawn, p.random.same
	o, err := p.searchWithin(ctx, besides(p))
	switch {
	case errors.As(err, new(*process.NondeterministicError)), errors.As(err, new(*simulator.LimitError)):
		p.aside = err
	case p.timed:
		p.aside = text.Errorf("locktest.beside.clock")
	case err != nil && !errors.Is(err, ctx.Err()):
		return err
	case o != nil:
		s.Add(o)
		if p.drawn != drawn {
			p.drawn.Add(drawn) // what s assumes
		}
	}
	if p.aside != nil { // what is known of the code is what s has shown
		p.timed, p.dated, p.drawn, p.random.same = false, false, drawn, same
	}
	return nil
}
