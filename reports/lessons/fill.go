package lessons

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A filler fills the places of texts in one language from runs and searches.
type filler struct {
	ctx   context.Context
	lang  string
	stage *Stage
}

// fill is a Fill.
func (f *filler) fill(kind string, args []string) (string, error) {
	switch {
	case len(args) == 0:
		return "", fmt.Errorf("%s: unknown kind of place", kind)
	case kind == "length":
		return f.setting(args[0], args[1])
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
		return f.par(e, args[1])
	case "falls", "stands":
		return f.count(e, kind)
	case "commands":
		return f.commands(e)
	case "ttl":
		if len(args) == 1 {
			return span(f.lang, e.TTL), nil
		}
	}
	if len(args) < 2 {
		return "", fmt.Errorf("%s: unknown kind of place", kind)
	}
	sc, err := scenarios.ByName(args[1])
	if err != nil {
		return "", err
	}
	if kind == "run" {
		return "locklab run " + e.ID + " " + sc.ID, nil
	}
	o, err := f.stage.Play(e, sc)
	if kind == "verdict" && len(args) > 2 {
		o, err = f.stage.With(e, sc, args[2])
	}
	if err != nil {
		return "", err
	}
	switch kind {
	case "verdict":
		return list(f.lang, strings.Fields(reports.Words(o.Verdicts))), nil
	case "blocked":
		return f.blocked(o)
	case "reply":
		return reply(o, args[2], args[3])
	case "ttl":
		return span(f.lang, o.Settings.TTL), nil
	}
	return "", fmt.Errorf("%s: unknown kind of place", kind)
}

// span writes a length of time as "9.5 s" or "9.5 秒".
func span(lang string, d time.Duration) string {
	key, unit := "explain.seconds", time.Second
	if d < time.Second {
		key, unit = "explain.milliseconds", time.Millisecond
	}
	n := strconv.FormatFloat(float64(d.Round(unit/10))/float64(unit), 'f', -1, 64)
	return text.Say(lang, key, "n", n)
}

// list writes names as "a, b" or "a、b".
func list(lang string, names []string) string { return text.Join(lang, "explain.list", names) }

// blocked returns the time for which clients waited for a key without an owner at work.
func (f *filler) blocked(o *race.Outcome) (string, error) {
	for _, w := range []verdict.Word{verdict.Blocked, verdict.Orphan} {
		if d := Longest(o, w); d > 0 {
			return span(f.lang, d), nil
		}
	}
	return "", fmt.Errorf("nobody is blocked in this run; its verdicts are %v", o.Verdicts)
}

// reply returns the n-th reply that a client gets from a server.
func reply(o *race.Outcome, client, n string) (string, error) {
	c, cErr := strconv.Atoi(strings.TrimPrefix(strings.ToLower(client), "c"))
	left, nErr := strconv.Atoi(n)
	if cErr != nil || nErr != nil || left < 1 {
		return "", fmt.Errorf("%s %s: write a client and a number from 1, as in c1 2", client, n)
	}
	if o.History == nil {
		return "", errors.New("there is no run: the race does not apply to this lock")
	}
	for _, e := range o.History.Events {
		if e.Kind != history.Answer || e.Client != c || e.Node == history.Resource {
			continue
		}
		if left--; left == 0 {
			return e.Reply, nil
		}
	}
	return "", fmt.Errorf("%s gets no reply number %s", client, n)
}

// setting returns a number of a race.
func (f *filler) setting(race, name string) (string, error) {
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
		return span(f.lang, d), nil
	}
	return "", fmt.Errorf("there is no setting %q", name)
}

// count returns in how many races a lock fails ("falls"), or is played and does not.
func (f *filler) count(e lock.Entry, kind string) (string, error) {
	row, err := f.stage.Row(e)
	n := 0
	for _, o := range row {
		if kind == "falls" && fails(o) || kind == "stands" && !fails(o) && o.History != nil {
			n++
		}
	}
	return strconv.Itoa(n), err
}

// commands returns how many commands a client sends to take and release a lock without
// contention and faults.
func (f *filler) commands(e lock.Entry) (string, error) {
	o, err := f.stage.uncontended(e)
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

// uncontended plays one client without contention.
func (s *Stage) uncontended(e lock.Entry) (*race.Outcome, error) {
	sc, err := scenarios.ByName("calm")
	if err != nil {
		return nil, err
	}
	alone := sc.Settings
	alone.Clients = 1
	o, err := s.runner.Play(e, sc, alone)
	if err == nil && o.History == nil {
		err = fmt.Errorf("%s cannot be played without contention", e.ID)
	}
	return o, err
}

// par returns the fewest faults of a budget that break a lock.
func (f *filler) par(e lock.Entry, budget string) (string, error) {
	b := study.DefaultBounds()
	b.Budget, b.Nodes = faults.Budget(budget), study.FewServers(e)
	s, err := study.Explore(f.ctx, e, b)
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
