package game

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A Hint is a move on a shortest way to a harm, in two parts: the idea, which is the next event on that way that
// matters, as a question; and the move. Without a way, Move is -1.
type Hint struct {
	Move int   `json:"move"` // from 0
	Idea Words `json:"idea"`
	Said Words `json:"said"`
}

// hintOf is the hint at a position from which a way leads to a harm.
func hintOf(ctx context.Context, g *play.Game, at *play.Position, w play.Way, harm verdict.Word) (*Hint, error) {
	n, end, w, err := g.Next(ctx, at, w, harm)
	if err != nil {
		return nil, err
	}
	before := len(at.Trace.Choices)
	strikes := func(c simulator.Choice) bool { return c.Verb >= simulator.FaultVerb }
	for on := end; n >= 0 && slices.IndexFunc(w.Choices[on:], strikes) > 0; { // the next hints strike where this says
		then, failed := g.At(w.Choices[:on])
		if failed == nil {
			_, on, w, failed = g.Next(ctx, then, w, harm)
		}
		if failed != nil {
			return nil, failed
		}
	}
	steps, err := g.Steps(w.Choices, before)
	said, failed := movesOf(ctx, g, at, harm)
	if n < 0 || err != nil || failed != nil {
		return nil, cmp.Or(err, failed, error(i18n.Errorf("error.play.hint")))
	}
	h := hinter{g, steps, harm}
	return &Hint{n, h.idea(end - before), words("play.hint", "n", n+1, "what", said[n])}, nil
}

// A hinter says what matters in the steps of a way to a harm.
type hinter struct {
	game  *play.Game
	steps []play.Step
	harm  verdict.Word
}

// idea is the idea of the first move, which makes so many of the steps: what matters in them, if the client of the
// move does it; or else what that client is about to do, and what matters on the way.
func (h *hinter) idea(own int) Words {
	client := int(h.steps[0].Choice.Client)
	for i := range h.steps {
		switch why, of := h.telling(&h.steps[i], i > 0); {
		case why == nil:
		case i < own && (client == 0 || of == client):
			return why
		default:
			return join("part.sentences", h.turn(own), why)
		}
	}
	return join("part.sentences", h.turn(own), words("play.hint.last", "harm", h.harm))
}

// turn says what the client of the first move, which makes so many of the steps, is about to do: the text for the first
// of its events that has one; for what asks for the lock, by whose it is then.
func (h *hinter) turn(own int) Words {
	before, client := h.steps[0].Before, int(h.steps[0].Choice.Client)
	key, asks, owner, on := "", false, 0, 0
	for i := range h.steps[:own] {
		for _, e := range h.steps[i].Events() {
			one := "play.hint.turn." + e.Name()
			if e.Node == history.Resource && text.In("en").Has(one+".resource") {
				one += ".resource"
			}
			if key == "" && e.Client == client && text.In("en").Has(one) {
				key, asks = one, e.Kind == history.Acquire
			}
			if on == 0 && e.Kind == history.Apply {
				on = max(e.Node, 0)
			}
		}
	}
	passes := slices.ContainsFunc(h.steps, func(s play.Step) bool { return s.Choice.Verb == simulator.Pass })
	switch owner = stateOf(before).owner(on); {
	case h.steps[0].Choice.Verb == simulator.Pass:
		key = "play.hint.turn.pass"
	case !asks || on == 0:
	case owner == 0 || owner == client:
		key += ".free"
	case passes && h.game.Bounds.Timing == search.Lockstep:
		key += ".first"
	default:
		key += ".taken"
	}
	return words(cmp.Or(key, "play.hint.turn"), "client", clientName(client), "owner", clientName(owner),
		"key", keyOf(h.game.Lock, before, on))
}

// telling is why a step matters, and the client of whom it tells, 0: none; nil: it does not. later: others come first.
func (h *hinter) telling(s *play.Step, later bool) (why Words, of int) {
	switch {
	case s.Choice.Verb >= simulator.FaultVerb:
		return h.fault(s, later), int(s.Choice.Client)
	case s.Choice.Verb == simulator.Orphaned:
		return words("play.hint.orphan", "client", clientName(s.Choice.Client)), int(s.Choice.Client)
	}
	past, present := *s.Run, stateOf(h.steps[0].Before)
	for n, e := range s.Events() {
		past.Events = s.Run.Events[:len(s.Before.Events)+n]
		key, other := whatMatters(&e, &past, present)
		switch {
		case key == "" || key == "enter" && h.steps[0].Choice.Verb != simulator.Pass:
			continue
		case e.Kind == history.Write && h.harm != verdict.StaleWrite && h.harm != verdict.Fenced:
			continue
		case key == "overwrite" && h.game.Lock.Expiry == lock.ExpiryClients:
			key = "overwrite.stamp"
		case key == "enter.both" && s.Before.Local:
			key = "enter.local"
		case key == "enter.both" && h.game.Lock.Family == lock.Majority:
			key = "enter.votes"
		}
		return words("play.hint."+key, "client", clientName(e.Client), "owner", clientName(other),
			"nodes", h.game.Bounds.Nodes, "other", clientName(other), "left", seconds(e.At-s.Before.End),
			"votes", fmt.Sprintf("c1 %d, c2 %d", len(present.keys(1)), len(present.keys(2))),
			"key", keyOf(h.game.Lock, s.Before, e.Node)), e.Client
	}
	return nil, 0
}

