package redisnode

import (
	"strings"
	"time"

	"locklab/simulator/intern"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/codec"
	"locklab/simulator/memo"
	"locklab/simulator/node"
	"locklab/simulator/resp"
	"locklab/simulator/translate"
)

// An Executor executes batches of commands on data: it is mostly a memo of what the engine does,
// (keyspace, batch) -> (keyspace, reply). An entry is computed by the engine, once.
//
// Times are not in it. A command that ignores them is run with lifetimes that tell a kept one from a set one, so one
// entry serves whatever remains; one that looks gets an entry for each remainder (and clock reading) that occurs.
type Executor struct {
	memo   *memo.Memo
	engine *engine

	keyspaces *memo.Table[string, keyspace]
	batches   *memo.Table[batchKey, batch]
	replies   *memo.Table[string, reply]
	asked     *memo.Table[[2]int64, node.Length] // by what it is of, and how long
	effects   intern.Map[effectKey, *Effect]
	exact     intern.Map[exactKey, *Effect]
	// less is keyspace, place -> the same without that key; noPlace: without scripts and connections.
	less   intern.Map[[2]uint32, uint32]
	checks memo.Effects[execution]

	insights map[string]insight // by script
	far      far                // which counter has counted beyond memo.Most, which is tried: see stand
	spare    int64              // milliseconds that a key lives from its deadline on
	listens  bool               // some connection has subscribed
}

// A batch is the commands of one write to a connection: almost always one.
type batch struct {
	commands    [][]string
	on          connRef      // the connection it comes on, if the server keeps something of that
	text        []string     `codec:"derived"` // the commands in a row, as histories show them
	wait        *waitCommand `codec:"derived"` // the last of them, if it is one
	subscribe   bool         `codec:"derived"` // it concerns a subscription: see pubsub.go
	transaction `codec:"derived"`
}

type batchKey struct {
	connRef
	wire string
}

type reply struct {
	resp string
	text string `codec:"derived"` // as redis-cli shows it
}

type effectKey struct{ keyspace, batch uint32 }

type exactKey struct {
	effectKey
	left [MaxKeys]int64 // milliseconds that remain
	now  int64          // the server's clock, if the command reads it; otherwise 0
}

func newExecutor(m *memo.Memo, spare int64) (*Executor, error) {
	e, err := newEngine()
	if err != nil {
		return nil, err
	}
	x := &Executor{
		memo: m, engine: e, spare: spare, insights: map[string]insight{},
		effects: memo.NewMap[effectKey, *Effect](m), exact: memo.NewMap[exactKey, *Effect](m),
		less: memo.NewMap[[2]uint32, uint32](m),
	}
	const requests, replies = "limit.of.requests", "limit.of.replies"
	x.asked = memo.NewTable(m, memo.Entries[[2]int64, node.Length]{What: requests, Fill: x.noted,
		Key: func(l node.Length) [2]int64 { return [2]int64{int64(l.Of), int64(l.D)} }})
	x.keyspaces = memo.NewTable(m, memo.Entries[string, keyspace]{What: "limit.of.contents", Key: codec.Key[keyspace],
		Fill: keyspace.counted, Map: keyspace.mapped, Sort: keyspace.sortedWithin, First: []keyspace{{}}})
	x.replies = memo.NewTable(m, memo.Entries[string, reply]{What: replies, First: []reply{{}}, Map: reply.mapped,
		Key:  func(r reply) string { return r.resp },
		Fill: func(r reply) reply { return reply{r.resp, ReplyText(r.resp)} },
		Text: func(r reply) []string { return []string{r.text} }})
	x.batches = memo.NewTable(m, memo.Entries[batchKey, batch]{What: requests, Fill: x.completed, Map: batch.mapped,
		Key:  func(b batch) batchKey { return batchKey{b.on, string(writeBatch(b.commands))} },
		Text: func(b batch) []string { return b.text }})
	m.Counted = memo.NewTable(m, memo.Entries[[2]uint32, [2]uint32]{What: replies,
		Key: func(of [2]uint32) [2]uint32 { return of }})
	x.checks = x.executions()
	m.OnClear = func() {
		e.forgetScripts()
		if m.ReadsClock {
			x.asked.ID(readsClock)
		}
	}
	return x, nil
}

