package contract

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"locklab/algorithms/lock"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

//go:embed proofs.txt
var proofsText string

// A Row is one line of a contract: a lock, what it is put to, and what must come
// of it. It is put to a scenario, which is played, or to bounds, which are
// searched.
type Expectation struct {
	File     string // where it stands, as the user named the file
	Line     int
	Strategy lock.Entry
	Scenario race.Scenario // with an empty ID: Bounds are to be searched
	Bounds   study.Bounds
	Expected []ExpectedVerdict
}

// A Promise is a verdict that must come about.
type ExpectedVerdict struct {
	Verdict verdict.Word
	Par     int // of a search: fewest unlucky moves; played races and HOLDS have none
}

// String is "OVERLAP@1", or "HOLDS" where there is no par.
func (p ExpectedVerdict) String() string {
	if p.Par < 0 {
		return string(p.Verdict)
	}
	return string(p.Verdict) + "@" + strconv.Itoa(p.Par)
}

// noPar is the par of what needs no bad luck to be counted.
const noPar = -1

// IsSearch says whether the row's bounds are to be searched.
func (r *Expectation) IsSearch() bool { return r.Scenario.ID == "" }

// Subject is what the lock is put to: a scenario's ID, or bounds without what
// is as usual. It holds neither spaces nor slashes, so that a test can bear it.
func (r *Expectation) Subject() string {
	if !r.IsSearch() {
		return r.Scenario.ID
	}
	b, usual := r.Bounds, usualBounds()
	text := fmt.Sprintf("clients=%d,attempts=%d", b.Clients, b.Attempts)
	if b.Retries != usual.Retries {
		text += fmt.Sprintf(",retries=%d", b.Retries)
	}
	if b.Nodes != usual.Nodes {
		text += fmt.Sprintf(",nodes=%d", b.Nodes)
	}
	if b.TTL != usual.TTL {
		text += fmt.Sprintf(",ttl=%v", b.TTL)
	}
	if b.Fenced {
		text += ",fenced=true"
	}
	if b.MaxStates != usual.MaxStates {
		text += fmt.Sprintf(",max-states=%d", b.MaxStates)
	}
	return text + ",budget=" + b.Faults()
}

// Name is the row's, and no other's.
func (r *Expectation) Name() string { return r.Strategy.ID + "/" + r.Subject() }

// Command is the line for a shell that shows what the row is about.
func (r *Expectation) Command() string {
	if !r.IsSearch() {
		var want []string
		for _, p := range r.Expected {
			want = append(want, strings.ToLower(p.String()))
		}
		return fmt.Sprintf("locklab run %s %s --expect %s", r.Strategy.ID, r.Scenario.ID, strings.Join(want, ","))
	}
	b := r.Bounds
	line := fmt.Sprintf("locklab explore %s --clients %d --attempts %d", r.Strategy.ID, b.Clients, b.Attempts)
	if b.Retries != study.AutoRetries {
		line += fmt.Sprintf(" --retries %d", b.Retries)
	}
	if b.Nodes > 0 {
		line += fmt.Sprintf(" --nodes %d", b.Nodes)
	}
	if b.TTL != study.DefaultBounds().TTL {
		line += fmt.Sprintf(" --ttl %v", b.TTL)
	}
	if b.Fenced {
		line += " --fenced"
	}
	return line + fmt.Sprintf(" --budget '%s' --max-states %d", b.Budget, b.MaxStates)
}

// usualBounds are what a section means by what it leaves out. The limit keeps
// one search within some 200 MB.
func usualBounds() study.Bounds {
	b := study.DefaultBounds()
	b.Budget, b.MaxStates = "", 4_000_000
	return b
}

// ParseRows reads a contract of scenarios and searches. It need not speak of
// every lock: what it leaves out is not asked. Errors name the file and the line.
//
//	[gc-pause]
//	token   OVERLAP STALE-WRITE
//	[search clients=3 budget=crash=1,pause=1@5s]
//	token   HOLDS
//	[search budget=pause=1]
//	token   OVERLAP@1 STALE-WRITE@1
//
// A search is bounded by clients, attempts, retries, nodes, ttl, fenced, budget and
// max-states; a verdict comes with its par, the fewest unlucky moves.
func Parse(file, text string) ([]Expectation, error) {
	p := rowParser{file: file, cells: Cells{}, seen: map[string]int{}}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if err := p.read(i+1, line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
	}
	if p.rows == nil {
		return nil, fmt.Errorf("%s: it promises nothing: write [scenario] or [search BOUNDS], and under it a lock with its verdicts", file)
	}
	return p.rows, nil
}

