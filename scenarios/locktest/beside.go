package locktest

import (
	"context"
	"errors"
	"flag"
	"time"

	"locklab/reports/text"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/bubble"
	"locklab/simulator/process"
)

// searchBeside searches at any timing beside s, a complete search in lockstep that began at a time, and adds to s what
// that finds: messages that take time and clients that come later show what lockstep hides. It is one attempt of each
// client, and then as many as are asked for: if they have no end within the limit, a quarter of it shows what they come
// to first. Code that cannot be carried so is no error: the certificate has the reason. Code that looks at its clock
// takes very many states at any timing: beside it is one attempt of each in lockstep, with clients that come later.
func (p *plan) searchBeside(ctx context.Context, s *search.Search, began time.Duration) error {
	if p.study.Timing == search.AnyTiming || !s.Complete || p.bounds.Beside < 0 {
		return nil
	}
	left := p.bounds.MaxTime
	if left > 0 {
		left = max(left-(bubble.Worked()-began), time.Second)
	}
	ctx, cancel := bubble.Within(ctx, left)
	defer cancel()
	if p.Timed {
		return p.searchLate(ctx, s)
	}
	once, err := p.besideWithin(ctx, 1, p.bounds.Beside)
	all := (*search.Search)(nil)
	if err == nil && once != nil && p.study.Attempts > 1 {
		states := p.bounds.Beside
		if !once.Complete || once.States > states/search.ManyTimes {
			states /= 4
		}
		all, err = p.besideWithin(ctx, p.study.Attempts, states)
	}
	if once != nil && (all == nil || !all.Complete) {
		s.Add(once)
	}
	if all != nil {
		s.Add(all)
	}
	return err
}

// searchLate is that of code that looks at its clock.
func (p *plan) searchLate(ctx context.Context, s *search.Search) error {
	p.aside = text.Errorf("locktest.beside.clock")
	b := p.study
	b.Late, b.Attempts, b.MaxStates = true, 1, p.bounds.Beside
	once, err := p.searchWithin(ctx, b)
	if once != nil {
		s.Add(once)
	}
	if err != nil && errors.Is(err, ctx.Err()) {
		err = nil
	}
	return err
}

// besideWithin makes one of these searches; nil: there is none, and p.aside says why.
func (p *plan) besideWithin(ctx context.Context, attempts, states int) (*search.Search, error) {
	b := p.study
	b.Timing, b.Latency, b.Noisy, b.Attempts, b.MaxStates = search.AnyTiming, 0, 0, attempts, states
	known := *p.known // is what s has shown, and assumes
	o, err := p.searchWithin(ctx, b)
	switch {
	case errors.As(err, new(*process.NondeterministicError)), errors.As(err, new(*simulator.LimitError)):
		p.aside = err
	case p.Timed:
		p.aside = text.Errorf("locktest.beside.clock")
	case err != nil && !errors.Is(err, ctx.Err()):
		return nil, err
	case o != nil:
		if p.Drawn != known.Drawn {
			p.Drawn.Add(known.Drawn)
		}
		return o, nil
	}
	if p.aside != nil {
		p.Timed, p.Dated, p.Drawn, p.Drawing = false, false, known.Drawn, known.Drawing
	}
	return nil, nil
}

// timeFlag is Bounds.MaxTime of tests that do not give one.
var timeFlag = flag.Duration("locklab.time", time.Minute, "end a search for which processors have worked so long, unless its Bounds.MaxTime is given; 0: never")
