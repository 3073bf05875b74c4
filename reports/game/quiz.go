package game

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// A Question is about a run that was stopped at a telling moment. Question and answers are
// made from runs: a wrong answer is what another lock, another race or another moment does
// say.
type Question struct {
	Kind    string
	Ask     Words
	Outcome *race.Outcome // the run up to the moment; its History is nil where none is shown
	Answers []Answer      // two to four
	Link    string        // the whole run
}

// An Answer is one that can be chosen.
type Answer struct {
	Said  Words
	Right bool
	Why   Words // why it is right, or where it would be
}

// quizLocks and quizRaces are what the questions are about.
var (
	quizLocks = []string{"setnx", "setnx-expire", "getset", "constant", "thread-id", "token", "watchdog", "redlock", "zk-recheck", "zk-protected"}
	quizRaces = []string{"crash-holding", "slow-work", "late-release", "client-skew", "gc-pause", "gc-pause-fenced", "failover", "restart", "clock-jump", "lost-reply"}
)

// A Quiz makes questions. It is used by one goroutine at a time.
type Quiz struct {
	random *rand.Rand
	runner race.Runner
	played map[[2]string]*race.Outcome
	asked  map[string]bool
	number int
}

// NewQuiz makes the quiz of a seed: the same seed, the same questions.
func NewQuiz(seed uint64) *Quiz {
	return &Quiz{random: rand.New(rand.NewPCG(seed, 0)), played: map[[2]string]*race.Outcome{}, asked: map[string]bool{}}
}

// kinds of question, which take turns.
var kinds = []struct {
	name string
	make func(z *Quiz, lock, race string) (*Question, error)
}{
	{"reply", (*Quiz).reply}, {"inside", (*Quiz).inside}, {"verdict", (*Quiz).verdict}, {"survivor", (*Quiz).survivor},
}

// Next is the next question. No question comes twice.
func (z *Quiz) Next() (*Question, error) {
	kind := kinds[z.number%len(kinds)]
	z.number++
	cells := make([][2]string, 0, len(quizLocks)*len(quizRaces))
	for _, l := range quizLocks {
		for _, r := range quizRaces {
			cells = append(cells, [2]string{l, r})
		}
	}
	z.random.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	for _, c := range cells {
		q, err := kind.make(z, c[0], c[1])
		if err != nil {
			return nil, err
		}
		if q == nil || z.asked[q.key()] {
			continue
		}
		z.asked[q.key()] = true
		q.Kind = kind.name
		z.random.Shuffle(len(q.Answers), func(i, j int) { q.Answers[i], q.Answers[j] = q.Answers[j], q.Answers[i] })
		return q, nil
	}
	return nil, i18n.Errorf("error.quiz.end", "n", z.number-1)
}

// key identifies a question: no two with one key are asked.
func (q *Question) key() string {
	end := 0
	if q.Outcome.History != nil {
		end = len(q.Outcome.History.Events)
	}
	return fmt.Sprint(q.Ask, q.Outcome.Strategy.ID, q.Outcome.Scenario.ID, end)
}

// play plays a lock in a race; nil: the race does not apply, or shows nothing.
func (z *Quiz) play(lock, scenario string) (*race.Outcome, error) {
	key := [2]string{lock, scenario}
	if o, ok := z.played[key]; ok {
		return o, nil
	}
	entry, err := race.Strategy(lock)
	if err != nil {
		return nil, err
	}
	sc, err := scenarios.ByName(scenario)
	if err != nil {
		return nil, err
	}
	o, err := z.runner.Play(entry, sc, sc.Settings)
	if err != nil {
		return nil, err
	}
	if o.NotApplicable != "" || !o.Reached {
		o = nil
	}
	z.played[key] = o
	return o, nil
}

// until is an outcome as it stood before the event at index n.
func until(o *race.Outcome, n int) *race.Outcome {
	cut, h := *o, *o.History
	h.Events, h.Open = h.Events[:n:n], true
	if n > 0 {
		h.End = h.Events[n-1].At
	}
	cut.History = &h
	cut.Judgement.Findings = slices.DeleteFunc(slices.Clone(o.Judgement.Findings), func(f verdict.Finding) bool { return f.Event >= n })
	cut.Verdicts = nil
	return &cut
}

