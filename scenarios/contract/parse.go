package contract

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// Parse reads a contract. Errors name the file and the line.
//
//	# a comment
//	[gc-pause]
//	setnx            HOLDS
//	token watchdog   OVERLAP STALE-WRITE | slept-past-its-lease
//	[search clients=3 budget=crash=1,pause=1@5s]
//	token            HOLDS
//	[search budget=pause=1]
//	token            OVERLAP@1 STALE-WRITE@1
//	[locks]
//	fair-lock        ChecksOwner Expires Excludes Remote LocksPerKey
//
// A line names locks, the verdicts to which each of them must come, no more and no
// less, and after "|" the reason. In a search each verdict except HOLDS comes with its
// par, the fewest faults with which it comes about. A search is bounded by clients,
// attempts, retries, nodes, ttl, fenced, budget and max-states.
//
// What a contract leaves out is not expected, unless [locks] lists the lock. Each line
// there is a lock and its profile: the fields of race.Profile that are true, and
// Nodes=5 for a lock on five servers. Of such a lock every race that has a section,
// be it empty, expects what the section does not say: N/A if the race does not apply
// to a lock with this profile, and else HOLDS. The profile is what the contract says
// and not what the lock does, so that a lock that changes does not change its contract.
func Parse(file, text string) ([]Expectation, error) {
	p, err := parse(file, text)
	if err != nil {
		return nil, err
	}
	if p.expectations == nil {
		return nil, fmt.Errorf("%s: it promises nothing: write [scenario] or [search BOUNDS], and under it a lock with its verdicts", file)
	}
	return p.expectations, nil
}

// A parser reads one contract, line by line.
type parser struct {
	file         string
	line         int                     // number of the line that is being read
	row          func(text string) error // reads a line of the current section
	expectations []Expectation
	sections     []section
	lines        map[string]int // Expectation.Name -> line
	locks        []contractedLock
	races        []contractedRace // with a section each
}

// A section is a header with the rows under it.
type section struct {
	header string
	line   int
	rows   int
	isRace bool
}

type contractedLock struct {
	entry   lock.Entry
	profile race.Profile
	line    int
}

type contractedRace struct {
	scenario race.Scenario
	line     int
}

func parse(file, text string) (*parser, error) {
	p := &parser{file: file, lines: map[string]int{}, row: func(string) error { return fmt.Errorf("a line before the first [scenario]") }}
	for line := range strings.Lines(text) {
		p.line++
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		read := p.row
		if line[0] == '[' {
			read = p.section
		}
		if err := read(line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, p.line, err)
		}
		if line[0] != '[' {
			p.sections[len(p.sections)-1].rows++
		}
	}
	for _, s := range p.sections { // locks under [locks] are expected to hold in a race without rows
		if s.rows == 0 && !(s.isRace && p.locks != nil) {
			return nil, fmt.Errorf("%s:%d: %s has no line under it, so that nothing is expected: write a lock with its verdicts, or remove it", file, s.line, s.header)
		}
	}
	p.derive()
	return p, nil
}

// section reads a line such as "[search clients=3]": from here on p.row reads the
// lines of the section.
func (p *parser) section(line string) error {
	name, closed := strings.CutSuffix(line[1:], "]")
	if !closed {
		return fmt.Errorf("%q: write [scenario], [search BOUNDS] or [locks] on a line of its own", line)
	}
	kind, rest, _ := strings.Cut(name, " ")
	p.sections = append(p.sections, section{header: line, line: p.line, isRace: name != "locks" && kind != "search"})
	switch {
	case name == "locks":
		p.row = p.lockRow
	case kind == "search":
		b, err := searchBounds(rest)
		if err == nil {
			err = refused(b)
		}
		if err != nil {
			return err
		}
		p.row = func(text string) error { return p.expect(Expectation{Bounds: b}, searchVerdict, text) }
	default:
		sc, err := scenarios.ByName(name)
		if err != nil {
			return err
		}
		p.races = append(p.races, contractedRace{sc, p.line})
		p.row = func(text string) error { return p.expect(Expectation{Scenario: sc}, raceVerdict, text) }
	}
	return nil
}

