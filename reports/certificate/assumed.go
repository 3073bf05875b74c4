package certificate

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"locklab/faults"
	"locklab/reports/text"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// sentences returns a sentence of a catalogue, below some key.
type sentences func(key string, pairs ...string) string

func sentencesOf(lang, below string) sentences {
	return func(key string, pairs ...string) string { return text.Say(lang, below+key, pairs...) }
}

// MayHappen lists, in a language of package text, what the search lets happen at any
// moment.
func MayHappen(s *search.Search, lang string) []string {
	may := sentencesOf(lang, "certificate.may.")
	var uses []string
	t := searched(s).Timing
	when := may("when.any")
	if t == nil {
		when = may("when.lockstep")
	}
	for _, name := range s.Bounds.Uses.Names() {
		uses = append(uses, may("use."+name, "when", when))
	}
	if d := s.Bounds.Skew; d > 0 {
		key := "skew.unread"
		switch {
		case s.Result.ReadsClock, s.Result.Grain > 0:
			key = "skew"
		case s.Result.Measures:
			key = "skew.measured"
		}
		uses = append(uses, may(key, "skew", d.String()))
	}
	if s.Bounds.Allows(faults.Return) {
		uses = append(uses, may("return"))
	}
	if n := s.Bounds.ClientRetries; n > 0 {
		uses = append(uses, may("retries", "n", fmt.Sprint(n)))
	}
	if t == nil {
		return append(uses, may("order"), may("faults"), may("replies"), may("pauses.lockstep"))
	}
	start := may("start")
	if s.Bounds.Idle {
		start = may("start.within", "idle", t.Idle.String())
	}
	list := append([]string{start, may("work", "work", t.Work.String())}, uses...)
	if t.Latency > 0 {
		list = append(list, may("latency", "latency", t.Latency.String()))
	}
	if t.Lateness > 0 {
		list = append(list, may("lateness", "lateness", t.Lateness.String()))
	}
	return append(list, may("lag"), may("order"), may("faults"), may("replies"), may("lengths"))
}

// searched returns the bounds that the search was given.
func searched(s *search.Search) *explore.Model {
	b, err := s.Bounds.Model(s.Lock)
	if err != nil {
		panic(err) // Check has read the budget
	}
	return b
}

// isOwn reports whether the search is one of package locktest, of code that is no lock of the lab: there are no flags
// of locklab explore.
func isOwn(s *search.Search) bool { return s.Lock.New == nil }

// Assumed lists, in a language of package text, what the search takes for granted.
func Assumed(s *search.Search, lang string) []string {
	assumed := sentencesOf(lang, "certificate.assumed.")
	b := searched(s)
	program := assumed("program")
	if out := s.Bounds.LeftOut(s.Lock); isOwn(s) {
		program = assumed("program.own")
	} else if len(out) > 0 {
		program = assumed("program.without", "uses", strings.Join(out, ", "))
	}
	waits, expiry := assumed("patience", "patience", b.Patience().String()), assumed("expiry")
	switch {
	case s.Lock.Database != "":
		waits, expiry = assumed("patience.database"), assumed("expiry.database")
		if s.Lock.Sessions() {
			expiry = assumed("expiry.database.session")
		}
		if isOwn(s) {
			waits = assumed("patience.own")
		}
	case s.Lock.Sessions():
		waits, expiry = assumed("patience.session", "patience", (b.TTL*2/3).String()), assumed("expiry.session")
	case isOwn(s):
		waits = assumed("patience.own")
	case b.ClientRetries > 0:
		waits = assumed("patience.retries", "patience", b.Patience().String())
	}
	clocks := ofClocks(s, assumed)
	if b.Timing != nil {
		list := append(ofSteps(s, b, expiry, assumed), waits, assumed("fresh"))
		if s.Bounds.Attempts == search.AnyAttempts {
			list = append(list, ofAttempts(s, lang)...)
		}
		return append(append(list, clocks...), program, assumed("function"), assumed("probe"))
	}
	requests := assumed("requests.one")
	if len(b.Retries) > 0 {
		requests = assumed("requests", "n", fmt.Sprint(len(b.Retries)+1), "within", b.RetrySpan().String())
	}
	list := []string{
		assumed("lockstep", "requests", requests, "between", b.Between().String()),
		assumed("work", "work", b.Work().String()),
		assumed("instant"), waits,
	}
	return append(append(list, clocks...), program, assumed("function"), assumed("lengths"), assumed("probe"))
}

// ofAttempts lists what is taken for granted of any number of attempts.
func ofAttempts(s *search.Search, lang string) []string {
	if s.Lock.Sessions() || s.Lock.Database != "" {
		return append(triedBy(s, "prove.assumed.tried.session", lang), text.Say(lang, "prove.assumed.ordered",
			"n", fmt.Sprint(simulator.MostOrdered)))
	}
	list := []string{text.Say(lang, "prove.assumed.attempts"), text.Say(lang, "prove.assumed.names")}
	return append(append(list, tried(s, lang)...), counters(s.Result.Assumed, lang)...)
}

