package verdict_test

import (
	"maps"
	"slices"
	"time"

	"locklab/simulator/history"
)

// A violation is a verdict of safety, or a refusal by an orphan, that an event brings about.
type violation struct {
	Word    string
	Clients []int // the culprit first
	Event   int   // index in the history
}

// violations judges a history by the definitions in the doc of package verdict: STALE-WRITE,
// WRONG-DEL, LIE, each refusal by an ORPHAN, and FENCED. It writes down how everything
// stood before each event, and then looks at each event by itself. That takes long, and
// shares nothing with the judges, which keep a few bits and see every event once.
func violations(h *history.History) []violation {
	c := oracle{h: h, before: chronicle(h), stale: map[int]bool{}}
	for i := range h.Events {
		c.staleWrite(i)
		c.wrongDel(i)
		c.lie(i)
		c.orphan(i)
	}
	if len(c.stale) == 0 {
		c.fenced()
	}
	return c.findings
}

// A moment is how everything stands before an event.
type moment struct {
	stage  map[int]string   // of each client: "" (idle), leaving, releasing, inside or dead
	asking map[int]bool     // clients that have asked for the lock and have no answer
	key    map[int]grant    // by node; missing: there is no key
	copies map[[2]int]grant // the key when a copy of a node last caught up
	split  map[int]bool     // nodes with an old master
	lived  bool             // the key has changed before
	former map[int]int      // of a client whose process was started anew: the last lease before that
	made   map[int]int      // by which lease a client that is asking has made the key itself
}

// A grant is a key.
type grant struct {
	owner   int // 0: nobody
	lease   int // 0: not known
	left    bool
	gone    bool // its owner's process has died, and another one is in its place
	forever bool
	stamped time.Duration // when its value was made, or it lost its time to live; before time began if nobody knows
}

const longAgo = -history.Forever / 2

// chronicle is how everything stood before each event, and last at the end.
func chronicle(h *history.History) []moment {
	m := moment{map[int]string{}, map[int]bool{}, map[int]grant{}, map[[2]int]grant{}, map[int]bool{}, false,
		map[int]int{}, map[int]int{}}
	all := []moment{m}
	for i := range h.Events {
		if !moves(h.Events[i].Kind) {
			all = append(all, m)
			continue
		}
		m = moment{maps.Clone(m.stage), maps.Clone(m.asking), maps.Clone(m.key), maps.Clone(m.copies),
			maps.Clone(m.split), m.lived, maps.Clone(m.former), maps.Clone(m.made)}
		m.follow(h, &h.Events[i])
		all = append(all, m)
	}
	return all
}

// moves reports whether an event of kind k changes how things stand.
func moves(k history.EventKind) bool {
	switch k {
	case history.Change, history.Expire, history.Replicate, history.Sync, history.Split, history.Heal,
		history.Acquire, history.Enter, history.Refuse, history.Leave, history.Release, history.Released, history.Done,
		history.Crash, history.Return, history.Sleep:
		return true
	}
	return false
}

func (m *moment) follow(h *history.History, e *history.Event) {
	nodes := max(h.Nodes, 1)
	switch e.Kind {
	case history.Change:
		if e.Key == h.Key {
			m.change(e)
		}
	case history.Expire:
		if e.Key == h.Key {
			delete(m.key, e.Node)
		}
	case history.Replicate:
		m.copies[[2]int{e.Node, int(e.Replica)}] = m.key[e.Node]
	case history.Sync:
		m.copies[[2]int{e.Node, history.Disk}] = m.key[e.Node]
	case history.Split:
		if old := nodes + e.Node; !m.split[e.Node] {
			m.split[e.Node] = true
			delete(m.key, old)
			if g, ok := m.key[e.Node]; ok {
				m.key[old] = g
			}
		}
	case history.Heal:
		m.split[e.Node] = false
		delete(m.key, nodes+e.Node)
	default:
		m.move(h, e)
	}
}