type rowParser struct {
	file     string
	scenario string        // of the section; "": it is a search
	bounds   *study.Bounds // of the section
	cells    Cells
	seen     map[string]int // name -> line
	rows     []Expectation
}

func (p *rowParser) read(number int, line string) (err error) {
	switch fields := strings.Fields(line); {
	case fields[0] == "[search" || fields[0] == "[search]":
		p.scenario = ""
		p.bounds, err = searchSection(line)
		return err
	case fields[0][0] == '[':
		p.bounds = nil
		p.scenario, err = sectionOf(line)
		return err
	case p.bounds != nil:
		r := Expectation{File: p.file, Line: number}
		if err := p.search(&r, fields); err != nil {
			return err
		}
		return p.add(r)
	default:
		return p.cellRows(number, line)
	}
}

// searchSection reads "[search clients=3 budget=crash=1,pause=1]".
func searchSection(line string) (*study.Bounds, error) {
	text, closed := strings.CutSuffix(strings.TrimPrefix(line, "[search"), "]")
	if !closed {
		return nil, fmt.Errorf("%q: write [search BOUNDS] on a line of its own", line)
	}
	b := usualBounds()
	seen := map[string]bool{}
	for _, item := range strings.Fields(text) {
		name, value, _ := strings.Cut(item, "=")
		if seen[name] {
			return nil, fmt.Errorf("bound %q: %s is given twice", item, name)
		}
		seen[name] = true
		if err := setBound(&b, name, value); err != nil {
			return nil, err
		}
	}
	return &b, nil
}

// set changes one bound. It leans on ParseBounds, which knows all but one.
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

func (p *rowParser) add(r Expectation) error {
	if line := p.seen[r.Name()]; line > 0 {
		return fmt.Errorf("%s stands on line %d already", r.Name(), line)
	}
	p.seen[r.Name()] = r.Line
	p.rows = append(p.rows, r)
	return nil
}

// cellRows reads a line of a scenario, with or without why.
func (p *rowParser) cellRows(number int, line string) error {
	ids, clause, err := parseClause(line)
	if err != nil {
		return err
	}
	for _, id := range ids {
		r := Expectation{File: p.file, Line: number}
		if err := p.cells.add(p.scenario, id, clause); err != nil {
			return err
		}
		if r.Strategy, err = race.Strategy(id); err != nil {
			return err
		}
		if r.Scenario, err = scenarios.ByName(p.scenario); err != nil {
			return err
		}
		for _, w := range clause.Words {
			r.Expected = append(r.Expected, ExpectedVerdict{w, noPar})
		}
		if err := p.add(r); err != nil {
			return err
		}
	}
	return nil
}

func (p *rowParser) search(r *Expectation, fields []string) (err error) {
	if r.Strategy, err = race.Strategy(fields[0]); err != nil {
		return err
	}
	r.Bounds = *p.bounds
	if err := r.Bounds.Check(r.Strategy); err != nil {
		return err
	}
	for _, f := range fields[1:] {
		promise, err := parsePromise(f)
		if err != nil {
			return err
		}
		if r.promise(promise.Verdict) != nil {
			return fmt.Errorf("%s stands here twice", promise.Verdict)
		}
		r.Expected = append(r.Expected, promise)
	}
	switch {
	case r.Expected == nil:
		return fmt.Errorf("%s has no verdict", r.Name())
	case len(r.Expected) > 1 && r.promise(verdict.Holds) != nil:
		return fmt.Errorf("HOLDS stands alone: nothing else comes about")
	}
	return nil
}

// parsePromise reads "HOLDS" or "OVERLAP@1".
func parsePromise(text string) (ExpectedVerdict, error) {
	if text == string(verdict.Holds) {
		return ExpectedVerdict{verdict.Holds, noPar}, nil
	}
	name, par, _ := strings.Cut(text, "@")
	word, err := verdict.ParseWord(name)
	if former := (*verdict.RenamedError)(nil); errors.As(err, &former) {
		return ExpectedVerdict{}, err
	}
	if err != nil || !slices.Contains(explore.Words(), word) {
		return ExpectedVerdict{}, fmt.Errorf("%q is nothing that a search looks for: write HOLDS, or some of %v with their par", text, explore.Words())
	}
	n, err := strconv.ParseUint(par, 10, 8)
	if err != nil {
		return ExpectedVerdict{}, fmt.Errorf("%q: write %s@1, with the fewest unlucky moves to it", text, word)
	}
	return ExpectedVerdict{word, int(n)}, nil
}