// reply asks what a server answers.
func (z *Quiz) reply(lock, scenario string) (*Question, error) {
	o, err := z.play(lock, scenario)
	if o == nil {
		return nil, err
	}
	var at []int // the telling answers: after something went wrong, or a lease ended
	trouble := false
	for i, e := range o.History.Events {
		trouble = trouble || e.Kind.Fault() || e.Kind == history.Expire
		if trouble && isReply(&e) {
			at = append(at, i)
		}
	}
	if at == nil {
		return nil, nil
	}
	n := at[z.random.IntN(len(at))]
	e := o.History.Events[n]
	command, right := reports.Command(e.Cmd, o.History.Key), reports.Reply(e.Reply)
	q := &Question{Outcome: until(o, n), Link: o.Trace.Link(), Ask: sayAll(func(lang string) string {
		return text.Say(lang, "quiz.reply", "client", fmt.Sprintf("c%d", e.Client), "command", command)
	})}
	q.Answers = []Answer{{Right: true, Said: same(right), Why: sayAll(func(lang string) string {
		return text.Say(lang, "quiz.reply.right", "reply", right, "command", command, "key", keyIn(lang, reports.StateOf(until(o, n+1).History), e.Node))
	})}}
	seen := map[string]bool{right: true}
	for _, other := range z.others(lock, scenario) {
		x, err := z.play(other[0], other[1])
		if err != nil {
			return nil, err
		}
		if x == nil {
			continue
		}
		for i := range x.History.Events {
			f := &x.History.Events[i]
			if !isReply(f) || f.Cmd[0] != e.Cmd[0] || reports.Command(f.Cmd, x.History.Key) != command || seen[reports.Reply(f.Reply)] || len(q.Answers) == 4 {
				continue
			}
			seen[reports.Reply(f.Reply)] = true
			said := reports.Reply(f.Reply)
			q.Answers = append(q.Answers, Answer{Said: same(said), Why: sayAll(func(lang string) string {
				return text.Say(lang, "quiz.reply.wrong", "reply", said, "lock", other[0], "race", text.ScenarioTitle(other[1], lang), "client", fmt.Sprintf("c%d", f.Client), "time", reports.Millis(f.At, 0))
			})})
		}
	}
	if len(q.Answers) < 2 {
		return nil, nil
	}
	return q, nil
}

func isReply(e *history.Event) bool {
	return e.Kind == history.Answer && e.Client > 0 && e.Node != history.Resource && len(e.Cmd) > 0 && e.Reply != "" && !strings.HasPrefix(e.Reply, "(error) NOSCRIPT")
}

// keyIn is the key on a server, from 1, in words.
func keyIn(lang string, s reports.State, node int) string {
	if node < 1 || node > len(s.Keys) || !s.Keys[node-1].Held {
		return text.Say(lang, "quiz.key.none")
	}
	if owner := s.Keys[node-1].Owner; owner > 0 {
		return text.Say(lang, "quiz.key", "owner", fmt.Sprintf("c%d", owner))
	}
	return text.Say(lang, "quiz.key.unknown")
}

// others are the cells in an order that begins near a cell: the same run, then the same
// lock, then all.
func (z *Quiz) others(lock, scenario string) (cells [][2]string) {
	cells = append(cells, [2]string{lock, scenario})
	for _, r := range quizRaces {
		cells = append(cells, [2]string{lock, r})
	}
	for _, l := range quizLocks {
		for _, r := range quizRaces {
			cells = append(cells, [2]string{l, r})
		}
	}
	return cells
}

func same(s string) Words { return sayAll(func(string) string { return s }) }

// inside asks who is in the critical section.
func (z *Quiz) inside(lock, scenario string) (*Question, error) {
	o, err := z.play(lock, scenario)
	if o == nil || o.History.Clients < 2 {
		return nil, err
	}
	var at []int
	sets := map[string]time.Duration{} // who is inside together, and when that was so first
	for i, e := range o.History.Events {
		set := insideAfter(o.History, i+1)
		if _, ok := sets[set]; !ok {
			sets[set] = e.At
		}
		switch e.Kind {
		case history.Enter, history.Expire, history.Resume, history.Pause, history.Crash, history.Failover, history.Up, history.ClockStep:
			if set != "" {
				at = append(at, i+1)
			}
		}
	}
	if at == nil {
		return nil, nil
	}
	n := at[z.random.IntN(len(at))]
	right := insideAfter(o.History, n)
	q := &Question{Outcome: until(o, n), Link: o.Trace.Link(), Ask: sayAll(func(lang string) string { return text.Say(lang, "quiz.inside") })}
	q.Outcome.Judgement.Findings = nil // they would give it away
	for _, set := range []string{right, "c1+c2", "c1", "c2", ""} {
		if len(q.Answers) > 0 && set == right || len(q.Answers) == 4 {
			continue
		}
		first, comes := sets[set]
		q.Answers = append(q.Answers, Answer{Right: set == right,
			Said: sayAll(func(lang string) string { return whoIn(lang, set) }),
			Why: sayAll(func(lang string) string {
				switch {
				case set == right:
					return text.Say(lang, "quiz.inside.right")
				case comes:
					return text.Say(lang, "quiz.inside.when", "who", whoIn(lang, set), "time", reports.Millis(first, 0))
				}
				return text.Say(lang, "quiz.inside.never", "who", whoIn(lang, set))
			})})
	}
	return q, nil
}

