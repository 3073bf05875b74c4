package redisnode

import (
	"errors"
	"slices"
	"strings"
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/codec"
	"locklab/simulator/internal/table"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// A Kind is all Redis servers of a simulator. It is mostly a memo table of what
// they do: (keyspace, batch of commands) -> (keyspace, reply). An entry is computed
// by the engine, once.
//
// Times are kept out of it. A command that does not look at them is run with
// lifetimes that tell a kept one from a set one, so that one entry serves
// whatever remains; a command that does look gets an entry for each remainder
// (and clock reading) that occurs.
type Kind struct {
	// Retries is how often the clients' library sends a command again by itself, after its
	// connection broke or no answer came. To be set before the first step.
	Retries int
	// Real, if it is not nil, executes everything as well. To be set before the first step.
	Real Real

	servers []Config
	room    *table.Room
	engine  *engine

	keyspaces  []keyspace
	keyspaceID map[string]uint32
	batches    []batch
	batchID    map[batchKey]uint32
	replies    []reply
	replyID    map[string]uint32
	effects    map[effectKey]*effect
	exact      map[exactKey]*effect
	bare       map[uint32]uint32    // keyspace -> the same without scripts and connections
	less       map[[2]uint32]uint32 // keyspace, place -> the same without that key
	asked      []Asked              // see Asked
	askedID    map[askedKey]bool

	spare   int64 // milliseconds that a key lives from its deadline on
	clocked bool  // some command has read its server's clock
	listens bool  // some connection has subscribed
	waited  bool  // some client has sent WAIT

	alike uint8 // see Alike
}

// batch is what one write to a connection held: almost always one command.
type batch struct {
	commands  [][]string
	text      []string     // the commands in a row, as histories show them
	wait      *waitCommand // the last of them, if it is one
	on        connRef      // the connection it comes on, if the server keeps something of that
	subscribe bool         // it concerns a subscription: see pubsub.go
	transaction
}

type reply struct {
	resp string
	text string // as redis-cli shows it
}

// batchKey is what tells one write from another.
type batchKey struct {
	connRef
	wire string
}

type effectKey struct{ keyspace, batch uint32 }

type exactKey struct {
	effectKey
	left [MaxKeys]int64 // milliseconds that remain
	now  int64          // the server's clock, if the command reads it; otherwise 0
}

// effect is what a batch does to a keyspace.
type effect struct {
	needs   needs // if not needsNothing, this entry only says: look in exact
	to      uint32
	reply   uint32
	lives   [MaxKeys]lifetime // of the expiring keys of to
	changes []change
	alike   uint8 // so many clients, from the first, were found interchangeable; see Kind.Alike
}

// lifetime is where a deadline comes from: from place keep of the old keyspace, or,
// if keep is negative, so many milliseconds from now.
type lifetime struct {
	keep int8
	ms   int64
}

// change is a key that a batch has touched.
type change struct {
	key, before, after string
	place              int8 // in the new keyspace; -1: the key does not expire, or is gone
}

// New makes the servers of a simulator, of which servers are the settings.
func New(servers []Config, room *table.Room) (*Kind, error) {
	e, err := newEngine()
	if err != nil {
		return nil, err
	}
	k := &Kind{
		servers: slices.Clone(servers), room: room, engine: e,
		keyspaceID: map[string]uint32{}, batchID: map[batchKey]uint32{}, replyID: map[string]uint32{},
		effects: map[effectKey]*effect{}, exact: map[exactKey]*effect{},
		bare: map[uint32]uint32{}, less: map[[2]uint32]uint32{}, askedID: map[askedKey]bool{},
	}
	k.spare = 1
	for i := range k.servers {
		if k.servers[i].EarlyExpiry {
			k.spare = 0
		}
		if k.servers[i].MaxLag == 0 {
			k.servers[i].MaxLag = defaultMaxLag
		}
	}
	k.Clear()
	return k, nil
}

// Clear forgets everything and keeps the memory. States that were made before mean
// nothing afterwards.
func (k *Kind) Clear() {
	k.engine.forgetScripts()
	k.keyspaces, k.batches, k.replies = table.Emptied(k.keyspaces), table.Emptied(k.batches), table.Emptied(k.replies)
	clear(k.keyspaceID)
	clear(k.batchID)
	clear(k.replyID)
	clear(k.effects)
	clear(k.exact)
	clear(k.bare)
	clear(k.less)
	k.asked = table.Emptied(k.asked)
	clear(k.askedID)
	k.internKeyspace(newKeyspace(nil, nil)) // 0: empty
	k.internReply("")                       // 0: nothing
}

// Close ends the engine.
func (k *Kind) Close() { k.engine.close() }

// NoMemo has every command executed by an engine that is set up anew.
func (k *Kind) NoMemo() { k.engine.noMemo = true }

// Len is the number of entries.
func (k *Kind) Len() int {
	return len(k.keyspaces) + len(k.batches) + len(k.replies) + len(k.effects) + len(k.exact)
}

// ReadsClock says whether some command has read its server's clock so far.
func (k *Kind) ReadsClock() bool { return k.clocked }

// SendsWait says whether some client has sent WAIT so far, so that it matters whose
// writes a replica lacks.
func (k *Kind) SendsWait() bool { return k.waited }

// Request is what a request says, as histories show it.
func (k *Kind) Request(o *process.Op) []string { return k.batches[o.Arg].text }

// Reply is an answer as redis-cli shows it.
func (k *Kind) Reply(_ *process.Op, answer uint32) string { return k.replies[answer].text }

func (k *Kind) internKeyspace(s keyspace) uint32 {
	return table.Intern(k.room, k.keyspaceID, s.id, &k.keyspaces, s, "limit.of.contents")
}

func (k *Kind) internReply(resp string) uint32 {
	if id, ok := k.replyID[resp]; ok {
		return id
	}
	return table.Intern(k.room, k.replyID, resp, &k.replies, reply{resp: resp, text: pushText(resp)}, "limit.of.replies")
}

// internBatch numbers the bytes of one write, which come on a connection.
func (k *Kind) internBatch(on connRef, wire []byte) (uint32, error) {
	if id, ok := k.batchID[batchKey{on, string(wire)}]; ok {
		return id, nil
	}
	commands, err := ParseBatch(string(wire))
	if err != nil {
		return 0, err
	}
	var text []string
	for i, c := range commands {
		if i > 0 {
			text = append(text, ";")
		}
		text = append(append(text, strings.ToUpper(c[0])), c[1:]...)
	}
	wait, err := k.waitOf(commands)
	if err != nil {
		return 0, err
	}
	b := batch{commands: commands, text: text, wait: wait, on: on, transaction: transactionOf(commands)}
	k.markSubscribe(&b)
	if wait != nil && wait.limit > 0 {
		k.note(Asked{D: wait.limit, Wait: true, Request: text})
	}
	id, ok := k.room.Next(len(k.batches), "limit.of.requests")
	if !ok {
		return 0, k.room.Exceeded
	}
	k.batches = append(k.batches, b)
	k.batchID[batchKey{on, string(wire)}] = id
	return id, nil
}

// apply runs batch b on data d at the server's time now (of its own clock,
// since the epoch), and says what it did.
func (k *Kind) apply(d *Data, now time.Duration, b uint32) (*effect, error) {
	eff, err := k.look(d, now, b)
	if err == nil && eff.alike < k.alike && !k.engine.noMemo {
		err = k.interchange(d, now, b, eff)
	}
	if err != nil {
		return nil, err
	}
	ms := clock.Millis(now)
	to := Data{keyspace: eff.to}
	for i := range k.keyspaces[eff.to].ttls {
		if l := eff.lives[i]; l.keep >= 0 {
			to.deadline[i], to.with[i] = d.deadline[l.keep], d.with[l.keep]
		} else {
			to.deadline[i], to.with[i] = ms+l.ms, MaxKeys
		}
	}
	k.regroup(&to)
	*d = to
	return eff, nil
}

func (k *Kind) look(d *Data, now time.Duration, b uint32) (*effect, error) {
	if k.engine.noMemo {
		return k.run(d, now, b, needsClock)
	}
	key := effectKey{d.keyspace, b}
	eff := k.effects[key]
	if eff == nil {
		var err error
		if eff, err = k.run(d, now, b, needsNothing); err != nil {
			return nil, err
		}
		k.effects[key] = eff
	}
	if eff.needs == needsNothing {
		return eff, nil
	}
	return k.lookExact(d, now, b, eff.needs)
}

func (k *Kind) lookExact(d *Data, now time.Duration, b uint32, n needs) (*effect, error) {
	key := exactKey{effectKey: effectKey{d.keyspace, b}, left: k.left(d, now)}
	if n == needsClock {
		key.now = clock.Millis(now)
		k.clocked = true
	}
	if eff := k.exact[key]; eff != nil {
		return eff, nil
	}
	eff, err := k.run(d, now, b, n)
	if err == nil {
		k.exact[key] = eff
	}
	return eff, err
}

// left is how many milliseconds each expiring key has still to live.
func (k *Kind) left(d *Data, now time.Duration) (left [MaxKeys]int64) {
	for i := range k.keyspaces[d.keyspace].ttls {
		left[i] = d.deadline[i] - clock.Millis(now)
	}
	return left
}

// run asks the engine. Asked with less than the command turns out to need, it
// answers with an effect that says what is needed and nothing else.
func (k *Kind) run(d *Data, now time.Duration, b uint32, n needs) (*effect, error) {
	k.engine.refuses, b = b&refuseWrites != 0, b&^refuseWrites
	if k.batches[b].subscribe && k.batches[b].unfit == "" {
		return k.subscribe(d.keyspace, &k.batches[b]), nil
	}
	from := &k.keyspaces[d.keyspace]
	ttls := make([]time.Duration, from.ttls)
	left := k.left(d, now)
	for i := range ttls {
		ttls[i] = longTTL(i)
		if n != needsNothing {
			ttls[i] = time.Duration(left[i]) * time.Millisecond
		}
	}
	out, err := k.engine.run(from, ttls, clock.Epoch.Add(time.Duration(clock.Millis(now))*time.Millisecond), &k.batches[b])
	if err != nil {
		return nil, err
	}
	if out.needs > n {
		return &effect{needs: out.needs}, nil
	}
	if out.keys.ttls > MaxKeys {
		return nil, table.Limit("limit.keys", "most", MaxKeys)
	}
	eff := &effect{to: k.internKeyspace(out.keys), reply: k.internReply(out.reply)}
	to := &k.keyspaces[eff.to]
	from = &k.keyspaces[d.keyspace] // interning may have moved it
	place := 0
	for i := range to.keys {
		if !to.keys[i].expires {
			continue
		}
		l := lifetime{keep: -1, ms: out.ttls[place].Milliseconds()}
		// A lifetime that was kept may have come from another key (RENAME), which
		// only a command that reads lifetimes can do, so that they are true here.
		p := from.place(to.keys[i].name)
		if p >= 0 && out.ttls[place]%time.Millisecond == mark && (n == needsNothing || left[p] == l.ms) {
			l = lifetime{keep: int8(p)}
		}
		eff.lives[place] = l
		place++
	}
	eff.changes = diff(from, to, &eff.lives)
	k.noteLives(eff, left[:len(ttls)], n, k.batches[b].text)
	return eff, nil
}

// diff lists the keys that a command touched, in the order of their names.
func diff(from, to *keyspace, lives *[MaxKeys]lifetime) (changes []change) {
	i, j := 0, 0
	for i < len(from.keys) || j < len(to.keys) {
		switch {
		case j == len(to.keys) || i < len(from.keys) && from.keys[i].name < to.keys[j].name:
			changes = append(changes, change{key: from.keys[i].name, before: from.keys[i].text(), place: -1})
			i++
		case i == len(from.keys) || to.keys[j].name < from.keys[i].name:
			k := &to.keys[j]
			changes = append(changes, change{key: k.name, after: k.text(), place: int8(to.place(k.name))})
			j++
		default:
			a, b := &from.keys[i], &to.keys[j]
			p := to.place(b.name)
			if !a.same(b) || p >= 0 && lives[p].keep < 0 {
				changes = append(changes, change{key: b.name, before: a.text(), after: b.text(), place: int8(p)})
			}
			i, j = i+1, j+1
		}
	}
	return changes
}

// overdue finds the expiring key of d that has been dead longest at the
// server's time now, and its place. A key lives through the millisecond of its
// deadline, as in Redis, if spare is 1; 0: until that begins.
func (k *Kind) overdue(d *Data, now time.Duration, spare int64) (place int, ok bool) {
	ms := clock.Millis(now)
	for i := range k.keyspaces[d.keyspace].ttls {
		if ms >= d.deadline[i]+spare && (!ok || d.deadline[i] < d.deadline[place]) {
			place, ok = i, true
		}
	}
	return place, ok
}

// drop removes the key in the given place, as expiry does.
func (k *Kind) drop(d *Data, place int) *keyValue {
	from := &k.keyspaces[d.keyspace]
	key := from.expiring(place)
	id := [2]uint32{d.keyspace, uint32(place)}
	to, ok := k.less[id]
	if !ok {
		to = k.internKeyspace(from.without(key.name))
		k.less[id] = to
	}
	copy(d.deadline[place:], d.deadline[place+1:])
	copy(d.with[place:], d.with[place+1:])
	d.deadline[MaxKeys-1], d.with[MaxKeys-1] = 0, 0
	d.keyspace = to
	k.regroup(d)
	return key
}

// scriptless is what another server takes over of keyspace id; see keyspace.scriptless.
func (k *Kind) scriptless(id uint32) uint32 {
	to, ok := k.bare[id]
	if !ok {
		to = k.internKeyspace(k.keyspaces[id].scriptless())
		k.bare[id] = to
	}
	return to
}

// Sizes says how far the tables have come: keyspaces, replies, batches; 1 if some command
// has read its server's clock; and what was asked for.
func (k *Kind) Sizes() (m node.Sizes) {
	m[0], m[1], m[2] = len(k.keyspaces), len(k.replies), len(k.batches)
	if k.clocked {
		m[3] = 1
	}
	m[4] = len(k.asked)
	return m
}

// Save writes what the tables held at m and not yet at from. What commands do is computed
// again: it comes to entries that the tables have.
func (k *Kind) Save(w *codec.Writer, from, m node.Sizes) {
	w.Put(from, m)
	w.Put(k.asked[from[4]:m[4]])
	for _, s := range k.keyspaces[from[0]:m[0]] {
		w.Put(s.keys, s.scripts, s.watches, s.subscribers)
	}
	for i := from[1]; i < m[1]; i++ {
		w.Put(k.replies[i].resp)
	}
	for i := from[2]; i < m[2]; i++ {
		w.Put(k.batches[i].on, k.batches[i].commands)
	}
}

// Load reads what Save wrote.
func (k *Kind) Load(r *codec.Reader) error {
	var from, m node.Sizes
	r.Get(&from, &m)
	k.clocked = m[3] != 0
	var asked []Asked
	r.Get(&asked)
	for _, a := range asked {
		k.note(a)
	}
	for i := from[0]; i < m[0] && r.Err() == nil; i++ {
		var s keyspace
		r.Get(&s.keys, &s.scripts, &s.watches, &s.subscribers)
		k.internKeyspace(newKeyspace(s.keys, s.scripts, s.watches...).withSubscribers(s.subscribers))
	}
	for i := from[1]; i < m[1] && r.Err() == nil; i++ {
		var resp string
		r.Get(&resp)
		k.internReply(resp)
	}
	for i := from[2]; i < m[2] && r.Err() == nil; i++ {
		var on connRef
		var commands [][]string
		r.Get(&on, &commands)
		if _, err := k.internBatch(on, writeBatch(commands)); err != nil {
			return err
		}
	}
	if r.Err() == nil && (len(k.keyspaces) != m[0] || len(k.replies) != m[1] || len(k.batches) != m[2]) {
		return errors.New("simulator: saved tables hold something twice")
	}
	return r.Err()
}

// HasState says whether a state that was read from a file names keyspaces, replicas and
// an outage that there are.
func (k *Kind) HasState(s *State) bool {
	has := func(d *Data) bool { return int(d.keyspace) < len(k.keyspaces) }
	for i := range s.replicas {
		if !has(&s.replicas[i]) {
			return false
		}
	}
	return has(&s.data) && has(&s.disk) && s.outage <= hung && s.oldMaster < MaxReplicas && s.behind < 1<<(MaxReplicas+1)
}

// HasRequest says whether a request that was read from a file names a server and a batch
// that there are.
func (k *Kind) HasRequest(o *process.Op) bool {
	return o.Node >= 1 && int(o.Node) <= len(k.servers) && int(o.Arg) < len(k.batches)
}

// HasAnswer says whether there is such a reply.
func (k *Kind) HasAnswer(answer uint32) bool { return int(answer) < len(k.replies) }
