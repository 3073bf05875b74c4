package simulator

import (
	"strings"
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/table"
)

// redisTable is what servers do, as far as it is known: (shape, command) ->
// (shape, reply). An entry is computed by the engine, once.
//
// Times are kept out of it. A command that does not look at them is run with
// lifetimes that tell a kept one from a set one, so that one entry serves
// whatever remains; a command that does look gets an entry for each remainder
// (and clock reading) that occurs.
type redisTable struct {
	room    *table.Room
	engine  *engine
	shapes  []keyspace
	shapeID map[string]uint32
	batches []batch
	batchID map[batchKey]uint32
	replies []reply
	replyID map[string]uint32
	effects map[effectKey]*effect
	exact   map[exactKey]*effect
	bare    map[uint32]uint32    // shape -> the same without scripts and watches
	less    map[[2]uint32]uint32 // shape, place -> the same without that key
	clocked bool                 // some command has read its server's clock
	listens bool                 // somebody has subscribed
	waited  bool                 // somebody has sent WAIT
}

// batch is what one write to a connection held: almost always one command.
type batch struct {
	commands [][]string
	text     []string     // the commands in a row, as histories show them
	wait     *waitCommand // the last of them, if it is one
	link     link         // the connection it comes on, if that watches keys
	about    bool         // it is about a subscription: see pubsub.go
	transaction
}

type reply struct {
	resp string
	text string // as redis-cli shows it
}

// batchKey is what tells one write from another.
type batchKey struct {
	link
	wire string
}

type effectKey struct{ shape, batch uint32 }

type exactKey struct {
	effectKey
	left [MaxKeys]int64 // milliseconds that remain
	now  int64          // the server's clock, if the command reads it; otherwise 0
}

// effect is what a batch does to a shape.
type effect struct {
	needs   needs // if not needsNothing, this entry only says: look in exact
	to      uint32
	reply   uint32
	lives   [MaxKeys]lifetime // of the expiring keys of to
	changes []change
}

// lifetime is where a deadline comes from: from place keep of the old shape, or,
// if keep is negative, so many milliseconds from now.
type lifetime struct {
	keep int8
	ms   int64
}

type change struct {
	key, before, after string
	place              int8 // in the new shape; -1: the key does not expire, or is gone
}

func newRedisTable(r *table.Room) (*redisTable, error) {
	e, err := newEngine()
	if err != nil {
		return nil, err
	}
	t := &redisTable{
		room: r, engine: e, shapeID: map[string]uint32{}, batchID: map[batchKey]uint32{}, replyID: map[string]uint32{},
		effects: map[effectKey]*effect{}, exact: map[exactKey]*effect{},
		bare: map[uint32]uint32{}, less: map[[2]uint32]uint32{},
	}
	t.clear()
	return t, nil
}

// clear forgets everything and keeps the room. Worlds made before mean nothing
// afterwards.
func (t *redisTable) clear() {
	t.engine.forget()
	t.shapes, t.batches, t.replies = table.Emptied(t.shapes), table.Emptied(t.batches), table.Emptied(t.replies)
	clear(t.shapeID)
	clear(t.batchID)
	clear(t.replyID)
	clear(t.effects)
	clear(t.exact)
	clear(t.bare)
	clear(t.less)
	t.internShape(newKeyspace(nil, nil))
	t.internReply("") // 0: nothing
}

func (t *redisTable) size() int {
	return len(t.shapes) + len(t.batches) + len(t.replies) + len(t.effects) + len(t.exact)
}

func (t *redisTable) internShape(s keyspace) uint32 {
	if id, ok := t.shapeID[s.id]; ok {
		return id
	}
	id, ok := t.room.Next(len(t.shapes), "contents of a server")
	if ok {
		t.shapes = append(t.shapes, s)
		t.shapeID[s.id] = id
	}
	return id
}

func (t *redisTable) internReply(resp string) uint32 {
	if id, ok := t.replyID[resp]; ok {
		return id
	}
	id, ok := t.room.Next(len(t.replies), "replies")
	if ok {
		t.replies = append(t.replies, reply{resp: resp, text: pushText(resp)})
		t.replyID[resp] = id
	}
	return id
}

// internBatch takes the bytes of one write, and the connection if that watches keys.
func (t *redisTable) internBatch(on link, wire []byte) (uint32, error) {
	if id, ok := t.batchID[batchKey{on, string(wire)}]; ok {
		return id, nil
	}
	commands, err := parseBatch(string(wire))
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
	wait, err := t.waitOf(commands)
	if err != nil {
		return 0, err
	}
	b := batch{commands: commands, text: text, wait: wait, link: on, transaction: transactionOf(commands)}
	t.about(&b)
	id, ok := t.room.Next(len(t.batches), "requests")
	if !ok {
		return 0, t.room.Exceeded
	}
	t.batches = append(t.batches, b)
	t.batchID[batchKey{on, string(wire)}] = id
	return id, nil
}

