package game

import (
	"fmt"
	"slices"
	"strings"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/contract"
	"locklab/simulator/history"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A kind of question finds moments of the run of a cell, and asks at one of them. Nil: that would have too few answers.
type kind struct {
	name    string
	ofRace  bool // about a race, whatever the lock
	moments func(z *Quiz, c Cell, hard bool) []int
	ask     func(z *Quiz, c Cell, n int, hard bool) *Question
}

// kinds take turns.
var kinds = []kind{
	{"inside", false, (*Quiz).insideMoments, (*Quiz).insideAt},
	{"reply", false, (*Quiz).replyMoments, (*Quiz).replyAt},
	{"verdict", false, (*Quiz).verdictMoments, (*Quiz).verdictAt},
	{"survivor", true, (*Quiz).survivorMoments, (*Quiz).survivorAt},
}

// questionAt returns a question about a run as it stood before the event at index n.
func questionAt(o *played, n int, ask Words) *Question {
	return &Question{Outcome: o.until(n), Link: o.Trace.Link(), Ask: ask}
}

// insideMoments are those after something went wrong, or with several inside.
func (z *Quiz) insideMoments(c Cell, hard bool) []int {
	o := z.play(c)
	if o == nil || o.History.Clients < 2 {
		return nil
	}
	var moments []int
	trouble := false
	for i, e := range o.History.Events {
		trouble = trouble || e.Kind.Fault() || e.Kind == history.Expire
		n := i + 1
		for n < len(o.History.Events) && o.History.Events[n].Kind == history.Change { // they follow from it
			n++
		}
		switch e.Kind {
		case history.Enter, history.Expire, history.Resume, history.Pause, history.Crash, history.Failover, history.Up,
			history.ClockStep:
			if in := len(o.state(n).inside()); in > 1 || in > 0 && trouble {
				moments = append(moments, n)
			}
		}
	}
	tells := func(n int) bool { // whose the key is does not tell who is inside
		s := o.state(n)
		in := s.inside()
		return len(in) > 1 || s.lease(in[0]) == 0 || s.Clients[in[0]-1].Paused
	}
	return z.telling(moments, tells, hard)
}

// insideAt asks who is in the critical section.
func (z *Quiz) insideAt(c Cell, n int, _ bool) *Question {
	o := z.play(c)
	right := o.state(n).inside()
	q := questionAt(o, n, words("quiz.inside"))
	q.Outcome.History.Veiled, q.Outcome.Judgement.Findings = true, nil // they would give it away
	for _, set := range [][]int{right, {1, 2}, {1}, {2}, nil} {
		isRight := slices.Equal(set, right)
		if len(q.Answers) == 0 || !isRight && len(q.Answers) < 4 {
			q.Answers = append(q.Answers, Answer{whoIn(set), isRight, whyInside(o, n, set, right)})
		}
	}
	return q
}

func whoIn(set []int) Words {
	if len(set) == 0 {
		return words("quiz.nobody")
	}
	return join("part.and", lists.Each(set, func(c int) Words { return same(clientName(c)) })...)
}

// whyInside says why an answer is right, since when each client is inside, and that neither the end of its lease nor a
// pause takes it out; or which clients the answer leaves out or takes for being inside.
func whyInside(o *played, n int, set, in []int) Words {
	var all []Words
	s, right := o.state(n), slices.Equal(set, in)
	for _, c := range in {
		switch {
		case right:
			all = append(all, words("quiz.inside.since", "client", clientName(c), "time", entered(o, c, n)))
			if s.Clients[c-1].Paused {
				all = append(all, words("quiz.inside.paused"))
			}
			if s.lease(c) == 0 && !o.History.Local {
				all = append(all, words("quiz.inside.keyless", "client", clientName(c)))
			}
		case !slices.Contains(set, c):
			all = append(all, words("quiz.inside.still", "client", clientName(c)))
		}
	}
	for _, c := range []int{1, 2} {
		if !slices.Contains(in, c) && (right || slices.Contains(set, c)) {
			all = append(all, outside(o.History, c, n))
		}
	}
	return join("part.sentences", all...)
}

// entered returns the time at which a client got in last before the event at index n.
func entered(o *played, client, n int) string {
	for i := n - 1; i >= 0; i-- {
		e := &o.History.Events[i]
		if e.Kind == history.Enter && e.Client == client && o.state(i).stage(client) != verdict.Inside {
			return millis(e)
		}
	}
	return "0"
}

func millis(e *history.Event) string { return reports.Millis(e.At, 0) }

// outside says why a client is not inside: it has left, or has crashed, or gets in only later, or never.
func outside(h *history.History, client, n int) Words {
	key, when := "quiz.inside.never", ""
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case e.Client != client:
		case i < n && e.Kind == history.Crash:
			key, when = "quiz.inside.crashed", millis(e)
		case i < n && e.Kind == history.Leave:
			key, when = "quiz.inside.left", millis(e)
		case i >= n && e.Kind == history.Enter && when == "":
			key, when = "quiz.inside.later", millis(e)
		}
	}
	return words(key, "client", clientName(client), "time", when)
}

