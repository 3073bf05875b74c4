package game

import (
	"slices"
	"strings"
	"time"

	"locklab/reports"
	"locklab/reports/motion"
	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Format is the version of the JSON of this package; new fields do not change it.
const Format = 1

// PositionJSON is a position, or the run of a question, as JSON. Times are true ones.
type PositionJSON struct {
	Version  int              `json:"version"`
	Lock     string           `json:"lock"`
	Title    Words            `json:"title"`
	Bounds   string           `json:"bounds,omitempty"`
	Link     string           `json:"link"`
	Steps    int              `json:"steps"`
	Now      time.Duration    `json:"now_ns"`
	TTL      time.Duration    `json:"ttl_ns"`
	Key      string           `json:"key"`
	Line     bool             `json:"zookeeper,omitempty"` // the lock is a line on a ZooKeeper
	Verdicts []verdict.Word   `json:"verdicts"`
	Faults   []FaultJSON      `json:"faults"`
	Clients  []ClientJSON     `json:"clients"`
	Keys     []KeyJSON        `json:"keys"`
	Rows     []RowJSON        `json:"rows"`
	Moves    []MoveJSON       `json:"moves"`
	Moving   *motion.Timeline `json:"moving,omitempty"`   // the run so far as a timeline
	Listings []motion.Listing `json:"listings,omitempty"` // the code in which its clients are
	Goal     *GoalJSON        `json:"goal,omitempty"`     // that is reached, with its par
}

// FaultJSON is a fault of the budget.
type FaultJSON struct {
	Name  string `json:"name"`
	Title Words  `json:"title"`
	Used  int    `json:"used"`
	Most  int    `json:"most"`
}

// ClientJSON is the state of a client.
type ClientJSON struct {
	Stage  string `json:"stage"`
	Paused bool   `json:"paused,omitempty"`
	Probe  bool   `json:"probe,omitempty"` // it looks for deadlocks when all others are done
}

// KeyJSON is the locked key on one server.
type KeyJSON struct {
	Held    bool          `json:"held"`
	Owner   int           `json:"owner,omitempty"`    // from 1; 0: unknown
	Until   time.Duration `json:"until_ns,omitempty"` // when it is gone
	Forever bool          `json:"forever,omitempty"`  // it has no time to live
	Down    bool          `json:"down,omitempty"`
}

// RowJSON is one line of the lanes, with the state after it.
type RowJSON struct {
	From    time.Duration `json:"from_ns"`
	To      time.Duration `json:"to_ns"`
	Lanes   []Words       `json:"lanes"`
	Servers Words         `json:"servers"`
	Marks   []Words       `json:"marks,omitempty"`
	Clients []ClientJSON  `json:"clients"`
	Keys    []KeyJSON     `json:"keys"`
}

// MoveJSON is a possible next event, with what it acts on: a picture offers it there.
type MoveJSON struct {
	Fault   bool   `json:"fault,omitempty"`
	Said    Words  `json:"said"`
	Kind    string `json:"kind"`              // arrive, answer, pass, …, or the name of the fault
	Client  int    `json:"client,omitempty"`  // from 1
	Node    int    `json:"node,omitempty"`    // server, from 1
	Message int    `json:"message,omitempty"` // one that is on its way, as motion.Message.ID
}

// ToJSON is a position of a game.
func ToJSON(g *play.Game, p *play.Position) PositionJSON {
	j := outcomeJSON(withCode(g, p), g.Bounds.Clients)
	j.Bounds, j.Link, j.Steps, j.Now = g.Bounds.String(), p.Trace.Link(), len(p.Trace.Choices), p.Now
	j.Verdicts = append(j.Verdicts, p.Verdicts...)
	if j.Moving != nil {
		j.Moving.Verdicts = j.Verdicts
	}
	j.Clients, j.Keys = stateJSON(reports.StateOf(p.Outcome.History), g.Bounds.Clients)
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

// outcomeJSON is a run; clients after the first so many are probes.
func outcomeJSON(o *race.Outcome, clients int) PositionJSON {
	j := PositionJSON{
		Version: Format, Lock: o.Strategy.ID, Title: sayAll(func(lang string) string { return text.LockTitle(o.Strategy.ID, lang) }),
		Verdicts: []verdict.Word{}, Faults: []FaultJSON{}, Clients: []ClientJSON{}, Keys: []KeyJSON{}, Rows: []RowJSON{}, Moves: []MoveJSON{},
	}
	h := o.History
	if h == nil {
		return j
	}
	moving, listings := motion.Of(h, o.Judgement, o.Verdicts, text.Languages(), false)
	var book motion.Book
	book.Add("", moving, listings)
	j.Moving, j.Listings = moving, book.Listings
	j.TTL, j.Key, j.Line, j.Now = h.TTL, h.Key, h.ZooKeeper, h.End
	j.Clients, j.Keys = stateJSON(reports.StateOf(h), clients)
	said := map[string][]reports.Row{}
	for _, lang := range text.Languages() {
		said[lang] = reports.Rows(lang, h, o.Judgement)
	}
	for i, r := range said["en"] {
		row := RowJSON{From: r.From, To: r.To, Servers: sayAll(func(lang string) string { return said[lang][i].Servers })}
		for c := range r.Lanes {
			row.Lanes = append(row.Lanes, sayAll(func(lang string) string { return said[lang][i].Lanes[c] }))
		}
		for m := range r.Marks {
			row.Marks = append(row.Marks, sayAll(func(lang string) string { return said[lang][i].Marks[m] }))
		}
		row.Clients, row.Keys = stateJSON(r.State, clients)
		j.Rows = append(j.Rows, row)
	}
	return j
}

func stateJSON(s reports.State, clients int) (cs []ClientJSON, ks []KeyJSON) {
	for c, at := range s.Clients {
		cs = append(cs, ClientJSON{at.Name(), at.Paused, c >= clients})
	}
	for _, k := range s.Keys {
		key := KeyJSON{Held: k.Held, Owner: k.Owner, Down: k.Down}
		if key.Forever = k.Held && k.Until == history.Forever; k.Held && !key.Forever {
			key.Until = k.Until
		}
		ks = append(ks, key)
	}
	return cs, ks
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
	if h := q.Outcome.History; h != nil {
		run := outcomeJSON(q.Outcome, h.Clients)
		j.Run = &run
	}
	return j
}
