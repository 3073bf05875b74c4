package reports

import (
	"slices"
	"strings"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A State is that of all clients and keys at one moment of a run, as the judges read it.
type State struct {
	Clients []ClientState // by client, from 0
	Keys    []KeyState    // the locked key by server, from 0
}

// A ClientState is the state of a client.
type ClientState struct {
	Stage   verdict.Stage
	Retries bool // refused, and about to ask again
	Paused  bool
	Veiled  bool // left out of views, as of a history that is Veiled; a dead client's state is not
}

// A KeyState is the locked key on one server.
type KeyState struct {
	Held  bool
	Owner int           // whose command wrote the value; 0: unknown
	Until time.Duration // true time at which it is gone; history.Forever: it has no time to live
	Down  bool          // the server does not serve
}

// StateOf is the state after the last event of a history.
func StateOf(h *history.History) State { return walk(h, verdict.Judgement{}).now() }

// now is the present state, with the servers that are down.
func (w *walker) now() State {
	s := w.State.of(w.h)
	for n := range s.Keys {
		s.Keys[n].Down = w.reading.Down(n + 1)
	}
	return s
}

// of is a copy of a state of a run. Without servers there are no keys; of a veiled run it is not said who is inside.
func (s State) of(h *history.History) State {
	clients := slices.Clone(s.Clients)
	for i := range clients {
		clients[i].Veiled = h.Veiled && clients[i].Stage != verdict.Dead
	}
	if h.Local {
		return State{Clients: clients}
	}
	return State{clients, slices.Clone(s.Keys)}
}

// A Moment is a state that a run comes to.
type Moment struct {
	Event int // the event after which it is so, by its index
	State
}

// Moments are the states of a run, each until the next. The first is that after event 0.
func Moments(h *history.History) (all []Moment) {
	w := newWalker(h, verdict.Judgement{})
	for i := 0; i < len(h.Events); i++ {
		first := i
		i = w.take(i)
		s := w.now()
		if n := len(all); n > 0 && slices.Equal(all[n-1].Clients, s.Clients) && slices.Equal(all[n-1].Keys, s.Keys) {
			continue
		}
		all = append(all, Moment{first, s})
	}
	return all
}

// A Row is one line of the lanes as data, for a picture that is drawn elsewhere.
type Row struct {
	From, To time.Duration // true time
	Event    int           // the last event that it tells, by its index
	Lanes    []string      // what each client does, from 0; "": nothing
	Servers  string        // what befell the servers
	Marks    []string      // the verdicts that begin here, as margins have them
}

// Rows are the lines that Lanes draws.
func Rows(lang string, h *history.History, j verdict.Judgement) (rows []Row) {
	v := newWording(lang, h)
	for _, r := range v.rows(withoutReloads(stepsOf(h, j))) {
		row := Row{From: r.from, To: r.to, Event: r.last.index, Servers: strings.Join(r.notes, "  "), Marks: r.marks}
		for i := range r.cells {
			row.Lanes = append(row.Lanes, v.cell(&r.cells[i], r.to))
		}
		rows = append(rows, row)
	}
	return rows
}

// Name returns the state of the client in one word: the end of the keys of its texts.
func (s ClientState) Name() string {
	switch {
	case s.Veiled:
		return "veiled"
	case s.Stage == verdict.Idle && s.Retries:
		return "waiting"
	}
	return map[verdict.Stage]string{
		verdict.Idle: "idle", verdict.Acquiring: "acquiring", verdict.Inside: "inside",
		verdict.Leaving: "leaving", verdict.Releasing: "releasing", verdict.Dead: "dead",
	}[s.Stage]
}

// Mark is a finding as margins have it: "!! OVERLAP c1+c2".
func Mark(lang string, h *history.History, f verdict.Finding) string {
	return newWording(lang, h).mark(f)
}
