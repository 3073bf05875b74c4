package lessons

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/cost"
	"locklab/scenarios/race"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A Stage plays locks in races and keeps what it played last: enough for a lesson, but not all outcomes (400 MB).
type Stage struct {
	runner race.Runner
	cells  map[[2]string]*race.Outcome
	order  [][2]string // of cells, the oldest first
}

// mostCells is the number of outcomes that a Stage keeps, some 60 kB each.
const mostCells = 300

// NewStage returns a stage on which nothing has been played.
func NewStage() *Stage { return &Stage{cells: map[[2]string]*race.Outcome{}} }

// Play returns the outcome of a lock in a race with the race's own settings.
func (s *Stage) Play(e lock.Entry, sc race.Race) (*race.Outcome, error) {
	cell := [2]string{e.ID, sc.ID}
	if o := s.cells[cell]; o != nil {
		return o, nil
	}
	o, err := s.runner.Play(e, sc, sc.Settings)
	if err != nil {
		return nil, err
	}
	if len(s.order) == mostCells {
		delete(s.cells, s.order[0])
		s.order = s.order[1:]
	}
	s.cells[cell], s.order = o, append(s.order, cell)
	return o, nil
}

// Named plays a lock in a race, both by name.
func (s *Stage) Named(id, raceID string) (*race.Outcome, error) {
	e, err := race.Lock(id)
	if err != nil {
		return nil, err
	}
	sc, err := scenarios.ByName(raceID)
	if err != nil {
		return nil, err
	}
	return s.Play(e, sc)
}

// Backing plays the runs that a text names, such as "token slow-work, watchdog slow-work". Nil: there is no such text.
func (s *Stage) Backing(key string) ([]*race.Outcome, error) {
	e, ok := text.In("en").Entry(key)
	if !ok {
		return nil, nil
	}
	return all(strings.Split(e.Text, ","), func(run string) (*race.Outcome, error) {
		id, raceID, _ := strings.Cut(strings.TrimSpace(run), " ")
		return s.Named(id, raceID)
	})
}

// all returns the outcomes of a list, up to the first error.
func all[T any](list []T, play func(T) (*race.Outcome, error)) (played []*race.Outcome, err error) {
	for _, one := range list {
		o, err := play(one)
		if err != nil {
			return nil, err
		}
		played = append(played, o)
	}
	return played, nil
}

// With returns the outcome with other settings, such as "idle=8h", and does not keep it.
func (s *Stage) With(e lock.Entry, sc race.Race, settings string) (*race.Outcome, error) {
	changed, err := sc.Settings.With(settings)
	if err != nil {
		return nil, err
	}
	return s.runner.Play(e, sc, changed)
}

// Alone plays one client without contention and faults.
func (s *Stage) Alone(e lock.Entry) (*race.Outcome, error) {
	calm, err := s.Named(e.ID, "calm")
	if err != nil {
		return nil, err
	}
	o, err := s.With(e, calm.Race, "clients=1")
	if err == nil && o.History == nil {
		err = fmt.Errorf("lessons: %s cannot be played without contention", e.ID)
	}
	return o, err
}

// Row returns the outcomes of one lock in all races.
func (s *Stage) Row(e lock.Entry) ([]*race.Outcome, error) {
	return all(scenarios.All(), func(sc race.Race) (*race.Outcome, error) { return s.Play(e, sc) })
}

// Example returns the outcome by which a race is explained: the most severe of the milestones, token before the
// others, or else of all locks. played are all outcomes that it chose from.
func (s *Stage) Example(sc race.Race) (example *race.Outcome, played []*race.Outcome, err error) {
	usual, _ := algorithms.ByName("token") // which is a milestone
	others := lists.Pick(algorithms.Milestones(), func(e lock.Entry) bool { return e.ID != usual.ID })
	for _, locks := range [][]lock.Entry{append([]lock.Entry{usual}, others...), algorithms.All()} {
		played, err = all(locks, func(e lock.Entry) (*race.Outcome, error) { return s.Play(e, sc) })
		if err != nil {
			return nil, nil, err
		}
		if example = mostSevere(played); example.Verdicts[0].Broken() {
			break
		}
	}
	return example, played, nil
}

// mostSevere returns the outcome to look at first: one that breaks exclusion, or progress, or any that was played.
func mostSevere(outcomes []*race.Outcome) *race.Outcome {
	severity := func(o *race.Outcome) int {
		switch {
		case slices.ContainsFunc(o.Judgement.Verdicts, verdict.Word.Safety):
			return 3
		case slices.ContainsFunc(o.Judgement.Verdicts, verdict.Word.Broken):
			return 2
		case o.History != nil:
			return 1
		}
		return 0
	}
	return slices.MaxFunc(outcomes, func(a, b *race.Outcome) int { return severity(a) - severity(b) })
}

// place finds what is filled in: a kind of place and its words.
var place = regexp.MustCompile(`\{([^{}]*)\}`)

