package locktest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"locklab/reports/text"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/bubble"
	"locklab/simulator/process"
)

// searchAll makes the searches of a Check, all within Bounds.MaxTime. It begins with one attempt of each client, which
// ends soon and shows most failures, and goes on to as many as are asked for: if these do not come to their end, the
// first search is what is complete. Beside them is what lockstep hides: every timing, or, of code that looks at its
// clock and has very many states there, one attempt of each in lockstep with clients that come later.
func (p *plan) searchAll(ctx context.Context) (*search.Search, error) {
	ctx, cancel := bubble.Within(ctx, p.bounds.MaxTime)
	defer cancel()
	p.tellProgress(ctx)
	end, repeats := bubble.Worked()+p.bounds.MaxTime, p.apart.left
	once, err := p.searchUpTo(ctx, 1)
	if err != nil || !once.Complete {
		return once, err
	}
	late, beside := (*search.Search)(nil), p.study.Timing == search.Lockstep && p.bounds.Beside >= 0
	if beside && p.Timed {
		b := p.study
		b.Late, b.Attempts, b.MaxStates = true, 1, p.bounds.Beside
		half, cancel := bubble.Within(ctx, (end-bubble.Worked())/2)
		defer cancel()
		p.aside = text.Errorf("locktest.beside.clock")
		ended := error(nil)
		if late, ended = p.searchWithin(half, b); ended != nil && !errors.Is(ended, half.Err()) {
			return nil, ended
		}
	}
	s := once
	if p.study.Attempts > 1 {
		p.apart.left = repeats
		if s, err = p.searchUpTo(ctx, p.study.Attempts); err != nil {
			return nil, err
		}
	}
	if !s.Complete && (late == nil || !late.Complete) { // which has what the first has
		s.Add(once)
	}
	switch {
	case late != nil:
		s.Add(late)
	case beside && p.Timed:
		p.aside = text.Errorf("locktest.beside.clock")
	case beside && s.Complete:
		err = p.searchBeside(ctx, s)
	}
	return s, err
}

// tellProgress writes for locklab check, until ctx ends, how much of Bounds.MaxTime the searches have used.
func (p *plan) tellProgress(ctx context.Context) {
	if *reportFlag == "" || p.bounds.MaxTime <= 0 {
		return
	}
	began, most := bubble.Worked(), int(p.bounds.MaxTime.Seconds())
	go func() {
		for ; ctx.Err() == nil; time.Sleep(time.Second / 4) {
			line := fmt.Sprintln(p.t.Name(), int((bubble.Worked() - began).Seconds()), most)
			os.WriteFile(filepath.Join(*reportFlag, study.ProgressName), []byte(line), 0o600) // results need it not
		}
	}()
}

// searchBeside searches at any timing beside s, a complete search in lockstep, and adds to s what that finds. It is one
// attempt of each client, and then as many as are asked for: if they have no end within the limit, a quarter of it
// shows what they come to first. Code that cannot be carried so is no error: the certificate has the reason.
func (p *plan) searchBeside(ctx context.Context, s *search.Search) error {
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
var timeFlag = flag.Duration("locklab.time", time.Minute,
	"end a search for which processors have worked so long, unless its Bounds.MaxTime is given; 0: never")
