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
	Run     *Run          `json:"run"`             // up to the moment of the question
	Shown   any           `json:"shown,omitempty"` // the states of Run, if that leaves out what would tell the answer
	Answers []Answer      `json:"answers"`         // two to four
	Link    string        `json:"link"`            // the whole run
	Outcome *race.Outcome `json:"-"`               // of Run
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
	Locks: strings.Fields("setnx setnx-expire getset constant thread-id token watchdog redlock " +
		"zk-recheck zk-protected"),
	Races: strings.Fields("crash-holding slow-work late-release client-skew gc-pause gc-pause-fenced failover " +
		"restart clock-jump lost-reply"),
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

// The difficulties.
const Easy, Medium, Hard Difficulty = "easy", "medium", "hard"

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
	clocks := strings.Contains(c.Race, "clock") || strings.Contains(c.Race, "skew") || strings.Contains(c.Race, "drift")
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
	asked  map[string]bool // moments of cells
	about  map[Cell]int    // how many questions are about a cell
	last   Cell            // of the last question
	made   []*Question
	err    error // the first of what was played
}

// NewQuiz makes the quiz of a seed: the same seed, the same questions.
func NewQuiz(seed uint64, scope Scope) *Quiz {
	z := &Quiz{random: rand.New(rand.NewPCG(seed, 0)), scope: scope, played: map[Cell]*played{},
		asked: map[string]bool{}, about: map[Cell]int{}}
	if len(scope.Locks) == 0 {
		z.scope.Locks = Usual.Locks
	}
	if len(scope.Races) == 0 {
		z.scope.Races = Usual.Races
	}
	cells := scope.Cells
	if len(cells) == 0 {
		cells = grid(z.scope.Locks, z.scope.Races)
	}
	z.cells = lists.Pick(cells, func(c Cell) bool {
		return scope.holds(c) && (scope.Difficulty == "" || scope.Difficulty == difficultyOf(c))
	})
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

// ofEach is the number of questions about a lock before those about the next.
const ofEach = 3

// Next makes a further question: locks come in the order of the scope, as they were invented, and kinds in turn, while
// there are such questions. No question comes twice, and none of the run or kind of the last one, if there is another.
func (z *Quiz) Next() (*Question, error) {
	var locks []string
	for _, c := range z.cells {
		if !slices.Contains(locks, c.Lock) {
			locks = append(locks, c.Lock)
		}
	}
	for tried := range 2 * len(locks) {
		lock := locks[(tried+len(z.made)/ofEach)%len(locks)]
		for k := range kinds {
			q := z.find(&kinds[(len(z.made)+k)%len(kinds)], lock, tried >= len(locks))
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

// find makes a question of a kind about a lock that was not asked yet, of the run that was asked about least, and of
// those the easiest; nil: there is none. last allows the run and the kind of the last question.
func (z *Quiz) find(k *kind, lock string, last bool) *Question {
	if n := len(z.made); !last && n > 0 && z.made[n-1].Kind == k.name {
		return nil
	}
	cells := lists.Pick(z.cells, func(c Cell) bool { return c.Lock == lock && (last || c != z.last) })
	z.random.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	rank := func(c Cell) int { return slices.Index(Difficulties, string(difficultyOf(c))) }
	slices.SortStableFunc(cells, func(a, b Cell) int { return cmp.Or(z.about[a]-z.about[b], rank(a)-rank(b)) })
	for _, c := range cells {
		if z.play(c) == nil {
			continue
		}
		for _, n := range k.moments(z, c) {
			key := fmt.Sprint(k.name, c, n)
			if z.asked[key] {
				continue
			}
			z.asked[key] = true
			if q := k.ask(z, c, n); q != nil {
				z.about[c]++
				z.last = c
				run := runOf(q.Outcome, false)
				q.Kind, q.Lock, q.Race, q.Run = k.name, lock, OwnTitle(q.Outcome), &run
				if q.Outcome.History.Veiled {
					q.Shown = runOf(z.play(c).until(n), false).Moving.States
				}
				z.random.Shuffle(len(q.Answers), func(i, j int) {
					q.Answers[i], q.Answers[j] = q.Answers[j], q.Answers[i]
				})
				return q
			}
		}
	}
	return nil
}

// telling puts the moments first that tell more than the others, both in an order of chance.
func (z *Quiz) telling(moments []int, tells func(n int) bool) []int {
	z.random.Shuffle(len(moments), func(i, j int) { moments[i], moments[j] = moments[j], moments[i] })
	return append(lists.Pick(moments, tells), lists.Pick(moments, func(n int) bool { return !tells(n) })...)
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

// played is the whole run of a cell, with the states that it comes to.
type played struct {
	*race.Outcome
	moments []reports.Moment
}

// worst is the verdict that a run is known for: a deadlock, or its first.
func (p *played) worst() verdict.Word {
	if slices.Contains(p.Verdicts, verdict.Deadlock) {
		return verdict.Deadlock
	}
	return p.Verdicts[0]
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

// after is where the event behind the one at index n stands, and behind the changes that follow from that.
func (p *played) after(n int) int {
	for n++; n < len(p.History.Events) && p.History.Events[n].Kind == history.Change; n++ {
	}
	return n
}

// until is Until of its outcome.
func (p *played) until(n int) *race.Outcome { return Until(p.Outcome, n) }

// Until is an outcome as it stood before the event at index n.
func Until(o *race.Outcome, n int) *race.Outcome {
	cut, h := *o, *o.History
	h.Events, h.Open = h.Events[:n:n], true
	if n > 0 {
		h.End = h.Events[n-1].At
	}
	cut.History = &h
	cut.Judgement.Findings = lists.Pick(o.Judgement.Findings, func(f verdict.Finding) bool { return f.Event < n })
	cut.Verdicts = nil
	return &cut
}
