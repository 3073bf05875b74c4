package game

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports"
	"locklab/scenarios/play"
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
	steps, err := g.Steps(w.Choices, before)
	if n < 0 || err != nil {
		return nil, cmp.Or(err, error(i18n.Errorf("error.play.hint")))
	}
	idea := ideaOf(g, steps, end-before, harm)
	ends := func(k reports.KeyState) bool { return k.Held && k.Until != history.Forever }
	if harm == verdict.Deadlock && slices.ContainsFunc(stateOf(at.Outcome.History).Keys, ends) {
		idea = words("play.hint.back")
	}
	if before > 0 { // a clock is asked about where it was just set
		c := at.Trace.Choices[before-1]
		if c.Verb == faults.ClientClock.Verb && g.Lock.Expiry == lock.ExpiryClients {
			key := map[bool]string{true: "play.hint.clock.fast", false: "play.hint.clock.slow"}[c.D > 0]
			idea = words(key, "client", clientName(c.Client))
		}
	}
	return &Hint{n, idea, words("play.hint", "n", n+1, "what", movesOf(at)[n])}, nil
}

// ideaOf is the idea of the first move of a way, which makes so many of its steps: what matters in the move, or else
// what matters first after it. A refusal, or a wait without result, matters only where nothing else does.
func ideaOf(g *play.Game, steps []play.Step, own int, harm verdict.Word) Words {
	var waits Words
	for i := range steps {
		why, inVain := telling(g, &steps[i], steps[0].Before, i >= own)
		switch {
		case why == nil:
		case inVain:
			if waits == nil {
				waits = why
			}
		default:
			return why
		}
	}
	if waits != nil {
		return waits
	}
	return words("play.hint.last", "harm", harm)
}

// telling returns the reason why a step matters, or, inVain, what has no effect in it; nil: it does not matter. now is
// the run up to the present; later: something else comes first.
func telling(g *play.Game, s *play.Step, now *history.History, later bool) (why Words, inVain bool) {
	switch {
	case s.Choice.Verb >= simulator.FaultVerb:
		return faultWords(g, s, later), false
	case s.Choice.Verb == simulator.Orphaned:
		return words("play.hint.orphan", "client", clientName(s.Choice.Client)), false
	}
	before, present := stateOf(s.Before), stateOf(now)
	for _, e := range s.Events() {
		key, other := whatMatters(&e, before, present, s.Run.Key)
		vain := key == "vain" || key == "timeout"
		if key == "" || vain && why != nil {
			continue
		}
		switch {
		case key == "delete" || key == "renew":
			key += known(s.Before, e.Client)
		case key == "enter" && g.Bounds.Nodes > 1:
			key = "enter.votes"
		}
		why = words("play.hint."+key, "client", clientName(e.Client), "owner", clientName(other), "nodes", g.Bounds.Nodes,
			"other", clientName(other), "left", seconds(e.At-s.Before.End), "votes", present.votes())
		if !vain {
			return why, false
		}
	}
	return why, true
}

// whatMatters is the key of the text for an event that matters, or is in vain, and the other client that plays a part
// in it, or the owner of the key; "": it does not matter. before is the state before the event, and present that of
// now.
func whatMatters(e *history.Event, before, present state, locked string) (key string, other int) {
	owner := before.owner(max(e.Node, 1))
	switch {
	case e.Kind == history.Expire && owner > 0:
		return "expire", owner
	case e.Kind == history.Expire:
		return "expire.key", 0
	case e.Kind == history.Enter && before.stage(e.Client) != verdict.Inside:
		switch other = before.insiderBut(e.Client); {
		case other == 0 && len(before.Keys) > 0 && before.lease(e.Client) == 0:
			return "enter.stale", 0
		case other == 0:
			return "enter", 0
		case present.insiderBut(e.Client) == 0:
			return "enter.both", other
		}
		return "enter.too", other
	case e.Kind == history.Resume && before.stage(e.Client) == verdict.Inside:
		return "wake.inside", 0
	case e.Kind == history.Resume:
		return "wake", 0
	case e.Kind == history.Change && e.Client > 0 && e.Key == locked && owner > 0:
		if key = changeOf(e, owner); key == "delete" && present.owner(e.Node) != owner {
			key = "delete.before"
		}
		return key, owner
	case e.Kind == history.Write && before.insiderBut(e.Client) > 0:
		return "write.late", before.insiderBut(e.Client)
	case e.Kind == history.Write:
		return "write", 0
	case e.Kind == history.Refuse || e.Kind == history.Answer && e.Node > 0:
		if owner > 0 && owner != e.Client {
			return "vain", owner
		}
	case e.Kind == history.Timeout || e.Kind == history.Broken:
		return "timeout", 0
	}
	return "", 0
}