// refused is the error that bounds have with every lock, if it is always the same.
func refused(b study.Bounds) (first error) {
	for _, e := range algorithms.All() {
		err := b.Check(e)
		if err == nil || first != nil && err.Error() != first.Error() {
			return nil
		}
		first = err
	}
	return first
}

// expect reads "token watchdog OVERLAP STALE-WRITE | why": one expectation of the
// section's subject for each lock.
func (p *parser) expect(e Expectation, verdictOf func(text string) (ExpectedVerdict, error), text string) error {
	text, why, reasoned := strings.Cut(text, "|")
	e.File, e.Line, e.Origin, e.Why = p.file, p.line, Written, race.Reason(strings.TrimSpace(why))
	ids, words := splitLocks(strings.Fields(text))
	switch text := strings.TrimSpace(text); {
	case ids == nil:
		return fmt.Errorf("%q names no lock: write token %s", text, text)
	case reasoned && e.Why == "":
		return fmt.Errorf("%q: say why: | a few words", text+" |")
	case words == nil:
		return fmt.Errorf("%q has no verdict", text)
	}
	for _, word := range words {
		v, err := verdictOf(word)
		if err != nil {
			return err
		}
		if e.find(v.Verdict) != nil {
			return fmt.Errorf("%s is given twice", v.Verdict)
		}
		e.Expected = append(e.Expected, v)
	}
	if len(e.Expected) > 1 && e.find(verdict.Holds) != nil {
		return fmt.Errorf("HOLDS stands alone: nothing else comes about")
	}
	for _, id := range ids {
		if err := p.add(id, e); err != nil {
			return err
		}
	}
	return nil
}

// splitLocks parts the names of locks from what follows them.
func splitLocks(fields []string) (ids, rest []string) {
	for i, f := range fields {
		// a name in capitals that no lock has is taken for a mistyped verdict
		if _, known := algorithms.ByName(f); !known && f == strings.ToUpper(f) {
			return ids, fields[i:]
		}
		ids = append(ids, f)
	}
	return ids, nil
}

// add adds an expectation for the lock of this name.
func (p *parser) add(id string, e Expectation) (err error) {
	if e.Strategy, err = race.Strategy(id); err != nil {
		return err
	}
	if e.IsSearch() {
		if err := e.Bounds.Check(e.Strategy); err != nil {
			return err
		}
	}
	if line := p.lines[e.Name()]; line > 0 {
		return fmt.Errorf("%s in %s is on line %d already", e.Strategy.ID, e.Subject(), line)
	}
	p.lines[e.Name()] = e.Line
	p.expectations = append(p.expectations, e)
	return nil
}

// lockRow reads a line of [locks]: a lock and its profile.
func (p *parser) lockRow(text string) error {
	fields := strings.Fields(text)
	entry, err := race.Strategy(fields[0])
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(p.locks, func(l contractedLock) bool { return l.entry.ID == entry.ID }); i >= 0 {
		return fmt.Errorf("%s is on line %d already", entry.ID, p.locks[i].line)
	}
	profile, err := parseProfile(fields[1:])
	if err != nil {
		return err
	}
	p.locks = append(p.locks, contractedLock{entry, profile, p.line})
	return nil
}

// parseProfile reads the names of the fields that are true, and Nodes=N unless it is 1.
func parseProfile(fields []string) (race.Profile, error) {
	profile := race.Profile{Nodes: 1}
	v := reflect.ValueOf(&profile).Elem()
	for _, text := range fields {
		if nodes, ok := strings.CutPrefix(text, "Nodes="); ok {
			n, err := strconv.Atoi(nodes)
			if err != nil || n < 2 {
				return profile, fmt.Errorf("%q: give a number of servers from 2, one is usual", text)
			}
			profile.Nodes = n
			continue
		}
		flag := v.FieldByName(text)
		switch {
		case !flag.IsValid() || flag.Kind() != reflect.Bool:
			return profile, fmt.Errorf("%q is nothing that a profile has:%s write fields of race.Profile", text, faults.DidYouMean(text, profileFlags()))
		case flag.Bool():
			return profile, fmt.Errorf("%s is given twice", text)
		}
		flag.SetBool(true)
	}
	return profile, nil
}

func profileFlags() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[race.Profile]()) {
		if f.Type.Kind() == reflect.Bool {
			names = append(names, f.Name)
		}
	}
	return names
}