func (m *moment) change(e *history.Event) {
	m.lived = true
	g, was := m.key[e.Node]
	switch {
	case e.After == "":
		delete(m.key, e.Node)
		return
	case e.Before != e.After:
		owner, lease, gone := e.Client, e.Lease, m.replaced(e)
		if owner == 0 {
			copied := m.copies[[2]int{e.Node, int(e.Replica)}]
			owner, lease, gone = copied.owner, copied.lease, copied.gone
		} else if was && g.owner == owner && g.gone == gone && g.lease != lease {
			lease = 0 // it belongs to both
		}
		idle := m.stage[owner] == "" || m.stage[owner] == "dead"
		g.owner, g.lease, g.gone, g.left = owner, lease, gone, owner == 0 || gone || idle && !m.asking[owner]
		if m.asking[e.Client] && !gone {
			m.made[e.Client] = e.Lease
		}
		g.stamped = e.At
		if e.Client == 0 {
			g.stamped = longAgo
		}
	case !was || !g.forever:
		g.stamped = e.At
	}
	g.forever = e.Until == history.Forever
	m.key[e.Node] = g
}

// own changes every key of a server that a client has.
func (m *moment) own(c int, change func(g *grant)) {
	for n, g := range m.key {
		if g.owner == c {
			change(&g)
			m.key[n] = g
		}
	}
}

// believe notes whether a client takes its keys for its own.
func (m *moment) believe(c int, is bool) {
	m.own(c, func(g *grant) {
		if !g.gone {
			g.left = !is
		}
	})
}

// idle ends what a client does with the lock.
func (m *moment) idle(c int) {
	delete(m.made, c)
	m.stage[c], m.asking[c] = "", false
	m.believe(c, false)
}

// move is a step of a client on its way.
func (m *moment) move(h *history.History, e *history.Event) {
	c := e.Client
	switch e.Kind {
	case history.Acquire:
		if m.stage[c] == "leaving" && e.Note == "" {
			m.idle(c)
		}
		m.asking[c] = true
	case history.Enter:
		// It enters on what an earlier attempt left.
		if !m.has(h, c, e.Lease) && (e.Lease == 0 || m.made[c] != e.Lease) {
			m.own(c, func(g *grant) { g.lease, g.gone = e.Lease, false })
		}
		m.stage[c], m.asking[c] = "inside", false
		delete(m.made, c)
		m.believe(c, true)
	case history.Leave:
		m.stage[c] = "leaving"
		if e.Note == history.Exception {
			m.idle(c)
		}
	case history.Release:
		if m.stage[c] != "inside" {
			m.stage[c] = "releasing"
		}
		m.believe(c, true)
	case history.Refuse, history.Released:
		m.asking[c] = false
		delete(m.made, c)
		if m.stage[c] != "inside" {
			m.idle(c)
		}
	case history.Done:
		m.idle(c)
	case history.Sleep:
		if e.Rests && h.TTL > 0 && 2*e.D >= h.TTL && m.stage[c] == "releasing" {
			m.believe(c, false)
		}
	case history.Crash:
		m.idle(c)
		m.stage[c] = "dead"
	case history.Return:
		m.stage[c], m.former[c] = "", e.Lease
		m.own(c, func(g *grant) { g.gone, g.stamped = true, longAgo })
		for n, g := range m.copies {
			if g.owner == c {
				g.gone = true
				m.copies[n] = g
			}
		}
	}
}

// replaced reports whether a process did e that has died, and another one is in its place.
func (m *moment) replaced(e *history.Event) bool {
	return e.Client != 0 && e.Lease != 0 && e.Lease <= m.former[e.Client]
}

// has reports whether a client has the key on a majority of the nodes, by one of its leases
// or (0) by any.
func (m *moment) has(h *history.History, c, lease int) bool {
	nodes, votes := max(h.Nodes, 1), 0
	for n := 1; n <= nodes; n++ {
		if g, ok := m.key[n]; ok && g.owner == c && !g.gone && (lease == 0 || g.lease == 0 || g.lease == lease) {
			votes++
		}
	}
	return enough(h, votes)
}

// enough reports whether so many nodes are a majority; of a key on one of them, one is enough.
func enough(h *history.History, votes int) bool {
	if h.Shards {
		return votes > 0
	}
	return 2*votes > max(h.Nodes, 1)
}

// entitled reports whether a client has the lock.
func (m *moment) entitled(h *history.History, c, lease int) bool {
	if !m.lived {
		return m.stage[c] == "inside"
	}
	return m.has(h, c, lease)
}

