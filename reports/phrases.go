package reports

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"locklab/reports/text"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A wording puts the events of one run into words of one language.
type wording struct {
	lang     string
	h        *history.History
	decimals int
}

func newWording(lang string, h *history.History) *wording { return &wording{lang, h, Decimals(h)} }

func (v *wording) say(key string, pairs ...string) string { return say(v.lang, key, pairs...) }

// event words an event for one kind of view: "lane" for the lane of its client, "server" for the column of the servers,
// "fault" for a story. command is how the view writes the event's command.
//
// The catalogues decide what is said of an event: the text is <view>.<name>.<variant>, else <view>.<name>, where the
// name is that of its kind or of its fault; if there is neither, the view says nothing, and of a fault no more than the
// name. So a new kind of event needs texts, and no code.
func (v *wording) event(view string, s *step, command string) string {
	key := v.key(view, s)
	if key == "" {
		return ""
	}
	return strings.TrimSpace(v.say(key, v.values(s, command)...))
}

func (v *wording) key(view string, s *step) string {
	key := v.keyOf(view+"."+s.Name(), s)
	if key == "" && s.Kind.Fault() {
		return v.keyOf(view+"."+history.Fault.String(), s)
	}
	return key
}

// keyOf is the key with the first circumstance of s for which there is a text.
func (v *wording) keyOf(key string, s *step) string {
	catalogue := text.In(v.lang)
	for _, variant := range v.variants(s) {
		if catalogue.Has(key + "." + variant) {
			return key + "." + variant
		}
	}
	if catalogue.Has(key) {
		return key
	}
	return ""
}

// variants are the circumstances of an event for which a catalogue may have a text of its own, the first one first.
func (v *wording) variants(s *step) (names []string) {
	if s.Note != "" {
		note := strings.ReplaceAll(s.Note, " ", "-")
		if s.D == 0 {
			names = append(names, note+"-open")
		}
		names = append(names, note)
	}
	for _, c := range []struct {
		name string
		is   bool
	}{
		{"still-mine", s.Claims && s.OK},
		{"not-mine", s.Claims && !s.OK},
		{"noted", s.Note != ""},
		{"numbered", replicaNumber(v.h, s) > 0},
		{"inside", s.now().Stage == verdict.Inside},
		{"open", s.D == 0},
		{"several", v.h.Nodes > 1},
		{"zookeeper", v.h.ZooKeeper},
		{"database", v.h.Database},
		{"client", s.Client > 0},
		{"server", s.Client == 0},
	} {
		if c.is {
			names = append(names, c.name)
		}
	}
	return names
}

// values are the placeholders of every text about an event.
func (v *wording) values(s *step, command string) []string {
	node := nodeName(s.Node)
	client, who := node, node
	if s.Client > 0 {
		client = v.sender(s)
		who = client
	}
	return []string{
		"client", client, "node", node, "who", who, "command", command,
		"time", v.time(s.D), "jump", v.jump(s.D), // in words: 10 s
		"span", Span(s.D), "step", signed(s.D), // briefly: 10s
		"note", v.remark(s.Note), "what", v.note(s.Note), "key", s.Key, "place", shortPath(s.Key),
		"n", strconv.Itoa(replicaNumber(v.h, s)), "token", fence(s.Token),
		"version", strconv.Itoa(s.Version), "base", strconv.Itoa(s.Base), "fault", s.Name(),
		"reply", Reply(s.Reply),
	}
}

// sender is the client of a step, or its timer.
func (v *wording) sender(s *step) string {
	if s.Thread == 0 {
		return clientName(s.Client)
	}
	return v.say("part.timer", "client", clientName(s.Client))
}

// lane words a step for its client's lane; command is its command as the view writes it.
func (v *wording) lane(s *step, command string) string {
	if (s.Kind == history.Read || s.Kind == history.Write) && s.now().Stage == verdict.Dead {
		return v.say("lane.dead", "what", v.laneAlive(s, command))
	}
	return v.laneAlive(s, command)
}

