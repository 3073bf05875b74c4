package game

import (
	"fmt"
	"strings"

	"locklab/reports/text"
	"locklab/simulator/i18n"
)

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
