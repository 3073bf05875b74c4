package main

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"locklab/reports/game"
	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/verdict"
)

// playFlags are the flags of "locklab play".
type playFlags struct {
	boundFlags
	harm  verdict.Word // "": any
	level int
	list  bool
}

func playCommand() *command {
	p := &playFlags{boundFlags: boundFlags{Bounds: play.DefaultBounds()}}
	return &command{
		use: "play [STRATEGY|LINK]", args: atMost(1), complete: aLock, flags: p.add, run: p.run, below: []*command{quizCommand()},
		examples: []string{"play token", "play --level 2", "play redlock --budget restart=1 --attempts 1", "play LINK", "play token --timing any --budget pause=1"},
	}
}

func (p *playFlags) add(f *flags) {
	p.boundFlags.add(f, "budget", "clients", "attempts", "nodes", "fenced")
	parse(f, "timing", p.Timing.String(), &p.Timing, study.ParseMode)
	parse(f, "harm", "", &p.harm, parseHarm)
	f.add("level", &p.level)
	f.add("levels", &p.list)
}

func (p *playFlags) run(e *env, args []string) error {
	bounded := slices.ContainsFunc([]string{"budget", "clients", "attempts", "timing", "nodes", "fenced"}, e.given)
	switch {
	case p.list && (len(args) > 0 || e.given("level")):
		return text.Errorf("error.play.levels")
	case p.list:
		listLevels(e)
		return nil
	case e.given("level") && (len(args) > 0 || bounded || e.given("harm")):
		return text.Errorf("error.play.level.alone")
	case e.given("level"):
		return playLevel(e, p.level)
	case len(args) == 0:
		return text.Errorf("error.play.what")
	}
	if _, err := simulator.ParseLink(args[0]); err == nil || strings.HasPrefix(args[0], "locklab") {
		if bounded {
			return text.Errorf("error.play.bounds")
		}
		return p.link(e, args[0])
	}
	if meant := flagsFor(e.running, args); meant != "" {
		return text.Errorf("error.noarguments.meant", "command", "locklab play", "name", args[0], "meant", meant)
	}
	entry, err := race.Strategy(args[0])
	if err != nil {
		return err
	}
	g, err := play.New(e.ctx, entry, p.Bounds)
	return playGame(e, g, err, func() (*game.Session, error) { return game.Start(screen(e), g, p.harm, nil) })
}

func parseHarm(harm string) (verdict.Word, error) {
	word, err := verdict.ParseWord(harm)
	if err != nil || !play.IsHarm(word) {
		return "", text.Errorf("error.play.harm", "name", harm, "names", strings.Join(play.HarmNames(), ", "))
	}
	return word, nil
}

// link plays on from where a link ends.
func (p *playFlags) link(e *env, link string) error {
	t, err := simulator.ParseLink(link)
	if err != nil {
		return err
	}
	g, err := play.Open(e.ctx, t)
	return playGame(e, g, err, func() (*game.Session, error) { return game.Start(screen(e), g, p.harm, t.Choices) })
}

// listLevels prints the course.
func listLevels(e *env) {
	e.show(game.LevelsJSON(), func() {
		e.Wrap("", e.Say("play.levels"))
		for i, l := range play.Levels() {
			e.Wrap(fmt.Sprintf("  %2d  %s %s ", i+1, text.Pad(l.Lock, 15), text.Pad(string(l.Harm), 12)), e.Each(func(lang string) string { return game.LevelTitle(l, lang) }))
		}
		e.Next("locklab play --level 1", "locklab play quiz")
	})
}

func playLevel(e *env, n int) error {
	l, err := play.LevelAt(n)
	if err != nil {
		return err
	}
	g, err := l.Game()
	return playGame(e, g, internal(err), func() (*game.Session, error) { return game.StartLevel(screen(e), n, l, g) })
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
		e.printJSON(s.JSON())
		return nil
	}
	return internal(s.Play())
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
func (e *env) line(in *bufio.Reader) (string, bool) {
	type read struct {
		line string
		err  error
	}
	got := make(chan read, 1)
	go func() {
		line, err := in.ReadString('\n')
		got <- read{line, err}
	}()
	select {
	case r := <-got:
		return strings.TrimRight(r.line, "\r\n"), r.err == nil || r.line != ""
	case <-e.ctx.Done():
		return "", false
	}
}
