package reports

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// maxSentences is how long a story may get before its least telling sentences
// are dropped.
const maxSentences = 25

// Narrate tells a run in sentences, each with the true time of what it tells,
// and ends with what the gravest verdict means and what mends it. In both
// languages, the Chinese sentence follows the English one.
func Narrate(w io.Writer, h *history.History, j verdict.Judgement, o Options) error {
	var stories [][]sentence
	for _, lang := range o.langs() {
		stories = append(stories, story(lang, h, j))
	}
	s := &sheet{right: map[int]bool{0: true}, floor: 8}
	for i := range stories[0] {
		when := stories[0][i].when(decimalsOf(h))
		for _, told := range stories {
			s.rows = append(s.rows, []string{when, told[i].text})
			when = ""
		}
	}
	out := newLines(w, o)
	if s.write(out) {
		return out.err
	}
	for _, row := range s.rows {
		out.put(oneLine(row), 2)
	}
	return out.err
}

// A sentence is one thing worth telling.
type sentence struct {
	at     time.Duration // true time; untimed: of the run as a whole
	text   string
	weight int // when there is too much to tell, light sentences go first
}

const untimed time.Duration = -1

// The weights, from what is told first to what is dropped first.
const (
	always = iota + 1
	grave
	turning
	plain
	detail
)

func (s sentence) when(decimals int) string {
	if s.at == untimed {
		return ""
	}
	return millis(s.at, decimals) + " ms"
}

// story tells a run in one language. The sentences of two languages correspond
// one to one.
func story(lang string, h *history.History, j verdict.Judgement) []sentence {
	t := &teller{
		lang: lang, h: h,
		pending: make([][]*step, h.Clients+1),
		leaving: make([]bool, h.Clients+1),
		heard:   make([]string, h.Clients+1),
		keys:    make([]keyState, max(1, h.Nodes)),
	}
	t.intro()
	steps := withoutReloads(walk(h, j))
	for i := range steps {
		t.step(&steps[i])
	}
	t.flush()
	t.moral(j)
	return shorten(t.told)
}

type teller struct {
	lang    string
	h       *history.History
	told    []sentence
	pending [][]*step // by client: commands answered and not yet told
	leaving []bool    // by client: outside again, and about to give the lock back
	heard   []string  // by client: the state of the key in which its refusal was last told
	keys    []keyState
}

func (t *teller) tell(at time.Duration, weight int, key string, pairs ...string) {
	t.told = append(t.told, sentence{at, say(t.lang, key, pairs...), weight})
}

func (t *teller) intro() {
	mortal := func(e history.Event) bool {
		return e.Kind == history.Change && e.Key == t.h.Key && e.After != "" && e.Until != history.Forever
	}
	if t.h.ZooKeeper {
		t.tell(untimed, always, "story.intro.line", "key", t.h.Key, "ttl", t.span(t.h.TTL))
		return
	}
	if !slices.ContainsFunc(t.h.Events, mortal) {
		t.tell(untimed, always, "story.intro.forever", "key", t.h.Key)
		return
	}
	t.tell(untimed, always, "story.intro", "key", t.h.Key, "ttl", t.span(t.h.TTL))
}

// moral closes the story with the gravest verdict: the first, but for a DEADLOCK that
// stands behind the ORPHAN it comes from.
func (t *teller) moral(j verdict.Judgement) {
	if len(j.Verdicts) == 0 {
		return
	}
	words := make([]string, len(j.Verdicts))
	for i, w := range j.Verdicts {
		words[i] = string(w)
	}
	t.tell(untimed, always, "story.verdicts", "verdicts", sayAll(t.lang, "chart.list", words))
	gravest := j.Verdicts[0]
	if i := slices.IndexFunc(j.Verdicts, verdict.Word.Harm); i > 0 {
		gravest = j.Verdicts[i]
	}
	t.tell(untimed, always, "story.why", "verdict", string(gravest),
		"meaning", Meaning(gravest, t.lang), "cure", Cure(gravest, t.lang))
}

