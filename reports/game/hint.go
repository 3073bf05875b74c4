package game

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// A hint is a move on a shortest way to a harm, with the reason: the next event on that way which matters, and what it
// finds.
type hint struct {
	Move   int   `json:"move"` // from 0
	Why    Words `json:"why"`
	Left   int   `json:"left"`
	Faults int   `json:"faults"`
}

// A reason is why a way goes on as it does.
type reason struct {
	step   int // of the way, from the present position on
	client int // whose event it is; 0: a server's
	why    Words
}

// hintOf is the hint at a position from which a way leads to a harm.
func hintOf(ctx context.Context, g *play.Game, p *play.Position, w play.Way, harm verdict.Word) (hint, error) {
	choices := p.Trace.Choices
	steps, err := g.Steps(w.Choices, len(choices))
	if err != nil {
		return hint{}, err
	}
	r := reasonOf(g, steps, harm)
	if next := firstOf(p, steps, r); next != steps[0].Choice {
		w, err = g.Sooner(w, choices, next, func(from []simulator.Choice) (play.Way, error) { return g.Way(ctx, from, harm) })
		if err != nil {
			return hint{}, err
		}
		if steps, err = g.Steps(w.Choices, len(choices)); err != nil {
			return hint{}, err
		}
		r = reasonOf(g, steps, harm)
	}
	for i, m := range p.Moves {
		if m.Choice == steps[0].Choice {
			return hint{i, r.why, len(steps), w.Faults}, nil
		}
	}
	return hint{}, i18n.Errorf("error.play.hint")
}

// firstOf is the move that leads most directly to a reason: its own choice if that is possible now, and else a move of the
// same client.
func firstOf(p *play.Position, steps []play.Step, r reason) simulator.Choice {
	own := steps[0].Choice
	if int(own.Client) == r.client || r.step == 0 {
		return own
	}
	for _, m := range p.Moves {
		if m.Choice == steps[r.step].Choice {
			return m.Choice
		}
	}
	for _, m := range p.Moves {
		if !m.Fault && r.client > 0 && int(m.Choice.Client) == r.client {
			return m.Choice
		}
	}
	return own
}

// reasonOf returns the first event of a way that matters. A refusal, or a wait without result, matters only where nothing
// else does; an entry, only after what another client has to do first for its own sake.
func reasonOf(g *play.Game, steps []play.Step, harm verdict.Word) reason {
	var vain, enters *reason
	for i := range steps {
		s := &steps[i]
		r := reason{step: i, client: int(s.Choice.Client)}
		r.why = telling(g, s, steps[0].Before, i > 0)
		own := r.client == int(steps[0].Choice.Client)
		switch entering := entersBy(s); {
		case r.why != nil && (own || !entering && enters == nil):
			return withTime(g, steps, r)
		case r.why != nil && enters == nil:
			enters = &r
		case vain == nil:
			if r.why = inVain(s); r.why != nil {
				vain = &r
			}
		}
	}
	switch {
	case enters != nil:
		return withTime(g, steps, *enters)
	case vain != nil:
		return *vain
	}
	return reason{why: words("play.hint.last", "harm", string(harm))}
}

// entersBy reports whether a client gets in by a step.
func entersBy(s *play.Step) bool {
	return slices.ContainsFunc(s.Events(), func(e history.Event) bool { return e.Kind == history.Enter })
}

// withTime adds to a reason that time has to pass, where the next move is another client's: in lockstep time passes only
// when nothing else can happen.
func withTime(g *play.Game, steps []play.Step, r reason) reason {
	next, passes := steps[0].Choice, func(s play.Step) bool { return s.Choice.Verb == simulator.Pass }
	if g.Bounds.Timing != study.Lockstep || next.Verb == simulator.Pass || int(next.Client) == r.client || !slices.ContainsFunc(steps[:r.step+1], passes) {
		return r
	}
	why := r.why
	r.why = sayAll(func(lang string) string { return text.Say(lang, "play.hint.time", "why", why[lang]) })
	return r
}

// clientWord is the name of a client, from 1.
func clientWord(c int) string { return fmt.Sprintf("c%d", c) }

