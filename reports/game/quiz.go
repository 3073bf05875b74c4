package game

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"

	"locklab/reports"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A Question is about a run that was stopped at a telling moment. Question and answers are made from runs: a wrong
// answer is what would be right in other circumstances.
type Question struct {
	Kind    string        `json:"kind"`
	Lock    string        `json:"lock"`
	Race    Words         `json:"race"` // its title
	Ask     Words         `json:"ask"`
	Run     *Run          `json:"run,omitempty"` // up to the moment of the question; nil: none is shown
	Answers []Answer      `json:"answers"`       // two to four
	Link    string        `json:"link"`          // the whole run
	Outcome *race.Outcome `json:"-"`             // of Run; its History is nil where none is shown
}

// An Answer is one that can be chosen.
type Answer struct {
	Said  Words `json:"said"`
	Right bool  `json:"right"`
	Why   Words `json:"why"` // why it is right, or when it would be
}

// A Cell is a lock in a race, by their ids; the race with settings of its own, if there are any: "gc-pause.ttl=20s".
type Cell struct{ Lock, Race string }

// A Scope is what a quiz asks about. What is empty is not limited.
type Scope struct {
	Locks, Races []string
	Cells        []Cell // those of a lesson
	Difficulty   Difficulty
}

// holds reports whether the locks and races of a scope have those of a cell.
func (s *Scope) holds(c Cell) bool {
	among := func(all []string, one string) bool { return len(all) == 0 || slices.Contains(all, one) }
	return among(s.Locks, c.Lock) && among(s.Races, c.Race)
}

// Usual is what questions are about, if nothing else is asked for.
var Usual = Scope{
	Locks: []string{
		"setnx", "setnx-expire", "getset", "constant", "thread-id", "token", "watchdog", "redlock", "zk-recheck",
		"zk-protected",
	},
	Races: []string{
		"crash-holding", "slow-work", "late-release", "client-skew", "gc-pause", "gc-pause-fenced", "failover",
		"restart", "clock-jump", "lost-reply",
	},
}

// grid returns the cells of locks and races.
func grid(locks, races []string) (cells []Cell) {
	for _, l := range locks {
		for _, r := range races {
			cells = append(cells, Cell{l, r})
		}
	}
	return cells
}

// A Difficulty is how hard a question is: as hard as its lock or its race, whichever is harder; "": however hard.
type Difficulty string

// The difficulties, in the order in which a quiz asks.
const (
	Easy   Difficulty = "easy"
	Medium Difficulty = "medium"
	Hard   Difficulty = "hard"
)

// Difficulties are their names.
var Difficulties = []string{string(Easy), string(Medium), string(Hard)}

// ParseDifficulty reads a name, or "". The error names them all.
func ParseDifficulty(name string) (Difficulty, error) {
	d := Difficulty(strings.ToLower(name))
	if d != "" && !slices.Contains(Difficulties, string(d)) {
		return "", i18n.Errorf("error.quiz.difficulty", "name", name, "names", strings.Join(Difficulties, ", "))
	}
	return d, nil
}

// easy is what an article begins with.
var easy = Scope{
	Locks: []string{"mutex", "setnx", "setnx-expire", "token"},
	Races: []string{"calm", "crash-holding", "crash-before-expire", "slow-work", "late-release", "gc-pause"},
}

// difficultyOf returns the difficulty of a cell: several servers, ZooKeeper and clocks that are wrong are hard.
func difficultyOf(c Cell) Difficulty {
	entry, err := race.Lock(c.Lock)
	inName := func(word string) bool { return strings.Contains(c.Race, word) }
	clocks := slices.ContainsFunc([]string{"clock", "skew", "drift"}, inName)
	switch {
	case clocks || err == nil && (entry.Servers() > 1 || entry.OnZooKeeper()):
		return Hard
	case easy.holds(c):
		return Easy
	}
	return Medium
}

// A Quiz makes questions. It is used by one goroutine at a time.
type Quiz struct {
	random *rand.Rand
	runner race.Runner
	scope  Scope // with its locks and races named
	cells  []Cell
	played map[Cell]*played
	asked  map[string]bool // moments of cells, and the cells of which there is no other
	made   []*Question
	err    error // the first of what was played
}

// NewQuiz makes the quiz of a seed: the same seed, the same questions. Easy ones come first.
func NewQuiz(seed uint64, scope Scope) *Quiz {
	z := &Quiz{random: rand.New(rand.NewPCG(seed, 0)), scope: scope, played: map[Cell]*played{},
		asked: map[string]bool{}}
	z.cells = lists.Pick(scope.Cells, scope.holds)
	if len(scope.Locks) == 0 {
		z.scope.Locks = Usual.Locks
	}
	if len(scope.Races) == 0 {
		z.scope.Races = Usual.Races
	}
	if len(scope.Cells) == 0 {
		z.cells = grid(z.scope.Locks, z.scope.Races)
	}
	return z
}

// NoQuestionError ends Next after the last question.
type NoQuestionError struct{ Asked int }

func (e *NoQuestionError) Error() string { return "quiz: " + e.Message().String() }

// Message implements i18n.Error.
func (e *NoQuestionError) Message() i18n.Message { return i18n.New("error.quiz.end", "n", e.Asked) }

