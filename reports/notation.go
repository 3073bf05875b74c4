package reports

import (
	"io"
	"strings"

	"locklab/reports/layout"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Notation prints a line for each thing that a client or a server does, as articles do: each command in full with its
// reply. Attempts that repeat each other are one line with a count.
func Notation(w io.Writer, h *history.History, j verdict.Judgement, o Look) error {
	out := o.Lines(w)
	v := newWording(out.Lang(), h)
	s := &layout.Sheet{Right: layout.Only(0), Floor: 8}
	steps := withoutReloads(stepsOf(h, j))
	for _, l := range linesOf(h, steps) {
		when := v.when(l.from, l.to)
		add := func(who, what string) {
			if what != "" {
				s.Rows = append(s.Rows, []string{when, who, what})
				when = ""
			}
		}
		for i := range l.turns {
			if t := &l.turns[i]; t.count > 0 {
				add(v.actorName(t.steps[0]), v.turn(t, v.notation))
			}
		}
		if p := l.steps[0]; p.who() == 0 {
			add(v.actorName(p), v.joined(l.steps, v.notation))
		}
		for _, m := range v.marks(&l) {
			s.Rows = append(s.Rows, []string{"", "", m})
		}
	}
	s.WriteOrList(out, 0)
	return out.Err()
}

// actorName names the actor of a step.
func (v *wording) actorName(s *step) string {
	client := clientName(s.Client)
	switch {
	case s.who() > 0 && s.Thread > 0:
		return v.say("timeline.timer", "client", client)
	case s.who() > 0:
		return client
	case v.h.Nodes > 1 && s.Node > 0:
		return nodeName(s.Node)
	}
	return ServerName(v.h)
}

// longArgument is the width of an argument or a reply in a notation, in cells: the path of a znode fits.
const longArgument = 48

// notation is one step in a notation; "": it is left out.
func (v *wording) notation(s *step) string {
	if s.Kind == history.Expire {
		return v.say("brief.expire")
	}
	command := v.sent(s)
	if len(s.Cmd) > 0 {
		command = commandText(s.Cmd, longArgument)
		if v.h.Nodes > 1 {
			command += " " + nodeName(s.Node)
		}
	}
	text := v.lane(s, command)
	switch {
	case s.Kind == history.Apply && s.Client > 0 && len(s.Cmd) > 0:
		text = v.say("timeline.lands", "command", command) + spaced(v.took(s))
	case s.Kind == history.Answer:
		text = command + " -> " + replyText(s.Reply, longArgument) + spaced(v.took(s))
	}
	if text = strings.TrimSpace(text); text == "" {
		text = v.server(s)
	}
	return text
}
