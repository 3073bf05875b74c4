package lessons

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locklab/scenarios"
	"locklab/scenarios/race"
)

// Path prints screens of the guided tour, the first and the last included, counted from 1.
func (t *Teacher) Path(first, last int) error {
	if last > first {
		t.aboutVerdicts()
		t.out.Printf("\n")
	}
	for n := first; n <= last; n++ {
		if n > first {
			t.out.Printf("\n%s\n\n", strings.Repeat("-", min(t.out.Width, 60)))
		}
		t.screen(n)
	}
	if last < PathScreens {
		t.out.Next(fmt.Sprintf("locklab explain path %d", last+1), "locklab explain interview")
	} else {
		t.out.Next("locklab explain interview", "locklab explain glossary", "locklab demo")
	}
	return t.err
}

// screen prints a failure that is played, the idea that mends it, and what becomes of
// that.
func (t *Teacher) screen(n int) {
	book, key := In("en"), "path."+strconv.Itoa(n)
	o, err := t.stage.Named(book.Name(key+".lock"), book.Name(key+".scenario"))
	if t.failed(err) {
		return
	}
	for _, lang := range t.out.Langs() {
		t.out.Wrap(fmt.Sprintf("%d/%d  ", n, PathScreens), t.line(lang, key+".title"))
	}
	t.part(t.out.Label("label.fall") + "locklab run " + o.Strategy.ID + " " + o.Scenario.ID)
	if o.History != nil {
		t.notation(o)
	}
	t.out.Wrap("  = ", t.results(o))
	t.texts(labelled{"idea", key + ".idea"}, labelled{"then", key + ".next"})
}

// Lines returns a text in a language with its places filled in; nil: there is none.
func (s *Stage) Lines(ctx context.Context, lang, key string) ([]string, error) {
	return In(lang).Lines(key, (&filler{ctx, lang, s}).fill)
}

// Named plays a lock in a race, both by name.
func (s *Stage) Named(id, raceID string) (*race.Outcome, error) {
	e, err := race.Strategy(id)
	if err != nil {
		return nil, err
	}
	sc, err := scenarios.ByName(raceID)
	if err != nil {
		return nil, err
	}
	return s.Play(e, sc)
}

// PathCells are the locks and races that a screen of the guided tour tells of: by its number, or by the lock or the race
// that it plays. nil: there is no such screen; names are what there is.
func PathCells(name string) (cells [][2]string, names []string) {
	book := In("en")
	for n := 1; n <= PathScreens; n++ {
		key := "path." + strconv.Itoa(n)
		own := [2]string{book.Name(key + ".lock"), book.Name(key + ".scenario")}
		for _, one := range own {
			if !slices.Contains(names, one) {
				names = append(names, one)
			}
		}
		if name != strconv.Itoa(n) && name != own[0] && name != own[1] {
			continue
		}
		cells = append(cells, own)
		for _, part := range []string{".idea", ".next"} {
			for _, m := range place.FindAllStringSubmatch(book.Get(key+part), -1) {
				words := strings.Fields(m[1])
				if len(words) < 3 || words[0] != "verdict" && words[0] != "reply" {
					continue
				}
				if c := [2]string{words[1], words[2]}; !slices.Contains(cells, c) {
					cells = append(cells, c)
				}
			}
		}
	}
	return cells, names
}
