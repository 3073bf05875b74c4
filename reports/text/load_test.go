package text

import (
	"strings"
	"testing"
	"testing/fstest"
)

// The texts of a fault are sections of lines, each under its language.
func TestSections(t *testing.T) {
	for _, c := range []struct{ texts, en, zh, err string }{
		{texts: "[en]\n# comment\n\na.b = one\n  two\n  三\n  四\n[zh]\n", en: "one two 三四", zh: "a.b"},
		{texts: "[en]\na.b = one\n# comment\n  two\n", err: "continues no text"},
		{texts: "[en]\na.b = one\na.b = two\n", err: "exists already at faults/x.txt:2"},
		{texts: "[en]\na b = one\n", err: "write key = text"},
		{texts: "\n[en]\na.b = one\n  two\n\n[zh]\n# comment\na.b = 一\n", en: "one two", zh: "一"},
		{texts: "[en]\na.b = one\n[zh]\n\n[en]\na.c = two\n", en: "one", zh: "a.b"},
		{texts: "a.b = one\n", err: `faults/x.txt:1: "a.b = one" has no language: write [en] above it`},
		{texts: "[en]\n[fr]\n", err: "faults/x.txt:2: [fr] is no language: write one of [en] "},
		{texts: "[en]\n\na.b one\n", err: "faults/x.txt:3: \"a.b one\": write key = text"},
		{texts: "[en]\na.b = one\n[en]\n  two\n", err: "faults/x.txt:4: \"  two\" continues no text"},
		{texts: "[zh]\nold = one\n", err: "faults/x.txt:2: old exists already at zh/y.txt:1"},
	} {
		all, old := map[string]*Catalogue{}, &fstest.MapFile{Data: []byte("old = text")}
		for _, lang := range []string{"en", "zh"} {
			all[lang] = &Catalogue{entries: map[string]Entry{}}
		}
		err := load(fstest.MapFS{"en/y.txt": old, "zh/y.txt": old, "faults/x.txt": {Data: []byte(c.texts)}}, all)
		switch {
		case err != nil:
			if c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v, want %q", c.texts, err, c.err)
			}
		case c.err != "" || all["en"].Get("a.b") != c.en || all["zh"].Get("a.b") != c.zh:
			t.Errorf("%q: %q and %q, want %q and %q, error %q",
				c.texts, all["en"].Get("a.b"), all["zh"].Get("a.b"), c.en, c.zh, c.err)
		}
	}
}
