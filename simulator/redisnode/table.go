package redisnode

import (
	"slices"
	"strings"
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/codec"
	"locklab/simulator/internal/table"
	"locklab/simulator/memo"
	"locklab/simulator/node"
)

var (
	_ node.Kind       = (*Kind)(nil)
	_ node.Fallible   = (*Kind)(nil)
	_ node.Dialer     = (*Kind)(nil)
	_ node.Holding    = (*Kind)(nil)
	_ node.Timekeeper = (*Kind)(nil)
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
	memo    *memo.Memo
	engine  *engine

	keyspaces *memo.Table[string, keyspace]
	batches   *memo.Table[batchKey, batch]
	replies   *memo.Table[string, reply]
	asked     *memo.Table[askedKey, node.Length]
	effects   memo.Map[effectKey, *effect]
	exact     memo.Map[exactKey, *effect]
	bare      memo.Map[uint32, uint32]    // keyspace -> the same without scripts and connections
	less      memo.Map[[2]uint32, uint32] // keyspace, place -> the same without that key
	orbit     memo.Orbit[execution]

	spare   int64 // milliseconds that a key lives from its deadline on
	listens bool  // some connection has subscribed
	group   node.Group[State]
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
func New(servers []Config, m *memo.Memo) (*Kind, error) {
	e, err := newEngine()
	if err != nil {
		return nil, err
	}
	k := &Kind{
		servers: slices.Clone(servers), memo: m, engine: e, spare: 1,
		effects: memo.NewMap[effectKey, *effect](m), exact: memo.NewMap[exactKey, *effect](m),
		bare: memo.NewMap[uint32, uint32](m), less: memo.NewMap[[2]uint32, uint32](m),
	}
	for i := range k.servers {
		if k.servers[i].EarlyExpiry {
			k.spare = 0
		}
		if k.servers[i].MaxLag == 0 {
			k.servers[i].MaxLag = defaultMaxLag
		}
	}
	k.asked = memo.NewTable(m, memo.Entries[askedKey, node.Length]{What: "limit.of.requests", Key: keyOf, Fill: k.noted})
	k.keyspaces = memo.NewTable(m, memo.Entries[string, keyspace]{What: "limit.of.contents", Key: keyspace.key, Rename: keyspace.renamed, Save: keyspace.save, Load: loadKeyspace, First: []keyspace{newKeyspace(nil, nil)}})
	k.replies = memo.NewTable(m, memo.Entries[string, reply]{What: "limit.of.replies", Key: reply.key, Fill: reply.worded, Text: reply.words, Rename: reply.renamed, Names: reply.named, First: []reply{{}}})
	k.batches = memo.NewTable(m, memo.Entries[batchKey, batch]{What: "limit.of.requests", Key: batch.key, Fill: k.completed, Text: batch.words, Rename: batch.renamed, Same: batch.same, Save: batch.save, Load: loadBatch})
	k.orbit = memo.Orbit[execution]{Checked: func(x execution) *uint8 { return &x.eff.alike }, Renamed: k.renamedExecution, Commutes: k.commute, Text: k.executed}
	m.OnClear = func() {
		e.forgetScripts()
		if m.ReadsClock {
			k.asked.ID(readsClock)
		}
	}
	return k, nil
}

// Close ends the engine.
func (k *Kind) Close() { k.engine.close() }

// Words is what clients and servers exchange. Nothing else is to be remembered.
func (k *Kind) Words() node.Words { return node.Words{Requests: k.batches, Answers: k.replies} }

func (r reply) key() string { return r.resp }

func (r reply) worded() reply {
	r.text = pushText(r.resp)
	return r
}

func (r reply) words() []string { return []string{r.text} }

func (k *Kind) internReply(resp string) uint32 { return k.replies.ID(reply{resp: resp}) }

func (b batch) key() batchKey { return batchKey{b.on, string(writeBatch(b.commands))} }

func (b batch) words() []string { return b.text }

func (b batch) save(w *codec.Writer) { w.Put(b.on, b.commands) }

func loadBatch(r *codec.Reader) (b batch, err error) {
	r.Get(&b.on, &b.commands)
	if r.Err() == nil {
		b.commands, err = ParseBatch(string(writeBatch(b.commands)))
	}
	return b, err
}

// internBatch numbers the bytes of one write, which come on a connection.
func (k *Kind) internBatch(on connRef, wire []byte) (uint32, error) {
	if id, ok := k.batches.Find(batchKey{on, string(wire)}); ok {
		return id, nil
	}
	commands, err := ParseBatch(string(wire))
	if err != nil {
		return 0, err
	}
	id := k.batches.ID(batch{commands: commands, on: on})
	return id, k.memo.Room.Exceeded
}

// completed is a batch with all that follows from its commands.
func (k *Kind) completed(b batch) batch {
	for i, c := range b.commands {
		if i > 0 {
			b.text = append(b.text, ";")
		}
		b.text = append(append(b.text, strings.ToUpper(c[0])), c[1:]...)
	}
	b.wait = k.waitOf(b.commands)
	b.transaction = transactionOf(b.commands)
	text := b.text
	k.markSubscribe(&b)
	if b.wait != nil && b.wait.limit > 0 {
		k.asked.ID(node.Length{Of: node.WaitLimit, D: b.wait.limit, Request: text})
	}
	return b
}

// apply runs batch b on data d at the server's time now (of its own clock,
// since the epoch), and says what it did.
func (k *Kind) apply(d *Data, now time.Duration, b uint32) (*effect, error) {
	eff, err := k.look(d, now, b)
	if err == nil && eff.alike < k.memo.Alike && !k.memo.Plain {
		err = memo.Check(k.memo, execution{*d, now, b, eff}, &k.orbit)
	}
	if err != nil {
		return nil, err
	}
	ms := clock.Millis(now)
	to := Data{keyspace: eff.to}
	for i := range k.keyspaces.At(eff.to).ttls {
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
	if k.memo.Plain {
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
		if !k.memo.ReadsClock {
			k.asked.ID(readsClock)
		}
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
	for i := range k.keyspaces.At(d.keyspace).ttls {
		left[i] = d.deadline[i] - clock.Millis(now)
	}
	return left
}

// run asks the engine. Asked with less than the command turns out to need, it
// answers with an effect that says what is needed and nothing else.
func (k *Kind) run(d *Data, now time.Duration, b uint32, n needs) (*effect, error) {
	k.engine.noMemo = k.memo.Plain
	k.engine.refuses, b = b&refuseWrites != 0, b&^refuseWrites
	if k.batches.At(b).subscribe && k.batches.At(b).unfit == "" {
		return k.subscribe(d.keyspace, k.batches.At(b)), nil
	}
	from := k.keyspaces.At(d.keyspace)
	ttls := make([]time.Duration, from.ttls)
	left := k.left(d, now)
	for i := range ttls {
		ttls[i] = longTTL(i)
		if n != needsNothing {
			ttls[i] = time.Duration(left[i]) * time.Millisecond
		}
	}
	out, err := k.engine.run(from, ttls, clock.Epoch.Add(time.Duration(clock.Millis(now))*time.Millisecond), k.batches.At(b))
	if err != nil {
		return nil, err
	}
	if out.needs > n {
		return &effect{needs: out.needs}, nil
	}
	if out.keys.ttls > MaxKeys {
		return nil, table.Limit("limit.keys", "most", MaxKeys)
	}
	eff := &effect{to: k.keyspaces.ID(out.keys), reply: k.internReply(out.reply)}
	to := k.keyspaces.At(eff.to)
	from = k.keyspaces.At(d.keyspace) // interning may have moved it
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
	k.noteLives(eff, left[:len(ttls)], n, k.batches.At(b).text)
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
	for i := range k.keyspaces.At(d.keyspace).ttls {
		if ms >= d.deadline[i]+spare && (!ok || d.deadline[i] < d.deadline[place]) {
			place, ok = i, true
		}
	}
	return place, ok
}

// drop removes the key in the given place, as expiry does.
func (k *Kind) drop(d *Data, place int) *keyValue {
	from := k.keyspaces.At(d.keyspace)
	key := from.expiring(place)
	id := [2]uint32{d.keyspace, uint32(place)}
	to, ok := k.less[id]
	if !ok {
		to = k.keyspaces.ID(from.without(key.name))
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
		to = k.keyspaces.ID(k.keyspaces.At(id).scriptless())
		k.bare[id] = to
	}
	return to
}

// Has reports whether a state names keyspaces, replicas and an outage that there are.
func (k *Kind) Has(state node.State) bool {
	s := state.(State)
	has := func(d *Data) bool { return k.keyspaces.Has(d.keyspace) }
	for i := range s.replicas {
		if !has(&s.replicas[i]) {
			return false
		}
	}
	return has(&s.data) && has(&s.disk) && s.outage <= hung && s.oldMaster < MaxReplicas && s.behind < 1<<(MaxReplicas+1)
}
