package chart

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/reports"
	"locklab/reports/internal/samples"
	"locklab/scenarios"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

func timelineOf(t *testing.T, lock, raceID string) *Timeline {
	t.Helper()
	o := samples.Played(t, lock, raceID)
	return &Timeline{History: o.History, Judgement: o.Judgement, Verdicts: o.Verdicts}
}

// written are the texts of an SVG.
func written(t *testing.T, p Picture, f Format) (all []string) {
	t.Helper()
	var b bytes.Buffer
	if err := SVG(&b, p, f); err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`aria-label="([^"]*)"`).FindAllStringSubmatch(b.String(), -1) {
		all = append(all, html.UnescapeString(m[1]))
	}
	return append(all, strings.ReplaceAll(strings.Join(all, ""), " ",
		"")) // letters of another font are a text of their own
}

// The picture says what it has found, and has each fault and each verdict, whatever the language. Attempts
// that come to the same are counted, the clocks of one machine are one fault, what nobody can get is waited for, and a
// script that is sent again is one call.
func TestTimelineSaysWhatHappened(t *testing.T) {
	for _, c := range []struct {
		lock, race, lang string
		want             []string
	}{
		{"token", "gc-pause", "en", []string{"token lets c1 and c2 in together for 4.5 s, and an update is lost",
			"c1 PAUSE 12.5 s", "OVERLAP c1+c2", "STALE-WRITE by c1", "SET NX PX → nil ×9", "paused", "lease ends"}},
		{"token", "gc-pause", "zh", []string{"「唯一标识锁」没能挡住：c1和c2同时在临界区4.5s，丢了一次更新", "c1停顿12.5s", "停顿"}},
		{"token", "gc-pause-fenced", "en",
			[]string{"The resource refuses the late write and no data is lost, though token lets c1 and c2 in " +
				"together for 4.5 s"}},
		{"setnx-expire", "slow-work", "en", []string{"in together more than once (c1 and c2; c2 and c3), and"}},
		{"setnx-expire", "crash-before-expire", "en",
			[]string{"With setnx-expire, no client ever acquires the lock again",
				"DEADLOCK c2 waits for ever", "dead"}},
		{"setnx-expire", "crash-holding", "en", []string{"BLOCKED c2 waits 9.51 s"}},
		{"redlock", "failover", "en",
			[]string{"redlock survives this race", "n2-5", "SET NX PX → OK (1/5), nil (4/5) ×4"}},
		{"redlock", "clock-jump", "en", []string{"n3 + c2 CLOCK +11 s"}},
		{"token", "clock-jump", "zh", []string{"redis+c2时钟跳变+11s"}},
		{"redislock-fence", "gc-pause-fenced", "en",
			[]string{"v1, token 2", "token 1 < 2: refused", "EVAL obtain → 1"}},
		{"redlock", "quorum-restart", "en", []string{"SET NX PX → OK (3/5), nil (2/5)", "v2"}},
		{"zk-protected", "gc-pause", "en", []string{"v1", "v2", "session ends", "EXISTS _c_c2.12-..-12"}},
		{"watchdog", "failed-renewal", "en", []string{"EVAL renew → lost"}},
		{"token", "gc-pause", "en", []string{"events are spread so that each is legible. Dashed arrows: replies; " +
			"slanted lines: paused, or a server is down; dotted box: dead; brown dashed verticals: faults; orange or " +
			"green: verdicts. ○ v0: version 0 is read; ● v1: version 1 is written."}},
		{"token", "calm", "en", []string{"each is legible; at a wave time is " +
			"left out. Dashed arrows: replies; " +
			"slanted lines: paused, or a server is down; dotted box: dead; brown dashed verticals: faults; orange or " +
			"green: verdicts. ○ v0: version 0 is read; ● v1: version 1 is written."}},
	} {
		got := written(t, timelineOf(t, c.lock, c.race), Format{Lang: c.lang})
		for _, want := range c.want {
			if !strings.Contains(got[len(got)-1], strings.ReplaceAll(want, " ", "")) {
				t.Errorf("%s in %s, %s: no %q in %q", c.lock, c.race, c.lang, want, got)
			}
		}
	}
}

// However small the picture is, each read and each write says which version it is of, and a refused one that it is.
func TestVersionsAreSaid(t *testing.T) {
	least, err := ParseSize("142x97")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []Format{{Lang: "en", Size: least}, {Lang: "en", Slide: true, Print: true}} {
		for race, want := range map[string][]string{"gc-pause": {"v0", "v0", "v1", "v2"},
			"gc-pause-fenced": {"v0", "v0", "v1"}} {
			var got []string
			for _, said := range written(t, timelineOf(t, "token", race), f) {
				got = append(got, regexp.MustCompile(`^v\d`).FindAllString(said, 1)...)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%s, %+v: %q, want %q", race, f, got, want)
			}
		}
		if got := written(t, timelineOf(t, "redislock-fence", "gc-pause-fenced"), f); !strings.Contains(got[len(got)-1],
			"refused") {
			t.Errorf("%+v: the late write is not refused: %q", f, got)
		}
	}
}

