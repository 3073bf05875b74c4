package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"locklab/simulator/effort"

	"locklab/scenarios/share"
	"locklab/simulator/realserver/servertest"
)

// dividable are small commands, one of each kind of task.
var dividable = map[string][]string{
	"par":       {"par", "--strategies", "setnx", "--budget", "crash=1", "--attempts", "1"},
	"sweep":     {"sweep", "pause/ttl=0.5:1.5:0.5", "--strategies", "setnx", "--runs", "9"},
	"tolerance": {"tolerance", "--strategies", "setnx"},
	"matrix":    {"matrix", "--strategies", "token", "--scenarios", "R18,getset-nil", "--runs", "5"},
	"recovery":  {"recovery", "--strategies", "token", "--ttls", "2s"},
	"waiting":   {"waiting", "--policies", "fixed,herd", "--clients", "2,60"},
	"verify":    {"verify", "--contract", "CONTRACT"},
	"live":      {"live", "matrix", "--strategies", "setnx,zk-protected", "--scenarios", "R18"},
}

// inOneShare computes a command as one share and returns its content.
func inOneShare(t testing.TB, args []string) []byte {
	t.Helper()
	args = append([]string{}, args...)
	for i := range args {
		if args[i] == "CONTRACT" {
			args[i] = filepath.Join(t.TempDir(), "contract.txt")
			if err := os.WriteFile(args[i], []byte(smallContract), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	code, out, errs := call(t, append(args, "--shard", "1/1")...)
	if code != exitOK {
		t.Fatalf("%v: exit status %d, %s", args, code, errs)
	}
	return []byte(out)
}

// sealed is a share with a checksum that fits.
func sealed(t testing.TB, s *share.Share) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := s.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// altered is a share in the n-th result of which the value at path is another, with a
// checksum that fits. An empty path is the whole result.
func altered(t testing.TB, content []byte, n int, path string, value any) []byte {
	t.Helper()
	s, err := share.Read("share", content)
	if err != nil {
		t.Fatal(err)
	}
	result := any(nil)
	d := json.NewDecoder(bytes.NewReader(s.Results[n].Result))
	d.UseNumber()
	if err := d.Decode(&result); err != nil {
		t.Fatal(err)
	}
	if path == "" {
		result = value
	} else {
		put(t, result, strings.Split(path, "."), value)
	}
	if s.Results[n].Result, err = json.Marshal(result); err != nil {
		t.Fatal(err)
	}
	return sealed(t, s)
}

func put(t testing.TB, in any, path []string, value any) {
	t.Helper()
	switch in := in.(type) {
	case map[string]any:
		if len(path) == 1 {
			in[path[0]] = value
			return
		}
		put(t, in[path[0]], path[1:], value)
	case []any:
		i := 0
		if _, err := fmt.Sscan(path[0], &i); err != nil || i >= len(in) {
			t.Fatalf("%s: of %d", path[0], len(in))
		}
		if len(path) == 1 {
			in[i] = value
			return
		}
		put(t, in[i], path[1:], value)
	default:
		t.Fatalf("%v: there is no such value", path)
	}
}

const (
	// otherLink is of setnx, to an OVERLAP after a restart.
	otherLink = "locklab2-PMixqsIwFAbg3pYrdMsjZHI6gxFEHc6zSEz-2kJMS84v-Pji4jd-_wbW984QW5pvqSyoND1KJPHcaBqkgW2B6UnqmvEdsujVZEJNyDrFYpD7Kz9AbTDGRg2CbU2zhvPl8DO63g1u3_11o-_94D8DALEYUYQ"
	escape    = "\x1b]0;owned\a"
)

// TestValues: a value that its task cannot give is refused, with its file, task and field,
// although the checksum of its share fits. Nothing is printed of the results.
func TestValues(t *testing.T) {
	t.Parallel()
	type bad struct {
		n     int
		path  string
		value any
		says  string // part of the error
	}
	for kind, table := range map[string][]bad{
		"sweep": {
			{0, "", []int{255, -7, 0}, "[0] is 255; wanted: 0 to 9"},
			{0, "", []int{0, -7, 0}, "[1] is -7; wanted: 0 to 9"},
			{0, "", []int{9}, "is 1; wanted: 3 values"},
			{0, "", []int{}, "is 0; wanted: 3 values"},
			{0, "", nil, "wanted: 3 values"},
			{0, "1", 1.5, "wanted: what this task writes"},
			{0, "1", json.Number("1e400"), "wanted: what this task writes"},
			{0, "1", json.Number("2.0"), "wanted: what this task writes"},
			{0, "1", "x", "wanted: what this task writes"},
			{0, "1", escape, `[1] is "\x1b]0;owned\a"; wanted: a text without control characters`},
		},
		"matrix": {
			{0, "runs", 6, "runs is 6; wanted: 5"},
			{0, "runs", -5, "runs is -5; wanted: 5"},
			{0, "broken", 6, "broken is 6; wanted: 0 to 5"},
			{0, "broken", -1, "broken is -1"},
			{1, "runs", 5, "runs is 5; wanted: 0"}, // the race does not apply
			{0, "story", "x", "story is"},
		},
		"par": {
			{0, "bounds.Clients", 3, "bounds.Clients is 3; wanted: 2"},
			{0, "bounds.Attempts", 2, "bounds.Attempts is 2; wanted: 1"},
			{0, "bounds.Budget", "crash=2", `bounds.Budget is "crash=2"; wanted: "crash=1"`},
			{0, "bounds.MaxStates", 1, "bounds.MaxStates is 1; wanted: 20000000"},
			{0, "bounds.Checkpoint", "/etc/passwd", "bounds.Checkpoint is"},
			{0, "bounds.Other", 1, "bounds.Other is 1"},
			{0, "result.States", -1, "result.States is -1; wanted: 0 to 20000000"},
			{0, "result.States", 30_000_000, "result.States is 30000000"},
			{0, "result.Open", 3, "result.Complete is true; wanted: false"},
			{0, "result.Histories", -1, "result.Histories is -1"},
			{0, "result.Assumed.Symmetric", 9, "result.Assumed.Symmetric is 9; wanted: 0 to 2"},
			{0, "result.Assumed.Symmetric", 0, "result.Symmetry is true; wanted: false"},
			{0, "result.Assumed.Merging", 7, "result.Assumed.Merging is 7; wanted: 0 to 2"},
			{0, "result.Transitions", -1, "result.Transitions is -1"},
			{0, "result.Bytes", -1, "result.Bytes is -1"},
			{0, "result.Triggered", "/w==", "result.Triggered[0] is"},
			{0, "result.Lengths.0.Of", 9, "result.Lengths[0].Of is 9; wanted: 0 to 6"},
			{0, "result.Limit", map[string]any{"key": "x"}, `result.Limit is "x"`},
			{0, "result.Limit", map[string]any{"key": "limit.search"}, `result.Limit is "limit.search"`}, // without its values
			{0, "result.Found", []any{}, "result.Found is"},
			{0, "result.Kept.Finished", true, "result.Kept.Finished is true"},
			{0, "result.Asymmetry.Does", escape, `result.Asymmetry.Does is "\x1b]0;owned\a"`},
			{0, "result", nil, "wanted: "},
			{0, "witnesses.0.verdict", "BROKEN", `witnesses[0].verdict is "BROKEN"`},
			{0, "witnesses.0.verdict", "OVERLAP", "wanted: a link to a run that ends in OVERLAP"},
			{0, "witnesses.0.par", 0, "witnesses[0].par is 0; wanted: 1"},
			{0, "witnesses.0.steps", 3, "witnesses[0].steps is 3; wanted: 13"},
			{0, "witnesses.0.trace", "locklab2-abc", "wanted: what this task writes"},
			{0, "witnesses.0.trace", otherLink, "witnesses[0].steps is 13; wanted: 7"},
			{0, "tried", []any{nil}, "tried is 1"},
		},
		"tolerance": {
			{0, "strategy", "token", `strategy is "token"; wanted: "setnx"`},
			{0, "fault", "crash", `fault is "crash"; wanted: "pause"`},
			{0, "result", "splendid", `result is "splendid"`},
			{0, "result", "limited", `result is "limited"`}, // without the sizes
			{0, "holds_up_to", 0.07, "holds_up_to is 0.07; wanted: a multiple of 1/20 from 0 to 2"},
			{0, "holds_up_to", -1, "holds_up_to is -1"},
			{0, "falls_at", 2.05, "falls_at is 2.05"},
			{0, "trace", otherLink, `result is "no limit found"`},
			{3, "trace", otherLink, "trace: Budget is \"restart=1\""}, // of another fault
			{4, "trace", "locklab2-abc", "trace is"},
			{3, "result", "holds", `result is "holds"`}, // with a link
		},
		"recovery": {
			{0, "Pieces.0.from_ns", -1, "Pieces[0].from_ns is -1"},
			{0, "Pieces.1.from_ns", 1, "Pieces[1].from_ns is 1"},
			{0, "Pieces.1.to_ns", 1, "Pieces[1].to_ns is"},
			{0, "Pieces.0.first_ns", -5, "Pieces[0].first_ns is"},
			{0, "Pieces.9.last_ns", int64(1) << 60, "Pieces[9].last_ns is"},
			{0, "Handover", -1, "Handover is"},
			{0, "Longest", 0, "Handover is"}, // the mean is longer
		},
		"waiting": {
			{0, "policy", "pttl", `policy is "pttl"; wanted: "fixed"`},
			{0, "policy", escape, `policy is "\x1b]0;owned\a"`},
			{0, "clients", 3, "clients is 3; wanted: 2"},
			{0, "skipped", true, "skipped is true"},
			{0, "entries", -1, "entries is -1"},
			{0, "handover_mean_s", -0.5, "handover_mean_s is -0.5"},
			{0, "server_load", 1.5, "server_load is 1.5; wanted: 0 to 1"},
			{0, "jain_index", 1.5, "jain_index is 1.5"},
			{0, "jain_index", nil, "jain_index is null"},
			{0, "longest_overtaking", -1, "longest_overtaking is -1"},
			{3, "entries", 7, "entries is 7; wanted: 0"}, // skipped
		},
		"verify": {
			{0, "status", 9, "status is 9"},
			{0, "got.0.Verdict", "LOST", `got[0].Verdict is "LOST"`},
			{0, "got.0.Verdict", "LIE", "wanted: "}, // and status Met
			{0, "reasons", []any{map[string]any{"key": "unmet.everything"}}, `reasons[0] is "unmet.everything"`},
			{0, "reasons", []any{map[string]any{"key": "unmet.not-injected"}}, "status is 1; wanted: 2"},
			{0, "search", map[string]any{}, "search"},
			{2, "search", nil, "search"},
			{2, "search.witnesses.0.par", 0, "search.witnesses[0].par is 0"},
			{2, "search.result.Complete", false, "wanted: "},
			{2, "got.0.Par", 2, "got[0].Par is 2; wanted: 1"},
			{2, "witness", otherLink, "witness is"},
			{4, "status", 3, "status is 3; wanted: 1"},
			{4, "proof", map[string]any{}, "proof"},
			{6, "proof", nil, "proof"},
			{6, "search", map[string]any{}, "search"},
			{6, "proof.search", nil, "proof.search is null"},
			{6, "proof.views", -1, "proof.views is -1"},
			{6, "proof.endless", false, "proof.endless"},
			{6, "proof.closed", false, "proof.closed"},
			{6, "proof.harms", []string{"FENCED"}, `proof.harms is "FENCED"`},
			{6, "proof.harms", []string{}, "wanted: "}, // DEADLOCK would be proved
			{6, "proof.open", []string{"STARVED"}, `proof.open is "STARVED"`},
			{6, "proof.once", map[string]any{"key": "prove.views", "pairs": []string{"most", "5"}}, "proof.once"},
			{6, "proof.broken.0", nil, "proof.broken[0]."},
			{6, "proof.broken.0.bounds.Clients", 5, "proof.broken[0].bounds"},
			{6, "proof.broken.0.witnesses.0.par", 2, "proof.broken[0].witnesses[0].par is 2; wanted: 1"},
			{6, "proof.search.bounds.TTL", 5, "proof.search.bounds.TTL"},
			{9, "proof.refused.Why.key", "unmet.limit", "proof.refused"},
		},
		"live": {
			{0, "Version", escape, `Version is "\x1b]0;owned\a"`},
			{0, "Version", "seven (7)", `Version is "seven (7)"`},
			{0, "Rows.0.Name", "R1 calm", `Rows[0].Name is "R1 calm"`},
			{0, "Rows.0.Comparisons.0", nil, "Rows[0].Comparisons[0] is null"},
			{0, "Rows.0.Comparisons.0.Strategy", "token", `Rows[0].Comparisons[0].Strategy is "token"`},
			{0, "Rows.0.Comparisons.0.Trace", otherLink, "Rows[0].Comparisons[0].Trace (race) is"},
			{0, "Rows.0.Comparisons.0.Lab", []string{"FINE"}, `Rows[0].Comparisons[0].Lab[0] is "FINE"`},
			{0, "Rows.0.Comparisons.0.Real", nil, "Rows[0].Comparisons[0].Real is"},
			{0, "Rows.0.Comparisons.0.Agrees", false, "Rows[0].Comparisons[0].Agrees is false; wanted: true"},
			{0, "Rows.0.Comparisons.0.NotShown", "tired", "Rows[0].Comparisons[0].NotShown is"},
			{0, "Rows.0.Comparisons.0.Speed", -1, "Rows[0].Comparisons[0].Speed is -1"},
			{0, "Rows.0.Comparisons.0.Key", escape, "Rows[0].Comparisons[0].Key is"},
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			if kind == "live" {
				servertest.NeedRedis(t)
			}
			content := inOneShare(t, dividable[kind])
			for _, b := range table {
				file := rawCopy(t, "altered.json", altered(t, content, b.n, b.path, b.value))
				code, out, errs := call(t, "merge", file)
				if code != exitUsage || out != "" || !strings.Contains(errs, "altered.json: in the result of ") && !strings.Contains(errs, "altered.json: the result of ") || !strings.Contains(errs, b.says) {
					t.Errorf("%s = %v: exit status %d, %.300s\n%s", b.path, b.value, code, out, errs)
				}
				if raw := unprintable(out + errs); raw != "" {
					t.Errorf("%s = %v: %q is printed raw", b.path, b.value, raw)
				}
			}
		})
	}
}

// unprintable is the first control character of an output without styles, but for ends of
// lines; "": there is none.
func unprintable(s string) string {
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' {
			return string(r)
		}
	}
	return ""
}

