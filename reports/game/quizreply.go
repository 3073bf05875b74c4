package game

import (
	"slices"
	"strings"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A circumstance is whose the key is when a command arrives: what the answer depends on.
type circumstance int

const (
	keyFree circumstance = iota
	keyOwn
	keyOthers
)

// asking are the commands whose answer depends on a circumstance alone, with the keys of their rules.
var asking = map[string]string{"SETNX": "set", "SET": "set", "DEL": "del", "EXPIRE": "expire", "PEXPIRE": "expire", "GET": "get", "GETSET": "getset", "EVAL": "script", "EVALSHA": "script"}

// A served request is one that a server has executed, and whose answer has come.
type served struct {
	apply, answer int // the events, by index
	circumstance
	state reports.State // before the command
}

// servedAt is the request whose answer is the event at index n; false: its answer depends on more than whose the key is.
func servedAt(o *played, n int) (s served, ok bool) {
	e := &o.History.Events[n]
	if e.Kind != history.Answer || e.Client == 0 || e.Node < 1 || len(e.Cmd) < 2 || e.Reply == "" || strings.HasPrefix(e.Reply, "(error)") ||
		asking[strings.ToUpper(e.Cmd[0])] == "" || o.History.ZooKeeper {
		return s, false
	}
	s.answer = n
	s.apply = slices.IndexFunc(o.History.Events[:n], func(a history.Event) bool { return a.Kind == history.Apply && a.Msg == e.Msg })
	if s.apply < 0 || !slices.Contains(e.Cmd, o.History.Key) {
		return s, false
	}
	s.state = o.state(s.apply)
	if e.Node > len(s.state.Keys) || s.state.Keys[e.Node-1].Down {
		return s, false
	}
	switch k := s.state.Keys[e.Node-1]; {
	case !k.Held:
		s.circumstance = keyFree
	case k.Owner == e.Client:
		s.circumstance = keyOwn
	default:
		s.circumstance = keyOthers
	}
	return s, true
}

// tells reports whether an answer surprises the client that asks: the key is free though a client is inside, or is not the client's
// own though it is inside or releases.
func (s *served) tells(o *played) bool {
	client := o.History.Events[s.answer].Client
	switch s.state.Clients[client-1].Stage {
	case verdict.Inside, verdict.Leaving, verdict.Releasing:
		return s.circumstance != keyOwn
	}
	return s.circumstance == keyFree && insiderBut(s.state, client) > 0
}

// reply asks what a server answers.
func (z *Quiz) reply(c Cell, hard bool) (all []candidate, err error) {
	o, err := z.play(c)
	if o == nil {
		return nil, err
	}
	type likeness struct {
		client  int
		command string
		circumstance
	}
	var moments []int // after something went wrong, or a lease ended: of those that are alike the first
	trouble, requests, alike := false, map[int]served{}, map[likeness]bool{}
	for i, e := range o.History.Events {
		trouble = trouble || e.Kind.Fault() || e.Kind == history.Expire
		s, ok := servedAt(o, i)
		if like := (likeness{e.Client, reports.Command(e.Cmd, o.History.Key), s.circumstance}); ok && trouble && !alike[like] {
			moments, requests[i], alike[like] = append(moments, i), s, true
		}
	}
	tells := func(n int) bool { s := requests[n]; return s.tells(o) }
	for _, n := range z.telling(moments, tells, hard) {
		all = append(all, candidate{n, func() (*Question, error) { return z.replyAt(c, o, requests[n]) }})
	}
	return all, nil
}

func (z *Quiz) replyAt(c Cell, o *played, s served) (*Question, error) {
	e := &o.History.Events[s.answer]
	command, right := reports.Command(e.Cmd, o.History.Key), reports.Reply(e.Reply)
	client := clientWord(e.Client)
	q := &Question{Outcome: o.until(s.apply), Link: o.Trace.Link(), Ask: words("quiz.reply", "client", client, "command", command)}
	q.Answers = []Answer{{Right: true, Said: same(right), Why: sayAll(func(lang string) string {
		why := text.Say(lang, "quiz.reply.right", "reply", right, "command", command, "state", stateWords(lang, o, &s))
		return text.Join(lang, "quiz.sentences", []string{why, ruleWords(lang, command)})
	})}}
	replies, seen := map[string]bool{right: true}, map[circumstance]bool{s.circumstance: true}
	for _, other := range z.others(c) {
		x, err := z.play(other)
		if err != nil {
			return nil, err
		}
		if x == nil || x.History.Local {
			continue
		}
		for i := range x.History.Events {
			f := &x.History.Events[i]
			said := reports.Reply(f.Reply)
			if f.Kind != history.Answer || replies[said] || reports.Command(f.Cmd, x.History.Key) != command || strings.HasPrefix(said, `"`) && x != o {
				continue
			}
			r, ok := servedAt(x, i)
			if !ok || seen[r.circumstance] {
				continue
			}
			replies[said], seen[r.circumstance] = true, true
			q.Answers = append(q.Answers, Answer{Said: same(said), Why: sayAll(func(lang string) string {
				return text.Say(lang, "quiz.reply.wrong", "reply", said, "if", text.Say(lang, [...]string{"quiz.if.free", "quiz.if.own", "quiz.if.others"}[r.circumstance], "client", client))
			})})
		}
	}
	if len(q.Answers) < 2 {
		return nil, nil
	}
	return q, nil
}

// ruleWords says what a command does, by the owner of the key.
func ruleWords(lang, command string) string {
	words := strings.Fields(command)
	rule := "quiz.rule." + asking[words[0]]
	if len(words) > 1 && text.In(lang).Has("quiz.rule."+words[1]) { // a script
		rule = "quiz.rule." + words[1]
	}
	return text.Say(lang, rule)
}

// stateWords says what a command finds: whose the key is, and why it is free.
func stateWords(lang string, o *played, s *served) string {
	e := &o.History.Events[s.answer]
	key := text.Say(lang, "quiz.key")
	if o.History.Nodes > 1 {
		key = text.Say(lang, "quiz.key.on", "node", "n"+itoa(e.Node))
	}
	at, now := s.state.Keys[e.Node-1], o.History.Events[s.apply].At
	switch {
	case !at.Held:
		return freedWords(lang, o, s, key)
	case at.Owner == 0:
		return text.Say(lang, "quiz.found.unknown", "key", key)
	case at.Owner == e.Client && at.Until == history.Forever:
		return text.Say(lang, "quiz.found.own", "key", key, "client", clientWord(e.Client))
	case at.Owner == e.Client:
		return text.Say(lang, "quiz.found.own.lease", "key", key, "client", clientWord(e.Client), "left", seconds(at.Until-now))
	case at.Until == history.Forever:
		return text.Say(lang, "quiz.found.others", "key", key, "client", clientWord(at.Owner))
	}
	return text.Say(lang, "quiz.found.others.lease", "key", key, "client", clientWord(at.Owner), "left", seconds(at.Until-now))
}

// freedWords says why a key is free: who removed it, or what.
func freedWords(lang string, o *played, s *served, key string) string {
	node := o.History.Events[s.answer].Node
	for i := s.apply - 1; i >= 0; i-- {
		e := &o.History.Events[i]
		before := 0
		if e.Node == node {
			before = ownerIn(o.state(i), node)
		}
		switch time := reports.Millis(e.At, 0); {
		case e.Node != node:
		case e.Kind == history.Expire && before > 0:
			return text.Say(lang, "quiz.found.ended", "key", key, "client", clientWord(before), "time", time)
		case e.Kind == history.Change && e.Key == o.History.Key && e.After == "" && e.Client > 0:
			return text.Say(lang, "quiz.found.removed", "key", key, "client", clientWord(e.Client), "time", time)
		case e.Kind == history.Failover || e.Kind == history.Up || e.Kind == history.Down:
			return text.Say(lang, "quiz.found.lost", "key", key, "time", time)
		}
	}
	return text.Say(lang, "quiz.found.free", "key", key)
}
