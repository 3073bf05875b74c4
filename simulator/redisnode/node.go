package redisnode

import (
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// Limits of one server. They keep a State a plain value.
const (
	MaxKeys     = 4 // keys with a time to live
	MaxReplicas = 2
)

// A Config is the settings of one server. They have been checked.
type Config struct {
	Replicas    int           // 0 to MaxReplicas
	MinReplicas int           // min-replicas-to-write, up to Replicas
	MaxLag      time.Duration // min-replicas-max-lag; 0: Redis's default of 10 s
	AOF         AOF
	EarlyExpiry bool        // a key is gone in the millisecond of its deadline, and not after it
	EarlyEnd    bool        // an outage may end before its time, by a Resume
	Clock       clock.State // at the start
}

// AOF is what a server keeps on disk, in the words of Redis's appendfsync
// (redis.io, operate, persistence). Cached scripts are never kept.
type AOF uint8

const (
	NoAOF       AOF = iota // nothing: it comes back empty
	EverySecond            // what it had at its last fsync, which a Replicate choice makes
	Always                 // all that it has answered for
)

// copies is how many copies of its data a server has beside its own: its replicas,
// and after them its disk, if that can lag.
func (c *Config) copies() int {
	if c.AOF == EverySecond {
		return c.Replicas + 1
	}
	return c.Replicas
}

// A State is one server with its replicas and its disk, which share its clock. It is
// a comparable value; its numbers name entries of its Kind's tables.
type State struct {
	data Data
	// replicas are what its replicas have heard of. While the old master of a split
	// lives on, its data stands in the place of the replica that was promoted.
	replicas [MaxReplicas]Data
	disk     Data // what it had at its last fsync
	clock    clock.State
	behind   copySet // the replicas, and the disk, that lack something that the server has
	// lacks are, for each replica, the clients that have had a command executed since it
	// lacks something: their WAIT waits for it.
	lacks [MaxReplicas]node.Set

	cut       node.Set // the clients that are cut off with the old master; none: there is none
	oldMaster uint8    // cut: the replica in whose place that is
	outage    outage
	standing  bool // what ends at the present instant still stands: see standing.go

	refuses time.Duration // cut: when the old master begins to refuse writes, true time
	until   time.Duration // when the outage ends, true time
}

// Data is what a server holds: a keyspace, and for each key that expires, in its
// place, the last millisecond of the server's own clock in which it lives.
type Data struct {
	keyspace uint32
	// with is, for each of these keys, the first that one command has given the same deadline: they
	// end together. Others of the same deadline end in any order.
	with     [MaxKeys]uint8
	deadline [MaxKeys]int64
}

type outage uint8

const (
	serving outage = iota
	down           // crashed: every request breaks its connection
	hung           // stands still: what arrives waits in its queue
)

// copySet is a set of replicas, from 0, and after them of the disk.
type copySet uint8

var _ node.Failing = State{}

// WithoutCopies is a server without what its replicas, and its disk, hold.
func (s State) WithoutCopies() node.State {
	s.replicas, s.disk = [MaxReplicas]Data{}, Data{}
	return s
}

// Behind reports whether a replica, or the disk, lacks something.
func (s State) Behind() bool { return s.behind != 0 }

// Down reports whether the server has crashed and is not back.
func (s State) Down() bool { return s.outage == down }

// Hung reports whether the server stands still.
func (s State) Hung() bool { return s.outage == hung }

// Split reports whether the server's old master lives on.
func (s State) Split() bool { return s.cut != 0 }

// copyOf is what a replica of server n holds, or, after them, its disk.
func (k *Kind) copyOf(s *State, n, i int8) *Data {
	if int(i) < k.servers[n-1].Replicas {
		return &s.replicas[i]
	}
	return &s.disk
}

// hasReplica says whether server n has that replica, from 0.
func (k *Kind) hasReplica(s *State, n, replica int8) bool {
	return replica >= 0 && int(replica) < k.servers[n-1].Replicas && (s.cut == 0 || replica != int8(s.oldMaster))
}

// Start is a server with its clock and nothing else.
func (k *Kind) Start(n int8, _ int) node.State { return State{clock: k.servers[n-1].Clock} }

// Enabled appends what server n can do by itself.
func (k *Kind) Enabled(now time.Duration, state node.State, n int8, buf []node.Choice) []node.Choice {
	s := state.(State)
	buf = k.endings(now, &s, n, buf)
	if s.outage != serving {
		if k.servers[n-1].EarlyEnd {
			buf = append(buf, node.Choice{Verb: node.Resume, Node: n})
		}
		return buf
	}
	for i := range int8(MaxReplicas + 1) {
		if s.behind>>i&1 != 0 {
			buf = append(buf, node.Choice{Verb: node.Replicate, Node: n, Thread: i})
		}
	}
	if s.cut != 0 {
		buf = append(buf, node.Choice{Verb: node.Heal, Node: n})
	}
	return buf
}

// Step has an event happen. A server does not notice what else happens to a client.
func (k *Kind) Step(w node.World, e node.Event) (why string, err error) {
	switch e.What {
	case node.GaveUp: // a request on its way still arrives
		if w.Client(e.Client).Threads[e.Thread].Phase == node.Asking {
			w.Orphan(e.Client, e.Thread)
		}
		return "", nil
	case node.Lost: // where later messages are heard, none before has been lost
		if w.Op(e.Client, e.Thread).Kind == process.Listen {
			w.Client(e.Client).Threads[e.Thread].Answer(node.LostConn)
		}
		return "", nil
	case node.HeldUp, node.Paused, node.Resumed, node.Crashed:
		return "", nil
	}
	nodes := k.group.Open(w)
	switch e.What {
	case node.Chosen:
		why, err = k.choose(w, nodes, e.Choice)
	case node.Arrived:
		err = k.arrive(w, nodes, e.Client, e.Thread)
	case node.ArrivedOrphan:
		why, err = k.arriveOrphan(w, nodes, e.Orphan)
	case node.Passed:
		k.passed(w, nodes, e.Standing)
	case node.Settled:
		k.settle(w, nodes)
	}
	k.close(w, nodes)
	return why, err
}

// close puts the servers of a world back that have changed.
func (k *Kind) close(w node.World, nodes []State) {
	for i := range nodes {
		k.tidy(w.Now(), &nodes[i])
	}
	k.group.Close(w)
}

// choose makes a choice of Enabled or Offers happen, or the end of a WAIT.
func (k *Kind) choose(w node.World, nodes []State, c node.Choice) (why string, err error) {
	switch c.Verb {
	case node.Unblock:
		if th := &w.Client(c.Client).Threads[c.Thread]; th.Phase == node.Listening {
			return k.push(w, nodes, c.Client, c.Thread)
		} else if th.Phase != node.Blocked || th.Hold > w.Now() {
			return "refused.wait", nil
		}
		k.unblock(w, nodes, c.Client, c.Thread)
		return "", nil
	case node.Replicate:
		return k.replicate(w, nodes, c), nil
	case node.Heal:
		return k.heal(w, nodes, c), nil
	case node.Resume:
		return k.resume(w, nodes, c), nil
	case node.End:
		return k.end(w, nodes, c), nil
	}
	return "refused.thing", nil
}

// Due is the next true time at which a key expires or an outage ends.
func (k *Kind) Due(now time.Duration, state node.State) time.Duration {
	of := state.(State)
	s := &of
	next := clock.Never
	switch s.outage {
	case serving:
		next = k.expiry(now, s, &s.data)
	case hung:
		next = min(s.until, k.expiry(now, s, &s.data))
	case down:
		next = s.until
	}
	if s.standing && s.outage != serving && s.until <= now { // it ends before time passes
		next = k.expiry(now, s, &s.data)
	}
	if s.cut != 0 {
		next = min(next, k.expiry(now, s, &s.replicas[s.oldMaster]))
	}
	return next
}

// expiry is the first true time at which a key of a server's data is dead.
func (k *Kind) expiry(now time.Duration, s *State, data *Data) time.Duration {
	first := clock.Never
	for i := range k.keyspaces.At(data.keyspace).ttls {
		if s.standing && k.isDue(now, s, data, i) {
			continue
		}
		first = min(first, k.diesAt(now, s, data.deadline[i]))
	}
	return first
}

// diesAt is the first true time at which a key with the given deadline is dead.
func (k *Kind) diesAt(now time.Duration, s *State, deadline int64) time.Duration {
	if deadline >= clock.EndOfTime.Milliseconds() {
		return clock.Never
	}
	return s.clock.When(now, time.Duration(deadline+k.spare)*time.Millisecond)
}

// passed ends the outages whose time has come and removes the keys whose time is
// over. A server that is down removes nothing until it is back.
func (k *Kind) passed(w node.World, nodes []State, standing bool) {
	for i := range nodes {
		s := &nodes[i]
		s.standing = standing
		switch {
		case s.outage == serving || s.until > w.Now() || standing && s.until == w.Now():
		case s.outage == down:
			k.comeBack(w, s, int8(i+1))
		default:
			s.outage, s.until = serving, 0
		}
	}
	k.expire(w, nodes)
}

// resume ends the outage of a server before its time. What waits in the queue of one that
// hung is executed from now on.
func (k *Kind) resume(w node.World, nodes []State, c node.Choice) (why string) {
	if c.Node < 1 || int(c.Node) > len(nodes) || nodes[c.Node-1].outage == serving || !k.servers[c.Node-1].EarlyEnd {
		return "refused.outage"
	}
	s := &nodes[c.Node-1]
	if s.outage == down {
		k.comeBack(w, s, c.Node)
		k.expire(w, nodes)
		return ""
	}
	s.outage, s.until = serving, 0
	for from := int8(1); int(from) <= w.Clients(); from++ {
		threads := &w.Client(from).Threads
		for t := range threads {
			if threads[t].Phase == node.Asking && threads[t].Hold > w.Now() && w.Op(from, int8(t)).Node == c.Node {
				threads[t].Hold = 0
			}
		}
	}
	w.ReleaseOrphans(c.Node)
	return ""
}

// comeBack ends the outage of server n, which was down.
func (k *Kind) comeBack(w node.World, s *State, n int8) {
	s.outage, s.until = serving, 0
	e := w.Emit(history.Up)
	e.Node, e.Note = int(n), [...]string{NoAOF: "empty", EverySecond: "with its last fsync", Always: "with its data"}[k.servers[n-1].AOF]
}

func (k *Kind) expire(w node.World, nodes []State) {
	for i := range nodes {
		s, n := &nodes[i], int8(i+1)
		if s.outage != down && k.expireIn(w, s, &s.data, int(n)) {
			k.leaveBehind(s, n)
		}
		if s.cut != 0 {
			data, number := k.oldMaster(s, n)
			k.expireIn(w, s, data, number)
		}
	}
}

// expireIn expires keys in one server's data, and says whether there were any.
func (k *Kind) expireIn(w node.World, s *State, data *Data, number int) (any bool) {
	for now := s.clock.Read(w.Now()); ; any = true {
		place, ok := k.overdue(data, now, k.outlives(s))
		if !ok {
			return any
		}
		k.expireKey(w, data, place, number)
	}
}

// expireKey expires the key in a place of one server's data.
func (k *Kind) expireKey(w node.World, data *Data, place, number int) {
	key := k.drop(data, place)
	e := w.Emit(history.Expire)
	e.Node, e.Key, e.Before = number, key.name, key.text()
}

// leaveBehind says that no replica of server n, nor its disk, has what it has just
// become.
func (k *Kind) leaveBehind(s *State, n int8) {
	s.behind = 1<<k.servers[n-1].copies() - 1
	if s.cut != 0 {
		s.behind &^= 1 << s.oldMaster
	}
}

// reached is the outage of what a client reaches of the server.
func (s *State) reached(client int8) outage {
	if s.outage != serving && s.cut.Has(client) {
		return serving
	}
	return s.outage
}

// arrive has the request of a client's thread reach its server.
func (k *Kind) arrive(w node.World, nodes []State, c, thread int8) error {
	th, o := &w.Client(c).Threads[thread], w.Op(c, thread)
	switch s := &nodes[o.Node-1]; s.reached(c) {
	case down:
		th.Answer(node.LostConn)
		return nil
	case hung:
		th.Hold = s.until
		return nil
	}
	if k.batches.At(o.Arg).wait != nil {
		return k.arriveWait(w, nodes, c, thread)
	}
	answer, err := k.serve(w, nodes, arrival{from: c, to: o.Node, lease: o.Lease, batch: o.Arg, msg: th.Msg})
	th.Answer(answer)
	return err
}

// arriveOrphan has an orphaned request reach its server.
func (k *Kind) arriveOrphan(w node.World, nodes []State, o *node.Orphan) (why string, err error) {
	switch s := &nodes[o.Op.Node-1]; s.reached(o.From) {
	case hung:
		o.Hold = s.until
		return "refused.orphan.held", nil
	case down:
		return "", nil
	}
	batch := o.Op.Arg
	if wait := k.batches.At(batch).wait; wait != nil { // no thread waits for the number of replicas
		batch = wait.before
	}
	if batch == noBatch {
		return "", nil
	}
	_, err = k.serve(w, nodes, arrival{from: o.From, to: o.Op.Node, lease: o.Op.Lease, batch: batch, msg: o.Msg})
	return "", err
}

// arrival is a request that has reached its server.
type arrival struct {
	from, to   int8 // client, server
	lease      uint8
	batch, msg uint32
}

// serve executes a request where it was sent to.
func (k *Kind) serve(w node.World, nodes []State, m arrival) (answer uint32, err error) {
	s := &nodes[m.to-1]
	if k.gone(&s.data, m.batch) {
		return node.LostConn, nil
	}
	e := w.Emit(history.Apply)
	e.Client, e.Node, e.Lease, e.Msg = int(m.from), int(m.to), int(m.lease), int(m.msg)
	data, number, batch := &s.data, int(m.to), m.batch
	if s.cut != 0 {
		data, number = k.side(s, m.to, m.from)
		e.Node = number
		if k.tooFewReplicas(w.Now(), s, m.to, m.from) {
			batch |= refuseWrites
		}
	}
	before := *data
	eff, err := k.apply(data, s.clock.Read(w.Now()), batch)
	if err != nil {
		return 0, err
	}
	answer = k.execute(m.from, number, m.msg, m.batch, eff.reply)
	e.Cmd, e.Reply = k.batches.At(m.batch).text, k.replies.At(answer).text
	for i := range eff.changes {
		ch := &eff.changes[i]
		if ch.before == ch.after && k.sameDeadline(&before, data, ch) {
			continue // it was given the time to live that it had
		}
		k.emitChange(w, s, data, int(m.from), number, ch).Lease = int(m.lease)
	}
	if config := &k.servers[m.to-1]; data == &s.data && config.copies() > 0 {
		if len(eff.changes) > 0 {
			k.leaveBehind(s, m.to)
		}
		for i := range s.lacks[:config.Replicas] {
			if s.behind>>i&1 != 0 {
				s.lacks[i] |= node.Of(m.from)
			}
		}
	}
	return answer, nil
}

// sameDeadline says whether a key expires when it did before a change.
func (k *Kind) sameDeadline(before, after *Data, ch *change) bool {
	was := k.keyspaces.At(before.keyspace).place(ch.key)
	return was >= 0 && ch.place >= 0 && before.deadline[was] == after.deadline[ch.place]
}

// emitChange records that a key has changed, and until when it lives.
func (k *Kind) emitChange(w node.World, s *State, data *Data, client, number int, ch *change) *history.Event {
	e := w.Emit(history.Change)
	e.Client, e.Node, e.Key, e.Before, e.After = client, number, ch.key, ch.before, ch.after
	switch {
	case ch.place >= 0:
		e.Until = k.diesAt(w.Now(), s, data.deadline[ch.place])
	case ch.after != "":
		e.Until = history.Forever
	}
	return e
}

// Relative is a server as a part of a world at now.
func (k *Kind) Relative(now time.Duration, state node.State, readsClock bool) node.State {
	s := state.(State)
	k.shift(&s, -clock.Millis(s.clock.Read(now)))
	if s.cut != 0 && s.refuses != clock.Never {
		s.refuses -= now
		if s.refusing(0) {
			s.refuses = refusing
		}
	}
	if s.outage != serving && s.until != clock.Never {
		s.until -= now
	}
	if !k.memo.Waits {
		s.lacks = [MaxReplicas]node.Set{}
	}
	if !readsClock {
		s.clock = s.clock.WithinMillisecond(now)
	}
	if s == state.(State) {
		return state
	}
	return s
}

// Absolute undoes Relative.
func (k *Kind) Absolute(now time.Duration, state node.State) node.State {
	s := state.(State)
	ms := clock.Millis(s.clock.Read(now))
	if now == 0 && ms == 0 {
		return state
	}
	k.shift(&s, ms)
	if s.cut != 0 && s.refuses != clock.Never {
		s.refuses += now
	}
	if s.outage != serving && s.until != clock.Never {
		s.until += now
	}
	return s
}

// shift moves the deadlines of all data of a server by ms.
func (k *Kind) shift(s *State, ms int64) {
	k.shiftData(&s.data, ms)
	k.shiftData(&s.disk, ms)
	for i := range s.replicas {
		k.shiftData(&s.replicas[i], ms)
	}
}

func (k *Kind) shiftData(d *Data, ms int64) {
	for i := range k.keyspaces.At(d.keyspace).ttls {
		d.deadline[i] += ms
	}
}
