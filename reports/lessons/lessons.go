// Package lessons explains locks, races, runs and terms. Its texts stand in the
// catalogues of package text; they have places for what a run says, as in
//
//	calm comes to {verdict mutex calm}
//
// A place is filled by playing the run or making the search that it names, so that no
// figure, reply or verdict is typed and none can become wrong.
//
// Playing needs the races, so this package stands above scenarios, unlike the rest of
// reports.
package lessons

import (
	"fmt"
	"regexp"
	"strings"

	"locklab/algorithms/lock"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/lists"
)

// A Book is the texts of one language.
type Book struct {
	*text.Catalogue
	lang string
}

// A Fill returns what to put in a place, such as {verdict token gc-pause}. Its error is
// reported with the file and the line of the text.
type Fill func(place string, args []string) (string, error)

// In returns the book in a language: "zh", or else English.
func In(lang string) *Book { return &Book{text.In(lang), lang} }

// place finds what is filled in: a kind of place and its words.
var place = regexp.MustCompile(`\{([^{}]*)\}`)

// PathScreens is the number of screens of the guided tour: path.1 and on.
const PathScreens = 10

// Name returns a text without places, such as a label or the lock of a screen; a missing
// key stands for itself.
func (b *Book) Name(key string) string { return b.Get(key) }

// Lines returns a text with its places filled in, cut where it has " // "; nil if there
// is no such key.
func (b *Book) Lines(key string, fill Fill) ([]string, error) {
	p, ok := b.Entry(key)
	if !ok {
		return nil, nil
	}
	var filled strings.Builder
	end := 0
	for _, m := range place.FindAllStringIndex(p.Text, -1) {
		words := strings.Fields(p.Text[m[0]+1 : m[1]-1])
		value, err := b.fill(words[0], words[1:], fill)
		if err == nil && words[0] == "verdict" {
			value, err = b.sourced(value, words[1], words[2], bracketAround(p.Text, m[0]))
		}
		if err != nil {
			return nil, fmt.Errorf("lessons: %s: %s: %s: %w", p.Position, key, p.Text[m[0]:m[1]], err)
		}
		filled.WriteString(p.Text[end:m[0]] + value)
		end = m[1]
	}
	filled.WriteString(p.Text[end:])
	return lists.Each(strings.Split(filled.String(), "//"), strings.TrimSpace), nil
}

// sourced is a verdict with the run that it is from, as far as a bracket does not name it:
// in a bracket nothing else may say which lock and which race came to it. Bracket "": the
// verdict stands in a sentence, which does.
func (b *Book) sourced(verdict, lock, scenario, bracket string) (string, error) {
	if bracket == "" {
		return verdict, nil
	}
	sc, err := scenarios.ByName(scenario)
	if err != nil {
		return "", err
	}
	named := func(name string) bool {
		return regexp.MustCompile(`(^|[^\w-])` + name + `($|[^\w-])`).MatchString(bracket)
	}
	switch {
	case named(sc.ID) || named(sc.Race):
		return verdict, nil
	case named(lock):
		return text.Say(b.lang, "explain.source.named", "verdict", verdict, "race", sc.Race), nil
	}
	return text.Say(b.lang, "explain.source", "verdict", verdict, "lock", lock, "race", sc.Race), nil
}

// bracketAround is the text of the bracket, from its opening to its end and without its
// places, in which the place at at stands; "": it stands in none.
func bracketAround(text string, at int) string {
	open := max(strings.LastIndex(text[:at], "("), strings.LastIndex(text[:at], "（"))
	if open < 0 || strings.ContainsAny(text[open:at], ")）") {
		return ""
	}
	around := text[open:]
	if end := strings.IndexAny(around, ")）"); end >= 0 {
		around = around[:end]
	}
	return place.ReplaceAllString(around, " ")
}

// fill fills a place: from the book itself where it can, otherwise by calling fill.
func (b *Book) fill(kind string, args []string, fill Fill) (string, error) {
	switch kind {
	case "quoted":
		return strings.Join(args, " "), nil
	case "term":
		key := "term." + args[0] + ".name"
		if !b.Has(key) {
			return "", fmt.Errorf("the glossary has no %q", args[0])
		}
		return b.Name(key), nil
	}
	return fill(kind, args)
}

// A Stage plays locks in races and keeps what it has played. All outcomes that there are take
// 400 MB.
type Stage struct {
	runner race.Runner
	cells  map[[2]string]*race.Outcome
	order  [][2]string // of cells, the oldest first
	most   int         // of cells kept, the latest; 0: all
}

// NewStage returns a stage on which nothing has been played.
func NewStage() *Stage { return &Stage{cells: map[[2]string]*race.Outcome{}} }

// NewSmallStage returns a stage for a program that runs for days: it keeps the races of three
// locks, more than one lesson needs.
func NewSmallStage() *Stage {
	s := NewStage()
	s.most = 300
	return s
}

// Play returns the outcome of a lock in a race with the race's own settings.
func (s *Stage) Play(e lock.Entry, sc race.Scenario) (*race.Outcome, error) {
	cell := [2]string{e.ID, sc.ID}
	if o := s.cells[cell]; o != nil {
		return o, nil
	}
	o, err := s.runner.Play(e, sc, sc.Settings)
	if err != nil {
		return nil, err
	}
	if len(s.order) == s.most && s.most > 0 {
		delete(s.cells, s.order[0])
		s.order = s.order[1:]
	}
	s.cells[cell], s.order = o, append(s.order, cell)
	return o, nil
}

// With returns the outcome with other settings, such as "idle=8h", and does not keep it.
func (s *Stage) With(e lock.Entry, sc race.Scenario, settings string) (*race.Outcome, error) {
	changed, err := sc.Settings.With(settings)
	if err != nil {
		return nil, err
	}
	return s.runner.Play(e, sc, changed)
}

// Row returns the outcomes of one lock in all races.
func (s *Stage) Row(e lock.Entry) (row []*race.Outcome, err error) {
	for _, sc := range scenarios.All() {
		o, err := s.Play(e, sc)
		if err != nil {
			return nil, err
		}
		row = append(row, o)
	}
	return row, nil
}
