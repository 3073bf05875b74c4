package game

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A kind of question finds moments of the run of a cell, and asks at one of them. Nil: that would have too few answers.
type kind struct {
	name    string
	moments func(z *Quiz, c Cell) []int
	ask     func(z *Quiz, c Cell, n int) *Question
}

// kinds take turns.
var kinds = []kind{
	{"inside", (*Quiz).insideMoments, (*Quiz).insideAt}, {"reply", (*Quiz).replyMoments, (*Quiz).replyAt},
	{"verdict", (*Quiz).once, (*Quiz).verdictAt}, {"cause", (*Quiz).once, (*Quiz).causeAt},
	{"prevents", (*Quiz).once, (*Quiz).preventsAt},
}

// questionAt returns a question about a run as it stood before the event at index n.
func questionAt(o *played, n int, ask Words) *Question {
	return &Question{Outcome: o.until(n), Link: o.Trace.Link(), Ask: ask}
}

// insideMoments are those after something went wrong, or with several inside.
func (z *Quiz) insideMoments(c Cell) []int {
	o := z.play(c)
	if o.History.Clients < 2 {
		return nil
	}
	var moments []int
	for _, m := range o.moments {
		if in := len(state{m.State}.inside()); in > 1 || in > 0 && o.troubled(m.Event) {
			moments = append(moments, o.after(m.Event))
		}
	}
	tells := func(n int) bool { // whose the key is does not tell who is inside
		s := o.state(n)
		in := s.inside()
		return len(in) > 1 || s.lease(in[0]) == 0 || s.Clients[in[0]-1].Paused
	}
	return z.telling(moments, tells)
}

// insideAt asks who is in the critical section. Each wrong answer is wrong about one client.
func (z *Quiz) insideAt(c Cell, n int) *Question {
	o := z.play(c)
	right := o.state(n).inside()
	q := questionAt(o, n, words("quiz.inside"))
	q.Outcome.History.Veiled, q.Outcome.Judgement.Findings = true, nil // they would give it away
	why := join("part.sentences", lists.Each(right, func(c int) Words { return whereabouts(o, c, n) })...)
	q.Answers = []Answer{{whoIn(right), true, why}}
	for _, client := range []int{1, 2} {
		in := lists.Pick([]int{1, 2}, func(c int) bool { return slices.Contains(right, c) != (c == client) })
		q.Answers = append(q.Answers, Answer{whoIn(in), false, whyNot(o, client, n)})
	}
	return q
}

func whoIn(set []int) Words {
	if len(set) == 0 {
		return words("quiz.nobody")
	}
	return join("part.and", lists.Each(set, func(c int) Words { return same(clientName(c)) })...)
}

// whyNot says why a client is not where an answer has it: inside, or not inside.
func whyNot(o *played, client, n int) Words {
	s, key := o.state(n), "quiz.inside.still"
	switch {
	case s.stage(client) != verdict.Inside:
		return whereabouts(o, client, n)
	case s.Clients[client-1].Paused:
		key = "quiz.inside.paused"
	case s.lease(client) == 0 && !o.History.Local:
		key = "quiz.inside.keyless"
	}
	return words(key, "client", clientName(client))
}

// whereabouts says since when a client is inside before the event at index n; or why it is not inside: it has left, or
// has crashed, or gets in only later, or never.
func whereabouts(o *played, client, n int) Words {
	key, when := "quiz.inside.never", ""
	inside := o.state(n).stage(client) == verdict.Inside
	for i := range o.History.Events {
		switch e := &o.History.Events[i]; {
		case e.Client != client:
		case i < n && e.Kind == history.Crash:
			key, when = "quiz.inside.crashed", instant(e.At)
		case i < n && e.Kind == history.Leave:
			key, when = "quiz.inside.left", instant(e.At)
		case i < n && inside && e.Kind == history.Enter && o.state(i).stage(client) != verdict.Inside:
			key, when = "quiz.inside.since", instant(e.At)
		case i >= n && e.Kind == history.Enter && when == "":
			key, when = "quiz.inside.later", instant(e.At)
		}
	}
	return words(key, "client", clientName(client), "time", when)
}

