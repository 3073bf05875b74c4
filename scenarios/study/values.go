package study

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/scenarios/share"
	"locklab/simulator"
	"locklab/simulator/checkpoint"
	"locklab/simulator/i18n"
	"locklab/simulator/process"
	"locklab/simulator/verdict"
)

// What any search may count to, so that sums of them do not overflow.
const mostCounted = 1 << 50

// CheckValues refuses what a search of a lock within the bounds asked for cannot come to. It
// replays every witness: each must show its verdict, by as many faults and choices as it
// says. What is only counted, and that nothing is missing among the verdicts, cannot be
// checked without the search. path is that of the search in the result of its task. runs are
// those of the witnesses.
func (s *Search) CheckValues(entry lock.Entry, asked Bounds, path string, v *share.Values) (runs []*race.Outcome) {
	c := &searchCheck{v, entry, asked, map[string]*race.Outcome{}}
	c.search(s, path)
	if !v.OK() {
		return nil
	}
	for _, w := range s.Witnesses {
		runs = append(runs, c.runs[w.Trace.Link()])
	}
	return runs
}

type searchCheck struct {
	*share.Values
	entry lock.Entry
	asked Bounds
	runs  map[string]*race.Outcome // by link
}

func (c *searchCheck) search(s *Search, path string) {
	c.bounds(path+"bounds.", s.Bounds)
	c.counts(path+"result.", s)
	if !c.OK() {
		return
	}
	type way struct{ verdict, cause string }
	seen := map[way]bool{}
	for i := range s.Witnesses {
		w, field := &s.Witnesses[i], fmt.Sprintf("%switnesses[%d].", path, i)
		way := way{string(w.Verdict), strings.Join(w.Cause, ";")}
		c.Require(!seen[way], field+"verdict", w.Verdict, i18n.New("share.want.once"))
		seen[way] = true
		if c.witness(field, w); !c.OK() {
			return
		}
	}
	c.Require(len(s.Cut)+len(s.Beside) == 0, path+"tried", len(s.Cut)+len(s.Beside), i18n.New("share.want.absent"))
}

// bounds refuses those of no search that Explore makes for the ones asked for.
func (c *searchCheck) bounds(path string, b Bounds) {
	c.asks(path, b)
	share.Is(c.Values, path+"Causes", b.Causes, c.asked.Causes)
	share.Is(c.Values, path+"MaxBytes", b.MaxBytes, c.asked.MaxBytes)
	share.Is(c.Values, path+"Checkpoint", b.Checkpoint, "")
	share.Is(c.Values, path+"MaxStates", b.MaxStates, c.asked.MaxStates)
}

// asks is bounds without what ends a search early: links do not say that.
func (c *searchCheck) asks(path string, b Bounds) {
	v, asked := c.Values, c.asked
	share.Is(v, path+"Clients", b.Clients, asked.Clients)
	share.Is(v, path+"TTL", b.TTL, asked.TTL)
	share.Is(v, path+"Fenced", b.Fenced, asked.Fenced)
	share.Is(v, path+"Work", b.Work, asked.Work)
	share.Is(v, path+"Latency", b.Latency, asked.Latency)
	share.Is(v, path+"Lateness", b.Lateness, asked.Lateness)
	share.Is(v, path+"ClientRetries", b.ClientRetries, asked.ClientRetries)
	share.Is(v, path+"Skew", b.Skew, asked.Skew)
	share.Is(v, path+"Tokens", b.Tokens, asked.Tokens)
	share.Is(v, path+"Slow", b.Slow, asked.Slow)
	share.Is(v, path+"Noisy", b.Noisy, asked.Noisy)
	settled := asked.Settled(c.entry)
	share.Is(v, path+"Attempts", b.Attempts, settled.Attempts)
	share.Is(v, path+"Retries", b.Retries, settled.Retries)
	share.Is(v, path+"Budget", b.Budget, settled.Budget)
	share.Is(v, path+"Nodes", b.Nodes, settled.Nodes)
	share.Is(v, path+"Timing", b.Timing, settled.Timing)
	share.Is(v, path+"Uses", b.Uses, settled.Uses)
}

