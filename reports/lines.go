package reports

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A line is what happened at one instant, or attempts that repeat each other over some time. Lanes, notation, pictures
// and pages are written from the lines of a run. RedisCLI counts what is typed again, and Code has the requests of a
// line of code together; neither is in the order of what clients observe.
type line struct {
	from, to time.Duration
	steps    []*step // of attempts that repeat each other, the first
	last     *step   // with the state after the line
	turns    []turn  // by client, from 0
	findings []verdict.Finding
	noReturn bool // it is that of the point of no return
	quiet    bool // it has refused attempts and renewals only
}

// A turn is what one client does in a line.
type turn struct {
	steps        []*step // of attempts that repeat each other, the last
	sig          string  // what makes two of them repeat each other: the commands, not the values
	first, heard string  // the last replies of the first attempt and of the last
	count        int     // of the attempts; 0: it does nothing
}

// linesOf joins steps that belong together, and folds lines that repeat each other.
func linesOf(h *history.History, steps []step) []line {
	var lines []line
	for i := range steps {
		s := &steps[i]
		if n := len(lines); n == 0 || !lines[n-1].takes(s) {
			lines = append(lines, line{from: s.At, turns: make([]turn, h.Clients), quiet: true})
		}
		lines[len(lines)-1].add(s, h)
	}
	var folded []line
	for i := range lines {
		if n := len(folded); n == 0 || !folded[n-1].fold(&lines[i]) {
			folded = append(folded, lines[i])
		}
	}
	return folded
}

// takes reports whether s belongs to the line: of the same client at the same instant, another command of one refused
// attempt, or the same command at the next server of a quorum. A verdict always ends a line, to be beside its cause.
func (l *line) takes(s *step) bool {
	p := l.last
	switch {
	case p.who() != s.who() || p.Thread != s.Thread:
		return false
	case len(l.findings) > 0 || l.noReturn:
		return s.Kind == history.Refuse && p.At == s.At // it says no more than what went before
	case s.refused && p.refused && p.attempt == s.attempt, sameOnAnotherNode(p, s):
		return true
	}
	return p.At == s.At && (s.who() != 0 || p.Node == s.Node)
}

func sameOnAnotherNode(p, s *step) bool {
	return p.Kind == history.Answer && s.Kind == history.Answer && p.attempt == s.attempt &&
		p.Node != s.Node && p.Reply == s.Reply && slices.Equal(p.Cmd, s.Cmd)
}

func (l *line) add(s *step, h *history.History) {
	l.to, l.last, l.steps = s.At, s, append(l.steps, s)
	l.findings, l.noReturn = append(l.findings, s.findings...), l.noReturn || s.noReturn
	l.quiet = l.quiet && isQuiet(s)
	if c := s.who(); c > 0 && c <= len(l.turns) {
		t := &l.turns[c-1]
		if t.count, t.steps = 1, append(t.steps, s); s.Kind == history.Answer && !h.ZooKeeper {
			t.first, t.heard = Reply(s.Reply), Reply(s.Reply)
		}
		command := Command(s.Cmd, h.Key)
		if h.ZooKeeper { // whose nodes have a name of their own in each attempt
			command = numbers.ReplaceAllString(command, "")
		}
		t.sig += s.Kind.String() + " " + command + ";"
		if s.Thread > 0 || isError(s.Reply) {
			t.sig += s.Reply
		}
		if s.Kind == history.Refuse {
			t.sig += strconv.FormatBool(s.retries)
		}
	}
}

func isQuiet(s *step) bool {
	if len(s.findings) > 0 || s.noReturn || s.took != 0 {
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

// fold adds the next line, if each client does the same in both, or nothing in one of them, and nothing comes of it.
func (l *line) fold(next *line) bool {
	if !l.quiet || !next.quiet {
		return false
	}
	for i := range next.turns {
		if a, b := &l.turns[i], &next.turns[i]; a.count > 0 && b.count > 0 && a.sig != b.sig {
			return false
		}
	}
	for i, t := range next.turns {
		if t.count > 0 {
			if before := l.turns[i]; before.count > 0 {
				t.count, t.first = t.count+before.count, before.first
			}
			l.turns[i] = t
		}
	}
	l.to, l.last = next.to, next.last
	return true
}

// repeats reports whether a line has attempts that repeat each other.
func (l line) repeats() bool {
	return slices.ContainsFunc(l.turns, func(t turn) bool { return t.count > 1 })
}

// turn words what a client does: "SETNX -> 0, retry x9". text words a step.
func (v *wording) turn(t *turn, text func(*step) string) string {
	said := v.joined(t.steps, text)
	if t.count > 1 {
		said = strings.Replace(said, " -> "+t.heard, " -> "+fromTo(t.first, t.heard), 1) + " x" + strconv.Itoa(t.count)
	}
	return said
}

// joined words steps in a row. Of one that is at another server what the step before it is, only the server is said.
func (v *wording) joined(steps []*step, text func(*step) string) string {
	var texts []string
	for i, s := range steps {
		said, n := text(s), len(texts)
		switch {
		case n > 0 && sameOnAnotherNode(steps[i-1], s):
			head, reply, _ := strings.Cut(texts[n-1], " -> ")
			texts[n-1] = head + " " + nodeName(s.Node) + " -> " + reply
		case said != "":
			texts = append(texts, said)
		}
	}
	return v.list(texts)
}

// list joins texts by commas, but for those in brackets.
func (v *wording) list(texts []string) (all string) {
	for i, t := range texts {
		switch {
		case i == 0:
			all = t
		case strings.HasPrefix(t, "[") || strings.HasSuffix(texts[i-1], "]") && !strings.Contains(texts[i-1], "["):
			all += " " + t
		default:
			all = v.say("lane.join", "first", all, "next", t)
		}
	}
	return all
}

// lanesTurn is a turn as lanes have it, with the client's own time where its clock is off.
func (v *wording) lanesTurn(l *line, client int) string {
	t := &l.turns[client]
	said := v.turn(t, func(s *step) string { return v.lane(s, v.sent(s)) })
	if n := len(t.steps); n > 0 && t.steps[n-1].Skew != 0 && said != "" {
		said += spaced(v.say("lane.own", "time", Millis(l.to+t.steps[n-1].Skew, v.decimals)))
	}
	return said
}

// befell returns the notes of what befell the servers in a line.
func (v *wording) befell(l *line) string {
	var notes []string
	for _, s := range l.steps {
		if note := v.redis(s); note != "" {
			notes = append(notes, note)
		}
	}
	return strings.Join(notes, "  ")
}

// marks are the texts of a line in the margin.
func (v *wording) marks(l *line) (all []string) {
	for _, f := range l.findings {
		all = append(all, v.mark(f))
	}
	if l.noReturn {
		all = append(all, v.say("lanes.noreturn"))
	}
	return all
}

// when is the time of a line, in milliseconds: an instant, or from when to when.
func (v *wording) when(from, to time.Duration) string {
	first, last := Millis(from, v.decimals), Millis(to, v.decimals)
	if first == last {
		return first
	}
	return first + ".." + last
}