// insideAfter are the clients in the critical section after n events, as "c1+c2".
func insideAfter(h *history.History, n int) string {
	cut := *h
	cut.Events = h.Events[:n]
	var in []int
	for c, s := range reports.StateOf(&cut).Clients {
		if s.Stage == verdict.Inside {
			in = append(in, c+1)
		}
	}
	return reports.ClientNames(in, "+")
}

func whoIn(lang, set string) string {
	if set == "" {
		return text.Say(lang, "quiz.nobody")
	}
	return text.Join(lang, "quiz.and", strings.Split(set, "+"))
}

// verdict asks what a run will come to.
func (z *Quiz) verdict(lock, scenario string) (*Question, error) {
	o, err := z.play(lock, scenario)
	if o == nil || len(o.Verdicts) == 0 {
		return nil, err
	}
	right, stop := o.Verdicts[0], len(o.History.Events)
	for _, f := range o.Judgement.Findings {
		if f.Verdict == right {
			stop = min(stop, f.Event)
		}
	}
	if right == verdict.Holds || right == verdict.Blocked {
		stop = 0
		for i, e := range o.History.Events { // up to the fault
			if e.Kind.Fault() {
				stop = i + 1
			}
		}
	}
	if stop < 4 {
		return nil, nil
	}
	q := &Question{Outcome: until(o, stop), Link: o.Trace.Link(), Ask: sayAll(func(lang string) string { return text.Say(lang, "quiz.verdict") })}
	q.Answers = []Answer{{Right: true, Said: same(string(right)), Why: sayAll(func(lang string) string { return reports.Meaning(right, lang) })}}
	seen := map[verdict.Word]bool{right: true}
	for _, same0 := range []bool{true, false} { // the other locks in this race come first
		for _, c := range z.others(lock, scenario) {
			if (c[1] == scenario) != same0 || len(q.Answers) == 4 {
				continue
			}
			x, err := z.play(c[0], c[1])
			if err != nil {
				return nil, err
			}
			if x == nil || seen[x.Verdicts[0]] || !x.Verdicts[0].Broken() && x.Verdicts[0] != verdict.Holds {
				continue
			}
			word := x.Verdicts[0]
			seen[word] = true
			q.Answers = append(q.Answers, Answer{Said: same(string(word)), Why: sayAll(func(lang string) string {
				return text.Say(lang, "quiz.verdict.wrong", "lock", c[0], "race", text.ScenarioTitle(c[1], lang), "meaning", reports.Meaning(word, lang))
			})})
		}
	}
	if len(q.Answers) < 3 {
		return nil, nil
	}
	return q, nil
}

// survivor asks which of four locks survives the same attack.
func (z *Quiz) survivor(_, scenario string) (*Question, error) {
	var survives, falls []*race.Outcome
	for _, l := range quizLocks {
		o, err := z.play(l, scenario)
		switch {
		case err != nil:
			return nil, err
		case o == nil:
		case o.Verdicts[0] == verdict.Holds:
			survives = append(survives, o)
		case o.Verdicts[0].Broken():
			falls = append(falls, o)
		}
	}
	if len(survives) == 0 || len(falls) < 3 {
		return nil, nil
	}
	z.random.Shuffle(len(falls), func(i, j int) { falls[i], falls[j] = falls[j], falls[i] })
	right := survives[z.random.IntN(len(survives))]
	shown := *right
	shown.History = nil
	q := &Question{Outcome: &shown, Link: falls[0].Trace.Link(), Ask: sayAll(func(lang string) string {
		return text.Say(lang, "quiz.survivor", "race", text.ScenarioTitle(scenario, lang))
	})}
	for _, o := range append([]*race.Outcome{right}, falls[:3]...) {
		word := o.Verdicts[0]
		q.Answers = append(q.Answers, Answer{Right: o == right, Said: same(o.Strategy.ID), Why: sayAll(func(lang string) string {
			return text.Say(lang, "quiz.survivor.why", "lock", o.Strategy.ID, "title", text.LockTitle(o.Strategy.ID, lang), "verdict", string(word), "meaning", reports.Meaning(word, lang))
		})})
	}
	return q, nil
}
