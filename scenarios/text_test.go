package scenarios_test

import (
	"strings"
	"testing"
	"unicode"

	"locklab/algorithms"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
)

// TestTextsAreComplete: every race has a title, a story and its numbers in both
// languages, and stands in the list among those of its group, which has a heading. Every reason for N/A has a text.
func TestTextsAreComplete(t *testing.T) {
	t.Parallel()
	wanted := map[string]bool{}
	group := ""
	for _, sc := range scenarios.All() {
		if key := "list.races." + sc.Group; sc.Group != group {
			if group = sc.Group; wanted[key] {
				t.Errorf("%s is of the group %s: its line in scenarios.All belongs behind those of its group",
					sc.ID, sc.Group)
			}
			wanted[key] = true
			if _, ok := text.In("en").Entry(key); !ok {
				t.Errorf("the group of %s has no heading: write the line %q in reports/text/en/command.txt",
					sc.ID, key+" = …")
			}
		}
		for _, part := range []string{"title", "story", "numbers"} {
			key := part + ".race." + sc.ID
			wanted[key] = true
			inBothLanguages(t, key)
			for _, lang := range text.Languages() {
				e, ok := text.In(lang).Entry(key)
				if ok && part != "title" && !strings.HasSuffix(e.Text, ".") && !strings.HasSuffix(e.Text, "。") {
					t.Errorf("%s in %s does not end with a full stop: %s", key, lang, e.Text)
				}
			}
		}
	}
	var runner race.Runner
	for _, e := range algorithms.All() {
		p := racetest.Must(runner.Profile(e))(t)
		for _, sc := range scenarios.All() {
			if why := sc.WhyNotApplicable(p); why != "" && !wanted["na."+string(why)] {
				wanted["na."+string(why)] = true
				inBothLanguages(t, "na."+string(why))
			}
		}
	}
	for _, why := range append(race.CodeReasons(), "own-renewals") { // the last one is a sweep's
		wanted["na."+string(why)] = true
		inBothLanguages(t, "na."+string(why))
	}
	for _, prefix := range []string{"title.race.", "story.race.", "numbers.race.", "na.", "list.races."} {
		for _, key := range text.In("en").Keys(prefix) {
			if !wanted[key] {
				t.Errorf("%s belongs to no race", key)
			}
		}
	}
}

// inBothLanguages checks that a text exists in both languages, each in its own script.
func inBothLanguages(t *testing.T, key string) {
	t.Helper()
	for _, lang := range text.Languages() {
		e, ok := text.In(lang).Entry(key)
		han := strings.ContainsFunc(e.Text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
		if !ok || e.Text == "" || han != (lang == "zh") {
			t.Errorf("%s has no text in the language %s, but %q: write the line %q in reports/text/%s, beside its like",
				key, lang, e.Text, key+" = …", lang)
		}
	}
}

// storyLocks names, for each race, the lock for which the article tells it: its run is drawn. Where the articles tell
// a race for several locks, it is the one that comes to the end in the title; where they do not tell it, the plainest
// lock that the story is about. Token where none is named.
var storyLocks = byRace(map[string]string{
	"setnx":          "calm crash-holding opposite-order",
	"setnx-expire":   "crash-before-expire slow-work",
	"threadlocal":    "late-release two-keys",
	"takeover-del":   "double-del",
	"getset-nil":     "getset-nil",
	"getset":         "get-nil client-skew",
	"getset-timeout": "get-nil-taken",
	"getset-check":   "overwritten-stamp check-then-pause",
	"client-expiry":  "client-behind",
	"getset-retry":   "same-second",
	"cron-v2":        "foreign-shutdown own-shutdown double-run no-finally",
	"thread-id-lua":  "same-thread",
	"reentrant":      "nested pooled-thread second-try second-key late-re-entry",
	"daemon-29":      "late-renewal zombie-daemon zombie-keeps",
	"watchdog":       "failed-renewal dead-business dead-process split-renewed late-unlock",
	"daemon-20":      "renewal-in-flight",
	"token-wait":     "failover-other replica-gone",
	"redlock": "restart quorum-restart clock-jump pause-in-flight clock-drift server-drift split-vote " +
		"split-vote-spread partial-acquire quorum-failover",
	"constant":       "release-again",
	"redlock-extend": "renew-held renew-free renew-partly",
	"redisson-lease": "renew-late",
	"naive-wake":     "missed-wake silent-crash",
	"redisson-lock":  "herd",
	"zk-herd":        "watch-herd",
	"zk-recheck":     "in-line lost-create session-pause session-ends suspended suspended-ignored",
	"zk-naive":       "waiter-dies waiter-leaves",
	"zk-protected":   "numbers-end",
	"evalsha":        "script-cache-lost",
	"sharded":        "shard-list rolling-deploy",
})

// byRace turns the races of each lock into the lock of each race.
func byRace(races map[string]string) map[string]string {
	locks := map[string]string{}
	for lock, list := range races {
		for race := range strings.FieldsSeq(list) {
			locks[race] = lock
		}
	}
	return locks
}
