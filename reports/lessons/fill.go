package lessons

import (
	"context"
	"errors"
	"fmt"
	"regexp"
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
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// place finds what is filled in: a kind of place and its words.
var place = regexp.MustCompile(`\{([^{}]*)\}`)

// Lines returns a text in a language with its places filled in, cut where it has " // "; nil: there is no such key.
// Searches end with ctx. An error names the file and the line of the text.
func (s *Stage) Lines(ctx context.Context, lang, key string) ([]string, error) {
	return lines(lang, key, (&filler{ctx, lang, s}).fill)
}

func lines(lang, key string, fill func(kind string, args []string) (string, error)) (said []string, err error) {
	e, ok := text.In(lang).Entry(key)
	if !ok {
		return nil, nil
	}
	filled := place.ReplaceAllStringFunc(e.Text, func(p string) string {
		words := strings.Fields(p[1 : len(p)-1])
		value, wrong := fill(words[0], words[1:])
		if err == nil && wrong != nil {
			err = fmt.Errorf("lessons: %s: %s: %s: %w", e.Position, key, p, wrong)
		}
		return value
	})
	if err != nil {
		return nil, err
	}
	return lists.Each(strings.Split(filled, "//"), strings.TrimSpace), nil
}

// A filler fills the places of texts in one language from runs and searches.
type filler struct {
	ctx   context.Context
	lang  string
	stage *Stage
}

// fill returns what stands in a place. It is about a lock, or a lock in a race, but for
//
//	{quoted 2 hours}        a figure of somebody else's
//	{term lease}            a term as the glossary names it
//	{length gc-pause ttl}   a setting of a race
func (f *filler) fill(kind string, args []string) (string, error) {
	args = append(args, "", "", "", "")
	switch kind {
	case "quoted":
		return strings.TrimSpace(strings.Join(args, " ")), nil
	case "term":
		name, ok := text.In(f.lang).Entry("term." + args[0] + ".name")
		if !ok {
			return "", fmt.Errorf("the glossary has no %q", args[0])
		}
		return name.Text, nil
	case "length":
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
	case "quorum": // of its servers
		return strconv.Itoa(e.Nodes/2 + 1), nil
	case "ttl":
		if args[1] == "" {
			return span(f.lang, e.TTL), nil
		}
	case "falls": // in so many races
		row, err := f.stage.Row(e)
		return strconv.Itoa(len(lists.Pick(row, fails))), err
	case "commands": // to acquire and to release it
		return f.commands(e)
	case "par": // with a budget
		return f.par(e, args[1])
	}
	return f.ofRun(kind, e, args)
}

// ofRun fills a place about a lock in a race:
//
//	{verdict token gc-pause}     what it comes to, with further settings or without
//	{verdict-in token gc-pause}  and in which race, for a bracket that names the lock
//	{verdict-of token gc-pause}  and which lock in which race, for a bracket that names neither
//	{blocked mutex crash-holding}  for how long clients waited for a key without an owner at work
//	{reply token slow-work c1 2}   the second reply that c1 gets from a server
func (f *filler) ofRun(kind string, e lock.Entry, args []string) (string, error) {
	o, err := f.stage.Named(e.ID, args[1])
	if err == nil && strings.HasPrefix(kind, "verdict") && args[2] != "" {
		o, err = f.stage.With(e, o.Scenario, args[2])
	}
	if err != nil {
		return "", err
	}
	said := list(f.lang, verdict.Names(o.Verdicts))
	switch kind {
	case "verdict":
		return said, nil
	case "verdict-in":
		return text.Say(f.lang, "explain.source.named", "verdict", said, "race", o.Scenario.Race), nil
	case "verdict-of":
		return text.Say(f.lang, "explain.source", "verdict", said, "lock", e.ID, "race", o.Scenario.Race), nil
	case "run":
		return commandOf("run", o), nil
	case "blocked":
		if d := waited(o); d > 0 {
			return span(f.lang, d), nil
		}
		return "", fmt.Errorf("nobody is blocked in this run; its verdicts are %s", reports.Words(o.Verdicts))
	case "reply":
		return reply(o, args[2], args[3])
	case "ttl":
		return span(f.lang, o.Settings.TTL), nil
	}
	return "", fmt.Errorf("%s: unknown kind of place", kind)
}

// commandOf returns the command that runs, or explains, a lock in a race.
func commandOf(verb string, o *race.Outcome) string {
	return "locklab " + verb + " " + o.Strategy.ID + " " + o.Scenario.ID
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

// reply returns the n-th reply that a client gets from a server.
func reply(o *race.Outcome, client, n string) (string, error) {
	c, cErr := strconv.Atoi(strings.TrimPrefix(client, "c"))
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

// setting returns a length among the settings of a race.
func (f *filler) setting(raceID, name string) (string, error) {
	sc, err := scenarios.ByName(raceID)
	if err != nil {
		return "", err
	}
	for _, item := range strings.Split(sc.Settings.String(), ",") {
		if key, value, _ := strings.Cut(item, "="); key == name {
			d, err := time.ParseDuration(value)
			return span(f.lang, d), err
		}
	}
	return "", fmt.Errorf("there is no setting %q", name)
}

// commands returns how many commands a client sends to take and release a lock without
// contention and faults.
func (f *filler) commands(e lock.Entry) (string, error) {
	o, err := f.stage.Alone(e)
	if err != nil {
		return "", err
	}
	sent := lists.Pick(o.History.Events, func(e history.Event) bool {
		return e.Kind == history.Send && e.Thread == 0 && e.Node != history.Resource
	})
	return strconv.Itoa(len(sent)), nil
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
