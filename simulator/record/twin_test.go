package record_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"locklab/simulator/effort"
	"locklab/simulator/history"
	. "locklab/simulator/record"
	"locklab/simulator/verdict"
)

// A thing is a line of a small log, with the instants between which it happened.
type thing struct {
	client, lo, hi int
	event          Event
	n              int // its place in the log
}

// orders calls f for every order in which the things can have happened: of a client in their order, and so that each
// has an instant in its interval.
func orders(all []thing, f func([]thing)) {
	var order []thing
	var next func(rest []thing, now int)
	next = func(rest []thing, now int) {
		if len(rest) == 0 {
			f(order)
			return
		}
		for i, x := range rest {
			if x.hi < now || slices.ContainsFunc(rest, func(y thing) bool { return forced(y, x) }) {
				continue
			}
			order = append(order, x)
			next(slices.Concat(rest[:i], rest[i+1:]), max(now, x.lo))
			order = order[:len(order)-1]
		}
	}
	next(all, 0)
}

// tightened is things of whose intervals those parts are left out that are before an earlier line of the client, or after a
// later one.
func tightened(all []thing) []thing {
	all = slices.Clone(all)
	for i := range all {
		for j := range all {
			if x, y := &all[i], &all[j]; x.client == y.client && j < i {
				x.lo = max(x.lo, y.lo)
			} else if x.client == y.client {
				x.hi = min(x.hi, y.hi)
			}
		}
	}
	return all
}

// forced reports whether y is before x in every order: both are of one client, or the interval of one is over when that of the
// other begins. No two intervals of clients touch.
func forced(y, x thing) bool {
	if y.client == x.client {
		return y.n < x.n
	}
	return y.hi < x.lo
}

// overlaps is the pairs of sections that overlap if all happened in this order, as package verdict judges it: "c1.2 c2.1".
func overlaps(order []thing) (pairs []string) {
	h := &history.History{Clients: 3, Nodes: 1, Key: "k"}
	section, at := map[int]int{}, map[int]int{}
	for i, x := range order {
		put := func(kind history.EventKind) {
			h.Events = append(h.Events, history.Event{Kind: kind, Client: x.client})
			at[len(h.Events)-1] = i
		}
		switch x.event {
		case Acquired:
			put(history.Acquire)
			put(history.Enter)
		case Leaving:
			put(history.Leave)
		}
	}
	inside := map[int]int{}
	found := verdict.Judge(h).Findings
	for i, e := range h.Events {
		if e.Kind == history.Enter {
			section[e.Client]++
			inside[e.Client] = section[e.Client]
		}
		for _, f := range found {
			if f.Event == i && f.Verdict == verdict.Overlap {
				p := []string{fmt.Sprintf("c%d.%d", f.Clients[0], inside[f.Clients[0]]), fmt.Sprintf("c%d.%d", f.Clients[1], inside[f.Clients[1]])}
				slices.Sort(p)
				pairs = append(pairs, strings.Join(p, " "))
			}
		}
	}
	return pairs
}

// TestIntervals: an OVERLAP is claimed if it holds in every order in which the lines can have happened, and UNKNOWN if it
// holds in some, as trying all of them shows. Where all instants are points, package verdict finds the same.
func TestIntervals(t *testing.T) {
	effort.Cases(t, 100, 1_000)
	claimed, unsure := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		all := drawn(t)
		log := ""
		for _, x := range all {
			log += fmt.Sprintf(`{"at":%d,"within":%d,"client":"c%d","event":"%s","key":"k"}`+"\n", (x.lo+x.hi)/2, (x.hi-x.lo)/2, x.client, x.event)
		}
		r, err := tried(log)
		if err != nil {
			t.Fatalf("%s%v", log, err)
		}
		times, n := map[string]int{}, 0
		orders(tightened(all), func(order []thing) {
			n++
			for _, p := range overlaps(order) {
				times[p]++
			}
		})
		var want, may []string
		for p, k := range times {
			if k == n {
				want = append(want, p)
			} else {
				may = append(may, p)
			}
		}
		got, doubt := found(r, all)
		slices.Sort(want)
		slices.Sort(may)
		claimed, unsure = claimed+len(want), unsure+len(may)
		if !slices.Equal(got, want) || !slices.Equal(doubt, may) {
			t.Fatalf("%sof %d orders all have %v and some %v;\nclaimed are %v, and UNKNOWN %v", log, n, want, may, got, doubt)
		}
	})
	if claimed < 20 || unsure < 20 {
		t.Errorf("%d overlaps were claimed and %d UNKNOWN: agreement says nothing", claimed, unsure)
	}
}

// drawn is up to nine lines in the order in which a reader takes them. No two have an end in common, because an overlap
// without length is none.
func drawn(t *rapid.T) (all []thing) {
	const scale = 64
	inside, now := map[int]bool{}, 10
	add := func(c, within int) {
		n := len(all)
		x := thing{client: c, lo: (now-within)*scale + 2*n, hi: (now+within)*scale + 2*n, event: Acquired, n: n}
		if inside[c] {
			x.event = Leaving
		}
		inside[c] = !inside[c]
		all = append(all, x)
	}
	for range rapid.IntRange(2, 9).Draw(t, "lines") {
		c := rapid.IntRange(1, 3).Draw(t, "client")
		now += rapid.IntRange(0, 6).Draw(t, "later")
		add(c, rapid.SampledFrom([]int{0, 0, 1, 3, 8}).Draw(t, "within"))
	}
	for c := 1; c <= 3; c++ { // all leave: what is silent is another matter
		if inside[c] {
			now += 3
			add(c, 0)
		}
	}
	return all
}

// tried judges logs. The error is about the first wrong line.
func tried(logs ...string) (*Result, error) { return triedWithin(0, logs...) }

func triedWithin(within time.Duration, logs ...string) (*Result, error) {
	var sources []Source
	for i, l := range logs {
		sources = append(sources, Source{Name: fmt.Sprint(i + 1), From: strings.NewReader(l)})
	}
	r, j := NewReader(within, sources...), NewJudge(1000)
	if err := observed(r, j, nil); err != nil {
		return nil, err
	}
	return j.Finish(), nil
}

// found is the pairs that are claimed, and those that are UNKNOWN.
func found(r *Result, all []thing) (claimed, unsure []string) {
	section := map[int]string{}
	count := map[int]int{}
	for i, x := range all {
		if x.event == Acquired {
			count[x.client]++
			section[i+1] = fmt.Sprintf("c%d.%d", x.client, count[x.client])
		}
	}
	for _, f := range r.Findings {
		p := []string{section[f.Lines[0].Line], section[f.Lines[1].Line]}
		slices.Sort(p)
		switch f.Verdict {
		case verdict.Overlap:
			claimed = append(claimed, strings.Join(p, " "))
		case verdict.Unknown:
			if f.May == verdict.Overlap {
				unsure = append(unsure, strings.Join(p, " "))
			}
		}
	}
	slices.Sort(claimed)
	slices.Sort(unsure)
	return claimed, unsure
}