// changeOf is the key of the text for what a client does to the key of an owner; "": nothing that matters.
func changeOf(e *history.Event, owner int) string {
	switch own := e.Client == owner; {
	case e.After == "" && own:
		return "release"
	case e.After == "":
		return "delete"
	case own:
		return ""
	case e.After == e.Before:
		return "renew"
	}
	return "overwrite"
}

// known is the end of the key of a text for what a client knows of the key that it changes: whether its last command
// has read the key, which was another's then.
func known(h *history.History, client int) string {
	for _, e := range slices.Backward(h.Events) {
		if e.Kind == history.Apply && e.Client == client {
			if len(e.Cmd) > 0 && e.Cmd[0] == "GET" {
				return ".late"
			}
			break
		}
	}
	return ".blind"
}

// faultWords asks about what a fault strikes.
func faultWords(g *play.Game, s *play.Step, later bool) Words {
	why := words(map[bool]string{true: "play.hint.later", false: "play.hint.now"}[later], "state", struckWords(s))
	stops := s.Choice.Verb == faults.Crash.Verb || s.Choice.Verb == faults.Pause.Verb
	if next := nextCommand(g, s); stops && next != "" {
		key := map[bool]string{true: "play.hint.next.crash", false: "play.hint.next"}[s.Choice.Verb == faults.Crash.Verb]
		why = words(key, "why", why, "client", clientName(s.Choice.Client), "command", next)
	}
	return why
}