// step tells one step, or keeps it until its consequence is known: a command is
// told together with what it led to.
func (t *teller) step(s *step) {
	switch {
	case s.Kind == history.Answer && s.Thread == 0:
		t.pending[s.Client] = append(t.pending[s.Client], s)
	case s.Kind == history.Refuse:
		t.refuse(s)
	case s.Kind == history.Enter:
		t.enter(s)
	case s.Kind == history.Leave && s.Note == "":
		t.flushClient(s.Client)
		t.leaving[s.Client] = true
	case s.Kind == history.Answer:
		t.renewal(s)
	default:
		t.flush()
		t.event(s)
	}
	if s.took != 0 || len(s.findings) > 0 {
		t.flush()
	}
	for _, f := range s.findings {
		t.finding(s.At, f)
	}
	t.keys = s.keys
}

func (t *teller) enter(s *step) {
	commands := t.pending[s.Client]
	t.pending[s.Client] = nil
	t.flush()
	t.leaving[s.Client] = false
	if len(commands) == 0 {
		t.tell(s.At, turning, "story.won.silent", "client", clientName(s.Client))
		return
	}
	t.tell(s.At, turning, "story.won", "client", clientName(s.Client), "commands", t.commands(commands))
}

// refuse tells a refusal once as long as the key stays in the same hands.
func (t *teller) refuse(s *step) {
	commands := t.pending[s.Client]
	t.pending[s.Client] = nil
	owners := ""
	for _, k := range s.keys {
		owners += ownerName(k) + " "
	}
	if len(commands) == 0 || s.retries && t.heard[s.Client] == owners {
		return
	}
	t.heard[s.Client] = owners
	key, weight := "story.refused", detail
	if !s.retries {
		key = "story.gaveup"
	}
	if !s.refused {
		weight = plain
	}
	t.flush()
	t.tell(s.At, weight, key, "client", clientName(s.Client), "commands", t.commands(commands))
}

// renewal tells a timer's command where it differs from the one before.
func (t *teller) renewal(s *step) {
	text := t.commands([]*step{s})
	same := func(told sentence) bool {
		return told.text == say(t.lang, "story.sent", "client", t.sender(s), "commands", text)
	}
	if s.took == 0 && slices.ContainsFunc(t.told, same) {
		return
	}
	t.flush()
	t.tell(s.At, plain, "story.sent", "client", t.sender(s), "commands", text)
	t.tellTook(s)
}

// flush tells what is kept, in the order in which it was answered.
func (t *teller) flush() {
	var clients []int
	for c, commands := range t.pending {
		if len(commands) > 0 {
			clients = append(clients, c)
		}
	}
	answered := func(c int) time.Duration { return t.pending[c][len(t.pending[c])-1].At }
	slices.SortStableFunc(clients, func(a, b int) int { return cmp.Compare(answered(a), answered(b)) })
	for _, c := range clients {
		t.flushClient(c)
	}
}

// flushClient tells commands whose consequence is not an Enter or a Refuse.
func (t *teller) flushClient(c int) {
	commands := t.pending[c]
	if len(commands) == 0 || commands[0].refused { // a refusal is told when it is complete
		return
	}
	t.pending[c] = nil
	key := "story.sent"
	if t.leaving[c] {
		key = "story.release"
		t.leaving[c] = false
	}
	last := commands[len(commands)-1]
	t.tell(last.At, plain, key, "client", clientName(c), "commands", t.commands(commands))
	t.tellTook(last)
}

func (t *teller) tellTook(s *step) {
	if s.took != 0 {
		t.tell(s.At, grave, "story.took", "owner", clientName(s.took))
	}
}

// sender is the client of a step, or its timer.
func (t *teller) sender(s *step) string {
	if s.Thread == 0 {
		return clientName(s.Client)
	}
	return say(t.lang, "part.timer", "client", clientName(s.Client))
}

// command is one command without its reply, and its node where there are many.
func (t *teller) command(s *step) string {
	if len(s.Cmd) == 0 {
		return say(t.lang, "part.request")
	}
	if t.h.Nodes < 2 {
		return fullCommand(s.Cmd)
	}
	return say(t.lang, "part.at", "command", fullCommand(s.Cmd), "node", nodeName(s.Node))
}

