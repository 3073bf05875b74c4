package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/reports/lessons"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A teacher fills the places of the lessons' texts in one language. It plays what
// they speak of, each cell once.
type teacher struct {
	ctx   context.Context
	lang  string
	stage *stage
	own   map[string]string // places of the run that is explained
}

// A stage keeps what has been played.
type stage struct {
	company race.Runner
	cells   map[[2]string]*race.Outcome
}

func newStage() *stage { return &stage{cells: map[[2]string]*race.Outcome{}} }

// play is a lock in a race with the race's own numbers.
func (s *stage) play(e lock.Entry, sc race.Scenario) (*race.Outcome, error) {
	cell := [2]string{e.ID, sc.ID}
	if o := s.cells[cell]; o != nil {
		return o, nil
	}
	o, err := s.company.Play(e, sc, sc.Settings)
	if err != nil {
		return nil, internal(err)
	}
	s.cells[cell] = o
	return o, nil
}

// row is one lock in every race.
func (s *stage) row(e lock.Entry) (row []*race.Outcome, err error) {
	for _, sc := range scenarios.All() {
		o, err := s.play(e, sc)
		if err != nil {
			return nil, err
		}
		row = append(row, o)
	}
	return row, nil
}

// lines is a text of the lessons, filled in.
func (t *teacher) lines(key string) ([]string, error) { return lessons.In(t.lang).Lines(key, t.fill) }

// fill is the lessons' Fill.
func (t *teacher) fill(kind string, args []string) (string, error) {
	if own, ok := t.own[kind]; ok {
		return own, nil
	}
	if kind == "length" {
		return t.length(args[0], args[1])
	}
	e, err := race.Strategy(args[0])
	if err != nil {
		return "", err
	}
	switch kind {
	case "year":
		return strconv.Itoa(e.Year), nil
	case "nodes":
		return strconv.Itoa(e.Nodes), nil
	case "quorum":
		return strconv.Itoa(e.Nodes/2 + 1), nil
	case "par":
		return t.par(e, args[1])
	case "falls", "stands":
		return t.count(e, kind)
	case "commands":
		return t.commands(e)
	case "ttl":
		if len(args) == 1 {
			return t.span(e.TTL), nil
		}
	}
	if len(args) < 2 {
		return "", fmt.Errorf("nobody knows what %s is", kind)
	}
	sc, err := scenarios.ByName(args[1])
	if err != nil {
		return "", err
	}
	if kind == "run" {
		return "locklab run " + e.ID + " " + sc.ID, nil
	}
	o, err := t.stage.play(e, sc)
	if err != nil {
		return "", err
	}
	switch kind {
	case "verdict":
		return t.verdicts(o.Verdicts), nil
	case "blocked":
		return t.blocked(o)
	case "reply":
		return reply(o, args[2], args[3])
	case "ttl":
		return t.span(o.Settings.TTL), nil
	}
	return "", fmt.Errorf("nobody knows what %s is", kind)
}

func (t *teacher) verdicts(words []verdict.Word) string {
	sep := ", "
	if t.lang == "zh" {
		sep = "、"
	}
	return strings.ReplaceAll(join(words), " ", sep)
}

// span is a length as people write it: 9.5 s.
func (t *teacher) span(d time.Duration) string {
	unit, size := [2]string{"s", "秒"}, time.Second
	if d < time.Second {
		unit, size = [2]string{"ms", "毫秒"}, time.Millisecond
	}
	n := strconv.FormatFloat(float64(d.Round(size/10))/float64(size), 'f', -1, 64)
	if t.lang == "zh" {
		return n + " " + unit[1]
	}
	return n + " " + unit[0]
}

// blocked is how long the others had to wait for a key that nobody used.
func (t *teacher) blocked(o *race.Outcome) (string, error) {
	for _, w := range []verdict.Word{verdict.Blocked, verdict.Orphan} {
		if d := longest(o, w); d > 0 {
			return t.span(d), nil
		}
	}
	return "", fmt.Errorf("nobody is blocked in this run: it comes to %v", o.Verdicts)
}

// reply is the n-th reply that a client hears from a server.
func reply(o *race.Outcome, client, n string) (string, error) {
	c, cErr := strconv.Atoi(strings.TrimPrefix(strings.ToLower(client), "c"))
	left, nErr := strconv.Atoi(n)
	if cErr != nil || nErr != nil || left < 1 {
		return "", fmt.Errorf("%s %s: write a client and a number from 1, as in c1 2", client, n)
	}
	if o.History == nil {
		return "", errors.New("there is no run: the question has no meaning for this lock")
	}
	for _, e := range o.History.Events {
		if e.Kind != history.Answer || e.Client != c || e.Node == history.Resource {
			continue
		}
		if left--; left == 0 {
			return e.Reply, nil
		}
	}
	return "", fmt.Errorf("%s hears no reply number %s", client, n)
}

// length is a number of a race.
func (t *teacher) length(race, name string) (string, error) {
	sc, err := scenarios.ByName(race)
	if err != nil {
		return "", err
	}
	for _, item := range strings.Split(sc.Settings.String(), ",") {
		key, value, _ := strings.Cut(item, "=")
		if key != name {
			continue
		}
		d, err := time.ParseDuration(value)
		switch {
		case err != nil:
			return value, nil
		case d == 0:
			return "", fmt.Errorf("%s has no %s", race, name)
		}
		return t.span(d), nil
	}
	return "", fmt.Errorf("there is no setting %q", name)
}

// count is in how many races a lock falls, or is asked and stands.
func (t *teacher) count(e lock.Entry, kind string) (string, error) {
	row, err := t.stage.row(e)
	n := 0
	for _, o := range row {
		if kind == "falls" && falls(o) || kind == "stands" && !falls(o) && o.History != nil {
			n++
		}
	}
	return strconv.Itoa(n), err
}

// falls says whether an outcome is one, as the grid counts them.
func falls(o *race.Outcome) bool {
	return slices.ContainsFunc(o.Verdicts, verdict.Word.Harm)
}

// commands is how many a client sends for a lock and its release when nothing goes wrong.
func (t *teacher) commands(e lock.Entry) (string, error) {
	o, err := t.alone(e)
	if err != nil {
		return "", err
	}
	n := 0
	for _, e := range o.History.Events {
		if e.Kind == history.Send && e.Thread == 0 && e.Node != history.Resource {
			n++
		}
	}
	return strconv.Itoa(n), nil
}

// alone is a client that has the lock to itself.
func (t *teacher) alone(e lock.Entry) (*race.Outcome, error) {
	sc, err := scenarios.ByName("calm")
	if err != nil {
		return nil, internal(err)
	}
	s := sc.Settings
	s.Clients = 1
	o, err := t.stage.company.Play(e, sc, s)
	if err == nil && o.History == nil {
		err = errors.New("it is not asked how it does alone")
	}
	return o, err
}

// par is how little of a budget brings the lock to a harm.
func (t *teacher) par(e lock.Entry, budget string) (string, error) {
	b := study.DefaultBounds()
	b.Budget, b.Nodes = budget, study.FewServers(e)
	s, err := study.Explore(t.ctx, e, b)
	if err != nil {
		return "", err
	}
	par := -1
	for _, w := range s.Witnesses {
		if w.Verdict.Harm() && (par < 0 || w.Par < par) {
			par = w.Par
		}
	}
	if par < 0 {
		return "", fmt.Errorf("a search with %s finds no harm", budget)
	}
	return strconv.Itoa(par), nil
}
