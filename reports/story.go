package reports

import (
	"cmp"
	"io"
	"slices"
	"strings"
	"time"

	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/simulator/history"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// maxSentences is the length of the longest story; the lightest sentences of others are dropped.
const maxSentences = 25

// Story tells a run in sentences, each with the true time of what it tells, and ends with what the gravest verdict
// means and what mends it. In both languages, the Chinese sentence follows the English one.
func Story(w io.Writer, h *history.History, j verdict.Judgement, o Look) error {
	out := o.Lines(w)
	stories := lists.Each(out.Langs(), func(lang string) []Sentence { return Sentences(lang, h, j) })
	s := &layout.Sheet{Right: layout.Only(0), Floor: 8}
	for i := range stories[0] {
		when := stories[0][i].When
		for _, story := range stories {
			s.Rows = append(s.Rows, []string{when, story[i].Text})
			when = ""
		}
	}
	s.WriteOrList(out, 0)
	return out.Err()
}

// A Sentence is one of a story.
type Sentence struct {
	When   string // the true time, "12.5 ms"; "": it is about the run as a whole
	Text   string
	event  int // of the run, up to which it is read; -1: of none
	weight int // light sentences are dropped first where a story is too long
}

// The weights, from what always stays to what is dropped first.
const (
	always = iota + 1
	grave
	turning
	plain
	detail
)

// Sentences tells a run in one language. The sentences of two languages correspond one to one.
func Sentences(lang string, h *history.History, j verdict.Judgement) []Sentence {
	return shorten(sentences(lang, h, j))
}

// Since tells what happens in a run from an event on, up to some findings.
func Since(lang string, h *history.History, findings []verdict.Finding, event int) (all []string) {
	for _, s := range sentences(lang, h, verdict.Judgement{Findings: findings}) {
		if s.event >= event {
			all = append(all, s.Text)
		}
	}
	return all
}

func sentences(lang string, h *history.History, j verdict.Judgement) []Sentence {
	t := &storyWriter{
		read:      -1,
		words:     newWording(lang, h),
		pending:   make([][]*step, h.Clients+1),
		leaving:   make([]bool, h.Clients+1),
		refusedBy: make([]string, h.Clients+1),
		keys:      make([]KeyState, max(1, h.Nodes)),
	}
	t.intro()
	steps := withoutReloads(stepsOf(h, j))
	for i := range steps {
		t.read = steps[i].index
		t.step(&steps[i])
	}
	t.flush()
	t.moral(j)
	return t.sentences
}

// A storyWriter puts steps into sentences. It keeps commands until their result is known.
type storyWriter struct {
	words     *wording
	sentences []Sentence
	read      int       // the event of the step at hand
	pending   [][]*step // by client: commands answered and not yet in a sentence
	leaving   []bool    // by client: outside again, and about to give the lock back
	refusedBy []string  // by client: the owners of the key at its last refusal in the story
	keys      []KeyState
}

// tell adds a sentence about the run as a whole, or with tellAt about an instant.
func (t *storyWriter) tell(key string, pairs ...string) {
	t.sentences = append(t.sentences, Sentence{"", t.words.say(key, pairs...), t.read, always})
}

func (t *storyWriter) tellAt(at time.Duration, weight int, key string, pairs ...string) {
	t.add(at, weight, t.words.say(key, pairs...))
}

func (t *storyWriter) add(at time.Duration, weight int, text string) {
	t.sentences = append(t.sentences, Sentence{Millis(at, t.words.decimals) + " ms", text, t.read, weight})
}

func (t *storyWriter) intro() {
	mortal := func(e history.Event) bool {
		return e.Kind == history.Change && e.Key == t.words.h.Key && e.After != "" && e.Until != history.Forever
	}
	key := "story.intro"
	if t.words.h.ZooKeeper {
		key = "story.intro.line"
	} else if !slices.ContainsFunc(t.words.h.Events, mortal) {
		key = "story.intro.forever"
	}
	t.tell(key, "key", t.words.h.Key, "ttl", t.words.time(t.words.h.TTL))
}

// moral closes the story with the gravest verdict: the first, but for a DEADLOCK that comes of the ORPHAN before it.
func (t *storyWriter) moral(j verdict.Judgement) {
	if len(j.Verdicts) == 0 {
		return
	}
	t.tell("story.verdicts", "verdicts", text.Join(t.words.lang, "chart.list", verdict.Names(j.Verdicts)))
	gravest := j.Verdicts[0]
	if i := slices.IndexFunc(j.Verdicts, verdict.Word.Harm); i > 0 {
		gravest = j.Verdicts[i]
	}
	t.tell("story.why", "verdict", string(gravest),
		"meaning", Meaning(gravest, t.words.lang), "cure", Cure(gravest, t.words.lang))
}

// step adds the sentences of one step. A command is kept until its consequence is known, and told together with it.
func (t *storyWriter) step(s *step) {
	switch {
	case s.Kind == history.Answer && s.Thread == 0:
		t.pending[s.Client] = append(t.pending[s.Client], s)
	case s.Kind == history.Refuse:
		t.refuse(s)
	case s.Kind == history.Enter:
		t.enter(s)
	case s.Kind == history.Leave && s.Note == "":
		t.flushClient(s.Client)
		if t.leaving[s.Client] = true; t.words.h.Local {
			t.tellAt(s.At, plain, "story.unlocks", "client", clientName(s.Client))
		}
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
	t.keys = s.Keys
}

func (t *storyWriter) enter(s *step) {
	commands := t.pending[s.Client]
	t.pending[s.Client] = nil
	t.flush()
	t.leaving[s.Client] = false
	if len(commands) == 0 {
		t.tellAt(s.At, turning, "story.won.silent", "client", clientName(s.Client))
		return
	}
	t.tellAt(s.At, turning, "story.won", "client", clientName(s.Client), "commands", t.commands(commands))
}

// refuse tells a refusal once as long as the key has the same owner.
func (t *storyWriter) refuse(s *step) {
	commands := t.pending[s.Client]
	t.pending[s.Client] = nil
	owners := ""
	for _, k := range s.Keys {
		owners += ownerName(k) + " "
	}
	if len(commands) == 0 || s.retries && t.refusedBy[s.Client] == owners {
		return
	}
	t.refusedBy[s.Client] = owners
	key, weight := "story.refused", detail
	if !s.retries {
		key = "story.gaveup"
	}
	if !s.refused {
		weight = plain
	}
	t.flush()
	t.tellAt(s.At, weight, key, "client", clientName(s.Client), "commands", t.commands(commands))
}

// renewal tells a timer's command where it differs from the one before.
func (t *storyWriter) renewal(s *step) {
	text := t.commands([]*step{s})
	same := func(other Sentence) bool {
		return other.Text == t.words.say("story.sent", "client", t.words.sender(s), "commands", text)
	}
	if s.took == 0 && slices.ContainsFunc(t.sentences, same) {
		return
	}
	t.flush()
	t.tellAt(s.At, plain, "story.sent", "client", t.words.sender(s), "commands", text)
	t.tellTook(s)
}

// flush tells the commands that are kept, in the order of their answers.
func (t *storyWriter) flush() {
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
func (t *storyWriter) flushClient(c int) {
	commands := t.pending[c]
	if len(commands) == 0 || commands[0].refused { // a refusal gets a sentence when it is complete
		return
	}
	t.pending[c] = nil
	key := "story.sent"
	if t.leaving[c] {
		key = "story.release"
		t.leaving[c] = false
	}
	last := commands[len(commands)-1]
	t.tellAt(last.At, plain, key, "client", clientName(c), "commands", t.commands(commands))
	t.tellTook(last)
}

func (t *storyWriter) tellTook(s *step) {
	if s.took != 0 {
		t.tellAt(s.At, grave, "story.took", "owner", clientName(s.took))
	}
}

// command is one command without its reply, and its node where there are many.
func (t *storyWriter) command(s *step) string {
	if len(s.Cmd) == 0 {
		return t.words.say("part.request")
	}
	if t.words.h.Nodes < 2 {
		return fullCommand(s.Cmd)
	}
	return t.words.say("part.at", "command", fullCommand(s.Cmd), "node", nodeName(s.Node))
}

// commands joins commands and replies; the same command with the same reply from several nodes is said once.
func (t *storyWriter) commands(steps []*step) string {
	var parts []string
	for len(steps) > 0 {
		n := 1
		for n < len(steps) && sameOnAnotherNode(steps[n-1], steps[n]) {
			n++
		}
		parts, steps = append(parts, t.receivedFrom(steps[:n])), steps[n:]
	}
	return text.Join(t.words.lang, "part.then", parts)
}

func (t *storyWriter) receivedFrom(steps []*step) string {
	s := steps[0]
	if t.words.h.Nodes < 2 {
		return t.words.say("part.heard", "command", fullCommand(s.Cmd), "reply", Reply(s.Reply))
	}
	nodes := lists.Each(steps, func(s *step) string { return nodeName(s.Node) })
	return t.words.say("part.nodes", "command", fullCommand(s.Cmd), "reply", Reply(s.Reply),
		"nodes", strings.Join(nodes, " "))
}

// event tells a step that is not the answer to a command.
func (t *storyWriter) event(s *step) {
	switch s.Kind {
	case history.Expire:
		t.expire(s)
	case history.Write:
		t.write(s)
	case history.Apply, history.Change:
		t.landed(s)
	default:
		if text := t.words.event("fault", s, t.command(s)); text != "" {
			t.add(s.At, weightOf(s.Kind), text)
			t.tellTook(s)
		}
	}
}

// weightOf returns the weight of an event of a kind in a story.
func weightOf(k history.EventKind) int {
	switch k {
	case history.Read, history.Fire, history.Push, history.Replicate:
		return detail
	}
	if k.Fault() {
		return grave
	}
	return turning
}

func (t *storyWriter) expire(s *step) {
	key, where, owner := "story.expire", "", 0
	if t.words.h.Nodes > 1 {
		where = t.words.say("part.on", "node", nodeName(s.Node))
	}
	if n := s.Node - 1; n >= 0 && n < len(t.keys) {
		owner = t.keys[n].Owner
	}
	switch {
	case t.words.h.ZooKeeper:
		key = "story.place.goes"
	case t.words.h.Database && owner > 0 && t.keys[s.Node-1].Until < history.Forever:
		key = "story.lock.ends"
	case t.words.h.Database:
		key = "story.lock.goes"
	case owner > 0 && owner <= len(s.Clients) && s.Clients[owner-1].Stage == verdict.Inside:
		key = "story.expire.inside"
	}
	t.tellAt(s.At, turning, key, "where", where, "owner", clientName(owner))
}

func (t *storyWriter) write(s *step) {
	weight, key := grave, "story.write.stale"
	switch {
	case !s.OK && t.words.h.Guard == history.CompareAndSet:
		key = "story.write.old"
	case !s.OK:
		key = "story.write.refused"
	case s.Base == s.Version-1:
		weight, key = plain, "story.write"
	}
	t.tellAt(s.At, weight, key, t.words.values(s, "")...)
}

func (t *storyWriter) landed(s *step) {
	if s.Client == 0 || len(s.Cmd) == 0 {
		t.tellAt(s.At, grave, "story.external")
	} else {
		t.tellAt(s.At, plain, "story.lands", "client", clientName(s.Client), "command", t.command(s))
	}
	t.tellTook(s)
}

func (t *storyWriter) finding(at time.Duration, f verdict.Finding) {
	lasts := ""
	switch {
	case f.Forever:
		lasts = t.words.say("found.ever")
	case f.To > f.From:
		lasts = t.words.say("found.for", "time", t.words.time(f.To-f.From))
	}
	client := "?"
	if len(f.Clients) > 0 {
		client = clientName(f.Clients[0])
	}
	clients := text.Join(t.words.lang, "part.and", strings.Split(ClientNames(f.Clients, " "), " "))
	key, h := "found."+string(f.Verdict), t.words.h
	for _, variant := range []struct {
		name string
		is   bool
	}{{".overwrites", t.words.overwrites(f)}, {".zookeeper", h.ZooKeeper}, {".database", h.Database}} {
		if variant.is && text.In(t.words.lang).Has(key+variant.name) {
			key += variant.name
		}
	}
	_, owner, _ := strings.Cut(ClientNames(f.Clients, " "), " ")
	t.tellAt(at, grave, key, "client", client, "clients", clients, "time", lasts,
		"owner", owner, "command", Command(h.Events[max(f.Event-1, 0)].Cmd, h.Key)) // the command before its change
}

// shorten drops sentences until the story is short enough: the lightest, of these the latest: the first tells most.
func shorten(story []Sentence) []Sentence {
	for len(story) > maxSentences {
		lightest := 0
		for i, s := range story {
			if s.weight >= story[lightest].weight {
				lightest = i
			}
		}
		story = slices.Delete(story, lightest, lightest+1)
	}
	return story
}
