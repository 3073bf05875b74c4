package game

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Format is the version of the JSON of this package; new fields do not change it. Version 2 left out fields that
// repeated the timeline, and version 3 what a page puts together to sentences.
const Format = 3

// A Run is a run to be watched.
type Run struct {
	Version  int               `json:"version"`
	Lock     string            `json:"lock"`
	Title    Words             `json:"title"`
	Verdicts []verdict.Word    `json:"verdicts"`
	Link     string            `json:"link,omitempty"`
	Moving   *reports.Run      `json:"moving,omitempty"`   // nil: there is nothing to be shown
	Listings []reports.Listing `json:"listings,omitempty"` // the code in which its clients are
}

// runOf returns a run under the title of its lock, without its link; with its story, if that is wanted.
func runOf(o *race.Outcome, story bool) Run {
	r := Run{Version: Format, Lock: o.Lock.ID, Title: titled(text.LockTitle, o.Lock.ID)}
	r.Verdicts = append([]verdict.Word{}, o.Verdicts...)
	if o.History == nil {
		return r
	}
	moving, listings := reports.RunOf(o.History, o.Judgement, o.Verdicts, text.Languages(), story)
	var book reports.Book
	book.Add("", moving, listings)
	r.Moving, r.Listings = moving, book.Listings
	return r
}

// A Position is a position of a game.
type Position struct {
	Run
	Bounds string  `json:"bounds"`
	Rules  Words   `json:"rules"` // who plays, how often and with what times
	Steps  int     `json:"steps"`
	Faults []Fault `json:"faults"`
	Moves  []Move  `json:"moves"`
	Did    Words   `json:"did,omitempty"` // what happened since the move before, if it was made now
	End    Words   `json:"end,omitempty"` // that the goal is reached, and why

	at *play.Position
}

// A Fault is a fault of the budget.
type Fault struct {
	Title Words `json:"title"`
	Used  int   `json:"used"`
	Most  int   `json:"most"`
}

// A Move is a possible next event, with what it acts on: a picture offers it there.
type Move struct {
	Fault   bool   `json:"fault,omitempty"`
	Said    Words  `json:"said"`
	Kind    string `json:"kind"`              // arrive, answer, pass, …, or the name of the fault
	Client  int    `json:"client,omitempty"`  // from 1
	Node    int    `json:"node,omitempty"`    // server, from 1
	Message int    `json:"message,omitempty"` // one that is on its way, as reports.Message.ID
}

// positionOf returns a position of a game for a harm, with the lines of the lock's code.
func positionOf(ctx context.Context, g *play.Game, at *play.Position, harm verdict.Word) (*Position, error) {
	said, err := movesOf(ctx, g, at, harm)
	p := &Position{
		Run: runOf(withCode(g, at), false), Bounds: g.Bounds.String(), Rules: rules(g),
		Steps: len(at.Trace.Choices), Faults: []Fault{}, Moves: []Move{}, at: at,
	}
	p.Link, p.Verdicts = at.Trace.Link(), append([]verdict.Word{}, at.Verdicts...)
	p.Moving.Verdicts = p.Verdicts
	for _, f := range at.Faults {
		p.Faults = append(p.Faults, Fault{budgeted(f.FaultBudget), f.Used, f.Times})
	}
	for i, said := range said {
		p.Moves = append(p.Moves, moveOf(at, &at.Moves[i], said))
	}
	return p, err
}

// withCode returns the run of a position with the lines of the lock's code, unless it cannot be played with them.
func withCode(g *play.Game, at *play.Position) *race.Outcome {
	watched, err := search.ReplayWithCodeOn(g.Lock, at.Trace)
	if err != nil || len(watched.History.Events) != len(at.Outcome.History.Events) {
		return at.Outcome
	}
	o, h := *at.Outcome, *at.Outcome.History
	h.Events = slices.Clone(h.Events)
	for i := range h.Events {
		h.Events[i].Code = watched.History.Events[i].Code
	}
	o.History = &h
	return &o
}

func moveOf(at *play.Position, m *play.Move, said Words) Move {
	kind, _, _ := strings.Cut(m.Name, " ")
	j := Move{Fault: m.Fault, Said: said, Kind: kind, Client: int(m.Choice.Client)}
	if m.Choice.Verb != simulator.Choose { // whose Node is a way to go on
		j.Node = int(m.Choice.Node)
	}
	before := at.Outcome.History.Events
	if len(m.Run.Events) > len(before) {
		id := m.Run.Events[len(before)].Msg
		if id > 0 && slices.ContainsFunc(before, func(e history.Event) bool { return e.Msg == id }) {
			j.Message = id
		}
	}
	return j
}

