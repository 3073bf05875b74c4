package locktest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/reports/certificate"
	"locklab/reports/text"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/bubble"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/process"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
	"locklab/simulator/zookeeper"
)

// anyNumber is a plan for any number of clients.
type anyNumber struct {
	plan    *plan
	endless bool // no fault of its budget is used up
}

// newAnyNumber reads bounds of any number of clients, and makes b those of single runs: of two clients, with each fault once.
func newAnyNumber(p *plan, b *Bounds) (*anyNumber, error) {
	if b.Attempts > 1 || b.Fenced || b.Slow != 0 || b.Noisy != 0 {
		return nil, text.Errorf("locktest.bounds.any")
	}
	budget, endless, err := search.ParseBudget(b.Budget)
	if err != nil {
		return nil, text.Errorf("locktest.bounds.budget", "cause", err)
	}
	b.Clients, b.Attempts, b.AnyTiming, b.Budget = 2, 1, true, string(budget)
	return &anyNumber{p, endless}, nil
}

// claimable are the verdicts that claims about a plan are about.
func claimable(p *plan) []verdict.Word {
	if p.any != nil {
		return explore.Provable
	}
	return p.study.Words()
}

// isOfFew reports whether a trace is of one of the searches for a witness.
func (a *anyNumber) isOfFew(trace simulator.Trace) bool {
	b, err := search.ParseBounds(trace.Settings)
	if err != nil {
		return false
	}
	own := settled(a.plan.study, a.plan.timed, a.plan.dated)
	b.Clients, b.Attempts, b.Budget, b.Epoch = own.Clients, own.Attempts, own.Budget, 0
	return b.String() == own.String()
}

// check proves the code for any number of clients, and compares with the claims.
func (a *anyNumber) check(claims []Claim) {
	p := a.plan
	p.t.Helper()
	proof, err := a.prove(p.t.Context())
	if different := (*process.NondeterministicError)(nil); errors.As(err, &different) {
		p.unknown("locktest.unknown.sampled")
		p.t.Fatalf("%s", p.sampled(err, claims))
	}
	if err != nil {
		p.unknown("locktest.unknown.error")
		p.t.Fatal(explain(err))
	}
	proof.Search.NoClaims = !p.says.Load()
	if why := a.unproved(proof); why != "" {
		p.unknown("locktest.unknown.unproved")
		p.t.Fatal("locktest: " + tell("locktest.any.refused", "why", why))
	}
	for _, c := range claims {
		p.t.Run(string(c.word), func(t *testing.T) { a.judge(t, proof, c) })
	}
	p.t.Log(brief(func(lang string) string {
		head, rest, _ := strings.Cut(certificate.OfProof(proof, lang), "\n")
		return head + " " + assumed(p, proof.Covered.Measures, lang) + "\n" + rest + "\n" + p.apart.said(lang)
	}))
	if *reportFlag != "" {
		p.report(&study.Checked{Proof: proof})
	}
	p.reportLeaks()
}

// prove proves what it can of the code.
func (a *anyNumber) prove(ctx context.Context) (proof *search.Proof, err error) {
	p := a.plan
	code := &search.Code{Model: p.within, Search: p.searchWithin, Once: i18n.New("prove.once.memory")}
	err = p.untilTimed(func() error {
		b := settled(p.study, p.timed, p.dated)
		b.Endless = a.endless
		proof, err = search.ProveCode(ctx, p.entry, b, code)
		return err
	})
	if why := (*explore.NotProvableError)(nil); errors.As(err, &why) {
		return &search.Proof{Proof: &explore.Proof{Refused: why}}, nil
	}
	return proof, err
}

// unproved returns why there is no proof; "": there is one.
func (a *anyNumber) unproved(proof *search.Proof) string {
	why := (*explore.NotProvableError)(nil)
	switch {
	case a.plan.numbered.Load():
		return tell("locktest.any.numbered")
	case errors.As(proof.Refused, &why):
		return language().Message(why.Why)
	}
	return ""
}

// judge compares a proof with one claim.
func (a *anyNumber) judge(t *testing.T, proof *search.Proof, c Claim) {
	why := c.contradicted(proof)
	if why == "" {
		return
	}
	if s, w := proof.BrokenBy(c.word); s != nil {
		keep(t, a.plan.t.Name(), *w)
		why = a.plan.broken(*w, why)
	}
	t.Error(why)
}

// contradicted returns why a proof contradicts the claim, or does not decide it; "": it bears it out.
func (c Claim) contradicted(proof *search.Proof) string {
	s, w := proof.BrokenBy(c.word)
	switch {
	case s == nil && slices.Contains(proof.Open, c.word):
		return tell("locktest.any.open", "verdict", string(c.word))
	case s == nil && c.breaks:
		return tell("locktest.judge.holds", "verdict", string(c.word), "par", fmt.Sprint(c.par))
	case s == nil:
		return ""
	case !c.breaks:
		return tell("locktest.judge.breaks")
	case w.Par != c.par:
		return tell("locktest.judge.par", "claim", fmt.Sprint(c.par), "verdict", string(c.word), "par", fmt.Sprint(w.Par))
	}
	return ""
}

// alone plays one client without any fault, on a Redis, or on a ZooKeeper if its code
// speaks to that. It must enter; the key that it writes is the lock's.
func (p *plan) alone() error {
	err := p.aloneOnce()
	other := (*process.ProtocolError)(nil)
	if errors.As(err, &other) && other.ZooKeeper && !p.ensemble {
		if err := p.onZooKeeper(); err != nil {
			return err
		}
		return p.aloneOnce()
	}
	return err
}