// asking are the commands whose answer depends on a circumstance alone, with the keys of their rules.
var asking = map[string]string{
	"SETNX": "set", "SET": "set", "DEL": "del", "EXPIRE": "expire", "PEXPIRE": "expire", "GET": "get",
	"GETSET": "getset", "EVAL": "script", "EVALSHA": "script",
}

// A served request is one that a server has executed, and whose answer has come.
type served struct {
	apply  int // the event, by its index
	answer *history.Event
	whose  string // the key is when the command arrives, as texts are named: "free", "own" or "others"
	state  state  // before the command
}

// servedAt is the request whose answer is the event at index n; nil: its answer depends on more than whose the key is.
func servedAt(o *played, n int) *served {
	e := &o.History.Events[n]
	if e.Kind != history.Answer || e.Client == 0 || e.Node < 1 || len(e.Cmd) < 2 || e.Reply == "" ||
		strings.HasPrefix(e.Reply, "(error)") || asking[strings.ToUpper(e.Cmd[0])] == "" || o.History.ZooKeeper ||
		!slices.Contains(e.Cmd, o.History.Key) {
		return nil
	}
	applies := func(a history.Event) bool { return a.Kind == history.Apply && a.Msg == e.Msg }
	apply := slices.IndexFunc(o.History.Events[:n], applies)
	if apply < 0 {
		return nil
	}
	s := &served{apply, e, "others", o.state(apply)}
	if e.Node > len(s.state.Keys) || s.state.Keys[e.Node-1].Down {
		return nil
	}
	switch k := s.state.Keys[e.Node-1]; {
	case !k.Held:
		s.whose = "free"
	case k.Owner == e.Client:
		s.whose = "own"
	}
	return s
}

// tells reports whether an answer surprises the client that asks: the key is free though a client is inside, or is not
// the client's own though it is inside or releases.
func (s *served) tells() bool {
	switch s.state.stage(s.answer.Client) {
	case verdict.Inside, verdict.Leaving, verdict.Releasing:
		return s.whose != "own"
	}
	return s.whose == "free" && s.state.insiderBut(s.answer.Client) > 0
}

// replyMoments are the answers that depend on whose the key is, after something went wrong; of like ones the first.
func (z *Quiz) replyMoments(c Cell, hard bool) []int {
	o := z.play(c)
	if o == nil {
		return nil
	}
	var moments []int
	trouble, known := false, map[string]bool{}
	for i := range o.History.Events {
		e := &o.History.Events[i]
		trouble = trouble || e.Kind.Fault() || e.Kind == history.Expire
		if s := servedAt(o, i); s != nil && trouble {
			if like := fmt.Sprint(e.Client, reports.Command(e.Cmd, o.History.Key), s.whose); !known[like] {
				moments, known[like] = append(moments, i), true
			}
		}
	}
	return z.telling(moments, func(n int) bool { return servedAt(o, n).tells() }, hard)
}

