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

// If a pause is all that goes wrong, it makes the harm certain; if the work is too long,
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

// The lines are those on which the lock sent its request: each is in the source, the
// outermost is in a method or a timer of the lock, and a run without code has none.
func TestWatch(t *testing.T) {
	for _, id := range []string{"setnx", "token", "watchdog", "redlock", "daemon-29-owned"} {
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
				t.Fatalf("%s: event %d of a watched run is %+v, and %+v where nobody looks", id, i, e, o.History.Events[i])
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
	return racetest.Play(t, entry, sc, sc.Settings)
}

// What is written comes back: the search with its certificate and traces, and the runs
// with their code.
func TestChecked(t *testing.T) {
	token := racetest.Must(race.Lock("token"))(t)
	b := search.DefaultBounds()
	b.Budget = "pause=1"
	s := exploring(t, token, b)
	cut := b
	cut.MaxStates = 20
	part := exploring(t, token, cut)
	o := racetest.Must(search.ReplayWithCodeOn(s.Lock, s.Witnesses[0].Trace))(t)
	played, err := search.Demo()
	if err != nil {
		t.Fatal(err)
	}
	one := study.CheckedSearch{Search: s}
	one.Runs = []study.CheckedRun{study.NewCheckedRun(o)}
	c := &study.Checked{
		Test: "token", Nodes: 1, TTL: b.TTL, Search: &one, Pars: []study.CheckedSearch{{Search: part}},
		Races: []study.CheckedRun{study.NewCheckedRun(played)},
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
		if diff := cmp.Diff(certificate.Of(pair.want, "en"), certificate.Of(got, "en")); diff != "" {
			t.Errorf("the certificate:\n%s", diff)
		}
		if diff := cmp.Diff(pair.want.Witnesses, got.Witnesses, cmpopts.IgnoreUnexported(explore.Witness{})); diff != "" {
			t.Errorf("the witnesses:\n%s", diff)
		}
	}
	for i, want := range []*race.Outcome{o, played} {
		got := racetest.Must(append(back.Search.Runs, back.Races...)[i].Outcome(token))(t)
		if diff := cmp.Diff(want.History, got.History, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the history:\n%s", diff)
		}
		if diff := cmp.Diff(want.Judgement, got.Judgement, cmpopts.EquateEmpty()); diff != "" || got.Race.ID != want.Race.ID || got.Trace.Link() != want.Trace.Link() {
			t.Errorf("%s becomes %s:\n%s", want.Race.ID, got.Race.ID, diff)
		}
	}
	for given, want := range map[string]string{
		"{": "cannot be read",
		strings.Replace(data.String(), `"version":3`, `"version":7`, 1): "of version 7",
	} {
		if _, err := study.ReadChecked(strings.NewReader(given)); err == nil || !strings.Contains(text.SayError("en", err), want) {
			t.Errorf("%.20s: %v, want %q", given, err, want)
		}
	}
}

// TestDoom: shares that can be computed by hand. A paused client without a fixed end may
// resume at any moment, so each step of its rival is a coin toss, and the last toss is
// the end of the lease. After a jump of a clock, a loss of data or a crash of the holder
// nothing is left to chance.
func TestDoom(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	t.Parallel()
	for _, c := range []struct {
		lock, budget string
		nodes        int
		harm         verdict.Word
		before       float64   // the share before the fault
		after        []float64 // from the fault to the point of no return
	}{
		// the rival starts, its SET arrives, it hears the refusal, and the lease ends
		{"token", "pause=1", 1, verdict.Overlap, 0, []float64{1. / 8, 1. / 4, 1. / 2, 1}},
		{"watchdog", "pause=1", 1, verdict.Overlap, 0, []float64{1. / 8, 1. / 4, 1. / 2, 1}},
		// the same with three servers, of which each is asked by itself, and their
		// answers cleaned up after
		{"redlock", "pause=1", 3, verdict.Overlap, 0, []float64{1. / 2048, 1. / 1024, 1. / 512, 1. / 256, 1. / 128, 1. / 64, 1. / 32, 1. / 16, 1. / 8, 1. / 4, 1. / 2, 1}},
		{"setnx", "crash=1", 1, verdict.Deadlock, 0, []float64{1}},
		{"getset", "client-clock=1@10s", 1, verdict.Overlap, 0, []float64{1}},
		{"redlock", "restart=1", 3, verdict.Overlap, 0, []float64{1}},
	} {
		b := search.DefaultBounds()
		b.Budget, b.Nodes = faults.Budget(c.budget), c.nodes
		s := exploring(t, racetest.Lock(t, c.lock), b)
		i := slices.IndexFunc(s.Witnesses, func(w search.Witness) bool { return w.Verdict == c.harm })
		if i < 0 {
			t.Fatalf("%s, %s: no witness of %s", c.lock, c.budget, c.harm)
		}
		trace := s.Witnesses[i].Trace
		strike := 1 + slices.IndexFunc(trace.Choices, func(c simulator.Choice) bool { return c.Verb >= simulator.FaultVerb })
		shares := sharesOf(t, s, trace, c.harm)
		if got := shares[strike-1]; got != c.before {
			t.Errorf("%s, %s, %s: share %v before the strike, want %v", c.lock, c.budget, c.harm, got, c.before)
		}
		last := strike + len(c.after)
		if got := shares[strike:last]; !slices.Equal(got, c.after) { // powers of two do not round
			t.Errorf("%s, %s, %s: shares %v, want %v", c.lock, c.budget, c.harm, got, c.after)
		}
		d := racetest.Must(study.DoomOn(t.Context(), s.Lock, trace))(t)
		if d.Harm != c.harm || d.NoReturn != last-1 || d.Steps != s.Witnesses[i].Steps {
			t.Errorf("%s, %s, %s: %+v, want no return after %d steps of %d", c.lock, c.budget, c.harm, d, last-1, s.Witnesses[i].Steps)
		}
	}
}

// sharesOf are the shares of what can follow the choices of a witness that end in a harm.
func sharesOf(t *testing.T, s *search.Search, trace simulator.Trace, harm verdict.Word) []float64 {
	t.Helper()
	m, sim, err := racetest.Must(search.ParseBounds(trace.Settings))(t).Simulator(s.Lock)
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	d := racetest.Must(explore.DoomOf(t.Context(), sim, m.Options(), trace.Choices, harm))(t)
	return d.Shares
}

// TestDoomOfRaces: a race has one future only, and the error says so.
func TestDoomOfRaces(t *testing.T) {
	entry, sc := racetest.Cell(t, "token", "gc-pause")
	if _, err := study.DoomOn(t.Context(), entry, racetest.Play(t, entry, sc, sc.Settings).Trace); err == nil || !strings.Contains(text.SayError("en", err), "locklab explore token") {
		t.Errorf("error %v, want where to go", err)
	}
}