// orphans are the clients whose keys no client believes in, although they live.
func (m *moment) orphans(h *history.History) (owners []int) {
	for c, stage := range m.stage {
		resigned := false
		m.own(c, func(g *grant) { resigned = resigned || stage == "releasing" && g.left && !g.gone })
		if stage != "" && stage != "dead" && !resigned {
			return nil
		}
	}
	for c := 1; c <= h.Clients; c++ {
		nodes, votes := max(h.Nodes, 1), 0
		for n := 1; n <= nodes; n++ {
			if g, ok := m.key[n]; ok && g.owner == c && !g.gone && g.left && m.stage[c] != "dead" {
				votes++
			}
		}
		if enough(h, votes) {
			owners = append(owners, c)
		}
	}
	return owners
}

// A oracle judges one history.
type oracle struct {
	h        *history.History
	before   []moment
	stale    map[int]bool // writes that were found stale
	findings []violation
}

func (c *oracle) find(word string, i int, clients ...int) {
	c.findings = append(c.findings, violation{word, clients, i})
}

// excludes reports whether a client may only be inside alone.
func (c *oracle) excludes(client int) bool {
	return client > len(c.h.Holders) || c.h.Holders[client-1] == 1 || c.h.Holders[client-1] == 0
}

// unlocked reports whether the run has no lock.
func (c *oracle) unlocked() bool { return slices.Contains(c.h.Holders, history.NoLock) }

// judged reports whether what a client writes is judged.
func (c *oracle) judged(client int) bool { return c.unlocked() || c.excludes(client) }

func (c *oracle) staleWrite(i int) {
	w := &c.h.Events[i]
	if w.Kind != history.Write || !w.OK || !c.judged(w.Client) {
		return
	}
	for j := i - 1; j >= 0; j-- { // the latest update that it loses
		o := &c.h.Events[j]
		other := o.Client != w.Client || o.Lease != w.Lease
		if o.Kind == history.Write && o.OK && c.judged(o.Client) && other && !c.stale[j] {
			if o.Version > w.Base {
				c.stale[i] = true
				c.find("STALE-WRITE", i, w.Client, o.Client)
				return
			}
			break // older ones are of lower versions
		}
	}
	now := &c.before[i]
	if c.unlocked() || now.entitled(c.h, w.Client, w.Lease) {
		return
	}
	var readers []int
	for d := 1; d <= c.h.Clients; d++ {
		if c.hasRead(d, i) {
			readers = append(readers, d)
		}
	}
	own := slices.Contains(readers, w.Client)
	readers = slices.DeleteFunc(readers, func(d int) bool { return d == w.Client })
	victim := 0
	if at := slices.IndexFunc(readers, func(d int) bool { return now.entitled(c.h, d, 0) }); at >= 0 {
		victim = readers[at]
	} else if len(readers) > 0 {
		victim = readers[0]
	} else if own && now.lived && now.has(c.h, w.Client, 0) {
		victim = w.Client
	}
	if victim != 0 {
		c.stale[i] = true
		c.find("STALE-WRITE", i, w.Client, victim)
	}
}

// hasRead reports whether a client is inside at event i and has read since it entered.
func (c *oracle) hasRead(client, i int) bool {
	read := false
	for j := i - 1; j >= 0 && c.before[i].stage[client] == "inside"; j-- {
		switch e := &c.h.Events[j]; {
		case e.Client != client:
		case e.Kind == history.Leave || e.Kind == history.Done || e.Kind == history.Crash:
			return read
		case e.Kind == history.Read && c.before[j].stage[client] == "inside" && !c.before[j].replaced(e):
			read = true
		}
	}
	return read
}

func (c *oracle) fenced() {
	for i := range c.h.Events {
		e := &c.h.Events[i]
		if e.Kind == history.Write && !e.OK && c.judged(e.Client) &&
			(c.unlocked() || !c.before[i].entitled(c.h, e.Client, e.Lease)) {
			c.find("FENCED", i, e.Client)
			return
		}
	}
}

