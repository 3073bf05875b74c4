package contract

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
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
//	[prove budget=crash=any]
//	setnx            DEADLOCK@1
//	[locks]
//	fair-lock        ChecksOwner Expires Excludes Remote LocksPerKey
//
// A line names locks, exactly the verdicts to which each of them must come, and after "|" the reason. In a search each
// verdict except HOLDS comes with its par, the fewest faults with which it comes about. A search has bounds of
// search.Names. Where the lock compares times the word instants follows: nothing is known of other instants than those
// that were searched.
//
// [prove] is about any number of clients, each of which takes the lock any number of times, or once with
// attempts=once; it has bounds of search.ProofNames. The verdicts of a line are those that a search of few clients
// finds, with the faults of the shortest run; every other one of explore.Provable is proved impossible.
//
// What a contract leaves out is not expected, unless [locks] lists the lock. Each line there is a lock and its profile:
// the fields of race.Profile that are true, and Nodes=5 for a lock on five servers. Of such a lock every race that has
// a section, be it empty, expects what the section does not say: N/A if the race does not apply to a lock with this
// profile, and else HOLDS. The profile is what the contract says and not what the lock does, so that a lock that
// changes does not change its contract.
func Parse(file, content string) ([]Expectation, error) {
	p, err := parse(file, content)
	if err != nil {
		return nil, err
	}
	if p.expectations == nil {
		return nil, i18n.Errorf("error.contract.empty", "file", file)
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
	raceID race.Race
	line   int
}

func parse(file, content string) (*parser, error) {
	p := &parser{file: file, lines: map[string]int{},
		row: func(string) error { return i18n.Errorf("error.contract.before") }}
	for line := range strings.Lines(content) {
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
			return nil, fmt.Errorf("%s:%d: %w", file, s.line, i18n.Errorf("error.contract.norows", "header", s.header))
		}
	}
	p.derive()
	return p, nil
}

// section reads a line such as "[search clients=3]": from here on p.row reads the lines of the section.
func (p *parser) section(line string) error {
	name, closed := strings.CutSuffix(line[1:], "]")
	if !closed {
		return i18n.Errorf("error.contract.section", "text", line)
	}
	kind, rest, _ := strings.Cut(name, " ")
	p.sections = append(p.sections, section{header: line, line: p.line, isRace: name != "locks" && kind != "search" &&
		kind != "prove"})
	switch {
	case name == "locks":
		p.row = p.lockRow
	case kind == "search":
		e := Expectation{Bounds: UsualBounds()}
		return p.within(e, e.bounds(rest, search.Names()))
	case kind == "prove":
		e := Expectation{Bounds: search.ProofBounds(), Attempts: search.AnyTimes}
		return p.within(e, e.bounds(rest, append([]string{"attempts"}, search.ProofNames()...)))
	default:
		sc, err := scenarios.ByName(name)
		if err != nil {
			return err
		}
		p.races = append(p.races, contractedRace{sc, p.line})
		p.row = func(line string) error { return p.expect(Expectation{Race: sc}, line) }
	}
	return nil
}

// within makes the rows of a section those about its bounds, of which err is what is wrong.
func (p *parser) within(e Expectation, err error) error {
	if err == nil {
		err = refused(e)
	}
	p.row = func(line string) error { return p.expect(e, line) }
	return err
}

// refused is the error that the bounds of a section have with every lock, if it is always the same.
func refused(e Expectation) (first error) {
	for _, e.Lock = range algorithms.All() {
		err := e.check()
		if err == nil || first != nil && err.Error() != first.Error() {
			return nil
		}
		first = err
	}
	return first
}

// check says what is wrong with the bounds for the lock.
func (e *Expectation) check() error {
	b := e.Bounds
	b.Endless = b.Endless && !e.IsProof()
	return b.Check(e.Lock)
}