// instant is a moment of a run, to a tenth of a second; one that is at once after the beginning in milliseconds.
func instant(t time.Duration) string {
	if t < 50*time.Millisecond {
		return reports.Millis(t, 0) + " ms"
	}
	return seconds(t) + " s"
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
func (z *Quiz) replyMoments(c Cell) []int {
	o := z.play(c)
	var moments []int
	known := map[string]bool{}
	for i, e := range o.History.Events {
		if s := servedAt(o, i); s != nil && o.troubled(i) {
			if like := fmt.Sprint(e.Client, reports.Command(e.Cmd, o.History.Key), s.whose); !known[like] {
				moments, known[like] = append(moments, i), true
			}
		}
	}
	return z.telling(moments, func(n int) bool { return servedAt(o, n).tells() })
}

// replyAt asks what a server answers.
func (z *Quiz) replyAt(c Cell, n int) *Question {
	o := z.play(c)
	s := servedAt(o, n)
	command, right := reports.Command(s.answer.Cmd, o.History.Key), reports.Reply(s.answer.Reply)
	client, server := clientName(s.answer.Client), reports.ServerName(o.History)
	if o.History.Nodes > 1 {
		server += fmt.Sprintf(" n%d", s.answer.Node)
	}
	q := questionAt(o, s.apply, words("quiz.reply", "client", client, "command", command, "server", server))
	state, _ := found(o, s)
	why := words("quiz.reply.right", "reply", right, "command", command, "state", state)
	q.Answers = []Answer{{same(right), true, join("part.sentences", why, words(rule(command)))}}
	replies, seen := map[string]bool{right: true}, map[string]bool{s.whose: true}
	for _, other := range append([]Cell{c}, grid(append([]string{c.Lock}, Usual.Locks...), Usual.Races)...) {
		x := z.play(other)
		for i := 0; x != nil && i < len(x.History.Events); i++ {
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
				words("quiz.reply.wrong", "reply", said, "if", found, "state", state)})
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

// found says what a command finds, whose the key is, or why it is free; and in one word: it is the client's "own" or
// another's ("others"), or its lease has "ended", it was "removed", the server has "lost" it, or "free".
func found(o *played, s *served) (said Words, how string) {
	key, k, now := words("quiz.key"), s.state.Keys[s.answer.Node-1], o.History.Events[s.apply].At
	if o.History.Nodes > 1 {
		key = words("quiz.key.on", "node", fmt.Sprintf("n%d", s.answer.Node))
	}
	how, client, when := s.whose, k.Owner, ""
	switch {
	case !k.Held:
		how, client, when = freed(o, s)
	case k.Owner == 0:
		how = "unknown"
	}
	state := "quiz.found." + how
	if how == "ended" && slices.ContainsFunc(o.History.Events[:s.apply], func(e history.Event) bool {
		return e.Kind == history.ClockStep && e.Node == s.answer.Node && instant(e.At) == when
	}) {
		state = "quiz.found.jumped"
	}
	if k.Held && k.Owner > 0 && k.Until != history.Forever {
		state += ".lease"
	}
	return words(state, "key", key, "client", clientName(client), "time", when, "left", seconds(k.Until-now)), how
}

// freed says why a key is free: its lease has ended, or who removed it, or that the server has lost it; and when.
func freed(o *played, s *served) (how string, client int, time string) {
	for i := s.apply - 1; i >= 0; i-- {
		e := &o.History.Events[i]
		if e.Node != s.answer.Node {
			continue
		}
		switch before := o.state(i).owner(e.Node); {
		case e.Kind == history.Expire && before > 0:
			return "ended", before, instant(e.At)
		case e.Kind == history.Change && e.Key == o.History.Key && e.After == "" && e.Client > 0:
			return "removed", e.Client, instant(e.At)
		case e.Kind == history.Failover || e.Kind == history.Up || e.Kind == history.Down:
			return "lost", 0, instant(e.At)
		}
	}
	return "free", 0, ""
}

// once is the beginning: there is one question about a run.
func (z *Quiz) once(Cell) []int { return []int{0} }

// endings are what a wrong answer may say of a run.
var endings = []verdict.Word{verdict.Overlap, verdict.Deadlock, verdict.Holds, verdict.Blocked, verdict.WrongDel,
	verdict.StaleWrite}

// verdictAt asks what a run comes to, before what causes its worst verdict. In a grid FENCED stands for the overlap.
func (z *Quiz) verdictAt(c Cell, _ int) *Question {
	o := z.play(c)
	first, stop := o.worst(), len(o.History.Events)
	for _, f := range o.Judgement.Findings {
		if f.Verdict == first {
			stop = min(stop, f.Event)
		}
	}
	if first == verdict.Holds { // in the middle of what happens
		stop = o.after(o.moments[len(o.moments)/2].Event)
	}
	if stop < 4 || !text.In("en").Has("quiz.word."+string(first)) || slices.Contains(o.Verdicts, verdict.Fenced) {
		return nil
	}
	q := questionAt(o, stop, words("quiz.verdict"))
	named := func(w verdict.Word) Words {
		return words("quiz.verdict.named", "what", words("quiz.word."+string(w)), "word", w)
	}
	q.Answers = []Answer{{named(first), true, explained(o)}}
	for _, i := range z.random.Perm(len(endings)) {
		if w := endings[i]; len(q.Answers) < 4 && !slices.Contains(o.Verdicts, w) {
			q.Answers = append(q.Answers, Answer{named(w), false,
				words("quiz.not."+string(w), "what", words("quiz.word."+string(first)))})
		}
	}
	return q
}

// finding says when a run comes to its worst verdict, and to which.
func finding(o *played) Words {
	for _, f := range o.Judgement.Findings {
		if f.Verdict == o.worst() && f.Event < len(o.History.Events) && !f.Forever {
			at := o.History.Events[f.Event].At
			return words("quiz.finding", "time", instant(at), "what", words("quiz.word."+string(f.Verdict)))
		}
	}
	return words("quiz.finding.only", "what", words("quiz.word."+string(o.worst())))
}

// explained says what a run comes to, with the contract's reason for it.
func explained(o *played) Words {
	key, why := "quiz.forever", reason(o)
	switch paused := func(e history.Event) bool { return e.Kind == history.Pause }; {
	case why != nil:
		key = "quiz.why"
	case !o.Forever():
		return join("part.sentences", append([]Words{finding(o)}, held(o)...)...)
	case slices.ContainsFunc(o.History.Events, paused):
		key = "quiz.forever.pause"
	}
	return join("part.sentences", finding(o), words(key, "why", why, "lock", o.Lock.ID))
}

// held says what kept two clients apart in a run: how long the first had its lease, and why the next could get in.
func held(o *played) (all []Words) {
	first, next, renewed, until := 0, -1, 0, time.Duration(0)
	for _, m := range o.moments {
		s, e := state{m.State}, &o.History.Events[m.Event]
		switch in := s.inside(); {
		case first == 0 && len(in) > 0:
			first, until = in[0], s.lease(in[0])
		case next < 0 && len(in) > 0 && in[0] != first && e.Kind == history.Enter:
			next = m.Event
		case first == 0 || until <= 0 || until == history.Forever:
		case s.stage(first) == verdict.Inside && s.lease(first) > until:
			until, renewed = s.lease(first), renewed+1
		case e.Client == first && e.Kind == history.Leave && until > e.At:
			key := []string{"quiz.held", "quiz.held.renewed"}[min(renewed, 1)]
			all = append(all, words(key, "client", clientName(first), "times", counted("time", renewed),
				"left", seconds(until-e.At), "time", instant(e.At)))
			until = 0
		}
	}
	if next < 0 {
		return all
	}
	client, when := clientName(o.History.Events[next].Client), instant(o.History.Events[next].At)
	if by := taking(o, next); by != nil {
		state, _ := found(o, by)
		return append(all, words("quiz.held.next", "client", client, "time", when, "state", state))
	}
	return append(all, whereabouts(o, first, next), words("quiz.inside.later", "client", client, "time", when))
}

// reason is the contract's for what a run comes to; nil: there is none.
func reason(o *played) Words {
	r := contract.Why(o.Lock, o.Race)
	if r == "" {
		return nil
	}
	return sayAll(func(lang string) string { return text.Reason(lang, "why", string(r)) })
}

// causes are the ways in which a key comes to be another's while its client is inside, with the events that each needs.
var causes = map[string]func(e history.Event) bool{
	"ended":   func(e history.Event) bool { return e.Kind == history.Expire },
	"removed": func(e history.Event) bool { return e.Kind == history.Change && e.After == "" && e.Client > 0 },
	"lost":    func(e history.Event) bool { return e.Kind == history.Failover || e.Kind == history.Down },
	"others":  func(history.Event) bool { return false }, // it was not free
}

// taking is the command that gave the key to the client that gets in at the event at index n; nil: its answer hides it.
func taking(o *played, n int) *served {
	client := o.History.Events[n].Client
	for n--; n >= 0; n-- {
		s := servedAt(o, n)
		if s != nil && s.answer.Client == client && s.whose != "own" && o.state(n).owner(s.answer.Node) == client {
			return s
		}
	}
	return nil
}

// causeAt asks what let a client in beside another one, in a run's first overlap.
func (z *Quiz) causeAt(c Cell, _ int) *Question {
	o := z.play(c)
	i := slices.IndexFunc(o.Judgement.Findings, func(f verdict.Finding) bool { return f.Verdict == verdict.Overlap })
	if i < 0 || o.Lock.Servers() > 1 {
		return nil
	}
	n := o.Judgement.Findings[i].Event
	client, taken := o.History.Events[n].Client, taking(o, n)
	if taken == nil {
		return nil
	}
	holder := clientName(o.state(n).insiderBut(client))
	state, how := found(o, taken)
	forever := taken.state.Keys[taken.answer.Node-1].Until == history.Forever
	if how == "others" && forever && o.Lock.Expiry == lock.ExpiryClients {
		state = words("quiz.found.stamp", "client", clientName(client), "command", strings.ToUpper(taken.answer.Cmd[0]))
	}
	q := questionAt(o, len(o.History.Events), words("quiz.cause", "client", clientName(client), "holder", holder))
	for _, way := range slices.Sorted(maps.Keys(causes)) {
		why := words("quiz.cause.not." + way)
		if way == how {
			why = words("quiz.cause.right", "state", state)
		} else if slices.ContainsFunc(o.History.Events[:taken.apply], causes[way]) ||
			way == "ended" && o.Lock.Expiry != lock.ExpiryServer {
			continue // it happened, but did not let the client in; or this lock has no lease that a server ends
		}
		q.Answers = append(q.Answers, Answer{words("quiz.cause."+way, "client", holder), way == how, why})
	}
	if len(q.Answers) < 3 || causes[how] == nil {
		return nil
	}
	return q
}

// preventsAt asks which change prevents what a run came to, unless the resource saves the data by refusing late writes.
func (z *Quiz) preventsAt(c Cell, _ int) *Question {
	o := z.play(c)
	if !verdict.Fails(o.Verdicts) || strings.Contains(c.Race, "-fenced") || strings.Contains(c.Race, "-cas") {
		return nil
	}
	survive, fall := z.changes(c, o)
	if len(survive) == 0 || len(fall) < 2 {
		return nil
	}
	q := questionAt(o, len(o.History.Events), words("quiz.prevents", "found", finding(o)))
	q.Answers = append(fall[:min(3, len(fall))], survive[z.random.IntN(len(survive))])
	return q
}

// changes are those with which a cell's run survives, and with which it falls: the scope's other locks in its race,
// without the hard ones, unless it is one; a resource that refuses late writes, if that helps; and a lease of
// twice the length, if that changes nothing. A lock without an expiry is none: it survives nearly everything, and no
// crash. Those that fall for another reason than the others come first.
func (z *Quiz) changes(c Cell, is *played) (survive, fall []Answer) {
	isHard := func(lock string) bool { return difficultyOf(Cell{lock, "calm"}) == Hard }
	var again []Answer
	met := map[string]bool{}
	for _, i := range z.random.Perm(len(z.scope.Locks)) {
		l := z.scope.Locks[i]
		if l == c.Lock || isHard(l) && !isHard(c.Lock) {
			continue
		}
		said := words("quiz.prevents.lock", "lock", l, "title", titled(text.LockTitle, l))
		switch o := z.play(Cell{l, c.Race}); {
		case o == nil:
		case verdict.Fails(o.Verdicts):
			why := reason(o)
			if why == nil {
				why = words("quiz.word." + string(o.worst()))
			}
			of := &fall
			if met[why["en"]] {
				of = &again
			}
			met[why["en"]] = true
			*of = append(*of, Answer{said, false, words("quiz.prevents.not", "lock", l, "why", why)})
		case o.Verdicts[0] == verdict.Holds && !o.Forever():
			why := append([]Words{words("quiz.prevents.right", "lock", l)}, held(o)...)
			survive = append(survive, Answer{said, true, join("part.sentences", why[:min(len(why), 2)]...)})
		}
	}
	if _, err := scenarios.ByName(c.Race + "-fenced"); err == nil {
		if o := z.play(Cell{c.Lock, c.Race + "-fenced"}); o != nil && !verdict.Fails(o.Verdicts) {
			survive = append(survive, Answer{words("quiz.prevents.fenced"), true, words("quiz.prevents.refused")})
		}
	}
	ttl := is.Settings.TTL // with which the work of some races grows
	o := z.play(Cell{c.Lock, fmt.Sprint(c.Race, ".ttl=", 2*ttl)})
	if is.Lock.Expiry != lock.ExpiryNone && o != nil && maps.Equal(finding(o), finding(is)) {
		why := words("quiz.prevents.lease.not", "ttl", seconds(2*ttl), "found", finding(o))
		fall = append(fall, Answer{words("quiz.prevents.lease", "ttl", seconds(2*ttl)), false, why})
	}
	return survive, append(fall, again...)
}

// OwnTitle is the title of a race that stands alone: that of some races refers to the race before them, or to the lease
// of a lock that has none. Of settings other than the race's own it claims nothing that only those bring about.
func OwnTitle(o *race.Outcome) Words {
	set := !slices.Equal(o.Settings.Lengths(), o.Race.Settings.Lengths())
	key := "quiz.title." + o.Race.ID
	none := key + ".none"
	switch {
	case (set || o.Lock.Expiry == lock.ExpiryNone) && text.In("en").Has(none):
		return words(none, "pause", seconds(o.Settings.Pause), "jump", seconds(o.Settings.Jump),
			"work", seconds(o.Race.Clients(o.Settings)[0].Work))
	case set:
		return words("quiz.title.set", "race", o.Race.ID)
	case text.In("en").Has(key):
		return words(key)
	}
	return titled(text.RaceTitle, o.Race.ID)
}