// telling says why a step matters; nil: it does not. now is the run up to the present; later: something else comes first.
func telling(g *play.Game, s *play.Step, now *history.History, later bool) Words {
	if s.Choice.Verb >= simulator.FaultVerb {
		return faultWords(g, s, later)
	}
	at := reports.StateOf(s.Before)
	if s.Choice.Verb == simulator.Orphaned {
		return words("play.hint.orphan", "client", clientWord(int(s.Choice.Client)))
	}
	for _, e := range s.Events() {
		client := clientWord(e.Client)
		owner := ownerIn(at, e.Node)
		switch {
		case e.Kind == history.Expire && owner > 0:
			return words("play.hint.expire", "client", clientWord(owner), "left", seconds(e.At-s.Before.End))
		case e.Kind == history.Expire:
			return words("play.hint.expire.key", "left", seconds(e.At-s.Before.End))
		case e.Kind == history.Enter && at.Clients[e.Client-1].Stage != verdict.Inside:
			if other := insiderBut(at, e.Client); other > 0 {
				if insiderBut(reports.StateOf(now), e.Client) == 0 {
					return words("play.hint.enter.both", "client", client, "other", clientWord(other))
				}
				return words("play.hint.enter.too", "client", client, "other", clientWord(other))
			}
			return words("play.hint.enter", "client", client)
		case e.Kind == history.Resume && at.Clients[e.Client-1].Stage == verdict.Inside:
			return words("play.hint.wake.inside", "client", client)
		case e.Kind == history.Resume:
			return words("play.hint.wake", "client", client)
		case e.Kind == history.Change && e.Client > 0 && e.Key == s.Run.Key && owner > 0:
			if key := changeOf(&e, owner); key != "" {
				if key == "delete" && ownerIn(reports.StateOf(now), e.Node) != owner {
					key = "delete.before"
				}
				return words("play.hint."+key, "client", client, "owner", clientWord(owner))
			}
		case e.Kind == history.Write && insiderBut(at, e.Client) > 0:
			return words("play.hint.write.late", "client", client, "other", clientWord(insiderBut(at, e.Client)))
		case e.Kind == history.Write:
			return words("play.hint.write", "client", client)
		}
	}
	return nil
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

// inVain says that a client is refused or waits for an answer that does not come; nil: it does not.
func inVain(s *play.Step) Words {
	at := reports.StateOf(s.Before)
	for _, e := range s.Events() {
		switch {
		case e.Kind == history.Refuse || e.Kind == history.Answer && e.Node > 0:
			if owner := ownerIn(at, max(e.Node, 1)); owner > 0 && owner != e.Client {
				return words("play.hint.vain", "client", clientWord(e.Client), "owner", clientWord(owner))
			}
		case e.Kind == history.Timeout || e.Kind == history.Broken:
			return words("play.hint.timeout", "client", clientWord(e.Client))
		}
	}
	return nil
}

// faultWords says what a fault strikes.
func faultWords(g *play.Game, s *play.Step, later bool) Words {
	name := faultName(g, s.Choice)
	return sayAll(func(lang string) string {
		state := struckWords(lang, g, s)
		if later {
			return text.Say(lang, "play.hint.later", "fault", name, "state", state)
		}
		do := "play.hint.do." + name
		if !text.In(lang).Has(do) {
			do = "play.hint.do"
		}
		return text.Say(lang, "play.hint.now", "state", state, "do", text.Say(lang, do, "fault", name))
	})
}

// faultName is the name of the fault that a choice is.
func faultName(g *play.Game, c simulator.Choice) string {
	budget, _ := g.Bounds.Budget.Parse()
	for _, b := range budget {
		if b.Fault.Verb == c.Verb {
			return b.Fault.Name
		}
	}
	return ""
}

// struckWords is the state of what a fault strikes: of the client, or of the client that is inside by a server's key.
func struckWords(lang string, g *play.Game, s *play.Step) string {
	at := reports.StateOf(s.Before)
	client := int(s.Choice.Client)
	if other := insiderBut(at, client); client > 0 && other > 0 && faultName(g, s.Choice) == "client-clock" {
		return text.Say(lang, "play.hint.at.clock", "client", clientWord(client), "other", clientWord(other))
	}
	if client == 0 {
		client = insiderBut(at, 0)
	}
	if client == 0 {
		owner := ownerIn(at, max(int(s.Choice.Node), 1))
		if owner == 0 {
			return text.Say(lang, "play.hint.at.free")
		}
		return text.Say(lang, "play.hint.at.key", "owner", clientWord(owner))
	}
	stage, lease := at.Clients[client-1], leaseOf(at, client)
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
	return text.Say(lang, "play.hint.at."+key, "client", clientWord(client), "left", seconds(lease-s.Before.End))
}

// ownerIn returns the owner of the key on a server, both from 1; 0: there is none.
func ownerIn(s reports.State, node int) int {
	if node < 1 || node > len(s.Keys) || !s.Keys[node-1].Held {
		return 0
	}
	return s.Keys[node-1].Owner
}

// insiderBut returns a client that is inside, other than one; 0: there is none.
func insiderBut(s reports.State, but int) int {
	for c, at := range s.Clients {
		if at.Stage == verdict.Inside && c+1 != but {
			return c + 1
		}
	}
	return 0
}

// leaseOf returns the end of the first key of a client; 0: it has none.
func leaseOf(s reports.State, client int) (until time.Duration) {
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
