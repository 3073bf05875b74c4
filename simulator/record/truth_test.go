package record_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"locklab/simulator/effort"
	"locklab/simulator/history"
	. "locklab/simulator/record"
	"locklab/simulator/verdict"
)

// TestClaimsAreTrue: clients with clocks that are off by less than they say do anything at all inside and outside, on a
// resource that takes every write or compares versions, and number all lines, some or none. What their log shows is
// true of what happened, as package verdict judges it with the right times; and what happened is claimed, or some of
// it is UNKNOWN.
func TestClaimsAreTrue(t *testing.T) {
	effort.Cases(t, 500, 5_000)
	claimed, unsure := map[verdict.Word]int{}, 0
	rapid.Check(t, func(t *rapid.T) {
		h, logs := happened(t)
		log := strings.Join(logs, "")
		r, err := tried(logs...)
		if err != nil && strings.Contains(err.Error(), "error.record.seq") {
			t.Fatalf("%s%v", log, err)
		}
		if err != nil {
			t.Skip(err) // a clock error can put a line where it cannot have been
		}
		want := verdict.Judge(h).Verdicts
		for _, w := range r.Verdicts {
			if w == verdict.Holds || w == verdict.Unknown {
				continue
			}
			claimed[w]++
			if !slices.Contains(want, w) {
				t.Fatalf("%sclaimed are %v; what happened is %v", log, r.Verdicts, want)
			}
		}
		unknown := r.Counts[verdict.Unknown] > 0
		for _, w := range want {
			if slices.Contains(Claimed(), w) && !slices.Contains(r.Verdicts, w) && !unknown {
				t.Fatalf("%s%v happened, and %v is claimed without a doubt", log, want, r.Verdicts)
			}
		}
		if unknown {
			unsure++
		}
	})
	for _, w := range []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.Fenced} {
		if claimed[w] == 0 {
			t.Errorf("%s was never claimed: agreement says nothing", w)
		}
	}
	if unsure == 0 {
		t.Error("nothing was UNKNOWN")
	}
	t.Log(claimed, unsure)
}

// happened is a run of three clients, and the logs that they write of it.
func happened(t *rapid.T) (h *history.History, logs []string) {
	h = &history.History{Clients: 3, Nodes: 1, Key: "k"}
	compares := rapid.Bool().Draw(t, "compares")
	exact := rapid.Bool().Draw(t, "exact")
	counted := rapid.SampledFrom([]int{0, 1, 4}).Draw(t, "counted") // of four lines: those with a seq
	seq := func() string {
		if len(h.Events) == 0 || rapid.IntRange(0, 3).Draw(t, "seq") >= counted {
			return ""
		}
		return fmt.Sprintf(`,"seq":%d`, len(h.Events))
	}
	logs = make([]string, 3)
	now, version := 1000, 0
	inside, base, lease := map[int]bool{}, map[int]int{}, map[int]int{}
	for range rapid.IntRange(3, 14).Draw(t, "lines") {
		c := rapid.IntRange(1, 3).Draw(t, "client")
		now += rapid.IntRange(1, 6).Draw(t, "later")
		within, off := 0, 0
		if !exact {
			within = rapid.SampledFrom([]int{0, 1, 4}).Draw(t, "within")
			off = rapid.IntRange(-within, within).Draw(t, "off")
		}
		say := func(event, more string) {
			logs[c-1] += fmt.Sprintf(`{"at":%d,"within":%d,"client":"c%d","event":"%s","key":"k"%s%s}`+"\n",
				now+off, within, c, event, more, seq())
		}
		put := func(e history.Event) {
			e.Client, e.Lease = c, lease[c]
			h.Events = append(h.Events, e)
		}
		switch what := rapid.IntRange(0, 3).Draw(t, "what"); {
		case what == 0 && !inside[c]:
			lease[c]++
			inside[c] = true
			put(history.Event{Kind: history.Acquire})
			put(history.Event{Kind: history.Enter})
			say("acquired", "")
		case what == 0:
			inside[c] = false
			put(history.Event{Kind: history.Leave})
			put(history.Event{Kind: history.Release})
			put(history.Event{Kind: history.Released})
			say("leaving", "")
		case what == 1:
			base[c] = version
			put(history.Event{Kind: history.Read, Node: history.Resource, Version: version})
			say("read", fmt.Sprintf(`,"version":%d,"from":%d`, version, now+off))
		case compares && base[c] != version:
			put(history.Event{Kind: history.Write, Node: history.Resource, Version: version, Base: base[c]})
			say("wrote", fmt.Sprintf(`,"ok":false,"from":%d`, now+off))
		default:
			version++
			put(history.Event{Kind: history.Write, Node: history.Resource, Version: version, Base: base[c], OK: true})
			say("wrote", fmt.Sprintf(`,"version":%d,"base":%d,"from":%d`, version, base[c], now+off))
		}
	}
	for c := 1; c <= 3; c++ { // all leave: what is silent is another matter
		if now += 20; inside[c] {
			h.Events = append(h.Events, history.Event{Kind: history.Leave, Client: c, Lease: lease[c]})
			logs[c-1] += fmt.Sprintf(`{"at":%d,"client":"c%d","event":"leaving","key":"k"%s}`+"\n", now, c, seq())
		}
	}
	return h, logs
}