// expect reads "token watchdog OVERLAP STALE-WRITE | why": one expectation of the section's subject for each lock.
func (p *parser) expect(e Expectation, line string) error {
	row, why, reasoned := strings.Cut(line, "|")
	e.File, e.Line, e.Why = p.file, p.line, race.Reason(strings.TrimSpace(why))
	ids, words := splitLocks(strings.Fields(row))
	switch row := strings.TrimSpace(row); {
	case ids == nil:
		return i18n.Errorf("error.contract.nolock", "text", row)
	case reasoned && e.Why == "":
		return i18n.Errorf("error.contract.why", "text", row)
	case words == nil:
		return i18n.Errorf("error.contract.noverdict", "text", row)
	}
	for _, word := range words {
		if word == instants && !e.IsRace() && !e.Instants && e.Bounds.Timing != search.Lockstep {
			e.Instants = true
			continue
		}
		v, err := e.verdict(word)
		if err != nil {
			return err
		}
		if e.find(v.Verdict) != nil {
			return i18n.Errorf("error.contract.twice", "name", v.Verdict)
		}
		e.Expected = append(e.Expected, v)
	}
	if len(e.Expected) > 1 && e.find(verdict.Holds) != nil {
		return i18n.Errorf("error.contract.holds")
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
	if e.Lock, err = race.Lock(id); err != nil {
		return err
	}
	if !e.IsRace() {
		if err := e.check(); err != nil {
			return err
		}
	}
	if line := p.lines[e.Name()]; line > 0 {
		return i18n.Errorf("error.contract.again", "lock", e.Lock.ID, "subject", e.Subject(), "line", line)
	}
	p.lines[e.Name()] = e.Line
	p.expectations = append(p.expectations, e)
	return nil
}

// lockRow reads a line of [locks]: a lock and its profile.
func (p *parser) lockRow(line string) error {
	fields := strings.Fields(line)
	entry, err := race.Lock(fields[0])
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(p.locks, func(l contractedLock) bool { return l.entry.ID == entry.ID }); i >= 0 {
		return i18n.Errorf("error.contract.listed", "lock", entry.ID, "line", p.locks[i].line)
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
	for _, field := range fields {
		if nodes, ok := strings.CutPrefix(field, "Nodes="); ok {
			n, err := strconv.Atoi(nodes)
			if err != nil || n < 2 {
				return profile, i18n.Errorf("error.contract.nodes", "text", field)
			}
			profile.Nodes = n
			continue
		}
		flag := v.FieldByName(field)
		switch {
		case !flag.IsValid() || flag.Kind() != reflect.Bool:
			return profile, i18n.Errorf("error.contract.profile", "text", field, "near",
				i18n.Near(field, profileFlags()))
		case flag.Bool():
			return profile, i18n.Errorf("error.contract.twice", "name", field)
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
			e := Expectation{File: p.file, Line: r.line, Lock: l.entry, Race: r.raceID, Derived: true}
			if p.lines[e.Name()] > 0 {
				continue
			}
			e.Expected = []ExpectedVerdict{{verdict.Holds, noPar}}
			if r.raceID.WhyNotApplicable(l.profile) != "" {
				e.Line, e.Expected = l.line, []ExpectedVerdict{{verdict.NA, noPar}}
			}
			p.lines[e.Name()] = e.Line
			p.expectations = append(p.expectations, e)
		}
	}
}

// verdict reads a verdict: of a race as in "OVERLAP", of a search or a proof "HOLDS", or another one with its par.
func (e *Expectation) verdict(written string) (ExpectedVerdict, error) {
	words, unknown := e.Bounds.Words(), "error.contract.found"
	switch {
	case e.IsRace():
		words, unknown = verdict.Answers, "error.contract.verdict"
	case e.IsProof():
		words, unknown = explore.Provable, "error.contract.provable"
	}
	word, par := written, ""
	if !e.IsRace() {
		word, par, _ = strings.Cut(written, "@")
	}
	v := ExpectedVerdict{verdict.Word(word), noPar}
	switch {
	case written == string(verdict.Holds):
		return v, nil
	case !slices.Contains(words, v.Verdict):
		return v, i18n.Errorf(unknown, "text", written, "verdicts", words)
	case e.IsRace():
		return v, nil
	}
	n, err := strconv.ParseUint(par, 10, 8)
	if err != nil {
		return v, i18n.Errorf("error.contract.par", "text", written, "verdict", word)
	}
	v.Par = int(n)
	return v, nil
}

// bounds reads the bounds of a section, "clients=3 budget=crash=1,pause=1", each of names and once at most.
func (e *Expectation) bounds(items string, names []string) error {
	seen := map[string]bool{}
	for item := range strings.FieldsSeq(items) {
		name, value, _ := strings.Cut(item, "=")
		err := error(nil)
		switch wrong := func(key string, pairs ...any) error {
			return i18n.Errorf("error.bound", "item", item, "cause", i18n.Errorf(key, pairs...))
		}; {
		case seen[name]:
			return wrong("error.contract.twice", "name", name)
		case !slices.Contains(names, name):
			err = wrong("error.bound.unknown")
		case e.IsProof() && name == "attempts" && value != once && value != search.AnyTimes:
			err = wrong("error.contract.attempts")
		case e.IsProof() && name == "attempts":
			e.Attempts = value
		default:
			err = e.Bounds.Set(name, value)
		}
		if err != nil {
			return i18n.Errorf("error.contract.bounds", "cause", err, "bounds", strings.Join(names, ", "))
		}
		seen[name] = true
	}
	return nil
}

// once is what attempts are in a [prove] section where each client takes the lock once.
const once = "once"
