// Package game shows the games of package play: in a terminal, where a [Session] is played by
// typing, and as JSON for a page, whose requests a [Table] answers. A [Quiz] asks questions
// whose answers are made from runs.
package game

import (
	"fmt"
	"strings"

	"locklab/faults"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/simulator"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// Words are a text in each language of package text.
type Words map[string]string

// sayAll returns what is said in each language.
func sayAll(say func(lang string) string) Words {
	w := Words{}
	for _, lang := range text.Languages() {
		w[lang] = say(lang)
	}
	return w
}

// words fills in a text of the catalogues in each language.
func words(key string, pairs ...string) Words {
	return sayAll(func(lang string) string { return text.Say(lang, key, pairs...) })
}

// levelText returns a text of a level: its "title", what to "learn" from it, or the
// "question" of an interviewer about it.
func levelText(l play.Level, part string) func(lang string) string {
	return func(lang string) string { return text.Say(lang, "level."+l.ID+"."+part) }
}

// LevelTitle returns the title of a level.
func LevelTitle(l play.Level, lang string) string { return levelText(l, "title")(lang) }

// moves describes the moves of a position. Those of the same words are lettered.
func moves(p *play.Position) []Words {
	var all []Words
	for _, m := range p.Moves {
		all = append(all, sayAll(func(lang string) string { return move(p, m, lang) }))
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
	return all
}

// move describes what a move does.
func move(p *play.Position, m play.Move, lang string) string {
	events := p.Outcome.History.Events
	said := reports.Summary(m.Run, len(events), len(m.Run.Events), m.Run.End-p.Now, lang)
	pausedAt, paused := play.PausedAt(events, int(m.Choice.Client))
	switch {
	case m.Choice == faults.PauseUnsentOf(int(m.Choice.Client)):
		return text.Say(lang, "play.unsent", "what", said)
	case m.Choice.Verb == simulator.Orphaned:
		return orphan(p, m, lang)
	case m.Choice.Verb == simulator.Resume && said != "" && paused:
		return text.Say(lang, "play.wakes", "what", said, "time", reports.Span(p.Now-pausedAt))
	case said != "":
		return said
	case m.Choice.Verb == simulator.Start:
		return text.Say(lang, "play.start", "client", fmt.Sprintf("c%d", m.Choice.Client))
	}
	return m.Name // nothing that a run shows
}

// orphan describes the arrival of a request whose sender waits for no answer any longer, by its message.
func orphan(p *play.Position, m play.Move, lang string) string {
	e := m.Run.Events[len(p.Outcome.History.Events)]
	what := strings.ToUpper(e.Name())
	if len(e.Cmd) > 0 {
		what = reports.Command(e.Cmd, m.Run.Key)
	}
	key := "play.orphan"
	if isDead(p, m.Choice.Client) {
		key = "play.orphan.dead"
	}
	said := text.Say(lang, key, "what", what, "client", fmt.Sprintf("c%d", m.Choice.Client))
	if e.Node > 0 && m.Run.Nodes > 1 {
		return text.Say(lang, "play.orphan.at", "what", said, "node", fmt.Sprintf("n%d", e.Node))
	}
	return said
}

// isDead reports whether a client, from 1, has crashed.
func isDead(p *play.Position, client int8) bool {
	return client > 0 && reports.StateOf(p.Outcome.History).Clients[client-1].Stage == verdict.Dead
}

// judged returns the verdict on the answer that a harm, "" for any, cannot be brought about.
func judged(g *play.Game, truth play.Truth, harm verdict.Word) Words {
	switch {
	case !truth.Known:
		return words("play.unknown", "states", fmt.Sprint(truth.States))
	case truth.Possible:
		return words("play.can", "faults", fmt.Sprint(truth.Par))
	}
	proved := provedWords(g, truth, harm)
	return sayAll(func(lang string) string { return text.Say(lang, "play.right", "proved", proved[lang]) })
}

// provedWords says what a search has proved of a harm, "" for any.
func provedWords(g *play.Game, truth play.Truth, harm verdict.Word) Words {
	key := "play.proved"
	if harm == "" {
		key = "play.proved.any"
	}
	return sayAll(func(lang string) string {
		faults := string(g.Bounds.Budget)
		if faults == "" {
			faults = text.Say(lang, "play.nofaults")
		}
		return text.Say(lang, key, "harm", string(harm), "lock", g.Strategy.ID, "clients", fmt.Sprint(g.Bounds.Clients),
			"attempts", fmt.Sprint(g.Bounds.Attempts), "faults", faults, "states", fmt.Sprint(truth.States))
	})
}

// neverWords is the hint where no move leads to a harm, "" for any: it asks, and does not tell.
func neverWords(harm verdict.Word) Words {
	key := "play.hint.never"
	if harm == "" {
		key = "play.hint.never.any"
	}
	return words(key, "harm", string(harm))
}

// MostQuestions is the number of questions that are asked at most.
const MostQuestions = 40

// Ask asks questions, and explains what is answered. again is the command that asks the same.
func (s *Screen) Ask(questions []*Question, again string) {
	s.Sentence("quiz.keys")
	right, asked := 0, 0
	for n, q := range questions {
		s.showQuestion(q, n+1)
		chosen, ok := s.choose(questions, n)
		if !ok {
			break
		}
		asked++
		if q.Answers[chosen].Right {
			right++
		}
		s.explainAnswers(q, chosen)
	}
	s.Printf("\n")
	s.Sentence("quiz.score", "right", fmt.Sprint(right), "all", fmt.Sprint(asked), "again", again)
}

func (s *Screen) showQuestion(q *Question, n int) {
	s.Printf("\n")
	o := q.Outcome
	for _, lang := range s.Langs() {
		key := "quiz.head"
		if o.History == nil { // about several locks
			key = "quiz.head.race"
		}
		s.Wrap("", text.Say(lang, key, "n", fmt.Sprint(n), "lock", o.Strategy.Heading(), "race", raceTitle(o.Scenario.ID, lang)))
	}
	if o.History != nil {
		s.Printf("\n")
		s.lanes(o)
	}
	s.Printf("\n")
	for _, lang := range s.Langs() {
		s.Wrap("", q.Ask[lang])
	}
	for i, answer := range q.Answers {
		s.Printf("  %c  %s\n", 'a'+i, s.sayOnce(answer.Said))
	}
}

// sayOnce returns words in each language that is wanted, without repetition.
func (s *Screen) sayOnce(w Words) string {
	said := s.Each(func(lang string) string { return w[lang] })
	if first := w[s.Langs()[0]]; said == first+" / "+first {
		return first
	}
	return said
}

// choose reads a letter or a number until there is one; false: no answer comes. The link of a run is printed on request: of
// the question that was answered last, and before the first answer of the present one.
func (s *Screen) choose(questions []*Question, n int) (int, bool) {
	answers := len(questions[n].Answers)
	for {
		line, ok := s.ask("quiz.prompt", func(line string) string { return strings.ToLower(strings.TrimSpace(line)) })
		switch {
		case !ok || line == "q":
			return 0, false
		case line == "l":
			last := max(n-1, 0)
			s.Printf("%s locklab run %s\n", s.Say("quiz.whole", "n", fmt.Sprint(last+1)), questions[last].Link)
		case line != "":
			if chosen := chosenBy(line); chosen >= 0 && chosen < answers {
				return chosen, true
			}
			s.Sentence("quiz.bad", "line", i18n.Visible(text.Cut(line, 40)), "last", string(rune('a'+answers-1)))
		}
	}
}

// chosenBy is the answer that a letter or a number names, from 0; -1: none.
func chosenBy(line string) int {
	switch {
	case len(line) != 1:
		return -1
	case line[0] >= 'a' && line[0] <= 'z':
		return int(line[0] - 'a')
	case line[0] >= '1' && line[0] <= '9':
		return int(line[0] - '1')
	}
	return -1
}

func (s *Screen) explainAnswers(q *Question, chosen int) {
	for i, answer := range q.Answers {
		if answer.Right && i == chosen {
			s.Sentence("quiz.right")
		} else if answer.Right {
			s.Sentence("quiz.wrong", "letter", string(rune('a'+i)), "right", s.sayOnce(answer.Said))
		}
	}
	for i, answer := range q.Answers {
		for _, lang := range s.Langs() {
			s.Wrap(fmt.Sprintf("  %c  ", 'a'+i), answer.Why[lang])
		}
	}
}
