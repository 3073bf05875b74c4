package game

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// A Table answers requests for positions and questions. It keeps the last game, so that the next move of it needs no
// new simulator, and the quiz. It is used by one goroutine at a time.
type Table struct {
	game  *play.Game
	quiz  *Quiz
	about string // the request of the quiz

	// Lesson is a lesson in a language; a request for one needs it. See lessons.Stage.Read.
	Lesson func(ctx context.Context, lang, name string) (string, error)
	// Cells are the locks and races that a lesson of the path tells of, for a Name; see lessons.PathCells.
	Cells func(lesson string) (cells [][2]string, names []string)
}

// A Request is what a page or a Session asks for. A position is named by its link: a page has to keep nothing else.
//
//	level            the start of level Number
//	start            the start of a game of Lock with Budget, Timing, Nodes and Fenced
//	again            the start of Link's game
//	at               the position of Link
//	move             the position after move Number, from 0, of Link, and after what is then no choice
//	undo             the position before Link in which there was a choice
//	lost             whether no way leads from Link to Harm, and by which move
//	hint             which move of Link lies on a shortest way to Harm, and why
//	way              the end of a shortest way to Harm from Link, else from the start, or that there can be none
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
	Timing string       `json:"timing,omitempty"` // as search.ParseMode reads it; "": lockstep
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

// Answer answers a request in JSON, an error with {"error": {"en": …, "zh": …}}. Equal requests give equal bytes.
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

// do answers a request.
func (t *Table) do(ctx context.Context, r Request) (any, error) {
	switch r.Do {
	case "race":
		return playRace(r.Lock, r.Race, r.Settings)
	case "lesson":
		return t.lesson(ctx, r.Name)
	case "question":
		return t.question(ctx, &r)
	case "level":
		l, err := play.LevelAt(r.Number)
		if err != nil {
			return nil, err
		}
		g, err := l.Game(ctx)
		return t.begin(ctx, g, l.Harm, err)
	case "start":
		g, err := r.newGame(ctx)
		return t.begin(ctx, g, r.Harm, err)
	}
	trace, err := simulator.ParseLink(r.Link)
	switch {
	case err != nil:
		return nil, err
	case r.Do == "replay":
		return replay(trace, r.Lock)
	}
	if err := t.open(ctx, trace); err != nil {
		return nil, err
	}
	a, ofGame := ofGames[r.Do]
	switch {
	case !ofGame:
		return nil, i18n.Errorf("error.play.do", "name", r.Do)
	case !play.IsHarm(r.Harm) && (r.Harm != "" || a.needsHarm):
		return nil, i18n.Errorf("error.play.harm", "name", r.Harm, "names", play.HarmNames())
	}
	return a.answer(&asked{r, ctx, t.game, trace.Choices})
}

// newGame is the game of a lock of one's own choice.
func (r *Request) newGame(ctx context.Context) (*play.Game, error) {
	entry, err := race.Lock(r.Lock)
	if err != nil {
		return nil, err
	}
	b := play.DefaultBounds()
	if b.Budget, b.Nodes, b.Fenced = faults.Budget(r.Budget), r.Nodes, r.Fenced; r.Timing != "" {
		err = b.Set("timing", r.Timing)
	}
	if err != nil {
		return nil, err
	}
	return play.New(ctx, entry, b)
}

// begin takes up a game, unless it cannot begin, and returns its first position.
func (t *Table) begin(ctx context.Context, g *play.Game, harm verdict.Word, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	t.Close()
	t.game = g
	return (&asked{Request: Request{Harm: harm}, ctx: ctx, game: g}).position(g.Forward(ctx, nil, harm))
}

// open keeps the game of a trace at hand.
func (t *Table) open(ctx context.Context, trace simulator.Trace) error {
	if t.game != nil && t.game.Lock.ID == trace.Lock && t.game.Bounds.String() == trace.Settings {
		return nil
	}
	g, err := play.Open(ctx, trace)
	if err == nil {
		t.Close()
		t.game = g
	}
	return err
}

// asked is a request about a position of a game, with what has been read for it.
type asked struct {
	Request
	ctx     context.Context
	game    *play.Game
	choices []simulator.Choice // of Link
}

