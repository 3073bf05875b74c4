package study

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locklab/faults"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/process"
	"locklab/simulator/verdict"
)

// Certificate returns in English what the search covered, what it assumed, and what it
// did not check.
func (s *Search) Certificate() string { return s.CertificateIn("en") }

// sentences returns a sentence of a catalogue, below some key.
type sentences func(key string, pairs ...string) string

func sentencesOf(lang, below string) sentences {
	return func(key string, pairs ...string) string { return text.Say(lang, below+key, pairs...) }
}

// certificate is the lines of one.
type certificate struct {
	say   sentences
	lines []string
}

// line adds a line with its name.
func (c *certificate) line(key string, pairs ...string) {
	c.list(key, []string{c.say(key, pairs...)})
}

// list adds lines, the first of which has a name.
func (c *certificate) list(key string, items []string) {
	for i, item := range items {
		name := ""
		if i == 0 {
			name = c.say(key + ".name")
		}
		c.lines = append(c.lines, "  "+text.Pad(name, 12)+" "+item)
	}
}

// CertificateIn is Certificate in a language of package text.
func (s *Search) CertificateIn(lang string) string {
	r, b := s.Result, s.Bounds
	c := &certificate{say: sentencesOf(lang, "certificate.")}
	c.lines = append(c.lines, c.say("head", "lock", s.Strategy.Heading(), "claim", s.Claim(lang)))
	c.line("bounds", "who", b.who(c.say), "nodes", fmt.Sprint(b.Nodes), "ttl", b.TTL.String(), "faults", b.Faults())
	c.list("may", s.MayHappen(lang))
	c.list("assumed", s.Assumed(lang))
	s.listOthers(c)
	c.line("states", "states", fmt.Sprint(r.States), "transitions", fmt.Sprint(r.Transitions), "depth", fmt.Sprint(r.Depth), "complete", fmt.Sprint(r.Complete))
	if !r.Limit.IsZero() {
		c.line("limit", "limit", text.SayMessage(lang, r.Limit))
	}
	s.listReductions(c)
	if r.Repeated {
		c.line("code", "histories", fmt.Sprint(r.Histories))
	} else {
		c.line("code.once", "histories", fmt.Sprint(r.Histories))
	}
	if names := s.Untriggered(); names != nil {
		c.line("untriggered", "faults", strings.Join(names, ", "))
	}
	c.line("looked", "verdicts", searchList())
	c.line("unchecked")
	return strings.Join(c.lines, "\n")
}

// listOthers adds what other searches of the lock have come to, and which verdicts are met at a
// boundary only.
func (s *Search) listOthers(c *certificate) {
	other := func(key string, o *Search) {
		if len(o.Found) == 0 {
			key += ".none"
		}
		c.line(key, "what", s.otherwise(o, c.say), "states", fmt.Sprint(o.States), "verdicts", strings.Join(o.Pars(), " "))
	}
	for _, o := range s.Beside {
		other("beside", o)
	}
	for _, o := range s.Cut {
		other("tried", o)
	}
	if only := s.ByBoundary(explore.BoundaryOnly); only != nil {
		c.line("boundary", "verdicts", strings.Join(only, " "))
	}
	if open := s.ByBoundary(explore.Unchecked); open != nil {
		c.line("boundary.open", "verdicts", strings.Join(open, " "))
	}
}

// listReductions adds which reductions were used, and why symmetry was not.
func (s *Search) listReductions(c *certificate) {
	used := func(is bool) string {
		if is {
			return c.say("used")
		}
		return c.say("unused")
	}
	clock := "clock.unused"
	switch {
	case s.Result.ReadsClock:
		clock = "clock.used"
	case s.Result.Measures:
		clock = "clock.measured"
	}
	c.line("reduction", "symmetry", used(s.Result.Symmetry), "order", used(!s.Bounds.Causes), "clock", c.say(clock))
	switch why := &s.Result.Asymmetry; {
	case why.Command != nil:
		c.line("asymmetry", "why", c.say("asymmetry.command", "command", quoted(strings.Join(why.Command, " "))))
	case why.Reply != "":
		c.line("asymmetry", "why", c.say("asymmetry.reply", "reply", quoted(why.Reply)))
	case why.Does != "":
		c.line("asymmetry", "why", c.say("asymmetry.code", "does", quoted(why.Does)))
	case why.Session:
		c.line("asymmetry", "why", c.say("asymmetry.session"))
	}
}