// promise finds what is promised of a verdict; nil: nothing.
func (r *Expectation) promise(w verdict.Word) *ExpectedVerdict {
	for i := range r.Expected {
		if r.Expected[i].Verdict == w {
			return &r.Expected[i]
		}
	}
	return nil
}

// ContractRows is the lab's own contract: every lock in every scenario, and its
// searches. A mistake in it is one of ours, and the tests find it. What it leaves
// out, see Unspoken, is not asked.
var Own = sync.OnceValue(func() []Expectation {
	var all []Expectation
	for _, f := range [][2]string{{"scenarios/contract/contract.txt", contractText}, {"scenarios/contract/proofs.txt", proofsText}} {
		rows, err := Parse(f[0], f[1])
		if err != nil {
			panic(err)
		}
		all = append(all, rows...)
	}
	return all
})

// An Answer is what became of a row.
type Status int

const (
	NotRun       Status = iota // stopped before it was its turn, or in the midst of it
	Met                        // what must come about does, and nothing else
	Inconclusive               // the search was cut short, or the race did not happen
	Differs                    // something must come about and does not, or the reverse
)

// A Proof is a row with what became of it.
type Result struct {
	Expectation
	Status  Status
	Got     []ExpectedVerdict // what came about
	Reasons []string          // why it is not as contracted
	Outcome *race.Outcome     // the race as played, or the witness that says most; nil: there is none
	Search  *study.Search     // nil for a race
}

// Verify plays and searches all rows, on all cores, and answers in their order.
// done is told how many are finished, from several goroutines; nil: nobody asks.
// When ctx ends, what is not finished is Unasked and the error is ctx's.
func Verify(ctx context.Context, rows []Expectation, done func(n int)) ([]Result, error) {
	proofs := make([]Result, len(rows))
	order := make([]int, len(rows))
	for i := range rows {
		proofs[i].Expectation, order[i] = rows[i], i
	}
	var company race.Runner
	slices.SortStableFunc(order, func(a, b int) int { return rows[b].weight() - rows[a].weight() })
	err := study.Each(ctx, len(rows), done, func(i int) error {
		p, err := rows[order[i]].prove(ctx, &company)
		if err == nil {
			proofs[order[i]] = *p
		}
		return err
	})
	return proofs, err
}

// weight puts long searches first, so that no core idles while another is at
// the last of them.
func (r *Expectation) weight() int {
	if !r.IsSearch() {
		return 0
	}
	nodes := r.Bounds.Nodes
	if nodes == 0 {
		nodes = r.Strategy.Nodes
	}
	return nodes * nodes * r.Bounds.Attempts * r.Bounds.Clients
}

// Prove plays or searches one row. Its lock is Row.Strategy itself, which need be in
// no list. The error is about code that the lab cannot carry, or ctx's.
func (r Expectation) Prove(ctx context.Context) (*Result, error) {
	return r.prove(ctx, new(race.Runner))
}

func (r Expectation) prove(ctx context.Context, company *race.Runner) (*Result, error) {
	p := &Result{Expectation: r, Status: Met}
	var err error
	if r.IsSearch() {
		if p.Search, err = study.Explore(ctx, r.Strategy, r.Bounds); err == nil {
			p.CompareSearch()
		}
	} else if p.Outcome, err = company.Play(r.Strategy, r.Scenario, r.Scenario.Settings); err == nil {
		p.compareCell()
	}
	if limit := (*simulator.LimitError)(nil); errors.As(err, &limit) { // of a race: a search says it itself
		p.Outcome = nil
		p.find(Inconclusive, "the run does not come to its end: %s", limit.What)
		return p, nil
	}
	if err != nil && !errors.Is(err, ctx.Err()) {
		err = fmt.Errorf("%s: %w", r.Name(), err)
		if r.File != "" { // a row that was made by hand stands nowhere
			err = fmt.Errorf("%s:%d: %w", r.File, r.Line, err)
		}
	}
	return p, err
}

