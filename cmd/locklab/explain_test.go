package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"locklab/reports/lessons"
	"locklab/reports/text"
	"locklab/simulator/effort"
)

// played is the stage of the tests: each cell is played once for all of them.
var played = lessons.NewStage()

// Every place of every text is filled in, in both languages: what it names is there,
// and came about in a run. The error names the file and the line.
func TestEveryTextIsFilled(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	for _, prefix := range []string{"lock.", "race.", "path.", "interview.", "debate.", "need.", "judging.", "term."} {
		texts, err := played.Texts("both", prefix)
		if err != nil {
			t.Error(err)
		}
		for lang, byKey := range texts {
			for key, lines := range byKey {
				for _, line := range lines {
					if line == "" || strings.ContainsAny(line, "{}") {
						t.Errorf("%s: %s: a line is %q", lang, key, line)
					}
				}
			}
		}
	}
}

// What backs a screen of the path, or an answer, is a run that falls, the same one
// in both languages.
func TestBacking(t *testing.T) {
	en, zh := text.In("en"), text.In("zh")
	same := func(key string) string {
		if en.Get(key) != zh.Get(key) {
			t.Errorf("%s: %q in English, %q in Chinese", key, en.Get(key), zh.Get(key))
		}
		return en.Get(key)
	}
	falls := func(what, id, raceID string) {
		if o, err := played.Named(id, raceID); err != nil {
			t.Errorf("%s: %v", what, err)
		} else if !o.Verdicts[0].Broken() {
			t.Errorf("%s: %s in %s comes to %v: there is nothing to see", what, id, raceID, o.Verdicts)
		}
	}
	for n := range lessons.PathScreens {
		key := fmt.Sprintf("path.%d.", n+1)
		falls(key, same(key+"lock"), same(key+"race"))
	}
	for _, topic := range lessons.Topics() {
		key := "interview." + topic + ".trace"
		id, race, _ := strings.Cut(same(key), " ")
		falls(key, id, race)
	}
}

// A lock that no client can ever have again has fallen, also where the key that stands in a living client's name is
// told before it, and a story ends with that. What a lock's page calls by another lock's name can be looked up from
// there.
func TestExplainLeadsOn(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	for command, want := range map[string]string{
		"explain watchdog":                        "locklab run watchdog dead-business",
		"run watchdog dead-business --view story": "DEADLOCK means",
		"explain set-ifeq":                        "\n  locklab explain daemon-10-owned\n",
		"explain zk-protected":                    "\n  locklab explain zk-recheck\n",
		"explain redlock-topup":                   "\n  locklab explain redlock-drift\n",
	} {
		if _, out, _ := call(t, strings.Fields(command)...); !strings.Contains(out, want) {
			t.Errorf("%s does not say %q:\n%s", command, want, out)
		}
	}
}

