package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/spf13/cobra"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/play"
)

// mostQuestions is how many a quiz asks at most; there are more.
const mostQuestions = 40

func (a *app) quiz() *cobra.Command {
	var (
		seed  uint64
		count int
	)
	c := &cobra.Command{
		Use:     "quiz",
		Example: a.examples("quiz", "quiz", "quiz --seed 7 --count 20"),
		Args:    a.noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if count < 1 || count > mostQuestions {
				return text.Errorf("error.quiz.count", "value", count, "most", mostQuestions)
			}
			if !c.Flags().Changed("seed") {
				seed = rand.Uint64N(100_000)
			}
			return a.ask(play.NewQuiz(seed), seed, count)
		},
	}
	f, usage := c.Flags(), a.usage("quiz")
	f.Uint64Var(&seed, "seed", 0, usage("seed"))
	f.IntVar(&count, "count", 8, usage("count"))
	return c
}

// quizJSON is the questions with their answers.
type quizJSON struct {
	Version   int                 `json:"version"`
	Seed      uint64              `json:"seed"`
	Questions []play.QuestionJSON `json:"questions"`
}

// ask puts questions to whoever types; with --json it prints them.
func (a *app) ask(quiz *play.Quiz, seed uint64, count int) error {
	_, interactive := terminal(a.stdin)
	in, right, asked := bufio.NewReader(a.stdin), 0, 0
	all := quizJSON{Version: schema, Seed: seed}
	for n := range count {
		q, err := quiz.Next()
		if err != nil {
			return internal(err)
		}
		if a.json {
			all.Questions = append(all.Questions, q.JSON())
			continue
		}
		if err := a.showQuestion(q, n+1); err != nil {
			return err
		}
		chosen, ok := a.choose(in, interactive, len(q.Answers))
		if !ok {
			break
		}
		asked++
		if q.Answers[chosen].Right {
			right++
		}
		a.explainAnswers(q, chosen)
	}
	if a.json {
		return a.printJSON(all)
	}
	a.Printf("\n")
	a.Sentence("quiz.score", "right", fmt.Sprint(right), "all", fmt.Sprint(asked), "seed", fmt.Sprint(seed))
	return nil
}

func (a *app) showQuestion(q *play.Question, n int) error {
	a.Printf("\n")
	o := q.Outcome
	for _, lang := range a.Langs() {
		key := "quiz.head"
		if o.History == nil { // about several locks
			key = "quiz.head.race"
		}
		a.Printf("%s\n", text.Say(lang, key, "n", fmt.Sprint(n), "lock", o.Strategy.Heading(), "race", text.ScenarioTitle(o.Scenario.ID, lang)))
	}
	if o.History != nil {
		a.Printf("\n")
		draw := a.options()
		draw.Brief = true
		if err := reports.Lanes(a.Out, o.History, o.Judgement, draw); err != nil {
			return internal(err)
		}
	}
	a.Printf("\n")
	for _, lang := range a.Langs() {
		a.Wrap("", q.Ask[lang])
	}
	for i, answer := range q.Answers {
		a.Printf("  %c  %s\n", 'a'+i, a.once(answer.Said))
	}
	return nil
}

// once is words in each language that is wanted, without repetition.
func (a *app) once(w play.Words) string {
	said := a.Each(func(lang string) string { return w[lang] })
	if first := w[a.Langs()[0]]; said == first+" / "+first {
		return first
	}
	return said
}

// choose reads a letter until there is one; false: no answer comes.
func (a *app) choose(in *bufio.Reader, interactive bool, answers int) (int, bool) {
	for {
		a.Printf("%s> ", a.First("quiz.prompt"))
		line, ok := a.line(in)
		line = strings.ToLower(strings.TrimSpace(line))
		if !interactive {
			a.Printf("%s", line)
		}
		if !interactive || !ok {
			a.Printf("\n")
		}
		switch {
		case !ok || line == "q":
			return 0, false
		case len(line) == 1 && line[0] >= 'a' && int(line[0]-'a') < answers:
			return int(line[0] - 'a'), true
		case line != "":
			a.Sentence("quiz.bad", "line", text.Visible(cut(line, 40)), "last", string(rune('a'+answers-1)))
		}
	}
}

func (a *app) explainAnswers(q *play.Question, chosen int) {
	for i, answer := range q.Answers {
		if answer.Right && i == chosen {
			a.Sentence("quiz.right")
		} else if answer.Right {
			a.Sentence("quiz.wrong", "right", fmt.Sprintf("%c, %s", 'a'+i, a.once(answer.Said)))
		}
	}
	for i, answer := range q.Answers {
		for _, lang := range a.Langs() {
			a.Wrap(fmt.Sprintf("  %c  ", 'a'+i), answer.Why[lang])
		}
	}
	a.Printf("%s locklab replay %s\n", a.Say("quiz.whole"), q.Link)
}