// replyAt asks what a server answers.
func (z *Quiz) replyAt(c Cell, n int, _ bool) *Question {
	o := z.play(c)
	s := servedAt(o, n)
	command, right := reports.Command(s.answer.Cmd, o.History.Key), reports.Reply(s.answer.Reply)
	client := clientName(s.answer.Client)
	q := questionAt(o, s.apply, words("quiz.reply", "client", client, "command", command))
	why := words("quiz.reply.right", "reply", right, "command", command, "state", found(o, s))
	q.Answers = []Answer{{same(right), true, join("part.sentences", why, words(rule(command)))}}
	replies, seen := map[string]bool{right: true}, map[string]bool{s.whose: true}
	for x := range z.lenders(c) {
		for i := range x.History.Events {
			r := servedAt(x, i)
			if r == nil || x.History.Local || seen[r.whose] || reports.Command(r.answer.Cmd, x.History.Key) != command {
				continue
			}
			said := reports.Reply(r.answer.Reply)
			if replies[said] || strings.HasPrefix(said, `"`) && x != o { // a value of another run
				continue
			}
			replies[said], seen[r.whose] = true, true
			found := words("quiz.if."+r.whose, "client", client)
			q.Answers = append(q.Answers, Answer{same(said), false,
				words("quiz.reply.wrong", "reply", said, "if", found)})
		}
	}
	if len(q.Answers) < 2 {
		return nil
	}
	return q
}

// rule is the key of what a command does, by the owner of the key.
func rule(command string) string {
	parts := strings.Fields(command)
	if len(parts) > 1 && text.In("en").Has("quiz.rule."+parts[1]) { // a script
		return "quiz.rule." + parts[1]
	}
	return "quiz.rule." + asking[parts[0]]
}

// found says what a command finds: whose the key is, and why it is free.
func found(o *played, s *served) Words {
	e, key := s.answer, words("quiz.key")
	if o.History.Nodes > 1 {
		key = words("quiz.key.on", "node", fmt.Sprintf("n%d", e.Node))
	}
	k := s.state.Keys[e.Node-1]
	switch {
	case !k.Held:
		return freed(o, s, key)
	case k.Owner == 0:
		return words("quiz.found.unknown", "key", key)
	}
	whose := "quiz.found." + s.whose
	if k.Until != history.Forever {
		whose += ".lease"
	}
	left := seconds(k.Until - o.History.Events[s.apply].At)
	return words(whose, "key", key, "client", clientName(k.Owner), "left", left)
}

// freed says why a key is free: who removed it, or what.
func freed(o *played, s *served, key Words) Words {
	for i := s.apply - 1; i >= 0; i-- {
		e := &o.History.Events[i]
		if e.Node != s.answer.Node {
			continue
		}
		switch before := o.state(i).owner(e.Node); {
		case e.Kind == history.Expire && before > 0:
			return words("quiz.found.ended", "key", key, "client", clientName(before), "time", millis(e))
		case e.Kind == history.Change && e.Key == o.History.Key && e.After == "" && e.Client > 0:
			return words("quiz.found.removed", "key", key, "client", clientName(e.Client), "time", millis(e))
		case e.Kind == history.Failover || e.Kind == history.Up || e.Kind == history.Down:
			return words("quiz.found.lost", "key", key, "time", millis(e))
		}
	}
	return words("quiz.found.free", "key", key)
}

// verdictMoments is the beginning: there is one question about a run.
func (z *Quiz) verdictMoments(c Cell, _ bool) []int {
	if z.play(c) == nil {
		return nil
	}
	return []int{0}
}

// verdictAt asks what a run will come to.
func (z *Quiz) verdictAt(c Cell, _ int, _ bool) *Question {
	o := z.play(c)
	right, stop := o.Verdicts[0], openUntil(o)
	if stop < 4 || slices.Contains(o.Verdicts, verdict.Fenced) { // in a grid that word stands for the overlap
		return nil
	}
	q := questionAt(o, stop, words("quiz.verdict"))
	q.Answers = []Answer{{same(string(right)), true, foundAndMeant(o)}}
	seen := map[verdict.Word]bool{}
	for _, w := range o.Verdicts {
		seen[w] = true
	}
	for _, sameRace := range []bool{true, false} { // what the other locks come to in this race is nearest
		for x := range z.lenders(c) {
			word := x.Verdicts[0]
			if (x.Race.ID == c.Race) != sameRace || len(q.Answers) == 4 || seen[word] ||
				!word.Broken() && word != verdict.Holds {
				continue
			}
			seen[word] = true
			why := words("quiz.verdict.wrong", "meaning", titled(reports.Meaning, word))
			if word == verdict.Holds {
				why = words("quiz.verdict.holds", "found", finding(o))
			}
			q.Answers = append(q.Answers, Answer{same(string(word)), false, why})
		}
	}
	if len(q.Answers) < 3 {
		return nil
	}
	return q
}

