package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"locklab/algorithms/lock"
	"locklab/reports/game"
	"locklab/reports/lessons"
	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// playFlags are the flags of "locklab play".
type playFlags struct {
	search.Bounds
	harm  verdict.Word // "": any
	level int
}

func playCommand() *command {
	p := &playFlags{Bounds: play.DefaultBounds()}
	return &command{
		use: "play [LOCK|LINK]", args: between(0, 1, ""), complete: aLock, run: p.run, below: []*command{quizCommand()},
		flags: func(f *flags) {
			f.bounds(&p.Bounds, playBounds...)
			parse(f, "harm", "", &p.harm, parseHarm)
			f.completes("harm", oneOf(play.HarmNames()))
			f.add("level", &p.level)
		},
		examples: []string{"play token", "play --level 2", "play redlock --budget restart=1 --attempts 1", "play LINK",
			"play token --timing any --budget pause=1"},
	}
}

// playBounds are the bounds of a game.
var playBounds = []string{"budget", "clients", "attempts", "timing", "nodes", "fenced"}

func (p *playFlags) run(e *env, args []string) error {
	bounded := slices.ContainsFunc(playBounds, e.given)
	switch {
	case e.given("level") && (len(args) > 0 || bounded || e.given("harm")):
		return text.Errorf("error.play.level.alone")
	case e.given("level"):
		return playLevel(e, p.level)
	case len(args) == 0 && (bounded || e.given("harm")):
		return text.Errorf("error.play.what")
	case len(args) == 0:
		listLevels(e)
		return nil
	}
	t, err := simulator.ParseLink(args[0])
	linked := err == nil || strings.HasPrefix(args[0], "locklab")
	var g *play.Game
	if linked && bounded {
		return text.Errorf("error.play.bounds")
	} else if linked && err == nil { // the game goes on where the link ends
		g, err = play.Open(e.ctx, t)
	} else if !linked {
		g, err = p.game(e, args)
	}
	return playGame(e, g, err, func() (*game.Session, error) { return game.Start(screen(e), g, p.harm, t.Choices) })
}

// game begins the game of a lock.
func (p *playFlags) game(e *env, args []string) (*play.Game, error) {
	if meant := meantWith(e.running, args, 0); meant != "" {
		return nil, text.Errorf("error.noarguments.meant", "command", "locklab play", "name", args[0], "meant", meant)
	}
	entry, err := race.Lock(args[0])
	if near := text.Near(args[0], []string{"quiz"}); err != nil && near.Key != "" {
		err = text.Errorf("error.command", "name", "play "+args[0], "near", near)
	}
	if err != nil {
		return nil, err
	}
	return play.New(e.ctx, entry, p.Bounds)
}

func parseHarm(harm string) (verdict.Word, error) {
	word, err := verdict.ParseWord(harm)
	if err != nil || !play.IsHarm(word) {
		return "", text.Errorf("error.play.harm", "name", harm, "names", strings.Join(play.HarmNames(), ", "))
	}
	return word, nil
}

// listLevels prints the course.
func listLevels(e *env) {
	e.show("levels", game.Levels(), func() {
		e.Wrap("", e.Say("play.levels"))
		for i, l := range game.Levels() {
			e.Wrap(fmt.Sprintf("  %2d  %s %s ", i+1, text.Pad(l.Lock, 15), text.Pad(string(l.Harm), 12)),
				e.Each(func(lang string) string { return l.Title[lang] }))
		}
		e.Next("locklab play --level 1", "locklab play quiz")
	})
}

// playLevel plays a level, and the next ones as long as they are wanted.
func playLevel(e *env, n int) (err error) {
	on := screen(e)
	for next := true; next && err == nil; n++ {
		l, unknown := play.LevelAt(n)
		if unknown != nil {
			return unknown
		}
		if !e.json {
			e.onPage("level", fmt.Sprint(n))
		}
		g, wrong := l.Game(e.ctx)
		start := func() (*game.Session, error) { return game.StartLevel(on, n, l, g, &next) }
		err = playGame(e, g, internal(wrong), start)
	}
	return err
}

