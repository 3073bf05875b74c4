package simulator

import (
	"errors"
	"fmt"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/intern"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// errEmptied is a step in a world whose numbers name nothing any more.
var errEmptied = i18n.Errorf("error.world.emptied")

// Step makes choice c happen in w and returns its events, in order, which are good until the simulator's next Step.
//
// The error is a *NotEnabledError if the choice cannot happen in w, which is then as it was; any other error
// (*NondeterministicError, a panic of the client's code, a command that cannot be simulated, a *LimitError) leaves w
// unusable. So is a world of tables that NewWorld has emptied since.
func (s *Simulator) Step(w *World, c Choice) ([]history.Event, error) {
	s.events, s.reached = s.events[:0], false
	if w.tables != s.emptied {
		return nil, errEmptied
	}
	v := s.view(w)
	err := v.step(c)
	v.boundAnswers()
	if limit := s.room.Take(); limit != nil {
		err = limit
	}
	if refused := (*node.Refused)(nil); errors.As(err, &refused) {
		err = &NotEnabledError{Choice: s.Describe(c), At: w.now, Why: refused.Why}
	}
	return s.events, err
}

// boundAnswers sets the time within which the replies arrive that a step has put on their way.
func (v *view) boundAnswers() {
	if v.s.config.Timing == nil && v.s.stamps.grain == 0 && v.s.config.Travel == 0 {
		return
	}
	for c := range v.s.clients.procs {
		threads := &v.w.procs[c].Threads
		for t := range threads {
			th := &threads[t]
			if v.s.stamps.grain > 0 && th.Fresh {
				v.s.stamps.receive(v.w.now, &v.w.procs[c], th, v.s.clients.op(int8(c+1), &v.w.procs[c], t))
			}
			underWay := th.Phase == node.Asking || th.Phase == node.Answered
			switch {
			case v.s.config.Timing == nil:
				if th.Fresh && !th.Broken {
					th.Hold = max(th.Hold, v.s.clients.latency(int8(c+1), v.Op(int8(c+1), int8(t))))
				}
				th.Fresh = false
			case th.Fresh:
				th.Fresh, th.Latest = false, clock.Later(0, v.s.clients.latency(int8(c+1), v.Op(int8(c+1), int8(t))))
			case !underWay && th.Phase != node.Asleep && th.Phase != node.Unborn:
				th.Latest = 0
			}
		}
	}
}

func (v *view) step(c Choice) error {
	switch c.Verb {
	case Pass:
		return v.pass(c)
	case Start, Arrive, Answer, Survive, Wake, Choose, GiveUp, Unblock:
		return v.stepThread(c)
	case Resume:
		if c.Node != 0 {
			return v.stepServer(c)
		}
		return v.resume(c)
	case Orphaned:
		return v.arriveOrphan(c)
	case Replicate, Heal, Deliver, Reconnect, End:
		return v.stepServer(c)
	}
	for i, f := range v.s.config.Faults {
		if f.Fault.Verb == c.Verb {
			return v.inject(i, c)
		}
	}
	return node.Refuse("refused.verb")
}

func (v *view) Emit(k history.EventKind) *history.Event {
	v.s.events = append(v.s.events, history.Event{At: v.w.now, Kind: k})
	return &v.s.events[len(v.s.events)-1]
}

// EmitClient is emit with the client's name and its own clock.
func (v *view) EmitClient(k history.EventKind, c, thread int8) *history.Event {
	e := v.Emit(k)
	e.Client, e.Thread = int(c), int(thread)
	e.Skew = v.skew(&v.w.procs[c-1])
	return e
}

// skew is by how much a client's clock is ahead of one that is right.
func (v *view) skew(p *node.ClientProcess) time.Duration {
	return p.Clock.Read(v.w.now) - v.w.now - v.s.config.Epoch.Ahead()
}

// emitMessage is EmitClient of what happens to a request of a thread, or to its reply.
func (v *view) emitMessage(k history.EventKind, c, thread int8) *history.Event {
	o, e := v.Op(c, thread), v.EmitClient(k, c, thread)
	e.Node, e.Msg, e.Cmd = int(o.Node), int(v.w.procs[c-1].Threads[thread].Msg), v.s.clients.cmd(o)
	return e
}

func (v *view) pass(c Choice) error {
	switch next := v.s.NextDeadline(v.w); {
	case c.D <= 0:
		return node.Refuse("refused.forward")
	case next <= v.w.now:
		return node.Refuse("refused.due.first")
	case c.D > next-v.w.now:
		return node.Refuse("refused.due.before")
	case c.D > clock.EndOfTime-v.w.now:
		return node.Refuse("refused.end")
	case c.Thread != 0 && (c.Thread != Pending || v.s.config.Timing == nil):
		return node.Refuse("refused.standing")
	}
	if err := v.happen(node.Input{What: node.Settled}); err != nil {
		return err
	}
	v.s.Skip(v.w, c.D)
	return v.happen(node.Input{What: node.Passed, Pending: c.Thread == Pending})
}

// Skip has time d pass for the clients and for the requests in flight, without a look at what is due. It is for worlds
// that hold no server's part: servers do not notice it.
func (s *Simulator) Skip(w *World, d time.Duration) {
	w.now += d
	for c := range s.clients.procs {
		w.procs[c].Pass(d)
	}
	if w.orphans == 0 {
		return
	}
	w.orphans = s.changed(w.orphans, func(list []node.Orphan) []node.Orphan {
		for i := range list {
			list[i].Pass(d)
		}
		return list
	})
}

// stepServer makes a choice of a server, or of a client's library, by itself.
func (v *view) stepServer(c Choice) error {
	if c == (Choice{Verb: End}) {
		return v.endTogether()
	}
	return v.happen(node.Input{What: node.Chosen, Choice: c})
}

// stepThread makes a choice of one thread of one client.
func (v *view) stepThread(c Choice) error {
	if c.Client < 1 || int(c.Client) > len(v.s.clients.procs) || c.Thread < 0 || c.Thread >= MaxThreads {
		return node.Refuse("refused.client.thread")
	}
	p := &v.w.procs[c.Client-1]
	th := &p.Threads[c.Thread]
	switch {
	case p.Dead:
		return node.Refuse("refused.client.dead")
	case p.Stands(int(c.Thread)) && c.Verb != Arrive && c.Verb != Unblock:
		return node.Refuse("refused.client.paused")
	}
	next := nextOf(th)
	may := c.Verb == next
	switch c.Verb {
	case Unblock:
		return v.stepServer(c)
	case Choose:
		may = next == Start || next == Wake
	case Survive:
		may = th.Broken
	case GiveUp:
		may = th.Phase.Waiting() && v.s.clients.impatient(p, c.Client, int(c.Thread)) <= 0
	}
	switch {
	case !may:
		return node.Refuse(refusals[c.Verb])
	case c.Verb == Arrive:
		return v.arrive(c, th)
	case c.Verb == Answer:
		return v.answer(c, th)
	case c.Verb == Survive:
		th.Broken, th.Hold = false, 0
		return v.answer(c, th)
	case c.Verb == GiveUp:
		return v.giveUp(c, th)
	}
	return v.wake(c, p, next == Start)
}

// refusals are the keys of why a thread's choice is not enabled, by its verb.
var refusals = map[Verb]string{
	Start: "refused.client.started", Wake: "refused.wake", Choose: "refused.wake", Arrive: "refused.request.held",
	Answer: "refused.reply.held", Survive: "refused.survive", GiveUp: "refused.patience",
}

// wake begins a program, or ends a sleep: in the ordinary way, or in another one.
func (v *view) wake(c Choice, p *node.ClientProcess, begins bool) error {
	if c.Verb == Choose && (c.Node < 1 || c.Node > v.s.clients.otherWays(p, c.Client, int(c.Thread))) {
		return node.Refuse("refused.way")
	}
	seen := process.Observation{Kind: process.Started}
	switch {
	case !begins:
		if seen.Kind = process.Slept; c.Verb == Choose {
			seen.Val = int64(c.Node)
		}
		e := v.EmitClient(history.Wake, c.Client, c.Thread)
		if o := v.Op(c.Client, c.Thread); o.Kind == process.Branch {
			e.Note = fmt.Sprintf(history.Way, seen.Val+1, o.Arg+1)
		}
	case c.Verb == Choose: // its clock is off
		skew := v.s.config.Clients[c.Client-1].Skews[c.Node-1]
		p.Clock.Offset += skew
		e := v.EmitClient(history.ClockStep, c.Client, c.Thread)
		e.D, e.Note = skew, history.FromStart
	}
	return v.Observe(c.Client, c.Thread, seen)
}

// arrive has a request reach the server, or the resource.
func (v *view) arrive(c Choice, th *node.Thread) error {
	o := v.Op(c.Client, c.Thread)
	if o.Kind.ToServer() {
		v.s.stamps.arrive(v.w.now, o)
		return v.notice(node.Arrived, c.Client, c.Thread)
	}
	th.Answer(v.arriveResource(o, c.Client, th.Msg))
	return nil
}

// arriveResource has a request reach the resource.
func (v *view) arriveResource(o *process.Op, from int8, msg uint32) (answer uint32) {
	e := v.Emit(history.Apply)
	e.Client, e.Node, e.Lease, e.Msg = int(from), int(o.Node), int(o.Lease), int(msg)
	return uint32(v.w.resource.serve(o, v.s.config.Guard, e))
}

func (v *view) answer(c Choice, th *node.Thread) error {
	o := v.Op(c.Client, c.Thread)
	seen := process.Observation{Kind: process.Replied, Val: int64(th.Reply)}
	kind := history.Answer
	if th.Lost() {
		seen, kind = process.Observation{Kind: process.Broken}, history.Broken
	}
	e := v.emitMessage(kind, c.Client, c.Thread)
	if kind == history.Answer && o.Kind.ToServer() {
		e.Reply = v.s.clients.words.Answers.Words(th.Reply)[0]
	}
	return v.Observe(c.Client, c.Thread, seen)
}

func (v *view) giveUp(c Choice, th *node.Thread) error {
	o := v.Op(c.Client, c.Thread)
	switch {
	case o.Kind.ToServer():
		if err := v.notice(node.GaveUp, c.Client, c.Thread); err != nil {
			return err
		}
	case th.Phase == node.Asking:
		v.Orphan(c.Client, c.Thread)
	}
	v.emitMessage(history.Timeout, c.Client, c.Thread)
	seen := process.Observation{Kind: process.TimedOut}
	if o.Kind == process.Listen && th.Phase == node.Answered && !th.Lost() {
		seen.Val = int64(th.Reply) // it comes all the same: the next read finds it
	}
	return v.Observe(c.Client, c.Thread, seen)
}

func (v *view) resume(c Choice) error {
	if c.Client < 1 || int(c.Client) > len(v.s.clients.procs) {
		return node.Refuse("refused.client.unknown")
	}
	p := &v.w.procs[c.Client-1]
	if p.Dead || !p.Paused && c.Thread <= 0 || p.Stopped() != max(c.Thread, 0) || !p.Open && p.Until > 0 {
		return node.Refuse("refused.pause.end")
	}
	p.End()
	if c.Thread > 0 {
		v.goOn(c.Client, c.Thread-1)
		v.EmitClient(history.Wake, c.Client, c.Thread-1).Note = history.FromPause
		return nil
	}
	for t := range p.Threads {
		v.goOn(c.Client, int8(t))
	}
	v.EmitClient(history.Resume, c.Client, 0)
	return v.notice(node.Resumed, c.Client, 0)
}

// goOn puts the request of a thread on its way that a pause has kept back, and lets it do late what it missed.
func (v *view) goOn(c, t int8) {
	p := &v.w.procs[c-1]
	th := &p.Threads[t]
	if th.Phase == node.Unsent {
		v.send(c, th, v.Op(c, t))
	}
	v.delayOverdue(th)
}

// send puts the request of a thread of client c on its way.
func (v *view) send(c int8, th *node.Thread, o *process.Op) {
	p := &v.w.procs[c-1]
	due := v.s.config.Timing.patience(p.Clock, v.s.clients.patience(o))
	*th = node.Thread{Phase: node.Asking, Msg: th.Msg, Due: due}
	if latency := v.s.clients.latency(c, o); v.s.config.Timing != nil {
		th.Latest = clock.Later(0, latency)
	} else {
		th.Hold = latency
	}
	if p.Cut && o.Kind == process.Request {
		th.Phase = node.Stranded
	}
}

// delayOverdue lets a thread that was paused do late what it could have done before.
func (v *view) delayOverdue(th *node.Thread) {
	if th.Broken {
		th.Hold = max(th.Hold, v.s.config.Timing.late(0))
	}
	if v.s.config.Timing == nil {
		return
	}
	if th.Phase == node.Asleep || th.Phase == node.Answered || th.Phase == node.Unborn {
		th.Latest = max(th.Latest, v.s.config.Timing.late(0))
	}
}

// Observe ends what a client's thread waits for and puts under way what the client
// does next. Reading its clock or its list of servers is answered on the spot.
func (v *view) Observe(c, thread int8, seen process.Observation) error {
	p := &v.w.procs[c-1]
	proc := v.s.clients.procs[c-1]
	seen.Thread = uint8(thread)
	for range maxReadings {
		at, err := proc.Advance(p.At, seen)
		if err != nil {
			return err
		}
		entry := proc.At(at)
		if err := v.abandon(c, thread, entry); err != nil {
			return err
		}
		p.At = at
		for i := range entry.Notes {
			v.s.events = append(v.s.events, entry.Notes[i])
			e := &v.s.events[len(v.s.events)-1]
			e.At = v.w.now
			e.Skew = v.skew(p)
		}
		reading := v.arm(c, p, entry)
		if reading < 0 {
			p.At, err = v.s.Symmetry().forget(int(c), at)
			v.s.stamps.forget(c, p)
			return err
		}
		seen = process.Observation{Thread: uint8(reading), Kind: process.ClockRead, Val: int64(p.Clock.Read(v.w.now))}
		if entry.Ops[reading].Kind == process.Listed {
			seen.Kind, seen.Val = process.ListRead, int64(p.List)
		}
	}
	return intern.Limit("limit.readings", "client", c, "times", maxReadings)
}

// abandon leaves the requests under way for which the code of a client no longer waits
// at the entry that it comes to, although they were not what it has observed.
func (v *view) abandon(c, observed int8, entry *process.Entry) error {
	for t := range v.w.procs[c-1].Threads {
		if int8(t) == observed || entry.Fresh&(1<<t) == 0 || !v.w.procs[c-1].Threads[t].Phase.Waiting() {
			continue
		}
		if v.Op(c, int8(t)).Kind == process.Request {
			v.s.traits.Abandons = v.s.traits.Abandons || v.w.procs[c-1].Threads[t].Phase == node.Asking
			if err := v.notice(node.GaveUp, c, int8(t)); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxReadings bounds how often code may read its clock in a row: code that waits for time like that waits for ever.
const maxReadings = 10_000

// arm starts an entry's new operations and returns the thread that reads the clock or the list of servers, or -1.
func (v *view) arm(c int8, p *node.ClientProcess, entry *process.Entry) (reading int) {
	reading = -1
	for t := range p.Threads {
		if entry.Fresh&(1<<t) == 0 {
			if k := entry.Ops[t].Kind; k == process.Clocked || k == process.Listed { // another thread's turn came first
				reading = t
			}
			continue
		}
		th := &p.Threads[t]
		if th.Stopped { // another thread has ended it
			p.End()
		}
		switch o := &entry.Ops[t]; o.Kind {
		case process.None:
			*th = node.Thread{}
		case process.Begin:
			*th = node.Thread{Phase: node.Unborn, Latest: clock.Later(0, p.Clock.After(o.D))}
		case process.Clocked:
			*th = node.Thread{}
			reading = t
			v.readClock(p)
		case process.Listed:
			*th = node.Thread{}
			reading = t
		case process.Join:
			*th = node.Thread{Phase: node.Joining}
		case process.Branch:
			*th = node.Thread{Phase: node.Asleep}
		case process.Listen:
			v.w.sent++
			*th = node.Thread{Phase: node.Listening, Msg: v.w.sent, Due: v.s.config.Timing.patience(p.Clock, o.D)}
		case process.Sleep, process.Watch, process.Idle:
			*th = node.Thread{Phase: node.Asleep, Due: clock.Later(0, p.Clock.After(o.D))}
			switch {
			case v.s.config.Timing == nil:
			case o.Kind == process.Idle, o.Open:
				th.Due, th.Latest = 0, th.Due
			default:
				th.Latest = v.s.config.Timing.late(th.Due)
			}
			e := v.EmitClient(history.Sleep, c, int8(t))
			e.D, e.Code, e.Rests = o.D, entry.CodeOf(t), entry.Rests()
		default:
			v.w.sent++
			th.Msg = v.w.sent
			v.s.stamps.note(o)
			v.send(c, th, o)
			e := v.EmitClient(history.Send, c, int8(t))
			e.Node, e.Msg, e.Cmd, e.Code = int(o.Node), int(v.w.sent), v.s.clients.cmd(o), entry.CodeOf(t)
			v.s.traits.OldBases = v.s.traits.OldBases ||
				o.Kind == process.Write && !v.s.clients.readInside(c, entry, o.Base)
		}
	}
	return reading
}
