package play

import (
	"cmp"
	"context"
	"encoding/json"
	"runtime/debug"

	"locklab/algorithms"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// A Table answers requests for positions and questions, in JSON. It keeps the last game,
// so that the next move of it needs no new simulator, and the quiz. It is used by one
// goroutine at a time.
type Table struct {
	game  *Game
	quiz  *Quiz
	asked int
	seed  uint64

	// Lesson is a lesson in a language; nil: there are none. See lessons.Read.
	Lesson func(ctx context.Context, lang, name string) (string, error)
}

// A Request is what a page asks for. A position is named by its link, which is all that a
// page has to keep.
//
//	texts            what the page says, by key and language
//	levels, locks    the course, and the locks that there are
//	level            the start of level Number
//	start            the start of a game of Lock with Budget, Timing, Nodes and Fenced
//	again            the start of Link's game
//	at               the position of Link
//	move             the position after move Number, from 0, of Link
//	undo             the position before Link
//	doom             the share of what can follow Link that ends in Harm
//	hint             which move of Link lies on a shortest way to Harm
//	way              the end of a shortest way from Link to Harm
//	goal             the gravest harm that a search of Link's game finds, and its par
//	mend             the attack of Link on Lock, for Harm
//	race             a run of Lock in Race with Settings
//	replay           the run of Link, or the same attack on Lock
//	lesson           the lesson of Name in each language
//	question         question Number, from 0, of the quiz with Seed
type Request struct {
	Do     string       `json:"do"`
	Link   string       `json:"link"`
	Lock   string       `json:"lock"`
	Budget string       `json:"budget"`
	Timing string       `json:"timing,omitempty"` // as study.ParseTiming reads it; "": lockstep
	Nodes  int          `json:"nodes,omitempty"`  // servers; 0: as few as show what several do
	Fenced bool         `json:"fenced,omitempty"`
	Harm   verdict.Word `json:"harm"`
	Number int          `json:"number"`
	Seed   uint64       `json:"seed"`

	Race     string `json:"race,omitempty"`
	Settings string `json:"settings,omitempty"` // as race.Settings.With reads them; "": the race's own
	Name     string `json:"name,omitempty"`
}

// GoalJSON is what a search has found.
type GoalJSON struct {
	Harm     verdict.Word `json:"harm"` // "": none
	Possible bool         `json:"possible"`
	Par      int          `json:"par"`
	Steps    int          `json:"steps"`
	States   int          `json:"states"`
	Complete bool         `json:"complete"`
}

// MendJSON is an attack on another lock.
type MendJSON struct {
	PositionJSON          // after the same moves
	Same         int      `json:"same"` // so many were possible as they were
	Of           int      `json:"of"`
	Goal         GoalJSON `json:"goal"`          // of every way with the same faults
	Way          string   `json:"way,omitempty"` // a link to the shortest, if there is one
	Budget       string   `json:"budget"`        // these faults
	Found        []string `json:"found"`         // other harms that they can do
}

// LockJSON is a lock that can be played.
type LockJSON struct {
	ID    string `json:"id"`
	Title Words  `json:"title"`
	Next  string `json:"next,omitempty"` // the lock that was meant to mend it
}

// Answer answers a request. An error is an answer too: {"error": {"en": …, "zh": …}}. The
// same request gives the same bytes, on every machine.
func (t *Table) Answer(ctx context.Context, request []byte) (answer []byte) {
	defer func() {
		if r := recover(); r != nil { // code that cannot be simulated: the table goes on
			t.Close()
			answer = encode(nil, i18n.Errorf("error.play.internal", "problem", r, "stack", string(debug.Stack())))
		}
	}()
	var r Request
	if err := json.Unmarshal(request, &r); err != nil {
		return encode(nil, i18n.Errorf("error.play.request", "cause", err))
	}
	return encode(t.do(ctx, &r))
}

func encode(v any, err error) []byte {
	if err != nil {
		v = map[string]Words{"error": sayAll(func(lang string) string { return text.SayError(lang, err) })}
	}
	out, err := json.Marshal(v)
	if err != nil {
		out, _ = json.Marshal(map[string]Words{"error": sayAll(func(string) string { return err.Error() })})
	}
	return out
}

// Close frees the game.
func (t *Table) Close() {
	if t.game != nil {
		t.game.Close()
		t.game = nil
	}
}

func (t *Table) do(ctx context.Context, r *Request) (any, error) {
	switch r.Do {
	case "texts":
		return pageTexts(), nil
	case "levels":
		return LevelsJSON(), nil
	case "locks":
		return locksJSON(), nil
	case "race":
		return raceRun(r.Lock, r.Race, r.Settings)
	case "lesson":
		return t.lesson(ctx, r.Name)
	case "question":
		return t.question(ctx, r.Seed, r.Number)
	case "level":
		l, err := LevelAt(r.Number)
		if err != nil {
			return nil, err
		}
		g, err := l.Game()
		return t.begin(g, err)
	case "start":
		entry, err := race.Strategy(r.Lock)
		if err != nil {
			return nil, err
		}
		b := DefaultBounds()
		b.Budget, b.Nodes, b.Fenced = r.Budget, r.Nodes, r.Fenced
		if r.Timing != "" {
			if b.Timing, err = study.ParseTiming(r.Timing); err != nil {
				return nil, err
			}
		}
		g, err := New(ctx, entry, b)
		return t.begin(g, err)
	}
	trace, err := simulator.ParseLink(r.Link)
	if err != nil {
		return nil, err
	}
	if r.Do == "replay" {
		return replayed(trace, r.Lock)
	}
	if err := t.open(ctx, trace); err != nil {
		return nil, err
	}
	switch r.Do {
	case "at":
		return t.position(trace.Choices)
	case "again":
		return t.position(nil)
	case "undo":
		return t.position(trace.Choices[:max(len(trace.Choices)-1, 0)])
	case "move":
		p, err := t.game.At(trace.Choices)
		if err != nil {
			return nil, err
		}
		if r.Number < 0 || r.Number >= len(p.Moves) {
			return nil, i18n.Errorf("error.play.move", "value", r.Number+1, "most", len(p.Moves))
		}
		return t.position(append(trace.Choices, p.Moves[r.Number].Choice))
	case "goal":
		return t.goal(ctx, r.Harm)
	}
	if !IsHarm(r.Harm) {
		return nil, i18n.Errorf("error.play.harm", "name", r.Harm, "names", HarmNames())
	}
	switch r.Do {
	case "doom":
		return t.doom(ctx, trace.Choices, r.Harm)
	case "hint":
		return t.hint(ctx, trace.Choices, r.Harm)
	case "way":
		w, err := t.game.Way(ctx, trace.Choices, r.Harm)
		if err != nil || w.Choices == nil {
			return t.noWay(w, r.Harm, err)
		}
		return t.position(w.Choices)
	case "mend":
		return t.mend(ctx, trace.Choices, r.Lock, r.Harm)
	}
	return nil, i18n.Errorf("error.play.do", "name", r.Do)
}

// open keeps the game of a trace at hand.
func (t *Table) open(ctx context.Context, trace simulator.Trace) error {
	if t.game != nil && t.game.Strategy.ID == trace.Strategy && t.game.Bounds.String() == trace.Settings {
		return nil
	}
	g, err := Open(ctx, trace)
	if err != nil {
		return err
	}
	t.Close()
	t.game = g
	return nil
}

func (t *Table) begin(g *Game, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	t.Close()
	t.game = g
	return t.position(nil)
}

func (t *Table) position(choices []simulator.Choice) (any, error) {
	p, err := t.game.At(choices)
	if err != nil {
		return nil, err
	}
	return ToJSON(t.game, p), nil
}

// goal is harm's, or the gravest's.
func (t *Table) goal(ctx context.Context, harm verdict.Word) (any, error) {
	s, err := t.game.Search(ctx)
	if err != nil {
		return nil, err
	}
	if harm == "" {
		harm = Gravest(s)
	}
	j := GoalJSON{Harm: harm, States: s.States, Complete: s.Complete}
	j.Par, j.Steps, j.Possible = Par(s, harm)
	return j, nil
}

func (t *Table) doom(ctx context.Context, choices []simulator.Choice, harm verdict.Word) (any, error) {
	p, err := t.game.At(choices)
	if err != nil {
		return nil, err
	}
	share, ok := 1.0, true
	if !p.Has(harm) {
		if share, ok, err = t.game.Doom(ctx, choices, harm); err != nil {
			return nil, err
		}
	}
	return map[string]any{"share": share, "known": ok}, nil
}

func (t *Table) hint(ctx context.Context, choices []simulator.Choice, harm verdict.Word) (any, error) {
	p, err := t.game.At(choices)
	if err != nil {
		return nil, err
	}
	w, err := t.game.Way(ctx, choices, harm)
	if err != nil || len(w.Choices) <= len(choices) {
		return t.noWay(w, harm, err)
	}
	for i, m := range p.Moves {
		if m.Choice == w.Choices[len(choices)] {
			return map[string]int{"move": i, "left": len(w.Choices) - len(choices), "faults": w.Faults}, nil
		}
	}
	return nil, i18n.Errorf("error.play.hint")
}

func (t *Table) noWay(w Way, harm verdict.Word, err error) (any, error) {
	switch {
	case err != nil:
		return nil, err
	case w.Unknown:
		return nil, i18n.Errorf("play.unknown", "states", MaxStates)
	}
	return nil, i18n.Errorf("play.noway", "harm", harm)
}

func (t *Table) mend(ctx context.Context, choices []simulator.Choice, lock string, harm verdict.Word) (any, error) {
	entry, err := race.Strategy(lock)
	if err != nil {
		return nil, err
	}
	m, err := t.game.Against(ctx, entry, choices)
	if err != nil {
		return nil, err
	}
	other, err := Open(ctx, m.Position.Trace)
	if err != nil {
		return nil, err
	}
	defer other.Close()
	j := MendJSON{PositionJSON: ToJSON(other, m.Position), Same: m.Same, Of: len(choices), Budget: m.Search.Bounds.Budget, Found: []string{}}
	j.Goal = GoalJSON{Harm: harm, States: m.Search.States, Complete: m.Search.Complete}
	j.Goal.Par, j.Goal.Steps, j.Goal.Possible = Par(m.Search, harm)
	for _, w := range m.Search.Witnesses {
		if w.Verdict == harm {
			j.Way = w.Trace.Link()
		} else {
			j.Found = append(j.Found, string(w.Verdict))
		}
	}
	return j, nil
}

// question makes the questions up to number, as far as that is still to be done.
func (t *Table) question(ctx context.Context, seed uint64, number int) (any, error) {
	if number < 0 {
		return nil, i18n.Errorf("error.play.question", "value", number)
	}
	if t.quiz == nil || t.seed != seed || number < t.asked {
		t.quiz, t.seed, t.asked = NewQuiz(seed), seed, 0
	}
	for {
		q, err := t.quiz.Next()
		if err = cmp.Or(err, ctx.Err()); err != nil {
			t.quiz = nil // else the next request would find another question at this number
			return nil, err
		}
		if t.asked++; t.asked > number {
			return q.JSON(), nil
		}
	}
}

func locksJSON() (all []LockJSON) {
	for _, e := range algorithms.All() {
		j := LockJSON{ID: e.ID, Title: sayAll(func(lang string) string { return text.LockTitle(e.ID, lang) })}
		if next, ok := race.Successor(e); ok {
			j.Next = next.ID
		}
		all = append(all, j)
	}
	return all
}

// A NameJSON is a race that can be played.
type NameJSON struct {
	ID    string `json:"id"`
	Short string `json:"short"`
	Title Words  `json:"title"`
}

func racesJSON() (all []NameJSON) {
	for _, sc := range scenarios.All() {
		all = append(all, NameJSON{sc.ID, sc.Race, sayAll(func(lang string) string { return text.ScenarioTitle(sc.ID, lang) })})
	}
	return all
}

// lesson is a lesson in each language.
func (t *Table) lesson(ctx context.Context, name string) (any, error) {
	if t.Lesson == nil {
		return nil, i18n.Errorf("error.play.do", "name", "lesson")
	}
	said := Words{}
	for _, lang := range text.Languages() {
		one, err := t.Lesson(ctx, lang, name)
		if err != nil {
			return nil, err
		}
		said[lang] = one
	}
	return map[string]any{"name": name, "said": said}, nil
}

// pageTexts is what the page says.
func pageTexts() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, lang := range text.Languages() {
		all[lang] = map[string]string{}
		for _, prefix := range []string{"play.", "board.", "quiz.", "meaning.", "motion."} {
			for _, key := range text.In(lang).Keys(prefix) {
				all[lang][key] = text.In(lang).Get(key)
			}
		}
	}
	return all
}

// PageData is what a page shows before its engine is ready, as JSON: its texts, the course,
// the locks, and a run to look at.
func PageData() ([]byte, error) {
	l, err := LevelAt(firstShown)
	if err != nil {
		return nil, err
	}
	g, err := l.Game()
	if err != nil {
		return nil, err
	}
	defer g.Close()
	w, err := g.Way(context.Background(), nil, l.Harm)
	if err != nil {
		return nil, err
	}
	p, err := g.At(w.Choices)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{
		"version": Format, "texts": pageTexts(), "levels": LevelsJSON(), "locks": locksJSON(), "races": racesJSON(), "shown": ToJSON(g, p), "budgets": budgets,
	})
}

// firstShown is the level whose shortest way a page shows while its engine loads: the token
// and a pause.
const firstShown = 13

// budgets are those that a page offers for a lock of one's own choice.
var budgets = []string{"crash=1,pause=1", "crash=1", "pause=1", "lose-reply=1", "lose-request=1", "delay=1@9s", "restart=1", "failover=1",
	"split=1", "client-clock=1@10s", "node-clock=1@10s", "delete=1", "expire-session=1", "crash=1,failover=1", "pause=2", ""}