// laneAlive is lane of a client that has not crashed.
func (v *wording) laneAlive(s *step, command string) string {
	switch s.Kind {
	case history.Answer:
		return command + " -> " + Reply(s.Reply)
	case history.LoseReply: // an error has had no effect, which the loss does not tell
		if strings.HasPrefix(s.Reply, "(error)") {
			command += " -> " + Reply(s.Reply)
		}
	case history.Refuse:
		return v.refusal(s)
	case history.Write:
		return v.write("lane", s)
	case history.Enter, history.Leave:
		if v.h.Veiled {
			return ""
		}
	}
	return v.event("lane", s, command)
}

// sent is the command of a step as lanes write it.
func (v *wording) sent(s *step) string {
	text := Command(s.Cmd, v.h.Key)
	if len(s.Cmd) == 0 {
		text = v.say("lane.request")
	}
	if s.Thread > 0 {
		text = v.say("lane.timer", "command", text)
	}
	if v.h.Nodes > 1 {
		text += " " + nodeName(s.Node)
	}
	return text
}

func (v *wording) refusal(s *step) string {
	if s.retries {
		return v.say("lane.refuse.again")
	}
	return v.say("lane.refuse")
}

func (v *wording) write(view string, s *step) string {
	key := view + ".write"
	switch {
	case !s.OK && s.Token == 0: // there is no token to show
		key += ".outdated"
	case !s.OK:
		key += ".refused"
	case s.Version == 0: // of a log without versions
		key += ".plain"
	case s.Base != s.Version-1:
		key += ".stale"
	}
	return v.say(key, v.values(s, "")...)
}

func fence(token uint64) string {
	if token == 0 {
		return ""
	}
	return " #" + strconv.FormatUint(token, 10)
}

// remark is a note in brackets, which follows what it is about.
func (v *wording) remark(note string) string {
	if note == "" {
		return ""
	}
	return spaced(v.say("lane.note", "note", v.note(note)))
}

// spaced puts a blank before a text, unless it begins with what brings its own space, such as a full-width bracket.
func spaced(text string) string {
	if text == "" || text[0] >= utf8.RuneSelf {
		return text
	}
	return " " + text
}

// note is the note of an event: a phrase, which the catalogue translates, or the text of an error, as it is.
func (v *wording) note(note string) string {
	key := "note." + strings.ReplaceAll(note, " ", "-")
	if text := entry(v.lang, key); text != "" {
		return text
	}
	return note
}

// redis words a step for the column of the servers, beside the owner.
func (v *wording) redis(s *step) string {
	note := v.server(s)
	if note != "" && s.Node > 0 && (v.h.Nodes > 1 || s.Node > v.h.Nodes) {
		return nodeName(s.Node) + " " + note
	}
	return note
}

// server words an event of a server, without its name.
func (v *wording) server(s *step) string {
	switch s.Kind {
	case history.Answer, history.LoseReply:
		return v.took(s)
	case history.Apply, history.Change:
		return v.landed(s)
	}
	return v.event("server", s, Command(s.Cmd, v.h.Key))
}