func (c *oracle) wrongDel(i int) {
	e := &c.h.Events[i]
	g, there := c.before[i].key[e.Node]
	if e.Kind != history.Change || e.Client == 0 || e.Key != c.h.Key || !there || g.owner == 0 || g.left ||
		!c.excludes(e.Client) {
		return
	}
	if g.owner == e.Client && (g.lease == 0 || e.Lease == 0 || g.lease == e.Lease) {
		return
	}
	leased := c.h.TTL > 0 && !c.h.ZooKeeper
	if e.After != "" && e.After != e.Before && g.forever && leased && e.At-c.h.TTL >= g.stamped {
		return // the lease in its value has ended
	}
	c.find("WRONG-DEL", i, e.Client, g.owner)
}

// lie looks at the answer to a call and goes back to where the call began.
func (c *oracle) lie(i int) {
	answer := &c.h.Events[i]
	me := answer.Client
	if !answer.Claims || !c.before[i].lived || !c.excludes(me) {
		return
	}
	release := answer.Kind == history.Released
	if !release && answer.Kind != history.Enter && answer.Kind != history.Refuse {
		return
	}
	begin, first := -1, -1
	for j := i - 1; j >= 0 && begin < 0; j-- {
		switch e := &c.h.Events[j]; {
		case e.Client != me:
		case release && e.Kind == history.Release, !release && e.Kind == history.Acquire:
			begin = j
		case e.Kind == history.Change && e.Key == c.h.Key && (!release || e.Before != e.After) &&
			!c.before[j].replaced(e):
			first = j // the first is the last that is found
		}
	}
	if begin < 0 || !release && c.h.Events[begin].Note == "" {
		return
	}
	had, lacked := true, true
	look := func(j, lease int) {
		if c.before[j].entitled(c.h, me, lease) {
			lacked = false
		} else {
			had = false
		}
	}
	if first >= 0 {
		look(first, c.h.Events[first].Lease)
		for j := first + 1; j < i; j++ { // a part of it may have been lost otherwise
			e := &c.h.Events[j]
			touched := (e.Kind == history.Change || e.Kind == history.Expire) && e.Key == c.h.Key && e.Before != e.After
			g := c.before[j].key[e.Node]
			if touched && (e.Client != me || c.before[j].replaced(e)) && g.owner == me && !g.gone {
				had = false
			}
		}
	} else {
		look(begin, c.h.Events[begin].Lease)
		for j := begin + 1; j <= i; j++ {
			look(j, 0)
		}
	}
	if answer.OK && release && first < 0 { // nothing was given back: it must still be there
		lacked = !c.before[i].entitled(c.h, me, 0)
	}
	if answer.OK && lacked || !answer.OK && had {
		c.find("LIE", i, me)
	}
}

// orphan findings the owner of the key that made a refusal, or that an attempt waits for.
func (c *oracle) orphan(i int) {
	e := &c.h.Events[i]
	refused := e.Kind == history.Refuse && e.Claims
	if waits := e.Kind == history.Sleep && e.Rests && c.asks(i, e.Client); !refused && !waits {
		return
	}
	others := func(j int) []int {
		return slices.DeleteFunc(c.before[j].orphans(c.h), func(o int) bool { return o == e.Client })
	}
	for j := i - 1; j >= 0; j-- {
		if len(c.before[j+1].orphans(c.h)) == 0 {
			return
		}
		a := &c.h.Events[j]
		if a.Client != e.Client || c.before[j].replaced(a) {
			continue
		}
		switch a.Kind {
		case history.Acquire:
			return
		case history.Apply:
			if g, ok := c.before[j].key[a.Node]; ok && g.left && g.owner != e.Client && a.Node <= max(c.h.Nodes, 1) &&
				len(others(j)) > 0 && c.asks(j, e.Client) {
				c.find("ORPHAN", i, others(i)...)
				return
			}
		}
	}
}

// asks reports whether a client is in an attempt, and not in a renewal or a check.
func (c *oracle) asks(i, client int) bool {
	if !c.before[i].asking[client] {
		return false
	}
	for j := i - 1; j >= 0; j-- {
		if e := &c.h.Events[j]; e.Client == client && e.Kind == history.Acquire {
			return e.Note == ""
		}
	}
	return false
}
