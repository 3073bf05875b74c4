package reports

import (
	"io"
	"strconv"
	"strings"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Table prints a run as numbered steps: when, by whose clock, who, what, the
// reply, and who has the key afterwards for how long. The column with the
// client's own clock is left out of runs in which every clock is right.
func Table(w io.Writer, h *history.History, j verdict.Judgement, o Options) error {
	out := newLines(w, o)
	t := tabulate(h, walk(h, j))
	if t.write(out) {
		return out.err
	}
	for _, row := range t.rows[1:] {
		out.put(oneLine(row), 2)
	}
	return out.err
}

func tabulate(h *history.History, steps []step) *sheet {
	skewed, decimals, number := anySkew(steps), decimalsOf(h), 0
	t := &sheet{right: map[int]bool{0: true, 1: true, 2: skewed}, floor: 6}
	t.rows = append(t.rows, tableRow(skewed, "step", "t/ms", "own clock", "who", "what", "reply", serverName(h)+": "+h.Key))
	for i := range steps {
		s := &steps[i]
		own := ""
		if s.Skew != 0 {
			own = millis(s.At+s.Skew, decimals)
		}
		if s.Kind == history.Refuse && s.refused && s.retries {
			continue // the reply above says as much
		}
		what, reply := whatAndReply(h, s)
		number++
		t.rows = append(t.rows, tableRow(skewed, strconv.Itoa(number), millis(s.At, decimals), own,
			actor(h, s), what, reply, keyText(h, s)))
		for _, f := range s.findings {
			t.rows = append(t.rows, tableRow(skewed, "", "", "", "", mark(f), "", ""))
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

func anySkew(steps []step) bool {
	for i := range steps {
		if steps[i].Skew != 0 {
			return true
		}
	}
	return false
}

// actor is who does a step: a client, its timer, or a server.
func actor(h *history.History, s *step) string {
	switch {
	case s.who() > 0 && s.Thread > 0:
		return clientName(s.Client) + " timer"
	case s.who() > 0:
		return clientName(s.Client)
	case h.Nodes > 1 && s.Node > 0:
		return nodeName(s.Node)
	}
	return serverName(h)
}

func whatAndReply(h *history.History, s *step) (what, reply string) {
	where := ""
	if h.Nodes > 1 && s.Node > 0 {
		where = " @" + nodeName(s.Node)
	}
	switch s.Kind {
	case history.Answer:
		return fullCommand(s.Cmd) + where, clip(s.Reply, 24)
	case history.Timeout, history.Broken, history.LoseRequest, history.LoseReply, history.Delay, history.Reject:
		_, fate, _ := strings.Cut(cellText(h, s), shortCommand(s.Cmd, h.Key))
		fate = strings.TrimPrefix(strings.TrimPrefix(fate, " "+nodeName(s.Node)), " -> ")
		return fullCommand(s.Cmd) + where, strings.TrimSpace(fate)
	case history.Refuse:
		return refusal(s) + remark(s.Note), ""
	case history.Apply, history.Change:
		return landed(h, s), s.Reply
	}
	if s.who() > 0 {
		return strings.Trim(cellText(h, s), "[]"), ""
	}
	return serverNote(h, s), ""
}

// keyText is the key after a step: its owner and what is left of its life.
func keyText(h *history.History, s *step) string {
	left, held := timeLeft(s.keys, s.At)
	text := ownerName(s.keys[0])
	if h.Nodes > 1 {
		names := make([]string, h.Nodes)
		for n := range names {
			names[n] = padRight(ownerName(s.keys[n]), 2)
		}
		text = strings.Join(names, " ")
	}
	switch {
	case !held:
	case left == history.Forever:
		text += "  no ttl"
	default:
		text += "  ttl " + millis(left.Truncate(time.Millisecond), 0)
	}
	if s.Kind == history.Answer {
		text = strings.TrimSpace(text + "  " + tookNote(s))
	}
	return text
}