// Lines returns a text in a language with its places filled in, cut where it has " // "; nil: there is no such key.
// An error names the file and the line of the text. The kinds of places are
//
//	{quoted 2 hours}             a figure of somebody else's
//	{term lease}                 a term as the glossary names it
//	{year token}                 of a lock; nodes, quorum and ttl likewise
//	{commands token}             the number of commands to acquire and to release it while it is free
//	{verdict token gc-pause}     what a lock comes to in a race, with further settings (idle=8h) or without
//	{verdict-in token gc-pause}  and in which race, for a bracket that names the lock
//	{verdict-of token gc-pause}  and which lock in which race, for a bracket that names neither
//	{blocked token calm}         the longest wait in that run; ttl is a setting of it
//	{run token gc-pause}         the command that plays it
//	{if release-unchecked}       begins a sentence about the locks that a race does not apply to for this reason
func (s *Stage) Lines(lang, key string) ([]string, error) {
	return s.linesAbout(lock.Entry{}, lang, key)
}

// linesAbout is Lines without the sentences that are not about a lock. Of code that cannot be run here, all may be.
func (s *Stage) linesAbout(e lock.Entry, lang, key string) ([]string, error) {
	return lines(lang, key, func(kind string, args []string) (string, error) {
		if kind != "if" {
			return s.fill(lang, kind, args)
		}
		need := lists.Pick(asked, func(n race.Need) bool { return string(n.Why) == args[0] })
		if len(need) == 0 {
			return "", fmt.Errorf("no sentence may ask for %s", args[0])
		} else if e.New == nil {
			return "", nil
		}
		p, err := s.runner.Profile(e)
		return map[bool]string{true: "\x00"}[need[0].Has(p)], err
	})
}

// asked are what sentences may ask whether a lock lacks it. leftOut matches a sentence about locks that do.
var (
	asked   = []race.Need{race.OwnerCheck, race.Renewals, race.Majority}
	leftOut = regexp.MustCompile("\x00" + sentenced.String())
)

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
	said = lists.Each(strings.Split(leftOut.ReplaceAllString(text.Tight(filled), ""), "//"), strings.TrimSpace)
	return lists.Pick(said, func(line string) bool { return line != "" }), nil
}

func (s *Stage) fill(lang, kind string, args []string) (string, error) {
	about := strings.Join(args, " ")
	switch kind {
	case "quoted":
		return about, nil
	case "term":
		if name, ok := text.In(lang).Entry("term." + about + ".name"); ok {
			return name.Text, nil
		}
		return "", fmt.Errorf("the glossary has no %q", about)
	}
	e, err := race.Lock(args[0])
	switch {
	case err != nil:
		return "", err
	case len(args) == 1:
		return s.ofLock(lang, kind, e)
	}
	o, err := s.Named(e.ID, args[1])
	if err == nil && len(args) > 2 {
		o, err = s.With(e, o.Race, args[2])
	}
	if err != nil {
		return "", err
	}
	return ofRun(lang, kind, o, strings.Join(append([]string{o.Race.ID}, args[2:]...), " --set "))
}

func (s *Stage) ofLock(lang, kind string, e lock.Entry) (string, error) {
	switch kind {
	case "year":
		return strconv.Itoa(e.Year), nil
	case "nodes":
		return strconv.Itoa(e.Nodes), nil
	case "quorum":
		return strconv.Itoa(e.Nodes/2 + 1), nil
	case "ttl":
		return reports.InWords(lang, e.TTL), nil
	case "commands":
		p, err := cost.Count(e)
		return strconv.Itoa(p.Commands), err
	}
	return "", fmt.Errorf("%s: unknown kind of place about a lock", kind)
}

// ofRun fills in a place about a run in a race, which is named as it is typed, with its settings.
func ofRun(lang, kind string, o *race.Outcome, named string) (string, error) {
	said := reports.SaidWords(lang, o.Verdicts)
	switch kind {
	case "verdict":
		return said, nil
	case "verdict-in":
		return text.Say(lang, "explain.source.named", "verdict", said, "race", named), nil
	case "verdict-of":
		return text.Say(lang, "explain.source", "verdict", said, "lock", o.Lock.ID, "race", named), nil
	case "run":
		return commandOf("run", o), nil
	case "ttl":
		return reports.InWords(lang, o.Settings.TTL), nil
	case "blocked":
		if d := waited(o); d > 0 {
			return reports.InWords(lang, d), nil
		}
		return "", fmt.Errorf("nobody is blocked in this run; its verdicts are %s", said)
	}
	return "", fmt.Errorf("%s: unknown kind of place about a run", kind)
}

// commandOf returns the command that runs, or explains, a lock in a race.
func commandOf(verb string, o *race.Outcome) string {
	return "locklab " + verb + " " + o.Lock.ID + " " + o.Race.ID
}
