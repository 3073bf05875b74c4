package reports

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"locklab/simulator/history"
)

// A row is one line of the lanes: what happened at one instant, or, when it
// happened again and again, over a stretch of polls.
type row struct {
	from, to time.Duration
	last     step     // how things stand after the row
	cells    []cell   // by client, from 0
	notes    []string // for the redis column
	marks    []string
	quiet    bool // refused polls and renewals only
}

// cell is what one client does in a row.
type cell struct {
	texts []string
	sig   string // what makes two polls the same: the commands, not the values
	count int    // how many times in a row
	skew  time.Duration
}

// rowsOf groups steps into rows and folds repeated polls.
func rowsOf(h *history.History, steps []step) []row {
	var rows []row
	for i := range steps {
		if len(rows) > 0 && joins(&rows[len(rows)-1], &steps[i]) {
			extend(&rows[len(rows)-1], h, &steps[i])
			continue
		}
		r := row{from: steps[i].At, cells: make([]cell, h.Clients), quiet: true}
		extend(&r, h, &steps[i])
		rows = append(rows, r)
	}
	return foldPolls(rows)
}

// joins says whether s belongs to the row that ends in r.last: the same client
// at the same instant, another command of one refused attempt, or the same
// command on the next node of a quorum. A verdict always ends a row, so that it
// stands beside its cause.
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

func extend(r *row, h *history.History, s *step) {
	r.to = s.At
	if c := s.who(); c > 0 && c <= len(r.cells) {
		extendCell(&r.cells[c-1], h, s, &r.last)
	}
	if note := redisNote(h, s); note != "" {
		r.notes = append(r.notes, note)
	}
	for _, f := range s.findings {
		r.marks = append(r.marks, mark(f))
	}
	if s.remark != "" {
		r.marks = append(r.marks, s.remark)
	}
	r.quiet = r.quiet && isQuiet(s)
	r.last = *s
}