// keyOf is what a lock calls the key of it on a server: a key, a node, a row, or the lock.
func keyOf(l lock.Entry, h *history.History, node int) Words {
	switch {
	case h.ZooKeeper:
		return words("play.key.node")
	case h.Database && l.Family == lock.Rows:
		return words("play.key.row")
	case h.Database:
		return words("play.key.lock")
	case h.Nodes > 1 && node > 0:
		return words("play.key.on", "node", fmt.Sprintf("n%d", node))
	}
	return words("play.key")
}

// whatMatters is the key of the text for an event that matters, or "", and the other client that plays a part in it, or
// the owner of the key. past is the run before the event, and present the state of now.
func whatMatters(e *history.Event, past *history.History, present state) (key string, other int) {
	before := stateOf(past)
	owner, inside := before.owner(max(e.Node, 1)), before.insiderBut(e.Client)
	switch {
	case e.Kind == history.Expire && owner > 0:
		return "expire", owner
	case e.Kind == history.Enter && before.stage(e.Client) != verdict.Inside:
		switch heard := past.Events[len(past.Events)-1].Kind == history.Answer; {
		case inside > 0 && present.insiderBut(e.Client) == 0:
			return "enter.both", inside
		case inside > 0:
			return "enter.too", inside
		case heard && len(before.Keys) > 0 && before.lease(e.Client) == 0:
			return "enter.stale", 0
		}
		return "enter", 0
	case e.Kind == history.Resume && before.stage(e.Client) == verdict.Inside:
		return "wake.inside", 0
	case e.Kind == history.Resume:
		return "wake", 0
	case e.Kind == history.Change && e.Client > 0 && e.Key == past.Key && owner > 0 && owner != e.Client:
		switch {
		case e.After == e.Before:
			return "renew", owner
		case e.After != "":
			return "overwrite", owner
		case present.owner(e.Node) != owner:
			return "delete.before", owner
		}
		return "delete", owner
	case e.Kind == history.Write && inside > 0:
		return "write.late", inside
	case e.Kind == history.Write:
		return "write", 0
	}
	return "", 0
}

// fault asks about what a fault strikes, and, once it strikes or where it is a crash, about what is left undone.
func (h *hinter) fault(s *play.Step, later bool) Words {
	key := map[bool]string{true: "play.hint.later", false: "play.hint.now"}[later]
	why, last := words(key, "state", struckWords(h.game.Lock, s)), h.steps[len(h.steps)-1].Choice.Client
	next, all := nextCommand(h.game, s), h.game.Bounds.Budget.Faults()
	n := slices.IndexFunc(all, func(b simulator.FaultBudget) bool { return b.Fault.Verb == s.Choice.Verb })
	commands := h.harm == verdict.WrongDel || h.harm == verdict.Lie // its own command does the harm
	switch key = "play.hint.fault." + all[n].Fault.Name; {
	case later && s.Choice.Verb != faults.Crash.Verb, next == "" && !text.In("en").Has(key): // asked when it strikes
		return why
	case next != "" && (s.Choice.Verb == faults.Crash.Verb || commands && last == s.Choice.Client):
		key += ".next"
	}
	return words(key, "why", why, "client", clientName(s.Choice.Client), "command", next)
}

// nextCommand is the command that a client would send next, were it not for a fault; "": none, or it stops no client.
func nextCommand(g *play.Game, s *play.Step) string {
	client, next := int(s.Choice.Client), ""
	ahead, err := g.Ahead(s.Past, client, false)
	if err != nil || s.Choice.Verb != faults.Crash.Verb && s.Choice.Verb != faults.Pause.Verb {
		return ""
	}
	for n, e := range ahead.Events {
		if n == len(s.Before.Events) && s.Choice != faults.PauseUnsentOf(client) {
			next = "" // what was sent has left
		}
		if e.Kind == history.Send && e.Client == client && len(e.Cmd) > 0 && (n < len(s.Before.Events) || next == "") {
			next = reports.Command(e.Cmd, ahead.Key)
		}
	}
	return next
}

