package reports

import (
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Lanes draws a run as one column per client with the locked key between them
// and the verdicts in the right margin. Where the width allows no columns it
// prints an event a line.
func Lanes(w io.Writer, h *history.History, j verdict.Judgement, o Options) error {
	out := newLines(w, o)
	steps := withoutReloads(walk(h, j))
	if o.NoReturn > 0 && len(steps) > 0 {
		steps[stepAt(steps, o.NoReturn-1)].remark = say(out.langs[0], "lanes.noreturn")
	}
	d := newDrawing(h, rowsOf(h, steps))
	if o.Width > 0 && o.Width < NarrowWidth || !d.columns().write(out) {
		d.list(out)
	}
	if o.Brief {
		return out.err
	}
	out.put("", 0)
	for _, lang := range o.langs() {
		out.put(say(lang, "lanes.legend"), 2)
	}
	return out.err
}

// A drawing is the rows of one run on their way to paper.
type drawing struct {
	h        *history.History
	rows     []row
	decimals int
	ttlWidth int
	gap      time.Duration // silence from which time is seen to pass
}

func newDrawing(h *history.History, rows []row) *drawing {
	d := &drawing{h: h, rows: rows, decimals: decimalsOf(h)}
	d.ttlWidth = len(millis(h.TTL, 0))
	if n := len(rows); n > 0 {
		d.gap = max((rows[n-1].to-rows[0].from)/5, 1)
	}
	return d
}

// columns is the wide form.
func (d *drawing) columns() *sheet {
	s := &sheet{right: map[int]bool{0: true}, floor: 12}
	s.rows = append(s.rows, d.heads())
	before := make([]clientState, d.h.Clients)
	for i := range d.rows {
		r := &d.rows[i]
		if i > 0 && r.from-d.rows[i-1].to > d.gap {
			s.rows = append(s.rows, d.silence(&d.rows[i-1], r))
		}
		line := []string{d.time(r)}
		for c := range d.h.Clients {
			line = append(line, d.lane(r, c, before[c]))
		}
		before = r.last.clients
		line = append(line, strings.Join(r.marks, "\n"))
		s.rows = append(s.rows, d.withRedis(line, d.redis(r)))
	}
	return s
}

// withRedis puts the redis column where the eye looks for it: after c1, whose
// story it usually is.
func (d *drawing) withRedis(line []string, redis string) []string {
	at := min(2, 1+d.h.Clients)
	return append(line[:at:at], append([]string{redis}, line[at:]...)...)
}

func (d *drawing) heads() []string {
	line := []string{"t/ms"}
	for c := range d.h.Clients {
		line = append(line, clientName(c+1))
	}
	title := serverName(d.h) + ": " + d.h.Key
	if d.h.Nodes > 1 {
		title = d.eachNode(func(n int) string { return nodeName(n + 1) }) + "  " + d.h.Key
	}
	return d.withRedis(append(line, ""), title)
}

func (d *drawing) eachNode(name func(n int) string) string {
	names := make([]string, d.h.Nodes)
	for n := range names {
		names[n] = padRight(name(n), 2)
	}
	return strings.Join(names, " ")
}

// silence marks a stretch of time in which nothing happened.
func (d *drawing) silence(p, r *row) []string {
	line := []string{":"}
	for _, c := range p.last.clients {
		line = append(line, glyph(c))
	}
	return d.withRedis(append(line, ""), ": "+shortSpan(r.from-p.to))
}

func (d *drawing) time(r *row) string {
	from, to := millis(r.from, d.decimals), millis(r.to, d.decimals)
	if from == to {
		return from
	}
	return from + ".." + to
}

// lane is what client c+1 shows in a row.
func (d *drawing) lane(r *row, c int, before clientState) string {
	after := clientState{}
	if c < len(r.last.clients) {
		after = r.last.clients[c]
	}
	text := r.cells[c].text(r.to, d.decimals)
	switch {
	case text == "":
		return glyph(after)
	case before.stand == inside && after.stand == inside:
		return "|  " + text
	}
	return text
}

// glyph shows a client that does nothing at the moment.
func glyph(c clientState) string {
	switch {
	case c.stand == dead:
		return "x"
	case c.stand == inside && c.paused:
		return "|  (asleep)"
	case c.paused:
		return "(asleep)"
	case c.stand == inside:
		return "|"
	case c.stand == asking:
		return "~"
	}
	return "."
}

// redis shows who owns the key after the row, for how long, and what befell it.
func (d *drawing) redis(r *row) string {
	owners := padRight(ownerName(r.last.keys[0]), 2)
	if d.h.Nodes > 1 {
		owners = d.eachNode(func(n int) string { return ownerName(r.last.keys[n]) })
	}
	parts := []string{owners}
	if left, held := timeLeft(r.last.keys, r.to); held {
		parts = append(parts, d.ttl(left))
	}
	return strings.Join(append(parts, r.notes...), "  ")
}

func (d *drawing) ttl(left time.Duration) string {
	switch {
	case left == history.Forever && d.h.ZooKeeper:
		return "session"
	case left == history.Forever:
		return "no ttl"
	}
	return "ttl " + padLeft(millis(left.Truncate(time.Millisecond), 0), d.ttlWidth)
}

func ownerName(k keyState) string {
	switch {
	case !k.held:
		return "-"
	case k.owner == 0:
		return "?"
	}
	return clientName(k.owner)
}

// timeLeft is the shortest remaining life of the key on the nodes that have it.
func timeLeft(keys []keyState, at time.Duration) (left time.Duration, held bool) {
	left = history.Forever
	for _, k := range keys {
		if !k.held {
			continue
		}
		held = true
		if k.until != history.Forever {
			left = min(left, max(0, k.until-at))
		}
	}
	return left, held
}

// list is the narrow form: an event a line, its verdicts beneath it.
func (d *drawing) list(out *lines) {
	s := &sheet{right: map[int]bool{0: true}, floor: 8}
	s.rows = append(s.rows, []string{"t/ms", "", "", serverName(d.h) + ": " + d.h.Key})
	for i := range d.rows {
		r := &d.rows[i]
		if i > 0 && r.from-d.rows[i-1].to > d.gap {
			s.rows = append(s.rows, []string{":", "", ": " + shortSpan(r.from-d.rows[i-1].to)})
		}
		s.rows = append(s.rows, d.listed(r)...)
	}
	if s.write(out) {
		return
	}
	for _, line := range s.rows[1:] { // no room for columns at all
		out.put(oneLine(line), 2)
	}
}

func (d *drawing) listed(r *row) [][]string {
	var out [][]string
	when, redis := d.time(r), d.redis(r)
	for c := range r.cells {
		if text := r.cells[c].text(r.to, d.decimals); text != "" {
			out = append(out, []string{when, clientName(c + 1), text, redis})
			when, redis = "", ""
		}
	}
	if out == nil {
		out = append(out, []string{when, "", "", redis})
	}
	for _, m := range r.marks {
		out = append(out, []string{"", "", m})
	}
	return out
}

// ansi is the paint of a finished line, the first match first.
var ansi = []struct {
	pattern *regexp.Regexp
	code    int
}{
	{regexp.MustCompile(`!! [A-Z-]+.*`), 31},
	{regexp.MustCompile(`\[ENTER|EXIT\]`), 32},
	{regexp.MustCompile(`\b(PAUSE|CRASH|LOST|FAILOVER|RESTART|DOWN|CLOCK|EXPIRED|TIMEOUT|BROKEN)\b`), 33},
}

// paint colours verdicts red, brackets green and faults yellow.
func paint(line string) string {
	for _, a := range ansi {
		line = a.pattern.ReplaceAllString(line, "\x1b["+strconv.Itoa(a.code)+"m${0}\x1b[0m")
	}
	return line
}