// mapped is a reply in a translation, with its texts' lengths. Other names, and stamps at other times, have the same.
func (r reply) mapped(t *translate.Translation) reply {
	if t.Names != nil || t.Moves() {
		return translate.Value(r, t)
	}
	return reply{resp: resp.Replace(r.resp, t.Text)}
}

func (x *Executor) internReply(resp string) uint32 { return x.replies.ID(reply{resp: resp}) }

// internBatch numbers the bytes of one write, which come on a connection.
func (x *Executor) internBatch(on connRef, wire []byte) (uint32, error) {
	if id, ok := x.batches.Find(batchKey{on, string(wire)}); ok {
		return id, nil
	}
	commands, err := ParseBatch(string(wire))
	if err != nil {
		return 0, err
	}
	id := x.batches.ID(batch{commands: commands, on: on})
	return id, x.memo.Room.Exceeded
}

// completed fills in what follows from the commands of a batch.
func (x *Executor) completed(b batch) batch {
	for i, c := range b.commands {
		if i > 0 {
			b.text = append(b.text, ";")
		}
		b.text = append(append(b.text, strings.ToUpper(c[0])), c[1:]...)
	}
	b.wait = x.waitOf(b.commands)
	b.transaction = transactionOf(b.commands)
	if b.wait != nil && b.wait.limit > 0 {
		x.asked.ID(node.Length{Of: node.WaitLimit, D: b.wait.limit, Request: b.text})
	}
	x.markSubscribe(&b)
	return b
}

// keys returns the keyspace of data, good until another one is numbered.
func (x *Executor) keys(d *Data) *keyspace { return x.keyspaces.At(d.keyspace) }

// apply runs batch b on data d at the server's time now (of its own clock, since the epoch), and returns its effect.
func (x *Executor) apply(d *Data, now time.Duration, b uint32) (*Effect, error) {
	eff, err := x.look(d, now, b)
	if err == nil {
		err = x.checks.Check(x.memo, execution{*d, now, b, eff})
	}
	if err != nil {
		return nil, err
	}
	to := Data{keyspace: eff.To}
	for i, l := range eff.Lives {
		if l.Keep >= 0 {
			to.deadline[i], to.with[i] = d.deadline[l.Keep], d.with[l.Keep]
		} else {
			to.deadline[i], to.with[i] = clock.Millis(now)+l.D.Milliseconds(), MaxKeys
		}
	}
	x.regroup(&to)
	*d = to
	return eff, nil
}

// look returns the effect of batch b on data d, computed once.
func (x *Executor) look(d *Data, now time.Duration, b uint32) (*Effect, error) {
	if x.memo.Plain {
		return x.run(d, now, b, needsClock)
	}
	key := effectKey{d.keyspace, b}
	eff, err := x.effects.Get(key, func() (*Effect, error) { return x.run(d, now, b, needsNothing) })
	if err != nil || eff.needs == needsNothing {
		return eff, err
	}
	n := eff.needs
	exact := exactKey{effectKey: key, left: x.left(d, now)}
	if n == needsClock {
		exact.now = clock.Millis(now)
		if !x.memo.ReadsClock {
			x.asked.ID(readsClock)
		}
	}
	return x.exact.Get(exact, func() (*Effect, error) { return x.run(d, now, b, n) })
}

// left returns the milliseconds that each expiring key has still to live.
func (x *Executor) left(d *Data, now time.Duration) (left [MaxKeys]int64) {
	for i := range x.keys(d).ttls {
		left[i] = d.deadline[i] - clock.Millis(now)
	}
	return left
}