// otherwise says in what another search of the same lock was not like s.
func (s *Search) otherwise(o *Search, say sentences) string {
	what := say("other.timing." + o.Scope())
	if n := o.Bounds.Nodes; n != s.Bounds.Nodes {
		what = say("other.nodes", "what", what, "nodes", fmt.Sprint(n))
	}
	if n := o.Bounds.Attempts; n != s.Bounds.Attempts {
		what = say("other.attempts", "what", what, "attempts", counted("attempts", n, say))
	}
	if uses := o.Bounds.Uses; uses != s.Bounds.Uses && uses != 0 {
		what = say("other.uses", "what", what, "uses", strings.Join(uses.Names(), ", "))
	}
	if o.Bounds.Budget != s.Bounds.Budget {
		what = say("other.faults", "what", what, "faults", o.Bounds.Faults())
	}
	return what
}

// Elsewhere says, in a language of package text, in which other search w was found; "": in s.
func (s *Search) Elsewhere(w Witness, lang string) string {
	if w.Trace.Settings == s.Bounds.String() {
		return ""
	}
	for _, o := range slices.Concat(s.Cut, s.Beside) {
		if w.Trace.Settings == o.Bounds.String() {
			return s.otherwise(o, sentencesOf(lang, "certificate."))
		}
	}
	return w.Trace.Settings
}

// Of what a search claims, its checkpoint may say a part, or all, that was not searched here.
const (
	FromFileInPart = "part" // states that were not all computed again
	FromFile       = "all"  // which verdicts there are
)

// FromFile returns how much of the result is taken from the checkpoint; "": nothing.
func (s *Search) FromFile() string {
	switch k := s.Result.Kept; {
	case k.Visited:
		return FromFile
	case k.Sampled:
		return FromFileInPart
	}
	return ""
}

// Claim returns, in a language of package text, the headline of a search: what is proved, for how
// many clients and attempts, at which timing, and what other searches of the lock have found
// besides.
func (s *Search) Claim(lang string) string {
	say := sentencesOf(lang, "certificate.")
	switch {
	case s.FromFile() == FromFile:
		return say("file.all")
	case !s.Complete:
		return say("cut")
	case s.Inconclusive():
		return say("untold", "faults", strings.Join(s.Untriggered(), ", "))
	case s.FromFile() == FromFileInPart:
		return say("file.part", "states", fmt.Sprint(s.Result.Kept.Had))
	}
	found := say("proved.none")
	if words := s.found(); words != nil {
		found = say("proved.some", "verdicts", joined(words, lang))
	}
	return say("proved", "who", s.Bounds.who(say), "when", say("proved.when."+s.Scope()), "found", found, "others", s.othersFound(lang))
}

// The scopes of a search: what its proof is about.
const (
	ScopeAny      = "any"      // every timing
	ScopeInstants = "instants" // every timing, at the instants searched: see comparesTimes
	ScopeLockstep = "lockstep" // one schedule
)

// Scope is one of the scopes.
func (s *Search) Scope() string {
	switch {
	case s.Bounds.Timing != AnyTiming:
		return ScopeLockstep
	case s.comparesTimes():
		return ScopeInstants
	}
	return ScopeAny
}

// comparesTimes says whether the clients' code has looked at a clock, or at what is left of a
// key's time to live. With which constants it compares that is not seen: what it does between two
// instants that were searched is not known.
func (s *Search) comparesTimes() bool {
	return s.ReadsClock || s.Measures || slices.ContainsFunc(s.Lengths, func(one simulator.Length) bool { return one.Of == simulator.Remainders })
}

