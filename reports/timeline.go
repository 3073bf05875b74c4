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

// Timeline prints a line for each thing that C1, C2 or a server does, as articles do:
// each command in full and with its reply. Refused attempts that repeat each other are
// one line with a count.
func Timeline(w io.Writer, h *history.History, j verdict.Judgement, o Look) error {
	out := o.Lines(w)
	v := newWording(out.Lang(), h)
	s := &layout.Sheet{Right: layout.Only(0), Floor: 8}
	for _, l := range v.timeline(stepsOf(h, j)) {
		s.Rows = append(s.Rows, v.timeRow(&l))
		for _, m := range l.marks {
			s.Rows = append(s.Rows, []string{"", "", m})
		}
	}
	s.WriteOrList(out, 0)
	return out.Err()
}

// A timeLine is one line of a Timeline.
type timeLine struct {
	from, to time.Duration
	who      string
	texts    []string
	marks    []string
	count    int
	refused  bool   // a refused attempt, which may be folded with the next
	sig      string // what makes two of them the same
	last     step
}

func (v *wording) timeline(steps []step) []timeLine {
	var all []timeLine
	for i := range steps {
		s := &steps[i]
		text := v.timeText(s)
		if text == "" && len(s.findings) == 0 {
			continue
		}
		n := len(all) - 1
		if n >= 0 && all[n].takes(s) {
			v.add(&all[n], s, text)
		} else {
			l := timeLine{from: s.At, who: v.actorName(s), count: 1, refused: true}
			v.add(&l, s, text)
			all = append(all, l)
		}
	}
	return foldRefused(all)
}

// takes reports whether s continues the line: the same client at the same instant, or
// in the same refused attempt, or with the same command at the next server.
func (l *timeLine) takes(s *step) bool {
	p := &l.last
	if p.who() != s.who() || p.Thread != s.Thread || len(l.marks) > 0 {
		return false
	}
	return sameOnAnotherNode(p, s) || s.refused && p.refused && p.attempt == s.attempt || p.At == s.At && s.who() != 0
}

func (v *wording) add(l *timeLine, s *step, text string) {
	l.texts = withText(l.texts, &l.last, s, text)
	l.sig += s.Kind.String() + " " + Command(s.Cmd, v.h.Key) + ";"
	if !s.refused { // a refusal is one, whatever time to live it names
		l.sig += s.Reply
	}
	l.to, l.last = s.At, *s
	l.refused = l.refused && isQuiet(s)
	for _, f := range s.findings {
		l.marks = append(l.marks, v.mark(f))
	}
}

// foldRefused joins refused attempts that are the same, as long as nothing else happens.
func foldRefused(all []timeLine) (out []timeLine) {
	loud := 0 // the place after the last line that is more than a refused attempt
	for _, l := range all {
		same := slices.IndexFunc(out[loud:], func(p timeLine) bool { return p.who == l.who && p.sig == l.sig })
		if l.refused && same >= 0 {
			p := &out[loud+same]
			p.to, p.count = l.to, p.count+1
			continue
		}
		out = append(out, l)
		if !l.refused {
			loud = len(out)
		}
	}
	return out
}

func (v *wording) timeRow(l *timeLine) []string {
	at := Millis(l.from, v.decimals)
	if l.to != l.from {
		at += ".." + Millis(l.to, v.decimals)
	}
	return []string{at, l.who, v.cell(&cell{texts: l.texts, count: l.count}, l.to)}
}

// actorName names the actor of a step, with the capital of the articles: C1.
func (v *wording) actorName(s *step) string {
	client := strings.ToUpper(clientName(s.Client))
	switch {
	case s.who() > 0 && s.Thread > 0:
		return v.say("timeline.timer", "client", client)
	case s.who() > 0:
		return client
	case v.h.Nodes > 1 && s.Node > 0:
		return nodeName(s.Node)
	}
	return serverName(v.h)
}

// longArgument is the width of an argument or a reply in a timeline, in cells: the path of a
// znode fits.
const longArgument = 48

// timeText is one step in a timeline; "": it is left out.
func (v *wording) timeText(s *step) string {
	if s.noScript {
		return ""
	}
	if s.Kind == history.Expire {
		return v.say("timeline.expires")
	}
	command := v.sent(s)
	if len(s.Cmd) > 0 {
		command = commandText(s.Cmd, longArgument)
		if v.h.Nodes > 1 {
			command += " " + nodeName(s.Node)
		}
	}
	var text string
	switch {
	case s.Kind == history.Apply && s.Client > 0 && len(s.Cmd) > 0:
		text = v.say("timeline.lands", "command", command) + spaced(v.took(s))
	case s.Kind == history.Answer:
		text = command + " -> " + replyText(s.Reply, longArgument) + spaced(v.took(s))
	default:
		text = v.lane(s, command)
	}
	if text = strings.TrimSpace(text); text == "" {
		text = v.server(s)
	}
	return text
}
