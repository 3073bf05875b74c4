package play_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/play"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/effort"
)

var update = flag.Bool("update", false, "write levels.txt anew")

// Whether a level can be solved, and its par, is what a complete search says.
func TestLevels(t *testing.T) {
	var b strings.Builder
	for i, l := range play.Levels() {
		want := l.Solution()
		if !effort.Exhaustive() && !*update && want.States > 3_000 {
			continue
		}
		g := racetest.Must(l.Game())(t)
		s, err := g.Search(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		g.Close()
		if !s.Complete || len(s.Untriggered()) > 0 {
			t.Errorf("level %d, %s: complete %t, not injected: %v", i+1, l.ID, s.Complete, s.Untriggered())
		}
		got := play.Solution{States: s.States}
		got.Par, got.Steps, got.Possible = play.Par(s, l.Harm)
		if !*update && got != want {
			t.Errorf("level %d, %s: %+v, want %+v", i+1, l.ID, got, want)
		}
		par, steps := "-", "-"
		if got.Possible {
			par, steps = fmt.Sprint(got.Par), fmt.Sprint(got.Steps)
		}
		fmt.Fprintln(&b, l.ID, par, steps, got.States)
	}
	if *update {
		if err := os.WriteFile("levels.txt", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The way that gives up a level is as long as its par says, and its moves are among those
// that a player sees.
func TestLevelsCanBePlayed(t *testing.T) {
	for _, l := range play.Levels() {
		want := l.Solution()
		if !effort.Exhaustive() && want.States > 2_000 {
			continue
		}
		g := racetest.Must(l.Game())(t)
		way, err := g.Way(context.Background(), nil, l.Harm)
		if err != nil || way.Unknown || (way.Choices != nil) != want.Possible || len(way.Choices) != want.Steps || way.Faults != want.Par {
			t.Errorf("%s: %d faults, %d steps, %v; want %+v", l.ID, way.Faults, len(way.Choices), err, want)
		}
		p, err := g.At(way.Choices)
		if err != nil || want.Possible && !p.Has(l.Harm) || p.Used() != want.Par {
			t.Errorf("%s: %v, %v", l.ID, p.Verdicts, err)
		}
		if _, err := study.Replay(p.Trace); err != nil {
			t.Errorf("%s: the link of the position: %v", l.ID, err)
		}
		g.Close()
	}
}

// An attack that a lock survives: move by move and in every order.
func TestAgainst(t *testing.T) {
	l, err := play.LevelAt(13) // the token and a pause
	if err != nil {
		t.Fatal(err)
	}
	g, err := l.Game()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	way := racetest.Must(g.Way(context.Background(), nil, l.Harm))(t)
	for id, falls := range map[string]bool{"setnx": false, "lock-delay": true, "client-expiry": true} {
		entry := racetest.Must(play.Level{Lock: id}.Entry())(t)
		m, err := g.Against(context.Background(), entry, l.Harm, way.Choices)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, found := play.Par(m.Search, l.Harm); found != falls || !found && !m.Search.Complete || m.Position.Has(l.Harm) && !falls {
			t.Errorf("%s: found %t, %v after the same moves", id, found, m.Position.Verdicts)
		}
		if len(m.Position.Moves) > 0 && m.Position.Moves[0].Choice.Verb < simulator.FaultVerb {
			t.Errorf("%s: the attack is not played to its end: %v", id, m.Position.Moves)
		}
	}
}