// ofGames are the answers about positions, by Request.Do.
var ofGames = map[string]struct {
	needsHarm bool
	answer    func(*asked) (any, error)
}{
	"at":     {false, func(r *asked) (any, error) { return r.position(r.choices, nil) }},
	"again":  {false, func(r *asked) (any, error) { return r.position(r.game.Forward(r.ctx, nil, "")) }},
	"undo":   {false, func(r *asked) (any, error) { return r.position(r.game.Back(r.ctx, r.choices, r.Harm)) }},
	"move":   {false, (*asked).move},
	"goal":   {false, (*asked).goal},
	"hint":   {false, (*asked).hint},
	"way":    {false, (*asked).way},
	"cannot": {false, (*asked).cannot},
	"lost":   {true, (*asked).lost},
	"mend":   {true, (*asked).mend},
}

// position is the position after choices, unless these could not be found.
func (r *asked) position(choices []simulator.Choice, err error) (*Position, error) {
	if err != nil {
		return nil, err
	}
	at, err := r.game.At(choices)
	if err != nil {
		return nil, err
	}
	p, err := positionOf(r.ctx, r.game, at, r.Harm)
	switch {
	case err != nil || r.Harm == "" || !at.Has(r.Harm):
		return p, err
	case r.Do == "way":
		afresh := len(choices) < len(r.choices) || !slices.Equal(r.choices, choices[:len(r.choices)])
		key := map[bool]string{true: "play.gaveup.start", false: "play.gaveup"}[afresh]
		p.End = words(key, "faults", counted("fault", at.Used()), "story", happened(at, r.Harm))
		return p, nil
	}
	all, err := r.game.Turns(r.ctx, choices, r.Harm)
	turns := slices.IndexFunc(all, func(n int) bool { // what follows a win does not count
		at, err = r.game.At(choices[:n])
		return err != nil || at.Has(r.Harm)
	})
	truth, unknown := r.game.Truth(r.ctx, r.Harm)
	if err = cmp.Or(err, unknown); err != nil {
		return nil, err
	}
	with := counted("fault", at.Used())
	if at.Used() > truth.Par {
		with = words("play.reached.more", "faults", with, "par", truth.Par)
	}
	moves := counted("move", turns)
	if l, _ := r.game.Level(r.Harm); l.Solution().Clicks > 0 && l.Solution().Clicks < turns {
		moves = words("play.reached.moves", "moves", moves, "n", l.Solution().Clicks)
	}
	p.End = words("play.reached", "faults", with, "moves", moves, "story", happened(at, r.Harm))
	return p, err
}

// did tells the beginning of what a run has more than one that it goes on from.
func did(before, after *race.Outcome) Words {
	return sayAll(func(lang string) string {
		all := reports.Since(lang, after.History, after.Judgement.Findings, len(before.History.Events))
		if len(all) > 4 {
			all = append(all[:4], text.Say(lang, "play.andsoon", "n", strconv.Itoa(len(all)-4)))
		}
		return text.Join(lang, "part.sentences", all)
	})
}

// happened tells of the harm that a run has come to, and why it could.
func happened(at *play.Position, harm verdict.Word) Words {
	found := sayAll(func(lang string) string {
		all := reports.Since(lang, at.Outcome.History, at.Outcome.Judgement.Findings, 0)
		n := slices.IndexFunc(all, func(s string) bool { return strings.HasPrefix(s, string(harm)) })
		return all[max(n, 0)]
	})
	for _, f := range at.Outcome.Judgement.Findings {
		if why := couldBe(at.Outcome.Lock, at.Outcome.History, f); f.Verdict == harm && why != nil {
			return join("part.sentences", found, why)
		}
	}
	return found
}

