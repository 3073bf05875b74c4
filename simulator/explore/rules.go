package explore

import (
	"slices"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Rules say what may happen in a search, and what it comes to. They rely on what the simulator's Enabled lists
// and Step does, and on the judges, who get every event.
//
// In lockstep time passes only if nothing else can happen, except the end of a pause without a fixed length, and with
// Model.Late the start of a client. At any timing it passes by a step, or to the next deadline, also so that what ends
// then still stands; only what has no bounds happens first. The probe begins when all other clients are at their end,
// no request is under way and every server runs; no fault is injected into it, and none at all once it has begun. A
// client that waits for an answer does not begin another attempt. If clients wait for their turn and nothing is left to
// happen but faults, the probe begins all the same, and nothing follows: that is a DEADLOCK.
type Rules struct {
	sim   *simulator.Simulator
	judge verdict.Case
	probe int
	step  time.Duration // above 0: any timing
	late  bool          // in lockstep, see Model.Late
}

// NewRules returns the rules of a search of sim within opt, which must have a probe.
func NewRules(sim *simulator.Simulator, opt *Options) *Rules {
	return &Rules{sim, verdict.CaseOf(&opt.Case), opt.Probe, opt.Step, opt.Late}
}

// A Position is a world with its judges, the clients that are at their end, and the number of faults that were
// injected on the way. It is comparable.
type Position struct {
	World   simulator.World
	judges  verdict.Safety
	ended   history.ClientSet // clients that are done or dead
	begun   history.ClientSet // clients whose programs have begun
	strikes uint8
}

// Start returns the position in which every run begins.
func (r *Rules) Start() Position { return Position{World: r.sim.NewWorld()} }

// Allowed lists the choices that are allowed in a position.
func (r *Rules) Allowed(p *Position) (allowed []simulator.Choice) {
	alone := r.settled(p) && r.allEnded(p)
	probing := r.probing(p)
	if alone && p.ended.Has(uint8(r.probe)) || probing && !r.allEnded(p) {
		return nil
	}
	var begins simulator.Choice // of the probe
	idle := true                // nothing has to happen before time passes
	for _, c := range r.sim.Enabled(&p.World, nil) {
		mine, fault := int(c.Client) == r.probe, c.Verb >= simulator.FaultVerb
		if mine && c.Verb == simulator.Start {
			begins = c
		}
		switch {
		case mine && (c.Verb == simulator.Start && !alone || fault), fault && probing:
			continue
		case c.Verb == simulator.Start && r.waits(p, int(c.Client)):
			continue
		case c.Verb == simulator.Pass && !idle:
			continue
		case c.Verb == simulator.Pass && r.step > 0:
			c.D = min(c.D, r.step)
			allowed = append(allowed, simulator.Choice{Verb: c.Verb, D: c.D, Thread: simulator.Pending})
		case c.Verb == simulator.Resume || c.Verb == simulator.Heal: // a network may stay split
		case c.Verb == simulator.Start && r.late:
		case c.Verb != simulator.Pass && !fault:
			idle = idle && r.step > 0 && !r.unbounded(p, c)
		}
		allowed = append(allowed, c)
	}
	onlyFaults := !slices.ContainsFunc(allowed, func(c simulator.Choice) bool { return c.Verb < simulator.FaultVerb })
	if onlyFaults && !probing && r.settled(p) && begins.Verb != 0 {
		allowed = append(allowed, begins)
	}
	return allowed
}

// unbounded reports whether no bound says by when something happens at any timing: it happens before time passes. A
// client connects again at once, and what a server sends of itself, or may answer at last, is there at once.
func (r *Rules) unbounded(p *Position, c simulator.Choice) bool {
	switch c.Verb {
	case simulator.Start:
		return !p.begun.Has(uint8(c.Client))
	case simulator.Reconnect, simulator.Deliver, simulator.Unblock:
		return true
	}
	return false
}

// Step makes a choice, and returns what happens until the next one, with the verdicts that the judges come to.
func (r *Rules) Step(p *Position, c simulator.Choice) (events []history.Event, words []verdict.Word, err error) {
	if events, err = r.sim.Step(&p.World, c); err != nil {
		return nil, nil, err
	}
	return events, r.observe(p, c, events, p.World.Now()), nil
}

// observe notes that a choice was made, with which events, and that it is now. It returns the judges' verdicts.
func (r *Rules) observe(
	p *Position, c simulator.Choice, events []history.Event, now time.Duration,
) (words []verdict.Word) {
	switch {
	case c.Verb >= simulator.FaultVerb:
		p.strikes++
	case c.Verb == simulator.Start, c.Verb == simulator.Choose: // with a clock that is off
		p.begun.Add(uint8(c.Client))
	}
	words = r.Judge(p, events)
	p.judges.Pass(&r.judge, 0, now, func(f verdict.Finding) { words = append(words, f.Verdict) })
	return words
}

// Judge shows events to the judges.
func (r *Rules) Judge(p *Position, events []history.Event) (words []verdict.Word) {
	for i := range events {
		e := &events[i]
		mine := e.Client == r.probe
		if mine && e.Kind == history.Acquire && !r.allEnded(p) {
			words = append(words, verdict.Deadlock)
			if p.judges.Unanswered() {
				words = append(words, verdict.Slow)
			}
		}
		if p.judges.Reading().KeptByAsking(&r.judge, e) {
			words = append(words, verdict.Deadlock)
		}
		if p.judges.RefusedByOrphan(e) {
			words = append(words, verdict.Orphan)
		}
		p.judges.Observe(&r.judge, i, e, func(f verdict.Finding) { words = append(words, f.Verdict) })
		stuck := mine && ReportsDeadlock(e)
		if stuck {
			words = append(words, verdict.Deadlock)
		}
		switch {
		case e.Kind == history.Done, e.Kind == history.Crash, stuck, mine && e.Kind == history.Released:
			p.ended.Add(uint8(e.Client))
		case e.Kind == history.Return:
			p.ended.Remove(uint8(e.Client))
		}
	}
	return append(words, p.judges.Words()...)
}

// Strikes returns the number of faults on the way to p.
func (p *Position) Strikes() int { return int(p.strikes) }

// settled reports whether no request is under way whose sender no longer waits, and every server runs.
func (r *Rules) settled(p *Position) bool {
	settled := r.sim.Orphans(&p.World) == 0
	for n := range r.sim.Config().Nodes {
		settled = settled && !p.World.Down(n+1) && !p.World.Hung(n+1)
	}
	return settled
}

// allEnded reports whether all clients but the probe are at their end.
func (r *Rules) allEnded(p *Position) bool {
	for c := 1; c < r.probe; c++ {
		if !p.ended.Has(uint8(c)) || p.World.Paused(c) {
			return false
		}
	}
	return true
}

// probing reports whether the probe has begun.
func (r *Rules) probing(p *Position) bool { return p.begun.Has(uint8(r.probe)) }

// waits reports whether a client waits for an answer of a server.
func (r *Rules) waits(p *Position, c int) bool {
	part := r.sim.Parts().Client(&p.World, c)
	return r.sim.Parts().WaitsOn(c, &part) != 0
}
