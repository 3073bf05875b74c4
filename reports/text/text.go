// Package text holds every sentence that people read, in one catalogue for each
// language: the folders en and zh. The catalogues have the same keys and the same
// placeholders; a test compares them. A further language is a further folder.
//
// Errors are such sentences too: Errorf makes one, and it is put into words only where it
// is printed, in the language of who reads it; see Printer.Error.
//
// A file holds lines "key = text". Lines that begin with two blanks continue a text,
// and # begins a comment. {name} is a placeholder.
package text

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed en/*.txt zh/*.txt
var files embed.FS

// Languages returns the languages that there are, the fallback first.
func Languages() []string { return []string{"en", "zh"} }

// A Catalogue is all texts of one language.
type Catalogue struct {
	keys    []string // in the order of files and lines
	entries map[string]Entry
}

// An Entry is one text and its position, "en/locks.txt:12", for error messages.
type Entry struct{ Text, Position string }

// In returns the catalogue of a language; an unknown language gets English.
func In(lang string) *Catalogue {
	if c, ok := catalogues()[lang]; ok {
		return c
	}
	return catalogues()["en"]
}

// catalogues are part of the program: a mistake in them is found by the tests.
var catalogues = sync.OnceValue(func() map[string]*Catalogue {
	all := map[string]*Catalogue{}
	for _, lang := range Languages() {
		c, err := load(files, lang)
		if err != nil {
			panic(err)
		}
		all[lang] = c
	}
	return all
})

// load reads all files of a folder.
func load(files fs.FS, dir string) (*Catalogue, error) {
	c := &Catalogue{entries: map[string]Entry{}}
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries { // sorted by name
		content, err := fs.ReadFile(files, path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if err := c.read(path.Join(dir, e.Name()), string(content)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// read adds the texts of one file.
func (c *Catalogue) read(file, content string) error {
	key := ""
	for i, line := range strings.Split(content, "\n") {
		position := fmt.Sprintf("%s:%d", file, i+1)
		rest, more := strings.CutPrefix(line, "  ")
		name, first, ok := strings.Cut(line, " = ")
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
			key = ""
		case more && key == "":
			return fmt.Errorf("text: %s: %q continues no text: write key = text first", position, line)
		case more:
			e := c.entries[key]
			e.Text = glue(e.Text, strings.TrimSpace(rest))
			c.entries[key] = e
		case !ok || strings.ContainsRune(name, ' '):
			return fmt.Errorf("text: %s: %q: write key = text", position, line)
		default:
			if old, twice := c.entries[name]; twice {
				return fmt.Errorf("text: %s: %s exists already at %s", position, name, old.Position)
			}
			key = name
			c.keys = append(c.keys, key)
			c.entries[key] = Entry{strings.TrimSpace(first), position}
		}
	}
	return nil
}

// glue joins two lines by a blank; between two Chinese characters there is none.
func glue(a, b string) string {
	last, _ := utf8.DecodeLastRuneInString(a)
	first, _ := utf8.DecodeRuneInString(b)
	if isWide(last) && isWide(first) {
		return a + b
	}
	return a + " " + b
}

// isWide says whether r is a Chinese character or its punctuation.
func isWide(r rune) bool { return r >= 0x2e80 }

// Keys returns the keys with a prefix, in the order of the files.
func (c *Catalogue) Keys(prefix string) []string {
	return slices.DeleteFunc(slices.Clone(c.keys), func(key string) bool { return !strings.HasPrefix(key, prefix) })
}

// Entry returns the text of a key; false: there is none.
func (c *Catalogue) Entry(key string) (Entry, bool) {
	e, ok := c.entries[key]
	return e, ok
}

// Has says whether there is a text for the key.
func (c *Catalogue) Has(key string) bool {
	_, ok := c.entries[key]
	return ok
}

// Get returns a text without placeholders; a missing key stands for itself.
func (c *Catalogue) Get(key string) string {
	if e, ok := c.entries[key]; ok {
		return e.Text
	}
	return key
}

// Say fills in a text: Say("en", "story.pause", "client", "c1", "time", "10s"). A
// missing key is printed with its values, so that nothing is lost.
func Say(lang, key string, pairs ...string) string {
	e, ok := In(lang).Entry(key)
	if !ok {
		return strings.TrimSpace(key + " " + strings.Join(pairs, " "))
	}
	text := e.Text
	for i := 0; i+1 < len(pairs); i += 2 {
		text = strings.ReplaceAll(text, "{"+pairs[i]+"}", pairs[i+1])
	}
	return betweenHan.ReplaceAllString(text, "$1$2")
}

// betweenHan is a blank between two Chinese characters or their punctuation. The texts
// have it where a name in Latin letters may be filled in; it is dropped where
// Chinese is filled in.
var betweenHan = regexp.MustCompile(`([\p{Han}）。，；：？]) ([\p{Han}（])`)

// Join joins parts by a text with the placeholders {first} and {next}.
func Join(lang, key string, parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	joined := parts[0]
	for _, next := range parts[1:] {
		joined = Say(lang, key, "first", joined, "next", next)
	}
	return joined
}

// Reason returns why a lock comes to its verdict (kind "why"), or why a race has no
// meaning for it ("na"). A key that the catalogue does not have stands for itself.
func Reason(lang, kind, key string) string { return orElse(lang, kind+"."+key, key) }

// LockTitle returns what a lock is, in a few words; its id if nothing is said of it.
func LockTitle(id, lang string) string { return orElse(lang, "title.lock."+id, id) }

// FamilyTitle returns what the locks of a family have in common; its id likewise.
func FamilyTitle(id, lang string) string { return orElse(lang, "family."+id, id) }

// ScenarioTitle returns what happens in a scenario; its id likewise.
func ScenarioTitle(id, lang string) string { return orElse(lang, "scenario."+id+".title", id) }

func orElse(lang, key, fallback string) string {
	if e, ok := In(lang).Entry(key); ok {
		return e.Text
	}
	return fallback
}