// couldBe is the reason for a harm: what became of the key before it, or who was dead; nil: it is in the harm.
func couldBe(l lock.Entry, h *history.History, f verdict.Finding) Words {
	past := *h
	before := func(n int) state { past.Events = h.Events[:n]; return state{reports.StateOf(&past)} }
	s := before(f.Event)
	if owner := s.owner(1); f.Verdict == verdict.Deadlock && owner > 0 && s.stage(owner) == verdict.Dead {
		return words("play.won.dead", "client", clientName(owner), "key", keyOf(l, h, 1))
	}
	for n := f.Event - 1; n >= 0 && (f.Verdict == verdict.Overlap || f.Verdict == verdict.WrongDel); n-- {
		e, key := &h.Events[n], "quiz.cause."
		owner := before(n).owner(max(e.Node, 1))
		switch {
		case owner == 0 || owner == before(n+1).owner(max(e.Node, 1)):
			continue
		case e.Kind == history.Expire && l.Sessions():
			key = "play.won.session"
		case e.Kind == history.Expire:
			key += "ended"
		case e.Client == 0:
			key += "lost"
		case e.Kind == history.Change && e.After == "":
			key += "removed"
		default:
			key += "others"
		}
		return words("play.won", "why", words(key, "client", clientName(owner)))
	}
	return nil
}

func (r *asked) move() (any, error) {
	at, err := r.game.At(r.choices)
	if err != nil {
		return nil, err
	}
	if r.Number < 0 || r.Number >= len(at.Moves) {
		return nil, i18n.Errorf("error.play.move", "value", r.Number+1, "most", len(at.Moves))
	}
	p, err := r.position(r.game.Forward(r.ctx, append(r.choices, at.Moves[r.Number].Choice), r.Harm))
	if err != nil {
		return nil, err
	}
	if p.Did = did(at.Outcome, p.at.Outcome); p.Did["en"] == "" { // nothing that a story tells of
		move, h := &at.Moves[r.Number], p.at.Outcome.History
		p.Did = sayAll(func(lang string) string { return describe(at, move, h, lang) })
	}
	return p, nil
}

// A Goal is what to bring about: a harm; "": any, of which a search has found none.
type Goal struct {
	Harm verdict.Word `json:"harm"`
	Said Words        `json:"said"`
}

// goal is Harm, or the gravest harm that a search finds.
func (r *asked) goal() (any, error) {
	s, err := r.game.Search(r.ctx)
	if err != nil {
		return nil, err
	}
	harm := cmp.Or(r.Harm, play.Gravest(s))
	if harm == "" && !s.Complete {
		return &Goal{harm, words("play.unfound", "states", s.States)}, nil
	}
	if said := aim(harm); r.Harm != "" || harm == "" {
		return &Goal{harm, said}, nil
	}
	return &Goal{harm, words("play.goal.found", "goal", aim(harm))}, nil
}

// A Lost says that no way leads to the harm, and why; where one ever did, which move was the last one. Without Said the
// game is not lost, or has a fault left and no level has said that the harm can be reached.
type Lost struct {
	Said     Words  `json:"said,omitempty"`
	Remember Words  `json:"remember,omitempty"`
	Move     Words  `json:"move,omitempty"`
	Event    int    `json:"event,omitempty"` // of the run, that the move began with
	Link     string `json:"link,omitempty"`  // the position before it
}

func (r *asked) lost() (any, error) {
	at, err := r.game.At(r.choices)
	l, known := r.game.Level(r.Harm)
	if err != nil || at.Has(r.Harm) || len(r.choices) == 0 {
		return &Lost{}, err
	}
	faulty := slices.ContainsFunc(at.Moves, func(m play.Move) bool { return m.Fault })
	if faulty && !(known && l.Solution().Possible) {
		return &Lost{}, nil
	}
	if w, err := r.game.Way(r.ctx, r.choices, r.Harm); err != nil || w.Unknown || w.Choices != nil {
		return &Lost{}, err
	}
	turn, n, err := r.game.Decisive(r.ctx, r.choices, r.Harm)
	if err != nil {
		return nil, err
	}
	before, failed := r.position(r.choices[:n], nil)
	steps, err := r.game.Steps(r.choices[:n+1], n)
	truth, unknown := r.game.Truth(r.ctx, r.Harm)
	if err := cmp.Or(failed, err, unknown); err != nil {
		return nil, err
	}
	runs := []*history.History{at.Outcome.History} // with a fault left, the reason must have happened
	if !faulty {
		if runs, err = r.game.Futures(at); err != nil {
			return nil, err
		}
	}
	left := words("play.lost.left-over", "harm", r.Harm)
	if len(at.Moves) == 0 {
		left = words("play.lost.over")
	}
	why, remember := whyLost(r.game.Lock, &steps[0], runs, r.Harm), words("play.remember."+string(r.Harm))
	switch possible := truth.Possible || !truth.Known; {
	case !possible && why == nil:
		return &Lost{}, nil
	case !possible: // no move is to blame
		return &Lost{Said: words("play.lost.vain", "why", why), Remember: remember}, nil
	}
	made := slices.IndexFunc(before.at.Moves, func(m play.Move) bool { return m.Choice == r.choices[n] })
	lost := &Lost{Move: before.Moves[made].Said, Remember: remember, Link: before.Link}
	lost.Event = len(steps[0].Before.Events)
	if why == nil {
		lost.Said = words("play.lost.late", "n", turn, "move", lost.Move, "left", left)
	} else {
		lost.Said = words("play.lost", "n", turn, "move", lost.Move, "why", why, "left", left)
	}
	return lost, nil
}