// find notes a reason. The gravest answer stands.
func (p *Result) find(a Status, format string, args ...any) {
	p.Status = max(p.Status, a)
	p.Reasons = append(p.Reasons, fmt.Sprintf(format, args...))
}

func (p *Result) compareCell() {
	o := p.Outcome
	for _, w := range o.Verdicts {
		p.Got = append(p.Got, ExpectedVerdict{w, noPar})
	}
	switch {
	case slices.Contains(o.Verdicts, verdict.Unknown) || slices.Contains(o.Verdicts, verdict.Vacuous):
		p.find(Inconclusive, "the run does not answer the question: it is %v", o.Verdicts)
	case !o.Reached:
		p.find(Inconclusive, "the fault did not strike")
	case !sameWords(o.Verdicts, wordsOf(p.Expected)):
		p.find(Differs, "it is %s, contracted %s", FormatVerdicts(p.Got), FormatVerdicts(p.Expected))
	}
}

func wordsOf(promises []ExpectedVerdict) (words []verdict.Word) {
	for _, p := range promises {
		words = append(words, p.Verdict)
	}
	return words
}

// Promises writes verdicts as a contract has them.
func FormatVerdicts(list []ExpectedVerdict) string {
	var s []string
	for _, p := range list {
		s = append(s, p.String())
	}
	return strings.Join(s, " ")
}

// compareSearch holds a search against the row. A search visits states in order
// of bad luck, so that par is exact even if it was cut short; what it has not
// found may be in what it has not visited. Par differs in both directions: a lock
// that falls to less bad luck than contracted is worse than contracted, and a lab
// that needs more has gone blind for something.
func (p *Result) CompareSearch() {
	for i := range p.Search.Witnesses {
		p.compareWitness(&p.Search.Witnesses[i])
	}
	complete := p.Search.Result.Complete
	for _, want := range p.Expected {
		switch {
		case want.Verdict == verdict.Holds || p.got(want.Verdict):
		case complete:
			p.find(Differs, "%s does not come about any more, contracted %s: a better lock, or a lab that has gone blind", want.Verdict, want)
		default:
			p.find(Inconclusive, "%s was not found before the search was cut short, contracted %s", want.Verdict, want)
		}
	}
	if p.Got == nil && complete {
		p.Got = []ExpectedVerdict{{verdict.Holds, noPar}}
	}
	if names := p.Search.Untriggered(); complete && names != nil {
		p.find(Inconclusive, "%s was never injected: the search says nothing about it", strings.Join(names, ", "))
	}
	if limit := p.Search.Result.Limit; limit != "" {
		p.find(Inconclusive, "the search was cut short: %s", limit)
	}
	if !complete && p.Status == Met {
		p.find(Inconclusive, "the search was cut short after %d states: what it did not visit is unknown", p.Search.Result.States)
	}
}

func (p *Result) got(w verdict.Word) bool { return slices.Contains(wordsOf(p.Got), w) }

// compareWitness believes a discovery only when its witness, played once more,
// shows it.
func (p *Result) compareWitness(w *study.Witness) {
	found := ExpectedVerdict{w.Verdict, w.Par}
	p.Got = append(p.Got, found)
	sound := len(p.Reasons) == 0
	o, err := study.ReplayOn(p.Strategy, w.Trace)
	switch want := p.promise(w.Verdict); {
	case err != nil:
		p.find(Inconclusive, "the witness of %s cannot be played: %v", found, err)
	case !slices.Contains(o.Verdicts, w.Verdict):
		p.find(Inconclusive, "the witness of %s, played again, shows %v: a mistake of the search", found, o.Verdicts)
	case want == nil:
		p.find(Differs, "%s comes about, contracted %s", found, FormatVerdicts(p.Expected))
	case want.Par > w.Par:
		p.find(Differs, "%s takes only %s, contracted %s", w.Verdict, moves(w.Par), want)
	case want.Par < w.Par:
		p.find(Differs, "%s takes %s, contracted %s: the shorter way is not seen any more", w.Verdict, moves(w.Par), want)
	}
	if p.Outcome == nil || sound && len(p.Reasons) > 0 {
		p.Outcome = o
	}
}

func moves(n int) string {
	if n == 1 {
		return "1 unlucky move"
	}
	return fmt.Sprintf("%d unlucky moves", n)
}
