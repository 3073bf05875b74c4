package record

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/verdict"
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

// mostShown is the number of clients of a window, beside those of its finding.
const mostShown = 4

// Window is the lines around a finding as a run, for pictures: client i is clients[i-1], and times count from start. Refusals
// are those of the first few clients.
func (f *Finding) Window() (h *history.History, j verdict.Judgement, clients []string, start Instant) {
	lines := f.Around
	for _, l := range lines {
		if !slices.Contains(clients, l.Client) {
			clients = append(clients, l.Client)
		}
	}
	slices.SortFunc(clients, func(a, b string) int { return cmp.Or(f.rank(a)-f.rank(b), strings.Compare(a, b)) })
	clients = clients[:min(len(clients), max(mostShown, len(f.Clients)))]
	// Lines of several machines are in an order in which they can have happened; their instants need not be.
	start = lines[0].At
	w := window{clients: clients, inside: make([]bool, len(clients)), start: start.Ns}
	for i, l := range lines {
		if i == f.Event {
			w.mark = len(w.events)
		}
		w.add(l)
		if i == f.Event {
			w.mark = max(w.mark, len(w.events)-1)
		}
	}
	h = &history.History{Clients: len(clients), Nodes: 1, Key: f.Key, Local: true, End: w.now, Open: true, Events: w.events}
	found := verdict.Finding{Verdict: f.Verdict, Event: w.mark}
	if w.mark < len(w.events) {
		found.From = w.events[w.mark].At
		found.To = found.From
	}
	if f.Verdict == verdict.Overlap {
		found.To = w.now
	}
	for _, c := range f.Clients {
		found.Clients = append(found.Clients, slices.Index(clients, c)+1)
	}
	return h, verdict.Judgement{Verdicts: []verdict.Word{f.Verdict}, Findings: []verdict.Finding{found}}, clients, start
}

// rank puts the clients of a finding first.
func (f *Finding) rank(client string) int {
	if slices.Contains(f.Clients, client) {
		return 0
	}
	return 1
}

// A window is the events of lines.
type window struct {
	clients []string
	inside  []bool
	start   int64
	now     time.Duration
	mark    int
	events  []history.Event
}

// add adds the events of a line.
func (w *window) add(l *Entry) {
	c := slices.Index(w.clients, l.Client)
	if c < 0 {
		return
	}
	w.now = max(w.now, time.Duration(l.At.Ns-w.start))
	put := func(kind history.EventKind, e history.Event) {
		e.Kind, e.At, e.Client = kind, w.now, c+1
		w.events = append(w.events, e)
	}
	claims, ok := l.OK != nil, l.OK != nil && *l.OK
	switch l.Event {
	case Acquired:
		put(history.Acquire, history.Event{})
		put(history.Enter, history.Event{Token: l.Token})
		w.inside[c] = true
	case Refused:
		put(history.Acquire, history.Event{})
		put(history.Refuse, history.Event{})
	case Leaving, Lost, Released:
		if w.inside[c] || l.Event != Released {
			put(history.Leave, history.Event{})
			put(history.Release, history.Event{})
		}
		w.inside[c] = false
		if l.Event != Leaving {
			put(history.Released, history.Event{Claims: claims, OK: ok})
		}
	case Renewed:
		put(history.Acquire, history.Event{Note: "renew"})
		if ok {
			put(history.Enter, history.Event{Note: "renew", OK: true, Claims: true})
		} else {
			put(history.Refuse, history.Event{Note: "renew", Claims: true})
		}
	case Wrote:
		e := history.Event{Node: history.Resource, Token: l.Token, OK: !claims || ok}
		if l.Version != nil {
			e.Version, e.Base = *l.Version, *l.Version-1
		}
		if l.Base != nil {
			e.Base = *l.Base
		}
		put(history.Write, e)
	case Read:
		if l.Version != nil {
			put(history.Read, history.Event{Node: history.Resource, Version: *l.Version})
		}
	case Ended:
		put(history.Crash, history.Event{})
	}
}
