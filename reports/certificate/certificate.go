// Package certificate puts into words what a search of package study has covered, what it has
// proved, what it takes for granted, and what it did not check.
package certificate

import (
	"fmt"
	"slices"
	"strings"

	"locklab/reports"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/hypothesis"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// say returns a sentence of a catalogue.
func say(lang, key string, pairs ...any) string {
	return text.Say(lang, key, lists.Each(pairs, func(v any) string { return fmt.Sprint(v) })...)
}

// certificate is the lines of one.
type certificate struct {
	lang  string
	lines []line
}

// A line is a text beside its name, which may be blank.
type line struct{ label, text string }

func (c *certificate) say(key string, pairs ...any) string {
	return say(c.lang, "certificate."+key, pairs...)
}

// line adds a line with its name.
func (c *certificate) line(key string, pairs ...any) { c.list(key, []string{c.say(key, pairs...)}) }

// list adds lines, the first of which has a name.
func (c *certificate) list(key string, items []string) {
	name := c.say(key + ".name")
	for _, item := range items {
		c.lines = append(c.lines, line{"  " + text.Pad(name, 12) + " ", item})
		name = ""
	}
}

// Of returns the certificate of a search in a language of package text.
func Of(s *search.Search, lang string) string {
	lines := lists.Each(linesOf(s, lang), func(l line) string { return l.label + l.text })
	return strings.Join(lines, "\n")
}

// Print prints the certificate of a search in each language of a printer, broken at its width.
func Print(p *text.Printer, s *search.Search) {
	for _, lang := range p.Langs() {
		for _, l := range linesOf(s, lang)[1:] {
			p.Wrap(l.label, l.text)
		}
	}
}

// PrintClaim prints the first line of the certificate: the lock, and what the search has shown.
func PrintClaim(p *text.Printer, s *search.Search) {
	p.Lines("", func(lang string) string { return linesOf(s, lang)[0].text })
}

// Against returns, in the words of say, the command that makes the attack of a run on another lock.
func Against(t simulator.Trace, say func(key string, pairs ...string) string) string {
	key, rival := "locktest.against", search.Rival(t)
	switch rival {
	case "":
		return say(key + ".none")
	case "token":
	default:
		key += ".other"
	}
	return say(key) + "\n  locklab run " + t.Link() + " --against " + rival
}

// linesOf returns the certificate of a search.
func linesOf(s *search.Search, lang string) []line {
	r, b := s.Result, s.Bounds
	c := &certificate{lang: lang}
	c.lines = append(c.lines, line{"", c.say("head", "lock", s.Lock.Heading(), "claim", Claim(s, lang))})
	c.line("bounds", "who", who(b, lang), "nodes", b.Nodes, "ttl", b.TTL, "faults", b.Faults())
	c.list("may", MayHappen(s, lang))
	c.list("assumed", Assumed(s, lang))
	c.listOthers(s)
	c.line("states", "states", r.States, "transitions", r.Transitions, "depth", r.Depth,
		"complete", c.say("complete."+fmt.Sprint(r.Complete)))
	if !r.Limit.IsZero() {
		c.line("limit", "limit", text.SayMessage(lang, r.Limit))
	}
	c.listReductions(s)
	if r.Rechecked > 0 {
		c.line("rechecked", "moves", r.Rechecked)
	}
	c.line(map[bool]string{true: "code", false: "code.once"}[r.Repeated], "histories", r.Histories)
	if names := s.Untriggered(); names != nil {
		c.line("untriggered", "faults", strings.Join(names, ", "))
	}
	c.line("looked", "verdicts", looked(s))
	c.line(map[bool]string{true: "unchecked.any", false: "unchecked"}[b.Attempts == search.AnyAttempts])
	return c.lines
}

// looked names the verdicts that were looked for, with the bounds of those that have one.
func looked(s *search.Search) string {
	unjudged := s.Unjudged()
	words := slices.DeleteFunc(s.Looked(), func(w verdict.Word) bool { return slices.Contains(unjudged, w) })
	bounds := strings.NewReplacer(string(verdict.Slow), fmt.Sprintf("%s (> %v)", verdict.Slow, s.Bounds.Slow),
		string(verdict.Noisy), fmt.Sprintf("%s (> %d/s)", verdict.Noisy, s.Bounds.Noisy))
	return bounds.Replace(reports.Words(words))
}

// listOthers adds what other searches of the lock have come to, and which verdicts are met at a boundary only.
func (c *certificate) listOthers(s *search.Search) {
	other := func(key string, o *search.Search) {
		if len(o.Found) == 0 {
			key += ".none"
		}
		c.line(key, "what", difference(s, o, c.lang), "states", o.States, "verdicts", strings.Join(o.Pars(), " "))
	}
	for _, o := range s.Beside {
		other("beside", o)
	}
	for _, o := range s.Cut {
		other("tried", o)
	}
	for _, o := range s.Ways {
		c.line("way", "what", difference(s, o, c.lang), "verdicts", strings.Join(o.Pars(), " "))
	}
	if only := s.ByBoundary(explore.BoundaryOnly); only != nil {
		c.line("boundary", "verdicts", reports.Words(only))
	}
	if open := s.ByBoundary(explore.Unchecked); open != nil {
		c.line("boundary.open", "verdicts", reports.Words(open))
	}
}

// listReductions adds what the search leaves out of its states, and why it does not use symmetry.
func (c *certificate) listReductions(s *search.Search) {
	r := s.Result
	clock := "clock.unused"
	switch {
	case r.ReadsClock:
		clock = "clock.used"
	case r.Grain > 0:
		clock = "clock.stamps"
	case r.Measures:
		clock = "clock.measured"
	}
	c.line("reduction", "symmetry", c.say(map[bool]string{true: "used", false: "unused"}[r.Symmetry]), "clock",
		c.say(clock))
	c.list("hypotheses", c.hypotheses(s))
	why := ""
	switch a := r.Asymmetry; {
	case a == nil:
	case a.Command != nil:
		why = c.say("asymmetry.command", "command", quoted(strings.Join(a.Command, " ")))
	case a.Reply != "":
		why = c.say("asymmetry.reply", "reply", quoted(a.Reply))
	case a.Was != "":
		why = c.say("asymmetry.code", "does", quoted(a.Was))
	case a.Session:
		why = c.say("asymmetry.session")
	}
	if why != "" {
		c.line("asymmetry", "why", why)
	}
}

// hypotheses puts what a search took for granted of code and servers into words, but for what does not bear on the
// lock: it reads no clock, or no ensemble numbers its transactions.
func (c *certificate) hypotheses(s *search.Search) []string {
	clients := s.Result.Assumed.Symmetric
	if s.Bounds.Attempts == search.AnyAttempts { // others are their former names
		clients = s.Bounds.Clients
	}
	keys := s.Result.Assumed.Lines(hypothesis.Met{
		Measures: s.Result.Measures, Grain: s.Result.Grain, Transactions: s.Lock.Ensemble()})
	if keys == nil {
		keys = []string{"none"}
	}
	return lists.Each(keys, func(key string) string { return c.say("hypotheses."+key, "n", clients) })
}

// Scope returns, in a language of package text, what a search within bounds is of.
func Scope(b search.Bounds, lang string) string {
	none := &search.Search{Result: &explore.Result{}}
	return difference(none, &search.Search{Bounds: b, Result: none.Result}, lang)
}

// difference returns in what another search of the same lock was not like s.
func difference(s, o *search.Search, lang string) string {
	a, b := s.Bounds, o.Bounds
	what := say(lang, "certificate.other.timing."+o.Scope())
	for _, one := range []struct {
		differs   bool
		key, name string
		value     any
	}{
		{b.Nodes != a.Nodes, "nodes", "nodes", b.Nodes},
		{b.Clients != a.Clients, "clients", "clients", counted("clients", b.Clients, lang)},
		{b.Attempts != a.Attempts, "attempts", "attempts", Attempts(b, lang)},
		{b.Late && !a.Late, "late", "", nil},
		{b.Uses != a.Uses && b.Uses != 0, "uses", "uses", strings.Join(b.Uses.Names(), ", ")},
		{b.Epoch != a.Epoch, "epoch", "by", b.Epoch.Ahead() - a.Epoch.Ahead()},
		{b.Faults() != a.Faults(), "faults", "faults", b.Faults()},
	} {
		if one.differs {
			what = say(lang, "certificate.other."+one.key, "what", what, one.name, one.value)
		}
	}
	return what
}

// Elsewhere returns, in a language of package text, in which other search w was found; "": in s.
func Elsewhere(s *search.Search, w search.Witness, lang string) string {
	switch o := s.FoundBy(w); o {
	case s:
		return ""
	case nil:
		return w.Trace.Settings
	default:
		return difference(s, o, lang)
	}
}

// Claim returns, in a language of package text, the headline of a search: what is proved, or what was found if anything
// was, for how many clients and attempts, at which timing, and what other searches of the lock have found besides.
func Claim(s *search.Search, lang string) string {
	words, all, others := allFound(s, lang)
	switch {
	case !s.Complete:
		return cut(s, lang)
	case s.Inconclusive():
		return say(lang, "certificate.untold", "faults", strings.Join(s.Untriggered(), ", "))
	case s.Open != nil:
		return say(lang, "certificate.undecided", "who", who(s.Bounds, lang), "verdicts", joined(s.Open, lang),
			"others", others)
	}
	head, found := "certificate.proved", say(lang, "certificate.proved.none")
	if words != nil {
		head = "certificate.found"
		found = say(lang, "certificate.proved.some", "verdicts", joined(words, lang))
	}
	at := when(s, lang)
	if others != "" { // another timing may have more
		at = say(lang, "certificate.proved.when."+s.Scope())
	}
	if others != "" && words == nil {
		head, found = "certificate.union", say(lang, "certificate.union.none")
	} else if others != "" {
		head, found = "certificate.union", say(lang, "certificate.union.some", "verdicts", joined(words, lang))
	}
	switch {
	case s.Unjudged() != nil && others != "":
		others += Unjudged(s, lang)
	case s.Unjudged() != nil:
		head, others = "certificate.searched", others+Unjudged(s, lang)
	case head == "certificate.proved" && isLockstep(s) && s.Bounds.Latency > 0:
		head = "certificate.lockstep.travel"
	case head == "certificate.proved" && isLockstep(s):
		head = "certificate.lockstep"
	}
	return say(lang, head, "who", who(s.Bounds, lang), "when", at, "found", found, "others", others,
		"all", joined(all, lang), "if", If(s.If(), lang), "latency", s.Bounds.Latency)
}

// cut is the headline of a search that was cut short: what was found, why it ended and what to do about that.
func cut(s *search.Search, lang string) string {
	found, why, complete := say(lang, "certificate.cut.none"), "", ""
	words, _, others := allFound(s, lang)
	if words != nil {
		found = say(lang, "certificate.cut.some", "verdicts", joined(words, lang))
	}
	if !s.Result.Limit.IsZero() {
		why = say(lang, "certificate.cut.why", "limit", text.SayMessage(lang, s.Result.Limit))
	}
	for _, o := range s.Beside {
		complete += " " + say(lang, "certificate.cut.complete", "claim", Claim(o, lang))
	}
	return say(lang, "certificate.cut", "found", found, "others", others, "why", why, "complete", complete)
}

// If returns, in a language of package text, on which conditions something is claimed; "": on none.
func If(keys []string, lang string) string {
	switch {
	case slices.Contains(keys, "own"):
		return say(lang, "certificate.if.own")
	case keys == nil:
		return ""
	}
	all := lists.Each(keys, func(key string) string { return say(lang, "certificate.if."+key) })
	return say(lang, "certificate.if", "list", text.Join(lang, "certificate.if.list", all))
}

// Unjudged returns, in a language of package text, which verdicts so few clients cannot show, and how many can; or "".
func Unjudged(s *search.Search, lang string) string {
	words, key := s.Unjudged(), "certificate.unjudged"
	if words == nil {
		return ""
	}
	if s.Enough() == 0 {
		key = "certificate.unjudged.any"
	}
	return say(lang, key, "verdicts", joined(words, lang), "clients", counted("clients", s.Bounds.Clients, lang),
		"enough", s.Enough())
}

// when returns at which timing a headline is true.
func when(s *search.Search, lang string) string {
	if s.Scope() == search.ScopeLockstep && !isLockstep(s) {
		return say(lang, "certificate.proved.when.both")
	}
	return say(lang, "certificate.proved.when."+s.Scope())
}

// isLockstep reports whether a headline is true in lockstep only, which proves little: messages take no time there.
func isLockstep(s *search.Search) bool {
	return s.Scope() == search.ScopeLockstep && !slices.ContainsFunc(s.Beside,
		func(o *search.Search) bool { return saysMore(o, s) })
}

// saysMore reports whether o, a complete search at every timing, has the bounds of s, which is in lockstep.
func saysMore(o, s *search.Search) bool {
	same := []string{"clients", "attempts", "nodes", "uses", "budget", "slow", "noisy"}
	return s.Scope() == search.ScopeLockstep && o.Scope() == search.ScopeAny && !o.Inconclusive() &&
		o.Bounds.Unlike(s.Bounds, same...) == nil
}

// allFound returns which verdicts s has found, and what other searches were and have found besides.
func allFound(s *search.Search, lang string) (words, all []verdict.Word, said string) {
	words, all = s.Verdicts(), s.Verdicts()
	for _, o := range slices.Concat(s.Beside, s.Cut, s.Ways) {
		words := slices.DeleteFunc(o.Verdicts(), func(w verdict.Word) bool { return slices.Contains(all, w) })
		if len(words) > 0 {
			all = append(all, words...)
			said += say(lang, "certificate.proved.other", "verdicts", joined(words, lang), "what",
				difference(s, o, lang))
		}
	}
	return words, all, said
}

// who returns how many clients there are and how often each wants the lock.
func who(b search.Bounds, lang string) string {
	return say(lang, "certificate.who", "clients", counted("clients", b.Clients, lang), "attempts", Attempts(b, lang))
}

// Attempts returns, in a language of package text, how often each client wants the lock.
func Attempts(b search.Bounds, lang string) string { return counted("attempts", b.Attempts, lang) }

// counted returns a number with what it counts.
func counted(what string, n int, lang string) string {
	switch n {
	case 1:
		what += ".one"
	case search.AnyAttempts:
		what += ".any"
	}
	return say(lang, "certificate."+what, "n", n)
}

// joined returns verdicts as a list within a sentence.
func joined(words []verdict.Word, lang string) string {
	return text.Join(lang, "chart.list", verdict.Names(words))
}

// quoted returns a text of the lock's own, such as a script, in one line that is not too long.
func quoted(s string) string { return layout.Clip(strings.Join(strings.Fields(s), " "), 100) }
