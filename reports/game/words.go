// Package game shows the games of package play. A [Table] answers requests about positions, runs and questions: a page
// gets the answers as JSON, and a [Session] prints them in a terminal. A [Quiz] asks questions that runs answer.
package game

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"

	"locklab/faults"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// Words are a text in each language of package text.
type Words map[string]string

// Say implements text.Sentence: Words can be a value of other words.
func (w Words) Say(lang string) string { return w[lang] }

// sayAll returns what is said in each language.
func sayAll(say func(lang string) string) Words {
	w := Words{}
	for _, lang := range text.Languages() {
		w[lang] = say(lang)
	}
	return w
}

// words fills in a text of the catalogues in each language; its values are as those of an i18n.Message, or Words.
func words(key string, pairs ...any) Words {
	return sayAll(func(lang string) string { return text.SayMessage(lang, i18n.New(key, pairs...)) })
}

// same returns a text that is the same in each language.
func same(s string) Words { return sayAll(func(string) string { return s }) }

// titled returns the title or the meaning of something, as a function says it.
func titled[T any](say func(of T, lang string) string, of T) Words {
	return sayAll(func(lang string) string { return say(of, lang) })
}

// join joins texts by one with the placeholders {first} and {next}.
func join(key string, parts ...Words) Words {
	return sayAll(func(lang string) string {
		var all []string
		for _, p := range parts {
			all = append(all, p[lang])
		}
		return text.Join(lang, key, all)
	})
}

// clientName returns the name of a client, from 1.
func clientName[N int | int8](client N) string { return fmt.Sprintf("c%d", client) }

// counted returns a number of something: its text has the form of none, of one, or of several.
func counted(of string, n int) Words {
	return words("play."+[]string{"none", "one", "many"}[min(n, 2)]+"."+of, "n", n)
}

// budgeted says what a player may do with a fault of a budget.
func budgeted(b simulator.FaultBudget) Words {
	return words("play.budget."+b.Fault.Name, "time", seconds(b.Max))
}

// orNone says which faults a budget allows.
func orNone(budget faults.Budget) Words {
	var all []Words
	for _, b := range budget.Faults() {
		one := budgeted(b)
		if b.Times > 1 {
			one = words("play.budget.times", "n", b.Times, "what", one)
		}
		all = append(all, one)
	}
	if all == nil {
		return words("play.nofaults")
	}
	return join("play.budget.and", all...)
}

// levelText returns a text of a level: its "title", what to "learn" from it, or the "question" of an interviewer.
func levelText(l *play.Level, part string) Words { return words("level." + l.ID + "." + part) }

// codeOf is the code of a level, with the comments that its names stand for.
func codeOf(l *play.Level) Words {
	return sayAll(func(lang string) string {
		return comment.ReplaceAllStringFunc(l.Code(), func(c string) string {
			return "// " + text.Say(lang, "play.code."+c[len("// "):])
		})
	})
}

var comment = regexp.MustCompile(`// [a-z-]+`)

// movesOf describes the moves of a position, equal ones with letters: a fault as it strikes (what comes of it is the
// question), any other with all that it plays in a game for a harm.
func movesOf(ctx context.Context, g *play.Game, p *play.Position, harm verdict.Word) (all []Words, err error) {
	for i := range p.Moves {
		m := &p.Moves[i]
		on, failed := g.Forward(ctx, append(slices.Clip(p.Trace.Choices), m.Choice), harm)
		run, err := g.History(on)
		if err = cmp.Or(failed, err); err != nil {
			return nil, err
		}
		past := len(p.Outcome.History.Events)
		later := func(e history.Event) bool {
			if m.Fault {
				return e.At > p.Now || e.Client > 0 && e.Client != int(m.Choice.Client)
			}
			return e.Client == run.Probe && run.Probe > 0 && harm != verdict.Deadlock // which the probe decides
		}
		if n := slices.IndexFunc(run.Events[past:], later); n > 0 {
			others := *run
			others.Events, others.End, run = run.Events[:past+n], run.Events[past+n-1].At, &others
		}
		all = append(all, sayAll(func(lang string) string { return describe(p, m, run, lang) }))
	}
	for _, lang := range text.Languages() {
		count, n := map[string]int{}, map[string]int{}
		for _, said := range all {
			count[said[lang]]++
		}
		for _, said := range all {
			if what := said[lang]; count[what] > 1 {
				n[what]++
				said[lang] = text.Say(lang, "play.same", "what", what, "n", string(rune('a'+n[what]-1)))
			}
		}
	}
	return all, nil
}

// describe returns what a move does, in a run to which it leads.
func describe(p *play.Position, m *play.Move, run *history.History, lang string) string {
	events, key := p.Outcome.History.Events, ""
	said := cmp.Or(reports.Summary(run, len(events), p.Now, seconds, lang), m.Name) // nothing that a run shows
	pausedAt, paused := play.PausedAt(events, int(m.Choice.Client))
	switch {
	case m.Choice == faults.PauseUnsentOf(int(m.Choice.Client)):
		key = "play.unsent"
	case m.Choice.Verb == simulator.Orphaned:
		dead := stateOf(p.Outcome.History).stage(int(m.Choice.Client)) == verdict.Dead
		key = map[bool]string{true: "play.orphan.dead", false: "play.orphan"}[dead]
	case m.Choice.Verb == simulator.Resume && paused:
		key = "play.wakes"
	default:
		return said
	}
	return text.Say(lang, key, "what", said, "client", clientName(m.Choice.Client), "time", seconds(p.Now-pausedAt))
}
