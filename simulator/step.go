package simulator

import (
	"time"

	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/table"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// Step makes choice c happen in w and returns what it was, in order. The events are
// good until the next Step of this simulator.
//
// The error is a *NotEnabledError if the choice cannot happen in w, which is then as
// it was; any other error (*NondeterministicError, a panic of the client's code, a
// command that cannot be simulated, a *LimitError) leaves w unusable.
func (s *Simulator) Step(w *World, c Choice) ([]history.Event, error) {
	s.events, s.reached = s.events[:0], false
	err := s.step(w, c)
	s.boundAnswers(w)
	s.servers.tidy(w)
	if s.room.Exceeded != nil {
		err = s.room.Take()
	}
	return s.events, err
}

// boundAnswers sets by when the replies arrive that a step has put on their way.
func (s *Simulator) boundAnswers(w *World) {
	if s.config.Timing == nil {
		return
	}
	for c := range s.procs {
		threads := &w.procs[c].Threads
		for t := range threads {
			switch th := &threads[t]; {
			case th.Fresh:
				th.Fresh, th.Latest = false, clock.Later(w.now, s.latency(int8(c+1), s.op(w, int8(c+1), int8(t))))
			case th.Phase != node.Asking && th.Phase != node.Answered && th.Phase != node.Asleep && th.Phase != node.Unborn:
				th.Latest = 0
			}
		}
	}
}

func (s *Simulator) step(w *World, c Choice) error {
	switch c.Verb {
	case Pass:
		return s.pass(w, c)
	case Start, Arrive, Answer, Survive, Wake, Choose, GiveUp, Unblock:
		return s.stepThread(w, c)
	case Resume:
		if c.Node != 0 {
			return s.stepServer(w, c)
		}
		return s.resume(w, c)
	case Orphaned:
		return s.arriveOrphan(w, c)
	case Replicate, Heal, Deliver, Reconnect, End:
		return s.stepServer(w, c)
	}
	for i, f := range s.config.Faults {
		if f.Fault.Verb() == c.Verb {
			return s.inject(w, i, c)
		}
	}
	return s.refuse(w, c, "refused.verb")
}

// refuse says why c cannot happen, with a text of the catalogues.
func (s *Simulator) refuse(w *World, c Choice, key string, pairs ...any) error {
	return &NotEnabledError{Choice: s.Describe(c), At: w.now, Why: i18n.New(key, pairs...)}
}

func (s *Simulator) emit(w *World, k history.Kind) *history.Event {
	s.events = append(s.events, history.Event{At: w.now, Kind: k})
	return &s.events[len(s.events)-1]
}

// emitClient is emit with the client's name and its own clock.
func (s *Simulator) emitClient(w *World, k history.Kind, c, thread int8) *history.Event {
	e := s.emit(w, k)
	e.Client, e.Thread = int(c), int(thread)
	e.Skew = w.procs[c-1].Clock.Read(w.now) - w.now
	return e
}

func (s *Simulator) pass(w *World, c Choice) error {
	switch next := s.NextDeadline(w); {
	case c.D <= 0:
		return s.refuse(w, c, "refused.forward")
	case next <= w.now:
		return s.refuse(w, c, "refused.due.first")
	case c.D > next-w.now:
		return s.refuse(w, c, "refused.due.before")
	case c.D > clock.EndOfTime-w.now:
		return s.refuse(w, c, "refused.end")
	case c.Thread != 0 && (c.Thread != Standing || s.config.Timing == nil):
		return s.refuse(w, c, "refused.standing")
	}
	s.servers.settle(s.view(w))
	w.now += c.D
	for c := range s.procs {
		w.procs[c].Forget(w.now)
	}
	s.servers.passed(s.view(w), c.Thread == Standing)
	return nil
}

// stepServer is what a server does by itself, or a client's library.
func (s *Simulator) stepServer(w *World, c Choice) error {
	do := s.servers.step
	if c.Verb == End {
		do = s.servers.end
	}
	why, err := do(s.view(w), c)
	if why != "" {
		return s.refuse(w, c, why)
	}
	return err
}

// stepThread is what happens to one thread of one client.
func (s *Simulator) stepThread(w *World, c Choice) error {
	if c.Client < 1 || int(c.Client) > len(s.procs) || c.Thread < 0 || c.Thread >= MaxThreads {
		return s.refuse(w, c, "refused.client.thread")
	}
	p := &w.procs[c.Client-1]
	th := &p.Threads[c.Thread]
	switch {
	case p.Dead:
		return s.refuse(w, c, "refused.client.dead")
	case p.Stands(int(c.Thread)) && c.Verb != Arrive && c.Verb != Unblock:
		return s.refuse(w, c, "refused.client.paused")
	}
	switch c.Verb {
	case Start:
		if th.Phase != node.Unborn {
			return s.refuse(w, c, "refused.client.started")
		}
		return s.observe(w, c.Client, c.Thread, process.Observation{Kind: process.Started})
	case Wake, Choose:
		if c.Verb == Choose && th.Phase == node.Unborn {
			return s.startSkewed(w, c, p)
		}
		if th.Phase != node.Asleep || th.Due > w.now {
			return s.refuse(w, c, "refused.wake")
		}
		seen := process.Observation{Kind: process.Slept}
		if c.Verb == Choose {
			if c.Node < 1 || c.Node > s.otherWays(p, c.Client, int(c.Thread)) {
				return s.refuse(w, c, "refused.way")
			}
			seen.Val = int64(c.Node)
		}
		s.emitClient(w, history.Wake, c.Client, c.Thread)
		return s.observe(w, c.Client, c.Thread, seen)
	case Arrive:
		if th.Phase != node.Asking || th.Hold > w.now {
			return s.refuse(w, c, "refused.request.held")
		}
		return s.arrive(w, c, th)
	case Unblock:
		return s.stepServer(w, c)
	case Answer:
		if th.Phase != node.Answered || th.Held(w.now) {
			return s.refuse(w, c, "refused.reply.held")
		}
		return s.answer(w, c, th)
	case Survive:
		if !th.Survives(w.now) {
			return s.refuse(w, c, "refused.survive")
		}
		th.Broken, th.Hold = false, 0
		return s.answer(w, c, th)
	default:
		if !th.Phase.Waiting() || s.impatient(p, c.Client, int(c.Thread)) > w.now {
			return s.refuse(w, c, "refused.patience")
		}
		return s.giveUp(w, c, th)
	}
}

// startSkewed begins a program whose clock is off.
func (s *Simulator) startSkewed(w *World, c Choice, p *node.Client) error {
	if c.Node < 1 || c.Node > s.otherWays(p, c.Client, int(c.Thread)) {
		return s.refuse(w, c, "refused.way")
	}
	skew := s.config.Clients[c.Client-1].Skews[c.Node-1]
	p.Clock.Offset += skew
	e := s.emitClient(w, history.ClockStep, c.Client, c.Thread)
	e.D, e.Note = skew, history.FromStart
	return s.observe(w, c.Client, c.Thread, process.Observation{Kind: process.Started})
}

// arrive has a request reach the server, or the resource.
func (s *Simulator) arrive(w *World, c Choice, th *node.Thread) error {
	o := s.op(w, c.Client, c.Thread)
	if o.Kind.ToServer() {
		return s.servers.arrive(s.view(w), c.Client, c.Thread)
	}
	th.Answer(s.arriveResource(w, o, c.Client, th.Msg))
	return nil
}

// arriveResource has a request reach the resource.
func (s *Simulator) arriveResource(w *World, o *process.Op, from int8, msg uint32) (answer uint32) {
	e := s.emit(w, history.Apply)
	e.Client, e.Node, e.Lease, e.Msg = int(from), int(o.Node), int(o.Lease), int(msg)
	return uint32(w.resource.serve(o, s.config.Guard, e))
}

func (s *Simulator) answer(w *World, c Choice, th *node.Thread) error {
	o := s.op(w, c.Client, c.Thread)
	seen := process.Observation{Kind: process.Replied, Val: int64(th.Reply)}
	kind := history.Answer
	if th.Lost() {
		seen, kind = process.Observation{Kind: process.Broken}, history.Broken
	}
	e := s.emitClient(w, kind, c.Client, c.Thread)
	e.Node, e.Msg = int(o.Node), int(th.Msg)
	e.Cmd = s.cmd(o)
	if kind == history.Answer && o.Kind.ToServer() {
		e.Reply = s.servers.Reply(o, th.Reply)
	}
	return s.observe(w, c.Client, c.Thread, seen)
}

func (s *Simulator) giveUp(w *World, c Choice, th *node.Thread) error {
	o := s.op(w, c.Client, c.Thread)
	switch {
	case o.Kind.ToServer():
		s.servers.gaveUp(s.view(w), c.Client, c.Thread)
	case th.Phase == node.Asking:
		s.addOrphan(w, c.Client, c.Thread)
	}
	e := s.emitClient(w, history.Timeout, c.Client, c.Thread)
	e.Node, e.Msg = int(o.Node), int(th.Msg)
	e.Cmd = s.cmd(o)
	seen := process.Observation{Kind: process.TimedOut}
	if o.Kind == process.Listen && th.Phase == node.Answered && !th.Lost() {
		seen.Val = int64(th.Reply) // it comes all the same: the next read finds it
	}
	return s.observe(w, c.Client, c.Thread, seen)
}

func (s *Simulator) resume(w *World, c Choice) error {
	if c.Client < 1 || int(c.Client) > len(s.procs) {
		return s.refuse(w, c, "refused.client.unknown")
	}
	p := &w.procs[c.Client-1]
	if c.Thread > 0 {
		return s.resumeThread(w, c, p)
	}
	if p.Dead || !p.Paused || !p.Open && p.Until > w.now {
		return s.refuse(w, c, "refused.pause.end")
	}
	p.End()
	for t := range p.Threads {
		s.goOn(w, c.Client, int8(t))
	}
	s.emitClient(w, history.Resume, c.Client, 0)
	s.servers.resumed(s.view(w), c.Client)
	return nil
}

// resumeThread ends the pause of one thread.
func (s *Simulator) resumeThread(w *World, c Choice, p *node.Client) error {
	if p.Dead || p.Stopped() != c.Thread || !p.Open && p.Until > w.now {
		return s.refuse(w, c, "refused.pause.end")
	}
	p.End()
	s.goOn(w, c.Client, c.Thread-1)
	s.emitClient(w, history.Wake, c.Client, c.Thread-1).Note = history.FromPause
	return nil
}

// goOn puts the request of a thread on its way that a pause has kept back, and lets it do
// late what it could have done before.
func (s *Simulator) goOn(w *World, c, t int8) {
	p := &w.procs[c-1]
	th := &p.Threads[t]
	if th.Phase == node.Unsent {
		s.send(w, c, th, s.op(w, c, t))
	}
	s.delayOverdue(w, th)
}

// send puts the request of a thread of client c on its way.
func (s *Simulator) send(w *World, c int8, th *node.Thread, o *process.Op) {
	p := &w.procs[c-1]
	*th = node.Thread{Phase: node.Asking, Msg: th.Msg, Due: s.giveUpAt(w.now, p.Clock, s.patience(o))}
	if s.config.Timing != nil {
		th.Latest = clock.Later(w.now, s.latency(c, o))
	}
	if p.Cut && o.Kind == process.Request {
		th.Phase = node.Stranded
	}
}

// latency is how long the messages of an operation of client c are on their way at most.
func (s *Simulator) latency(c int8, o *process.Op) time.Duration {
	if s.config.Timing == nil || !o.Kind.ToServer() || s.config.Clients[c-1].Near {
		return 0
	}
	return s.config.Timing.Latency
}

// delayOverdue lets a thread that was paused do late what it could have done before.
func (s *Simulator) delayOverdue(w *World, th *node.Thread) {
	if th.Broken {
		th.Hold = max(th.Hold, s.late(w.now))
	}
	if s.config.Timing == nil {
		return
	}
	if th.Phase == node.Asleep || th.Phase == node.Answered || th.Phase == node.Unborn {
		th.Latest = max(th.Latest, clock.Later(w.now, s.config.Timing.Lateness))
	}
}

// observe ends what a client's thread waits for and puts under way what the client
// does next. Reading its clock is answered on the spot.
func (s *Simulator) observe(w *World, c, thread int8, seen process.Observation) error {
	p := &w.procs[c-1]
	proc := s.procs[c-1]
	seen.Thread = uint8(thread)
	for range maxReadings {
		at, err := proc.Advance(p.At, seen)
		if err != nil {
			return err
		}
		entry := proc.At(at)
		s.abandon(w, c, thread, entry)
		p.At = at
		for i := range entry.Notes {
			s.events = append(s.events, entry.Notes[i])
			e := &s.events[len(s.events)-1]
			e.At = w.now
			e.Skew = p.Clock.Read(w.now) - w.now
		}
		reading := s.arm(w, c, p, entry)
		if reading < 0 {
			p.At, err = s.forget(int(c), at)
			p.Clock.Measures = p.Clock.Measures && err == nil && proc.At(p.At).Reads
			return err
		}
		seen = process.Observation{Thread: uint8(reading), Kind: process.ClockRead, Val: int64(p.Clock.Read(w.now))}
	}
	return table.Limit("limit.readings", "client", c, "times", maxReadings)
}

// abandon leaves the requests under way for which the code of a client no longer waits
// at the entry that it comes to, although they were not what it has observed.
func (s *Simulator) abandon(w *World, c, observed int8, entry *process.Entry) {
	for t := range w.procs[c-1].Threads {
		if int8(t) == observed || entry.Fresh&(1<<t) == 0 || !w.procs[c-1].Threads[t].Phase.Waiting() {
			continue
		}
		if s.op(w, c, int8(t)).Kind == process.Request {
			s.abandons = s.abandons || w.procs[c-1].Threads[t].Phase == node.Asking
			s.servers.gaveUp(s.view(w), c, int8(t))
		}
	}
}

// maxReadings bounds how often code may read its clock before it does something
// else: code that waits for time to pass like that waits for ever.
const maxReadings = 10_000

// arm starts the operations that are new at an entry. It returns the thread that
// reads the clock, or -1.
func (s *Simulator) arm(w *World, c int8, p *node.Client, entry *process.Entry) (reading int) {
	reading = -1
	for t := range p.Threads {
		if entry.Fresh&(1<<t) == 0 {
			if entry.Ops[t].Kind == process.Clocked { // another thread's turn came first
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
			*th = node.Thread{Phase: node.Unborn, Latest: clock.Later(w.now, p.Clock.After(o.D))}
		case process.Clocked:
			*th = node.Thread{}
			reading = t
			s.readClock(w, p)
		case process.Join:
			*th = node.Thread{Phase: node.Joining}
		case process.Listen:
			w.sent++
			*th = node.Thread{Phase: node.Listening, Msg: w.sent, Due: s.giveUpAt(w.now, p.Clock, o.D)}
		case process.Sleep, process.Watch, process.Idle:
			d := p.Clock.After(o.D)
			*th = node.Thread{Phase: node.Asleep, Due: clock.Later(w.now, d)}
			switch {
			case s.config.Timing == nil:
			case o.Kind == process.Idle, o.Open:
				th.Due, th.Latest = w.now, clock.Later(w.now, d)
			default:
				th.Latest = s.late(th.Due)
			}
			e := s.emitClient(w, history.Sleep, c, int8(t))
			e.D, e.Code = o.D, entry.CodeOf(t)
		default:
			w.sent++
			th.Msg = w.sent
			s.send(w, c, th, o)
			e := s.emitClient(w, history.Send, c, int8(t))
			e.Node, e.Msg, e.Cmd, e.Code = int(o.Node), int(w.sent), s.cmd(o), entry.CodeOf(t)
			s.oldBases = s.oldBases || o.Kind == process.Write && !s.readInside(c, entry, o.Base)
		}
	}
	return reading
}
