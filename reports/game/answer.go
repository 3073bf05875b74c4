package game

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"

	"locklab/faults"
	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// A Table answers requests for positions and questions. It keeps the last game, so that the next move of it needs no new
// simulator, and the quiz. It is used by one goroutine at a time.
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

// A Request is what a page or a Session asks for. A position is named by its link, which is all that a page has to keep.
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

// Answer answers a request in JSON. An error is an answer too: {"error": {"en": …, "zh": …}}. The same request gives the
// same bytes, on every machine.
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
	return encode(t.do(ctx, r))
}

func encode(v any, err error) []byte {
	if err != nil {
		v = map[string]Words{"error": errorWords(err)}
	}
	out, err := json.Marshal(v)
	if err != nil {
		out, _ = json.Marshal(map[string]Words{"error": same(err.Error())})
	}
	return out
}

func errorWords(err error) Words {
	return sayAll(func(lang string) string { return text.SayError(lang, err) })
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

// A need is what a request requires before it is answered. An unknown request requires all of it: what is wrong with its
// link is reported first.
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
	"levels":   {needsNothing, func(*Table, *asked) (any, error) { return Levels(), nil }},
	"locks":    {needsNothing, func(*Table, *asked) (any, error) { return locks(), nil }},
	"race":     {needsNothing, func(_ *Table, r *asked) (any, error) { return playRace(r.Lock, r.Race, r.Settings) }},
	"lesson":   {needsNothing, (*Table).lesson},
	"question": {needsNothing, (*Table).question},
	"level":    {needsNothing, (*Table).level},
	"start":    {needsNothing, (*Table).start},
	"replay":   {needsLink, func(_ *Table, r *asked) (any, error) { return replay(r.trace, r.Lock) }},
	"at":       {needsGame, func(t *Table, r *asked) (any, error) { return t.position(r, r.trace.Choices, nil) }},
	"again":    {needsGame, (*Table).first},
	"undo":     {needsGame, (*Table).undo},
	"move":     {needsGame, (*Table).move},
	"goal":     {needsGame, (*Table).goal},
	"doom":     {needsHarm, (*Table).doom},
	"hint":     {needsGame, (*Table).hint},
	"way":      {needsGame, (*Table).way},
	"mend":     {needsHarm, (*Table).mend},
	"cannot":   {needsGame, (*Table).cannot},
}

// do answers a request.
func (t *Table) do(ctx context.Context, request Request) (_ any, err error) {
	r := &asked{Request: request, ctx: ctx}
	known := requests[r.Do]
	if known.need <= needsLink {
		if r.trace, err = simulator.ParseLink(r.Link); err != nil {
			return nil, err
		}
	}
	if known.need <= needsGame {
		if err := t.open(ctx, r.trace); err != nil {
			return nil, err
		}
	}
	switch {
	case known.answer == nil:
		return nil, i18n.Errorf("error.play.do", "name", r.Do)
	case !play.IsHarm(r.Harm) && (known.need == needsHarm || r.Harm != ""):
		return nil, i18n.Errorf("error.play.harm", "name", r.Harm, "names", play.HarmNames())
	}
	return known.answer(t, r)
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
	return t.position(r, choices, err)
}

func (t *Table) undo(r *asked) (any, error) {
	choices, err := t.game.Back(r.trace.Choices, r.Harm)
	return t.position(r, choices, err)
}

func (t *Table) move(r *asked) (any, error) {
	at, err := t.game.At(r.trace.Choices)
	if err != nil {
		return nil, err
	}
	if r.Number < 0 || r.Number >= len(at.Moves) {
		return nil, i18n.Errorf("error.play.move", "value", r.Number+1, "most", len(at.Moves))
	}
	choices, err := t.game.Forward(append(r.trace.Choices, at.Moves[r.Number].Choice), r.Harm)
	return t.position(r, choices, err)
}

// position is the position after choices, unless these could not be found; where the harm has happened that was asked for,
// with its par.
func (t *Table) position(r *asked, choices []simulator.Choice, err error) (*Position, error) {
	if err != nil {
		return nil, err
	}
	at, err := t.game.At(choices)
	if err != nil {
		return nil, err
	}
	p := positionOf(t.game, at)
	if r.Harm != "" && at.Has(r.Harm) {
		truth, err := t.game.Truth(r.ctx, r.Harm)
		if err != nil {
			return nil, err
		}
		p.reach(truth, r.Harm, r.Do == "way")
	}
	return p, nil
}

// goal is Harm, or the gravest of those that a search finds.
func (t *Table) goal(r *asked) (any, error) {
	s, err := t.game.Search(r.ctx)
	if err != nil {
		return nil, err
	}
	return goalOf(s, cmp.Or(r.Harm, play.Gravest(s))), nil
}

// A Doom is the share of what can follow a position that ends in a harm.
type Doom struct {
	Share float64 `json:"share"`
	Known bool    `json:"known"` // false: too much can follow
}

func (t *Table) doom(r *asked) (any, error) {
	at, err := t.game.At(r.trace.Choices)
	if err != nil || at.Has(r.Harm) {
		return &Doom{1, true}, err
	}
	share, known, err := t.game.Doom(r.ctx, r.trace.Choices, r.Harm)
	return &Doom{share, known}, err
}

// way is the position at the end of a shortest way, or that there can be none.
func (t *Table) way(r *asked) (any, error) {
	w, none, err := t.wayFrom(r)
	if err != nil || none == nil {
		return t.position(r, w.Choices, err)
	}
	return &Judged{true, goalFrom(*none, r.Harm), proved(t.game, *none, r.Harm)}, nil
}

// hint is a move on a shortest way. Where there can be none it asks whether the goal can be reached, and does not tell.
func (t *Table) hint(r *asked) (any, error) {
	w, none, err := t.wayFrom(r)
	switch {
	case err != nil:
		return nil, err
	case none != nil && r.Harm == "":
		return &Hint{-1, words("play.hint.never.any")}, nil
	case none != nil:
		return &Hint{-1, words("play.hint.never", "harm", r.Harm)}, nil
	}
	at, err := t.game.At(r.trace.Choices)
	if err != nil {
		return nil, err
	}
	if at.Has(r.Harm) {
		return nil, i18n.Errorf("play.done", "harm", r.Harm)
	}
	return hintOf(r.ctx, t.game, at, w, r.Harm)
}

// wayFrom finds a shortest way from Link to Harm; none: a search has proved that there can be none. The error says why
// there is none from here.
func (t *Table) wayFrom(r *asked) (w play.Way, none *play.Truth, err error) {
	truth, err := t.game.Truth(r.ctx, r.Harm)
	switch {
	case err != nil:
		return w, nil, err
	case truth.Known && !truth.Possible:
		return w, &truth, nil
	case r.Harm == "" && !truth.Known:
		return w, nil, i18n.Errorf("play.unfound", "states", truth.States)
	}
	if r.Harm != "" {
		w, err = t.game.Way(r.ctx, r.trace.Choices, r.Harm)
	}
	switch {
	case err != nil:
	case w.Unknown:
		err = i18n.Errorf("play.unknown", "states", play.MaxStates)
	case w.Choices == nil:
		err = i18n.Errorf("play.noway", "harm", r.Harm)
	}
	return w, nil, err
}

// cannot judges the answer that Harm, "" for any, cannot be brought about.
func (t *Table) cannot(r *asked) (any, error) {
	truth, err := t.game.Truth(r.ctx, r.Harm)
	return judge(t.game, truth, r.Harm), err
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
	return mendedOf(other, m, len(r.trace.Choices), r.Harm), nil
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
			return q, nil
		}
	}
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
