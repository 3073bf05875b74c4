package study

import (
	"fmt"
	"strings"

	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/simulator/explore"
)

// Certificate returns in English what the search covered, what it assumed, and what it
// did not check.
func (s *Search) Certificate() string { return s.CertificateIn("en") }

// CertificateIn is Certificate in a language of package text.
func (s *Search) CertificateIn(lang string) string {
	r, b := s.Result, s.Bounds
	clients, _ := b.Of(s.Strategy) // Check has read the budget
	say := func(key string, pairs ...string) string { return text.Say(lang, "certificate."+key, pairs...) }
	used := func(is bool) string {
		if is {
			return say("used")
		}
		return say("unused")
	}
	claim, clock := "cut", "clock.unused"
	switch {
	case r.Complete && len(r.Found) == 0:
		claim = "proved.none"
	case r.Complete:
		claim = "proved.some"
	}
	if r.ReadsClock {
		clock = "clock.used"
	}
	lines := []string{say("head", "lock", s.Strategy.Heading(), "claim", say(claim))}
	line := func(key string, pairs ...string) {
		lines = append(lines, "  "+text.Pad(say(key+".name"), 12)+" "+say(key, pairs...))
	}
	line("bounds", "clients", fmt.Sprint(b.Clients), "attempts", fmt.Sprint(b.Attempts), "nodes", fmt.Sprint(b.Nodes), "ttl", b.TTL.String(), "faults", b.Faults())
	line("clients", "work", clients.Work().String(), "requests", requests(clients, say), "between", clients.Between().String())
	line("time")
	line("states", "states", fmt.Sprint(r.States), "transitions", fmt.Sprint(r.Transitions), "depth", fmt.Sprint(r.Depth), "complete", fmt.Sprint(r.Complete))
	if !r.Limit.IsZero() {
		line("limit", "limit", r.Limit.Say(lang))
	}
	line("reduction", "symmetry", used(r.Symmetry), "order", used(!b.Causes), "clock", say(clock))
	switch why := &r.Asymmetry; {
	case why.Command != nil:
		line("asymmetry", "why", say("asymmetry.command", "command", quoted(strings.Join(why.Command, " "))))
	case why.Reply != "":
		line("asymmetry", "why", say("asymmetry.reply", "reply", quoted(why.Reply)))
	case why.Does != "":
		line("asymmetry", "why", say("asymmetry.code", "does", quoted(why.Does)))
	case why.Session:
		line("asymmetry", "why", say("asymmetry.session"))
	}
	line("code", "histories", fmt.Sprint(r.Histories))
	if names := s.Untriggered(); names != nil {
		line("untriggered", "faults", strings.Join(names, ", "))
	}
	line("looked", "verdicts", searchList())
	line("unchecked")
	return strings.Join(lines, "\n")
}

// requests says how often a client requests the lock in one attempt.
func requests(b *explore.Bounds, say func(key string, pairs ...string) string) string {
	if len(b.Retries) == 0 {
		return say("requests.one")
	}
	return say("requests", "n", fmt.Sprint(len(b.Retries)+1), "within", b.RetrySpan().String())
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
