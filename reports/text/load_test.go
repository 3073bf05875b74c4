package text

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestLoad(t *testing.T) {
	for _, c := range []struct{ content, want, err string }{
		{content: "# comment\n\na.b = one\n  two\n  三\n  四\n", want: "one two 三四"},
		{content: "a.b = one\n# comment\n  two\n", err: "continues no text"},
		{content: "a.b = one\na.b = two\n", err: "exists already at en/x.txt:1"},
		{content: "a.b one\n", err: "write key = text"},
		{content: "a b = one\n", err: "write key = text"},
	} {
		got, err := load(fstest.MapFS{"en/x.txt": {Data: []byte(c.content)}}, "en")
		switch {
		case err != nil:
			if c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v, want %q", c.content, err, c.err)
			}
		case c.err != "" || got.Get("a.b") != c.want:
			t.Errorf("%q: %q, want %q, error %q", c.content, got.Get("a.b"), c.want, c.err)
		}
	}
}

// Texts that stand elsewhere are sections of lines, each under its language.
func TestAddTo(t *testing.T) {
	for _, c := range []struct{ texts, en, zh, err string }{
		{texts: "\n[en]\na.b = one\n  two\n\n[zh]\n# comment\na.b = 一\n", en: "one two", zh: "一"},
		{texts: "[en]\na.b = one\n[zh]\n\n[en]\na.c = two\n", en: "one", zh: "a.b"},
		{texts: "a.b = one\n", err: `x:1: "a.b = one" has no language: write [en] above it`},
		{texts: "[en]\n[fr]\n", err: "x:2: [fr] is no language: write one of [en] "},
		{texts: "[en]\n\na.b one\n", err: "x:3: \"a.b one\": write key = text"},
		{texts: "[en]\na.b = one\n[en]\n  two\n", err: "x:4: \"  two\" continues no text"},
		{texts: "[zh]\nold = one\n", err: "x:2: old exists already at zh/y.txt:1"},
	} {
		all := map[string]*Catalogue{}
		for _, lang := range []string{"en", "zh"} {
			var err error
			if all[lang], err = load(fstest.MapFS{lang + "/y.txt": {Data: []byte("old = text")}}, lang); err != nil {
				t.Fatal(err)
			}
		}
		err := part{"x", c.texts}.addTo(all)
		switch {
		case err != nil:
			if c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v, want %q", c.texts, err, c.err)
			}
		case c.err != "" || all["en"].Get("a.b") != c.en || all["zh"].Get("a.b") != c.zh:
			t.Errorf("%q: %q and %q, want %q and %q, error %q", c.texts, all["en"].Get("a.b"), all["zh"].Get("a.b"), c.en, c.zh, c.err)
		}
	}
}

// What is added after the first text was read would be missing from what was read, so
// it is refused.
func TestAddTooLate(t *testing.T) {
	In("en")
	defer func() {
		if r, _ := recover().(string); !strings.Contains(r, "text: Add(late) after the first text was read") {
			t.Errorf("Add ends with %q", r)
		}
	}()
	Add("late", "[en]\nx.y = z\n")
}
