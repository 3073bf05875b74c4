package reports

import (
	"strconv"
	"strings"
	"time"

	"locklab/simulator/history"
)

// A row is one line of the lanes: what happened at one instant, or polls that repeat
// themselves over some time.
type row struct {
	from, to time.Duration
	last     step     // with the state after the row
	cells    []cell   // by client, from 0
	notes    []string // for the column of the servers
	marks    []string
	quiet    bool // refused polls and renewals only
}

// A cell is what one client does in a row.
type cell struct {
	texts []string
	sig   string // what makes two polls the same: the commands, not the values
	count int    // how many times in a row
	skew  time.Duration
}

// rows groups steps into rows and folds repeated polls.
func (v *wording) rows(steps []step) []row {
	var rows []row
	for i := range steps {
		if len(rows) > 0 && joins(&rows[len(rows)-1], &steps[i]) {
			v.extend(&rows[len(rows)-1], &steps[i])
			continue
		}
		r := row{from: steps[i].At, cells: make([]cell, v.h.Clients), quiet: true}
		v.extend(&r, &steps[i])
		rows = append(rows, r)
	}
	return foldPolls(rows)
}

// joins reports whether s belongs to the row that ends in r.last: the same client
// at the same instant, another command of one refused attempt, or the same
// command on the next node of a quorum. A verdict always ends a row, so that it
// is beside its cause.
func joins(r *row, s *step) bool {
	p := &r.last
	if p.who() != s.who() || p.Thread != s.Thread {
		return false
	}
	if len(r.marks) > 0 {
		return s.Kind == history.Refuse && p.At == s.At // says no more than what went before
	}
	switch {
	case s.refused && p.refused && p.attempt == s.attempt:
		return true
	case sameOnAnotherNode(p, s):
		return true
	}
	return p.At == s.At && (s.who() != 0 || p.Node == s.Node)
}

func sameOnAnotherNode(p, s *step) bool {
	return p.Kind == history.Answer && s.Kind == history.Answer && p.attempt == s.attempt &&
		p.Node != s.Node && p.Reply == s.Reply && strings.Join(p.Cmd, " ") == strings.Join(s.Cmd, " ")
}

func (v *wording) extend(r *row, s *step) {
	r.to = s.At
	if c := s.who(); c > 0 && c <= len(r.cells) {
		v.extendCell(&r.cells[c-1], s, &r.last)
	}
	if note := v.redis(s); note != "" {
		r.notes = append(r.notes, note)
	}
	for _, f := range s.findings {
		r.marks = append(r.marks, v.mark(f))
	}
	if s.remark != "" {
		r.marks = append(r.marks, s.remark)
	}
	r.quiet = r.quiet && isQuiet(s)
	r.last = *s
}

func (v *wording) extendCell(c *cell, s, prev *step) {
	c.count, c.skew = 1, s.Skew
	c.sig += s.Kind.String() + " " + Command(s.Cmd, v.h.Key) + ";"
	if s.Thread > 0 || isError(s.Reply) {
		c.sig += s.Reply
	}
	if s.Kind == history.Refuse {
		c.sig += strconv.FormatBool(s.retries)
	}
	c.texts = withText(c.texts, prev, s, v.lane(s, v.sent(s)))
}

// withText adds what is said of a step, unless it is nothing; of the command before it at another node, only the node.
func withText(texts []string, prev, s *step, text string) []string {
	if n := len(texts); n > 0 && sameOnAnotherNode(prev, s) {
		head, reply, _ := strings.Cut(texts[n-1], " -> ")
		texts[n-1] = head + " " + nodeName(s.Node) + " -> " + reply
		return texts
	}
	if text == "" {
		return texts
	}
	return append(texts, text)
}

func isQuiet(s *step) bool {
	if len(s.findings) > 0 || s.remark != "" || s.took != 0 {
		return false
	}
	switch s.Kind {
	case history.Answer:
		return s.refused || s.Thread > 0
	case history.Refuse:
		return s.refused
	}
	return false
}

// foldPolls joins neighbouring quiet rows in which everybody does the same
// again.
func foldPolls(rows []row) []row {
	var out []row
	for _, r := range rows {
		if len(out) == 0 || !foldInto(&out[len(out)-1], &r) {
			out = append(out, r)
		}
	}
	return out
}

func foldInto(p, r *row) bool {
	if !p.quiet || !r.quiet {
		return false
	}
	for i, c := range r.cells {
		if c.count > 0 && p.cells[i].count > 0 && c.sig != p.cells[i].sig {
			return false
		}
	}
	for i, c := range r.cells {
		if c.count > 0 {
			c.count += p.cells[i].count
			p.cells[i] = c
		}
	}
	p.to, p.last = r.to, r.last
	return true
}

// cell writes a cell out: "SETNX -> 0, retry x9 (own 5200)".
func (v *wording) cell(c *cell, at time.Duration) string {
	all := ""
	for i, t := range c.texts {
		switch {
		case i == 0:
			all = t
		case strings.HasPrefix(t, "[") || strings.HasSuffix(c.texts[i-1], "]"):
			all += " " + t
		default:
			all = v.say("lane.join", "first", all, "next", t)
		}
	}
	if c.count > 1 {
		all += " x" + strconv.Itoa(c.count)
	}
	if c.skew != 0 && all != "" {
		all += spaced(v.say("lane.own", "time", Millis(at+c.skew, v.decimals)))
	}
	return all
}
