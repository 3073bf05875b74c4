package certificate

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"locklab/faults"
	"locklab/reports/text"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/hypothesis"
	"locklab/simulator/lists"
	"locklab/simulator/node"
	"locklab/simulator/process"
	"locklab/simulator/verdict"
)

// A list is sentences of a catalogue below a key, about a search.
type list struct {
	s           *search.Search
	m           *explore.Model // that was searched
	lang, below string
	lines       []string
}

func listOf(s *search.Search, lang, below string) *list {
	m, err := s.Bounds.Model(s.Lock)
	if err != nil {
		panic(err) // Check has read the budget
	}
	return &list{s: s, m: m, lang: lang, below: below}
}

// say returns a sentence.
func (l *list) say(key string, pairs ...any) string { return say(l.lang, l.below+key, pairs...) }

// add adds a sentence.
func (l *list) add(key string, pairs ...any) { l.lines = append(l.lines, l.say(key, pairs...)) }

// when adds a sentence if something is so.
func (l *list) when(is bool, key string, pairs ...any) {
	if is {
		l.add(key, pairs...)
	}
}

// one adds the first sentence that is so; the last one if none is.
func (l *list) one(keys ...choice) {
	for i, c := range keys {
		if c.is || i == len(keys)-1 {
			l.add(c.key, c.pairs...)
			return
		}
	}
}

// A choice is a sentence that one says if something is so.
type choice struct {
	is    bool
	key   string
	pairs []any
}

func so(is bool, key string, pairs ...any) choice { return choice{is, key, pairs} }

func or(key string, pairs ...any) choice { return choice{true, key, pairs} }

// MayHappen lists, in a language of package text, what the search lets happen at any moment.
func MayHappen(s *search.Search, lang string) []string {
	l := listOf(s, lang, "certificate.may.")
	b, t, when := s.Bounds, cmp.Or(l.m.Timing, &explore.Durations{}), "when.any"
	timed := l.m.Timing != nil
	if timed {
		l.one(so(b.Idle, "start.within", "idle", t.Idle), or("start"))
		l.add("work", "work", t.Work)
	} else {
		when = "when.lockstep"
	}
	for _, name := range b.Uses.Names() {
		l.add("use."+name, "when", l.say(when))
	}
	if b.Skew > 0 {
		l.one(so(s.Result.ReadsClock || s.Result.Grain > 0, "skew", "skew", b.Skew),
			so(s.Result.Measures, "skew.measured", "skew", b.Skew), or("skew.unread", "skew", b.Skew))
	}
	l.when(b.Allows(faults.Return), "return")
	l.when(b.ClientRetries > 0, "retries", "n", b.ClientRetries)
	l.when(t.Latency > 0, "latency", "latency", t.Latency)
	l.when(t.Lateness > 0, "lateness", "lateness", t.Lateness)
	l.when(timed, "lag")
	l.add("order")
	l.add("faults")
	l.add("replies")
	l.one(so(timed, "lengths"), or("pauses.lockstep"))
	return l.lines
}

// isOwn reports whether a search is of package locktest, of no lock of the lab: there are no flags of locklab explore.
func isOwn(s *search.Search) bool { return s.Lock.New == nil }

// Assumed lists, in a language of package text, what the search takes for granted.
func Assumed(s *search.Search, lang string) []string {
	l := listOf(s, lang, "certificate.assumed.")
	m, again := l.m, s.Bounds.Attempts == search.AnyAttempts
	if m.Timing != nil {
		l.steps()
		l.patience()
		l.add("fresh")
		if again {
			l.lines = append(l.lines, ofAttempts(s, lang)...)
		}
	} else {
		requests := l.say("requests.one")
		if len(m.Retries) > 0 {
			requests = l.say("requests", "n", len(m.Retries)+1, "within", m.RetrySpan())
		}
		l.add("lockstep", "requests", requests, "between", m.Between())
		l.add("work", "work", m.Work())
		l.one(so(m.Travel > 0, "instant.travel", "latency", m.Travel), or("instant"))
		l.patience()
	}
	l.clocks()
	out := s.Bounds.LeftOut(s.Lock)
	l.one(so(isOwn(s), "program.own"), so(len(out) > 0, "program.without", "uses", strings.Join(out, ", ")),
		or("program"))
	l.add("function")
	l.when(m.Timing == nil, "lengths")
	l.add("probe")
	return l.lines
}

// patience adds how long a client waits for an answer.
func (l *list) patience() {
	m, e := l.m, l.s.Lock
	l.one(so(isOwn(l.s) && (e.Database != "" || !e.Sessions()), "patience.own"),
		so(e.Database != "", "patience.database"), so(e.Sessions(), "patience.session", "patience", m.TTL*2/3),
		so(m.ClientRetries > 0, "patience.retries", "patience", m.Patience()), or("patience", "patience", m.Patience()))
}

