package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"strings"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/play"
)

// mostQuestions is how many a quiz asks at most; there are more.
const mostQuestions = 40

func quizCommand() *command {
	seed, count := uint64(0), 8
	return &command{
		use: "quiz", args: noArguments, examples: []string{"quiz", "quiz --seed 7 --count 20"},
		flags: func(f *flags) {
			f.add("seed", &seed)
			f.add("count", &count)
		},
		run: func(e *env, _ []string) error {
			if count < 1 || count > mostQuestions {
				return text.Errorf("error.quiz.count", "value", count, "most", mostQuestions)
			}
			if !e.given("seed") {
				seed = rand.Uint64N(100_000)
			}
			return askQuestions(e, play.NewQuiz(seed), seed, count)
		},
	}
}

// quizJSON is the questions with their answers.
type quizJSON struct {
	Version   int                 `json:"version"`
	Seed      uint64              `json:"seed"`
	Questions []play.QuestionJSON `json:"questions"`
}

// ask puts questions to whoever types; with --json it prints them.
func askQuestions(e *env, quiz *play.Quiz, seed uint64, count int) error {
	_, interactive := terminal(e.stdin)
	in, right, asked := bufio.NewReader(e.stdin), 0, 0
	all := quizJSON{Version: schema, Seed: seed}
	for n := range count {
		q, err := quiz.Next()
		if err != nil {
			return internal(err)
		}
		if e.json {
			all.Questions = append(all.Questions, q.JSON())
			continue
		}
		if err := showQuestion(e, q, n+1); err != nil {
			return err
		}
		chosen, ok := chooseAnswer(e, in, interactive, len(q.Answers))
		if !ok {
			break
		}
		asked++
		if q.Answers[chosen].Right {
			right++
		}
		explainAnswers(e, q, chosen)
	}
	if e.json {
		return e.printJSON(all)
	}
	e.Printf("\n")
	e.Sentence("quiz.score", "right", fmt.Sprint(right), "all", fmt.Sprint(asked), "seed", fmt.Sprint(seed))
	return nil
}

func showQuestion(e *env, q *play.Question, n int) error {
	e.Printf("\n")
	o := q.Outcome
	for _, lang := range e.Langs() {
		key := "quiz.head"
		if o.History == nil { // about several locks
			key = "quiz.head.race"
		}
		e.Printf("%s\n", text.Say(lang, key, "n", fmt.Sprint(n), "lock", o.Strategy.Heading(), "race", text.ScenarioTitle(o.Scenario.ID, lang)))
	}
	if o.History != nil {
		e.Printf("\n")
		draw := e.options()
		draw.Brief = true
		if err := reports.Lanes(e.Out, o.History, o.Judgement, draw); err != nil {
			return internal(err)
		}
	}
	e.Printf("\n")
	for _, lang := range e.Langs() {
		e.Wrap("", q.Ask[lang])
	}
	for i, answer := range q.Answers {
		e.Printf("  %c  %s\n", 'a'+i, sayOnce(e, answer.Said))
	}
	return nil
}

// once is words in each language that is wanted, without repetition.
func sayOnce(e *env, w play.Words) string {
	said := e.Each(func(lang string) string { return w[lang] })
	if first := w[e.Langs()[0]]; said == first+" / "+first {
		return first
	}
	return said
}

// choose reads a letter until there is one; false: no answer comes.
func chooseAnswer(e *env, in *bufio.Reader, interactive bool, answers int) (int, bool) {
	for {
		e.Printf("%s> ", e.First("quiz.prompt"))
		line, ok := e.line(in)
		line = strings.ToLower(strings.TrimSpace(line))
		if !interactive {
			e.Printf("%s", line)
		}
		if !interactive || !ok {
			e.Printf("\n")
		}
		switch {
		case !ok || line == "q":
			return 0, false
		case len(line) == 1 && line[0] >= 'a' && int(line[0]-'a') < answers:
			return int(line[0] - 'a'), true
		case line != "":
			e.Sentence("quiz.bad", "line", text.Visible(cut(line, 40)), "last", string(rune('a'+answers-1)))
		}
	}
}

func explainAnswers(e *env, q *play.Question, chosen int) {
	for i, answer := range q.Answers {
		if answer.Right && i == chosen {
			e.Sentence("quiz.right")
		} else if answer.Right {
			e.Sentence("quiz.wrong", "right", fmt.Sprintf("%c, %s", 'a'+i, sayOnce(e, answer.Said)))
		}
	}
	for i, answer := range q.Answers {
		for _, lang := range e.Langs() {
			e.Wrap(fmt.Sprintf("  %c  ", 'a'+i), answer.Why[lang])
		}
	}
	e.Printf("%s locklab replay %s\n", e.Say("quiz.whole"), q.Link)
}