// nextCommand is the command that a client would send next, were it not for a fault; "": none.
func nextCommand(g *play.Game, s *play.Step) string {
	client, next := int(s.Choice.Client), ""
	ahead, err := g.Ahead(s.Past, client, false)
	if err != nil {
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
func struckWords(s *play.Step) Words {
	at, client := stateOf(s.Before), int(s.Choice.Client)
	if other := at.insiderBut(client); client > 0 && other > 0 && s.Choice.Verb == faults.ClientClock.Verb {
		return words("play.hint.at.clock", "client", clientName(client), "other", clientName(other))
	}
	if client == 0 {
		client = at.insiderBut(0)
	}
	owner := at.owner(max(int(s.Choice.Node), 1))
	switch {
	case client == 0 && owner == 0:
		return words("play.hint.at.free")
	case client == 0:
		return words("play.hint.at.key", "owner", clientName(owner))
	}
	stage, lease := at.Clients[client-1], at.lease(client)
	key := stage.Name()
	switch {
	case lease == 0 || s.Before.ZooKeeper && stage.Stage != verdict.Acquiring:
	case stage.Stage == verdict.Inside && lease == history.Forever:
		key = "inside.forever"
	case stage.Stage == verdict.Inside:
		key = "inside.lease"
	case stage.Stage == verdict.Acquiring && lease == history.Forever && !s.Before.ZooKeeper:
		key = "acquiring.forever"
	case stage.Stage == verdict.Acquiring:
		key = "acquiring.holds"
	}
	return words("play.hint.at."+key, "client", clientName(client), "left", seconds(lease-s.Before.End))
}

// struck is the client of the last of choices, or, if that is of none, of the last fault before it; 0: there is none.
func struck(choices []simulator.Choice) (client int) {
	for i, c := range choices {
		if c.Client > 0 && (c.Verb >= simulator.FaultVerb || i == len(choices)-1) {
			client = int(c.Client)
		}
	}
	return client
}

// askers are the names of the clients, but the probe, that ask for the lock in runs from their event n on.
func askers(n int, runs ...*history.History) string {
	names := map[string]bool{}
	for _, h := range runs {
		for _, e := range h.Events[n:] {
			if e.Kind == history.Acquire && e.Client != h.Probe {
				names[clientName(e.Client)] = true
			}
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}

// whyLost says why a harm is out of reach after a step, where a client goes on at once, and where it goes on only when
// all others are done: what keeps it from happening, if it is the same in both, or what holds in both; nil: nothing.
func whyLost(s *play.Step, client int, atOnce, last *history.History, harm verdict.Word) Words {
	key, why := closed(s, client, atOnce, harm)
	other, late := closed(s, client, last, harm)
	switch finds := []string{"asked", "nothing"}; {
	case key != other && slices.Contains(finds, key) && slices.Contains(finds, other):
		return words("play.lost.asks", "client", clientName(client))
	case why["en"] == late["en"] && why != nil:
		return why
	case s.Choice.Verb < simulator.FaultVerb:
		return nil
	}
	return words("play.lost.met", "state", struckWords(s))
}

// closed is the first of what happens to a client after a step that keeps a harm from happening; "": nothing.
func closed(s *play.Step, client int, ahead *history.History, harm verdict.Word) (key string, why Words) {
	sent := ""
	for n := len(s.Before.Events); client > 0 && n < len(ahead.Events); n++ {
		past, e := *ahead, &ahead.Events[n]
		past.Events = ahead.Events[:n]
		if e.Kind == history.Apply && e.Client == client {
			sent = reports.Command(e.Cmd, ahead.Key)
		}
		if key, other := closes(e, stateOf(&past), s, client, harm); key != "" {
			left := e.At - s.Before.End
			if key == "sent" {
				left = e.Until - e.At
			}
			return key, words("play.lost."+key, "client", clientName(client), "command", sent, "left", seconds(left),
				"owner", clientName(other))
		}
	}
	return "", nil
}

// closes is the key of the text for an event after a step that keeps a harm from happening, and the owner of the key;
// "": it does not. at is the state before it.
func closes(e *history.Event, at state, s *play.Step, client int, harm verdict.Word) (key string, owner int) {
	owner = at.owner(max(e.Node, 1))
	alone, releases := at.insiderBut(client) == 0, at.stage(client) == verdict.Releasing && e.Node > 0
	switch crashed, of := s.Choice.Verb == faults.Crash.Verb, e.Key == s.Run.Key; {
	case e.Kind == history.Expire && harm == verdict.Deadlock && owner == client && e.At == s.Before.End:
		key = "dies"
	case e.Kind == history.Expire && harm == verdict.Deadlock && owner == client:
		key = "ends"
	case e.Client != client:
	case e.Kind == history.Change && of && crashed && e.After != "" && e.Until != history.Forever:
		key = "sent"
	case e.Kind == history.Change && of && e.After == "" && owner == client && alone:
		key = "released"
	case (e.Kind == history.Timeout || e.Kind == history.Broken) && at.stage(client) == verdict.Acquiring:
		key = "gaveup"
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
	for _, c := range s.inside() {
		if c != but {
			return c
		}
	}
	return 0
}

// keys returns the keys of a client.
func (s state) keys(client int) []reports.KeyState {
	return lists.Pick(s.Keys, func(k reports.KeyState) bool { return k.Held && k.Owner == client })
}

// votes are the numbers of keys of the first two clients.
func (s state) votes() string { return fmt.Sprintf("c1 %d, c2 %d", len(s.keys(1)), len(s.keys(2))) }

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
