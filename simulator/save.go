package simulator

import (
	"cmp"
	"errors"
	"slices"

	"locklab/simulator/internal/codec"
)

// A Mark is how far a lab's tables had come at some moment. They only grow, so
// that it can be told later what they held then.
type TableSizes struct {
	absolute, clocked        bool
	shapes, replies, batches int
	lates                    int
	histories                [MaxClients]int
	zoo                      zooMark
}

// Mark is the present moment. NewWorld may make it void, as it does worlds.
func (l *Simulator) TableSizes() TableSizes {
	t := l.table
	m := TableSizes{absolute: l.readsClock, clocked: t.clocked, shapes: len(t.shapes), replies: len(t.replies), batches: len(t.batches), lates: len(l.lates.lists)}
	for i, p := range l.procs {
		m.histories[i] = len(p.nodes)
	}
	if l.zoo != nil {
		m.zoo = l.zoo.mark()
	}
	return m
}

// Save writes what the lab's tables held at m, so that worlds and parts of that
// time mean the same to another lab of the same setup. What code and servers do
// is written as it was observed, and neither is asked again; only what an ensemble
// does is found out anew.
func (l *Simulator) Save(w *codec.Writer, m TableSizes) {
	t := l.table
	w.Put(m.absolute, m.clocked, m.shapes, m.replies, m.batches)
	for i := range m.shapes {
		w.Put(t.shapes[i].keys, t.shapes[i].scripts, t.shapes[i].watches, t.shapes[i].subs)
	}
	for i := range m.replies {
		w.Put(t.replies[i].resp)
	}
	for i := range m.batches {
		w.Put(t.batches[i].link, t.batches[i].commands)
	}
	w.Put(l.lates.lists[:m.lates])
	for i, p := range l.procs {
		w.Put(m.histories[i])
		for _, n := range p.nodes[:m.histories[i]] {
			n.next, n.to = observation{}, 0 // Load finds what follows from what went before
			w.Put(n)
		}
	}
	m.saveEffects(w, t)
	if l.zoo != nil {
		l.zoo.save(w, &m.zoo)
	}
}

func (m *TableSizes) saveEffects(w *codec.Writer, t *redisTable) {
	known := func(k effectKey, e *effect) bool {
		return int(k.shape) < m.shapes && int(k.batch) < m.batches && int(e.to) < m.shapes && int(e.reply) < m.replies
	}
	var keys []effectKey
	for k, e := range t.effects {
		if known(k, e) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, effectKey.compare)
	w.Put(keys)
	for _, k := range keys {
		w.Put(*t.effects[k])
	}
	var exact []exactKey
	for k, e := range t.exact {
		if known(k.effectKey, e) {
			exact = append(exact, k)
		}
	}
	slices.SortFunc(exact, func(a, b exactKey) int {
		return cmp.Or(a.compare(b.effectKey), slices.Compare(a.left[:], b.left[:]), cmp.Compare(a.now, b.now))
	})
	w.Put(exact)
	for _, k := range exact {
		w.Put(*t.exact[k])
	}
}

func (k effectKey) compare(o effectKey) int {
	return cmp.Or(cmp.Compare(k.shape, o.shape), cmp.Compare(k.batch, o.batch))
}

// Load reads what Save wrote into a lab in which nothing has happened yet. After
// an error the lab is of no use.
func (l *Simulator) Load(r *codec.Reader) error {
	var shapes, replies, batches int
	t := l.table
	r.Get(&l.readsClock, &t.clocked, &shapes, &replies, &batches)
	for i := 0; i < shapes && r.Err() == nil; i++ {
		var s keyspace
		r.Get(&s.keys, &s.scripts, &s.watches, &s.subs)
		t.internShape(newKeyspace(s.keys, s.scripts, s.watches...).listened(s.subs))
	}
	for i := 0; i < replies && r.Err() == nil; i++ {
		var resp string
		r.Get(&resp)
		t.internReply(resp)
	}
	for i := 0; i < batches && r.Err() == nil; i++ {
		var on link
		var commands [][]string
		r.Get(&on, &commands)
		if _, err := t.internBatch(on, writeBatch(commands)); err != nil {
			return err
		}
	}
	var lates [][]lateState
	r.Get(&lates)
	for _, list := range lates {
		l.lates.intern(list)
	}
	for _, p := range l.procs {
		p.load(r)
	}
	t.loadEffects(r)
	if l.zoo != nil {
		l.zoo.load(r)
	}
	if r.Err() != nil {
		return r.Err()
	}
	if len(t.shapes) != shapes || len(t.replies) != replies || len(t.batches) != batches || len(l.lates.lists) != len(lates) {
		return errors.New("simulator: saved tables hold something twice")
	}
	return nil
}

func (p *process) load(r *codec.Reader) {
	var n int
	r.Get(&n)
	for at := 0; at < n && r.Err() == nil; at++ {
		var node procNode
		if r.Get(&node); at == 0 {
			continue // the program that has not begun: every lab has it
		}
		p.nodes = append(p.nodes, node)
		p.link(node.parent, node.seen, uint32(at))
	}
}

func (t *redisTable) loadEffects(r *codec.Reader) {
	var keys []effectKey
	r.Get(&keys)
	for _, k := range keys {
		t.effects[k] = new(effect)
		r.Get(t.effects[k])
	}
	var exact []exactKey
	r.Get(&exact)
	for _, k := range exact {
		t.exact[k] = new(effect)
		r.Get(t.exact[k])
	}
}
