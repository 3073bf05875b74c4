package game

import (
	"slices"
	"strconv"
	"strings"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/contract"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

func itoa(n int) string { return strconv.Itoa(n) }

// inside asks who is in the critical section.
func (z *Quiz) inside(c Cell, hard bool) (all []candidate, err error) {
	o, err := z.play(c)
	if o == nil || o.History.Clients < 2 {
		return nil, err
	}
	var moments []int // after something went wrong, or with several inside
	trouble := false
	for i, e := range o.History.Events {
		trouble = trouble || e.Kind.Fault() || e.Kind == history.Expire
		n := i + 1
		for n < len(o.History.Events) && o.History.Events[n].Kind == history.Change { // they follow from it
			n++
		}
		switch e.Kind {
		case history.Enter, history.Expire, history.Resume, history.Pause, history.Crash, history.Failover, history.Up, history.ClockStep:
			if in := len(o.inside(n)); in > 1 || in > 0 && trouble {
				moments = append(moments, n)
			}
		}
	}
	tells := func(n int) bool { // whose the key is does not tell who is inside
		in, s := o.inside(n), o.state(n)
		return len(in) > 1 || leaseOf(s, in[0]) == 0 || s.Clients[in[0]-1].Paused
	}
	for _, n := range z.telling(moments, tells, hard) {
		all = append(all, candidate{n, func() (*Question, error) { return insideAt(o, n), nil }})
	}
	return all, nil
}

func insideAt(o *played, n int) *Question {
	right := o.inside(n)
	q := &Question{Outcome: o.until(n), Link: o.Trace.Link(), Ask: words("quiz.inside")}
	q.Outcome.History.Veiled, q.Outcome.Judgement.Findings = true, nil // they would give it away
	for _, set := range [][]int{right, {1, 2}, {1}, {2}, nil} {
		isRight := slices.Equal(set, right)
		if len(q.Answers) > 0 && isRight || len(q.Answers) == 4 {
			continue
		}
		q.Answers = append(q.Answers, Answer{Right: isRight,
			Said: sayAll(func(lang string) string { return whoIn(lang, set) }),
			Why: sayAll(func(lang string) string {
				if isRight {
					return rightInside(lang, o, n, right)
				}
				return wrongInside(lang, o, n, set, right)
			})})
	}
	return q
}

// inside are the clients in the critical section before the event at index n.
func (p *played) inside(n int) (in []int) {
	for c, s := range p.state(n).Clients {
		if s.Stage == verdict.Inside {
			in = append(in, c+1)
		}
	}
	return in
}

func whoIn(lang string, set []int) string {
	if len(set) == 0 {
		return text.Say(lang, "quiz.nobody")
	}
	return text.Join(lang, "quiz.and", strings.Split(reports.ClientNames(set, "+"), "+"))
}

// rightInside says of each client since when it is inside, and that neither the end of its lease nor a pause takes it out.
func rightInside(lang string, o *played, n int, in []int) string {
	s := o.state(n)
	var all []string
	for _, c := range in {
		all = append(all, text.Say(lang, "quiz.inside.since", "client", clientWord(c), "time", entered(o, c, n)))
		if s.Clients[c-1].Paused {
			all = append(all, text.Say(lang, "quiz.inside.paused"))
		}
		if leaseOf(s, c) == 0 && !o.History.Local {
			all = append(all, text.Say(lang, "quiz.inside.keyless", "client", clientWord(c)))
		}
	}
	for c := range min(o.History.Clients, 2) {
		if !slices.Contains(in, c+1) {
			all = append(all, outsideWords(lang, o.History, c+1, n))
		}
	}
	return text.Join(lang, "quiz.sentences", all)
}

// wrongInside says which clients an answer leaves out or takes for being inside.
func wrongInside(lang string, o *played, n int, set, in []int) string {
	var all []string
	for _, c := range in {
		if !slices.Contains(set, c) {
			all = append(all, text.Say(lang, "quiz.inside.still", "client", clientWord(c)))
		}
	}
	for _, c := range set {
		if !slices.Contains(in, c) {
			all = append(all, outsideWords(lang, o.History, c, n))
		}
	}
	return text.Join(lang, "quiz.sentences", all)
}

// entered returns the time at which a client got in last before the event at index n.
func entered(o *played, client, n int) string {
	for i := n - 1; i >= 0; i-- {
		if e := &o.History.Events[i]; e.Kind == history.Enter && e.Client == client && !slices.Contains(o.inside(i), client) {
			return reports.Millis(e.At, 0)
		}
	}
	return "0"
}

// outsideWords says why a client is not inside: it has left, or has crashed, or gets in only later, or never.
func outsideWords(lang string, h *history.History, client, n int) string {
	say := func(key string, e *history.Event) string {
		return text.Say(lang, key, "client", clientWord(client), "time", reports.Millis(e.At, 0))
	}
	for i := n - 1; i >= 0; i-- {
		switch e := &h.Events[i]; {
		case e.Client != client:
		case e.Kind == history.Crash:
			return say("quiz.inside.crashed", e)
		case e.Kind == history.Leave:
			return say("quiz.inside.left", e)
		}
	}
	for i := n; i < len(h.Events); i++ {
		if e := &h.Events[i]; e.Client == client && e.Kind == history.Enter {
			return say("quiz.inside.later", e)
		}
	}
	return text.Say(lang, "quiz.inside.never", "client", clientWord(client))
}

// verdict asks what a run will come to.
func (z *Quiz) verdict(c Cell, _ bool) ([]candidate, error) {
	o, err := z.play(c)
	if o == nil {
		return nil, err
	}
	return []candidate{{0, func() (*Question, error) { return z.verdictOf(c, o) }}}, nil
}

func (z *Quiz) verdictOf(c Cell, o *played) (*Question, error) {
	if slices.Contains(o.Verdicts, verdict.Fenced) { // in a grid that word stands for the overlap
		return nil, nil
	}
	right, stop := o.Verdicts[0], len(o.History.Events)
	for _, f := range o.Judgement.Findings {
		if f.Verdict == right {
			stop = min(stop, f.Event)
		}
	}
	switch right {
	case verdict.Holds, verdict.Blocked, verdict.Deadlock, verdict.Starved:
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
	q := &Question{Outcome: o.until(stop), Link: o.Trace.Link(), Ask: words("quiz.verdict")}
	q.Answers = []Answer{{Right: true, Said: same(string(right)), Why: sayAll(func(lang string) string { return foundAndMeant(lang, o, right) })}}
	seen := map[verdict.Word]bool{}
	for _, w := range o.Verdicts {
		seen[w] = true
	}
	for _, sameRace := range []bool{true, false} { // what the other locks come to in this race is nearest
		for _, other := range z.others(c) {
			if (other.Race == c.Race) != sameRace || len(q.Answers) == 4 {
				continue
			}
			x, err := z.play(other)
			if err != nil {
				return nil, err
			}
			if x == nil || seen[x.Verdicts[0]] || !x.Verdicts[0].Broken() && x.Verdicts[0] != verdict.Holds {
				continue
			}
			word := x.Verdicts[0]
			seen[word] = true
			q.Answers = append(q.Answers, Answer{Said: same(string(word)), Why: sayAll(func(lang string) string {
				if word == verdict.Holds {
					return text.Say(lang, "quiz.verdict.holds", "found", findingWords(lang, o, right))
				}
				return text.Say(lang, "quiz.verdict.wrong", "meaning", reports.Meaning(word, lang))
			})})
		}
	}
	if len(q.Answers) < 3 {
		return nil, nil
	}
	return q, nil
}

// whyWords is the contract's reason for what a lock comes to in a race; none: it gives none.
func whyWords(lang string, o *played) []string {
	if r := contract.Why(o.Strategy, o.Scenario); r != "" {
		return []string{text.Say(lang, "quiz.why", "why", text.Reason(lang, "why", string(r)))}
	}
	return nil
}

// findingWords is a verdict's own finding: which clients, and when.
func findingWords(lang string, o *played, word verdict.Word) string {
	for _, f := range o.Judgement.Findings {
		if f.Verdict != word || f.Event >= len(o.History.Events) {
			continue
		}
		found := strings.TrimPrefix(reports.Margin(lang, o.History, f), "!! ")
		if f.Forever {
			return text.Say(lang, "quiz.finding.only", "found", found)
		}
		return text.Say(lang, "quiz.finding", "time", reports.Millis(o.History.Events[f.Event].At, 0), "found", found)
	}
	return text.Say(lang, "quiz.finding.only", "found", string(word))
}

// foundAndMeant is a verdict's own finding, what it means, and the reason for it.
func foundAndMeant(lang string, o *played, word verdict.Word) string {
	all := []string{reports.Meaning(word, lang)}
	if word != verdict.Holds {
		all = append([]string{findingWords(lang, o, word)}, all...)
	}
	return text.Join(lang, "quiz.sentences", append(all, whyWords(lang, o)...))
}

// survivor asks which lock survives an attack. It does not ask that where the resource refuses late writes, for there the
// locks are not what saves the data.
func (z *Quiz) survivor(c Cell, hard bool) ([]candidate, error) {
	if strings.Contains(c.Race, "-fenced") || strings.Contains(c.Race, "-cas") {
		return nil, nil
	}
	locks := z.scope.Locks
	if len(locks) == 0 {
		locks = quizLocks
	}
	var survives, falls []*played
	for _, l := range locks {
		if !hard && difficultyOf(Cell{l, "calm"}) == Hard {
			continue
		}
		o, err := z.play(Cell{l, c.Race})
		switch {
		case err != nil:
			return nil, err
		case o == nil:
		case o.Verdicts[0] == verdict.Holds:
			survives = append(survives, o)
		case verdict.Fails(o.Verdicts):
			falls = append(falls, o)
		}
	}
	if len(survives) == 0 || len(falls) < 2 {
		return nil, nil
	}
	return []candidate{{0, func() (*Question, error) { return z.survivorOf(c.Race, survives, falls), nil }}}, nil
}

func (z *Quiz) survivorOf(scenario string, survives, falls []*played) *Question {
	z.random.Shuffle(len(falls), func(i, j int) { falls[i], falls[j] = falls[j], falls[i] })
	right := survives[z.random.IntN(len(survives))]
	shown := *right.Outcome
	shown.History = nil
	q := &Question{Outcome: &shown, Link: falls[0].Trace.Link(), Ask: sayAll(func(lang string) string {
		return text.Say(lang, "quiz.survivor", "race", raceTitle(scenario, lang))
	})}
	for _, o := range append([]*played{right}, falls[:min(3, len(falls))]...) {
		q.Answers = append(q.Answers, Answer{Right: o == right, Said: same(o.Strategy.ID), Why: sayAll(func(lang string) string {
			why := foundAndMeant(lang, o, o.Verdicts[0])
			if o == right && o.Forever() && falls[0].Verdicts[0] == verdict.Overlap {
				why = text.Say(lang, "quiz.survivor.forever")
			}
			return text.Say(lang, "quiz.survivor.why", "lock", o.Strategy.ID, "title", text.LockTitle(o.Strategy.ID, lang), "why", why)
		})})
	}
	return q
}

// raceTitle is the title of a race that stands alone: that of some races refers to the race before them.
func raceTitle(id, lang string) string {
	if key := "quiz.title." + id; text.In(lang).Has(key) {
		return text.Say(lang, key)
	}
	return text.ScenarioTitle(id, lang)
}
