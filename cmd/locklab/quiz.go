package main

import (
	"math/rand/v2"

	"locklab/reports/game"
)

func quizCommand() *command {
	seed, count := uint64(0), 8
	return &command{
		use: "quiz", args: noArguments, examples: []string{"quiz", "quiz --seed 7 --count 20"},
		flags: func(f *flags) {
			f.add("seed", &seed)
			ranged(f, "count", &count, 1, game.MostQuestions, "error.quiz.count")
		},
		run: func(e *env, _ []string) error {
			if !e.given("seed") {
				seed = rand.Uint64N(100_000)
			}
			if e.json {
				return printQuestions(e, seed, count)
			}
			return internal(screen(e).Ask(game.NewQuiz(seed), seed, count))
		},
	}
}

// quizJSON is the questions with their answers.
type quizJSON struct {
	Version   int                 `json:"version"`
	Seed      uint64              `json:"seed"`
	Questions []game.QuestionJSON `json:"questions"`
}

func printQuestions(e *env, seed uint64, count int) error {
	quiz, all := game.NewQuiz(seed), quizJSON{Version: schema, Seed: seed}
	for range count {
		q, err := quiz.Next()
		if err != nil {
			return internal(err)
		}
		all.Questions = append(all.Questions, q.JSON())
	}
	return e.printJSON(all)
}
