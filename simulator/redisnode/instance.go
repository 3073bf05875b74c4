package redisnode

import (
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// A moment is a server at an instant of true time.
type moment struct {
	*State
	x   *Executor
	now time.Duration
}

// reading returns what the server's clock shows.
func (m moment) reading() time.Duration { return m.clock.Read(m.now) }

// due returns the next true time at which a key expires or an outage ends.
func (m moment) due() time.Duration {
	next := clock.Never
	if m.outage != down || m.pending && m.until <= m.now { // what is pending ends before time passes
		next = m.expiry(&m.data)
	}
	if m.outage != serving && !(m.pending && m.until <= m.now) {
		next = min(next, m.until)
	}
	if m.cut != 0 {
		next = min(next, m.expiry(&m.replicas[m.oldMaster]))
	}
	return next
}

// expiry returns the first true time at which a key of a server's data is dead.
func (m moment) expiry(d *Data) time.Duration {
	first := clock.Never
	for i := range m.x.keys(d).ttls {
		if !m.pending || !m.endsNow(d, i) {
			first = min(first, m.diesAt(d.deadline[i]))
		}
	}
	return first
}

// diesAt returns the first true time at which a key with the given deadline is dead.
func (m moment) diesAt(deadline int64) time.Duration {
	if deadline >= clock.EndOfTime.Milliseconds() {
		return clock.Never
	}
	return m.clock.When(m.now, time.Duration(deadline+m.x.spare)*time.Millisecond)
}

// shift moves all times by the present one, forward or, if sign is -1, back.
func (m moment) shift(sign int64) {
	ms := sign * clock.Millis(m.reading())
	m.x.shift(&m.data, ms)
	m.x.shift(&m.disk, ms)
	for i := range m.replicas {
		m.x.shift(&m.replicas[i], ms)
	}
	if m.cut != 0 && m.refuses != clock.Never {
		m.refuses += time.Duration(sign) * m.now
	}
	if m.outage != serving && m.until != clock.Never {
		m.until += time.Duration(sign) * m.now
	}
}

// An instance is a server of a world while something happens to it.
type instance struct {
	moment
	config Config
	kind   *Kind
	w      node.World
	n      int8
}

// emit records an event at the server.
func (s *instance) emit(kind history.EventKind) *history.Event {
	e := s.w.Emit(kind)
	e.Node = int(s.n)
	return e
}

// comeBack ends the outage.
func (s *instance) comeBack() {
	if s.outage == down {
		text := [...]string{NoAOF: "empty", EverySecond: "with its last fsync", Always: "with its data"}
		s.emit(history.Up).Note = text[s.config.AOF]
	}
	s.outage, s.until = serving, 0
}

// resume ends the outage before its time. What waits in the queue of a server that
// hung is executed from now on.
func (s *instance) resume() (why string) {
	if s.outage == serving || !s.config.EarlyEnd {
		return "refused.outage"
	}
	hung := s.outage == hung
	s.comeBack()
	s.expire()
	if !hung {
		return ""
	}
	for r := range s.requests {
		if r.th.Phase == node.Asking && r.th.Hold > s.now {
			r.th.Hold = 0
		}
	}
	s.w.ReleaseOrphans(s.n)
	return ""
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

// An arrival is a request that has reached its server.
type arrival struct {
	from       int8
	lease      uint8
	batch, msg uint32
}

// serve executes a request on the side that its client reaches.
func (s *instance) serve(a arrival) (answer uint32, err error) {
	if s.x.gone(&s.data, a.batch) {
		return node.LostConn, nil
	}
	to, batch := s.side(a.from), a.batch
	if s.tooFewReplicas(a.from) {
		batch |= refuseWrites
	}
	e := s.w.Emit(history.Apply)
	e.Client, e.Node, e.Lease, e.Msg = int(a.from), to.number, int(a.lease), int(a.msg)
	before := *to.data
	eff, err := s.x.apply(to.data, s.reading(), batch)
	if err != nil {
		return 0, err
	}
	answer = s.kind.execute(a.from, to.number, a.msg, a.batch, eff.Reply)
	e.Cmd, e.Reply = s.x.batches.At(a.batch).text, s.x.replies.At(answer).text
	for i := range eff.Changes {
		ch := &eff.Changes[i]
		if ch.Before == ch.After && ch.Was >= 0 && ch.Is >= 0 && before.deadline[ch.Was] == to.data.deadline[ch.Is] {
			continue // it was given the time to live that it had
		}
		to.emitChange(int(a.from), ch).Lease = int(a.lease)
	}
	if to.data == &s.data && s.config.copies() > 0 {
		if len(eff.Changes)+len(eff.stood) > 0 {
			s.leaveBehind()
		}
		for i := range s.lacks[:s.config.Replicas] {
			if s.behind>>i&1 != 0 {
				s.lacks[i] |= history.Only(uint8(a.from))
			}
		}
	}
	return answer, nil
}

// arriveOrphan has a request arrive for whose answer no thread waits.
func (s *instance) arriveOrphan(o *node.Orphan) (why string, err error) {
	switch reachedBy(o.From, s.State) {
	case hung:
		o.Hold = s.until
		return "refused.orphan.held", nil
	case down:
		return "", nil
	}
	batch := o.Op.Arg
	if wait := s.x.batches.At(batch).wait; wait != nil { // no thread waits for the number of replicas
		batch = wait.before
	}
	if batch != noBatch {
		_, err = s.serve(arrival{o.From, o.Op.Lease, batch, o.Msg})
	}
	return "", err
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
func (s *instance) old() side {
	return side{s, &s.replicas[s.oldMaster], len(s.kind.servers) + int(s.n)}
}

// expire removes the keys whose time is over, and reports whether there were any.
func (d side) expire() (any bool) {
	for ; ; any = true {
		place, ok := d.of.x.overdue(d.data, d.of.reading(), d.of.spare())
		if !ok {
			return any
		}
		d.expireKey(place)
	}
}

// expireKey removes the key in a place.
func (d side) expireKey(place int) {
	key := d.of.x.drop(d.data, place)
	e := d.of.w.Emit(history.Expire)
	e.Node, e.Key, e.Before = d.number, key.name, key.text()
}

// emitChange records that a client has changed a key, and until when the key lives.
func (d side) emitChange(client int, ch *Change) *history.Event {
	e := d.of.w.Emit(history.Change)
	e.Client, e.Node, e.Key, e.Before, e.After = client, d.number, ch.Key, ch.Before, ch.After
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
	th        *node.Thread
	op        process.Op
}

// request returns what a client's thread waits for.
func (k *Kind) request(w node.World, c, thread int8) request {
	o := *w.Op(c, thread)
	return request{&k.servers[o.Node-1], c, thread, &w.Client(c).Threads[thread], o}
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

// arrival returns the arrival of a batch of the request.
func (r request) arrival(batch uint32) arrival { return arrival{r.c, r.op.Lease, batch, r.th.Msg} }

// arrive has the request reach its server.
func (r request) arrive() error {
	switch reachedBy(r.c, r.at.State) {
	case down:
		r.th.Answer(node.LostConn)
		return nil
	case hung:
		r.th.Hold = r.at.until
		return nil
	}
	if wait := r.batch().wait; wait != nil {
		return r.await(wait)
	}
	answer, err := r.at.serve(r.arrival(r.op.Arg))
	r.th.Answer(answer)
	return err
}
