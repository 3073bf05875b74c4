package play_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/play"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

var update = flag.Bool("update", false, "write levels.txt anew")

// TestLevels: whether a level can be solved, and its par, is what a complete search says; and it takes few clicks.
func TestLevels(t *testing.T) {
	var b strings.Builder
	for i, l := range play.Levels() {
		want := l.Solution()
		if !effort.Exhaustive() && !*update && want.States > 3_000 {
			continue
		}
		g := racetest.Must(l.Game(t.Context()))(t)
		s := racetest.Must(g.Search(t.Context()))(t)
		got := play.Solution{States: s.States, Clicks: clicks(t, g, l.Harm)}
		g.Close()
		if !s.Complete || len(s.Untriggered()) > 0 {
			t.Errorf("level %d, %s: complete %t, not injected: %v", i+1, l.ID, s.Complete, s.Untriggered())
		}
		got.Par, got.Steps, got.Possible = play.Par(s, l.Harm)
		if !*update && got != want {
			t.Errorf("level %d, %s: %+v, want %+v", i+1, l.ID, got, want)
		}
		fmt.Fprintln(&b, l.ID, got.Par, got.Steps, got.States, got.Clicks)
	}
	if *update {
		if err := os.WriteFile("levels.txt", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// clicks counts the moves of a player who follows Next; 0: none leads to the harm.
func clicks(t *testing.T, g *play.Game, harm verdict.Word) (n int) {
	at := racetest.Must(g.Forward(t.Context(), nil, harm))(t)
	for p := racetest.Must(g.At(at))(t); !p.Has(harm); n++ {
		w := racetest.Must(g.Way(t.Context(), at, harm))(t)
		if w.Choices == nil {
			return 0
		}
		_, end, next, err := g.Next(t.Context(), p, w, harm)
		if at = next.Choices[:end]; err != nil {
			t.Fatal(err)
		}
		p = racetest.Must(g.At(at))(t)
	}
	return n
}

// TestLevelsCanBePlayed: the way that gives up a level is as long as its par says, and its moves are among those
// that a player sees.
func TestLevelsCanBePlayed(t *testing.T) {
	for _, l := range play.Levels() {
		want := l.Solution()
		if !effort.Exhaustive() && want.States > 2_000 {
			continue
		}
		g := racetest.Must(l.Game(t.Context()))(t)
		way, err := g.Way(t.Context(), nil, l.Harm)
		if err != nil || way.Unknown || (way.Choices != nil) != want.Possible || len(way.Choices) != want.Steps ||
			way.Faults != want.Par {
			t.Errorf("%s: %d faults, %d steps, %v; want %+v", l.ID, way.Faults, len(way.Choices), err, want)
		}
		p, err := g.At(way.Choices)
		if err != nil || want.Possible && !p.Has(l.Harm) || p.Used() != want.Par {
			t.Errorf("%s: %v, %v", l.ID, p.Verdicts, err)
		}
		if _, err := search.Replay(p.Trace); err != nil {
			t.Errorf("%s: the link of the position: %v", l.ID, err)
		}
		g.Close()
	}
}

// TestAgainst: whether the same attack harms another lock is a question about any timing, and is played move by move to
// its end. In lockstep nobody asks lock-delay again when its delay is over.
func TestAgainst(t *testing.T) {
	l := racetest.Must(play.LevelAt(8))(t) // the token and a pause
	g := racetest.Must(l.Game(t.Context()))(t)
	defer g.Close()
	way := racetest.Must(g.Way(t.Context(), nil, l.Harm))(t)
	for id, falls := range map[string]bool{"setnx": false, "lock-delay": true, "client-expiry": true,
		"zk-recheck": true} {
		m := racetest.Must(g.Against(t.Context(), racetest.Lock(t, id), l.Harm, way.Choices))(t)
		has := slices.Contains(m.Run.Verdicts, l.Harm)
		if _, _, found := play.Par(m.Search, l.Harm); found != falls || has && !falls ||
			!found && (!m.Search.Complete || m.Search.Bounds.Timing != search.AnyTiming) {
			t.Errorf("%s: found %t, %v after the same moves; %v", id, found, m.Run.Verdicts, m.Search.Bounds)
		}
	}
}

// TestCannot: what a level calls impossible does not happen at any timing either, in a search of one attempt each. One
// that is not complete counts with what it has found.
func TestCannot(t *testing.T) {
	for _, l := range play.Levels() {
		if l.Solution().Possible {
			continue
		}
		entry := racetest.Lock(t, l.Lock)
		b := l.Bounds()
		b.Timing, b.Attempts, b.MaxStates, b.Nodes = search.AnyTiming, 1, 200_000, search.FewServers(entry)
		s := racetest.Must(search.Explore(t.Context(), entry, b))(t)
		if par, _, ok := play.Par(s, l.Harm); ok {
			t.Errorf("level %s: %s at any timing, by %d faults", l.ID, l.Harm, par)
		}
	}
}

// TestForward: Forward leaves a player where there is a choice, a fault, the goal or the end, and Back leads to where
// the last choice was. No move without an effect is offered, and no pause of no length.
func TestForward(t *testing.T) {
	random, forced, goals := rand.New(rand.NewPCG(1, 1)), 0, 0
	for _, l := range play.Levels() {
		if l.Solution().States > 500 {
			continue
		}
		g := racetest.Must(l.Game(t.Context()))(t)
		for range 6 {
			at, err := g.Forward(t.Context(), nil, l.Harm)
			for err == nil {
				var p *play.Position
				if p, err = g.At(at); err != nil || len(p.Moves) == 0 {
					break
				}
				offered(t, g, l, p, at)
				chosen := append(slices.Clip(at), p.Moves[random.IntN(len(p.Moves))].Choice)
				var on, back []simulator.Choice
				if on, err = g.Forward(t.Context(), chosen, l.Harm); err != nil {
					break
				}
				forced += len(on) - len(chosen)
				if back, err = g.Back(t.Context(), on, l.Harm); len(p.Moves) > 1 && !slices.Equal(back, at) {
					t.Fatalf("%s: back from %v is %v, not %v", l.ID, on, back, at)
				}
				if q, _ := g.At(on); q != nil && q.Has(l.Harm) && !p.Has(l.Harm) {
					goals++
				}
				at = on
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		g.Close()
	}
	if forced == 0 || goals == 0 {
		t.Errorf("%d forced moves, %d goals: nothing was tested", forced, goals)
	}
}

// offered checks what a player may choose from.
func offered(t *testing.T, g *play.Game, l play.Level, p *play.Position, at []simulator.Choice) {
	t.Helper()
	if len(p.Moves) == 1 && !p.Moves[0].Fault {
		before, err := g.At(at[:max(len(at)-1, 0)])
		if err != nil || !p.Has(l.Harm) || before.Has(l.Harm) {
			t.Errorf("%s: the only move after %v is not made: %v", l.ID, at, err)
		}
	}
	for _, m := range p.Moves {
		since, paused := play.PausedAt(p.Outcome.History.Events, int(m.Choice.Client))
		if m.Choice.Verb == simulator.Resume && paused && since == p.Now && len(p.Moves) > 1 {
			t.Errorf("%s: after %v a client may wake from a pause of no length", l.ID, at)
		}
		added := m.Run.Events[min(len(p.Outcome.History.Events), len(m.Run.Events)):]
		reads := len(added) > 0 && added[0].Kind == history.Read
		if m.Choice.Verb == simulator.Orphaned && reads && len(p.Moves) > 1 && !p.Has(l.Harm) {
			t.Errorf("%s: after %v a read is offered for which nobody waits", l.ID, at)
		}
	}
}

// TestWhiteboard: what a client sends in a calm run stands on the whiteboard of its lock, in that order. A value stands
// there itself if each client writes the same one.
func TestWhiteboard(t *testing.T) {
	for i, l := range play.Levels() {
		g := racetest.Must(l.Game(t.Context()))(t)
		own, others := sent(t, g, 1), sent(t, g, 2)
		g.Close()
		if len(own) < 2 && l.ID != "mutex" {
			t.Errorf("level %d: a calm run is %q", i+1, own)
		}
		rest := strings.ToUpper(l.Code())
		for _, command := range own {
			verb, about, _ := strings.Cut(strings.ToUpper(command), " ")
			_, after, found := strings.Cut(rest, verb)
			if rest = after; !found || verb == "INCR" && !strings.HasPrefix(rest, " "+about) {
				t.Errorf("level %d: %q does not stand behind what is sent before it:\n%s", i+1, command, l.Code())
			}
		}
		words := strings.Fields(own[0])
		if words[0] == "SET" || words[0] == "SETNX" && !strings.Contains(l.Code(), "now()") {
			literally := strings.Contains(l.Code()+" ", strings.Join(words[:3], " ")+" ")
			if literally != (own[0] == others[0]) {
				t.Errorf("level %d: c1 sends %q and c2 %q:\n%s", i+1, own[0], others[0], l.Code())
			}
		}
	}
}

// sent is what a client sends in the first round of a calm run: each command once, and "WORK" for its work.
func sent(t *testing.T, g *play.Game, client int) (all []string) {
	t.Helper()
	for _, e := range racetest.Must(g.Ahead(nil, client, false))(t).Events {
		if e.Client == client && e.Kind == history.Released {
			break
		}
		if command := strings.Join(e.Cmd, " "); e.Client == client && e.Kind == history.Send && e.Thread == 0 {
			if e.Node == history.Resource {
				command = "WORK"
			}
			all = append(all, strings.Split(command, " ; ")...)
		}
	}
	return slices.Compact(all)
}