func (p *plan) aloneOnce() error {
	f := &firstRun{database: p.bounds.Database != nil, written: map[string]bool{}, gone: map[string]bool{}, lease: map[string]time.Duration{}}
	err := p.untilTimed(func() error { return p.playAlone(f) })
	missed := !f.entered && p.missed.Load() != nil
	if missed && errors.As(err, new(*process.NondeterministicError)) {
		err = nil // while the dials of a library fail, its goroutines fail requests in any order
	}
	switch {
	case f.began && !p.dialed.Load() && !errs(err):
		file, line := placeOf(p.code)
		return text.Errorf("locktest.alone.undialed", "line", fmt.Sprintf("%s:%d", filepath.Base(file), line))
	case err != nil:
		return err
	case missed:
		return text.Errorf("locktest.alone.missed", "address", *p.missed.Load())
	case !f.entered:
		return text.Errorf("locktest.alone.nobody")
	}
	if p.bounds.Key, err = f.key(p.bounds.Key, p.ensemble); err != nil {
		return err
	}
	p.fences = p.fences || f.fences
	if p.lease = f.lease[p.bounds.Key]; p.ensemble {
		p.lease, p.contents = f.asked, f.left
	}
	return nil
}

// errs reports whether the error of code that has made no connection of the lab's is about something else than that.
func errs(err error) bool {
	stall := (*bubble.StallError)(nil)
	return errors.As(err, new(*bubble.PanicError)) || errors.As(err, &stall) && !strings.Contains(stall.Stack, "internal/poll.")
}

// A firstRun is what one client alone does, until it is done.
type firstRun struct {
	database bool
	began    bool
	entered  bool
	fences   bool                     // with a fencing token
	keys     []string                 // created before it enters, in order
	written  map[string]bool          // keys, before it enters
	gone     map[string]bool          // deleted keys; true: after it has entered
	lease    map[string]time.Duration // of keys, when it enters; 0: without an end
	asked    time.Duration            // time-out of the session with a ZooKeeper
	left     zookeeper.Contents       // what it has left on that
}

// maxAlone bounds the steps of one client alone.
const maxAlone = 600

// playAlone plays one client without any fault.
func (p *plan) playAlone(f *firstRun) error {
	b, err := p.within(p.lockstep())
	if err != nil {
		return err
	}
	b.Clients, b.NoProbe, b.Faults = 1, true, nil
	sim, err := b.Simulator()
	if err != nil {
		return err
	}
	defer sim.Close()
	f.began = true
	w, run := sim.NewWorld(), schedule.Run{}
	defer func() {
		if k, ok := sim.Kind().(*zookeeper.Kind); ok {
			f.left.Znodes = k.Znodes(sim.Server(&w, 1)).Alone()
			for _, l := range k.Asked() {
				f.asked = l.D
			}
		}
	}()
	for range maxAlone {
		choices := sim.Enabled(&w, nil)
		if len(choices) == 0 {
			return nil
		}
		events, err := sim.Step(&w, choices[0])
		if err != nil {
			run.End = w.Now()
			return &runError{err, search.OutcomeOf(b, &run), choices[0].String()}
		}
		run.Events = append(run.Events, events...)
		for i := range events {
			if f.note(&events[i]); events[i].Kind == history.Done {
				return nil
			}
		}
	}
	return text.Errorf("locktest.alone.endless", "steps", maxAlone, "time", w.Now())
}

// note notes what an event says of the lock's key.
func (f *firstRun) note(e *history.Event) {
	switch {
	case e.Kind == history.Enter:
		f.entered, f.fences = true, f.fences || e.Token > 0
	case e.Kind != history.Change || e.Client == 0:
	case e.After == "":
		if f.gone[e.Key] = f.entered; !f.entered {
			f.written[e.Key] = true
		}
	case !f.entered:
		f.written[e.Key] = true
		if e.Before == "" && !slices.Contains(f.keys, e.Key) {
			f.keys = append(f.keys, e.Key)
		}
		f.lease[e.Key] = 0
		if e.Until != history.Forever {
			f.lease[e.Key] = (e.Until - e.At - time.Millisecond).Round(time.Millisecond) // it lives through the last one
			if f.database {
				f.lease[e.Key] += time.Millisecond
			}
		}
	}
}

// key returns the key of the lock, which the bounds may name.
func (f *firstRun) key(named string, ensemble bool) (string, error) {
	keys := f.keys
	if len(keys) > 1 { // the lock is what is deleted when it is released; counters stay
		if deleted := slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return !f.gone[k] }); len(deleted) == 1 {
			keys = deleted
		}
	}
	switch {
	case named != "" && !f.written[named]:
		return named, text.Errorf("locktest.alone.otherkey", "key", fmt.Sprintf("%q", named), "keys", fmt.Sprintf("%q", slices.Sorted(maps.Keys(f.written))))
	case named != "":
		return named, nil
	case len(keys) == 1:
		return keys[0], nil
	case len(keys) == 0 && ensemble:
		return "", text.Errorf("locktest.alone.noznode")
	case len(keys) == 0:
		return "", text.Errorf("locktest.alone.nokey")
	}
	return "", text.Errorf("locktest.alone.keys", "keys", fmt.Sprintf("%q", keys))
}
