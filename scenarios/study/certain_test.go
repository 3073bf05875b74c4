package study_test

import (
	"bytes"
	"errors"
	"io/fs"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
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
		w := racetest.Must(study.ReplayWithCodeOn(o.Strategy, o.Trace))(t)
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
