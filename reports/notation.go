package reports

import (
	"io"
	"slices"
	"strings"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Notation tells a run as the articles do: a line for each thing that C1, C2 or a
// server does, each command in full and with its reply. What is asked again and again
// in vain is told once, with how often.
func Notation(w io.Writer, h *history.History, j verdict.Judgement, o Options) error {
	out := newLines(w, o)
	s := &sheet{right: map[int]bool{0: true}, floor: 8}
	for _, l := range notes(h, walk(h, j)) {
		s.rows = append(s.rows, l.row(decimalsOf(h)))
		for _, m := range l.marks {
			s.rows = append(s.rows, []string{"", "", m})
		}
	}
	if !s.write(out) {
		for _, row := range s.rows {
			out.put(oneLine(row), 2)
		}
	}
	return out.err
}

// A toldLine is one line of the articles' notation.
type toldLine struct {
	from, to time.Duration
	who      string
	texts    []string
	marks    []string
	count    int
	vain     bool   // a refused attempt, which may be folded with the next
	sig      string // what makes two of them the same
	last     step
}

func notes(h *history.History, steps []step) []toldLine {
	var all []toldLine
	for i := range steps {
		s := &steps[i]
		text := noteText(h, s)
		if text == "" && len(s.findings) == 0 {
			continue
		}
		n := len(all) - 1
		if n >= 0 && all[n].takes(s) {
			all[n].add(h, s, text)
		} else {
			l := toldLine{from: s.At, who: actorName(h, s), count: 1, vain: true}
			l.add(h, s, text)
			all = append(all, l)
		}
	}
	return foldVain(all)
}

// takes says whether s goes on with the line: the same client at the same instant, or
// in the same refused attempt, or with the same command at the next server.
func (l *toldLine) takes(s *step) bool {
	p := &l.last
	if p.who() != s.who() || p.Thread != s.Thread || len(l.marks) > 0 {
		return false
	}
	return sameOnAnotherNode(p, s) || s.refused && p.refused && p.attempt == s.attempt || p.At == s.At && s.who() != 0
}

func (l *toldLine) add(h *history.History, s *step, text string) {
	if n := len(l.texts); n > 0 && sameOnAnotherNode(&l.last, s) {
		head, reply, _ := strings.Cut(l.texts[n-1], " -> ")
		l.texts[n-1] = head + " " + nodeName(s.Node) + " -> " + reply
	} else if text != "" {
		l.texts = append(l.texts, text)
	}
	l.sig += s.Kind.String() + " " + shortCommand(s.Cmd, h.Key) + ";"
	if !s.refused { // a refusal is one, whatever time to live it names
		l.sig += s.Reply
	}
	l.to, l.last = s.At, *s
	l.vain = l.vain && isQuiet(s)
	for _, f := range s.findings {
		l.marks = append(l.marks, mark(f))
	}
}

// foldVain tells attempts in vain once, as long as nothing else happens.
func foldVain(all []toldLine) (out []toldLine) {
	loud := 0 // the place after the last line that is not in vain
	for _, l := range all {
		same := slices.IndexFunc(out[loud:], func(p toldLine) bool { return p.who == l.who && p.sig == l.sig })
		if l.vain && same >= 0 {
			p := &out[loud+same]
			p.to, p.count = l.to, p.count+1
			continue
		}
		out = append(out, l)
		if !l.vain {
			loud = len(out)
		}
	}
	return out
}

func (l *toldLine) row(decimals int) []string {
	at := millis(l.from, decimals)
	if l.to != l.from {
		at += ".." + millis(l.to, decimals)
	}
	c := cell{texts: l.texts, count: l.count}
	return []string{at, l.who, c.text(l.to, decimals)}
}

// actorName is who does a step, as the articles call them: C1.
func actorName(h *history.History, s *step) string {
	name := actor(h, s)
	if s.who() > 0 {
		name = strings.ToUpper(name[:1]) + name[1:]
	}
	return name
}

// longArgument is how much of an argument, or of a reply, the notation has room for:
// the path of a place in ZooKeeper's queue.
const longArgument = 48

// noteText is one step in the articles' notation, "" if they would not tell it.
func noteText(h *history.History, s *step) string {
	if s.noScript {
		return ""
	}
	full := commandText(s.Cmd, longArgument)
	if h.Nodes > 1 {
		full += " " + nodeName(s.Node)
	}
	switch s.Kind {
	case history.Apply:
		if s.Client > 0 && len(s.Cmd) > 0 {
			return strings.TrimSpace(full + " lands " + tookNote(s))
		}
	case history.Expire:
		return "the key EXPIRES"
	}
	text := cellText(h, s)
	if s.Kind == history.Answer {
		text = sent(h, s) + " -> " + replyText(s.Reply, longArgument)
	}
	if rest, ok := strings.CutPrefix(text, sent(h, s)); ok && len(s.Cmd) > 0 {
		text = full + rest
	}
	switch {
	case text == "":
		return serverNote(h, s)
	case s.Kind == history.Answer:
		text += " " + tookNote(s)
	}
	return strings.TrimSpace(text)
}
