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
	"locklab/simulator/explore"
	"locklab/simulator/hypothesis"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// certificate is the lines of one.
type certificate struct {
	lang  string
	lines []line
}

// A line is a text beside its name, which may be blank.
type line struct{ label, text string }

func (c *certificate) say(key string, pairs ...string) string { return text.Say(c.lang, key, pairs...) }

// line adds a line with its name.
func (c *certificate) line(key string, pairs ...string) {
	c.list(key, []string{c.say("certificate."+key, pairs...)})
}

// list adds lines, the first of which has a name.
func (c *certificate) list(key string, items []string) {
	for i, item := range items {
		name := ""
		if i == 0 {
			name = c.say("certificate." + key + ".name")
		}
		c.lines = append(c.lines, line{"  " + text.Pad(name, 12) + " ", item})
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
	for _, lang := range p.Langs() {
		p.Wrap("", linesOf(s, lang)[0].text)
	}
}

// linesOf returns the certificate of a search.
func linesOf(s *search.Search, lang string) []line {
	r, b := s.Result, s.Bounds
	c := &certificate{lang: lang}
	c.lines = append(c.lines, line{"", c.say("certificate.head", "lock", s.Lock.Heading(),
		"claim", Claim(s, lang))})
	c.line("bounds", "who", who(b, lang), "nodes", fmt.Sprint(b.Nodes), "ttl", b.TTL.String(), "faults", b.Faults())
	c.list("may", MayHappen(s, lang))
	c.list("assumed", Assumed(s, lang))
	c.listOthers(s)
	c.line("states", "states", fmt.Sprint(r.States), "transitions", fmt.Sprint(r.Transitions),
		"depth", fmt.Sprint(r.Depth), "complete", fmt.Sprint(r.Complete))
	if !r.Limit.IsZero() {
		c.line("limit", "limit", text.SayMessage(lang, r.Limit))
	}
	c.listReductions(s)
	if r.Rechecked > 0 {
		c.line("rechecked", "moves", fmt.Sprint(r.Rechecked))
	}
	if r.Repeated {
		c.line("code", "histories", fmt.Sprint(r.Histories))
	} else {
		c.line("code.once", "histories", fmt.Sprint(r.Histories))
	}
	if names := s.Untriggered(); names != nil {
		c.line("untriggered", "faults", strings.Join(names, ", "))
	}
	c.line("looked", "verdicts", looked(s))
	if b.Attempts == search.AnyAttempts {
		c.line("unchecked.any")
	} else {
		c.line("unchecked")
	}
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

// listOthers adds what other searches of the lock have come to, and which verdicts are met at a
// boundary only.
func (c *certificate) listOthers(s *search.Search) {
	other := func(key string, o *search.Search) {
		if len(o.Found) == 0 {
			key += ".none"
		}
		c.line(key, "what", difference(s, o, c.lang), "states", fmt.Sprint(o.States),
			"verdicts", strings.Join(o.Pars(), " "))
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
	used := func(is bool) string {
		if is {
			return c.say("certificate.used")
		}
		return c.say("certificate.unused")
	}
	clock := "certificate.clock.unused"
	switch {
	case s.Result.ReadsClock:
		clock = "certificate.clock.used"
	case s.Result.Grain > 0:
		clock = "certificate.clock.stamps"
	case s.Result.Measures:
		clock = "certificate.clock.measured"
	}
	c.line("reduction", "symmetry", used(s.Result.Symmetry), "clock", c.say(clock))
	c.list("hypotheses", c.hypotheses(s))
	switch why := s.Result.Asymmetry; {
	case why == nil:
	case why.Command != nil:
		c.line("asymmetry", "why", c.say("certificate.asymmetry.command",
			"command", quoted(strings.Join(why.Command, " "))))
	case why.Reply != "":
		c.line("asymmetry", "why", c.say("certificate.asymmetry.reply", "reply", quoted(why.Reply)))
	case why.Was != "":
		c.line("asymmetry", "why", c.say("certificate.asymmetry.code", "does", quoted(why.Was)))
	case why.Session:
		c.line("asymmetry", "why", c.say("certificate.asymmetry.session"))
	}
}

// hypotheses puts what a search took for granted of code and servers into words, but for what does not bear on the
// lock: it reads no clock, or no ensemble numbers its transactions.
func (c *certificate) hypotheses(s *search.Search) (list []string) {
	a, clients := s.Result.Assumed, s.Result.Assumed.Symmetric
	if s.Bounds.Attempts == search.AnyAttempts { // others are their former names
		clients = s.Bounds.Clients
	}
	met := hypothesis.Met{Measures: s.Result.Measures, Grain: s.Result.Grain, Transactions: s.Lock.Ensemble()}
	keys := a.Lines(met)
	if keys == nil {
		keys = []string{"none"}
	}
	for _, key := range keys {
		list = append(list, c.say("certificate.hypotheses."+key, "n", fmt.Sprint(clients)))
	}
	return list
}

// difference returns in what another search of the same lock was not like s.
func difference(s, o *search.Search, lang string) string {
	what := text.Say(lang, "certificate.other.timing."+o.Scope())
	if n := o.Bounds.Nodes; n != s.Bounds.Nodes {
		what = text.Say(lang, "certificate.other.nodes", "what", what, "nodes", fmt.Sprint(n))
	}
	if n := o.Bounds.Clients; n != s.Bounds.Clients {
		what = text.Say(lang, "certificate.other.clients", "what", what, "clients", counted("clients", n, lang))
	}
	if n := o.Bounds.Attempts; n != s.Bounds.Attempts {
		what = text.Say(lang, "certificate.other.attempts", "what", what, "attempts", counted("attempts", n, lang))
	}
	if uses := o.Bounds.Uses; uses != s.Bounds.Uses && uses != 0 {
		what = text.Say(lang, "certificate.other.uses", "what", what, "uses", strings.Join(uses.Names(), ", "))
	}
	if o.Bounds.Epoch != s.Bounds.Epoch {
		what = text.Say(lang, "certificate.other.epoch", "what", what,
			"by", (o.Bounds.Epoch.Ahead() - s.Bounds.Epoch.Ahead()).String())
	}
	if o.Bounds.Faults() != s.Bounds.Faults() {
		what = text.Say(lang, "certificate.other.faults", "what", what, "faults", o.Bounds.Faults())
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

// Claim returns, in a language of package text, the headline of a search: what is proved, or what was
// found if anything was, for how many clients and attempts, at which timing, and what other searches
// of the lock have found besides.
func Claim(s *search.Search, lang string) string {
	switch {
	case !s.Complete:
		return text.Say(lang, "certificate.cut")
	case s.Inconclusive():
		return text.Say(lang, "certificate.untold", "faults", strings.Join(s.Untriggered(), ", "))
	}
	if s.Open != nil {
		return text.Say(lang, "certificate.undecided", "who", who(s.Bounds, lang), "verdicts", joined(s.Open, lang),
			"others", othersFound(s, lang))
	}
	head, found, others := "certificate.proved", text.Say(lang, "certificate.proved.none"), othersFound(s, lang)
	if len(s.Witnesses) > 0 {
		head = "certificate.found"
	}
	if words := s.Verdicts(); words != nil {
		found = text.Say(lang, "certificate.proved.some", "verdicts", joined(words, lang))
	}
	if s.Unjudged() != nil {
		head, others = "certificate.searched", others+Unjudged(s, lang)
	}
	return text.Say(lang, head, "who", who(s.Bounds, lang), "when", when(s, lang), "found", found, "others", others,
		"if", If(s.If(), lang))
}

// If returns, in a language of package text, on which conditions something is claimed; "": on none.
func If(keys []string, lang string) string {
	if slices.Contains(keys, "own") {
		return text.Say(lang, "certificate.if.own")
	}
	if keys == nil {
		return ""
	}
	list := lists.Each(keys, func(key string) string { return text.Say(lang, "certificate.if."+key) })
	return text.Say(lang, "certificate.if", "list", text.Join(lang, "certificate.if.list", list))
}

// Unjudged returns, in a language of package text, which verdicts so few clients cannot show, and how many can; ""
// where they show all.
func Unjudged(s *search.Search, lang string) string {
	words, key := s.Unjudged(), "certificate.unjudged"
	if words == nil {
		return ""
	}
	if s.Enough() == 0 {
		key = "certificate.unjudged.any"
	}
	return text.Say(lang, key, "verdicts", joined(words, lang), "clients", counted("clients", s.Bounds.Clients, lang),
		"enough", fmt.Sprint(s.Enough()))
}

// when returns at which timing a headline is true.
func when(s *search.Search, lang string) string {
	if slices.ContainsFunc(s.Beside, func(o *search.Search) bool { return saysMore(o, s) }) {
		return text.Say(lang, "certificate.proved.when.both")
	}
	return text.Say(lang, "certificate.proved.when."+s.Scope())
}

// saysMore reports whether o, a complete search at every timing, has the bounds of s, which is in lockstep, and has
// found no verdict that s has not.
func saysMore(o, s *search.Search) bool {
	a, b := o.Bounds, s.Bounds
	same := a.Clients == b.Clients && a.Attempts == b.Attempts && a.Nodes == b.Nodes && a.Uses == b.Uses &&
		a.Faults() == b.Faults() && a.Slow == b.Slow && a.Noisy == b.Noisy && !o.Inconclusive()
	found := s.Verdicts()
	return s.Scope() == search.ScopeLockstep && o.Scope() == search.ScopeAny && same &&
		!slices.ContainsFunc(o.Verdicts(), func(w verdict.Word) bool { return !slices.Contains(found, w) })
}

// othersFound returns which verdicts other searches have found that s has not, and what these
// searches were.
func othersFound(s *search.Search, lang string) string {
	said, named := "", s.Verdicts()
	for _, o := range slices.Concat(s.Beside, s.Cut, s.Ways) {
		words := slices.DeleteFunc(o.Verdicts(), func(w verdict.Word) bool { return slices.Contains(named, w) })
		if len(words) > 0 {
			named = append(named, words...)
			said += text.Say(lang, "certificate.proved.other", "verdicts", joined(words, lang),
				"what", difference(s, o, lang))
		}
	}
	return said
}

// who returns how many clients there are and how often each wants the lock.
func who(b search.Bounds, lang string) string {
	return text.Say(lang, "certificate.who", "clients", counted("clients", b.Clients, lang),
		"attempts", counted("attempts", b.Attempts, lang))
}

// counted returns a number with what it counts.
func counted(what string, n int, lang string) string {
	switch n {
	case 1:
		what += ".one"
	case search.AnyAttempts:
		what += ".any"
	}
	return text.Say(lang, "certificate."+what, "n", fmt.Sprint(n))
}

// joined returns verdicts as a list within a sentence.
func joined(words []verdict.Word, lang string) string {
	return text.Join(lang, "chart.list", verdict.Names(words))
}

// quoted returns a text of the lock's own, such as a script, in one line that is not too long.
func quoted(s string) string { return layout.Clip(strings.Join(strings.Fields(s), " "), 100) }
