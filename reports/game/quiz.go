package game

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"

	"locklab/reports"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// A Question is about a run that was stopped at a telling moment. Question and answers are
// made from runs: a wrong answer is what would be right in other circumstances.
type Question struct {
	Kind    string
	Ask     Words
	Outcome *race.Outcome // the run up to the moment; its History is nil where none is shown
	Answers []Answer      // two to four
	Link    string        // the whole run
}

// An Answer is one that can be chosen.
type Answer struct {
	Said  Words `json:"said"`
	Right bool  `json:"right"`
	Why   Words `json:"why"` // why it is right, or when it would be
}

// A Cell is a lock in a race, by their ids.
type Cell struct{ Lock, Race string }

// A Scope is what a quiz asks about. What is empty is not limited.
type Scope struct {
	Locks, Races []string
	Cells        []Cell // those of a lesson
	Difficulty   Difficulty
}

// quizLocks and quizRaces are what the questions are about, if nothing else is asked for.
var (
	quizLocks = []string{"setnx", "setnx-expire", "getset", "constant", "thread-id", "token", "watchdog", "redlock", "zk-recheck", "zk-protected"}
	quizRaces = []string{"crash-holding", "slow-work", "late-release", "client-skew", "gc-pause", "gc-pause-fenced", "failover", "restart", "clock-jump", "lost-reply"}
)

// Usual are the locks and the races that questions are about, if nothing else is asked for.
func Usual() (locks, races []string) { return slices.Clone(quizLocks), slices.Clone(quizRaces) }

// A Quiz makes questions. It is used by one goroutine at a time.
type Quiz struct {
	random *rand.Rand
	runner race.Runner
	scope  Scope
	cells  []Cell
	played map[Cell]*played
	asked  map[string]bool // candidates, and the cells of which there is no other
	number int
}

// NewQuiz makes the quiz of a seed: the same seed, the same questions. Easy ones come first.
func NewQuiz(seed uint64, scope Scope) *Quiz {
	z := &Quiz{random: rand.New(rand.NewPCG(seed, 0)), scope: scope, played: map[Cell]*played{}, asked: map[string]bool{}}
	locks, races := scope.Locks, scope.Races
	if len(locks) == 0 {
		locks = quizLocks
	}
	if len(races) == 0 {
		races = quizRaces
	}
	for _, l := range locks {
		for _, r := range races {
			z.cells = append(z.cells, Cell{l, r})
		}
	}
	if len(scope.Cells) > 0 {
		z.cells = slices.DeleteFunc(slices.Clone(scope.Cells), func(c Cell) bool {
			return len(scope.Locks) > 0 && !slices.Contains(scope.Locks, c.Lock) || len(scope.Races) > 0 && !slices.Contains(scope.Races, c.Race)
		})
	}
	return z
}

// A candidate is a question that can be made; at is its moment in the run.
type candidate struct {
	at   int
	make func() (*Question, error)
}

// kinds of question, which take turns.
var kinds = []struct {
	name string
	make func(z *Quiz, c Cell, hard bool) ([]candidate, error)
}{
	{"inside", (*Quiz).inside}, {"reply", (*Quiz).reply}, {"verdict", (*Quiz).verdict}, {"survivor", (*Quiz).survivor},
}

// NoQuestionError ends Next after the last question.
type NoQuestionError struct{ Asked int }

func (e *NoQuestionError) Error() string { return "quiz: " + e.Message().String() }

// Message implements i18n.Error.
func (e *NoQuestionError) Message() i18n.Message { return i18n.New("error.quiz.end", "n", e.Asked) }

// Next is the next question: easy ones first, unless the scope says how hard they are, and kinds in turn as long as there
// are such questions. No question comes twice.
func (z *Quiz) Next() (*Question, error) {
	for _, d := range z.difficulties() {
		for k := range kinds {
			q, err := z.find((z.number+k)%len(kinds), d)
			if err != nil {
				return nil, err
			}
			if q != nil {
				z.number++
				return q, nil
			}
		}
	}
	return nil, &NoQuestionError{z.number}
}

// difficulties are those of the next question, in the order in which they are tried.
func (z *Quiz) difficulties() []Difficulty {
	if z.scope.Difficulty != AnyDifficulty {
		return []Difficulty{z.scope.Difficulty}
	}
	first := min(Easy+Difficulty(z.number/len(kinds)), Hard)
	all := []Difficulty{Easy, Medium, Hard}
	return append(slices.Clone(all[first-Easy:]), all[:first-Easy]...)
}

