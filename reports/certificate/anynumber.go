package certificate

import (
	"fmt"
	"slices"
	"strings"

	"locklab/reports/text"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/hypothesis"
)

// AnyNumber says what may happen in a proof for any number of clients, and what it takes for granted, a sentence each.
func AnyNumber(p *search.Proof, lang string) []string {
	s := p.Search
	list := slices.Concat(MayHappen(s, lang), Assumed(s, lang))
	assumed := sentencesOf(lang, "certificate.assumed.")
	list = slices.DeleteFunc(list, func(line string) bool {
		return line == assumed("probe") || line == assumed("fresh")
	})
	if p.Once.IsZero() {
		list = append(list, text.Say(lang, "prove.assumed.attempts"))
	} else {
		list = append(list, text.Say(lang, "prove.assumed.once", "why", text.SayMessage(lang, p.Once)))
	}
	if ages := s.Assumed.Ages; ages != (hypothesis.Ages{}) {
		list = append(list, text.Say(lang, "prove.assumed.ages", "ancient", ages.Ancient.String(),
			"span", ages.Span.String(), "both", (ages.Ancient+ages.Span).String()))
	}
	list = append(append(list, tried(s, lang)...), counters(s.Assumed, lang)...)
	for _, key := range []string{"names", "resource", "urgent"} {
		list = append(list, text.Say(lang, "prove.assumed."+key, "size", World(p, lang)))
	}
	return list
}

// World returns, in a language of package text, the number of clients of a world.
func World(p *search.Proof, lang string) string {
	return text.Say(lang, fmt.Sprint("prove.world.", max(p.Search.Lock.Holders, 1)+1))
}

// tried says with which attempts code was tried; not that of a bubble, which is not.
func tried(s *search.Search, lang string) []string { return triedBy(s, "prove.assumed.tried", lang) }

// triedBy is tried in the words of another text.
func triedBy(s *search.Search, key, lang string) []string {
	if isOwn(s) {
		return nil
	}
	return []string{text.Say(lang, key, "histories", fmt.Sprint(simulator.MostTried),
		"first", fmt.Sprint(simulator.MostFirst))}
}

// counters says what is assumed of counters, if anything is.
func counters(a hypothesis.Set, lang string) []string {
	if a.Counters == 0 {
		return nil
	}
	return []string{text.Say(lang, "prove.assumed.counters", "most", fmt.Sprint(a.Counters))}
}

// Never says, in a language of package text, that something cannot happen: on which conditions, and at which instants.
func Never(p *search.Proof, lang string) string {
	return text.Say(lang, "prove.never."+p.Search.Scope(), "if", If(p.If(), lang))
}

// OfProof returns the certificate of a proof in a language of package text: what is impossible, what is not, and
// AnyNumber.
func OfProof(p *search.Proof, lang string) string {
	say := func(key string, pairs ...string) string { return text.Say(lang, key, pairs...) }
	scope := say("prove.scope.any")
	if !p.Once.IsZero() {
		scope = say("prove.scope.once")
	}
	lines := []string{say("prove.head", "lock", p.Search.Lock.Heading(), "scope", scope,
		"when", say("certificate.proved.when."+p.Search.Scope()),
		"faults", p.Search.Bounds.Faults())}
	for _, w := range p.Proved() {
		lines = append(lines, "  "+text.Pad(string(w), 12)+Never(p, lang))
	}
	for _, w := range p.Witnesses() {
		s, _ := p.BrokenBy(w.Verdict)
		lines = append(lines, "  "+text.Pad(string(w.Verdict), 12)+say("prove.broken",
			"clients", fmt.Sprint(s.Bounds.Clients), "par", fmt.Sprint(w.Par), "steps", fmt.Sprint(w.Steps)))
	}
	for _, w := range p.Open {
		lines = append(lines, "  "+text.Pad(string(w), 12)+say("prove.open", "size", World(p, lang)))
	}
	for _, line := range AnyNumber(p, lang) {
		lines = append(lines, "  - "+line)
	}
	lines = append(lines, say("prove.size", "size", World(p, lang), "views", fmt.Sprint(p.Views),
		"worlds", fmt.Sprint(p.Worlds), "moves", fmt.Sprint(p.Transitions)))
	return strings.Join(lines, "\n")
}