// aim says that a harm, "" for any, is to be brought about.
func aim(harm verdict.Word) Words {
	if harm == "" {
		return words("play.goal.any")
	}
	return words("play.goal", "harm", harm, "want", words("play.want."+string(harm)))
}

// A Judged judges the answer that a harm cannot be brought about.
type Judged struct {
	Right bool  `json:"right"`
	Said  Words `json:"said"`
}

// judge judges the answer that a harm, "" for any, cannot be brought about.
func judge(truth play.Truth, harm verdict.Word) *Judged {
	switch {
	case !truth.Known:
		return &Judged{false, words("play.unknown", "states", truth.States)}
	case truth.Possible:
		return &Judged{false, words("play.can", "faults", truth.Par)}
	}
	return &Judged{true, words("play.right", "proved", proved(truth, harm))}
}

// proved says what a search has proved of a harm, "" for any.
func proved(truth play.Truth, harm verdict.Word) Words {
	never := words("play.never." + cmp.Or(string(harm), "any"))
	return words("play.proved", "never", never, "states", truth.States)
}

// rules says with what times one plays, who, how often, and what is unusual.
func rules(g *play.Game) Words {
	b, names, all := g.Bounds, []Words(nil), []Words(nil)
	for c := range b.Clients {
		names = append(names, same(clientName(c+1)))
	}
	key := map[bool]string{true: "play.rules.retries", false: "play.rules"}[b.Retries > 0]
	say := func(applies bool, key string) {
		if applies {
			work := seconds(cmp.Or(b.Work, b.TTL*2/5))
			all = append(all, words("play.rules."+key, "work", work, "lease", seconds(b.TTL), "nodes", b.Nodes,
				"patience", sayAll(func(lang string) string { return reports.InWords(lang, g.Patience()) })))
		}
	}
	inTime, session := b.Timing != search.AnyTiming, g.Lock.Expiry == lock.ExpirySession
	say(inTime, "work")
	say(inTime && !session && g.Lock.Expiry != lock.ExpiryNone, "lease")
	say(inTime && session, "session")
	all = append(all, words(key, "clients", join("play.rules.and", names...), "times", counted("time", b.Attempts),
		"asks", counted("time", 1+max(b.Retries, 0))))
	say(inTime, "time")
	late := strings.Contains(string(b.Budget), "delay") || strings.Contains(string(b.Budget), "lose")
	say(inTime && late, "patience")
	say(!inTime, "any")
	say(b.Nodes > 1, "nodes")
	say(b.Fenced, "fenced")
	return join("part.sentences", all...)
}

// A Mended is an attack on another lock.
type Mended struct {
	Run             // after the same moves
	Possible bool   `json:"possible"` // by the same faults, in some order
	Way      string `json:"way"`      // a link to the shortest way to the harm, or to the run if there is none
	// Said is what the moves have come to, and what a search of every way has found.
	Said []Words `json:"said"`

	outcome *race.Outcome
}

// mendedOf returns the attack on another lock, of which a search has tried every way to a harm.
func mendedOf(m *play.Mended, harm verdict.Word) *Mended {
	j := &Mended{Run: runOf(m.Run, false), outcome: m.Run}
	j.Link = m.Run.Trace.Link()
	j.Way = j.Link
	var found []string
	for _, w := range m.Search.Witnesses {
		if found = append(found, string(w.Verdict)); w.Verdict == harm {
			j.Possible, j.Way = true, w.Trace.Link()
		}
	}
	key := "play.mend.holds"
	switch {
	case j.Possible:
		key = "play.mend.still"
	case !m.Search.Complete:
		key = "play.mend.unknown"
	case len(found) > 0:
		key = "play.mend.other"
	}
	b := m.Search.Bounds
	j.Said = []Words{
		words("play.mend.same", "lock", j.Lock, "verdict", m.Run.Verdicts[0]),
		words(key, "lock", j.Lock, "harm", harm, "faults", orNone(b.Budget), "states", m.Search.States,
			"clients", b.Clients, "attempts", b.Attempts, "found", strings.Join(found, ", ")),
	}
	return j
}
