package reports

import (
	"io"
	"slices"
	"strings"
	"time"

	"locklab/reports/layout"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Lanes draws a run as one column per client with the locked key between them and the verdicts in the right margin.
// Where the width allows no columns it prints an event a line.
func Lanes(w io.Writer, h *history.History, j verdict.Judgement, o Look) error {
	out := o.Lines(w)
	v := newWording(out.Lang(), h)
	steps := withoutReloads(stepsOf(h, j))
	if o.NoReturn > 0 && len(steps) > 0 {
		steps[stepAt(steps, o.NoReturn-1)].noReturn = true
	}
	d := newDrawing(v, linesOf(h, steps))
	if o.Width > 0 && o.Width < NarrowWidth || !d.columns().Write(out) {
		d.list(out)
	}
	if o.Brief {
		return out.Err()
	}
	out.Put("", 0)
	for _, lang := range out.Langs() {
		out.Put(say(lang, "lanes.legend", "asleep", v.say("lanes.asleep")), 2)
		if h.ZooKeeper && slices.ContainsFunc(d.lines, line.repeats) {
			out.Put(say(lang, "lanes.tries"), 2)
		}
		ends := func(e history.Event) bool { return e.Kind == history.SessionEnd }
		if h.Database && slices.ContainsFunc(h.Events, ends) {
			out.Put(say(lang, "lanes.idle"), 2)
		}
		if h.Probe > 0 && d.clients >= h.Probe {
			out.Put(say(lang, "lanes.probe", "client", clientName(h.Probe)), 2)
		}
	}
	return out.Err()
}

// A drawing is the lines of one run and their measures.
type drawing struct {
	words    *wording
	lines    []line
	clients  int // that have a column: a probe that has not begun has none
	ttlWidth int
	gap      time.Duration // time without an event from which a line says that time passes
}

func newDrawing(v *wording, lines []line) *drawing {
	d := &drawing{words: v, lines: lines, clients: v.h.Clients, ttlWidth: len(Millis(v.h.TTL, 0))}
	if n := len(lines); n > 0 {
		d.gap = max((lines[n-1].to-lines[0].from)/5, 1)
	}
	if v.h.Probe == v.h.Clients && !slices.ContainsFunc(v.h.Events,
		func(e history.Event) bool { return e.Client == v.h.Probe }) {
		d.clients--
	}
	return d
}

// columns is the wide form.
func (d *drawing) columns() *layout.Sheet {
	s := &layout.Sheet{Right: layout.Only(0), Floor: 12}
	s.Rows = append(s.Rows, d.heads())
	before := make([]ClientState, d.words.h.Clients)
	for i := range d.lines {
		l := &d.lines[i]
		if i > 0 && l.from-d.lines[i-1].to > d.gap {
			s.Rows = append(s.Rows, d.silence(&d.lines[i-1], l))
		}
		row := []string{d.words.when(l.from, l.to)}
		for c := range d.clients {
			row = append(row, d.lane(l, c, before[c]))
		}
		before = l.last.Clients
		row = append(row, strings.Join(d.words.marks(l), "\n"))
		s.Rows = append(s.Rows, d.withRedis(row, d.servers(l)))
	}
	return s
}

// withRedis puts the column of the servers after c1, who usually acts first.
func (d *drawing) withRedis(line []string, redis string) []string {
	at := min(2, 1+d.clients)
	return append(line[:at:at], append([]string{redis}, line[at:]...)...)
}

func (d *drawing) heads() []string {
	line := []string{"t/ms"}
	for c := range d.clients {
		line = append(line, d.name(c+1))
	}
	title := d.server()
	if d.words.h.Nodes > 1 {
		title = eachNode(d.words.h, func(n int) string { return nodeName(n + 1) }) + "  " + d.words.h.Key
	}
	return d.withRedis(append(line, ""), title)
}

// server is the title of the column of the server.
func (d *drawing) server() string {
	if d.words.h.Local {
		return d.words.say("lanes.noserver")
	}
	return ServerName(d.words.h) + ": " + d.words.h.Key
}

// name is the name of a client where it stands first; the probe's says what it is.
func (d *drawing) name(client int) string {
	if client == d.words.h.Probe {
		return clientName(client) + " " + d.words.say("term.probe.name")
	}
	return clientName(client)
}

// eachNode writes something of each server, in columns.
func eachNode(h *history.History, name func(n int) string) string {
	names := make([]string, h.Nodes)
	for n := range names {
		names[n] = layout.PadRight(name(n), 2)
	}
	return strings.Join(names, " ")
}

// silence marks a time in which nothing happened.
func (d *drawing) silence(p, l *line) []string {
	line := []string{":"}
	for _, c := range p.last.Clients[:d.clients] {
		line = append(line, d.glyph(c))
	}
	return d.withRedis(append(line, ""), ": "+Span(Brief(l.from-p.to)))
}

// lane returns the text of client c+1 in a line.
func (d *drawing) lane(l *line, c int, before ClientState) string {
	after := ClientState{}
	if c < len(l.last.Clients) {
		after = l.last.Clients[c]
	}
	text := d.words.lanesTurn(l, c)
	switch {
	case text == "":
		return d.glyph(after)
	case before.Stage == verdict.Inside && after.Stage == verdict.Inside && !d.words.h.Veiled:
		return "|  " + text
	}
	return text
}

// glyph shows a client that does nothing at the moment.
func (d *drawing) glyph(c ClientState) string {
	switch {
	case c.Stage == verdict.Dead:
		return "x"
	case d.words.h.Veiled && !c.Paused:
		return ""
	case c.Stage == verdict.Inside && c.Paused && !d.words.h.Veiled:
		return "|  " + d.words.say("lanes.asleep")
	case c.Paused:
		return d.words.say("lanes.asleep")
	case c.Stage == verdict.Inside:
		return "|"
	case c.Stage == verdict.Acquiring || c.Retries:
		return "~"
	}
	return "."
}

// servers shows who owns the key after the line, for how long, and what befell it.
func (d *drawing) servers(l *line) string {
	var parts []string
	if !d.words.h.Local {
		owners := layout.PadRight(ownerName(l.last.Keys[0]), 2)
		if d.words.h.Nodes > 1 {
			owners = eachNode(d.words.h, func(n int) string { return ownerName(l.last.Keys[n]) })
		}
		parts = append(parts, owners)
		if left, held := timeLeft(l.last.Keys, l.to); held {
			parts = append(parts, d.ttl(left))
		}
	}
	if befell := d.words.befell(l); befell != "" {
		parts = append(parts, befell)
	}
	return strings.Join(parts, "  ")
}

func (d *drawing) ttl(left time.Duration) string {
	switch {
	case left == history.Forever && d.words.h.ZooKeeper:
		return d.words.say("term.session.name")
	case left == history.Forever:
		return d.words.say("lanes.nottl")
	}
	if left == d.words.h.TTL+time.Millisecond { // a server keeps a key through the millisecond of its deadline
		left = d.words.h.TTL
	}
	return "ttl " + layout.PadLeft(Millis(left.Truncate(time.Millisecond), 0), d.ttlWidth)
}

func ownerName(k KeyState) string {
	switch {
	case !k.Held:
		return "-"
	case k.Owner == 0:
		return "?"
	}
	return clientName(k.Owner)
}

// timeLeft is the shortest remaining life of the key on the nodes that have it.
func timeLeft(keys []KeyState, at time.Duration) (left time.Duration, held bool) {
	left = history.Forever
	for _, k := range keys {
		if !k.Held {
			continue
		}
		held = true
		if k.Until != history.Forever {
			left = min(left, max(0, k.Until-at))
		}
	}
	return left, held
}

// list is the narrow form: an event a line, its verdicts beneath it.
func (d *drawing) list(out *layout.Lines) {
	s := &layout.Sheet{Right: layout.Only(0), Floor: 8}
	s.Rows = append(s.Rows, []string{"t/ms", "", "", d.server()})
	for i := range d.lines {
		l := &d.lines[i]
		if i > 0 && l.from-d.lines[i-1].to > d.gap {
			s.Rows = append(s.Rows, []string{":", "", ": " + Span(Brief(l.from-d.lines[i-1].to))})
		}
		s.Rows = append(s.Rows, d.listed(l)...)
	}
	s.WriteOrList(out, 1)
}

func (d *drawing) listed(l *line) (out [][]string) {
	when, redis := d.words.when(l.from, l.to), d.servers(l)
	for c := range l.turns {
		if text := d.words.lanesTurn(l, c); text != "" {
			out = append(out, []string{when, d.name(c + 1), text, redis})
			when, redis = "", ""
		}
	}
	if out == nil {
		out = append(out, []string{when, "", "", redis})
	}
	for _, m := range d.words.marks(l) {
		out = append(out, []string{"", "", m})
	}
	return out
}