// Question is a question by its number, from 0.
func (z *Quiz) Question(ctx context.Context, number int) (*Question, error) {
	if number < 0 {
		return nil, i18n.Errorf("error.play.question", "value", number)
	}
	for len(z.made) <= number {
		if _, err := z.Next(); err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return z.made[number], nil
}

// Next makes a further question: easy ones first, unless the scope says how hard they are, and kinds in turn as long as
// there are such questions. No question comes twice.
func (z *Quiz) Next() (*Question, error) {
	for _, d := range z.difficulties() {
		for k := range kinds {
			q := z.find(&kinds[(len(z.made)+k)%len(kinds)], d)
			if z.err != nil {
				return nil, z.err
			}
			if q != nil {
				z.made = append(z.made, q)
				return q, nil
			}
		}
	}
	return nil, &NoQuestionError{len(z.made)}
}

// difficulties are those of the next question, in the order in which they are tried.
func (z *Quiz) difficulties() []Difficulty {
	if z.scope.Difficulty != "" {
		return []Difficulty{z.scope.Difficulty}
	}
	all := []Difficulty{Easy, Medium, Hard}
	first := min(len(z.made)/len(kinds), len(all)-1)
	return slices.Concat(all[first:], all[:first])
}

// find makes a question of a kind that was not asked yet; nil: there is none.
func (z *Quiz) find(k *kind, d Difficulty) *Question {
	cells := lists.Pick(z.cells, func(c Cell) bool { return difficultyOf(c) == d })
	z.random.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	if len(z.made) == 0 { // where the articles begin
		later := func(c Cell) bool { return c.Lock != "setnx" && c.Lock != "token" }
		cells = append(slices.DeleteFunc(slices.Clone(cells), later), lists.Pick(cells, later)...)
	}
	for _, c := range cells {
		spent := fmt.Sprint(k.name, c)
		if z.asked[spent] {
			continue
		}
		for _, n := range k.moments(z, c, d != Easy) {
			key := fmt.Sprint(k.name, c, n)
			if k.ofLock {
				key = fmt.Sprint(k.name, c.Lock)
			}
			if z.asked[key] {
				continue
			}
			z.asked[key] = true
			if q := k.ask(z, c, n, d != Easy); q != nil {
				q.Kind, q.Lock, q.Race = k.name, q.Outcome.Lock.ID, ownTitle(q.Outcome.Race.ID)
				if q.Outcome.History != nil {
					run := runOf(q.Outcome, false)
					q.Run = &run
				}
				z.random.Shuffle(len(q.Answers), func(i, j int) {
					q.Answers[i], q.Answers[j] = q.Answers[j], q.Answers[i]
				})
				return q
			}
		}
		if z.err != nil {
			return nil
		}
		z.asked[spent] = true
	}
	return nil
}

// telling puts the moments first that tell more than the others, both in an order of chance. Of a hard quiz the others
// are no questions.
func (z *Quiz) telling(moments []int, tells func(n int) bool, hard bool) []int {
	z.random.Shuffle(len(moments), func(i, j int) { moments[i], moments[j] = moments[j], moments[i] })
	all := lists.Pick(moments, tells)
	if hard {
		return all
	}
	return append(all, lists.Pick(moments, func(n int) bool { return !tells(n) })...)
}

// play plays a lock in a race; nil: the race does not apply, or shows nothing, or err is set.
func (z *Quiz) play(c Cell) *played {
	if p, ok := z.played[c]; ok {
		return p
	}
	entry, err := race.Lock(c.Lock)
	name, settings, _ := strings.Cut(c.Race, ".")
	sc, absent := scenarios.ByName(name)
	with, wrong := sc.Settings.With(settings)
	var o *race.Outcome
	if err = cmp.Or(err, absent, wrong); err == nil {
		o, err = z.runner.Play(entry, sc, with)
	}
	if err != nil {
		z.err = cmp.Or(z.err, err)
		return nil
	}
	z.played[c] = nil
	if o.NotApplicable == "" && o.Triggered && len(o.Verdicts) > 0 {
		z.played[c] = &played{o, reports.Moments(o.History)}
	}
	return z.played[c]
}

// lenders are the runs that may lend a wrong answer: the cell's own first, then those of its lock, then all.
func (z *Quiz) lenders(c Cell) func(yield func(*played) bool) {
	cells := append(append([]Cell{c}, grid([]string{c.Lock}, Usual.Races)...), grid(Usual.Locks, Usual.Races)...)
	return func(yield func(*played) bool) {
		for _, other := range cells {
			if p := z.play(other); p != nil && !yield(p) {
				return
			}
		}
	}
}

// played is the whole run of a cell, with the states that it comes to.
type played struct {
	*race.Outcome
	moments []reports.Moment
}

// troubled reports whether something went wrong up to the event at index n.
func (p *played) troubled(n int) bool {
	wrong := func(e history.Event) bool { return e.Kind.Fault() || e.Kind == history.Expire }
	return slices.ContainsFunc(p.History.Events[:n+1], wrong)
}

// state is the state before the event at index n, which is no Change that follows from another event.
func (p *played) state(n int) state {
	i := sort.Search(len(p.moments), func(i int) bool { return p.moments[i].Event >= n })
	if i == 0 {
		return stateOf(p.until(0).History)
	}
	return state{p.moments[i-1].State}
}

// until is the outcome as it stood before the event at index n.
func (p *played) until(n int) *race.Outcome {
	cut, h := *p.Outcome, *p.History
	h.Events, h.Open = h.Events[:n:n], true
	if n > 0 {
		h.End = h.Events[n-1].At
	}
	cut.History = &h
	cut.Judgement.Findings = lists.Pick(p.Judgement.Findings, func(f verdict.Finding) bool { return f.Event < n })
	cut.Verdicts = nil
	return &cut
}