// derive adds, for the locks under [locks], what the sections of races do not say.
func (p *parser) derive() {
	for _, r := range p.races {
		for _, l := range p.locks {
			e := Expectation{File: p.file, Line: r.line, Strategy: l.entry, Scenario: r.scenario, Origin: ByDefault}
			if p.lines[e.Name()] > 0 {
				continue
			}
			e.Expected = []ExpectedVerdict{{verdict.Holds, noPar}}
			if e.NotApplicable = r.scenario.WhyNotApplicable(l.profile); e.NotApplicable != "" {
				e.Line, e.Origin, e.Expected = l.line, FromProfile, []ExpectedVerdict{{verdict.NA, noPar}}
			}
			p.lines[e.Name()] = e.Line
			p.expectations = append(p.expectations, e)
		}
	}
}

// raceVerdicts can be expected of a race; UNKNOWN and VACUOUS are never an answer.
var raceVerdicts = []verdict.Word{
	verdict.Overlap, verdict.StaleWrite, verdict.Fenced, verdict.WrongDel, verdict.Lie,
	verdict.Orphan, verdict.Deadlock, verdict.Blocked, verdict.Starved, verdict.Holds, verdict.NA,
}

// raceVerdict reads a verdict of a race, such as "OVERLAP".
func raceVerdict(text string) (ExpectedVerdict, error) {
	if err := checkRenamed(text); err != nil {
		return ExpectedVerdict{}, err
	}
	if !slices.Contains(raceVerdicts, verdict.Word(text)) {
		return ExpectedVerdict{}, fmt.Errorf("%q is no verdict that can be promised: write one of %v", text, raceVerdicts)
	}
	return ExpectedVerdict{verdict.Word(text), noPar}, nil
}

// searchVerdict reads a verdict of a search: "HOLDS" or "OVERLAP@1".
func searchVerdict(text string) (ExpectedVerdict, error) {
	if text == string(verdict.Holds) {
		return ExpectedVerdict{verdict.Holds, noPar}, nil
	}
	word, par, _ := strings.Cut(text, "@")
	if err := checkRenamed(word); err != nil {
		return ExpectedVerdict{}, err
	}
	if !slices.Contains(explore.Words(), verdict.Word(word)) {
		return ExpectedVerdict{}, fmt.Errorf("%q is nothing that a search looks for: write HOLDS, or some of %v with their par", text, explore.Words())
	}
	n, err := strconv.ParseUint(par, 10, 8)
	if err != nil {
		return ExpectedVerdict{}, fmt.Errorf("%q: write %s@1, with the fewest faults that it takes", text, word)
	}
	return ExpectedVerdict{verdict.Word(word), int(n)}, nil
}

// checkRenamed refuses the former names of verdicts, with those that they have now.
func checkRenamed(text string) error {
	_, err := verdict.ParseWord(text)
	if former := (*verdict.RenamedError)(nil); errors.As(err, &former) {
		return err
	}
	return nil
}

// searchBounds reads the bounds of "[search clients=3 budget=crash=1,pause=1]".
func searchBounds(text string) (study.Bounds, error) {
	b := usualBounds()
	seen := map[string]bool{}
	for _, item := range strings.Fields(text) {
		name, value, _ := strings.Cut(item, "=")
		if seen[name] {
			return b, fmt.Errorf("bound %q: %s is given twice", item, name)
		}
		seen[name] = true
		if err := setBound(&b, name, value); err != nil {
			return b, err
		}
	}
	return b, nil
}

// setBound changes one bound. ParseBounds knows all of them but max-states.
func setBound(b *study.Bounds, name, value string) (err error) {
	limit := b.MaxStates
	switch name {
	case "max-states":
		if b.MaxStates, err = strconv.Atoi(value); err != nil || b.MaxStates < 1 {
			return fmt.Errorf("bound %q: give a number of states from 1", name+"="+value)
		}
		return nil
	case "budget":
		if value == "none" {
			value = ""
		}
		value = strings.ReplaceAll(value, ",", "+")
	}
	*b, err = study.ParseBounds(b.String() + "," + name + "=" + value)
	b.MaxStates = limit
	if err != nil {
		return fmt.Errorf("%w; bounds are clients, attempts, retries, nodes, ttl, fenced, budget and max-states", err)
	}
	return nil
}