func extendCell(c *cell, h *history.History, s, prev *step) {
	c.count, c.skew = 1, s.Skew
	c.sig += s.Kind.String() + " " + shortCommand(s.Cmd, h.Key) + ";"
	if s.Thread > 0 || isError(s.Reply) {
		c.sig += s.Reply
	}
	if s.Kind == history.Refuse {
		c.sig += refusal(s)
	}
	if n := len(c.texts); n > 0 && sameOnAnotherNode(prev, s) {
		head, reply, _ := strings.Cut(c.texts[n-1], " -> ")
		c.texts[n-1] = head + " " + nodeName(s.Node) + " -> " + reply
		return
	}
	if text := cellText(h, s); text != "" {
		c.texts = append(c.texts, text)
	}
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

// text writes a cell out: "SETNX -> 0, retry x9 (own 5200)".
func (c *cell) text(at time.Duration, decimals int) string {
	var b strings.Builder
	for i, t := range c.texts {
		switch {
		case i == 0:
		case strings.HasPrefix(t, "[") || strings.HasSuffix(c.texts[i-1], "]"):
			b.WriteString(" ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(t)
	}
	if c.count > 1 {
		b.WriteString(" x" + strconv.Itoa(c.count))
	}
	if c.skew != 0 && b.Len() > 0 {
		b.WriteString(" (own " + millis(at+c.skew, decimals) + ")")
	}
	return b.String()
}

// cellText is what a step writes into its client's lane.
func cellText(h *history.History, s *step) string {
	switch s.Kind {
	case history.Answer:
		return sent(h, s) + " -> " + shortReply(s.Reply)
	case history.Timeout:
		return sent(h, s) + " -> TIMEOUT"
	case history.Broken:
		return sent(h, s) + " -> BROKEN"
	case history.LoseRequest:
		return sent(h, s) + " request LOST"
	case history.LoseReply:
		return sent(h, s) + " reply LOST"
	case history.Delay:
		if s.Note == "reply" {
			return sent(h, s) + " reply HELD UP " + span(s.D)
		}
		return sent(h, s) + " HELD UP " + span(s.D)
	case history.Reject:
		return sent(h, s) + " FAILS, not executed"
	case history.Split:
		return "CUT OFF with the old master"
	case history.Enter:
		return "[ENTER" + fence(s.Token) + remark(s.Note)
	case history.Leave:
		return "EXIT]" + remark(s.Note)
	case history.Refuse:
		return refusal(s)
	case history.Read:
		return "READ v" + strconv.Itoa(s.Version)
	case history.Write:
		return writeText(s)
	}
	return misfortune(s)
}

// misfortune is what a fault of a client, or its end, writes into its lane.
func misfortune(s *step) string {
	switch s.Kind {
	case history.Pause:
		if s.D == 0 { // until it is told to go on
			return "PAUSE" + remark(s.Note)
		}
		return "PAUSE " + span(s.D) + remark(s.Note)
	case history.Resume:
		return "wakes"
	case history.Reconnect:
		return "CONNECTED again" + remark(s.Note)
	case history.Crash:
		return "CRASH" + remark(s.Note)
	case history.ClockStep:
		return "CLOCK " + signed(s.D)
	case history.Released:
		return released(s)
	}
	return ""
}

func released(s *step) string {
	switch {
	case !s.Claims:
		return "released" + remark(s.Note)
	case s.OK:
		return "released: \"still mine\""
	}
	return "released: \"not mine\""
}

func sent(h *history.History, s *step) string {
	text := shortCommand(s.Cmd, h.Key)
	if s.Thread > 0 {
		text = "timer: " + text
	}
	if h.Nodes > 1 {
		text += " " + nodeName(s.Node)
	}
	return text
}

func refusal(s *step) string {
	if s.retries {
		return "retry"
	}
	return "gives up"
}

func writeText(s *step) string {
	switch {
	case !s.OK && s.Token == 0: // there is no token to show
		return fmt.Sprintf("WRITE refused (had read v%d)", s.Base)
	case !s.OK:
		return "WRITE refused" + fence(s.Token)
	case s.Base != s.Version-1:
		return fmt.Sprintf("WRITE v%d (had read v%d)", s.Version, s.Base)
	}
	return "WRITE v" + strconv.Itoa(s.Version)
}

func fence(token uint64) string {
	if token == 0 {
		return ""
	}
	return " #" + strconv.FormatUint(token, 10)
}

func remark(note string) string {
	if note == "" {
		return ""
	}
	return " (" + note + ")"
}

// redisNote is what a step writes into the redis column, beside the owner.
func redisNote(h *history.History, s *step) string {
	note := serverNote(h, s)
	if note != "" && s.Node > 0 && (h.Nodes > 1 || s.Node > h.Nodes) {
		return nodeName(s.Node) + " " + note
	}
	return note
}

// serverNote is what befell a server, without its name.
func serverNote(h *history.History, s *step) string {
	note := ""
	switch s.Kind {
	case history.Expire:
		note = "EXPIRED"
		if h.ZooKeeper {
			note = "its place goes"
		}
	case history.SessionEnd:
		note = "session of " + clientName(s.Client) + " ENDS"
	case history.Fire:
		note = "tells " + clientName(s.Client)
	case history.Push:
		note = "message to " + clientName(s.Client)
	case history.Answer, history.LoseReply:
		note = tookNote(s)
	case history.Apply, history.Change:
		note = landed(h, s)
	case history.Down:
		note = "DOWN" + remark(s.Note)
	case history.Up:
		note = strings.TrimSpace("RESTART " + s.Note)
	case history.Failover:
		note = "FAILOVER"
		if n := replicaNumber(h, s); n > 0 {
			note += " to replica " + strconv.Itoa(n)
		}
		note += remark(s.Note)
	case history.Split:
		note = "SPLIT"
		if n := replicaNumber(h, s); n > 0 {
			note += ", replica " + strconv.Itoa(n) + " leads"
		}
	case history.Heal:
		note = "HEALED"
	case history.Hang:
		note = "HANGS " + span(s.D)
	case history.External:
		note = shortCommand(s.Cmd, h.Key) + remark(s.Note)
	case history.Replicate:
		note = "replica in step"
		if n := replicaNumber(h, s); n > 0 {
			note = "replica " + strconv.Itoa(n) + " in step"
		}
	case history.ClockStep:
		if s.Client == 0 {
			note = "CLOCK " + signed(s.D)
		}
	}
	return note
}

// replicaNumber is which replica an event is about, from 1; 0 where a server has
// but one, as far as the run shows.
func replicaNumber(h *history.History, s *step) int {
	for i := range h.Events {
		switch e := &h.Events[i]; e.Kind {
		case history.Replicate, history.Failover, history.Split:
			if e.Replica > 0 {
				return int(s.Replica) + 1
			}
		}
	}
	return 0
}

// tookNote says whose key it was that a command removed, replaced or re-timed.
func tookNote(s *step) string {
	if s.took == 0 {
		return ""
	}
	return "(it was " + clientName(s.took) + "'s)"
}

// landed says that a command took effect although its answer is not heard yet,
// or never.
func landed(h *history.History, s *step) string {
	who := "somebody"
	if s.Client > 0 {
		who = clientName(s.Client)
	}
	what := "change"
	if len(s.Cmd) > 0 {
		what = shortCommand(s.Cmd, h.Key)
	}
	return strings.TrimSpace(who + "'s " + what + " lands " + tookNote(s))
}
