package explore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/internal/codec"
	"locklab/simulator/process"
	"locklab/simulator/verdict"
)

// The checker of an Invariant has the moves of a world from the search (moves.go, transitions.go, what drop.go drops, and the
// judges) and nothing from the prover. It works on texts: clients are renamed in texts, and views are looked up by their texts. Two
// histories of a client are taken for one if the code, replayed, does the same after both for all that the views have it observe.

// A Claim is what an Invariant is said to prove.
type Claim struct {
	Absent  []verdict.Word // harms that no number of clients comes to
	Once    bool           // each client takes the lock once; false: any number of times
	Endless bool           // no fault is ever used up
}

// A Checked is the size of what was checked.
type Checked struct{ Views, Worlds, Transitions int }

// An InvariantError is the reason for which an Invariant does not prove its claim.
type InvariantError struct{ Why i18n.Message }

func (e *InvariantError) Error() string { return fmt.Sprint(e.Why) }

// Message implements i18n.Error.
func (e *InvariantError) Message() i18n.Message { return e.Why }

func unproved(key string, args ...any) error { return &InvariantError{i18n.New(key, args...)} }

// CheckInvariant checks that a set of views contains the start, that every move of every world of two of its views leads to views
// of it, and that none of these worlds shows a harm that is claimed to be absent. m is as for ProveFor. The error is an
// *InvariantError if the set does not prove the claim.
func CheckInvariant(ctx context.Context, m *Model, v *Invariant, claim Claim) (*Checked, error) {
	m = m.ofViews()
	sim, err := m.Simulator()
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	sim.Assume(assumedByChecker(m))
	return checkInvariant(ctx, sim, m.Options(), v, claim)
}

// assumedByChecker is what its simulator assumes, which its steps and checkCode check: no two histories are merged.
func assumedByChecker(m *Model) simulator.Assumptions {
	return simulator.Assumptions{Symmetric: m.Clients, Strangers: true, Measures: true, Creations: true, Rests: true}
}

func checkInvariant(ctx context.Context, sim *simulator.Simulator, opt Options, v *Invariant, claim Claim) (size *Checked, err error) {
	defer func() {
		if p := recover(); p != nil { // of code that cannot have observed what the set says
			size, err = nil, unproved("prove.check.unfit", "why", fmt.Sprint(p))
		}
	}()
	opt.assumed = assumptions{Assumptions: simulator.Assumptions{Symmetric: opt.Symmetric}}
	for {
		seen := sim.Traits()
		c := &checker{s: newSearch(sim, opt), claim: claim, size: Checked{Views: len(v.Views)}}
		switch err := c.check(ctx, v); {
		case err != nil:
			return nil, err
		case sim.Traits().ReadsClock, sim.Traits().Grain > 0:
			return nil, unproved("prove.clock", "leases", fmt.Sprint(leasesToAncient))
		case sim.Traits() == seen:
			return &c.size, c.s.checkCode()
		}
	}
}

// A checker checks one invariant.
type checker struct {
	s      *search
	claim  Claim
	start  []uint32 // the state in which client 1 has begun and no other one is
	absent []uint32 // the parts of clients that are dead, and of the probe
	size   Checked

	shared []WrittenShared // by text, in the order in which they were met
	groups [][]member      // the views of each
	places map[string]int  // of texts of shared parts
	known  map[string]bool // the views, by text

	pasts   map[string][]uint32 // histories of client 1 that views have, by what the code has come to
	covers  pairs               // histories of client 1, and those of views for which they were taken
	used    pairs               // histories of client 1, and those that follow from them in a move
	renamed map[[3]uint32]uint32
	put     map[string][]uint32 // states without clients
	fine    map[string]bool     // states whose views are in the set

	judged map[uint32]simulator.Texts // what judges know, and parts of clients, that were written
	texts  map[[2]uint32]string
}

// pairs of histories.
type pairs map[uint32]map[uint32]bool

func (p pairs) add(a, b uint32) {
	if p[a] == nil {
		p[a] = map[uint32]bool{}
	}
	p[a][b] = true
}

