package record

import (
	"strconv"

	"locklab/simulator/history"
)

// Of is a run of the lab as a log: what its clients saw, and what the resource did. The log of a
// crash is that the process has ended.
func Of(h *history.History) (lines []Line) {
	w := writer{h: h, from: map[int]int{}, inside: map[int]bool{}, called: map[int]string{}}
	for i := range h.Events {
		e := &h.Events[i]
		if l, ok := w.line(e); ok {
			l.At, l.Client = at(e), clientName(e.Client)
			if l.Event != Ended {
				l.Key = h.Key
			}
			lines = append(lines, l)
		}
	}
	return lines
}

func at(e *history.Event) Instant { return Instant{int64(e.At), true} }

func clientName(c int) string { return "c" + strconv.Itoa(c) }

// A writer follows the clients of a run.
type writer struct {
	h      *history.History
	from   map[int]int // of each client: the index of the event of its call
	inside map[int]bool
	called map[int]string // the note of its call: it renews or checks
	i      int
}

// line is the line of an event; false: it has none.
func (w *writer) line(e *history.Event) (l Line, ok bool) {
	defer func() { w.i++ }()
	c := e.Client
	began := func() Instant { return at(&w.h.Events[w.from[c]]) }
	said := func() *bool {
		if !e.Claims {
			return nil
		}
		return new(e.OK)
	}
	switch e.Kind {
	case history.Acquire:
		w.from[c], w.called[c] = w.i, e.Note
	case history.Release:
		w.from[c] = w.i
	case history.Enter, history.Refuse:
		renewal := w.called[c] != ""
		w.called[c] = ""
		switch {
		case renewal && e.Claims:
			return Line{From: began(), Event: Renewed, OK: said(), Note: e.Note}, true
		case w.inside[c] || renewal: // it takes its lock again, or the answer is not known
		case e.Kind == history.Refuse:
			return Line{From: began(), Event: Refused, Note: e.Note}, true
		default:
			w.inside[c] = true
			return Line{From: began(), Event: Acquired, Token: e.Token}, true
		}
	case history.Leave:
		w.inside[c] = false
		return Line{Event: Leaving, Note: e.Note}, true
	case history.Released:
		if !w.inside[c] {
			return Line{From: began(), Event: Released, OK: said(), Note: e.Note}, true
		}
	case history.Done, history.Crash:
		w.inside[c] = false
		return Line{Event: Ended, Note: e.Kind.String()}, true
	case history.Read:
		return Line{From: at(e), Event: Read, Token: e.Token, Version: &e.Version}, true
	case history.Write:
		l := Line{From: at(e), Event: Wrote, OK: &e.OK, Token: e.Token}
		if e.OK {
			l.Version, l.Base = &e.Version, &e.Base
		}
		return l, true
	}
	return Line{}, false
}