// ofAttempts lists what is taken for granted of any number of attempts.
func ofAttempts(s *search.Search, lang string) []string {
	l := listOf(s, lang, "prove.assumed.")
	if s.Lock.Sessions() || s.Lock.Database != "" {
		l.tried("tried.session")
		l.add("ordered", "n", simulator.MostOrdered)
		return l.lines
	}
	l.add("attempts")
	l.add("names")
	l.tried("tried")
	l.counters()
	return l.lines
}

// tried adds with which attempts code was tried; not that of a bubble, which is not.
func (l *list) tried(key string) {
	l.when(!isOwn(l.s), key, "histories", simulator.MostTried, "first", simulator.MostFirst)
}

// counters adds what is assumed of counters, if anything is.
func (l *list) counters() {
	n := l.s.Result.Assumed.Counters
	l.when(n > 0, "counters", "most", n)
}

// clocks adds what is taken for granted of clocks, threads, tokens and transactions.
func (l *list) clocks() {
	s, b := l.s, l.s.Bounds
	l.one(so(b.Skew > 0, "clocks.skew", "step", b.Step(), "skew", b.Skew), or("clocks"))
	shows := func(t time.Time) string { return t.Format(time.DateTime + " MST") }
	switch {
	case s.Result.ReadsClock:
		l.add("epoch", "epoch", shows(simulator.Epoch))
	case s.Result.Grain > 0:
		epoch, grain := shows(simulator.StampBase), s.Result.Grain
		l.one(so(s.Phased, "epoch.phases", "epoch", epoch, "grain", grain),
			so(b.Timing == search.Lockstep, "epoch.lockstep", "epoch", epoch, "grain", grain),
			or("epoch.stamps", "epoch", epoch, "grain", grain))
		l.add("measured", "stride", process.Stride.Truncate(grain), "strides", process.Strides)
		l.add("stamps", "strides", process.Strides)
	case s.Result.Measures:
		l.add("epoch.measured", "epoch", shows(simulator.Epoch))
		l.add("measured", "stride", process.Stride, "strides", process.Strides)
	}
	l.when(s.Lock.Writer != nil, "writer")
	l.when(b.Allows(faults.PauseThread), "threads")
	if b.Allows(faults.Return) {
		l.one(so(isOwn(s), "return.own"), or("return"))
	}
	if n := s.Lock.Shards; n > 0 {
		l.add("list", "n", min(n, b.Settled(s.Lock).Nodes))
	}
	l.when(b.Tokens != client.Unique, "tokens."+b.Tokens.String())
	l.when(s.Lock.Ensemble(), "transactions")
}

// steps adds what is taken for granted of the steps of a search of every timing.
func (l *list) steps() {
	t, grid, e := l.m.Timing, l.s.Grid(l.m), l.s.Lock
	l.add("step", "step", t.Step)
	if grid.Rounded != nil {
		var rounded []string
		for _, a := range grid.Rounded { // which count for less
			rounded = append(rounded, l.say("whole.one", "fault", a.Fault.Name, "bound", a.Max, "shorter",
				a.Max.Truncate(t.Step)))
		}
		l.add("whole", "bounds", strings.Join(rounded, ", "))
	}
	l.offSteps(&grid)
	if t.Latency == 0 {
		l.one(so(isOwn(l.s), "latency.own"), or("latency", "step", t.Step))
	}
	l.when(t.Lateness == 0, "lateness")
	l.one(so(e.Database != "" && e.Sessions(), "expiry.database.session"), so(e.Database != "", "expiry.database"),
		so(e.Sessions(), "expiry.session"), or("expiry"))
	l.when(l.m.Nodes > 1, "together")
	l.when(e.Ensemble(), "reconnect")
}

// offSteps adds which lengths are no whole number of steps, or that none is.
func (l *list) offSteps(grid *search.Grid) {
	var off []string
	if grid.OffLease > 0 {
		off = append(off, l.say("off.lease", "d", grid.OffLease))
	}
	for _, lengths := range grid.Off {
		off = append(off, l.lengths(lengths)...)
	}
	compares := l.s.ComparesTimes()
	if len(off) > 0 {
		finer := l.say("off.none")
		if grid.Finer > 0 {
			finer = l.say("off.finer", "step", grid.Finer)
		}
		l.add("off", "constants", strings.Join(off, ", "), "finer", finer)
	}
	l.when(len(off) == 0 && l.s.Complete && !compares && grid.Rounded == nil, "on")
	l.when(compares, "compared")
}

// maxNamed is the number of lengths of one kind that are named one by one. More of them were drawn or computed.
const maxNamed = 3

var lengthNames = [...]string{
	node.KeyLife: "key", node.Session: "session", node.Timer: "timer", node.Patience: "patience",
	node.WaitLimit: "wait", node.Inside: "inside",
}

