package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"locklab/algorithms/lock"
	"locklab/reports/game"
	"locklab/reports/lessons"
	"locklab/reports/text"
)

// quizFlags are the flags of "locklab play quiz".
type quizFlags struct {
	seed       uint64
	count      int
	locks      lockFlags
	races      []string
	lesson     string
	difficulty game.Difficulty
}

func quizCommand() *command {
	q := &quizFlags{count: 8}
	return &command{
		use: "quiz", args: noArguments, flags: q.add, run: q.run,
		examples: []string{"play quiz", "play quiz --seed 7 --count 20", "play quiz --strategies token,watchdog --difficulty medium", "play quiz --lesson 6"},
	}
}

func (q *quizFlags) add(f *flags) {
	q.locks.addUsual(f, f.e.Say("help.flag.strategies.quiz"))
	f.add("scenarios", &q.races)
	f.add("lesson", &q.lesson)
	parse(f, "difficulty", "", &q.difficulty, game.ParseDifficulty)
	f.add("seed", &q.seed)
	ranged(f, "count", &q.count, 1, game.MostQuestions, "error.quiz.count")
}

func (q *quizFlags) run(e *env, _ []string) error {
	if !e.given("seed") {
		q.seed = rand.Uint64N(100_000)
	}
	scope, err := q.scope(e)
	if err != nil {
		return err
	}
	questions, err := q.questions(e, scope)
	if err != nil {
		return err
	}
	if e.json {
		all := quizJSON{Version: schema, Seed: q.seed}
		for _, one := range questions {
			all.Questions = append(all.Questions, one.JSON())
		}
		e.printJSON(all)
		return nil
	}
	screen(e).Ask(questions, strings.TrimSpace(fmt.Sprintf("locklab play quiz --seed %d%s", q.seed, q.asked(e))))
	return nil
}

// lessonNames are the numbers of the lessons, and the locks and races that they play.
func lessonNames() (names []string) {
	for n := range lessons.PathScreens {
		names = append(names, fmt.Sprint(n+1))
	}
	_, played := lessons.PathCells("")
	return append(names, played...)
}

// scope returns the scope that the flags name.
func (q *quizFlags) scope(e *env) (s game.Scope, err error) {
	s.Difficulty = q.difficulty
	locks, err := q.locks.pick([]lock.Entry{})
	if err != nil {
		return s, err
	}
	for _, l := range locks {
		s.Locks = append(s.Locks, l.ID)
	}
	if e.given("scenarios") {
		races, err := pickRaces(q.races)
		if err != nil {
			return s, err
		}
		for _, r := range races {
			s.Races = append(s.Races, r.ID)
		}
	}
	if e.given("lesson") {
		cells, names := lessons.PathCells(q.lesson)
		if cells == nil {
			return s, text.Errorf("error.quiz.lesson", "name", q.lesson, "most", lessons.PathScreens, "names", strings.Join(names, ", "))
		}
		for _, c := range cells {
			s.Cells = append(s.Cells, game.Cell{Lock: c[0], Race: c[1]})
		}
	}
	return s, nil
}

// asked is the flags that say what the quiz is about, as they were given.
func (q *quizFlags) asked(e *env) (flags string) {
	for _, name := range []string{"strategies", "scenarios", "lesson", "difficulty", "count"} {
		if e.given(name) {
			flags += fmt.Sprintf(" --%s %s", name, strings.Trim(e.running.Flag(name).Value.String(), "[]"))
		}
	}
	return flags
}

// questions are as many as were asked for. Too few are an error that says what there is, unless the number was not given.
func (q *quizFlags) questions(e *env, scope game.Scope) (all []*game.Question, err error) {
	quiz := game.NewQuiz(q.seed, scope)
	for len(all) < q.count {
		one, err := quiz.Next()
		none := (*game.NoQuestionError)(nil)
		switch {
		case errors.As(err, &none) && len(all) > 0 && !e.given("count"):
			return all, nil
		case errors.As(err, &none) && len(all) > 0:
			return nil, text.Errorf("error.quiz.few", "scope", strings.TrimSpace(q.asked(e)), "n", len(all), "count", q.count)
		case errors.As(err, &none):
			locks, races := game.Usual()
			return nil, text.Errorf("error.quiz.none", "scope", strings.TrimSpace(q.asked(e)), "locks", strings.Join(locks, ", "), "races", strings.Join(races, ", "))
		case err != nil:
			return nil, internal(err)
		case e.ctx.Err() != nil:
			return nil, e.ctx.Err()
		}
		all = append(all, one)
	}
	return all, nil
}

// quizJSON is the questions with their answers.
type quizJSON struct {
	Version   int                 `json:"version"`
	Seed      uint64              `json:"seed"`
	Questions []game.QuestionJSON `json:"questions"`
}