// What a search has found is explained like a race: its lanes, its code, its point of no return, and
// the other locks under the same bad luck.
func TestExplainWitness(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine explains")
	_, out, _ := call(t, "explore", "token", "--budget", "pause=1", "--json")
	_, link, _ := strings.Cut(out, `"trace": "`)
	link, _, _ = strings.Cut(link, `"`)
	code, out, errs := call(t, "explain", link)
	if code != 0 {
		t.Fatalf("exit status %d: %s", code, errs)
	}
	for _, want := range []string{"point of no return", "nothing averts OVERLAP", "s.creator.create(ctx, s.node, key",
		"setnx          ORPHAN@1 DEADLOCK@1", "redlock        OVERLAP@1 STALE-WRITE@1"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
}

// Every word that the outputs use can be looked up, in both languages: verdicts, column
// heads, and the words of certificates.
func TestWordsAreExplained(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	words := []string{"N/A", "VACUOUS", "UNKNOWN", "HOLDS", "+1", "+3", "@", "?", "none", "par", "steps", "cause",
		"certificate", "bounds", "states",
		"transitions", "depth", "complete", "reduction", "symmetry", "doom", "point of no return",
		"tolerance", "retries", "attempts",
		"orphaned request", "quorum", "TTL", "lease", "asleep", "seed", "settings", "contract", "link",
		"counterexample", "budget", "probe", "cut short"}
	words = append(words, "OVERLAP", "STALE-WRITE", "FENCED", "WRONG-DEL", "LIE", "ORPHAN", "DEADLOCK", "BLOCKED",
		"STARVED",
		"反例", "羊群效应", "不可挽回点", "最少故障数", "孤儿请求")
	for _, w := range words {
		for _, lang := range []string{"en", "zh"} {
			if code, out, errs := call(t, "explain", w, "--lang", lang); code != exitOK || len(out) < 40 {
				t.Errorf("explain %s --lang %s: exit status %d, %s%s", w, lang, code, out, errs)
			}
		}
	}
}

// Faults and articles have pages, in both languages. A word that names no page leads to those that have it.
func TestExplainFinds(t *testing.T) {
	for name, want := range map[string][]string{
		"crash":       {"--budget crash=1", "crash-holding", "R01"},
		"server-list": {"--budget server-list=1", "shard-list"},
		"pause":       {"--budget pause=1", "GC", "gc-pause"},
		"node-clock":  {"--budget node-clock=1@10s"},
		"004":         {"setnx-expire", "004-A", "late-release", "R04"},
		"!!":          {"[ENTER, EXIT]", "READ v0"},
	} {
		for _, lang := range []string{"en", "zh"} {
			code, out, errs := call(t, "explain", name, "--lang", lang)
			for _, w := range want {
				if lang == "zh" && name == "!!" {
					w = "v0"
				}
				if code != exitOK || !strings.Contains(out, w) {
					t.Errorf("explain %s --lang %s: exit status %d, %q is missing in\n%s%s",
						name, lang, code, w, out, errs)
				}
			}
		}
	}
	for word, want := range map[string]string{
		"MOVED": "locklab explain sharded", "shardedjedis": "locklab explain sharded",
		"一致性哈希": "locklab explain sharded",
	} {
		if code, _, errs := call(t, "explain", word); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("explain %s: exit status %d, %q is missing in %s", word, code, want, errs)
		}
	}
}

// At a terminal a page waits for Enter before an answer and before the next screen, and q ends it: nothing is told
// twice, or left out. Elsewhere it is told in one piece.
func TestScreens(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	page, _, _ := lessons.Find("interview", "")
	blocks, err := page.Blocks(t.Context(), played, "en")
	if err != nil {
		t.Fatal(err)
	}
	typed := func(lines string) string {
		var out bytes.Buffer
		e := newTestEnv(&out, io.Discard)
		e.stdin, e.Width = strings.NewReader(lines), defaultWidth
		screens(e)(e.Printer, e.look(), spoken(blocks))
		return out.String()
	}
	long, answer := "Three problems remain", "The server deletes the key"
	if said := typed("\n\n\nq\n"); !strings.Contains(said, long) || strings.Contains(said, answer) {
		t.Errorf("up to the second question it says\n%s", said)
	}
	if said := typed("s\n\n\nq\n"); strings.Contains(said, long) || !strings.Contains(said, answer) {
		t.Errorf("without the first question it says\n%s", said)
	}
	if asks := strings.Count(typed("?\nx\nq\n"), "(Enter: "); asks != 3 {
		t.Errorf("after two unknown keys it has asked %d times, want 3", asks)
	}
	_, whole, _ := call(t, "explain", "interview")
	words := func(s string) []string { return strings.Fields(strings.ReplaceAll(s, strings.Repeat("-", 60), "")) }
	prompts := strings.NewReplacer(text.Say("en", "screen.break"), "", text.Say("en", "screen.hidden"), "",
		text.Say("en", "screen.hiddenfull"), "")
	if said := prompts.Replace(typed(strings.Repeat("\n", 99))); !slices.Equal(words(said), words(whole)) {
		t.Errorf("screen by screen it is\n%s\nand in one piece\n%s", said, whole)
	}
}

// What is not UTF-8 is a name that no page has, like any other.
func TestExplainNoText(t *testing.T) {
	for _, args := range [][]string{{"explain", "\xff"}, {"explain", "token\xff"}, {"explain", "\xff", "gc-pause"},
		{"explain", "interview", "\xff"}} {
		if code, out, errs := call(t, args...); code != exitUsage || out != "" || !strings.Contains(errs, `\xff`) {
			t.Errorf("%q: exit status %d: %s%s", args, code, errs, out)
		}
	}
}
