package game

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/play"
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
	game  *play.Game
	quiz  *Quiz
	asked int
	about string // the request of the quiz

	// Lesson is a lesson in a language; nil: there are none. See lessons.Stage.Read.
	Lesson func(ctx context.Context, lang, name string) (string, error)
	// Cells are the locks and races that a lesson of the path tells of; none: there is no such lesson. A question with
	// a Name needs it. See lessons.PathCells.
	Cells func(lesson string) (cells [][2]string, names []string)
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
//	move             the position after move Number, from 0, of Link, and after what is then no choice
//	undo             the position before Link in which there was a choice
//	doom             the share of what can follow Link that ends in Harm
//	hint             which move of Link lies on a shortest way to Harm, and why
//	way              the end of a shortest way from Link to Harm, or that there can be none
//	cannot           whether it is right that Harm cannot be brought about in Link's game
//	goal             the gravest harm that a search of Link's game finds, and its par
//	mend             the attack of Link on Lock, for Harm
//	race             a run of Lock in Race with Settings
//	replay           the run of Link, or the same attack on Lock
//	lesson           the lesson of Name in each language
//	question         question Number, from 0, of the quiz with Seed about Locks, Races, Difficulty and lesson Name
type Request struct {
	Do     string       `json:"do"`
	Link   string       `json:"link"`
	Lock   string       `json:"lock"`
	Budget string       `json:"budget"`
	Timing string       `json:"timing,omitempty"` // as study.ParseMode reads it; "": lockstep
	Nodes  int          `json:"nodes,omitempty"`  // servers; 0: as few as show what several do
	Fenced bool         `json:"fenced,omitempty"`
	Harm   verdict.Word `json:"harm"`
	Number int          `json:"number"`
	Seed   uint64       `json:"seed"`

	Locks      []string `json:"locks,omitempty"` // these only; none: the usual ones
	Races      []string `json:"races,omitempty"`
	Difficulty string   `json:"difficulty,omitempty"` // one of Difficulties; "": easy ones first

	Race     string `json:"race,omitempty"`
	Settings string `json:"settings,omitempty"` // as race.Settings.With reads them; "": the race's own
	Name     string `json:"name,omitempty"`
}

// GoalJSON is the result of a search for a harm.
type GoalJSON struct {
	Harm     verdict.Word `json:"harm"` // "": none
	Possible bool         `json:"possible"`
	Par      int          `json:"par"`
	Steps    int          `json:"steps"`
	States   int          `json:"states"`
	Complete bool         `json:"complete"`
}

// JudgedJSON judges the answer that a harm cannot be brought about.
type JudgedJSON struct {
	Right bool     `json:"right"`
	Goal  GoalJSON `json:"goal"`
	Said  Words    `json:"said"`
}

// MendJSON is an attack on another lock.
type MendJSON struct {
	PositionJSON          // after the same moves
	Same         int      `json:"same"` // so many were possible as they were
	Of           int      `json:"of"`
	Goal         GoalJSON `json:"goal"`          // of every way with the same faults
	Way          string   `json:"way,omitempty"` // a link to the shortest, if there is one
	Budget       string   `json:"budget"`        // these faults
	Clients      int      `json:"clients"`       // that take the lock in that search
	Attempts     int      `json:"attempts"`      // of each
	Found        []string `json:"found"`         // other harms that they can do
}