// struckWords is the state of what a fault strikes: of the client, or of the client that is inside by a server's key.
func struckWords(l lock.Entry, s *play.Step) Words {
	at, client, clocks := stateOf(s.Before), int(s.Choice.Client), s.Choice.Verb == faults.ClientClock.Verb
	other, owner, key := at.insiderBut(client), at.owner(max(int(s.Choice.Node), 1)), ""
	of := client
	if of == 0 {
		of = at.insiderBut(0)
	}
	switch {
	case clocks && other > 0:
		key = "clock"
	case clocks && l.Expiry == lock.ExpiryClients && at.stage(client) == verdict.Idle:
		key = "clock.idle"
	case s.Choice.Verb == faults.ServerList.Verb:
		key = "list"
	case of == 0 && owner == 0:
		key = "free"
	case of == 0 && s.Choice.Verb == faults.Failover.Verb && !replicated(s.Before):
		key = "key.alone"
	case of == 0:
		key = "key"
	case s.Choice.Verb == faults.Delay.Verb && at.stage(of) == verdict.Inside && slices.ContainsFunc(s.Before.Events,
		func(e history.Event) bool { return e.Kind == history.Read && e.Client == of }):
		key = "write"
	default:
		key = at.named(l, of)
	}
	return words("play.hint.at."+key, "client", clientName(of), "other", clientName(other), "owner", clientName(owner),
		"key", keyOf(l, s.Before, max(int(s.Choice.Node), 1)))
}

// named is the end of the key of the text for the state of a client: no more than what matters.
func (s state) named(l lock.Entry, client int) string {
	at, lease := s.Clients[client-1], s.lease(client)
	switch acquiring := at.Stage == verdict.Acquiring; {
	case lease == history.Forever && !l.Sessions() && (acquiring || at.Stage == verdict.Inside):
		return "forever"
	case acquiring && lease > 0:
		return "holds"
	case acquiring && l.Expiry == lock.ExpiryClients:
		return "stamp"
	}
	return at.Name()
}

// replicated reports whether a replica has caught up since the key changed last.
func replicated(h *history.History) bool {
	for _, e := range slices.Backward(h.Events) {
		if e.Kind == history.Replicate || e.Kind == history.Change {
			return e.Kind == history.Replicate
		}
	}
	return false
}

// blamed is the client of a step, or, of what strikes a server and of time, who is inside or has the key; 0: nobody.
func blamed(s *play.Step) (client int) {
	before := stateOf(s.Before)
	return cmp.Or(int(s.Choice.Client), before.insiderBut(0), before.owner(max(int(s.Choice.Node), 1)))
}

// whyLost says why a harm is out of reach after a step: what keeps it from happening, if it is the same in each of the
// runs that follow, or what holds in all of them; nil: nothing.
func whyLost(l lock.Entry, s *play.Step, runs []*history.History, harm verdict.Word) Words {
	before, node, client := stateOf(s.Before), max(int(s.Choice.Node), 1), blamed(s)
	key, why := closed(l, s, client, runs[0], harm)
	finds, all, same := []string{"asked", "nothing"}, true, true
	for _, run := range runs {
		one, other := closed(l, s, client, run, harm)
		all, same = all && slices.Contains(finds, one), same && other["en"] == why["en"]
	}
	switch {
	case same && why != nil:
		return why
	case all && key != "":
		isGET := func(e history.Event) bool { return len(e.Cmd) > 0 && e.Cmd[0] == "GET" }
		gets := slices.ContainsFunc(runs[0].Events, isGET)
		early := map[bool]string{true: ".pause"}[gets && s.Choice.Verb == faults.Pause.Verb]
		return words("play.lost.asks"+early, "client", clientName(client))
	case s.Choice.Verb < simulator.FaultVerb:
		return nil
	}
	key = "play.lost.met"
	switch {
	case s.Choice.Verb == faults.ServerList.Verb:
		key = "play.lost.list"
	case s.Choice.Verb == faults.NodeClock.Verb && s.Choice.D < 0:
		key = "play.lost.clock"
	case client > 0 && before.lease(client) == 0 && before.stage(client) != verdict.Inside:
		key = "play.lost.none-held"
	case s.Choice.Client == 0 && before.owner(node) == 0:
		key = "play.lost.free"
	case s.Choice.Verb == faults.Failover.Verb && replicated(s.Before):
		key = "play.lost.replicated"
	}
	return words(key, "state", struckWords(l, s), "client", clientName(client), "key", keyOf(l, s.Before, node))
}