// playGame plays a game, unless it cannot begin. With --json it prints the position and ends.
func playGame(e *env, g *play.Game, failed error, start func() (*game.Session, error)) error {
	if failed != nil {
		return failed
	}
	defer g.Close()
	s, err := start()
	if err != nil {
		return err
	}
	if e.json {
		e.show("position", s.Position(), nil)
		return nil
	}
	return internal(cmp.Or(s.Play(), e.ctx.Err()))
}

// screen returns where a game is shown and where lines are typed.
func screen(e *env) *game.Screen {
	_, interactive := terminal(e.stdin)
	in := bufio.NewReader(e.stdin)
	return &game.Screen{
		Printer: e.Printer, Ctx: e.ctx, Look: e.look(), Echo: !interactive,
		Line: func() (string, bool) { return e.line(in) },
	}
}

// line reads a line; false: the input or the program has ended.
func (e *env) line(in *bufio.Reader) (line string, more bool) {
	typed, ended := "", error(nil)
	if err := e.untilStopped(func() error { typed, ended = in.ReadString('\n'); return nil }); err != nil {
		return "", false
	}
	return strings.TrimRight(typed, "\r\n"), ended == nil || typed != ""
}

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
		use: "quiz", args: noArguments, run: q.run,
		flags: func(f *flags) {
			q.locks.add(f, f.e.Say("help.flag.locks.quiz"))
			f.add("races", &q.races)
			f.add("lesson", &q.lesson)
			f.completes("lesson", oneOf(lessonNames()))
			parse(f, "difficulty", "", &q.difficulty, game.ParseDifficulty)
			f.completes("difficulty", oneOf(game.Difficulties))
			f.add("seed", &q.seed)
			ranged(f, "questions", &q.count, 1, game.MostQuestions)
		},
		examples: []string{"play quiz", "play quiz --seed 7 --questions 20",
			"play quiz --locks token,watchdog --difficulty medium", "play quiz --lesson 6"},
	}
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
	again := strings.TrimSpace(fmt.Sprintf("locklab play quiz --seed %d%s", q.seed, q.asked(e)))
	e.show("quiz", map[string]any{"seed": q.seed, "questions": questions}, func() { screen(e).Ask(questions, again) })
	return internal(e.ctx.Err())
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
	locks, err := q.locks.pick(nil)
	if err != nil {
		return s, err
	}
	s.Locks = lists.Each(locks, func(l lock.Entry) string { return l.ID })
	if e.given("races") {
		races, err := pickRaces(q.races)
		if err != nil {
			return s, err
		}
		s.Races = lists.Each(races, func(r race.Race) string { return r.ID })
	}
	if e.given("lesson") {
		cells, names := lessons.PathCells(q.lesson)
		if cells == nil {
			return s, text.Errorf("error.quiz.lesson", "name", q.lesson, "most", lessons.PathScreens,
				"names", strings.Join(names, ", "))
		}
		s.Cells = lists.Each(cells, func(c [2]string) game.Cell { return game.Cell{Lock: c[0], Race: c[1]} })
	}
	return s, nil
}

// asked is the flags that say what the quiz is about, as they were given.
func (q *quizFlags) asked(e *env) (flags string) {
	for _, name := range []string{"locks", "races", "lesson", "difficulty", "questions"} {
		if e.given(name) {
			flags += fmt.Sprintf(" --%s %s", name, strings.Trim(e.running.Flag(name).Value.String(), "[]"))
		}
	}
	return flags
}

// questions are as many as were asked for. Too few are an error that says what there is, unless none was given.
func (q *quizFlags) questions(e *env, scope game.Scope) (all []*game.Question, err error) {
	quiz := game.NewQuiz(q.seed, scope)
	for len(all) < q.count {
		one, err := quiz.Question(e.ctx, len(all))
		none := (*game.NoQuestionError)(nil)
		switch {
		case errors.As(err, &none) && len(all) > 0 && !e.given("questions"):
			return all, nil
		case errors.As(err, &none) && len(all) > 0:
			return nil, text.Errorf("error.quiz.few", "scope", strings.TrimSpace(q.asked(e)), "n", len(all),
				"count", q.count)
		case errors.As(err, &none):
			return nil, text.Errorf("error.quiz.none", "scope", strings.TrimSpace(q.asked(e)),
				"locks", strings.Join(game.Usual.Locks, ", "), "races", strings.Join(game.Usual.Races, ", "))
		case err != nil:
			return nil, internal(err)
		}
		all = append(all, one)
	}
	return all, nil
}