// commands joins commands and replies; the same command with the same reply
// from several nodes is said once.
func (t *teller) commands(steps []*step) string {
	text := ""
	for len(steps) > 0 {
		n := 1
		for n < len(steps) && sameOnAnotherNode(steps[n-1], steps[n]) {
			n++
		}
		part := t.heardFrom(steps[:n])
		if text == "" {
			text = part
		} else {
			text = say(t.lang, "part.then", "first", text, "next", part)
		}
		steps = steps[n:]
	}
	return text
}

func (t *teller) heardFrom(steps []*step) string {
	s := steps[0]
	if t.h.Nodes < 2 {
		return say(t.lang, "part.heard", "command", fullCommand(s.Cmd), "reply", shortReply(s.Reply))
	}
	nodes := make([]string, len(steps))
	for i, s := range steps {
		nodes[i] = nodeName(s.Node)
	}
	return say(t.lang, "part.nodes", "command", fullCommand(s.Cmd), "reply", shortReply(s.Reply),
		"nodes", strings.Join(nodes, " "))
}

// event tells everything that is not a command's answer.
func (t *teller) event(s *step) {
	client := t.sender(s)
	switch s.Kind {
	case history.Expire:
		t.expire(s)
	case history.Leave:
		t.tell(s.At, turning, "story.leave", "client", client, "note", s.Note)
	case history.Read:
		t.tell(s.At, detail, "story.read", "client", client, "version", strconv.Itoa(s.Version))
	case history.Write:
		t.write(s)
	case history.Apply, history.Change:
		t.landed(s)
	case history.Timeout:
		t.tell(s.At, turning, "story.timeout", "client", client, "command", t.command(s))
	case history.Broken:
		t.tell(s.At, turning, "story.broken", "client", client, "command", t.command(s))
	default:
		t.fault(s)
	}
}

func (t *teller) expire(s *step) {
	if t.h.ZooKeeper {
		t.tell(s.At, turning, "story.place.goes")
		return
	}
	where := ""
	if t.h.Nodes > 1 {
		where = say(t.lang, "part.on", "node", nodeName(s.Node))
	}
	if n := s.Node - 1; n >= 0 && n < len(t.keys) {
		owner := t.keys[n].owner
		if owner > 0 && owner <= len(s.clients) && s.clients[owner-1].stand == inside {
			t.tell(s.At, turning, "story.expire.inside", "where", where, "owner", clientName(owner))
			return
		}
	}
	t.tell(s.At, turning, "story.expire", "where", where)
}

func (t *teller) write(s *step) {
	client := clientName(s.Client)
	switch {
	case !s.OK && t.h.Guard == history.CompareAndSet:
		t.tell(s.At, grave, "story.write.old", "client", client, "base", strconv.Itoa(s.Base))
	case !s.OK:
		t.tell(s.At, grave, "story.write.refused", "client", client)
	case s.Base != s.Version-1:
		t.tell(s.At, grave, "story.write.stale", "client", client, "base", strconv.Itoa(s.Base))
	default:
		t.tell(s.At, plain, "story.write", "client", client, "version", strconv.Itoa(s.Version))
	}
}

func (t *teller) landed(s *step) {
	if s.Client == 0 || len(s.Cmd) == 0 {
		t.tell(s.At, grave, "story.stranger")
	} else {
		t.tell(s.At, plain, "story.lands", "client", clientName(s.Client), "command", t.command(s))
	}
	t.tellTook(s)
}

