package process

import (
	"cmp"
	"errors"
	"slices"

	"locklab/simulator/hypothesis"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/codec"
)

// Code that is not a function of what it observes, but of a random source, a variable of its package or the machine,
// shows when it runs a second time. Where its histories are found one after the other that happens by the way: to
// continue one of them, its beginning is repeated. The ends of histories are not repeated so.

// Repeat runs the code once more in every history in which it has run only once. Where it does something else the error
// is a *NondeterministicError. It runs the longest histories only: the shorter ones begin them. A Host runs each
// history twice by itself; with Merge, histories that their class does not follow go on in one way; see orders.
func (p *Process) Repeat() error {
	switch {
	case p.host != nil && p.merged != nil:
		return p.merged.try()
	case p.host != nil || p.noMemo:
		return nil
	}
	var trials []trial
	for _, at := range Longest(p) {
		if !p.checked.hasRepeated(at) {
			trials = append(trials, trial{at: at})
		}
	}
	return tryAll(p, trials)
}

// Again runs the code once more in a history, in which it has observed something. Where it does something else the
// error is a *NondeterministicError.
func Again(p *Process, at uint32) error {
	if p.host != nil {
		// Nothing goes on from the end of a history as this host may have begun it: bubble.Host.OtherDate.
		defer p.stop()
	}
	did, err := p.rerun(at, clock.Shift{})
	if err != nil {
		return err
	}
	e := &p.entries[at]
	if did.inherit(&p.entries[e.Parent]); did.Outcome != e.Outcome {
		return different(p, e, &did)
	}
	return nil
}

// ByChance executes a history of a Host's code, after which that has done something else at another time, elsewhere or
// for another client, again and again as it was. The error is a *NondeterministicError if it does something else then
// as well, or goes on in several ways: so that was not the reason.
func ByChance(p *Process, at uint32) error {
	if p.host == nil {
		return nil
	}
	if e := &p.entries[at]; e.Branching() >= 0 {
		return ByBranch(p, at, "what it does in one way only")
	}
	at = p.lastRun(at)
	for range runsByChance {
		if err := Again(p, at); err != nil {
			return err
		}
	}
	return nil
}

// runsByChance is the number of executions after which something that half of them do would have shown itself.
const runsByChance = 10

// Longest are the entries that no other one is known to follow from, but for roots.
func Longest(p *Process) (all []uint32) {
	for at := range uint32(len(p.entries)) {
		if e := &p.entries[at]; e.to == 0 && e.Parent != at {
			if ran := p.lastRun(at); ran == at || p.entries[ran].to == at && p.entries[ran].Parent != ran {
				all = append(all, ran)
			}
		}
	}
	return all
}

func (c *checked) hasRepeated(at uint32) bool { return int(at) < len(c.repeated) && c.repeated[at] }

// noteRepeated notes that the code has run again in a history, and in those that begin it.
func (c *checked) noteRepeated(p *Process, at uint32) {
	for len(c.repeated) < len(p.entries) {
		c.repeated = append(c.repeated, false)
	}
	for ; p.entries[at].Parent != at && !c.repeated[at]; at = p.entries[at].Parent {
		c.repeated[at] = true
	}
}

var errRoot = errors.New("simulator: a history begins where no program does")

// A Root is the entry at which a history begins.
type Root struct{ of root }

// Write returns the root in texts.
func (r Root) Write() map[string]string { return codec.Leaves(r.of) }

// History returns the root of an entry's history, and the entries on the way, the root first and the entry last: each
// has observed one thing more than the one before.
func History(p *Process, at uint32) (r Root, way []uint32) {
	for way = []uint32{at}; p.entries[at].Parent != at; way = append(way, at) {
		at = p.entries[at].Parent
	}
	slices.Reverse(way)
	return Root{rootAt(&p.entries[at])}, way
}