// counts refuses figures that no search comes to.
func (c *searchCheck) counts(path string, s *Search) {
	v, r := c.Values, s.Result
	if !r.Limit.IsZero() { // a sentence that the catalogues have
		v.Message(path+"Limit", r.Limit, "limit.")
	}
	most := mostCounted
	if s.Bounds.MaxStates > 0 {
		most = s.Bounds.MaxStates
	}
	share.Range(v, path+"States", r.States, 0, most)
	share.Range(v, path+"Transitions", r.Transitions, 0, mostCounted)
	share.Range(v, path+"Depth", r.Depth, 0, mostCounted)
	share.Range(v, path+"Open", r.Open, 0, mostCounted)
	share.Range(v, path+"Bytes", r.Bytes, 0, mostCounted)
	share.Range(v, path+"Histories", r.Histories, 0, mostCounted)
	share.Range(v, path+"Assumed.Merging", r.Assumed.Merging, process.NoMerging, process.MergeHistories)
	share.Range(v, path+"Assumed.Counters", r.Assumed.Counters, 0, mostCounted)
	share.Range(v, path+"Assumed.Symmetric", r.Assumed.Symmetric, 0, s.Bounds.Clients)
	share.Is(v, path+"Symmetry", r.Symmetry, r.Assumed.Symmetric > 1)
	cut := r.Open > 0 || r.OutOfMemory || !r.Limit.IsZero()
	v.Require(!r.Complete || !cut, path+"Complete", r.Complete, i18n.New("share.want.incomplete"))
	v.Same(path+"Kept", r.Kept, checkpoint.Kept{})
	budget := s.Bounds.Budget.Faults()
	var verbs []simulator.Verb
	for _, a := range budget {
		verbs = append(verbs, a.Fault.Verb)
	}
	for i, verb := range r.Triggered {
		field := fmt.Sprintf("%sTriggered[%d]", path, i)
		share.OneOf(v, field, verb, verbs)
		v.Require(i == 0 || r.Triggered[i-1] < verb, field, verb, i18n.New("share.want.rising"))
	}
	for i, l := range r.Lengths {
		field := fmt.Sprintf("%sLengths[%d].", path, i)
		share.Range(v, field+"Of", l.Of, 0, simulator.Remainders)
		share.Range(v, field+"D", l.D, 0, time.Duration(1<<62))
	}
}

// witness refuses a way that is none of the lock's, or that does not lead where it says.
func (c *searchCheck) witness(path string, w *Witness) {
	v := c.Values
	share.OneOf(v, path+"verdict", w.Verdict, c.asked.Words())
	share.Is(v, path+"trace (lock)", w.Trace.Strategy, c.entry.ID)
	share.Is(v, path+"trace (race)", w.Trace.Scenario, SearchID)
	share.Is(v, path+"par", w.Par, simulator.FaultsIn(w.Choices))
	share.Is(v, path+"steps", w.Steps, len(w.Choices))
	b, err := ParseBounds(w.Trace.Settings)
	v.Link(path+"trace", w.Trace.Settings, err)
	if !v.OK() {
		return
	}
	c.asks(path+"trace: ", b)
	c.shows(path+"trace", w.Trace, w.Verdict)
}

// shows replays a trace, once, and refuses it unless the verdict is among those of its run.
func (c *searchCheck) shows(field string, t simulator.Trace, w verdict.Word) {
	if !c.OK() {
		return
	}
	link := t.Link()
	o := c.runs[link]
	if o == nil {
		var err error
		if o, err = ReplayOn(c.entry, t); err != nil {
			c.Link(field, link, err)
			return
		}
		c.runs[link] = o
	}
	c.Require(slices.Contains(o.Verdicts, w), field, link, i18n.New("share.want.shows", "verdict", w))
}

// checkLimit refuses what Limit cannot come to for a lock and a hazard.
func (r Rivals) checkLimit(l *Limit, entry lock.Entry, h Hazard, v *share.Values) {
	share.Is(v, "strategy", l.Strategy, entry.ID)
	share.Is(v, "fault", l.Fault, h.Fault)
	holds, falls := parts(l.Holds), parts(l.Falls)
	v.Require(holds >= 0, "holds_up_to", l.Holds, i18n.New("share.want.parts", "parts", LeaseParts, "most", MaxLeases))
	v.Require(falls >= 0, "falls_at", l.Falls, i18n.New("share.want.parts", "parts", LeaseParts, "most", MaxLeases))
	fits := false
	switch l.Answer {
	case NoAnswer: // given up after some sizes
		fits = holds == 0 && falls == 0
	case HoldsOnce:
		fits = !h.Sized && holds == 0 && falls == 0 && l.Trace == ""
	case FallsOnce:
		fits = !h.Sized && holds == 0 && falls == 0 && l.Trace != ""
	case NoLimit:
		fits = h.Sized && holds == MaxParts && falls == 0 && l.Trace == ""
	case AnySize:
		fits = h.Sized && holds == 0 && falls == 1 && l.Trace != ""
	case Limited:
		fits = h.Sized && holds > 0 && falls == holds+1 && l.Trace != ""
	}
	v.Require(fits, "result", l.Answer, i18n.New("share.want.answer", "fault", h.Fault, "holds", l.Holds, "falls", l.Falls))
	if !v.OK() || l.Trace == "" {
		return
	}
	t, err := simulator.ParseLink(l.Trace)
	v.Link("trace", l.Trace, err)
	share.Is(v, "trace (lock)", t.Strategy, entry.ID)
	share.Is(v, "trace (race)", t.Scenario, SearchID)
	b, err := ParseBounds(t.Settings)
	v.Link("trace", l.Trace, err)
	asked := r.bounds(entry)
	asked.Budget = r.budget(h, falls)
	for n := 1; n <= MaxParts && l.Answer == NoAnswer; n++ { // any of the sizes tried
		if size := r.budget(h, n); size == b.Budget {
			asked.Budget = size
		}
	}
	c := &searchCheck{v, entry, asked, map[string]*race.Outcome{}}
	if v.OK() {
		c.asks("trace: ", b)
		c.shows("trace", t, verdict.Overlap)
	}
}

// parts is the inverse of leases; below 0: it is no size that a tolerance looks at.
func parts(size float64) int {
	for n := range MaxParts + 1 {
		if leases(n) == size {
			return n
		}
	}
	return -1
}
