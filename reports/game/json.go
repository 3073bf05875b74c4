package game

import (
	"slices"
	"strings"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Format is the version of the JSON of this package; new fields do not change it. Version 2 left out fields that
// repeated the timeline.
const Format = 2

// PositionJSON is a position, or the run of a question, as JSON.
type PositionJSON struct {
	Version  int               `json:"version"`
	Lock     string            `json:"lock"`
	Title    Words             `json:"title"`
	Bounds   string            `json:"bounds,omitempty"`
	Link     string            `json:"link"`
	Steps    int               `json:"steps"`
	Verdicts []verdict.Word    `json:"verdicts"`
	Faults   []FaultJSON       `json:"faults"`
	Moves    []MoveJSON        `json:"moves"`
	Moving   *reports.Run      `json:"moving,omitempty"`   // the run so far as a timeline
	Listings []reports.Listing `json:"listings,omitempty"` // the code in which its clients are
	Goal     *GoalJSON         `json:"goal,omitempty"`     // that is reached, with its par
}

// FaultJSON is a fault of the budget.
type FaultJSON struct {
	Name  string `json:"name"`
	Title Words  `json:"title"`
	Used  int    `json:"used"`
	Most  int    `json:"most"`
}

// MoveJSON is a possible next event, with what it acts on: a picture offers it there.
type MoveJSON struct {
	Fault   bool   `json:"fault,omitempty"`
	Said    Words  `json:"said"`
	Kind    string `json:"kind"`              // arrive, answer, pass, …, or the name of the fault
	Client  int    `json:"client,omitempty"`  // from 1
	Node    int    `json:"node,omitempty"`    // server, from 1
	Message int    `json:"message,omitempty"` // one that is on its way, as reports.Message.ID
}

// ToJSON is a position of a game.
func ToJSON(g *play.Game, p *play.Position) PositionJSON {
	j := outcomeJSON(withCode(g, p))
	j.Bounds, j.Link, j.Steps = g.Bounds.String(), p.Trace.Link(), len(p.Trace.Choices)
	j.Verdicts = append(j.Verdicts, p.Verdicts...)
	if j.Moving != nil {
		j.Moving.Verdicts = j.Verdicts
	}
	for _, f := range p.Faults {
		j.Faults = append(j.Faults, FaultJSON{f.Name, sayAll(func(lang string) string { return text.FaultTitle(f.Name, lang) }), f.Used, f.Most})
	}
	for i, said := range moves(p) {
		j.Moves = append(j.Moves, moveJSON(p, &p.Moves[i], said))
	}
	return j
}

func moveJSON(p *play.Position, m *play.Move, said Words) MoveJSON {
	kind, _, _ := strings.Cut(m.Name, " ")
	j := MoveJSON{Fault: m.Fault, Said: said, Kind: kind, Client: int(m.Choice.Client)}
	if m.Choice.Verb != simulator.Choose { // whose Node is a way to go on
		j.Node = int(m.Choice.Node)
	}
	before := p.Outcome.History.Events
	if len(m.Run.Events) > len(before) {
		id := m.Run.Events[len(before)].Msg
		if id > 0 && slices.ContainsFunc(before, func(e history.Event) bool { return e.Msg == id }) {
			j.Message = id
		}
	}
	return j
}

// withCode returns the run of a position with the lines of the lock's code; without them if it cannot be
// played with them.
func withCode(g *play.Game, p *play.Position) *race.Outcome {
	watched, err := study.ReplayWithCodeOn(g.Strategy, p.Trace)
	if err != nil || len(watched.History.Events) != len(p.Outcome.History.Events) {
		return p.Outcome
	}
	o, h := *p.Outcome, *p.Outcome.History
	h.Events = slices.Clone(h.Events)
	for i := range h.Events {
		h.Events[i].Code = watched.History.Events[i].Code
	}
	o.History = &h
	return &o
}

// outcomeJSON is a run.
func outcomeJSON(o *race.Outcome) PositionJSON {
	j := PositionJSON{
		Version: Format, Lock: o.Strategy.ID, Title: sayAll(func(lang string) string { return text.LockTitle(o.Strategy.ID, lang) }),
		Verdicts: []verdict.Word{}, Faults: []FaultJSON{}, Moves: []MoveJSON{},
	}
	h := o.History
	if h == nil {
		return j
	}
	moving, listings := reports.RunOf(h, o.Judgement, o.Verdicts, text.Languages(), false)
	var book reports.Book
	book.Add("", moving, listings)
	j.Moving, j.Listings = moving, book.Listings
	return j
}

// LevelJSON is a level as JSON. Whether it can be solved is not said.
type LevelJSON struct {
	Number   int          `json:"number"`
	ID       string       `json:"id"`
	Lock     string       `json:"lock"`
	Budget   string       `json:"budget"`
	Harm     verdict.Word `json:"harm"`
	Meaning  Words        `json:"meaning"`
	Title    Words        `json:"title"`
	Learn    Words        `json:"learn"`
	Question Words        `json:"question"`
	Topic    string       `json:"topic"`
	Fix      int          `json:"fix,omitempty"` // the number of the level that shows what prevents the harm
}

// LevelsJSON is the course.
func LevelsJSON() (all []LevelJSON) {
	for i, l := range play.Levels() {
		all = append(all, LevelJSON{
			Number: i + 1, ID: l.ID, Lock: l.Lock, Budget: l.Budget, Harm: l.Harm,
			Meaning: sayAll(func(lang string) string { return reports.Meaning(l.Harm, lang) }),
			Title:   sayAll(levelText(l, "title")), Learn: sayAll(levelText(l, "learn")), Question: sayAll(levelText(l, "question")), Topic: l.Topic,
			Fix: play.Number(l.Fix),
		})
	}
	return all
}

// QuestionJSON is a question as JSON.
type QuestionJSON struct {
	Kind    string        `json:"kind"`
	Lock    string        `json:"lock"`
	Race    Words         `json:"race"`
	Ask     Words         `json:"ask"`
	Run     *PositionJSON `json:"run,omitempty"` // up to the moment of the question
	Answers []Answer      `json:"answers"`
	Link    string        `json:"link"` // the whole run
}

// JSON is the question as JSON.
func (q *Question) JSON() QuestionJSON {
	j := QuestionJSON{Kind: q.Kind, Lock: q.Outcome.Strategy.ID, Ask: q.Ask, Answers: q.Answers, Link: q.Link,
		Race: sayAll(func(lang string) string { return raceTitle(q.Outcome.Scenario.ID, lang) })}
	if q.Outcome.History != nil {
		run := outcomeJSON(q.Outcome)
		j.Run = &run
	}
	return j
}
