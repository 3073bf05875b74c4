package lessons

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator"
)

// A Page is an explanation.
type Page struct {
	Prefix string        // of the keys of its texts
	Lock   lock.Entry    // that it is about; without an ID: none
	Race   race.Scenario // likewise; with Lock it is about the run
	Term   string        // likewise; "": none
	Fault  *simulator.Fault
	Number string // of the article that it is about; "": none
	Print  func(t *Teacher) error
}

// Find returns the page of one or two words: the path, one of its screens (path 3), the interview, one of its topics
// (interview ttl), the glossary, the debate, judge, need, a term, a fault, an article (004), a lock, a race, or a lock in a race (token gc-pause).
// ok: false: no page has this name.
func Find(first, second string) (p Page, ok bool, err error) {
	switch {
	case first == "path":
		p, err = path(second)
	case first == "interview":
		p, err = interview(second)
	case first == "glossary" && second == "":
		p = Page{Prefix: "term.", Print: func(t *Teacher) error { return t.Glossary(Terms()...) }}
	case first == "glossary":
		term, ok := FindTerm(second)
		if !ok {
			err = text.Errorf("error.term", "name", second, "near", text.Near(second, Terms()))
		}
		p = glossary(term)
	case first == "debate":
		p = Page{Prefix: "debate.", Print: (*Teacher).Debate}
	case first == "need":
		p = Page{Prefix: "need.", Print: Need}
	case first == "judge" && second == "":
		p = Page{Prefix: "judging.", Print: (*Teacher).Judging}
	case second != "":
		p, err = run(first, second)
	default:
		p, ok = named(first)
		return p, ok, nil
	}
	return p, true, err
}

func path(screen string) (Page, error) {
	first, last := 1, PathScreens
	if screen != "" {
		n, err := strconv.Atoi(screen)
		if err != nil || n < 1 || n > last {
			return Page{}, text.Errorf("error.path", "name", screen, "last", last)
		}
		first, last = n, n
	}
	return Page{Prefix: "path.", Print: func(t *Teacher) error { return t.Path(first, last) }}, nil
}

func interview(topic string) (Page, error) {
	about := TopicsAbout(topic)
	switch topics := Topics(); {
	case topic == "":
		return Page{Prefix: "interview.", Print: (*Teacher).Interview}, nil
	case slices.Contains(topics, topic):
		return Page{Prefix: "interview.", Print: func(t *Teacher) error { return t.Question(topic) }}, nil
	case about != nil:
		return Page{}, text.Errorf("error.topic.lock", "name", topic, "names", strings.Join(about, ", "))
	default:
		return Page{}, text.Errorf("error.topic", "name", topic, "near", text.Near(topic, topics), "names", strings.Join(topics, ", "))
	}
}

func glossary(term string) Page {
	return Page{Prefix: "term." + term + ".", Term: term, Print: func(t *Teacher) error { return t.Glossary(term) }}
}

func run(id, raceID string) (p Page, err error) {
	if p.Lock, err = race.Strategy(id); err != nil {
		return p, err
	}
	p.Race, err = scenarios.ByName(raceID)
	p.Print = func(t *Teacher) error {
		o, err := t.stage.Play(p.Lock, p.Race)
		if err != nil {
			return err
		}
		return t.Outcome(o)
	}
	return p, err
}

// named returns the page of a lock, a race, a fault, an article or a term.
func named(name string) (p Page, ok bool) {
	if e, ok := algorithms.ByName(name); ok {
		return Page{Prefix: "lock." + e.ID + ".", Lock: e, Print: func(t *Teacher) error { return t.Lock(e) }}, true
	}
	if sc, err := scenarios.ByName(name); err == nil {
		return Page{Prefix: "race." + sc.ID + ".", Race: sc, Print: func(t *Teacher) error { return t.Race(sc) }}, true
	}
	if f, err := faults.ByName(name); err == nil {
		return Page{Prefix: "title.fault." + f.Name, Fault: f, Print: func(t *Teacher) error { return Fault(t, f) }}, true
	}
	if IsArticle(name) {
		return Page{Prefix: "article." + name, Number: name, Print: func(t *Teacher) error { return Article(t, name) }}, true
	}
	term, ok := FindTerm(name)
	return glossary(term), ok
}

// Read returns the page of a name in one language, as lines that are not folded. The error names what there is no
// page of.
func (s *Stage) Read(ctx context.Context, lang, name string) (string, error) {
	words := append(strings.Fields(name), "", "")
	page, ok, err := Find(words[0], words[1])
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "", NoPage(strings.Join(strings.Fields(name), " "), nil)
	}
	var b strings.Builder
	p := &text.Printer{Out: &b, Lang: lang}
	if err := page.Print(NewTeacher(ctx, p, reports.Look{}, s)); err != nil {
		return "", err
	}
	return b.String(), p.Err
}

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