// openUntil is the index of the event up to which a run does not show its first verdict: that which brings it about, or
// the one after its last fault.
func openUntil(o *played) (n int) {
	switch o.Verdicts[0] {
	case verdict.Holds, verdict.Blocked, verdict.Deadlock, verdict.Starved:
		for i, e := range o.History.Events {
			if e.Kind.Fault() {
				n = i + 1
			}
		}
		return n
	}
	n = len(o.History.Events)
	for _, f := range o.Judgement.Findings {
		if f.Verdict == o.Verdicts[0] {
			n = min(n, f.Event)
		}
	}
	return n
}

// finding is the finding of a run's first verdict: which clients, and when.
func finding(o *played) Words {
	for _, f := range o.Judgement.Findings {
		if f.Verdict != o.Verdicts[0] || f.Event >= len(o.History.Events) {
			continue
		}
		found := sayAll(func(lang string) string {
			return strings.TrimPrefix(reports.Margin(lang, o.History, f), "!! ")
		})
		if f.Forever {
			return words("quiz.finding.only", "found", found)
		}
		return words("quiz.finding", "time", millis(&o.History.Events[f.Event]), "found", found)
	}
	return words("quiz.finding.only", "found", o.Verdicts[0])
}

// foundAndMeant is the finding of a run's first verdict, what that means, and the contract's reason for it.
func foundAndMeant(o *played) Words {
	all := []Words{titled(reports.Meaning, o.Verdicts[0])}
	if o.Verdicts[0] != verdict.Holds {
		all = append([]Words{finding(o)}, all...)
	}
	if r := contract.Why(o.Lock, o.Race); r != "" {
		why := sayAll(func(lang string) string { return text.Reason(lang, "why", string(r)) })
		all = append(all, words("quiz.why", "why", why))
	}
	return join("part.sentences", all...)
}

// outcomes are the runs of the scope's locks in a race that survive it, and that fall; without those of hard locks,
// unless the quiz is hard.
func (z *Quiz) outcomes(raceID string, hard bool) (survive, fall []*played) {
	for _, l := range z.scope.Locks {
		if !hard && difficultyOf(Cell{l, "calm"}) == Hard {
			continue
		}
		switch o := z.play(Cell{l, raceID}); {
		case o == nil:
		case o.Verdicts[0] == verdict.Holds:
			survive = append(survive, o)
		case verdict.Fails(o.Verdicts):
			fall = append(fall, o)
		}
	}
	return survive, fall
}

// survivorMoments is the beginning of a race that some locks survive, unless the resource refuses late writes, for then
// the locks are not what saves the data.
func (z *Quiz) survivorMoments(c Cell, hard bool) []int {
	if strings.Contains(c.Race, "-fenced") || strings.Contains(c.Race, "-cas") {
		return nil
	}
	if survive, fall := z.outcomes(c.Race, hard); len(survive) == 0 || len(fall) < 2 {
		return nil
	}
	return []int{0}
}

// survivorAt asks which lock survives a race.
func (z *Quiz) survivorAt(c Cell, _ int, hard bool) *Question {
	survive, fall := z.outcomes(c.Race, hard)
	z.random.Shuffle(len(fall), func(i, j int) { fall[i], fall[j] = fall[j], fall[i] })
	// A lock without an expiry survives nearly everything.
	if dear := lists.Pick(survive, func(o *played) bool { return !o.Forever() }); len(dear) > 0 {
		survive = dear
	}
	right := survive[z.random.IntN(len(survive))]
	shown := *right.Outcome
	shown.History = nil
	q := &Question{Outcome: &shown, Link: fall[0].Trace.Link(), Ask: words("quiz.survivor", "race", ownTitle(c.Race))}
	for _, o := range append([]*played{right}, fall[:min(3, len(fall))]...) {
		why := foundAndMeant(o)
		if o == right && o.Forever() && fall[0].Verdicts[0] == verdict.Overlap {
			why = words("quiz.survivor.forever")
		}
		why = words("quiz.survivor.why", "lock", o.Lock.ID, "title", titled(text.LockTitle, o.Lock.ID),
			"why", why)
		q.Answers = append(q.Answers, Answer{same(o.Lock.ID), o == right, why})
	}
	return q
}

// ownTitle is the title of a race that stands alone: that of some races refers to the race before them.
func ownTitle(id string) Words {
	if key := "quiz.title." + id; text.In("en").Has(key) {
		return words(key)
	}
	return titled(text.RaceTitle, id)
}
