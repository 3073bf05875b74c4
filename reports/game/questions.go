package game

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/cost"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A kind of question finds moments of the run of a cell, and asks at one of them. Nil: that would have too few answers.
type kind struct {
	name    string
	ofLock  bool // about a lock, whatever the race
	moments func(z *Quiz, c Cell, hard bool) []int
	ask     func(z *Quiz, c Cell, n int, hard bool) *Question
}

// kinds take turns.
var kinds = []kind{
	{"inside", false, (*Quiz).insideMoments, (*Quiz).insideAt},
	{"reply", false, (*Quiz).replyMoments, (*Quiz).replyAt},
	{"verdict", false, (*Quiz).once, (*Quiz).verdictAt},
	{"cause", false, (*Quiz).once, (*Quiz).causeAt},
	{"prevents", false, (*Quiz).once, (*Quiz).preventsAt},
	{"cost", true, (*Quiz).once, (*Quiz).costAt},
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
	for _, m := range o.moments {
		if in := len(state{m.State}.inside()); in > 1 || in > 0 && o.troubled(m.Event) {
			moments = append(moments, m.Event+1)
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

// whyInside says why an answer is right: where each client is; or where those are that the answer has elsewhere.
func whyInside(o *played, n int, set, in []int) Words {
	var all []Words
	for _, c := range []int{1, 2} {
		if slices.Equal(set, in) || slices.Contains(set, c) != slices.Contains(in, c) {
			all = append(all, whereabouts(o, c, n))
		}
	}
	return join("part.sentences", all...)
}

// whereabouts says since when a client is inside before the event at index n, and that neither the end of its lease nor
// a pause takes it out; or why it is not inside: it has left, or has crashed, or gets in only later, or never.
func whereabouts(o *played, client, n int) Words {
	key, when, s := "quiz.inside.never", "", o.state(n)
	inside, name := s.stage(client) == verdict.Inside, clientName(client)
	for i := range o.History.Events {
		switch e := &o.History.Events[i]; {
		case e.Client != client:
		case i < n && e.Kind == history.Crash:
			key, when = "quiz.inside.crashed", millis(e)
		case i < n && e.Kind == history.Leave:
			key, when = "quiz.inside.left", millis(e)
		case i < n && inside && e.Kind == history.Enter && o.state(i).stage(client) != verdict.Inside:
			key, when = "quiz.inside.since", millis(e)
		case i >= n && e.Kind == history.Enter && when == "":
			key, when = "quiz.inside.later", millis(e)
		}
	}
	all := []Words{words(key, "client", name, "time", when)}
	if inside && s.Clients[client-1].Paused {
		all = append(all, words("quiz.inside.paused"))
	}
	if inside && s.lease(client) == 0 && !o.History.Local {
		all = append(all, words("quiz.inside.keyless", "client", name))
	}
	return join("part.sentences", all...)
}

func millis(e *history.Event) string { return reports.Millis(e.At, 0) }

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
	known := map[string]bool{}
	for i, e := range o.History.Events {
		if s := servedAt(o, i); s != nil && o.troubled(i) {
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
	q := questionAt(o, s.apply, words("quiz.reply", "client", client, "command", command, "server", serverOf(o, s)))
	state, _ := found(o, s)
	why := words("quiz.reply.right", "reply", right, "command", command, "state", state)
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

// serverOf names the server that a request goes to.
func serverOf(o *played, s *served) string {
	if o.History.Nodes > 1 {
		return fmt.Sprintf("%s n%d", reports.ServerName(o.History), s.answer.Node)
	}
	return reports.ServerName(o.History)
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
			return "ended", before, millis(e)
		case e.Kind == history.Change && e.Key == o.History.Key && e.After == "" && e.Client > 0:
			return "removed", e.Client, millis(e)
		case e.Kind == history.Failover || e.Kind == history.Up || e.Kind == history.Down:
			return "lost", 0, millis(e)
		}
	}
	return "free", 0, ""
}

// once is the beginning: there is one question about a run.
func (z *Quiz) once(c Cell, _ bool) []int {
	if z.play(c) == nil {
		return nil
	}
	return []int{0}
}

// verdictAt asks what a run will come to, before what brings its first verdict about. In a grid FENCED stands for the
// overlap.
func (z *Quiz) verdictAt(c Cell, _ int, _ bool) *Question {
	o, seen := z.play(c), map[verdict.Word]bool{}
	fenced, stop := slices.Contains(o.Verdicts, verdict.Fenced), len(o.History.Events)
	for _, f := range o.Judgement.Findings {
		if seen[f.Verdict] = true; f.Verdict == o.Verdicts[0] {
			stop = min(stop, f.Event)
		}
	}
	q := questionAt(o, stop, words("quiz.verdict"))
	q.Answers, seen[o.Verdicts[0]] = []Answer{{same(string(o.Verdicts[0])), true, foundAndMeant(o)}}, true
	for x := range z.lenders(c) {
		if w := x.Verdicts[0]; len(q.Answers) < 4 && !seen[w] && (w.Broken() || w == verdict.Holds) {
			seen[w] = true
			why := words("quiz.verdict.wrong", "meaning", titled(reports.Meaning, w), "found", finding(o))
			q.Answers = append(q.Answers, Answer{same(string(w)), false, why})
		}
	}
	if stop < 4 || len(q.Answers) < 3 || fenced {
		return nil
	}
	return q
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

// causes are the ways in which a key comes to be another's while its client is inside, with the events that each needs.
var causes = map[string]func(e history.Event) bool{
	"ended":   func(e history.Event) bool { return e.Kind == history.Expire },
	"removed": func(e history.Event) bool { return e.Kind == history.Change && e.After == "" && e.Client > 0 },
	"lost":    func(e history.Event) bool { return e.Kind == history.Failover || e.Kind == history.Down },
	"others":  func(history.Event) bool { return false }, // it was not free
}

// causeAt asks what let a client in beside another one, in a run's first overlap.
func (z *Quiz) causeAt(c Cell, _ int, _ bool) *Question {
	o := z.play(c)
	i := slices.IndexFunc(o.Judgement.Findings, func(f verdict.Finding) bool { return f.Verdict == verdict.Overlap })
	if i < 0 || o.Lock.Servers() > 1 {
		return nil
	}
	n := o.Judgement.Findings[i].Event
	client, taken := o.History.Events[n].Client, (*served)(nil)
	holder := clientName(o.state(n).insiderBut(client))
	for n--; n >= 0 && taken == nil; n-- { // the command by which the key became its own
		s := servedAt(o, n)
		if s != nil && s.answer.Client == client && s.whose != "own" && o.state(n).owner(s.answer.Node) == client {
			taken = s
		}
	}
	if taken == nil {
		return nil
	}
	state, how := found(o, taken)
	q := questionAt(o, len(o.History.Events), words("quiz.cause", "client", clientName(client), "holder", holder))
	for _, way := range slices.Sorted(maps.Keys(causes)) {
		why := words("quiz.cause.not." + way)
		if way == how {
			why = join("part.sentences", words("quiz.cause.right", "state", state), foundAndMeant(o))
		} else if slices.ContainsFunc(o.History.Events[:taken.apply], causes[way]) {
			continue // it happened, though it is not what let the client in
		}
		q.Answers = append(q.Answers, Answer{words("quiz.cause."+way, "client", holder), way == how, why})
	}
	if len(q.Answers) < 3 || causes[how] == nil {
		return nil
	}
	return q
}

// preventsAt asks which change prevents what a run has come to, unless the resource refuses late writes: then the locks
// are not what saves the data.
func (z *Quiz) preventsAt(c Cell, _ int, hard bool) *Question {
	o := z.play(c)
	survive, fall := z.changes(c, o, hard)
	if !verdict.Fails(o.Verdicts) || len(survive) == 0 || len(fall) < 2 || strings.Contains(c.Race, "-fenced") ||
		strings.Contains(c.Race, "-cas") {
		return nil
	}
	z.random.Shuffle(len(fall), func(i, j int) { fall[i], fall[j] = fall[j], fall[i] })
	q := questionAt(o, len(o.History.Events), words("quiz.prevents", "found", finding(o)))
	q.Answers = append(fall[:min(3, len(fall))], survive[z.random.IntN(len(survive))])
	return q
}

// changes are those with which a cell's run survives, and with which it falls: the scope's other locks in its race,
// without the hard ones, unless the quiz is hard; a resource that refuses late writes, if that helps; and a lease of
// twice the length, if that changes nothing. A lock without an expiry is none: it survives nearly everything, and no crash.
func (z *Quiz) changes(c Cell, is *played, hard bool) (survive, fall []Answer) {
	for _, l := range z.scope.Locks {
		if l == c.Lock || !hard && difficultyOf(Cell{l, "calm"}) == Hard {
			continue
		}
		said := words("quiz.prevents.lock", "lock", l, "title", titled(text.LockTitle, l))
		switch o := z.play(Cell{l, c.Race}); {
		case o == nil:
		case verdict.Fails(o.Verdicts):
			fall = append(fall, Answer{said, false, foundAndMeant(o)})
		case o.Verdicts[0] == verdict.Holds && !o.Forever():
			survive = append(survive, Answer{said, true, foundAndMeant(o)})
		}
	}
	if _, err := scenarios.ByName(c.Race + "-fenced"); err == nil {
		if o := z.play(Cell{c.Lock, c.Race + "-fenced"}); o != nil && !verdict.Fails(o.Verdicts) {
			survive = append(survive, Answer{words("quiz.prevents.fenced"), true, foundAndMeant(o)})
		}
	}
	ttl := is.Settings.TTL // with which the work of some races grows
	if o := z.play(Cell{c.Lock, fmt.Sprint(c.Race, ".ttl=", 2*ttl)}); o != nil && maps.Equal(finding(o), finding(is)) {
		fall = append(fall, Answer{words("quiz.prevents.lease", "ttl", seconds(2*ttl)), false, foundAndMeant(o)})
	}
	return survive, fall
}

// costAt asks how many requests a lock makes, by what other locks make.
func (z *Quiz) costAt(c Cell, _ int, _ bool) *Question {
	o := z.play(Cell{c.Lock, "calm"})
	if o == nil || o.History.Local {
		return nil
	}
	title, server := titled(text.LockTitle, c.Lock), reports.ServerName(o.History)
	q := questionAt(o, 0, words("quiz.cost", "lock", c.Lock, "title", title, "server", server))
	q.Outcome.History = nil
	seen := map[int]bool{}
	for _, name := range append([]string{c.Lock}, Usual.Locks...) {
		entry, _ := race.Lock(name) // which was played
		price, err := cost.Count(entry)
		if z.err = cmp.Or(z.err, err); seen[price.Commands] || len(q.Answers) == 4 {
			continue
		}
		seen[price.Commands] = true
		why := words("label.costs.alone", "count", price.Commands, "roundtrips", fmt.Sprintf("%.0f", price.RoundTrips))
		q.Answers = append(q.Answers, Answer{same(fmt.Sprint(price.Commands)), name == c.Lock,
			words("quiz.cost.why", "lock", name, "why", why)})
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