// closed is the first of what happens to a client, in the attempt of a step, that keeps a harm away; "": nothing.
func closed(
	l lock.Entry, s *play.Step, client int, ahead *history.History, harm verdict.Word,
) (key string, why Words) {
	sent := ""
	for n := len(s.Before.Events); client > 0 && n < len(ahead.Events); n++ {
		past, e := *ahead, &ahead.Events[n]
		past.Events = ahead.Events[:n]
		if e.Kind == history.Acquire && e.Client == client && n >= len(s.Run.Events) {
			break
		}
		if e.Kind == history.Apply && e.Client == client {
			sent = reports.Command(e.Cmd, ahead.Key)
		}
		if key, other := closes(e, stateOf(&past), s, client, harm); key != "" {
			left := e.At - s.Before.End
			if key == "sent" {
				left = e.Until - e.At
			}
			return key, words("play.lost."+key, "client", clientName(client), "command", sent, "left", seconds(left),
				"owner", clientName(other), "key", keyOf(l, s.Before, e.Node))
		}
	}
	return "", nil
}

// closes is the key of the text for an event that keeps a harm from happening, and the owner; at: the state before.
func closes(e *history.Event, at state, s *play.Step, client int, harm verdict.Word) (key string, owner int) {
	owner = at.owner(max(e.Node, 1))
	alone, releases := at.insiderBut(client) == 0, at.stage(client) == verdict.Releasing && e.Node > 0
	switch crashed, of := s.Choice.Verb == faults.Crash.Verb, e.Key == s.Run.Key; {
	case e.Kind == history.Expire && harm == verdict.Deadlock && owner == client && e.At == s.Before.End:
		key = "dies"
	case e.Kind == history.Expire && harm == verdict.Deadlock && owner == client:
		key = "ends"
	case e.Kind == history.Expire && harm == verdict.Orphan && owner == client:
		key = "unasked"
	case e.Client != client:
	case e.Kind == history.Change && of && crashed && e.After != "" && e.Until != history.Forever:
		key = "sent"
	case e.Kind == history.Change && of && e.After == "" && owner == client && (alone || harm == verdict.Orphan):
		key = "released"
	case (e.Kind == history.Timeout || e.Kind == history.Broken) && at.stage(client) == verdict.Acquiring:
		key = map[bool]string{false: "gaveup"}[harm == verdict.Orphan] // which wants it to
	case e.Kind == history.Refuse && slices.Contains(play.Insiders, harm):
		key = "refused"
	case e.Kind == history.Apply && releases && owner == 0:
		key = "nothing"
	case e.Kind == history.Apply && releases && owner != client:
		key = "asked"
	case e.Kind == history.Leave && alone && harm == verdict.Overlap:
		key = "left"
	case e.Kind == history.Write && alone && (harm == verdict.StaleWrite || harm == verdict.Fenced):
		key = "wrote"
	}
	return key, owner
}

// A state is that of all clients and keys at one moment of a run. Clients and servers are numbered from 1.
type state struct{ reports.State }

func stateOf(h *history.History) state { return state{reports.StateOf(h)} }

func (s state) stage(client int) verdict.Stage { return s.Clients[client-1].Stage }

// owner returns the owner of the key on a server; 0: there is none.
func (s state) owner(node int) int {
	if node < 1 || node > len(s.Keys) || !s.Keys[node-1].Held {
		return 0
	}
	return s.Keys[node-1].Owner
}

// inside returns the clients in the critical section.
func (s state) inside() (in []int) {
	for c, at := range s.Clients {
		if at.Stage == verdict.Inside {
			in = append(in, c+1)
		}
	}
	return in
}

// insiderBut returns a client that is inside, other than one; 0: there is none.
func (s state) insiderBut(but int) int {
	in := append(slices.DeleteFunc(s.inside(), func(c int) bool { return c == but }), 0)
	return in[0]
}

// keys returns the keys of a client.
func (s state) keys(client int) []reports.KeyState {
	return lists.Pick(s.Keys, func(k reports.KeyState) bool { return k.Held && k.Owner == client })
}

// lease returns the end of the first key of a client; 0: it has none.
func (s state) lease(client int) (until time.Duration) {
	for _, k := range s.keys(client) {
		if until == 0 || k.Until < until {
			until = k.Until
		}
	}
	return until
}

// seconds is a length of time in seconds, to a tenth and never nothing.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(max(math.Round(d.Seconds()*10)/10, 0.1), 'f', -1, 64)
}
