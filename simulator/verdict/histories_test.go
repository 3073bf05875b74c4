package verdict_test

import (
	_ "embed"
	. "locklab/simulator/verdict"
	"strconv"
	"strings"
	"testing"
	"time"
)

//go:embed testdata/histories.txt
var histories string

// TestHistories: every verdict in histories that have it, that have it not, and on the
// border. The second opinion must be the same on all of them.
func TestHistories(t *testing.T) {
	var word Word
	seen := map[Word]map[string]bool{}
	for block := range strings.SplitSeq(histories, "\n\n") {
		var kind, rule, text, want string
		var with []string
		for line := range strings.Lines(block) {
			first, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			rest = strings.TrimSpace(rest)
			switch first {
			case "", "#":
			case "==":
				word = Word(rest)
				seen[word] = map[string]bool{}
			case "--":
				kind, rule, _ = strings.Cut(rest, " ")
				rule = strings.TrimSpace(rule)
			case "with":
				with = strings.Fields(rest)
			case "=>":
				want = rest
			default:
				text += line
			}
		}
		if rule == "" {
			continue
		}
		seen[word][kind] = true
		t.Run(string(word)+"/"+rule, func(t *testing.T) {
			h := tell(t, text)
			for _, w := range with {
				name, value, _ := strings.Cut(w, "=")
				switch name {
				case "nodes":
					h.Nodes, _ = strconv.Atoi(value)
				case "slow":
					ms, _ := strconv.Atoi(value)
					h.Slow = time.Duration(ms) * time.Millisecond
				case "noisy":
					h.Noisy, _ = strconv.Atoi(value)
				case "horizon":
					h.Horizon = true
				case "shards":
					h.Shards = true
				case "ttl":
					h.TTL = 0
				case "zookeeper":
					h.ZooKeeper = true
				case "holders":
					for room := range strings.SplitSeq(value, ",") {
						n, _ := strconv.Atoi(room)
						h.Holders = append(h.Holders, n)
					}
				default:
					t.Fatalf("with %q: not known", w)
				}
			}
			got := short(found(Judge(h), word))
			if got != want || (kind == "yes") && got == "" || kind == "no" && got != "" {
				t.Errorf("%s\n%sfound %q\nwant  %q", rule, text, got, want)
			}
			if diff := sameCharges(h); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, w := range []Word{Overlap, StaleWrite, Fenced, WrongDel, Lie, Orphan, Deadlock, Blocked, Starved,
		Slow, Noisy} {
		for _, kind := range []string{"yes", "no", "edge"} {
			if !seen[w][kind] {
				t.Errorf("no case of %s is marked %q", w, kind)
			}
		}
	}
}
