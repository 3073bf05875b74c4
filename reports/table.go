package reports

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/reports/layout"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Table prints a run as numbered steps: when, by whose clock, who, what, the
// reply, and the owner and TTL of the key afterwards. The column with the
// client's own clock is left out of runs in which every clock is right.
func Table(w io.Writer, h *history.History, j verdict.Judgement, o Look) error {
	out := o.Lines(w)
	newWording(out.Lang(), h).table(stepsOf(h, j)).WriteOrList(out, 1)
	return out.Err()
}

func (v *wording) table(steps []step) *layout.Sheet {
	skewed, number := slices.ContainsFunc(steps, func(s step) bool { return s.Skew != 0 }), 0
	t := &layout.Sheet{Right: layout.Only(0, 1), Floor: 6}
	if skewed {
		t.Right = layout.Only(0, 1, 2)
	}
	t.Rows = append(t.Rows, tableRow(skewed, v.say("table.step"), "t/ms", v.say("table.own"), v.say("table.who"),
		v.say("table.what"), v.say("table.reply"), serverName(v.h)+": "+v.h.Key))
	for i := range steps {
		s := &steps[i]
		own := ""
		if s.Skew != 0 {
			own = Millis(s.At+s.Skew, v.decimals)
		}
		if s.Kind == history.Refuse && s.refused && s.retries {
			continue // the reply above says as much
		}
		what, reply := v.whatAndReply(s)
		number++
		t.Rows = append(t.Rows, tableRow(skewed, strconv.Itoa(number), Millis(s.At, v.decimals), own,
			v.subject(s), what, reply, v.keyAfter(s)))
		for _, f := range s.findings {
			t.Rows = append(t.Rows, tableRow(skewed, "", "", "", "", v.mark(f), "", ""))
		}
	}
	return t
}

func tableRow(skewed bool, step, at, own, who, what, reply, key string) []string {
	row := []string{step, at}
	if skewed {
		row = append(row, own)
	}
	return append(row, who, what, reply, key)
}

// subject names the client, the timer or the server that does a step.
func (v *wording) subject(s *step) string {
	switch {
	case s.who() > 0 && s.Thread > 0:
		return v.say("table.timer", "client", clientName(s.Client))
	case s.who() > 0:
		return clientName(s.Client)
	case v.h.Nodes > 1 && s.Node > 0:
		return nodeName(s.Node)
	}
	return serverName(v.h)
}

func (v *wording) whatAndReply(s *step) (what, reply string) {
	where := ""
	if v.h.Nodes > 1 && s.Node > 0 {
		where = " @" + nodeName(s.Node)
	}
	switch {
	case s.Kind == history.Answer:
		return v.full(s) + where, layout.Clip(s.Reply, 24)
	case s.Kind == history.Refuse:
		return v.refusal(s) + v.remark(s.Note), ""
	case s.Kind == history.Apply || s.Kind == history.Change:
		return v.landed(s), s.Reply
	case s.who() > 0 && v.aboutCommand(s):
		return v.full(s) + where, strings.TrimPrefix(v.event("lane", s, ""), "-> ")
	case s.who() > 0:
		return strings.Trim(v.lane(s, ""), "[]"), ""
	}
	return v.server(s), ""
}

// full is the command of a step as sent; see fullCommand.
func (v *wording) full(s *step) string {
	if len(s.Cmd) == 0 {
		return v.say("table.request")
	}
	return fullCommand(s.Cmd)
}

// keyAfter is the key after a step: its owner and what is left of its life.
func (v *wording) keyAfter(s *step) string {
	left, held := timeLeft(s.Keys, s.At)
	text := ownerName(s.Keys[0])
	if v.h.Nodes > 1 {
		text = eachNode(v.h, func(n int) string { return ownerName(s.Keys[n]) })
	}
	switch {
	case !held:
	case left == history.Forever:
		text += "  " + v.say("lanes.nottl")
	default:
		text += "  ttl " + Millis(left.Truncate(time.Millisecond), 0)
	}
	if s.Kind == history.Answer {
		text = strings.TrimSpace(text + "  " + v.took(s))
	}
	return text
}