// A member is a view of the set.
type member struct {
	WrittenView
	at    int    // place in the Invariant
	own   string // all that is put into a world beside its part
	past  uint32
	parts [2]uint32 // as client 1 and as client 2
}

// check checks a set with the traits of the code that are known.
func (c *checker) check(ctx context.Context, v *Invariant) error {
	c.places, c.known, c.pasts, c.covers, c.used = map[string]int{}, map[string]bool{}, map[string][]uint32{}, pairs{}, pairs{}
	c.judged, c.texts = map[uint32]simulator.Texts{}, map[[2]uint32]string{}
	c.renamed, c.put, c.fine = map[[3]uint32]uint32{}, map[string][]uint32{}, map[string]bool{}
	if err := c.begin(); err != nil {
		return err
	}
	if err := c.enter(v); err != nil {
		return err
	}
	if missing, err := c.missing(c.start, 0, [2]string{}); err != nil || missing != "" {
		return cmp.Or(err, unproved("prove.check.start", "view", missing))
	}
	for s, views := range c.groups {
		for i := range views {
			for j := range views[:i+1] {
				if err := c.world(s, &views[i], &views[j]); err != nil {
					return err
				}
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	if err := c.followed(); err != nil {
		return err
	}
	for a, known := range c.covers { // by all that was met since
		for b := range known {
			if !c.alike(a, b, map[[2]uint32]bool{}) {
				return unproved("prove.check.histories")
			}
		}
	}
	if c.s.sim.Parts().Lasting() && !c.claim.Once {
		return unproved("prove.check.once")
	}
	return c.deadlock()
}

// begin makes the state in which client 1 has begun.
func (c *checker) begin() error {
	w := c.s.sim.NewWorld()
	c.start = make([]uint32, c.s.stride())
	c.s.takeState(&w, c.s.judgeTab.id(verdict.Safety{}), c.start)
	for i := range c.s.symmetric {
		c.absent = append(c.absent, c.s.clientTab[i].id(simulator.DeadPart()))
	}
	c.absent = append(c.absent, c.start[c.s.probe-1])
	_, err := c.s.sim.Step(&w, simulator.Choice{Verb: simulator.Start, Client: 1})
	copy(c.start, c.absent)
	c.start[0] = c.s.client(0, &w)
	if r := c.s.sim.Parts().RestOf(1, &c.s.clientTab[0].keys[c.start[0]]); r.Drawn && !c.claim.Once {
		return unproved("prove.check.once")
	}
	return err
}

// enter enters the views of the set, each with its shared part in its least form.
func (c *checker) enter(v *Invariant) error {
	parts := make([]simulator.ClientPart, len(v.Clients))
	for i := range v.Clients {
		var err error
		if parts[i], err = c.s.sim.Writing().ReadClient(1, &v.Clients[i]); err != nil {
			return unproved("prove.check.client", "n", i)
		}
		at := parts[i].History()
		if state, _ := c.s.sim.Writing().Does(1, at); !slices.Contains(c.pasts[state], at) {
			c.pasts[state] = append(c.pasts[state], at)
		}
	}
	for i, w := range v.Views {
		known := w.Shared >= 0 && w.Shared < len(v.Shared) && w.Client < len(v.Clients)
		if !known || v.Shared[w.Shared].Names != len(w.Names) || len(w.Names) > Outsiders {
			return unproved("prove.check.view", "n", i)
		}
		one := member{WrittenView: w, at: i, own: fmt.Sprint(w.Orphans, w.Judges), parts: [2]uint32{c.absent[0], c.absent[1]}}
		client := ""
		if w.Client >= 0 {
			one.past, one.parts[0] = parts[w.Client].History(), c.s.clientTab[0].id(parts[w.Client])
			client = c.clientText(0, one.parts[0])
			second, err := c.as(&parts[w.Client], 1, 2, one.past)
			if err != nil {
				return err
			}
			one.parts[1] = c.s.clientTab[1].id(second)
		}
		for _, f := range least(&v.Shared[w.Shared], []int{3, 4, 5}[:len(w.Names)]) {
			one := one
			one.Names = nil
			for _, slot := range f.slots {
				one.Names = append(one.Names, w.Names[slot-3])
			}
			c.add(&f, one, client)
		}
	}
	return nil
}

func (c *checker) add(f *form, one member, client string) {
	at, known := c.places[f.text]
	if !known {
		at = len(c.shared)
		c.places[f.text], c.shared, c.groups = at, append(c.shared, f.shared), append(c.groups, nil)
	}
	if text := viewText(&one.WrittenView, at, client, one.past); !c.known[text] {
		c.known[text] = true
		c.groups[at] = append(c.groups[at], one)
	}
}

// viewText is the text of a view of a shared part.
func viewText(v *WrittenView, shared int, client string, past uint32) string {
	return fmt.Sprint(shared, client, past, v.Orphans, v.Judges, v.Base, v.Names)
}

// clientText is the part of client i, from 0, without its history.
func (c *checker) clientText(i int, id uint32) string {
	key := [2]uint32{uint32(i), id}
	if c.texts[key] == "" {
		w := c.s.sim.Writing().WriteClient(i+1, &c.s.clientTab[i].keys[id])
		c.texts[key] = renameText(fmt.Sprint(w.State, w.Replies), map[int]int{i + 1: 1})
	}
	return c.texts[key]
}

// alike reports whether the code of client 1 does the same after history a as after b, for all that views have it observe after b.
// What is being compared is taken for alike (bisimulation).
func (c *checker) alike(a, b uint32, compared map[[2]uint32]bool) bool {
	texts, pair := c.s.sim.Writing(), [2]uint32{a, b}
	if a == b || compared[pair] {
		return true
	}
	compared[pair] = true
	x, _ := texts.Does(1, a)
	y, _ := texts.Does(1, b)
	for after := range c.used[b] {
		seen := texts.WriteSeen(1, after)
		to, err := texts.Observe(1, a, &seen)
		if err != nil {
			return false
		}
		_, did := texts.Does(1, to)
		if _, does := texts.Does(1, after); did != does || !c.alike(to, after, compared) {
			return false
		}
		for other := range c.covers[after] {
			if !c.alike(to, other, compared) {
				return false
			}
		}
	}
	return x == y && len(compared) < maxCompared
}

// maxCompared is more than any two histories are compared in.
const maxCompared = 1 << 18

// together names the clients of a world of two views: the shared part's c3 to c6 that are one of the two, and those that cannot act.
func together(a, b *member) (to map[int]int, gone uint16, ok bool) {
	to = map[int]int{}
	for i := range a.Names {
		switch a.Names[i] + b.Names[i] {
		case "selfother":
			to[3+i] = 1
		case "otherself":
			to[3+i] = 2
		case "nobodynobody":
			gone |= 1 << (3 + i)
		case "otherother":
		default:
			return nil, 0, false
		}
	}
	return to, gone, true
}

// world makes all moves of the world of two views, if there is one.
func (c *checker) world(s int, a, b *member) error {
	to, gone, ok := together(a, b)
	if !ok {
		return nil
	}
	state, err := c.join(s, a, b, to)
	if err != nil {
		return err
	}
	c.size.Worlds++
	copy(c.s.successors.cur, state)
	if err := c.s.successors.listMoves(); err != nil {
		return err
	}
	for _, m := range slices.Clone(c.s.successors.moves) {
		copy(c.s.successors.cur, state)
		if err := c.try(&m, gone, a, b); err != nil {
			return err
		}
	}
	return nil
}

// try makes a move of the world of two views.
func (c *checker) try(m *move, gone uint16, a, b *member) error {
	found, bases, ok, err := c.move(m, [2]string{a.Base, b.Base})
	if err != nil {
		return err
	}
	via := func() string { return c.s.sim.Describe(c.s.choices[m.choice]) }
	if harm := c.claimed(found); harm != "" {
		return unproved("prove.check.harm", "harm", harm, "move", via(), "a", a.at, "b", b.at)
	}
	if !ok {
		return nil
	}
	if err := cmp.Or(c.observed(0, a), c.observed(1, b)); err != nil {
		return err
	}
	missing, err := c.missing(c.s.successors.next, gone, bases)
	if err == nil && missing != "" {
		err = unproved("prove.check.missing", "move", via(), "a", a.at, "b", b.at, "view", missing)
	}
	return err
}

// claimed is a verdict that was found and is claimed to be absent.
func (c *checker) claimed(found wordSet) string {
	for _, w := range found.list() {
		if slices.Contains(c.claim.Absent, w) {
			return string(w)
		}
	}
	return ""
}

// join makes the state of the world of two views.
func (c *checker) join(s int, a, b *member, to map[int]int) ([]uint32, error) {
	key := fmt.Sprint(s, to, a.own, b.own)
	if c.put[key] == nil {
		w := c.shared[s].renamed(to)
		rest := simulator.WrittenRest{Left: w.Rest, Orphans: slices.Clone(a.Orphans)}
		second := map[int]int{1: 2}
		for _, o := range b.Orphans {
			rest.Orphans = append(rest.Orphans, renameTexts(o, second))
		}
		maps.Copy(w.Judges, a.Judges)
		maps.Copy(w.Judges, renameTexts(b.Judges, second))
		state, err := c.read(&w, &rest)
		if err != nil {
			return nil, unproved("prove.check.view", "n", a.at)
		}
		c.put[key] = state
	}
	state := slices.Clone(c.put[key])
	state[0], state[1] = a.parts[0], b.parts[1]
	return state, nil
}

// read is the state of a shared part without clients.
func (c *checker) read(w *WrittenShared, rest *simulator.WrittenRest) ([]uint32, error) {
	state := slices.Clone(c.start)
	copy(state, c.absent)
	for n := range c.s.nodes {
		part, err := c.s.sim.Writing().ReadNode(w.Servers[n])
		if err != nil {
			return nil, err
		}
		state[c.s.clients+n] = c.s.nodeTab.id(part)
	}
	part, err := c.s.sim.Writing().ReadRest(rest)
	if err != nil {
		return nil, err
	}
	judges, err := verdict.ReadSafety(w.Judges)
	state[c.s.restAt], state[c.s.judgeAt] = c.s.restTab.id(part), c.s.judgeTab.id(judges)
	return state, err
}

// as is client from's part, with a history, as one of client to, whose code is to do the same with the names exchanged.
func (c *checker) as(part *simulator.ClientPart, from, to int, past uint32) (simulator.ClientPart, error) {
	if from == to {
		return part.WithHistory(past), nil
	}
	key := [3]uint32{past, uint32(from), uint32(to)}
	if at, ok := c.renamed[key]; ok {
		return part.WithHistory(at), nil
	}
	texts, swap := c.s.sim.Writing(), map[int]int{from: to, to: from}
	own := simulator.ClientPart{}.WithHistory(past)
	w := texts.WriteClient(from, &own)
	other, err := texts.ReadClient(to, &simulator.WrittenClient{WrittenHistory: w.WrittenHistory})
	if err != nil {
		return other, err
	}
	way, theirs := texts.Histories(from, past), texts.Histories(to, other.History())
	for i := range way {
		x, did := texts.Does(from, way[i])
		y, does := texts.Does(to, theirs[i])
		answers := i > 0 && clientNames.MatchString(fmt.Sprint(w.Seen[i-1].Answer))
		if answers || renameText(x, swap) != y || i > 0 && renameText(did, swap) != does {
			return other, unproved("prove.names", "why", x)
		}
	}
	c.renamed[key] = theirs[len(theirs)-1]
	return part.WithHistory(c.renamed[key]), nil
}

// move makes a move of cur in next. It has no effect if ok is false: the second attempt of a client is that of a new one, and the
// probe's moves belong to no view.
func (c *checker) move(m *move, bases [2]string) (found wordSet, now [2]string, ok bool, err error) {
	n, rest := c.s.successors, simulator.Rest{}
	if m.client >= 2 {
		return m.found, bases, false, nil
	}
	if m.client >= 0 {
		rest = c.s.sim.Parts().RestOf(int(m.client)+1, &c.s.clientTab[m.client].keys[n.cur[m.client]])
		if rest.Stage > 1 && c.s.choices[m.choice].Verb == simulator.Start {
			return 0, bases, false, nil
		}
	}
	c.size.Transitions++
	copy(n.next, n.cur)
	if m.pass > 0 || m.together {
		found, err = c.s.transitions.passTime(n.cur, n.next, c.s.choices[m.choice])
	} else {
		var events uint32
		if events, err = n.apply(m); err != nil {
			return 0, bases, false, err
		}
		for _, e := range c.s.events.entries[events] {
			if bases, err = c.serve(&e, bases); err != nil {
				return 0, bases, false, err
			}
			if e.Kind == history.Change && rest.Stage > 1 && rest.Busy { // what ask leaves out
				found.add(verdict.Deadlock)
			}
		}
		found |= c.s.transitions.judgeEvents(n.next, events)
	}
	if err == nil && c.claim.Endless {
		err = c.refill()
	}
	c.s.quotient.drop(n.next)
	return found | m.found, bases, true, err
}

// refill has no fault be used up in next.
func (c *checker) refill() error {
	of := func(state []uint32) simulator.WrittenRest {
		return c.s.sim.Writing().WriteRest(&c.s.restTab.keys[state[c.s.restAt]])
	}
	budget := func(path, _ string) bool { return strings.HasPrefix(path, "budget.") }
	w, full := of(c.s.successors.next), of(c.start)
	maps.DeleteFunc(w.Left, budget)
	for path, left := range full.Left {
		if budget(path, left) {
			w.Left[path] = left
		}
	}
	part, err := c.s.sim.Writing().ReadRest(&w)
	c.s.successors.next[c.s.restAt] = c.s.restTab.id(part)
	return err
}

// serve has the resource serve a client of a world, and the judges of next see how new what the client has read is.
func (c *checker) serve(e *history.Event, bases [2]string) ([2]string, error) {
	switch e.Kind {
	case history.Read:
		bases[e.Client-1] = "newest"
	case history.Write:
		judges := maps.Clone(c.judges(c.s.successors.next))
		maps.DeleteFunc(judges, func(path, _ string) bool { return written.MatchString(path) })
		if bases[e.Client-1] == "outdated" {
			judges["staleWrite.last.version"], judges["last.by"] = "1", fmt.Sprintf("c%d.", 3-e.Client)
		}
		known, err := verdict.ReadSafety(judges)
		if err != nil {
			return bases, err
		}
		c.s.successors.next[c.s.judgeAt] = c.s.judgeTab.id(known)
		if e.OK && bases[2-e.Client] == "newest" {
			bases[2-e.Client] = "outdated"
		}
	}
	return bases, nil
}

// written are the writes that judges know.
var written = regexp.MustCompile(`^(staleWrite\.)?(last|other)\.`)

// judges is what the judges know in a state.
func (c *checker) judges(state []uint32) simulator.Texts {
	id := state[c.s.judgeAt]
	if c.judged[id] == nil {
		c.judged[id] = c.s.judgeTab.keys[id].Write()
	}
	return c.judged[id]
}

// observed notes what client i, from 0, has observed in a move from cur to next, as client 1.
func (c *checker) observed(i int, of *member) error {
	id := c.s.successors.next[i]
	if id == c.s.successors.cur[i] || c.s.clientTab[i].keys[id].Dead() {
		return nil
	}
	part, err := c.as(&c.s.clientTab[i].keys[id], i+1, 1, c.s.clientTab[i].keys[id].History())
	if err != nil {
		return err
	}
	way := c.s.sim.Writing().Histories(1, part.History())
	for at := slices.Index(way, of.past); at >= 0 && at+1 < len(way); at++ { // else it rests; see followed
		c.used.add(way[at], way[at+1])
	}
	return nil
}

// followed notes what clients have observed before they came to rest, where the history of the attempt is gone.
func (c *checker) followed() error {
	for _, state := range slices.Sorted(maps.Keys(c.pasts)) {
		for _, past := range c.pasts[state] {
			second, err := c.as(&simulator.ClientPart{}, 1, 2, past)
			if err != nil {
				return err
			}
			for i, own := range [2]uint32{past, second.History()} {
				for _, pair := range c.s.sim.Writing().Followers(i+1, own) {
					from, err := c.as(&simulator.ClientPart{}, i+1, 1, pair[0])
					to, wrong := c.as(&simulator.ClientPart{}, i+1, 1, pair[1])
					if err := cmp.Or(err, wrong); err != nil {
						return err
					}
					c.used.add(from.History(), to.History())
				}
			}
		}
	}
	return nil
}

// A visit is what the views of a state depend on.
type visit struct {
	state []uint32
	gone  uint16
	bases [2]string
}

// missing is a view of the two clients of a world that is not in the set; "": there is none.
func (c *checker) missing(state []uint32, gone uint16, bases [2]string) (text string, err error) {
	key := codec.Key(visit{state, gone, bases})
	if c.fine[key] {
		return "", nil
	}
	s, rest, err := c.write(state)
	if err != nil {
		return "", err
	}
	var ends [2]bool
	var orphans [2][]simulator.Texts
	for i := range ends {
		if ends[i], err = c.ended(i, state[i]); err != nil {
			return "", err
		}
		for _, o := range rest.Orphans {
			if o["from"] == fmt.Sprintf("c%d.", i+1) {
				orphans[i] = append(orphans[i], renameTexts(o, map[int]int{i + 1: 1}))
			}
		}
		if ends[i] && orphans[i] == nil {
			gone |= 1 << (i + 1)
		}
	}
	named := s.share(c.judges(state), gone)
	forms := least(&s, named)
	if forms == nil {
		return "", unproved("prove.many", "most", fmt.Sprint(Outsiders))
	}
	for _, f := range forms {
		at, known := c.places[f.text]
		for i := range ends {
			v := &WrittenView{Orphans: orphans[i], Base: "unread"}
			if ends[i] && !(known && c.has(c.newcomer(&f, gone), at, 0, c.start[0])) {
				return describe(&f, "a new client"), nil
			}
			if gone>>(i+1)&1 != 0 {
				continue
			}
			v.Judges, v.Names = own(c.judges(state), i+1), f.names(gone, i+1)
			onVersion := slices.ContainsFunc(v.Orphans, func(o simulator.Texts) bool { return slices.Contains(toResource[:], o["Op.Kind"]) })
			if onVersion || c.s.clientTab[i].entries[state[i]].onVersion {
				v.Base = bases[i]
			}
			id := state[i]
			if ends[i] {
				id = c.absent[i]
			}
			if !known || !c.has(v, at, i, id) {
				doing := c.s.sim.Parts().Doing(i+1, &c.s.clientTab[i].keys[state[i]], 0)
				return describe(&f, fmt.Sprintf("c%d %s, %s %v %v", i+1, doing, v.Base, v.Names, v.Judges)), nil
			}
		}
	}
	c.fine[key] = true
	return "", nil
}

// write writes what is shared in a state, but for what the judges know, and the requests under way.
func (c *checker) write(state []uint32) (s WrittenShared, rest simulator.WrittenRest, err error) {
	rest = c.s.sim.Writing().WriteRest(&c.s.restTab.keys[state[c.s.restAt]])
	s = WrittenShared{Rest: maps.Clone(rest.Left)}
	delete(s.Rest, "resource.version") // it counts from 0 for all
	for n := range c.s.nodes {
		w, err := c.s.sim.Writing().WriteNode(&c.s.nodeTab.keys[state[c.s.clients+n]])
		if err != nil {
			return s, rest, err
		}
		for path, text := range w {
			if unrenamed.MatchString(path) || strings.HasSuffix(path, ".name") && clientNames.MatchString(text) {
				return s, rest, unproved("prove.check.server", "field", path, "value", text)
			}
		}
		s.Servers = append(s.Servers, w)
	}
	return s, rest, nil
}

var (
	toResource = [2]string{fmt.Sprint(int(process.Read)), fmt.Sprint(int(process.Write))}
	unrenamed  = regexp.MustCompile(`^State\.(lacks|cut)\b`) // sets of clients
)

// describe describes a missing view.
func describe(f *form, client string) string {
	servers, _ := json.Marshal(f.shared.Servers)
	return client + "; " + string(servers)
}

// newcomer is the view of a client that has not begun.
func (c *checker) newcomer(f *form, gone uint16) *WrittenView {
	return &WrittenView{Base: "unread", Names: f.names(gone, 0)}
}

// has reports whether a view is in the set: with its history, or with one after which the code does the same.
func (c *checker) has(v *WrittenView, shared, i int, id uint32) bool {
	if id == c.absent[i] {
		return c.known[viewText(v, shared, "", 0)]
	}
	part, err := c.as(&c.s.clientTab[i].keys[id], i+1, 1, c.s.clientTab[i].keys[id].History())
	if err != nil {
		return false
	}
	client, past := c.clientText(i, id), part.History()
	if c.known[viewText(v, shared, client, past)] {
		return true
	}
	state, _ := c.s.sim.Writing().Does(1, past)
	for _, other := range c.pasts[state] {
		if c.known[viewText(v, shared, client, other)] && c.alike(past, other, map[[2]uint32]bool{}) {
			c.covers.add(past, other)
			return true
		}
	}
	return false
}

// ended reports whether client i, from 0, can do nothing any more, or rests after an attempt while nothing of it goes on.
func (c *checker) ended(i int, id uint32) (bool, error) {
	part := &c.s.clientTab[i].keys[id]
	if r := c.s.sim.Parts().RestOf(i+1, part); r.Stage > 1 {
		if (r.Busy || r.Kept) && !c.claim.Once {
			return false, unproved("prove.check.once")
		}
		return !r.Busy, nil
	}
	w := c.s.sim.Writing().WriteClient(i+1, part)
	running := w.State["Paused"] == "true"
	for t := range process.MaxThreads {
		running = running || w.State[fmt.Sprintf("Threads.%d.Phase", t)] != ""
	}
	return w.State["Dead"] == "true" || !running, nil
}

// share sets what the judges know of no client alone, and returns the clients that the shared part names. When the key of a client that
// can do nothing any more may be taken over makes no difference.
func (s *WrittenShared) share(judges simulator.Texts, gone uint16) (named []int) {
	s.Judges = simulator.Texts{}
	var owners []string
	for path, text := range judges {
		if !aside.MatchString(path) {
			owners = append(owners, clientNames.FindAllString(text, -1)...)
		}
	}
	for path, text := range judges {
		of, dead := strings.CutPrefix(path, "dead.")
		if aside.MatchString(path) || clientNames.MatchString(path) && !(dead && slices.Contains(owners, of)) {
			continue
		}
		s.Judges[path] = text
	}
	names := clientNames.FindAllString(fmt.Sprint(s.Judges, s.Servers), -1)
	for c := 1; c <= simulator.MaxClients; c++ {
		name := fmt.Sprintf("c%d.", c)
		if !slices.Contains(names, name) {
			continue
		}
		named = append(named, c)
		for path, owner := range judges {
			if n, ok := strings.CutPrefix(path, "owner."); ok && owner == name && gone>>c&1 != 0 {
				delete(s.Judges, "reading.lapse."+n)
			}
		}
	}
	s.Names = len(named)
	return named
}

// aside is what judges know that makes no difference later: what was found, and writes.
var aside = regexp.MustCompile(`^(words|answered|fence\.|(staleWrite\.)?(last|other)\.)`)

// own is what the judges know of client c alone, called c1.
func own(judges simulator.Texts, c int) simulator.Texts {
	mine := maps.Clone(judges)
	maps.DeleteFunc(mine, func(path, _ string) bool { return !strings.HasSuffix(path, fmt.Sprintf(".c%d.", c)) })
	return renameTexts(mine, map[int]int{c: 1})
}

// A form is a shared part under the names c3 to c6. slots are the clients that these were before.
type form struct {
	text   string
	shared WrittenShared
	slots  []int
}

// names are the clients that the form names as client c sees them.
func (f *form) names(gone uint16, c int) (names []string) {
	for _, slot := range f.slots {
		switch {
		case gone>>slot&1 != 0:
			names = append(names, "nobody")
		case slot == c:
			names = append(names, "self")
		default:
			names = append(names, "other")
		}
	}
	return names
}

// least are the forms of a shared part with the least text, one for each order of the clients it names that gives it; none: it names
// too many.
func least(s *WrittenShared, named []int) (forms []form) {
	var try func(slots []int)
	try = func(slots []int) {
		for _, c := range named {
			if len(named) <= Outsiders && !slices.Contains(slots, c) {
				try(append(slices.Clone(slots), c))
			}
		}
		if len(slots) < len(named) {
			return
		}
		to := map[int]int{}
		for i, c := range slots {
			to[c] = 3 + i
		}
		f := form{shared: s.renamed(to), slots: slots}
		f.text = fmt.Sprint(f.shared)
		if forms == nil || f.text < forms[0].text {
			forms = []form{f}
		} else if f.text == forms[0].text {
			forms = append(forms, f)
		}
	}
	try(nil)
	return forms
}

func (s *WrittenShared) renamed(to map[int]int) WrittenShared {
	r := WrittenShared{Rest: s.Rest, Judges: renameTexts(s.Judges, to), Names: s.Names}
	for _, w := range s.Servers {
		r.Servers = append(r.Servers, renameTexts(w, to))
	}
	return r
}

// clientNames are the clients in a text: c2.1 and the like.
var clientNames = regexp.MustCompile(`\bc[1-8]\.`)

// renameText renames the clients in a text.
func renameText(text string, to map[int]int) string {
	return clientNames.ReplaceAllStringFunc(text, func(name string) string {
		c := int(name[1] - '0')
		return fmt.Sprintf("c%d.", cmp.Or(to[c], c))
	})
}

func renameTexts(w simulator.Texts, to map[int]int) simulator.Texts {
	renamed := simulator.Texts{}
	for path, text := range w {
		renamed[renameText(path, to)] = renameText(text, to)
	}
	return renamed
}

// deadlock has the probe ask for the lock from each shared part with a client that has not begun while no client is named, or of which
// something goes on at rest.
func (c *checker) deadlock() error {
	been := map[string]bool{}
	for s, views := range c.groups {
		at := slices.IndexFunc(views, func(one member) bool {
			named := slices.ContainsFunc(one.Names, func(n string) bool { return n != "nobody" })
			return one.parts[0] == c.start[0] && !named || c.s.sim.Parts().RestOf(1, &c.s.clientTab[0].keys[one.parts[0]]).Busy
		})
		if at < 0 {
			continue
		}
		state, err := c.read(&c.shared[s], &simulator.WrittenRest{})
		if err != nil {
			return err
		}
		if !c.s.successors.settled(state) {
			continue
		}
		found, err := c.ask(state, been)
		if err != nil {
			return err
		}
		if harm := c.claimed(found); harm != "" {
			return unproved("prove.check.deadlock", "harm", harm, "a", views[at].at)
		}
	}
	return nil
}

// ask visits all that follows from a state in which only the probe acts.
func (c *checker) ask(start []uint32, been map[string]bool) (deadlock wordSet, err error) {
	n := c.s.successors
	for queue := [][]uint32{start}; len(queue) > 0; queue = queue[1:] {
		if been[fmt.Sprint(queue[0])] {
			continue
		}
		been[fmt.Sprint(queue[0])] = true
		copy(n.cur, queue[0])
		if err := n.listMoves(); err != nil {
			return 0, err
		}
		for _, m := range slices.Clone(n.moves) {
			var found wordSet
			copy(n.cur, queue[0])
			copy(n.next, n.cur)
			if m.pass > 0 || m.together {
				found, err = c.s.transitions.passTime(n.cur, n.next, c.s.choices[m.choice])
			} else {
				var events uint32
				if events, err = n.apply(&m); err == nil {
					found = c.s.transitions.judgeEvents(n.next, events)
				}
			}
			if err != nil {
				return 0, err
			}
			if slices.Contains((found | m.found).list(), verdict.Deadlock) {
				deadlock.add(verdict.Deadlock)
			}
			queue = append(queue, slices.Clone(n.next))
		}
	}
	return deadlock, nil
}