// apply runs batch b on data d at the server's time now (of its own clock,
// since the epoch), and says what it did.
func (t *redisTable) apply(d *dataState, now time.Duration, b uint32) (*effect, error) {
	eff, err := t.look(d, now, b)
	if err != nil {
		return nil, err
	}
	ms := clock.Millis(now)
	var deadline [MaxKeys]int64
	for i := range t.shapes[eff.to].ttls {
		if l := eff.lives[i]; l.keep >= 0 {
			deadline[i] = d.deadline[l.keep]
		} else {
			deadline[i] = ms + l.ms
		}
	}
	d.shape, d.deadline = eff.to, deadline
	return eff, nil
}

func (t *redisTable) look(d *dataState, now time.Duration, b uint32) (*effect, error) {
	if t.engine.noMemo {
		return t.run(d, now, b, needsClock)
	}
	key := effectKey{d.shape, b}
	eff := t.effects[key]
	if eff == nil {
		var err error
		if eff, err = t.run(d, now, b, needsNothing); err != nil {
			return nil, err
		}
		t.effects[key] = eff
	}
	if eff.needs == needsNothing {
		return eff, nil
	}
	return t.lookExact(d, now, b, eff.needs)
}

func (t *redisTable) lookExact(d *dataState, now time.Duration, b uint32, n needs) (*effect, error) {
	key := exactKey{effectKey: effectKey{d.shape, b}, left: t.left(d, now)}
	if n == needsClock {
		key.now = clock.Millis(now)
		t.clocked = true
	}
	if eff := t.exact[key]; eff != nil {
		return eff, nil
	}
	eff, err := t.run(d, now, b, n)
	if err == nil {
		t.exact[key] = eff
	}
	return eff, err
}

// left is how many milliseconds each expiring key has still to live.
func (t *redisTable) left(d *dataState, now time.Duration) (left [MaxKeys]int64) {
	for i := range t.shapes[d.shape].ttls {
		left[i] = d.deadline[i] - clock.Millis(now)
	}
	return left
}

// run asks the engine. Asked with less than the command turns out to need, it
// answers with an effect that says what is needed and nothing else.
func (t *redisTable) run(d *dataState, now time.Duration, b uint32, n needs) (*effect, error) {
	t.engine.refuses, b = b&refusing != 0, b&^refusing
	if t.batches[b].about && t.batches[b].unfit == "" {
		return t.listen(d.shape, &t.batches[b]), nil
	}
	from := &t.shapes[d.shape]
	ttls := make([]time.Duration, from.ttls)
	left := t.left(d, now)
	for i := range ttls {
		ttls[i] = longTTL(i)
		if n != needsNothing {
			ttls[i] = time.Duration(left[i]) * time.Millisecond
		}
	}
	out, err := t.engine.run(from, ttls, clock.Epoch.Add(time.Duration(clock.Millis(now))*time.Millisecond), &t.batches[b])
	if err != nil {
		return nil, err
	}
	if out.needs > n {
		return &effect{needs: out.needs}, nil
	}
	if out.shape.ttls > MaxKeys {
		return nil, table.Limit("more than %d keys with a time to live on one server: give each client fewer keys, or fewer clients", MaxKeys)
	}
	eff := &effect{to: t.internShape(out.shape), reply: t.internReply(out.reply)}
	to := &t.shapes[eff.to]
	from = &t.shapes[d.shape] // interning may have moved it
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
// deadline, as in Redis.
func (t *redisTable) overdue(d *dataState, now time.Duration) (place int, ok bool) {
	ms := clock.Millis(now)
	for i := range t.shapes[d.shape].ttls {
		if ms > d.deadline[i] && (!ok || d.deadline[i] < d.deadline[place]) {
			place, ok = i, true
		}
	}
	return place, ok
}

// drop removes the key in the given place, as expiry does.
func (t *redisTable) drop(d *dataState, place int) *keyValue {
	from := &t.shapes[d.shape]
	key := from.expiring(place)
	id := [2]uint32{d.shape, uint32(place)}
	to, ok := t.less[id]
	if !ok {
		to = t.internShape(from.without(key.name))
		t.less[id] = to
	}
	copy(d.deadline[place:], d.deadline[place+1:])
	d.deadline[MaxKeys-1] = 0
	d.shape = to
	return key
}

// scriptless is what another server takes over of shape id: see shape.scriptless.
func (t *redisTable) scriptless(id uint32) uint32 {
	to, ok := t.bare[id]
	if !ok {
		to = t.internShape(t.shapes[id].scriptless())
		t.bare[id] = to
	}
	return to
}
