package node

import (
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/process"
)

// A ClientProcess is one client process in a world. Its times are what remains, in true time from 0, or Never: they
// grow less as time passes (see Pass). Only its Clock needs the true time, since it may have a rate.
type ClientProcess struct {
	At      uint32 // what it has observed so far: an entry of its process.Process
	Dead    bool
	Paused  bool
	Open    bool          // paused, it or a thread of it: it may end before
	Cut     bool          // the connection of its session has broken
	List    uint8         // the servers on its list, bit n-1 for server n; 0: it has no list
	Until   time.Duration // paused, it or a thread of it: until that ends
	Clock   clock.State
	Threads [process.MaxThreads]Thread
}

// Stands reports whether thread t does not run: it alone, or its process, is paused.
func (p *ClientProcess) Stands(t int) bool { return p.Paused || p.Threads[t].Stopped }

// Stopped is 1 more than the thread that is paused alone; 0: there is none.
func (p *ClientProcess) Stopped() int8 {
	for t := range p.Threads {
		if p.Threads[t].Stopped {
			return int8(t + 1)
		}
	}
	return 0
}

// Each yields the threads, from 0.
func (p *ClientProcess) Each(yield func(t int8, th *Thread) bool) {
	for t := range p.Threads {
		if !yield(int8(t), &p.Threads[t]) {
			return
		}
	}
}

// End ends the pause, of the process or of a thread of it.
func (p *ClientProcess) End() {
	p.Paused, p.Open, p.Until = false, false, 0
	for t := range p.Threads {
		p.Threads[t].Stopped = false
	}
}

// A Thread is where one thread's pending operation has got to.
type Thread struct {
	Due time.Duration // asleep: until it wakes; waiting: until it gives up at the latest
	// Hold: asking, answered: it does not arrive before; blocked: its server answers then at
	// the latest; broken: the reply cannot be read after.
	Hold time.Duration
	// Latest is the time until what may happen has to: the request arrives, the reply reaches
	// the thread, the thread wakes. Only where the simulator has a Timing.
	Latest  time.Duration
	Reply   uint32 // answered: what is on its way back; LostConn: nothing ever will
	Msg     uint32 // number of the request
	Acks    uint8  // blocked: the replicas that have what it waits for, bit r for replica r from 0
	Phase   Phase
	Fresh   bool // answered, asking: Latest is still to be set
	Broken  bool // answered: the connection broke behind the reply, which reaches the thread or is lost
	Stopped bool // it alone is paused, until the Until of its client; at most one of a client's
}

// Pass has time pass by d. Replies that a broken connection can no longer deliver then are lost: what came
// before a pause is read after it.
func (p *ClientProcess) Pass(d time.Duration) {
	p.Until = clock.Left(p.Until, d)
	for t := range p.Threads {
		th := &p.Threads[t]
		if th.Broken && th.Hold < d && !p.Stands(t) {
			th.Reply, th.Broken, th.Hold = LostConn, false, 0
		}
		th.Due, th.Hold, th.Latest = clock.Left(th.Due, d), clock.Left(th.Hold, d), clock.Left(th.Latest, d)
	}
}

// LostConn in place of a reply is a connection that broke.
const LostConn = ^uint32(0)

// Answer puts a reply, or LostConn, on its way to the thread.
func (th *Thread) Answer(reply uint32) {
	*th = Thread{Phase: Answered, Reply: reply, Msg: th.Msg, Due: th.Due, Fresh: true, Stopped: th.Stopped}
}

// Break breaks the thread's connection, which it observes in place of an answer. A reply on
// its way, which nothing holds up, can still reach it.
func (th *Thread) Break() {
	old := *th
	th.Answer(LostConn)
	if old.Phase == Answered && old.Reply != LostConn && !old.Held() {
		th.Reply, th.Broken, th.Hold = old.Reply, true, old.Latest
		if old.Broken {
			th.Hold = old.Hold
		}
	}
}

// Held reports whether a message of the thread is held up.
func (th *Thread) Held() bool { return th.Hold > 0 && !th.Broken }

// Lost reports whether the thread observes that its connection broke, unless its reply survives.
func (th *Thread) Lost() bool { return th.Reply == LostConn || th.Broken }

// A Phase is how far an operation has got.
type Phase uint8

const (
	Idle      Phase = iota // no such thread, or it has ended
	Unborn                 // its program has not begun
	Asleep                 // until Due
	Asking                 // its request is on the way to the server
	Blocked                // its server waits for replicas before it answers
	Answered               // the reply is on the way back
	Unheard                // request or reply is lost: only the time-out can end it
	Listening              // waits for a message that its server has for it
	Joining                // other threads of its process are to end first
	Stranded               // its request waits for a connection to be made again
	Unsent                 // its request waits for the end of a pause that came before it was sent
)

// Waiting reports whether a thread in this phase waits for an answer or a message, and may give up.
func (p Phase) Waiting() bool {
	return p == Asking || p == Blocked || p == Answered || p == Unheard || p == Listening || p == Stranded
}