// TestStrangeShares: what else a share has may be altered too. A command that is not
// divided, or that writes files, is not run.
func TestStrangeShares(t *testing.T) {
	t.Parallel()
	content := inOneShare(t, dividable["sweep"])
	target := filepath.Join(t.TempDir(), "written.csv")
	for name, c := range map[string]struct {
		edit func(s *share.Share)
		says string
	}{
		"command":  {func(s *share.Share) { s.Command = []string{"explain", "token"}; s.Results = nil }, `of "locklab explain token", which cannot be divided`},
		"writes":   {func(s *share.Share) { s.Command = append([]string{"sweep", "--out=" + target}, s.Command[1:]...) }, "which cannot be divided"},
		"flag":     {func(s *share.Share) { s.Command = append(s.Command, "--json") }, "which cannot be divided"},
		"help":     {func(s *share.Share) { s.Command = append(s.Command, "--help"); s.Results = nil }, "which cannot be divided"},
		"escape":   {func(s *share.Share) { s.Command = append(s.Command, escape) }, `its command[4] is "\x1b]0;owned\a"`},
		"build":    {func(s *share.Share) { s.Build = escape }, "its build is"},
		"worker":   {func(s *share.Share) { s.Worker = "a\nb" }, "its worker is"},
		"task":     {func(s *share.Share) { s.Results[0].Task += "\n" }, "its results[0].task is"},
		"input":    {func(s *share.Share) { s.Inputs = map[string]string{escape: ""} }, "its inputs is"},
		"tasks":    {func(s *share.Share) { s.Tasks = 7 }, "its tasks is 7"},
		"no tasks": {func(s *share.Share) { s.Tasks = -1 }, "its tasks is -1"},
	} {
		s, err := share.Read("share", content)
		if err != nil {
			t.Fatal(err)
		}
		c.edit(s)
		code, out, errs := call(t, "merge", rawCopy(t, "altered.json", sealed(t, s)))
		if code != exitUsage || out != "" || !strings.Contains(errs, "altered.json: ") || !strings.Contains(errs, c.says) || unprintable(errs) != "" {
			t.Errorf("%s: exit status %d, %.300s\n%s", name, code, out, errs)
		}
	}
	if _, err := os.Stat(target); err == nil {
		t.Errorf("%s was written", target)
	}
}