// way is the position at the end of a shortest way, or that there can be none.
func (r *asked) way() (any, error) {
	w, none, err := r.wayOn()
	if none != nil {
		return &Judged{true, words("play.gaveup.none", "proved", proved(*none, r.Harm))}, nil
	}
	return r.position(w.Choices, err)
}

// hint is a move on a shortest way. Where there can be none it is one that is worth a try: it does not tell.
func (r *asked) hint() (any, error) {
	w, none, err := r.wayOn()
	switch {
	case err != nil:
		return nil, err
	case none != nil:
		idea := words("play.hint.never." + cmp.Or(string(r.Harm), "any"))
		return &Hint{-1, idea, words("play.hint.never")}, nil
	}
	at, err := r.game.At(r.choices)
	switch {
	case err != nil:
		return nil, err
	case at.Has(r.Harm):
		return nil, i18n.Errorf("play.done", "harm", r.Harm)
	}
	return hintOf(r.ctx, r.game, at, w, r.Harm)
}

// wayOn finds a shortest way from Link to Harm; none proves that there can be none, the error says why not from here.
func (r *asked) wayOn() (w play.Way, none *play.Truth, err error) {
	truth, err := r.game.Truth(r.ctx, r.Harm)
	switch {
	case err != nil:
		return w, nil, err
	case truth.Known && !truth.Possible:
		return w, &truth, nil
	case r.Harm == "" && !truth.Known:
		return w, nil, i18n.Errorf("play.unfound", "states", truth.States)
	case r.Harm != "":
		w, err = r.game.Way(r.ctx, r.choices, r.Harm)
	}
	switch {
	case err != nil:
	case w.Unknown:
		err = i18n.Errorf("play.unknown", "states", play.MaxStates)
	case w.Choices == nil && r.Do == "way": // after a loss, one from the start
		w, err = r.game.Way(r.ctx, nil, r.Harm)
	case w.Choices == nil:
		err = i18n.Errorf("play.noway", "harm", r.Harm)
	}
	return w, nil, err
}

// cannot judges the answer that Harm, "" for any, cannot be brought about.
func (r *asked) cannot() (any, error) {
	truth, err := r.game.Truth(r.ctx, r.Harm)
	if err == nil && truth.Possible && r.Harm != "" {
		w, failed := r.game.Way(r.ctx, r.choices, r.Harm)
		if err = failed; w.Choices == nil && !w.Unknown {
			return &Judged{false, words("play.can.before")}, err
		}
	}
	return judge(truth, r.Harm), err
}

func (r *asked) mend() (any, error) {
	entry, err := race.Lock(r.Lock)
	if err != nil {
		return nil, err
	}
	m, err := r.game.Against(r.ctx, entry, r.Harm, r.choices)
	if err != nil {
		return nil, err
	}
	return mendedOf(m, r.Harm), nil
}

// question is question Number of a quiz.
func (t *Table) question(ctx context.Context, r *Request) (any, error) {
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
	if about := fmt.Sprint(r.Seed, scope); t.quiz == nil || t.about != about {
		t.quiz, t.about = NewQuiz(r.Seed, scope), about
	}
	return t.quiz.Question(ctx, r.Number)
}

// lesson is a lesson in each language.
func (t *Table) lesson(ctx context.Context, name string) (any, error) {
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
