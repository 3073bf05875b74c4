package study_test

import (
	"bytes"
	"errors"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/reports/certificate"
	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// TestCertainFrom: if a pause is all that goes wrong, it makes the harm certain; if the work is too long,
// no trigger is needed; and a lock that holds has no certainty.
func TestCertainFrom(t *testing.T) {
	for _, c := range []struct {
		lock, race string
		kind       history.EventKind // of the event; 0: none is needed
		harm       verdict.Word
	}{
		{"token", "gc-pause", history.Pause, verdict.Overlap},
		{"setnx", "crash-holding", history.Crash, verdict.Deadlock},
		{"redlock", "restart", history.Down, verdict.Overlap},
		{"token", "slow-work", 0, verdict.Overlap},
	} {
		o := played(t, c.lock, c.race)
		got := racetest.Must(study.CertainFrom(o))(t)
		kind := history.EventKind(0)
		if got.Event > 0 {
			kind = o.History.Events[got.Event-1].Kind
		}
		if kind != c.kind || got.Harm != c.harm {
			t.Errorf("%s in %s: %s, certain from %s; want %s from %s", c.lock, c.race, got.Harm, kind, c.harm, c.kind)
		}
	}
	if _, err := study.CertainFrom(played(t, "setnx", "gc-pause")); !errors.Is(err, study.ErrNoHarm) {
		t.Errorf("a lock that stands: %v", err)
	}
}

// TestWatch: the lines are those on which the lock sent its request: each is in the source, the
// outermost is in a method or a timer of the lock, and a run without code has none.
func TestWatch(t *testing.T) {
	for _, id := range []string{"token", "redlock", "daemon-29-owned"} {
		o := played(t, id, "gc-pause")
		w := racetest.Must(search.ReplayWithCodeOn(o.Lock, o.Trace))(t)
		if len(w.History.Events) != len(o.History.Events) {
			t.Fatalf("%s: a watched run has %d events, want %d", id, len(w.History.Events), len(o.History.Events))
		}
		commands := 0
		for i, e := range w.History.Events {
			bare := e
			bare.Code = nil
			if !reflect.DeepEqual(bare, o.History.Events[i]) {
				t.Fatalf("%s: event %d of a watched run is %+v, and %+v where nobody looks",
					id, i, e, o.History.Events[i])
			}
			if e.Kind != history.Send || e.Node == history.Resource {
				continue
			}
			commands++
			if len(e.Code) == 0 {
				t.Errorf("%s: %v comes from nowhere", id, e.Cmd)
			}
			for _, at := range e.Code {
				file, line, _ := strings.Cut(at, ":")
				text, _ := fs.ReadFile(algorithms.Sources(), file)
				if n, err := strconv.Atoi(line); err != nil || n < 1 || n > bytes.Count(text, []byte("\n")) {
					t.Errorf("%s: %s is no line of the source", id, at)
				}
			}
		}
		if commands == 0 {
			t.Errorf("%s sends nothing", id)
		}
	}
}

func played(t *testing.T, id, raceID string) *race.Outcome {
	t.Helper()
	entry, sc := racetest.Cell(t, id, raceID)
	return racetest.Must(race.Play(entry, sc, sc.Settings))(t)
}

// TestChecked: what is written comes back: the search with its certificate and traces, and the runs
// with their code.
func TestChecked(t *testing.T) {
	token, gcPause := racetest.Cell(t, "token", "gc-pause")
	b := search.DefaultBounds()
	b.Budget = "pause=1"
	s := exploring(t, token, b)
	b.MaxStates = 20
	part := exploring(t, token, b)
	b.MaxStates, b.Budget = 0, "lose-reply=1"
	s.Add(part)
	s.Add(exploring(t, token, b)) // which is complete
	o, played := racetest.Must(search.ReplayWithCodeOn(s.Lock, s.Witnesses[0].Trace))(t),
		racetest.Must(race.Play(token, gcPause, gcPause.Settings))(t)
	c := &study.Checked{
		Test: "token", Nodes: 1, TTL: b.TTL, Pars: []study.CheckedSearch{{Search: part}},
		Search: &study.CheckedSearch{Search: s, Runs: []study.CheckedRun{study.NewCheckedRun(o)}},
		Races:  []study.CheckedRun{study.NewCheckedRun(played)},
	}
	var data bytes.Buffer
	if err := c.Write(&data); err != nil {
		t.Fatal(err)
	}
	back := racetest.Must(study.ReadChecked(strings.NewReader(data.String())))(t)
	for _, pair := range []struct {
		data study.CheckedSearch
		want *search.Search
	}{{*back.Search, s}, {back.Pars[0], part}} {
		got := pair.data.Search
		got.SetLock(token)
		for _, lang := range text.Languages() {
			if diff := cmp.Diff(certificate.Of(pair.want, lang), certificate.Of(got, lang)); diff != "" {
				t.Errorf("the certificate:\n%s", diff)
			}
		}
		if diff := cmp.Diff(pair.want.Witnesses, got.Witnesses,
			cmpopts.IgnoreUnexported(explore.Witness{})); diff != "" {
			t.Errorf("the witnesses:\n%s", diff)
		}
	}
	for i, want := range []*race.Outcome{o, played} {
		got := racetest.Must(study.OutcomesOf(append(back.Search.Runs, back.Races...), token))(t)[i]
		if diff := cmp.Diff(want.History, got.History, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the history:\n%s", diff)
		}
		if diff := cmp.Diff(want.Judgement, got.Judgement, cmpopts.EquateEmpty()); diff != "" ||
			got.Race.ID != want.Race.ID || got.Trace.Link() != want.Trace.Link() ||
			!slices.Equal(got.Verdicts, want.Verdicts) {
			t.Errorf("%s becomes %s:\n%s", want.Race.ID, got.Race.ID, diff)
		}
	}
	for given, want := range map[string]string{
		"{": "cannot be read",
		strings.Replace(data.String(), `"version":4`, `"version":7`, 1): "of version 7",
	} {
		if _, err := study.ReadChecked(strings.NewReader(given)); err == nil ||
			!strings.Contains(text.SayError("en", err), want) {
			t.Errorf("%.20s: %v, want %q", given, err, want)
		}
	}
}

// TestDoom: where the point of no return is. A paused client without a fixed end may resume at any moment, so each
// step of its rival is a coin toss, and the last toss is the end of the lease. After a jump of a clock, a loss of data
// or a crash of the holder nothing is left to chance. The shares themselves are held by explore's TestDoomTwin.
func TestDoom(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	t.Parallel()
	for _, c := range []struct {
		lock, budget string
		harm         verdict.Word
		tosses       int // after the fault
	}{
		// its rival starts, its SET arrives, it hears the refusal, and the lease ends
		{"token", "pause=1", verdict.Overlap, 3},
		{"watchdog", "pause=1", verdict.Overlap, 3},
		{"redlock", "pause=1", verdict.Overlap, 11}, // each of three servers is asked by itself, and cleaned up after
		{"setnx", "crash=1", verdict.Deadlock, 0},
		{"getset", "client-clock=1@10s", verdict.Overlap, 0},
		{"redlock", "restart=1", verdict.Overlap, 0},
	} {
		b, entry := search.DefaultBounds(), racetest.Lock(t, c.lock)
		b.Budget, b.Nodes = faults.Budget(c.budget), search.FewServers(entry)
		s := exploring(t, entry, b)
		i := slices.IndexFunc(s.Witnesses, func(w search.Witness) bool { return w.Verdict == c.harm })
		if i < 0 {
			t.Fatalf("%s, %s: no witness of %s", c.lock, c.budget, c.harm)
		}
		choices := s.Witnesses[i].Trace.Choices
		strike := 1 + slices.IndexFunc(choices, func(c simulator.Choice) bool { return c.Verb >= simulator.FaultVerb })
		d := racetest.Must(study.DoomOn(t.Context(), entry, s.Witnesses[i].Trace))(t)
		if d.Harm != c.harm || d.NoReturn != strike+c.tosses || d.Steps != len(choices) {
			t.Errorf("%s, %s: %+v, want no return %d steps after the fault at %d",
				c.lock, c.budget, d, c.tosses, strike)
		}
	}
	// A race has one future only, and the error says so.
	o := played(t, "token", "gc-pause")
	if _, err := study.DoomOn(t.Context(), o.Lock, o.Trace); err == nil ||
		!strings.Contains(text.SayError("en", err), "locklab explore token") {
		t.Errorf("error %v, want where to go", err)
	}
}