// found are the verdicts that s itself has found, in their order; nil: none.
func (s *Search) found() (words []verdict.Word) {
	for _, w := range s.Found {
		if !slices.Contains(words, w.Verdict) {
			words = append(words, w.Verdict)
		}
	}
	return words
}

// othersFound says which verdicts other searches have found that s has not, and what these
// searches were.
func (s *Search) othersFound(lang string) string {
	say := sentencesOf(lang, "certificate.")
	said, named := "", s.found()
	for _, o := range slices.Concat(s.Beside, s.Cut) {
		words := slices.DeleteFunc(o.found(), func(w verdict.Word) bool { return slices.Contains(named, w) })
		if len(words) > 0 {
			named = append(named, words...)
			said += say("proved.other", "verdicts", joined(words, lang), "what", s.otherwise(o, say))
		}
	}
	return said
}

func joined(words []verdict.Word, lang string) string {
	var names []string
	for _, w := range words {
		names = append(names, string(w))
	}
	return text.Join(lang, "chart.list", names)
}

// who says how many clients there are and how often each wants the lock.
func (b Bounds) who(say sentences) string {
	return say("who", "clients", counted("clients", b.Clients, say), "attempts", counted("attempts", b.Attempts, say))
}

// counted is a number with what it counts.
func counted(what string, n int, say sentences) string {
	if n == 1 {
		what += ".one"
	}
	return say(what, "n", fmt.Sprint(n))
}

// Inconclusive says whether the search has found nothing, and a fault of the budget could
// be injected nowhere: it says nothing about that fault.
func (s *Search) Inconclusive() bool {
	return s.Complete && len(s.Witnesses) == 0 && s.Untriggered() != nil
}

// MayHappen lists, in a language of package text, what the search lets happen at any
// moment.
func (s *Search) MayHappen(lang string) []string {
	say := sentencesOf(lang, "certificate.may.")
	var uses []string
	t := s.Bounds.timing()
	when := say("when.any")
	if t == nil {
		when = say("when.lockstep")
	}
	for _, name := range s.Bounds.Uses.Names() {
		uses = append(uses, say("use."+name, "when", when))
	}
	if d := s.Bounds.Skew; d > 0 {
		key := "skew.unread"
		switch {
		case s.Result.ReadsClock:
			key = "skew"
		case s.Result.Measures:
			key = "skew.measured"
		}
		uses = append(uses, say(key, "skew", d.String()))
	}
	if s.Bounds.allows(faults.Return{}) {
		uses = append(uses, say("return"))
	}
	if n := s.Bounds.ClientRetries; n > 0 {
		uses = append(uses, say("retries", "n", fmt.Sprint(n)))
	}
	if t == nil {
		return append(uses, say("order"), say("faults"), say("replies"), say("pauses.lockstep"))
	}
	start := say("start")
	if s.Bounds.Idle {
		start = say("start.within", "idle", t.Idle.String())
	}
	list := append([]string{start, say("work", "work", t.Work.String())}, uses...)
	if t.Latency > 0 {
		list = append(list, say("latency", "latency", t.Latency.String()))
	}
	if t.Lateness > 0 {
		list = append(list, say("lateness", "lateness", t.Lateness.String()))
	}
	return append(list, say("lag"), say("order"), say("faults"), say("replies"), say("lengths"))
}