// ReadRoot returns the root entry of which Write returned these texts, of a program that has not begun, or has ended.
func ReadRoot(p *Process, written map[string]string) (uint32, error) {
	r, err := codec.FromLeaves[root](written)
	if err == nil && (r.main.Kind != Begin && r.main != Op{} || r.kept != NoMemory) {
		err = errRoot
	}
	if err != nil {
		return 0, err
	}
	return p.rootOf(r), p.room.Take()
}

// State returns what the process has come to at an entry, but for what it waits for, in texts.
func (e *Entry) State() map[string]string {
	return codec.Leaves(struct {
		memory, tokens, born              uint64
		lease                             uint8
		entered, inside, resting, hasRead bool
		kept                              Memory
	}{uint64(e.Memory), e.Tokens, e.Born, e.Lease, e.Entered, e.Inside, e.Resting, e.Reads, e.Kept})
}

// Parallel runs tasks side by side and returns when all have ended. The first runs in the calling thread, each other in
// one of its own; their first operations are under way at the same moment. A crash of the process ends them all, and a
// pause stops them all. With the caller's thread and running timers they are at most MaxThreads; code that needs more
// ends with a *intern.LimitError.
//
// A process, and which task waits for which, is a function of its observations: a world knows only that a caller waits.
func (p *Code) Parallel(tasks ...func()) {
	if len(tasks) == 0 {
		return
	}
	p.Own()
	x := p.live
	if x.dead {
		p.unwind()
	}
	j := &join{caller: x.current, left: len(tasks) - 1}
	for _, f := range tasks[1:] {
		slot := x.vacant()
		if slot == 0 {
			Exceed("limit.tasks", "tasks", len(tasks), "most", MaxThreads)
		}
		caller := &x.threads[x.current]
		x.threads[slot] = thread{timer: &timer{p: p, f: f}, join: j, lease: caller.lease, deadline: caller.deadline}
		x.begun = append(x.begun, slot)
	}
	tasks[0]()
	if j.left > 0 {
		p.MustAsk(Op{Kind: Join})
	}
}

// join is shared by the tasks of one call of Parallel.
type join struct {
	caller int // its thread
	left   int // how many tasks beside the caller's have not ended
}

// runTasks starts the tasks that the code has begun, and lets a caller go on whose tasks have all ended; ended is the
// join of the thread that has just run to its end, if it was such a task.
func (x *execution) runTasks(ended *join) {
	for len(x.begun) > 0 && x.err == nil {
		slot := x.begun[0]
		x.begun = x.begun[1:]
		x.start(slot, x.threads[slot].timer.f)
		x.resume(slot, Observation{})
	}
	if ended == nil {
		return
	}
	if ended.left--; ended.left == 0 && x.ops[ended.caller].Kind == Join && x.err == nil {
		x.resume(ended.caller, Observation{})
	}
}

// A trial is a history in which the code runs once more: as it was, or at another time of day.
type trial struct {
	at uint32
	by clock.Shift
}

// tryAll has a process make trials, in their order.
func tryAll(p *Process, trials []trial) error {
	for _, t := range trials {
		if err := t.in(p); err != nil {
			return err
		}
	}
	return nil
}

// in has a process make the trial. Where the code does something else the error is a *NondeterministicError, or at
// another time of day a *hypothesis.Refuted.
func (t trial) in(p *Process) error {
	if t.by == (clock.Shift{}) {
		return Again(p, t.at)
	}
	did, err := p.rerun(t.at, t.by)
	p.stop()
	other, e := (*NondeterministicError)(nil), &p.entries[t.at]
	did.inherit(&p.entries[e.Parent])
	later := func(was, is string) error {
		wrong := &hypothesis.Refuted{
			Of: hypothesis.Measures, Client: p.code.id, By: t.by.By - t.by.Older, Was: was, Is: is,
		}
		if t.by.Older > 0 {
			wrong.Of = hypothesis.Aged
		}
		return wrong
	}
	switch {
	case errors.As(err, &other):
		return cmp.Or(ByChance(p, t.at), later(other.Was, other.Is))
	case err != nil:
		return err
	case did.Outcome != e.Outcome:
		return later(p.Describe(e), p.Describe(&did))
	}
	return nil
}