// replicaNumber is the replica of an event, from 1; 0 where no server has more than one, as far as the run shows.
func replicaNumber(h *history.History, s *step) int {
	switch s.Kind {
	case history.Replicate, history.Failover, history.Split:
	default:
		return 0
	}
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

// took says whose key it was that a command removed, replaced or re-timed.
func (v *wording) took(s *step) string {
	if s.took == 0 {
		return ""
	}
	return v.say("server.took", "owner", clientName(s.took))
}

// landed says that a command took effect although its answer is not heard yet, or never.
func (v *wording) landed(s *step) string {
	who := v.say("server.somebody")
	if s.Client > 0 {
		who = clientName(s.Client)
	}
	what := v.say("server.change")
	if len(s.Cmd) > 0 {
		what = Command(s.Cmd, v.h.Key)
	}
	landed := v.say("server.landed", "who", who, "what", what)
	if isError(s.Reply) {
		landed += " -> " + Reply(s.Reply)
	}
	return landed + spaced(v.took(s))
}

// mark is a finding as margins have it: "!! OVERLAP c1+c2".
func (v *wording) mark(f verdict.Finding) string {
	who := ""
	switch {
	case len(f.Clients) == 0:
	case f.Verdict == verdict.Overlap:
		who = ClientNames(f.Clients, "+")
	case v.overwrites(f):
		who = v.say("mark.by.overwrites", "client", clientName(f.Clients[0]))
	case f.Verdict == verdict.StaleWrite || f.Verdict == verdict.WrongDel:
		who = v.say("mark.by", "client", clientName(f.Clients[0]))
	case f.Verdict == verdict.Lie:
		who = v.say("mark.to", "client", clientName(f.Clients[0]))
	default:
		who = ClientNames(f.Clients, ",")
		if waits := v.waiting(f); waits != nil {
			key := map[bool]string{true: "mark.waits", false: "mark.wait"}[len(waits) == 1]
			if waits[0] == v.h.Probe {
				key = "mark.probe"
			} else if f.Forever {
				key += ".ever"
			}
			said := v.say(key, "client", ClientNames(waits, ","), "time", v.lasting(f))
			return strings.Join([]string{"!!", string(f.Verdict), said}, " ")
		}
	}
	parts := []string{"!!", string(f.Verdict), who, v.lasting(f)}
	return strings.Join(strings.Fields(strings.Join(parts, " ")), " ")
}

// overwrites reports whether a finding is of a command that wrote another value over a lock, and deleted nothing.
func (v *wording) overwrites(f verdict.Finding) bool {
	e := &v.h.Events[f.Event]
	return f.Verdict == verdict.WrongDel && e.Kind == history.Change && e.After != "" && e.After != e.Before
}

// waiting are the clients that want the lock at the end of a finding that nobody can get it; nil: it is another one.
// One that has died, that is inside, or that gives up after one refusal does not want it.
func (v *wording) waiting(f verdict.Finding) (all []int) {
	if f.Verdict != verdict.Deadlock && f.Verdict != verdict.Blocked {
		return nil
	}
	for c := 1; c <= v.h.Clients; c++ {
		asks, asked := false, 0
		for _, e := range v.h.Events {
			switch {
			case e.Client != c:
			case e.At >= f.To:
				asks = asks || asked > 0 && e.Kind == history.Acquire
			case e.Kind == history.Acquire:
				asks, asked = true, asked+1
			case e.Kind == history.Refuse:
				asks = asked > 1
			case e.Kind == history.Enter, e.Kind == history.Crash, e.Kind == history.Done:
				asks, asked = false, 0
			}
		}
		if asks {
			all = append(all, c)
		}
	}
	return all
}

// lasting is the length of a finding whose length is the point of it.
func (v *wording) lasting(f verdict.Finding) string {
	switch f.Verdict {
	case verdict.Orphan, verdict.Deadlock, verdict.Blocked, verdict.Starved, verdict.Slow:
	default:
		return ""
	}
	switch {
	case f.Forever:
		return v.say("part.ever")
	case f.To > f.From:
		return Span(f.To - f.From)
	}
	return ""
}

// time is a length of time with its unit in words.
func (v *wording) time(d time.Duration) string {
	if d == history.Forever {
		return v.say("part.ever")
	}
	text := Span(d)
	number := strings.TrimRight(text, "µms")
	key := map[string]string{"s": "part.seconds", "ms": "part.millis", "µs": "part.micros"}[text[len(number):]]
	return v.say(key, "n", number)
}

func (v *wording) jump(d time.Duration) string {
	if d < 0 {
		return v.time(d)
	}
	return "+" + v.time(d)
}

// painter returns what paints finished lines of a language: verdicts red, brackets green and faults yellow.
func painter(lang string) func(line string) string {
	var faults []string
	for _, key := range text.In(lang).Keys("painted.") {
		faults = append(faults, strings.Fields(say(lang, key))...)
	}
	for i, word := range faults {
		if word[0] < 0x80 {
			faults[i] = `\b` + word + `\b`
		}
	}
	colors := []struct {
		pattern *regexp.Regexp
		code    int
	}{ // the first match wins
		{regexp.MustCompile(`!! [A-Z-]+.*`), 31},
		{regexp.MustCompile(`\[` + say(lang, "lanes.entered") + `|` + say(lang, "lanes.left") + `\]`), 32},
		{regexp.MustCompile(strings.Join(faults, "|")), 33},
	}
	return func(line string) string {
		for _, c := range colors {
			line = c.pattern.ReplaceAllString(line, "\x1b["+strconv.Itoa(c.code)+"m${0}\x1b[0m")
		}
		return line
	}
}