// TestResumeValues: a file of sweep --resume is checked as a share is.
func TestResumeValues(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "resume.json")
	args := append(dividable["sweep"][:len(dividable["sweep"]):len(dividable["sweep"])], "--resume", file)
	if code, _, errs := call(t, args...); code != exitOK {
		t.Fatalf("exit status %d, %s", code, errs)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, altered(t, content, 0, "", []int{255, -7, 0}), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call(t, args...)
	if code != exitUsage || out != "" || !strings.Contains(errs, "resume.json: in the result of ") || !strings.Contains(errs, "[0] is 255; wanted: 0 to 9") {
		t.Errorf("exit status %d, %s, %s", code, out, errs)
	}
}

// FuzzMerge: no altered share leads to an internal error, a panic, or control characters in
// what is printed.
func FuzzMerge(f *testing.F) {
	effort.Unwatched(f, watchedCommands)
	var kinds []string
	var contents [][]byte
	for _, kind := range []string{"sweep", "par", "tolerance", "matrix", "recovery", "waiting", "verify"} {
		kinds, contents = append(kinds, kind), append(contents, inOneShare(f, dividable[kind]))
	}
	for k := range kinds {
		for at, replaced := range []string{`-1`, `"\u001b[31m"`, `null`, `[]`, `{}`, `9223372036854775807`, `1e300`, `"locklab2-"`} {
			f.Add(uint8(k), uint16(at*7), replaced)
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, at uint16, replaced string) {
		k := int(kind) % len(kinds)
		s, err := share.Read("share", contents[k])
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Results) == 0 {
			t.Fatal("no results")
		}
		n := int(at) % len(s.Results)
		result := replaceToken(s.Results[n].Result, int(at)/len(s.Results), replaced)
		if !json.Valid(result) {
			return
		}
		s.Results[n].Result = result
		code, out, errs := call(t, "merge", rawCopy(t, "altered.json", sealed(t, s)))
		if code == exitInternal || unprintable(out+errs) != "" {
			t.Errorf("%s: exit status %d\n%q\n%q", result, code, out, errs)
		}
	})
}

// replaceToken replaces the n-th value or name of JSON, modulo how many it has.
func replaceToken(content []byte, n int, by string) []byte {
	type span struct{ from, to int64 }
	var spans []span
	d := json.NewDecoder(bytes.NewReader(content))
	for {
		token, err := d.Token()
		if err != nil {
			break
		}
		if _, delim := token.(json.Delim); delim {
			continue
		}
		to := d.InputOffset()
		from := to
		if s, ok := token.(string); ok {
			from -= int64(len(s)) + 2 // no text of these has escapes
		} else {
			for from > 0 && !strings.ContainsRune("[{,: ", rune(content[from-1])) {
				from--
			}
		}
		if from >= 0 {
			spans = append(spans, span{from, to})
		}
	}
	if len(spans) == 0 {
		return content
	}
	s := spans[n%len(spans)]
	return append(append(append([]byte{}, content[:s.from]...), by...), content[s.to:]...)
}
