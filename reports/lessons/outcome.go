package lessons

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/game"
	"locklab/reports/text"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// Story returns a text of a race: its title, story, numbers or cure; empty without one.
func Story(lang string, sc race.Race, part string) string {
	e, _ := text.In(lang).Entry(part + ".race." + sc.ID)
	return e.Text
}

// RunTitle returns the title of a run: its race's, which stands alone, or the bounds of its search.
func RunTitle(lang string, o *race.Outcome) string {
	if o.Race.ID != search.SearchID {
		return game.OwnTitle(o)[lang]
	}
	b, _ := search.ParseBounds(o.Trace.Settings) // the run was played with it
	return text.Say(lang, "search.title", "clients", strconv.Itoa(b.Clients), "attempts", strconv.Itoa(b.Attempts),
		"faults", cmp.Or(string(b.Budget), text.Say(lang, "play.nofaults")))
}

// WhyNotApplicable returns why a question has no meaning for a lock; empty if it has one.
func WhyNotApplicable(lang string, o *race.Outcome) string {
	if o.NotInjected != nil && o.Verdicts[0] == verdict.NA {
		return text.Say(lang, "run.noattack", "what", text.SayError(lang, o.NotInjected[0]))
	}
	return text.Reason(lang, "na", string(o.NotApplicable))
}

// Why returns the contract's reason for what a lock comes to in a race, if it gives one.
func Why(lang string, e lock.Entry, sc race.Race) string {
	return text.Reason(lang, "why", string(contract.Why(e, sc)))
}

// Longest returns the length of an outcome's longest finding of one verdict.
func Longest(o *race.Outcome, w verdict.Word) (d time.Duration) {
	for _, f := range o.Judgement.Findings {
		if f.Verdict == w {
			d = max(d, f.To-f.From)
		}
	}
	return d
}

// waited returns how long clients waited for a key that no working client had, whether its lease ended or it had none.
func waited(o *race.Outcome) time.Duration {
	return max(Longest(o, verdict.Blocked), Longest(o, verdict.Orphan))
}

// Uncovered reports whether the contract has no entry for a lock in any race.
func Uncovered(e lock.Entry) bool { return !contract.Covers(e) }

// asContracted reports whether the contract covers an outcome and agrees with it.
func asContracted(o *race.Outcome) bool { return contract.Expected(o) != nil && contract.AsExpected(o) }

// fails reports whether an outcome is a failure, as the grid counts them.
func fails(o *race.Outcome) bool { return verdict.Fails(o.Verdicts) }

// aside adds what stands behind a text in brackets; "": nothing.
func aside(p *text.Printer, said, aside string) string {
	if aside == "" {
		return said
	}
	return p.First("explain.aside", "text", said, "aside", aside)
}

// results returns the verdicts of an outcome, and the contract's reason for them.
func results(p *text.Printer, o *race.Outcome) string {
	result := reports.Words(o.Verdicts)
	if d := Longest(o, verdict.Blocked); d > 0 {
		result = aside(p, result, reports.InWords(p.Langs()[0], d))
	}
	return because(p, result, o)
}

// because returns a result of an outcome, and the contract's reason for it.
func because(p *text.Printer, result string, o *race.Outcome) string {
	why := p.Each(func(lang string) string { return WhyNotApplicable(lang, o) })
	if o.NotApplicable == "" && asContracted(o) {
		why = p.Each(func(lang string) string { return Why(lang, o.Lock, o.Race) })
	}
	if strings.Trim(why, " /") != "" {
		result = p.First("explain.because", "result", result, "why", why)
	}
	return result
}

// sentence returns a text that has its values at hand.
func sentence(key string, pairs ...string) func(lang string) string {
	return func(lang string) string { return text.Say(lang, key, pairs...) }
}

// Meanings returns the verdicts of an outcome with their meanings.
func Meanings(p *text.Printer, o *race.Outcome) []Block {
	all := []Block{{Kind: Gap}, {Kind: Subheading, Text: p.Label("command.verdict") + reports.Words(o.Verdicts)}}
	for _, lang := range p.Langs() {
		for _, w := range o.Verdicts {
			lead := "  " + text.Label(text.Say(lang, "command.of", "what", string(w)))
			all = append(all, Block{Kind: Paragraph, Lead: lead, Text: reports.Meaning(w, lang)})
		}
		if o.Forever() {
			all = append(all, Block{Kind: Paragraph, Lead: "  ", Text: reports.Forever(lang)})
		}
	}
	return all
}

// Cure returns what mends the race of an outcome, or, of a search, its first verdict; empty if nothing is broken.
func (s *Stage) Cure(lang string, o *race.Outcome) (string, error) {
	if w := o.Verdicts[0]; !w.Broken() || w == verdict.Fenced { // then the resource has mended it
		return "", nil
	}
	lines, err := s.linesAbout(o.Lock, lang, "race."+o.Race.ID+".mends")
	return cmp.Or(text.Tight(strings.Join(lines, " ")), reports.Cure(o.Verdicts[0], lang)), err
}

// Contract returns how an outcome differs from the contract, or that this does not cover it; nil: it is as expected.
func Contract(p *text.Printer, o *race.Outcome) []Block {
	uncovered, other, values := "command.uncovered.cell", "settings", []string{"lock", o.Lock.ID, "race", o.Race.ID}
	if o.Race.ID == search.SearchID {
		uncovered, other = "command.uncovered.lock", "search"
	}
	switch {
	case contract.Uncontracted(o.Lock, o.Race):
		return lists.Each(p.Langs(), func(lang string) Block {
			return Block{Kind: Paragraph, Text: text.Say(lang, uncovered, values...)}
		})
	case o.Verdicts[0] == verdict.NA:
		return nil
	case contract.Expected(o) == nil:
		return []Block{{Kind: Paragraph, Text: p.Say("command.contract."+other, values...)}}
	case !contract.AsExpected(o):
		differs := p.Label("command.contract.differs") + reports.Words(contract.Expected(o))
		return []Block{{Kind: Paragraph, Text: differs}}
	}
	return nil
}

// nextInRace returns the next milestone to which the race applies; false: there is none.
func nextInRace(o *race.Outcome) (next lock.Entry, ok bool) {
	for next, ok = race.Successor(o.Lock); ok; next, ok = race.Successor(next) {
		if p, err := race.ProfileOf(next); err == nil && o.Race.WhyNotApplicable(p) == "" {
			return next, true
		}
	}
	return next, false
}

// NextCommands returns commands to try after a run.
func NextCommands(o *race.Outcome) []string {
	first := "locklab explain " + o.Lock.ID
	if o.Race.ID == search.SearchID { // a search is no race to run or to explain
		return []string{first, "locklab explain " + o.Trace.Link()}
	}
	if successor, ok := nextInRace(o); ok {
		first = fmt.Sprintf("locklab run %s %s", successor.ID, o.Race.ID)
		if o.Settings.Seed != 0 {
			first += " --seed " + strconv.FormatUint(o.Settings.Seed, 10)
		}
	}
	return []string{first, "locklab explain " + o.Race.ID}
}