// LockJSON is a lock that can be played.
type LockJSON struct {
	ID     string `json:"id"`
	Title  Words  `json:"title"`
	Family Words  `json:"family"`         // its title
	Next   string `json:"next,omitempty"` // the lock that was meant to mend it
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
	r := asked{ctx: ctx}
	if err := json.Unmarshal(request, &r.Request); err != nil {
		return encode(nil, i18n.Errorf("error.play.request", "cause", err))
	}
	return encode(t.do(&r))
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

// asked is a request with what has been read for it.
type asked struct {
	Request
	ctx   context.Context
	trace simulator.Trace // of Link, if the request needs one
}

// A need is what a request requires before it is answered. An unknown request
// requires all of it: what is wrong with its link is reported first.
type need int

const (
	needsHarm need = iota // Harm, and the game of Link
	needsGame             // the game of Link
	needsLink             // Link
	needsNothing
)

// requests are the answers, by Request.Do.
var requests = map[string]struct {
	need   need
	answer func(*Table, *asked) (any, error)
}{
	"texts":    {needsNothing, func(*Table, *asked) (any, error) { return pageTexts(), nil }},
	"levels":   {needsNothing, func(*Table, *asked) (any, error) { return LevelsJSON(), nil }},
	"locks":    {needsNothing, func(*Table, *asked) (any, error) { return locksJSON(), nil }},
	"race":     {needsNothing, func(_ *Table, r *asked) (any, error) { return raceRun(r.Lock, r.Race, r.Settings) }},
	"lesson":   {needsNothing, (*Table).lesson},
	"question": {needsNothing, (*Table).question},
	"level":    {needsNothing, (*Table).level},
	"start":    {needsNothing, (*Table).start},
	"replay":   {needsLink, func(_ *Table, r *asked) (any, error) { return replayed(r.trace, r.Lock) }},
	"at":       {needsGame, func(t *Table, r *asked) (any, error) { return t.position(r, r.trace.Choices) }},
	"again":    {needsGame, (*Table).first},
	"undo":     {needsGame, (*Table).undo},
	"move":     {needsGame, (*Table).move},
	"goal":     {needsGame, (*Table).goal},
	"doom":     {needsHarm, (*Table).doom},
	"hint":     {needsHarm, (*Table).hint},
	"way":      {needsHarm, (*Table).way},
	"mend":     {needsHarm, (*Table).mend},
	"cannot":   {needsGame, (*Table).cannot},
}

func (t *Table) do(r *asked) (_ any, err error) {
	request, known := requests[r.Do]
	if request.need <= needsLink {
		if r.trace, err = simulator.ParseLink(r.Link); err != nil {
			return nil, err
		}
	}
	if request.need <= needsGame {
		if err := t.open(r.ctx, r.trace); err != nil {
			return nil, err
		}
	}
	switch {
	case r.Harm == "" && (r.Do == "hint" || r.Do == "way"): // of a game in which no search finds a harm
		return t.noWay(r, play.Way{}, nil)
	case request.need == needsHarm && !play.IsHarm(r.Harm):
		return nil, i18n.Errorf("error.play.harm", "name", r.Harm, "names", play.HarmNames())
	case !known:
		return nil, i18n.Errorf("error.play.do", "name", r.Do)
	}
	return request.answer(t, r)
}

func (t *Table) level(r *asked) (any, error) {
	l, err := play.LevelAt(r.Number)
	if err != nil {
		return nil, err
	}
	g, err := l.Game()
	return t.begin(r, g, err)
}

func (t *Table) start(r *asked) (any, error) {
	entry, err := race.Strategy(r.Lock)
	if err != nil {
		return nil, err
	}
	b := play.DefaultBounds()
	b.Budget, b.Nodes, b.Fenced = faults.Budget(r.Budget), r.Nodes, r.Fenced
	if r.Timing != "" {
		if b.Timing, err = study.ParseMode(r.Timing); err != nil {
			return nil, err
		}
	}
	g, err := play.New(r.ctx, entry, b)
	return t.begin(r, g, err)
}

func (t *Table) undo(r *asked) (any, error) {
	choices, err := t.game.Back(r.trace.Choices, r.Harm)
	if err != nil {
		return nil, err
	}
	return t.position(r, choices)
}

func (t *Table) move(r *asked) (any, error) {
	p, err := t.game.At(r.trace.Choices)
	if err != nil {
		return nil, err
	}
	if r.Number < 0 || r.Number >= len(p.Moves) {
		return nil, i18n.Errorf("error.play.move", "value", r.Number+1, "most", len(p.Moves))
	}
	choices, err := t.game.Forward(append(r.trace.Choices, p.Moves[r.Number].Choice), r.Harm)
	if err != nil {
		return nil, err
	}
	return t.position(r, choices)
}

func (t *Table) way(r *asked) (any, error) {
	w, err := t.game.Way(r.ctx, r.trace.Choices, r.Harm)
	if err != nil || w.Choices == nil {
		return t.noWay(r, w, err)
	}
	return t.position(r, w.Choices)
}

// open keeps the game of a trace at hand.
func (t *Table) open(ctx context.Context, trace simulator.Trace) error {
	if t.game != nil && t.game.Strategy.ID == trace.Strategy && t.game.Bounds.String() == trace.Settings {
		return nil
	}
	g, err := play.Open(ctx, trace)
	if err != nil {
		return err
	}
	t.Close()
	t.game = g
	return nil
}

func (t *Table) begin(r *asked, g *play.Game, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	t.Close()
	t.game = g
	return t.first(r)
}

// first is the first position in which there is a choice.
func (t *Table) first(r *asked) (any, error) {
	choices, err := t.game.Forward(nil, "")
	if err != nil {
		return nil, err
	}
	return t.position(r, choices)
}

// position is the position after choices; where the harm has happened that was asked for, with its par.
func (t *Table) position(r *asked, choices []simulator.Choice) (any, error) {
	p, err := t.game.At(choices)
	if err != nil {
		return nil, err
	}
	j := ToJSON(t.game, p)
	if r.Harm != "" && p.Has(r.Harm) {
		truth, err := t.game.Truth(r.ctx, r.Harm)
		if err != nil {
			return nil, err
		}
		goal := truthJSON(truth, r.Harm)
		j.Goal = &goal
	}
	return j, nil
}

// goal is Harm, or the gravest of those that a search finds.
func (t *Table) goal(r *asked) (any, error) {
	s, err := t.game.Search(r.ctx)
	if err != nil {
		return nil, err
	}
	return goalJSON(s, cmp.Or(r.Harm, play.Gravest(s))), nil
}

func goalJSON(s *study.Search, harm verdict.Word) GoalJSON {
	j := GoalJSON{Harm: harm, States: s.States, Complete: s.Complete}
	j.Par, j.Steps, j.Possible = play.Par(s, harm)
	return j
}

func (t *Table) doom(r *asked) (any, error) {
	p, err := t.game.At(r.trace.Choices)
	if err != nil {
		return nil, err
	}
	share, ok := 1.0, true
	if !p.Has(r.Harm) {
		if share, ok, err = t.game.Doom(r.ctx, r.trace.Choices, r.Harm); err != nil {
			return nil, err
		}
	}
	return map[string]any{"share": share, "known": ok}, nil
}

func (t *Table) hint(r *asked) (any, error) {
	choices := r.trace.Choices
	p, err := t.game.At(choices)
	if err != nil {
		return nil, err
	}
	w, err := t.game.Way(r.ctx, choices, r.Harm)
	if err != nil || len(w.Choices) <= len(choices) {
		return t.noWay(r, w, err)
	}
	return hintOf(r.ctx, t.game, p, w, r.Harm)
}

// noWay returns the reason why there is no way to the harm: an error. That there can be none is the answer to giving up only.
func (t *Table) noWay(r *asked, w play.Way, err error) (any, error) {
	switch {
	case err != nil:
		return nil, err
	case w.Unknown:
		return nil, i18n.Errorf("play.unknown", "states", play.MaxStates)
	}
	truth, err := t.game.Truth(r.ctx, r.Harm)
	switch {
	case err != nil:
		return nil, err
	case r.Harm == "" && !truth.Known:
		return nil, i18n.Errorf("play.unfound", "states", truth.States)
	case !truth.Known || truth.Possible:
		return nil, i18n.Errorf("play.noway", "harm", r.Harm)
	case r.Do == "hint":
		return hint{Move: -1, Why: neverWords(r.Harm)}, nil
	}
	return JudgedJSON{true, truthJSON(truth, r.Harm), provedWords(t.game, truth, r.Harm)}, nil
}

// cannot judges the answer that Harm, "" for any, cannot be brought about.
func (t *Table) cannot(r *asked) (any, error) {
	truth, err := t.game.Truth(r.ctx, r.Harm)
	if err != nil {
		return nil, err
	}
	return JudgedJSON{truth.Known && !truth.Possible, truthJSON(truth, r.Harm), judged(t.game, truth, r.Harm)}, nil
}

func truthJSON(truth play.Truth, harm verdict.Word) GoalJSON {
	return GoalJSON{harm, truth.Possible, truth.Par, truth.Steps, truth.States, truth.Known}
}

func (t *Table) mend(r *asked) (any, error) {
	entry, err := race.Strategy(r.Lock)
	if err != nil {
		return nil, err
	}
	m, err := t.game.Against(r.ctx, entry, r.Harm, r.trace.Choices)
	if err != nil {
		return nil, err
	}
	other, err := play.Open(r.ctx, m.Position.Trace)
	if err != nil {
		return nil, err
	}
	defer other.Close()
	j := MendJSON{PositionJSON: ToJSON(other, m.Position), Same: m.Same, Of: len(r.trace.Choices), Goal: goalJSON(m.Search, r.Harm),
		Budget: string(m.Search.Bounds.Budget), Clients: m.Search.Bounds.Clients, Attempts: m.Search.Bounds.Attempts, Found: []string{}}
	for _, w := range m.Search.Witnesses {
		if w.Verdict == r.Harm {
			j.Way = w.Trace.Link()
		} else {
			j.Found = append(j.Found, string(w.Verdict))
		}
	}
	return j, nil
}

// question makes the questions up to Number, as far as that is still to be done.
func (t *Table) question(r *asked) (any, error) {
	if r.Number < 0 {
		return nil, i18n.Errorf("error.play.question", "value", r.Number)
	}
	d, err := ParseDifficulty(r.Difficulty)
	if err != nil {
		return nil, err
	}
	scope := Scope{Locks: r.Locks, Races: r.Races, Difficulty: d}
	if r.Name != "" {
		cells, names := t.Cells(r.Name)
		if cells == nil {
			return nil, i18n.Errorf("error.play.lesson", "name", r.Name, "names", strings.Join(names, ", "))
		}
		for _, c := range cells {
			scope.Cells = append(scope.Cells, Cell{Lock: c[0], Race: c[1]})
		}
	}
	if about := fmt.Sprint(r.Seed, scope); t.quiz == nil || t.about != about || r.Number < t.asked {
		t.quiz, t.about, t.asked = NewQuiz(r.Seed, scope), about, 0
	}
	for {
		q, err := t.quiz.Next()
		if err = cmp.Or(err, r.ctx.Err()); err != nil {
			t.quiz = nil // else the next request would find another question at this number
			return nil, err
		}
		if t.asked++; t.asked > r.Number {
			return q.JSON(), nil
		}
	}
}

func locksJSON() (all []LockJSON) {
	for _, e := range algorithms.All() {
		j := LockJSON{ID: e.ID, Title: sayAll(func(lang string) string { return text.LockTitle(e.ID, lang) }),
			Family: sayAll(func(lang string) string { return text.FamilyTitle(string(e.Family), lang) })}
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
func (t *Table) lesson(r *asked) (any, error) {
	if t.Lesson == nil {
		return nil, i18n.Errorf("error.play.do", "name", r.Do)
	}
	said := Words{}
	for _, lang := range text.Languages() {
		one, err := t.Lesson(r.ctx, lang, r.Name)
		if err != nil {
			return nil, err
		}
		said[lang] = one
	}
	return map[string]any{"name": r.Name, "said": said}, nil
}

// pageTexts returns the texts of the page.
func pageTexts() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, lang := range text.Languages() {
		all[lang] = map[string]string{}
		for _, prefix := range []string{"play.", "board.", "quiz.", "meaning.", "motion.", "term.timeline."} {
			for _, key := range text.In(lang).Keys(prefix) {
				all[lang][key] = text.In(lang).Get(key)
			}
		}
	}
	return all
}

// PageData returns the JSON that a page shows before its engine is ready: its texts, the course,
// the locks, and a run to look at.
func PageData() ([]byte, error) {
	l, err := play.LevelAt(firstShown)
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