// Assumed lists, in a language of package text, what the search takes for granted.
func (s *Search) Assumed(lang string) []string {
	say := sentencesOf(lang, "certificate.assumed.")
	b, err := s.Bounds.Of(s.Strategy)
	if err != nil {
		panic(err) // Check has read the budget
	}
	program := say("program")
	if out := s.Bounds.leftOut(s.Strategy); s.Strategy.New == nil {
		program = say("program.own")
	} else if len(out) > 0 {
		program = say("program.without", "uses", strings.Join(out, ", "))
	}
	waits, expiry := say("patience", "patience", b.Patience().String()), say("expiry")
	switch {
	case s.Strategy.OnZooKeeper():
		waits, expiry = say("patience.session", "patience", (b.TTL*2/3).String()), say("expiry.session")
	case s.Strategy.New == nil: // somebody's own code
		waits = say("patience.own")
	case b.ClientRetries > 0:
		waits = say("patience.retries", "patience", b.Patience().String())
	}
	clocks := s.assumedOfClocks(say)
	if b.Timing != nil {
		list := append(s.assumedOfSteps(b, expiry, say), waits, say("fresh"))
		return append(append(list, clocks...), program, say("function"), say("probe"))
	}
	requests := say("requests.one")
	if len(b.Retries) > 0 {
		requests = say("requests", "n", fmt.Sprint(len(b.Retries)+1), "within", b.RetrySpan().String())
	}
	list := []string{
		say("lockstep", "requests", requests, "between", b.Between().String()), say("work", "work", b.Work().String()),
		say("instant"), waits,
	}
	return append(append(list, clocks...), program, say("function"), say("lengths"), say("probe"))
}

// assumedOfClocks lists what is taken for granted of clocks, threads, tokens and transactions.
func (s *Search) assumedOfClocks(say sentences) []string {
	list := []string{say("clocks")}
	if d := s.Bounds.Skew; d > 0 {
		list = []string{say("clocks.skew", "step", s.Bounds.step().String(), "skew", d.String())}
	}
	switch epoch := simulator.Epoch.Format(time.DateTime + " MST"); {
	case s.ReadsClock:
		list = append(list, say("epoch", "epoch", epoch))
	case s.Measures:
		list = append(list, say("epoch.measured", "epoch", epoch))
	}
	if s.Result.Measures {
		list = append(list, say("measured", "stride", process.Stride.String(), "strides", fmt.Sprint(process.Strides)))
	}
	if s.Bounds.allows(faults.PauseThread{}) {
		list = append(list, say("threads"))
	}
	if s.Bounds.allows(faults.Return{}) {
		list = append(list, say("return"))
	}
	if t := s.Bounds.Tokens; t != client.Unique {
		list = append(list, say("tokens."+t.String()))
	}
	if s.Strategy.OnZooKeeper() {
		list = append(list, say("transactions"))
	}
	return list
}

// assumedOfSteps lists what is taken for granted of the steps of a search of every timing.
func (s *Search) assumedOfSteps(b *explore.Bounds, expiry string, say sentences) []string {
	t := b.Timing
	list := []string{say("step", "step", t.Step.String())}
	whole := wholeSteps(b.Faults, t.Step, say)
	if whole != "" {
		list = append(list, say("whole", "bounds", whole))
	}
	list = append(list, s.offSteps(b, whole != "", say)...)
	if t.Latency == 0 {
		list = append(list, say("latency", "step", t.Step.String()))
	}
	if t.Lateness == 0 {
		list = append(list, say("lateness"))
	}
	if list = append(list, expiry); b.Nodes > 1 {
		list = append(list, say("together"))
	}
	if s.Strategy.OnZooKeeper() {
		list = append(list, say("reconnect"))
	}
	return list
}

// wholeSteps lists the bounds of faults that are no whole number of steps, with what they
// count for.
func wholeSteps(budget []simulator.FaultBudget, step time.Duration, say sentences) string {
	var rounded []string
	for _, a := range budget {
		if a.Times > 0 && a.Max%step != 0 && !(jumps(a) && a.Max < step) {
			rounded = append(rounded, say("whole.one", "fault", a.Fault.Name(), "bound", a.Max.String(), "shorter", a.Max.Truncate(step).String()))
		}
	}
	return strings.Join(rounded, ", ")
}

// quoted is a text of the lock's own, such as a script, in one line that is not too long.
func quoted(s string) string { return layout.Clip(strings.Join(strings.Fields(s), " "), 100) }

func searchList() string {
	var s []string
	for _, w := range explore.Words() {
		s = append(s, string(w))
	}
	return strings.Join(s, " ")
}
