// Package play makes a player the scheduler. A [Game] is one lock within the bounds of a search; a [Position] is what a
// player sees after some choices, as plain data. The choices are those that the search itself tries, so every game is a
// run that the search covers: what it calls par is the best that a player can do, and a harm that it proves impossible
// cannot be played. What is no decision plays itself, so that a player meets fewer orders than the search; each level
// can still be won by the fewest faults, which a test tries.
//
// Nothing is modelled for the game: positions are runs of the lock's own code on the simulator, hints and shortest ways
// are searches from the position on. To take a choice back is to make all choices but the last. A position is a trace,
// and its link is the saved game.
//
// [Levels] is a course through the lab. Package reports/game shows games, in a terminal and as JSON for a page.
package play

import (
	"context"
	"errors"
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/lists"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// MaxStates is the number of states that a hint or a par may need; larger games have none.
const MaxStates = 1_000_000

// DefaultBounds are those of a game in which most of what there is can be found: in
// lockstep, so that a move is an event and not a fraction of a second; with the lease that races have.
func DefaultBounds() search.Bounds {
	b := search.DefaultBounds()
	b.Timing, b.TTL = search.Lockstep, race.Standard().TTL
	return b
}

// A Game is one lock within bounds. It is used by one goroutine at a time. Close it.
type Game struct {
	Lock   lock.Entry
	Bounds search.Bounds // settled

	rules    *explore.Model
	game     *explore.Game
	searched *search.Search // by Search
}

// New makes a game. With b.Nodes 0 the lock gets search.FewServers. With search.AnyTiming it
// makes the search of the game first, for that finds whether a clock is read, and so whether
// waiting is bounded. The error says what is wrong with the bounds, or is ctx's.
func New(ctx context.Context, entry lock.Entry, b search.Bounds) (*Game, error) {
	if b.Nodes == 0 {
		b.Nodes = search.FewServers(entry)
	}
	if b.Timing == search.AutoTiming {
		b.Timing = b.Settled(entry).Timing
	}
	if err := b.Check(entry); err != nil {
		return nil, err
	}
	b = b.Settled(entry)
	var searched *search.Search
	if b.Timing == search.AnyTiming {
		var err error
		if searched, err = searchGame(ctx, entry, b); err != nil {
			return nil, err
		}
		b = searched.Bounds
	}
	rules, err := b.Model(entry)
	if err != nil {
		return nil, err
	}
	game, err := explore.NewGame(rules)
	if err != nil {
		return nil, err
	}
	return &Game{Lock: entry, Bounds: b, rules: rules, game: game, searched: searched}, nil
}

// Open makes the game of a trace, which is a position of it.
func Open(ctx context.Context, t simulator.Trace) (*Game, error) {
	entry, err := race.Lock(t.Lock)
	if err != nil {
		return nil, err
	}
	if t.Race != search.SearchID {
		return nil, i18n.Errorf("error.play.race", "race", t.Race, "lock", entry.ID)
	}
	b, err := search.ParseBounds(t.Settings)
	if err != nil {
		return nil, i18n.Errorf("error.replay.bounds", "cause", err)
	}
	return New(ctx, entry, b)
}

// Close frees the simulator.
func (g *Game) Close() { g.game.Close() }

// A Position is a run so far.
type Position struct {
	Trace    simulator.Trace // the position as a link
	Outcome  *race.Outcome   // the run so far, with what the judges say of it
	Verdicts []verdict.Word  // the harms so far, in the order of explore.Words; nil: none
	Now      time.Duration   // true time
	Moves    []Move          // what may happen next; none: the run has ended
	Faults   []Fault
}

// A Move is a choice that is possible in a position, with the run that it leads to.
type Move struct {
	Choice simulator.Choice
	Fault  bool
	Name   string           // as the simulator names the choice
	Run    *history.History // the position's run and what the choice adds to its end
}

// A Fault is one fault of the budget.
type Fault struct {
	simulator.FaultBudget
	Used int
}

// Used counts the faults of the position.
func (p *Position) Used() int { return simulator.FaultsIn(p.Trace.Choices) }

// Has reports whether a harm has happened; "": any.
func (p *Position) Has(harm verdict.Word) bool {
	return harm == "" && len(p.Verdicts) > 0 || slices.Contains(p.Verdicts, harm)
}

// At is the position after choices. The error says which of them is not possible.
func (g *Game) At(choices []simulator.Choice) (*Position, error) {
	run, err := g.game.Replay(choices)
	if err != nil {
		return nil, i18n.Errorf("error.replay.search", "lock", g.Lock.ID, "cause", err)
	}
	moves, err := g.moves(choices, run)
	if err != nil {
		return nil, err
	}
	p := &Position{Trace: g.trace(choices), Outcome: search.OutcomeOf(g.rules, run), Now: run.End}
	p.Outcome.Race, p.Outcome.Trace, p.Faults = g.Bounds.Race(), p.Trace, g.faults(choices)
	p.Verdicts = g.rules.Verdicts(p.Outcome.History, choices)
	p.Outcome.Judgement.Findings = slices.DeleteFunc(p.Outcome.Judgement.Findings, func(f verdict.Finding) bool {
		return !slices.Contains(p.Verdicts, f.Verdict) // what the judges say only because the run ends here
	})
	p.Outcome.History.Open = len(moves) > 0 // who was refused last may ask again
	for _, c := range moves {
		m, err := g.move(p, choices, c)
		if err != nil {
			return nil, err
		}
		p.Moves = append(p.Moves, m)
	}
	return p, nil
}

// moves are those of the search after choices, but no pause ends at the instant at which it began, for that is no
// pause; it does so if nothing else can happen.
func (g *Game) moves(choices []simulator.Choice, run *schedule.Run) ([]simulator.Choice, error) {
	moves, err := g.game.Moves(choices)
	rest := slices.DeleteFunc(slices.Clone(moves), func(c simulator.Choice) bool {
		at, paused := PausedAt(run.Events, int(c.Client))
		return c.Verb == simulator.Resume && paused && at == run.End
	})
	if slices.ContainsFunc(rest, func(c simulator.Choice) bool { return c.Verb < simulator.FaultVerb }) {
		return rest, err
	}
	return moves, err
}

// PausedAt returns the true time at which a client, from 1, was paused last; false: it never was.
func PausedAt(events []history.Event, client int) (at time.Duration, paused bool) {
	for _, e := range events {
		if e.Kind == history.Pause && e.Client == client {
			at, paused = e.At, true
		}
	}
	return at, paused
}

func (g *Game) trace(choices []simulator.Choice) simulator.Trace {
	return simulator.Trace{Lock: g.Lock.ID, Race: search.SearchID, Settings: g.Bounds.String(), Choices: choices}
}

// faults counts the faults among choices.
func (g *Game) faults(choices []simulator.Choice) []Fault {
	return lists.Each(g.Bounds.Budget.Faults(), func(b simulator.FaultBudget) Fault {
		return Fault{b, len(lists.Pick(choices, func(c simulator.Choice) bool { return c.Verb == b.Fault.Verb }))}
	})
}

// move makes a choice.
func (g *Game) move(p *Position, choices []simulator.Choice, c simulator.Choice) (Move, error) {
	run, err := g.game.Replay(append(slices.Clip(choices), c))
	if err != nil {
		return Move{}, err
	}
	h := *p.Outcome.History
	h.Events, h.End, h.Open = race.MergeParallel(run.Events), run.End, true
	return Move{c, c.Verb >= simulator.FaultVerb, g.game.Describe(c), &h}, nil
}

// Search is the search of the game, within MaxStates, made once: what it finds has a par. The error may be ctx's.
func (g *Game) Search(ctx context.Context) (*search.Search, error) {
	if g.searched != nil {
		return g.searched, nil
	}
	s, err := searchGame(ctx, g.Lock, g.Bounds)
	if err == nil {
		g.searched = s
	}
	return s, err
}

func searchGame(ctx context.Context, entry lock.Entry, b search.Bounds) (*search.Search, error) {
	b.MaxStates = MaxStates
	return search.Explore(ctx, entry, b)
}

// Par is the fewest faults to a harm, and the fewest steps with so many; false: the search has not found it.
func Par(s *search.Search, harm verdict.Word) (par, steps int, ok bool) {
	for _, w := range s.Witnesses {
		if w.Verdict == harm {
			return w.Par, w.Steps, true
		}
	}
	return 0, 0, false
}

// Gravest is the harm to play for if none is named: the first of those that a search has found; "": it has found none.
func Gravest(s *search.Search) verdict.Word {
	for _, word := range explore.Words() {
		if _, _, ok := Par(s, word); ok {
			return word
		}
	}
	return ""
}

// A Way is a shortest way to a harm.
type Way struct {
	Choices []simulator.Choice // those of the position first; nil: the harm is out of reach
	Faults  int                // that the whole of it uses
	Unknown bool               // more than MaxStates states would have to be visited
}

// Way is a shortest way to a harm from the position after choices on: with the fewest
// further faults, then the fewest steps. Its next choice is the hint.
func (g *Game) Way(ctx context.Context, choices []simulator.Choice, harm verdict.Word) (w Way, err error) {
	w.Choices, err = g.game.Way(ctx, choices, harm, MaxStates)
	if large := (*explore.TooLargeError)(nil); errors.As(err, &large) {
		return Way{Unknown: true}, nil
	}
	w.Faults = simulator.FaultsIn(w.Choices)
	return w, err
}

// IsHarm reports whether a game can have a verdict as its goal.
func IsHarm(w verdict.Word) bool { return slices.Contains(explore.Words(), w) }

// HarmNames are the verdicts that a game can have as its goal.
func HarmNames() []string { return verdict.Names(explore.Words()) }

// A Truth is whether a harm can be brought about in a game.
type Truth struct {
	Solution
	Known bool // false: the search ended before it knew
}

// Truth holds the known facts of a harm, "" for any: of a level what its file says, and otherwise what a search of the
// game finds, within MaxStates. An error is ctx's.
func (g *Game) Truth(ctx context.Context, harm verdict.Word) (Truth, error) {
	if l, known := g.Level(harm); known {
		return Truth{l.Solution(), true}, nil
	}
	s, err := g.Search(ctx)
	if err != nil {
		return Truth{}, err
	}
	if harm == "" {
		harm = Gravest(s)
	}
	t := Truth{Solution: Solution{States: s.States}}
	t.Par, t.Steps, t.Possible = Par(s, harm)
	t.Known = t.Possible || s.Complete && !slices.Contains(s.Unjudged(), harm)
	return t, nil
}

// Level is the level that a game with a harm as its goal is; false: it is none.
func (g *Game) Level(harm verdict.Word) (l Level, ok bool) {
	n := slices.IndexFunc(levels, func(l Level) bool {
		b := l.Bounds()
		b.Nodes = search.FewServers(g.Lock)
		return l.Harm == harm && l.Lock == g.Lock.ID && b.Settled(g.Lock).String() == g.Bounds.String()
	})
	if n < 0 {
		return l, false
	}
	return levels[n], true
}

// Patience returns the time that a client waits for an answer.
func (g *Game) Patience() time.Duration { return g.rules.Patience() }