// run computes an effect by the engine. Where the batch needs more than n, the effect has nothing but what it needs.
func (x *Executor) run(d *Data, now time.Duration, b uint32, n needs) (*Effect, error) {
	x.engine.noMemo = x.memo.Plain
	x.engine.refuses, b = b&refuseWrites != 0, b&^refuseWrites
	if x.batches.At(b).subscribe && x.batches.At(b).unfit == "" {
		return x.subscribe(d.keyspace, x.batches.At(b)), nil
	}
	left := x.left(d, now)
	ttls := make([]time.Duration, len(x.keys(d).ttls))
	for i := range ttls {
		ttls[i] = time.Duration(400*24+i) * time.Hour // where the true remainder does not matter
		if n != needsNothing {
			ttls[i] = time.Duration(left[i]) * time.Millisecond
		}
	}
	at := clock.Epoch.Add(time.Duration(clock.Millis(now)) * time.Millisecond)
	reply, keys, ttls, err := x.engine.recall(x.keys(d), ttls, at, x.batches.At(b), n)
	switch {
	case err != nil:
		return nil, err
	case x.engine.needs > n:
		return &Effect{needs: x.engine.needs}, nil
	case len(ttls) > MaxKeys:
		return nil, intern.Limit("limit.keys", "most", MaxKeys)
	}
	keys, stood := x.stand(x.keys(d), keys)
	eff := &Effect{To: x.keyspaces.ID(keys), Reply: x.internReply(reply), needs: n, stood: stood}
	from, to := x.keys(d), x.keyspaces.At(eff.To)
	for place, ttl := range ttls {
		l := Lifetime{-1, ttl.Truncate(time.Millisecond)}
		// A lifetime that was kept may have come from another key (RENAME), which
		// only a command that reads lifetimes can do, so that they are true here.
		p := from.place(to.expiring(place).name)
		if p >= 0 && ttl%time.Millisecond == mark && (n == needsNothing || left[p] == l.D.Milliseconds()) {
			l = Lifetime{Keep: p}
		}
		eff.Lives = append(eff.Lives, l)
	}
	eff.Changes = diff(from, to, eff.Lives)
	x.noteLives(eff, left[:len(from.ttls)], x.batches.At(b).text)
	return eff, nil
}

// overdue finds the expiring key of d that has been dead longest at the server's time now, and its place. A key lives
// through the millisecond of its deadline, as in Redis, if spare is 1; 0: until that begins.
func (x *Executor) overdue(d *Data, now time.Duration, spare int64) (place int, ok bool) {
	ms := clock.Millis(now)
	for i := range x.keys(d).ttls {
		if ms >= d.deadline[i]+spare && (!ok || d.deadline[i] < d.deadline[place]) {
			place, ok = i, true
		}
	}
	return place, ok
}

// drop removes the key in the given place, as expiry does.
func (x *Executor) drop(d *Data, place int) *keyValue {
	from := x.keys(d)
	key := from.expiring(place)
	x.reduce(d, place, func() keyspace { return from.without(key.name) })
	copy(d.deadline[place:], d.deadline[place+1:])
	copy(d.with[place:], d.with[place+1:])
	d.deadline[MaxKeys-1], d.with[MaxKeys-1] = 0, 0
	x.regroup(d)
	return key
}

// bareData returns data as it goes to a replica or to disk: without cached scripts and without connections.
func (x *Executor) bareData(d Data) Data {
	x.reduce(&d, noPlace, func() keyspace { return keyspace{keys: x.keys(&d).keys} })
	return d
}

const noPlace = MaxKeys

// reduce replaces the keyspace of d by one with less in it, computed once for each place.
func (x *Executor) reduce(d *Data, place int, to func() keyspace) {
	d.keyspace, _ = x.less.Get([2]uint32{d.keyspace, uint32(place)}, func() (uint32, error) {
		return x.keyspaces.ID(to()), nil
	})
}

// regroup gives the keys of d that end together the same new with. It matters only where an end may be pending.
func (x *Executor) regroup(d *Data) {
	was := d.with
	d.with = [MaxKeys]uint8{}
	if x.spare > 0 {
		return
	}
	for i := range x.keys(d).ttls {
		for d.with[i] = 0; was[d.with[i]] != was[i] || d.deadline[d.with[i]] != d.deadline[i]; {
			d.with[i]++
		}
	}
}

// shift moves the deadlines of data by ms.
func (x *Executor) shift(d *Data, ms int64) {
	for i := range x.keys(d).ttls {
		d.deadline[i] += ms
	}
}