// lengths names lengths of one kind, the shortest first.
func (l *list) lengths(all []node.Length) (named []string) {
	if len(all) > maxNamed {
		last := all[len(all)-1]
		return []string{l.say("off."+lengthNames[last.Of]+".many", "n", len(all), "d", all[0].D, "last", last.D)}
	}
	for _, one := range all {
		named = append(named, l.say("off."+lengthNames[one.Of], "d", one.D, "request",
			quoted(strings.Join(one.Request, " "))))
	}
	return named
}

// AnyNumber says what may happen in a proof for any number of clients, and what it takes for granted, a sentence each.
func AnyNumber(p *search.Proof, lang string) []string {
	s := p.Search
	l := listOf(s, lang, "prove.assumed.")
	l.lines = MayHappen(s, lang)
	for _, line := range Assumed(s, lang) {
		if line != say(lang, "certificate.assumed.probe") && line != say(lang, "certificate.assumed.fresh") {
			l.lines = append(l.lines, line)
		}
	}
	l.one(so(p.Once.IsZero(), "attempts"), or("once", "why", text.SayMessage(lang, p.Once)))
	if ages := s.Assumed.Ages; ages != (hypothesis.Ages{}) {
		l.add("ages", "ancient", ages.Ancient, "span", ages.Span, "both", ages.Ancient+ages.Span)
	}
	l.tried("tried")
	l.counters()
	for _, key := range []string{"names", "resource", "urgent"} {
		l.add(key, "size", World(p, lang))
	}
	return l.lines
}

// World returns, in a language of package text, the number of clients of a world.
func World(p *search.Proof, lang string) string {
	return say(lang, fmt.Sprint("prove.world.", max(p.Search.Lock.Holders, 1)+1))
}

// Proved says, in a language of package text, what cannot happen: on which conditions, and at which instants; "": none.
func Proved(p *search.Proof, lang string) string {
	if len(p.Proved()) == 0 {
		return ""
	}
	return say(lang, "prove.never."+p.Search.Scope(), "verdicts", joined(p.Proved(), lang), "if", If(p.If(), lang))
}

// HeadOfProof says, in a language of package text, of what a proof is.
func HeadOfProof(p *search.Proof, faults, lang string) string {
	return say(lang, "prove.head", "lock", p.Search.Lock.Heading(), "of", about(p, faults, lang))
}

func about(p *search.Proof, faults, lang string) string {
	scope := "prove.scope.once"
	if p.Once.IsZero() {
		scope = "prove.scope.any"
	}
	return say(lang, "prove.about", "scope", say(lang, scope), "faults", faults,
		"when", say(lang, "certificate.proved.when."+p.Search.Scope()),
		"work", listOf(p.Search, lang, "").m.Timing.Work, "ttl", p.Search.Bounds.TTL)
}

// ProofInLine says in a line what a proof has found, proved and left open, and of what it is.
func ProofInLine(p *search.Proof, lang string) string {
	var said []string
	if found := p.Witnesses(); len(found) > 0 {
		words := lists.Each(found, func(w search.Witness) verdict.Word { return w.Verdict })
		said = append(said, say(lang, "prove.found", "verdicts", joined(words, lang)))
	}
	if len(p.Proved()) > 0 {
		said = append(said, Proved(p, lang))
	}
	if len(p.Open) > 0 {
		said = append(said, say(lang, "prove.left", "verdicts", joined(p.Open, lang)))
	}
	said = append(said, say(lang, "prove.of", "of", about(p, p.Search.Bounds.Faults(), lang)))
	return say(lang, "prove.line", "lock", p.Search.Lock.Heading(), "said", text.Join(lang, "part.sentences", said))
}

// OfProof returns a proof's certificate in a language of package text: what is impossible, what is not, and AnyNumber.
func OfProof(p *search.Proof, lang string) string {
	lines := []string{HeadOfProof(p, p.Search.Bounds.Faults(), lang)}
	if proved := Proved(p, lang); proved != "" {
		lines = append(lines, "  "+proved)
	}
	for _, w := range p.Witnesses() {
		lines = append(lines, "  "+text.Pad(string(w.Verdict), 12)+Broken(p, w, lang))
	}
	for _, w := range p.Open {
		lines = append(lines, "  "+text.Pad(string(w), 12)+say(lang, "prove.open", "size", World(p, lang)))
	}
	for _, line := range AnyNumber(p, lang) {
		lines = append(lines, "  - "+line)
	}
	return strings.Join(append(lines, Size(p, lang)), "\n")
}

// Broken says with which clients, by how many faults and in how many steps a search has found a witness of a proof.
func Broken(p *search.Proof, w search.Witness, lang string) string {
	s, _ := p.BrokenBy(w.Verdict)
	return say(lang, "prove.broken", "clients", s.Bounds.Clients, "par", w.Par, "steps", w.Steps)
}

// Size says how many views a proof has, and how many worlds and moves it has tried.
func Size(p *search.Proof, lang string) string {
	return say(lang, "prove.size", "size", World(p, lang), "views", p.Views, "worlds", p.Worlds, "moves", p.Transitions)
}
