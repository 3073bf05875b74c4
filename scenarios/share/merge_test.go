package share

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"strings"
	"testing"

	"locklab/simulator/i18n"
)

// reason is the key of an error for users; "": there is none.
func reason(err error) string {
	if e := i18n.Error(nil); errors.As(err, &e) {
		return e.Message().Key
	}
	return fmt.Sprint(err)
}

func TestParsePart(t *testing.T) {
	for text, want := range map[string]Part{
		"1/1": {1, 1}, "3/16": {3, 16}, "16/16": {16, 16}, "10000/10000": {10_000, 10_000},
		"": {}, "1": {}, "1/": {}, "/1": {}, "a/2": {}, "0/1": {}, "-1/2": {}, "3/2": {}, "1/10001": {}, "1/2/3": {},
	} {
		if got, err := ParsePart(text); got != want || (err == nil) != (want.N > 0) {
			t.Errorf("%q is read as %v, %v", text, got, err)
		}
	}
}

// TestMergeRefuses: each way in which shares do not fit together is named, and shares that fit are merged.
func TestMergeRefuses(t *testing.T) {
	build, err := Build()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		parts string
		edit  func(s *Share) // the last one
		want  string         // the key of the error
	}{
		"all":           {parts: "1/2 2/2"},
		"any order":     {parts: "2/2 1/2"},
		"none":          {want: "error.share.none"},
		"no part":       {"1/2 2/2", func(s *Share) { s.Part = "2" }, "error.share.damaged"},
		"another build": {"1/2 2/2", func(s *Share) { s.Build += "0" }, "error.share.build"},
		"command":       {"1/2 2/2", func(s *Share) { s.Command = nil }, "error.share.command"},
		"inputs":        {"1/2 2/2", func(s *Share) { s.Inputs = nil }, "error.share.inputs"},
		"of fewer":      {"1/3 2/2", nil, "error.share.count"},
		"of more":       {"1/2 2/3", nil, "error.share.count"},
		"far beyond":    {"1/2 3/3", nil, "error.share.count"},
		"twice":         {"1/2 1/2", nil, "error.share.twice"},
		"stopped":       {"1/2 2/2", func(s *Share) { s.Stopped = true }, "error.share.stopped"},
		"missing":       {"1/2", nil, "error.share.missing"},
	} {
		var shares []*Share
		for _, part := range strings.Fields(c.parts) {
			s := &Share{Build: build, Command: []string{"verify"}, Inputs: map[string]string{"a": "x"}, Part: part}
			shares = append(shares, s)
		}
		if c.edit != nil {
			c.edit(shares[len(shares)-1])
		}
		_, err := Merge([]string{"one", "two"}, shares)
		if (err == nil) != (c.want == "") || err != nil && reason(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestOtherInput(t *testing.T) {
	one := map[string]string{"a": "x", "b": "y"}
	for want, other := range map[string]map[string]string{
		"": maps.Clone(one), "a": {"b": "y"}, "b": {"a": "x", "b": "z"}, "c": {"a": "x", "b": "y", "c": ""},
	} {
		if got, back := otherInput(one, other), otherInput(other, one); got != want || back != want {
			t.Errorf("%v differs in %q and %q, want %q", other, got, back, want)
		}
	}
}

// TestResultsFit: a share has exactly the results of its tasks, in their order; one that is computed again, which is
// the first of these, and differs is an error.
func TestResultsFit(t *testing.T) {
	for results, want := range map[string]string{
		`[{"task":"b","result":1},{"task":"a","result":1}]`:                         "",
		`[{"task":"b","result":1}]`:                                                 "error.share.task",
		`[{"task":"a","result":1},{"task":"b","result":1}]`:                         "error.share.task",
		`[{"task":"b","result":1},{"task":"a","result":1},{"task":"c","result":1}]`: "error.share.long",
		`{}`:  "error.share.damaged",
		`[1]`: "error.share.damaged",
		`[{"task":"b","result":2},{"task":"a","result":2}]`: "error.share.differs",
	} {
		r := &Results{shares: []*Share{{Part: "1/1", Results: json.RawMessage(results)}}, files: []string{"one"}}
		one := func(context.Context, int) (int, error) { return 1, nil }
		_, err := Each(t.Context(), []Task{{"b", 1}, {"a", 1}}, &Work{Computer: r}, one)
		if (err == nil) != (want == "") || err != nil && reason(err) != want {
			t.Errorf("%s: %v, want %q", results, err, want)
		}
	}
}

// TestReadRefuses: what was written is read; a file that is damaged, or of another program, is named.
func TestReadRefuses(t *testing.T) {
	var b strings.Builder
	if err := (Share{Build: "x"}).Write(&b, []Result{{"a", json.RawMessage("1")}}); err != nil {
		t.Fatal(err)
	}
	for change, want := range map[[2]string]string{
		{"x", "x"}:                            "",
		{"{", ""}:                             "error.share.damaged",
		{shareFormat, "locklab share 1"}:      "error.share.foreign",
		{`"result":1`, `"result":2`}:          "error.share.sum",
		{`"build":"x"`, `"build":"y"`}:        "error.share.sum",
		{`"sum":"`, `"stopped":true,"sum":"`}: "error.share.sum",
	} {
		_, err := Read("file", []byte(strings.Replace(b.String(), change[0], change[1], 1)))
		if (err == nil) != (want == "") || err != nil && reason(err) != want {
			t.Errorf("%v: %v, want %q", change, err, want)
		}
	}
}

// A build has its revision as its name only if its source was that of the revision.
func TestClean(t *testing.T) {
	for modified, want := range map[string]string{"false": "12ab", "true": "", "": ""} {
		settings := []debug.BuildSetting{{Key: "vcs.revision", Value: "12ab"}, {Key: "vcs.modified", Value: modified}}
		if got := clean(&debug.BuildInfo{Settings: settings}); got != want {
			t.Errorf("modified=%s: %q, want %q", modified, got, want)
		}
	}
}
