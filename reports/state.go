package reports

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A State is that of all clients and keys at one moment of a run, as the judges read it.
type State struct {
	Clients []ClientState `json:"c"` // by client, from 0
	Keys    []KeyState    `json:"k"` // the locked key by server, from 0
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
	Value string
	Down  bool // the server does not serve
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
		return State{clients, []KeyState{}}
	}
	return State{clients, slices.Clone(s.Keys)}
}

func (s State) equal(other State) bool {
	return slices.Equal(s.Clients, other.Clients) && slices.Equal(s.Keys, other.Keys)
}

// A Moment is a state that a run comes to.
type Moment struct {
	Event int `json:"e"` // the event after which it is so, by its index
	State
}

// Moments are the states of a run, each until the next. The first is that after event 0.
func Moments(h *history.History) (all []Moment) {
	w := newWalker(h, verdict.Judgement{})
	for i := 0; i < len(h.Events); i++ {
		first := i
		i = w.take(i)
		s := w.now()
		if n := len(all); n > 0 && all[n-1].equal(s) {
			continue
		}
		all = append(all, Moment{first, s})
	}
	return all
}

// Name returns the state of the client in one word: the end of the keys of its texts.
func (s ClientState) Name() string {
	switch {
	case s.Veiled:
		return "veiled"
	case s.Stage == verdict.Idle && s.Retries:
		return "waiting"
	}
	return stages[s.Stage]
}

var stages = map[verdict.Stage]string{
	verdict.Idle: "idle", verdict.Acquiring: "acquiring", verdict.Inside: "inside",
	verdict.Leaving: "leaving", verdict.Releasing: "releasing", verdict.Dead: "dead",
}

// String returns the name, with "/paused" if the client's process stands still.
func (s ClientState) String() string {
	if s.Paused {
		return s.Name() + "/paused"
	}
	return s.Name()
}

// MarshalText returns String.
func (s ClientState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText has returned; any other text is an idle client.
func (s *ClientState) UnmarshalText(written []byte) error {
	name, paused := strings.CutSuffix(string(written), "/paused")
	*s = ClientState{Paused: paused, Veiled: name == "veiled", Retries: name == "waiting"}
	for stage, of := range stages {
		if name == of {
			s.Stage = stage
		}
	}
	return nil
}

// MarshalJSON returns the key for a picture. Without an owner and with u 0 it is free.
func (k KeyState) MarshalJSON() ([]byte, error) {
	key := struct {
		Held  bool   `json:"h,omitempty"`
		Owner int    `json:"o,omitempty"`
		Until int64  `json:"u,omitempty"` // -1: it has no time to live
		Down  bool   `json:"d,omitempty"`
		Value string `json:"v,omitempty"` // a time stamp
	}{Held: k.Held, Down: k.Down}
	if k.Held && k.Until == history.Forever && len(k.Value) == 13 && strings.HasPrefix(k.Value, "178") {
		key.Value = k.Value
	}
	if k.Held {
		key.Owner, key.Until = k.Owner, micros(k.Until)
	}
	return json.Marshal(key)
}