// ofClocks lists what is taken for granted of clocks, threads, tokens and transactions.
func ofClocks(s *search.Search, assumed sentences) []string {
	list := []string{assumed("clocks")}
	if d := s.Bounds.Skew; d > 0 {
		list = []string{assumed("clocks.skew", "step", s.Bounds.Step().String(), "skew", d.String())}
	}
	shows := func(t time.Time) string { return t.Format(time.DateTime + " MST") }
	strides := fmt.Sprint(process.Strides)
	switch {
	case s.ReadsClock:
		list = append(list, assumed("epoch", "epoch", shows(simulator.Epoch)))
	case s.Result.Grain > 0:
		phases := "epoch.stamps"
		switch {
		case s.Phased:
			phases = "epoch.phases"
		case s.Bounds.Timing == search.Lockstep:
			phases = "epoch.lockstep"
		}
		list = append(list, assumed(phases, "epoch", shows(simulator.StampBase), "grain", s.Result.Grain.String()),
			assumed("measured", "stride", process.Stride.Truncate(s.Result.Grain).String(), "strides", strides), assumed("stamps", "strides", strides))
	case s.Measures:
		list = append(list, assumed("epoch.measured", "epoch", shows(simulator.Epoch)),
			assumed("measured", "stride", process.Stride.String(), "strides", strides))
	}
	if s.Lock.Writer != nil {
		list = append(list, assumed("writer"))
	}
	if s.Bounds.Allows(faults.PauseThread) {
		list = append(list, assumed("threads"))
	}
	switch {
	case s.Bounds.Allows(faults.Return) && isOwn(s):
		list = append(list, assumed("return.own"))
	case s.Bounds.Allows(faults.Return):
		list = append(list, assumed("return"))
	}
	if n := s.Lock.Shards; n > 0 {
		list = append(list, assumed("list", "n", fmt.Sprint(min(n, s.Bounds.Settled(s.Lock).Nodes))))
	}
	if t := s.Bounds.Tokens; t != client.Unique {
		list = append(list, assumed("tokens."+t.String()))
	}
	if s.Lock.Ensemble() {
		list = append(list, assumed("transactions"))
	}
	return list
}

// ofSteps lists what is taken for granted of the steps of a search of every timing.
func ofSteps(s *search.Search, b *explore.Model, expiry string, assumed sentences) []string {
	t, grid := b.Timing, s.Grid(b)
	list := []string{assumed("step", "step", t.Step.String())}
	if grid.Rounded != nil {
		list = append(list, assumed("whole", "bounds", wholeSteps(grid.Rounded, t.Step, assumed)))
	}
	list = append(list, offSteps(s, &grid, assumed)...)
	switch {
	case t.Latency == 0 && isOwn(s):
		list = append(list, assumed("latency.own"))
	case t.Latency == 0:
		list = append(list, assumed("latency", "step", t.Step.String()))
	}
	if t.Lateness == 0 {
		list = append(list, assumed("lateness"))
	}
	if list = append(list, expiry); b.Nodes > 1 {
		list = append(list, assumed("together"))
	}
	if s.Lock.Ensemble() {
		list = append(list, assumed("reconnect"))
	}
	return list
}

// wholeSteps returns bounds of faults that are no whole number of steps, with what they
// count for.
func wholeSteps(rounded []simulator.FaultBudget, step time.Duration, assumed sentences) string {
	var list []string
	for _, a := range rounded {
		list = append(list, assumed("whole.one", "fault", a.Fault.Name, "bound", a.Max.String(),
			"shorter", a.Max.Truncate(step).String()))
	}
	return strings.Join(list, ", ")
}

// offSteps returns which lengths are no whole number of steps, or that none is.
func offSteps(s *search.Search, grid *search.Grid, assumed sentences) (lines []string) {
	var off []string
	if grid.OffLease > 0 {
		off = append(off, assumed("off.lease", "d", grid.OffLease.String()))
	}
	for _, list := range grid.Off {
		off = append(off, sayLengths(list, assumed)...)
	}
	switch {
	case len(off) > 0 && grid.Finer == 0:
		lines = append(lines, assumed("off", "constants", strings.Join(off, ", "), "finer", assumed("off.none")))
	case len(off) > 0:
		lines = append(lines, assumed("off", "constants", strings.Join(off, ", "),
			"finer", assumed("off.finer", "step", grid.Finer.String())))
	case s.Complete && !s.ComparesTimes() && grid.Rounded == nil:
		lines = append(lines, assumed("on"))
	}
	if s.ComparesTimes() {
		lines = append(lines, assumed("compared"))
	}
	return lines
}

// maxNamed is the number of lengths of one kind that are named one by one. More of them were drawn or
// computed.
const maxNamed = 3

var lengthNames = [...]string{
	node.KeyLife: "key", node.Session: "session", node.Timer: "timer", node.Patience: "patience",
	node.WaitLimit: "wait", node.Inside: "inside",
}

// sayLengths names lengths of one kind, the shortest first.
func sayLengths(list []node.Length, assumed sentences) (named []string) {
	if len(list) > maxNamed {
		last := list[len(list)-1]
		return []string{assumed("off."+lengthNames[last.Of]+".many", "n", strconv.Itoa(len(list)),
			"d", list[0].D.String(), "last", last.D.String())}
	}
	for _, one := range list {
		named = append(named, assumed("off."+lengthNames[one.Of], "d", one.D.String(),
			"request", quoted(strings.Join(one.Request, " "))))
	}
	return named
}
