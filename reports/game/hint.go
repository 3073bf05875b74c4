package game

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/faults"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// A Hint is a move on a shortest way to a harm, with the reason: the next event on that way which matters, and what
// it finds. Without a way, Move is -1.
type Hint struct {
	Move int   `json:"move"` // from 0
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
	key, why := reasonOf(g, steps, end-before, harm)
	return &Hint{n, words(key, "why", why, "n", n+1, "what", movesOf(at)[n])}, nil
}

// attempt is a hint where nothing leads to the harm: a fault that meets a lock, or else the first move. It looks like
// those that lead there, so that it does not betray that they do not.
func attempt(g *play.Game, at *play.Position, harm verdict.Word) (*Hint, error) {
	held := slices.ContainsFunc(stateOf(at.Outcome.History).Keys, func(k reports.KeyState) bool { return k.Held })
	n := max(slices.IndexFunc(at.Moves, func(m play.Move) bool { return m.Fault == held }), 0)
	if at.Used() > 0 || len(at.Moves) == 0 {
		return nil, i18n.Errorf("play.noway", "harm", harm)
	}
	steps, err := g.Steps(append(slices.Clip(at.Trace.Choices), at.Moves[n].Choice), len(at.Trace.Choices))
	if err != nil {
		return nil, err
	}
	why, _ := telling(g, &steps[0], steps[0].Before, false)
	if why == nil {
		why = words("play.hint.enter", "client", clientName(max(at.Moves[n].Choice.Client, 1)))
	}
	return &Hint{n, words("play.hint", "why", why, "n", n+1, "what", movesOf(at)[n])}, nil
}

// reasonOf returns the reason for the first move of a way, which makes so many of its steps, and the key of the text
// for it: what matters in the move, or else what matters first after it. A refusal, or a wait without result, matters
// only where nothing else does.
func reasonOf(g *play.Game, steps []play.Step, own int, harm verdict.Word) (key string, why Words) {
	waits, passes := Words(nil), false
	for i := range steps {
		why, inVain := telling(g, &steps[i], steps[0].Before, i >= own)
		passes = passes || steps[i].Choice.Verb == simulator.Pass
		switch {
		case why == nil:
		case inVain:
			if waits == nil {
				waits = why
			}
		case i < own || steps[i].Choice.Verb >= simulator.FaultVerb:
			return "play.hint", why
		case passes && g.Bounds.Timing == search.Lockstep:
			return "play.hint.time", why
		default:
			return "play.hint.then", why
		}
	}
	if waits != nil {
		return "play.hint", waits
	}
	return "play.hint", words("play.hint.last", "harm", harm)
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
		if key == "delete" || key == "renew" {
			key += known(s.Before, e.Client)
		}
		why = words("play.hint."+key, "client", clientName(e.Client), "owner", clientName(other),
			"other", clientName(other), "left", seconds(e.At-s.Before.End))
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
// has read the key, and found it to be its own.
func known(h *history.History, client int) string {
	n := len(h.Events) - 1
	for ; n >= 0 && (h.Events[n].Kind != history.Apply || h.Events[n].Client != client); n-- {
	}
	if n < 0 || len(h.Events[n].Cmd) == 0 || h.Events[n].Cmd[0] != "GET" {
		return ".blind"
	}
	past := *h
	past.Events = h.Events[:n]
	if stateOf(&past).owner(h.Events[n].Node) != client {
		return ".late"
	}
	return ".believing"
}

// faultWords says what a fault strikes.
func faultWords(g *play.Game, s *play.Step, later bool) Words {
	name, do := "", "play.hint.do"
	for _, b := range g.Bounds.Budget.Faults() {
		if b.Fault.Verb == s.Choice.Verb {
			name = b.Fault.Name
		}
	}
	struck := struckWords(s, name)
	if later {
		return words("play.hint.later", "fault", name, "state", struck)
	}
	if own := do + "." + name; text.In("en").Has(own) {
		do = own
	}
	return words("play.hint.now", "state", struck, "do", words(do, "fault", name))
}

// struckWords is the state of what a fault strikes: of the client, or of the client that is inside by a server's key.
func struckWords(s *play.Step, fault string) Words {
	at, client := stateOf(s.Before), int(s.Choice.Client)
	if other := at.insiderBut(client); client > 0 && other > 0 && fault == "client-clock" {
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

// spent names a fault, and says what became of the key after a crash, or else what the fault met.
func spent(s *play.Step) []Words {
	e, sent := s.Events()[0], ""
	what := words("play.lost.fault")
	if key := "play.lost." + e.Name(); text.In("en").Has(key) {
		what = words(key, "client", clientName(e.Client))
	}
	for _, e := range s.Before.Events {
		if of := e.Client == int(s.Choice.Client) && len(e.Cmd) > 0; of && e.Kind == history.Send {
			sent = strings.ToUpper(e.Cmd[0])
		} else if of && e.Kind == history.Apply {
			sent = ""
		}
	}
	k, crashed := stateOf(s.Run).Keys, s.Choice.Verb == faults.Crash.Verb
	switch {
	case crashed && sent != "":
		return []Words{what, words("play.lost.sent", "command", sent)}
	case crashed && len(k) == 1 && k[0].Held && k[0].Until < history.Forever:
		return []Words{what, words("play.lost.ends", "left", seconds(k[0].Until-s.Run.End))}
	}
	return []Words{what, words("play.lost.met", "state", struckWords(s, ""))}
}

// outOf names the clients that have used all their attempts.
func outOf(p *play.Position, attempts int) (all []Words) {
	asked := map[int]int{}
	for _, e := range p.Outcome.History.Events {
		asked[e.Client] = max(asked[e.Client], e.Lease)
	}
	for i, c := range stateOf(p.Outcome.History).Clients {
		if c.Stage == verdict.Idle && asked[i+1] >= attempts {
			all = append(all, words("play.lost.used", "client", clientName(i+1)))
		}
	}
	return all
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

// lease returns the end of the first key of a client; 0: it has none.
func (s state) lease(client int) (until time.Duration) {
	for _, k := range s.Keys {
		if k.Held && k.Owner == client && (until == 0 || k.Until < until) {
			until = k.Until
		}
	}
	return until
}

// seconds is a length of time in seconds, to a tenth and never nothing.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(max(math.Round(d.Seconds()*10)/10, 0.1), 'f', -1, 64)
}