// find makes a question of a kind that was not asked yet; nil: there is none.
func (z *Quiz) find(kind int, d Difficulty) (*Question, error) {
	cells := slices.DeleteFunc(slices.Clone(z.cells), func(c Cell) bool { return difficultyOf(c) != d })
	z.random.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	if z.number == 0 { // where the articles begin, or their lesson
		slices.SortStableFunc(cells, func(a, b Cell) int { return cmp.Compare(beginning(a), beginning(b)) })
	}
	for _, c := range cells {
		spent := fmt.Sprint(kind, c)
		if z.asked[spent] {
			continue
		}
		all, err := kinds[kind].make(z, c, d > Easy)
		if err != nil {
			return nil, err
		}
		for _, one := range all {
			key := fmt.Sprint(kind, c, one.at)
			if kinds[kind].name == "survivor" { // about a race
				key = fmt.Sprint(kind, c.Race)
			}
			if z.asked[key] {
				continue
			}
			z.asked[key] = true
			q, err := one.make()
			if err != nil {
				return nil, err
			}
			if q == nil { // it has too few answers
				continue
			}
			q.Kind = kinds[kind].name
			z.random.Shuffle(len(q.Answers), func(i, j int) { q.Answers[i], q.Answers[j] = q.Answers[j], q.Answers[i] })
			return q, nil
		}
		z.asked[spent] = true
	}
	return nil, nil
}

func beginning(c Cell) int {
	if c.Lock == "setnx" || c.Lock == "token" {
		return 0
	}
	return 1
}

// telling puts the moments first that tell more than the others, both in an order of chance. Of a hard quiz the others are
// no questions.
func (z *Quiz) telling(moments []int, tells func(n int) bool, hard bool) []int {
	z.random.Shuffle(len(moments), func(i, j int) { moments[i], moments[j] = moments[j], moments[i] })
	var first, rest []int
	for _, n := range moments {
		if tells(n) {
			first = append(first, n)
		} else {
			rest = append(rest, n)
		}
	}
	if hard {
		return first
	}
	return append(first, rest...)
}

// played is a run with the states that it comes to.
type played struct {
	*race.Outcome
	moments []reports.Moment
}

// state is the state before the event at index n, which is no Change that follows from another event.
func (p *played) state(n int) reports.State {
	i := sort.Search(len(p.moments), func(i int) bool { return p.moments[i].Event >= n })
	if i == 0 {
		return reports.StateOf(p.until(0).History)
	}
	return p.moments[i-1].State
}

// until is the outcome as it stood before the event at index n.
func (p *played) until(n int) *race.Outcome {
	cut, h := *p.Outcome, *p.History
	h.Events, h.Open = h.Events[:n:n], true
	if n > 0 {
		h.End = h.Events[n-1].At
	}
	cut.History = &h
	cut.Judgement.Findings = slices.DeleteFunc(slices.Clone(p.Judgement.Findings), func(f verdict.Finding) bool { return f.Event >= n })
	cut.Verdicts = nil
	return &cut
}

// play plays a lock in a race; nil: the race does not apply, or shows nothing.
func (z *Quiz) play(c Cell) (*played, error) {
	if p, ok := z.played[c]; ok {
		return p, nil
	}
	entry, err := race.Strategy(c.Lock)
	if err != nil {
		return nil, err
	}
	sc, err := scenarios.ByName(c.Race)
	if err != nil {
		return nil, err
	}
	o, err := z.runner.Play(entry, sc, sc.Settings)
	if err != nil {
		return nil, err
	}
	z.played[c] = nil
	if o.NotApplicable == "" && o.Reached && len(o.Verdicts) > 0 {
		z.played[c] = &played{o, reports.Moments(o.History)}
	}
	return z.played[c], nil
}

// others are the cells whose runs may lend a wrong answer: the same run first, then those of the same lock, then all.
func (z *Quiz) others(c Cell) (cells []Cell) {
	cells = append(cells, c)
	for _, r := range quizRaces {
		cells = append(cells, Cell{c.Lock, r})
	}
	for _, l := range quizLocks {
		for _, r := range quizRaces {
			cells = append(cells, Cell{l, r})
		}
	}
	return cells
}

func same(s string) Words { return sayAll(func(string) string { return s }) }
