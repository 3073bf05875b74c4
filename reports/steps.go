package reports

import (
	"cmp"
	"slices"
	"strings"

	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A step is one noteworthy event with the state of the clients and of the key after it. All views of a run are made
// from the same steps. Where a client is and whose the key is comes from the judges' reading of the history.
type step struct {
	history.Event
	index    int  // of the event, or of the last change it made
	attempt  int  // the client's Acquire calls so far
	refused  bool // belongs to an attempt that was refused and changed nothing
	changed  bool // the command changed the key
	took     int  // whose key the command removed, replaced or re-timed, if not its own
	retries  bool // a Refuse after which the client tries again
	noScript bool // an unknown script, which the client sends again in full: no news
	State         // without which servers are down
	findings []verdict.Finding
	noReturn bool // the point of no return is here
}

// who is the client that acts in s; 0: none, or a server acts.
func (s *step) who() int {
	switch s.Kind {
	case history.Expire, history.SessionEnd, history.Fire, history.Push:
		return 0 // it is the server's doing
	}
	return s.Client
}

// now is the state of the step's own client.
func (s *step) now() ClientState {
	if s.Client == 0 || s.Client > len(s.Clients) {
		return ClientState{}
	}
	return s.Clients[s.Client-1]
}

// stepsOf reads a history once and returns its steps, with each finding at the step at which it begins.
func stepsOf(h *history.History, j verdict.Judgement) []step { return walk(h, j).steps }

func newWalker(h *history.History, j verdict.Judgement) *walker {
	w := &walker{
		h:       h,
		judged:  verdict.CaseOf(h),
		survey:  surveyOf(h),
		State:   State{make([]ClientState, h.Clients), make([]KeyState, max(1, h.Nodes))},
		attempt: make([]int, h.Clients+1),
	}
	for _, f := range j.Findings {
		if onItsEvent(f, h) {
			w.wanted = append(w.wanted, f.Event)
		}
	}
	return w
}

func walk(h *history.History, j verdict.Judgement) *walker {
	w := newWalker(h, j)
	for i := 0; i < len(h.Events); i++ {
		i = w.take(i)
	}
	placeFindings(w.steps, j.Findings, h)
	return w
}

type walker struct {
	h       *history.History
	judged  verdict.Case // what the reading must know of the run
	reading verdict.Reading
	survey  survey
	State
	attempt []int
	wanted  []int // events that carry a finding and so must be seen
	took    int   // see step.took, of the event at hand
	changed bool
	steps   []step
}

// take reads the event at i with the changes that follow from it, and returns the index of the last of them.
func (w *walker) take(i int) int {
	e := w.h.Events[i]
	w.took, w.changed = 0, false
	w.apply(e)
	last := i
	if causesChanges(e.Kind) {
		for last+1 < len(w.h.Events) && w.h.Events[last+1].Kind == history.Change {
			last++
			w.apply(w.h.Events[last])
		}
		w.survey.effect[e.Msg] = effect{w.changed, w.took, e.Reply}
	}
	if e.Kind.Fault() || e.Kind == history.Up || e.Kind == history.Replicate {
		w.took = 0 // a loss of data is no command on a key
	}
	if w.noteworthy(e, i, last) {
		w.record(e, last)
	}
	return last
}

func causesChanges(k history.EventKind) bool {
	switch k {
	case history.Apply, history.Down, history.Up, history.Failover, history.Replicate, history.Split, history.External:
		return true
	}
	return false
}

func (w *walker) record(e history.Event, index int) {
	s := step{
		Event: e, index: index, changed: w.changed, took: w.took,
		State: State{slices.Clone(w.Clients), slices.Clone(w.Keys)},
	}
	if e.Kind == history.Answer || e.Kind == history.LoseReply {
		fx := w.survey.effect[e.Msg]
		s.changed, s.took, s.Reply = fx.changed, fx.took, cmp.Or(s.Reply, fx.reply)
	}
	s.noScript = w.survey.reloads[index]
	if e.Client > 0 && e.Client < len(w.attempt) {
		s.attempt = w.attempt[e.Client]
		s.refused = e.Thread == 0 && w.survey.refused[attemptID{e.Client, s.attempt}]
		s.retries = e.Kind == history.Refuse && w.survey.again(w.h, e.Client, s.attempt)
	}
	w.steps = append(w.steps, s)
}

// apply moves the state over one event.
func (w *walker) apply(e history.Event) {
	if e.Kind == history.Change && w.key(e) != nil {
		w.changed = true
		if owner, _ := w.reading.Owner(e.Node); owner != e.Client && owner != 0 {
			w.took = owner
		}
	}
	if verdict.Matters(e.Kind) {
		w.reading.Observe(&w.judged, &e)
	}
	switch k := w.key(e); {
	case k != nil && (e.Kind == history.Change || e.Kind == history.Expire):
		k.Until, k.Value = e.Until, e.After
	case e.Kind == history.ClockStep:
		if k := w.node(e.Node); k != nil && k.Held && k.Until != history.Forever {
			k.Until -= e.D
		}
	}
	for n := range w.Keys {
		w.Keys[n].Owner, w.Keys[n].Held = w.reading.Owner(n + 1)
	}
	w.move(e)
}

// move follows a client.
func (w *walker) move(e history.Event) {
	if e.Client == 0 || e.Client > len(w.Clients) {
		return
	}
	c := &w.Clients[e.Client-1]
	c.Stage = w.reading.Stage(e.Client)
	switch e.Kind {
	case history.Acquire:
		c.Retries = false
		w.attempt[e.Client]++
	case history.Refuse:
		c.Retries = w.survey.again(w.h, e.Client, w.attempt[e.Client])
	case history.Crash:
		*c = ClientState{Stage: verdict.Dead}
	case history.Return:
		*c = ClientState{}
	case history.Pause:
		c.Paused = true
	case history.Resume:
		c.Paused = false
	}
}

func (w *walker) key(e history.Event) *KeyState {
	if e.Key != w.h.Key {
		return nil
	}
	return w.node(e.Node)
}

func (w *walker) node(n int) *KeyState {
	if n < 1 || n > len(w.Keys) {
		return nil
	}
	return &w.Keys[n-1]
}

// noteworthy reports whether a reader wants to see the event at first, whose last change is at last.
func (w *walker) noteworthy(e history.Event, first, last int) bool {
	switch e.Kind {
	case history.Answer:
		return e.Node != history.Resource // the Read or Write has said it
	case history.Enter, history.Refuse, history.Leave, history.Timeout, history.Broken,
		history.Read, history.Write, history.Resume, history.Up, history.Heal,
		history.SessionEnd, history.Fire, history.Reconnect, history.Push:
		return true
	case history.Change:
		return !w.h.ZooKeeper // there it says which client is first in line, which the column shows
	case history.Expire:
		return e.Key == w.h.Key
	case history.Replicate:
		return w.survey.failover
	case history.Apply:
		return (w.changed || isError(e.Reply)) && !w.survey.answeredSoon(w.h, first) || w.marked(first, last)
	}
	return e.Kind.Fault() || w.marked(first, last)
}

// marked reports whether a finding rests on an event that nothing else will show.
func (w *walker) marked(first, last int) bool {
	e := w.h.Events[first]
	if e.Kind == history.Apply && w.survey.answeredSoon(w.h, first) {
		return false
	}
	return slices.ContainsFunc(w.wanted, func(i int) bool { return first <= i && i <= last })
}

// A survey is what must be known of the whole run before its first step.
type survey struct {
	attempts []int              // by client: how many Acquire calls it made
	done     []bool             // by client: its program has ended
	refused  map[attemptID]bool // refused, and changed nothing
	answers  map[int]int        // message -> index of its Answer, or of the loss of it
	loud     []int              // for each event: how many loud ones stand before it
	effect   map[int]effect     // message -> what it did; filled in by the walk
	reloads  map[int]bool       // index of an Answer: see step.noScript
	failover bool
}

type attemptID struct{ client, attempt int }

type effect struct {
	changed bool
	took    int
	reply   string
}

func surveyOf(h *history.History) survey {
	f := survey{
		attempts: make([]int, h.Clients+1),
		done:     make([]bool, h.Clients+1),
		refused:  map[attemptID]bool{},
		answers:  map[int]int{},
		loud:     make([]int, len(h.Events)+1),
		effect:   map[int]effect{},
		reloads:  reloads(h),
	}
	touched := map[attemptID]bool{}
	for i, e := range h.Events {
		f.loud[i+1] = f.loud[i]
		if isLoud(e.Kind) {
			f.loud[i+1]++
		}
		var id attemptID
		if e.Client > 0 && e.Client <= h.Clients {
			id = attemptID{e.Client, f.attempts[e.Client]}
		}
		switch e.Kind {
		case history.Acquire, history.Crash: // which would have asked again
			f.attempts[id.client]++
		case history.Return:
			f.attempts[id.client]--
		case history.Done:
			f.done[id.client] = true // of 0 nobody asks
		case history.Change:
			touched[id] = true
		case history.Refuse:
			f.refused[id] = !touched[id]
		case history.Answer, history.LoseReply:
			if _, ok := f.answers[e.Msg]; !ok {
				f.answers[e.Msg] = i
			}
		case history.Failover:
			f.failover = true
		}
	}
	return f
}

// reloads finds the answers "unknown script" after which the client sends it in full: to a reader one command.
func reloads(h *history.History) map[int]bool {
	type thread struct{ client, thread int }
	unknown, found := map[thread]int{}, map[int]bool{}
	for i, e := range h.Events {
		who := thread{e.Client, e.Thread}
		switch e.Kind {
		case history.Answer:
			if strings.HasPrefix(e.Reply, "(error) NOSCRIPT") {
				unknown[who] = i
			}
		case history.Send:
			if at, ok := unknown[who]; ok && len(e.Cmd) > 0 && strings.EqualFold(e.Cmd[0], "EVAL") {
				found[at] = true
			}
			delete(unknown, who)
		}
	}
	return found
}

// withoutReloads leaves out what only the protocol needs. A finding is never left out.
func withoutReloads(steps []step) []step {
	return slices.DeleteFunc(steps, func(s step) bool { return s.noScript && len(s.findings) == 0 })
}

// again reports whether a client that was refused in an attempt tries again: it did, it may do so after what there is
// of the run, or it would have, had it not crashed.
func (f *survey) again(h *history.History, client, attempt int) bool {
	return f.attempts[client] > attempt || h.Open && !f.done[client]
}

// isLoud reports whether an event between a command's effect and its answer makes the two worth telling apart.
func isLoud(k history.EventKind) bool {
	switch k {
	case history.Enter, history.Leave, history.Expire, history.Write, history.Read, history.Resume, history.Up:
		return true
	}
	return k.Fault()
}

// answeredSoon reports whether the answer to the command that took effect at index i arrives or is lost before anything
// loud happens, and before another client's command changes the key. (In a ZooKeeper queue a change moves another up.)
func (f *survey) answeredSoon(h *history.History, i int) bool {
	e := &h.Events[i]
	at, ok := f.answers[e.Msg]
	return ok && f.loud[at] == f.loud[i] && !slices.ContainsFunc(h.Events[i:at], func(o history.Event) bool {
		return !h.ZooKeeper && o.Kind == history.Change && o.Client != e.Client && o.Node == e.Node && o.Key == h.Key
	})
}

// placeFindings hangs each finding on the step where it begins: an instant on its own event, a stretch of time on the
// first step at its From, on a step of one of its clients if there is one.
func placeFindings(steps []step, findings []verdict.Finding, h *history.History) {
	if len(steps) == 0 {
		return
	}
	for _, f := range findings {
		s := &steps[placeOf(steps, f, h)]
		s.findings = append(s.findings, f)
	}
}

// onItsEvent reports whether a finding began with the event that completed it.
func onItsEvent(f verdict.Finding, h *history.History) bool {
	return f.Event >= 0 && f.Event < len(h.Events) && (f.From == f.To && !f.Forever || h.Events[f.Event].At == f.From)
}

func placeOf(steps []step, f verdict.Finding, h *history.History) int {
	if onItsEvent(f, h) {
		return stepAt(steps, f.Event)
	}
	crashed := func(s *step) bool {
		return s.At == f.From && s.Kind == history.Crash && f.Verdict != verdict.Overlap && slices.Contains(f.Clients,
			s.Client)
	}
	for i := range steps { // what its crash has left behind stands there from then on
		if crashed(&steps[i]) {
			return i
		}
	}
	first := len(steps) - 1
	for i := len(steps) - 1; i >= 0 && steps[i].At >= f.From; i-- {
		first = i
	}
	for i := first; i < len(steps) && steps[i].At == f.From; i++ {
		if begins(&steps[i], f) {
			return i
		}
	}
	return first
}

// begins reports whether s is the kind of step from which a stretch like f runs.
func begins(s *step, f verdict.Finding) bool {
	if f.Verdict == verdict.Overlap {
		return s.Kind == history.Enter && slices.Contains(f.Clients, s.Client)
	}
	return slices.Contains(f.Clients, s.Client)
}

// stepAt finds the step that shows the event at index: the first one that ends at it or after it.
func stepAt(steps []step, index int) int {
	for i := range steps {
		if steps[i].index >= index {
			return i
		}
	}
	return len(steps) - 1
}
