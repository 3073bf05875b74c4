package redisnode

import (
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// An instance is a server at an instant of true time, in a world while something happens to it.
type instance struct {
	*State
	now    time.Duration
	config *Config
	kind   *Kind
	x      *Executor
	w      node.World
	n      int8
}

// alone returns server n at an instant, with no world around it.
func (k *Kind) alone(now time.Duration, s *State, n int8) *instance {
	return &instance{State: s, now: now, kind: k, x: k.Executor, n: n}
}

// reading returns what the server's clock shows.
func (s *instance) reading() time.Duration { return s.clock.Read(s.now) }

// due returns the next true time at which a key expires or an outage ends.
func (s *instance) due() time.Duration {
	next := clock.Never
	if s.outage != down || s.pending && s.until <= s.now { // what is pending ends before time passes
		next = s.expiry(&s.data)
	}
	if s.outage != serving && !(s.pending && s.until <= s.now) {
		next = min(next, s.until)
	}
	if s.cut != 0 {
		next = min(next, s.expiry(&s.copies[s.oldMaster]))
	}
	return next
}

// expiry returns the first true time at which a key of a server's data is dead.
func (s *instance) expiry(d *Data) time.Duration {
	first := clock.Never
	for i := range s.x.keys(d).ttls {
		if !s.pending || !s.endsNow(d, i) {
			first = min(first, s.diesAt(d.deadline[i]))
		}
	}
	return first
}

// diesAt returns the first true time at which a key with the given deadline is dead.
func (s *instance) diesAt(deadline int64) time.Duration {
	if deadline >= clock.EndOfTime.Milliseconds() {
		return clock.Never
	}
	return s.clock.When(s.now, time.Duration(deadline+s.x.spare)*time.Millisecond)
}

// shift moves all times by the present one, forward or, if sign is -1, back.
func (s *instance) shift(sign int64) {
	ms := sign * clock.Millis(s.reading())
	for d := range s.all {
		s.x.shift(d, ms)
	}
	if s.cut != 0 && s.refuses != clock.Never {
		s.refuses += time.Duration(sign) * s.now
	}
	if s.outage != serving && s.until != clock.Never {
		s.until += time.Duration(sign) * s.now
	}
}

// emit records an event at the server.
func (s *instance) emit(kind history.EventKind) *history.Event { return s.own().emit(kind, 0) }

// comeBack ends the outage.
func (s *instance) comeBack() {
	if s.outage == down {
		text := [...]string{NoAOF: "empty", EverySecond: "with its last fsync", Always: "with its data"}
		s.emit(history.Up).Note = text[s.config.AOF]
	}
	s.outage, s.until = serving, 0
}

// resume ends the outage before its time. What waits in the queue of a server that hung is executed from now on.
func (s *instance) resume() error {
	if s.outage == serving || !s.config.EarlyEnd {
		return node.Refuse("refused.outage")
	}
	hung := s.outage == hung
	s.comeBack()
	s.expire()
	if !hung {
		return nil
	}
	for r := range s.requests {
		if r.th.Phase == node.Asking {
			r.th.Hold = 0
		}
	}
	s.w.ReleaseOrphans(s.n)
	return nil
}

// expire removes the keys whose time is over.
func (s *instance) expire() {
	if s.outage != down && s.own().expire() {
		s.leaveBehind()
	}
	if s.cut != 0 {
		s.old().expire()
	}
}

// leaveBehind marks that no replica, nor the disk, has what the server has just become.
func (s *instance) leaveBehind() {
	s.behind = 1<<s.config.copies() - 1
	if s.cut != 0 {
		s.behind &^= 1 << s.oldMaster
	}
}

// serve executes a batch of the request on the side that its client reaches.
func (r request) serve(batch uint32) (answer uint32, err error) {
	s, to, refuses := r.at, r.at.side(r.c), uint32(0)
	if s.x.gone(&s.data, batch) {
		return node.LostConn, nil
	}
	if s.tooFewReplicas(r.c) {
		refuses = refuseWrites
	}
	e := to.emit(history.Apply, r.c)
	e.Lease, e.Msg = int(r.op.Lease), int(r.msg)
	before := *to.data
	eff, answer, err := to.execute(r.c, r.msg, batch|refuses)
	if err != nil {
		return 0, err
	}
	e.Cmd, e.Reply = s.x.batches.At(batch).text, s.x.replies.At(answer).text
	for i := range eff.Changes {
		ch := &eff.Changes[i]
		if ch.Before == ch.After && ch.Was >= 0 && ch.Is >= 0 && before.deadline[ch.Was] == to.data.deadline[ch.Is] {
			continue // it was given the time to live that it had
		}
		to.emitChange(r.c, ch).Lease = int(r.op.Lease)
	}
	if to.data == &s.data && s.config.copies() > 0 {
		if len(eff.Changes)+len(eff.stood) > 0 {
			s.leaveBehind()
		}
		for i := range s.lacks[:s.config.Replicas] {
			if s.behind>>i&1 != 0 {
				s.lacks[i] |= history.Only(uint8(r.c))
			}
		}
	}
	return answer, nil
}

// arriveOrphan has a request arrive for whose answer no thread waits.
func (s *instance) arriveOrphan(o *node.Orphan) error {
	switch reachedBy(o.From, s.State) {
	case hung:
		o.Hold = clock.Left(s.until, s.now)
		return node.Refuse("refused.orphan.held")
	case down:
		return nil
	}
	batch := o.Op.Arg
	if wait := s.x.batches.At(batch).wait; wait != nil { // no thread waits for the number of replicas
		batch = wait.before
	}
	if batch == noBatch {
		return nil
	}
	_, err := request{at: s, c: o.From, op: o.Op, msg: o.Msg}.serve(batch)
	return err
}

// A side is data that clients reach at a server: its own, or that of its old master.
type side struct {
	of     *instance
	data   *Data
	number int // by which histories call it
}

// side returns the side that a client reaches.
func (s *instance) side(client int8) side {
	if s.cut.Has(uint8(client)) {
		return s.old()
	}
	return s.own()
}

// own returns the server's own side.
func (s *instance) own() side { return side{s, &s.data, int(s.n)} }

// old returns the side of the old master of a server that is split. Its number in histories is as far
// behind that of the server as there are servers.
func (s *instance) old() side { return side{s, &s.copies[s.oldMaster], len(s.kind.servers) + int(s.n)} }

// expire removes the keys whose time is over, and reports whether there were any.
func (d side) expire() (any bool) {
	spare := d.of.x.spare
	if d.of.pending {
		spare = 1
	}
	for ; ; any = true {
		place, ok := d.of.x.overdue(d.data, d.of.reading(), spare)
		if !ok {
			return any
		}
		d.expireKey(place)
	}
}

// expireKey removes the key in a place.
func (d side) expireKey(place int) {
	key := d.of.x.drop(d.data, place)
	e := d.emit(history.Expire, 0)
	e.Key, e.Before = key.name, key.text()
}

// emit records an event on the side, which a client has brought about; 0: none has.
func (d side) emit(kind history.EventKind, client int8) *history.Event {
	e := d.of.w.Emit(kind)
	e.Client, e.Node = int(client), d.number
	return e
}

// emitChange records that a client has changed a key, and until when the key lives.
func (d side) emitChange(client int8, ch *Change) *history.Event {
	e := d.emit(history.Change, client)
	e.Key, e.Before, e.After = ch.Key, ch.Before, ch.After
	switch {
	case ch.Is >= 0:
		e.Until = d.of.diesAt(d.data.deadline[ch.Is])
	case ch.After != "":
		e.Until = history.Forever
	}
	return e
}

// A request is what a client's thread waits for: an answer, or a message.
type request struct {
	at        *instance
	c, thread int8
	th        *node.Thread // nil: it is orphaned
	op        process.Op
	msg       uint32 // its number in the history
}

// request returns what a client's thread waits for.
func (k *Kind) request(w node.World, c, thread int8) request {
	o, th := *w.Op(c, thread), &w.Client(c).Threads[thread]
	return request{&k.servers[o.Node-1], c, thread, th, o, th.Msg}
}

// requests yields what threads wait for at the server.
func (s *instance) requests(yield func(r request) bool) {
	for c := int8(1); int(c) <= s.w.Clients(); c++ {
		for t, th := range s.w.Client(c).Each {
			if th.Phase.Waiting() && s.w.Op(c, t).Node == s.n && !yield(s.kind.request(s.w, c, t)) {
				return
			}
		}
	}
}

func (r request) batch() *batch { return r.at.x.batches.At(r.op.Arg) }

// arrive has the request reach its server.
func (r request) arrive() error {
	switch reachedBy(r.c, r.at.State) {
	case down:
		r.th.Answer(node.LostConn)
		return nil
	case hung:
		r.th.Hold = clock.Left(r.at.until, r.at.now)
		return nil
	}
	if wait := r.batch().wait; wait != nil {
		return r.await(wait)
	}
	answer, err := r.serve(r.op.Arg)
	r.th.Answer(answer)
	return err
}
