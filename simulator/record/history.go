package record

import (
	"slices"
	"strconv"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// Of is a run of the lab as a log: what its clients saw, and what the resource did. A crash is the end of its process.
func Of(h *history.History) (lines []Line) {
	callers := map[int]*calling{}
	for i := range h.Events {
		e := &h.Events[i]
		if callers[e.Client] == nil {
			callers[e.Client] = &calling{}
		}
		l, ok := callers[e.Client].line(e)
		if !ok {
			continue
		}
		if l.At, l.Client = at(e), "c"+strconv.Itoa(e.Client); l.Event != Ended {
			l.Key = h.Key
		}
		lines = append(lines, l)
	}
	return lines
}

func at(e *history.Event) Instant { return Instant{int64(e.At), true} }

// calling has the call in which a client of a run is.
type calling struct {
	from    Instant // of its call
	renewal bool    // the call is one, or a check
	inside  bool
}

// line is the line of an event; false: it has none.
func (c *calling) line(e *history.Event) (l Line, ok bool) {
	said := func() *bool {
		if !e.Claims {
			return nil
		}
		return new(e.OK)
	}
	switch e.Kind {
	case history.Acquire:
		c.from, c.renewal = at(e), e.Note != ""
	case history.Release:
		c.from = at(e)
	case history.Enter, history.Refuse:
		renewal := c.renewal
		c.renewal = false
		switch {
		case renewal && e.Claims:
			return Line{From: c.from, Event: Renewed, OK: said(), Note: e.Note}, true
		case c.inside || renewal: // it takes its lock again, or the answer is not known
		case e.Kind == history.Refuse:
			return Line{From: c.from, Event: Refused, Note: e.Note}, true
		default:
			c.inside = true
			return Line{From: c.from, Event: Acquired, Token: e.Token}, true
		}
	case history.Leave:
		c.inside = false
		return Line{Event: Leaving, Note: e.Note}, true
	case history.Released:
		return Line{From: c.from, Event: Released, OK: said(), Note: e.Note}, !c.inside
	case history.Done, history.Crash:
		c.inside = false
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

// Window is the lines around a finding as a run, for pictures: client i is clients[i-1], and times count from start.
// Refusals are those of the first few clients.
func (f *Finding) Window() (h *history.History, j verdict.Judgement, clients []string, start Instant) {
	for _, l := range f.Around {
		if !slices.Contains(clients, l.Client) {
			clients = append(clients, l.Client)
		}
	}
	slices.Sort(clients)
	ofIts := func(client string) bool { return slices.Contains(f.Clients, client) }
	clients = append(lists.Pick(clients, ofIts), slices.DeleteFunc(clients, ofIts)...) // those of the finding first
	clients = clients[:min(len(clients), max(mostShown, len(f.Clients)))]
	start = f.Around[0].At
	h = &history.History{Clients: len(clients), Nodes: 1, Key: f.Key, Local: true, Open: true}
	found := verdict.Finding{Verdict: f.Verdict}
	for i, l := range f.Around {
		c := slices.Index(clients, l.Client) + 1
		begin := len(h.Events)
		if c > 0 {
			// Lines of several machines are in an order in which they can have happened; their instants need not be.
			h.End = max(h.End, time.Duration(l.At.Ns-start.Ns))
			h.Events = append(h.Events, l.events()...)
		}
		for n := begin; n < len(h.Events); n++ {
			h.Events[n].At, h.Events[n].Client = h.End, c
		}
		if i == f.Event {
			found.Event = max(begin, len(h.Events)-1)
		}
	}
	if found.Event < len(h.Events) {
		found.From = h.Events[found.Event].At
		found.To = found.From
	}
	if f.Verdict == verdict.Overlap {
		found.To = h.End
	}
	for _, c := range f.Clients {
		found.Clients = append(found.Clients, slices.Index(clients, c)+1)
	}
	return h, verdict.Judgement{Verdicts: []verdict.Word{f.Verdict}, Findings: []verdict.Finding{found}}, clients, start
}

// events are those of a line, without instant and client.
func (l *Entry) events() []history.Event {
	claims, ok := l.OK != nil, l.OK != nil && *l.OK
	ask, released := history.Event{Kind: history.Acquire}, history.Event{Kind: history.Released, Claims: claims, OK: ok}
	leave := []history.Event{{Kind: history.Leave}, {Kind: history.Release}}
	switch l.Event {
	case Acquired:
		return []history.Event{ask, {Kind: history.Enter, Token: l.Token}}
	case Refused:
		return []history.Event{ask, {Kind: history.Refuse}}
	case Leaving:
		return leave
	case Released:
		if l.inside == nil {
			leave = nil
		}
		return append(leave, released)
	case Lost:
		return append(leave, released)
	case Renewed:
		answer := history.Event{Kind: history.Refuse, Note: "renew", Claims: true}
		if ok {
			answer.Kind, answer.OK = history.Enter, true
		}
		ask.Note = "renew"
		return []history.Event{ask, answer}
	case Wrote:
		e := history.Event{Kind: history.Write, Node: history.Resource, Token: l.Token, OK: l.accepted()}
		if l.Version != nil {
			e.Version, e.Base = *l.Version, *l.Version-1
		}
		if l.Base != nil {
			e.Base = *l.Base
		}
		return []history.Event{e}
	case Read:
		if l.Version == nil {
			return nil
		}
		return []history.Event{{Kind: history.Read, Node: history.Resource, Version: *l.Version}}
	}
	return []history.Event{{Kind: history.Crash}}
}
