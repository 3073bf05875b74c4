package lessons

import (
	"context"
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