// A run that ends when two are inside says no length of that.
func TestOverlapOfAMoment(t *testing.T) {
	r := timelineOf(t, "token", "gc-pause")
	r.Verdicts = []verdict.Word{verdict.Overlap}
	overlaps := func(f verdict.Finding) bool { return f.Verdict == verdict.Overlap }
	f := r.Judgement.Findings[slices.IndexFunc(r.Judgement.Findings, overlaps)]
	f.To = f.From
	r.Judgement.Findings = []verdict.Finding{f}
	if got := r.Finding("en"); got != "token lets c1 and c2 in together" {
		t.Error(got)
	}
}

// Each race of a lock can be drawn, as 16:9 and for a page, and no place is outside the picture. Every verdict has a
// finding.
func TestEveryRunIsDrawn(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine draws")
	for _, id := range []string{"mutex", "token", "redlock", "zk-recheck"} {
		for _, sc := range scenarios.All() {
			r := timelineOf(t, id, sc.ID)
			if r.History == nil || len(r.History.Events) == 0 {
				continue
			}
			p := r.picture(Format{Lang: "en"})
			if ratio := p.width / p.height; ratio < 1.77 || ratio > 1.78 {
				t.Errorf("%s in %s: %v to 1", id, sc.ID, ratio)
			}
			if err := r.picture(Format{Lang: "en", Size: sizes["page"]}).err; err != nil {
				t.Errorf("%s in %s: %v", id, sc.ID, err)
			}
			var b bytes.Buffer
			if err := p.svg(&b); err != nil || bytes.Contains(b.Bytes(), []byte("NaN")) {
				t.Errorf("%s in %s: %v, or a place that is no number", id, sc.ID, err)
			}
		}
	}
	for _, w := range words {
		for _, lang := range []string{"en", "zh"} {
			r := timelineOf(t, "token", "calm")
			if r.Verdicts = []verdict.Word{w}; strings.HasPrefix(r.Finding(lang), "timeline.") {
				t.Errorf("%s has no finding in %s", w, lang)
			}
		}
	}
}

// Attempts that repeat take no more room in a picture than a few: no run of the best-known locks
// in the best-known races has more than a slide can show.
func TestAttemptsFold(t *testing.T) {
	for _, id := range []string{"token", "watchdog", "redlock", "zk-protected", "redislock-fence"} {
		for _, raceID := range []string{"gc-pause", "failover", "crash-holding", "slow-work"} {
			r := timelineOf(t, id, raceID)
			if r.History == nil {
				continue
			}
			run, _ := reports.RunOf(r.History, r.Judgement, r.Verdicts, []string{"en"}, false)
			sent := map[string]int{}
			for _, m := range run.Messages {
				if m.What == "EVALSHA obtain" && strings.Contains(m.Reply, "NOSCRIPT") {
					t.Errorf("%s in %s: %+v", id, raceID, m)
				}
				if m.Node == 1 && strings.HasPrefix(m.What, "SET") || strings.HasPrefix(m.What, "CREATE") {
					sent[fmt.Sprint("c", m.Client)]++
				}
			}
			for who, n := range sent {
				if n > 6 {
					t.Errorf("%s in %s: %s asks %d times", id, raceID, who, n)
				}
			}
		}
	}
}

// Attempts that are folded away take nothing else with them: at each event the key is whose it was in the run, but
// where such an attempt took it and gave it back itself.
func TestFoldedKeys(t *testing.T) {
	for _, e := range algorithms.All() {
		for _, sc := range scenarios.All() {
			if effort.Exhaustive() || e.ID == "redlock" || sc.ID == "lost-reply" {
				if o := timelineOf(t, e.ID, sc.ID); o.History != nil {
					foldedKeys(t, o)
				}
			}
		}
	}
}

func foldedKeys(t *testing.T, o *Timeline) {
	t.Helper()
	run, _ := reports.RunOf(o.History, o.Judgement, o.Verdicts, []string{"en"}, false)
	all := reports.Moments(o.History)
	shown := 0 // in the picture
	for i, s := range all {
		for shown+1 < len(run.States) && run.States[shown+1].Event <= s.Event {
			shown++
		}
		for n, k := range s.Keys {
			if k == run.States[shown].Keys[n] {
				continue
			}
			from, to := i, i // in which the key is this client's
			for from > 0 && all[from-1].Keys[n].Owner == k.Owner {
				from--
			}
			for to < len(all)-1 && all[to].Keys[n].Owner == k.Owner {
				to++
			}
			took, gave := o.History.Events[all[from].Event], o.History.Events[all[to].Event]
			if took.Client != k.Owner || gave.Client != k.Owner || !run.States[shown].Clients[k.Owner-1].Retries {
				t.Errorf("%s in %s, event %d, n%d: %+v, drawn as %+v", o.History.Lock, o.History.Race, s.Event, n+1, k,
					run.States[shown].Keys[n])
				return
			}
		}
	}
}