func (t *teller) fault(s *step) {
	client, node := t.sender(s), nodeName(s.Node)
	switch s.Kind {
	case history.Pause:
		if s.D == 0 { // until it is told to go on
			t.tell(s.At, grave, "story.pause.open", "client", client)
			break
		}
		t.tell(s.At, grave, "story.pause", "client", client, "time", t.span(s.D))
	case history.Resume:
		key := "story.resume"
		if s.now().stand == inside {
			key = "story.resume.inside"
		}
		t.tell(s.At, turning, key, "client", client)
	case history.Crash:
		t.tell(s.At, grave, "story.crash", "client", client)
	case history.ClockStep:
		who := client
		if s.Client == 0 {
			who = node
		}
		t.tell(s.At, grave, "story.clock", "who", who, "time", t.signed(s.D))
	case history.LoseRequest:
		t.tell(s.At, grave, "story.lost.request", "client", client, "command", t.command(s))
	case history.LoseReply:
		t.tell(s.At, grave, "story.lost.reply", "client", client, "command", t.command(s))
		t.tellTook(s)
	case history.Down:
		t.tell(s.At, grave, "story.down", "node", node)
	case history.Up:
		t.tell(s.At, turning, "story.up", "node", node, "note", t.keeps(s.Note))
	case history.Failover:
		t.tell(s.At, grave, "story.failover", "node", node, "replica", t.replica(s))
	case history.Split:
		t.tell(s.At, grave, "story.split", "client", client, "node", node, "replica", t.replica(s))
	case history.Heal:
		t.tell(s.At, turning, "story.heal", "node", node)
	case history.Hang:
		t.tell(s.At, grave, "story.hang", "node", node, "time", t.span(s.D))
	case history.Delay:
		key := "story.delay.request"
		if s.Note == "reply" {
			key = "story.delay.reply"
		}
		t.tell(s.At, grave, key, "client", client, "command", t.command(s), "time", t.span(s.D))
	case history.Reject:
		t.tell(s.At, grave, "story.fail", "client", client, "command", t.command(s), "node", node)
	case history.External:
		t.tell(s.At, grave, "story.hand", "node", node, "command", t.command(s))
	case history.SessionEnd:
		t.tell(s.At, turning, "story.session.ends", "client", client)
	case history.Fire:
		t.tell(s.At, detail, "story.watch", "client", client, "place", shortPath(s.Key))
	case history.Reconnect:
		key := "story.reconnect"
		if s.Note != "" {
			key = "story.reconnect.ended"
		}
		t.tell(s.At, turning, key, "client", client)
	case history.Push:
		t.tell(s.At, detail, "story.message", "client", client)
	case history.Replicate:
		t.tell(s.At, detail, "story.replicate", "node", node, "replica", t.replica(s))
	}
}

// keeps says what a server that is back still has.
func (t *teller) keeps(note string) string {
	switch note {
	case "empty":
		return say(t.lang, "part.empty")
	case "with its last fsync":
		return say(t.lang, "part.fsync")
	}
	return say(t.lang, "part.data")
}

// span is a length of time with its unit in words.
func (t *teller) span(d time.Duration) string {
	text := span(d)
	number := strings.TrimRight(text, "µms")
	switch text[len(number):] {
	case "s":
		return say(t.lang, "part.seconds", "n", number)
	case "ms":
		return say(t.lang, "part.millis", "n", number)
	case "µs":
		return say(t.lang, "part.micros", "n", number)
	}
	return say(t.lang, "part.ever")
}

func (t *teller) signed(d time.Duration) string {
	if d < 0 {
		return t.span(d)
	}
	return "+" + t.span(d)
}

// replica names the replica that a step is about.
func (t *teller) replica(s *step) string {
	if n := replicaNumber(t.h, s); n > 0 {
		return say(t.lang, "part.replica.n", "n", strconv.Itoa(n))
	}
	return say(t.lang, "part.replica")
}

func (t *teller) finding(at time.Duration, f verdict.Finding) {
	lasts := ""
	switch {
	case f.Forever:
		lasts = say(t.lang, "found.ever")
	case f.To > f.From:
		lasts = say(t.lang, "found.for", "time", t.span(f.To-f.From))
	}
	client := "?"
	if len(f.Clients) > 0 {
		client = clientName(f.Clients[0])
	}
	t.tell(at, grave, "found."+string(f.Verdict), "client", client, "clients", t.names(f.Clients), "time", lasts)
}

func (t *teller) names(clients []int) string {
	text := ""
	for i, c := range clients {
		if i == 0 {
			text = clientName(c)
			continue
		}
		text = say(t.lang, "part.and", "first", text, "next", clientName(c))
	}
	return text
}

// shorten drops sentences until the story is short enough: the lightest first,
// and of equally light ones the latest, because the first time tells most.
func shorten(told []sentence) []sentence {
	for len(told) > maxSentences {
		lightest := 0
		for i, s := range told {
			if s.weight >= told[lightest].weight {
				lightest = i
			}
		}
		told = slices.Delete(told, lightest, lightest+1)
	}
	return told
}
