// Package text holds every sentence that people read, in one catalogue for each language: the folders en and zh, and
// the folder faults, in which the texts of a fault stand together, in sections of each language. The catalogues have
// the same keys and the same placeholders; a test compares them.
//
// Errors are such sentences too: Errorf makes one, put into words where it is printed; see Printer.Error.
//
// A file holds lines "key = text". Two blanks continue a text, # begins a comment. {name} is a placeholder.
//
// A further language is a further folder, with the texts of the faults too, unless these have a section of it.
package text

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed */*.txt
var files embed.FS

// sections is the folder whose files have a section for each language, as in "[en]".
const sections = "faults"

// fallback is the language of the texts where an unknown one is wanted.
const fallback = "en"

// Languages returns the languages that there are, the fallback first.
func Languages() []string { return slices.Clone(languages()) }

var languages = sync.OnceValue(func() []string {
	folders, err := files.ReadDir(".") // sorted by name
	if err != nil {
		panic(err)
	}
	all := []string{fallback}
	for _, f := range folders {
		if f.Name() != fallback && f.Name() != sections {
			all = append(all, f.Name())
		}
	}
	return all
})

// Both asks for every language, one after the other.
const Both = "both"

// Chosen returns the languages that a reader asks for by the name of one, or by Both; any other name: the fallback.
func Chosen(lang string) []string {
	switch {
	case lang == Both:
		return Languages()
	case slices.Contains(languages(), lang):
		return []string{lang}
	}
	return []string{fallback}
}

// OfLocale returns the language of a locale, as the environment names it; "": of none that there is.
func OfLocale(getenv func(string) string) string {
	locale := cmp.Or(getenv("LC_ALL"), getenv("LC_MESSAGES"), getenv("LANG"))
	for _, lang := range languages() {
		if strings.HasPrefix(locale, lang) {
			return lang
		}
	}
	return ""
}

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
	return catalogues()[fallback]
}

// catalogues are part of the program: a mistake in them is found by the tests.
var catalogues = sync.OnceValue(func() map[string]*Catalogue {
	all := map[string]*Catalogue{}
	for _, lang := range languages() {
		all[lang] = &Catalogue{entries: map[string]Entry{}}
	}
	if err := load(files, all); err != nil {
		panic(err)
	}
	return all
})

// load reads the folder of each language, then that of sections, into the catalogues.
func load(files fs.FS, all map[string]*Catalogue) error {
	for _, dir := range append(slices.Sorted(maps.Keys(all)), sections) {
		names, err := fs.Glob(files, path.Join(dir, "*.txt")) // sorted
		if err != nil {
			return err
		}
		for _, name := range names {
			content, err := fs.ReadFile(files, name)
			if err != nil {
				return err
			}
			r := reader{Catalogue: all[dir]}
			for i, line := range strings.Split(string(content), "\n") {
				if err := r.readIn(all, fmt.Sprintf("%s:%d", name, i+1), line); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// A reader adds lines to a catalogue.
type reader struct {
	*Catalogue
	key string // of the text that the next line may continue
}

// readIn reads a line, which may begin the section of a language.
func (r *reader) readIn(all map[string]*Catalogue, position, line string) error {
	lang, begins := strings.CutPrefix(line, "[")
	switch {
	case begins:
		if *r = (reader{Catalogue: all[strings.TrimSuffix(lang, "]")]}); r.Catalogue == nil {
			return fmt.Errorf("text: %s: %s is no language: write one of [%s]", position, line,
				strings.Join(Languages(), "] ["))
		}
	case r.Catalogue != nil:
		return r.read(position, line)
	case strings.TrimSpace(line) != "":
		return fmt.Errorf("text: %s: %q has no language: write [%s] above it", position, line, fallback)
	}
	return nil
}

func (r *reader) read(position, line string) error {
	rest, more := strings.CutPrefix(line, "  ")
	name, first, ok := strings.Cut(line, " = ")
	switch {
	case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		r.key = ""
	case more && r.key == "":
		return fmt.Errorf("text: %s: %q continues no text: write key = text first", position, line)
	case more:
		e := r.entries[r.key]
		e.Text = glue(e.Text, strings.TrimSpace(rest))
		r.entries[r.key] = e
	case !ok || strings.ContainsRune(name, ' '):
		return fmt.Errorf("text: %s: %q: write key = text", position, line)
	default:
		if old, twice := r.entries[name]; twice {
			return fmt.Errorf("text: %s: %s exists already at %s", position, name, old.Position)
		}
		r.key = name
		r.keys = append(r.keys, name)
		r.entries[name] = Entry{strings.TrimSpace(first), position}
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

// isWide reports whether r is a Chinese character or its punctuation.
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

// Has reports whether there is a text for the key.
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

// Texts returns the texts whose keys have one of some prefixes, by key: what the script of a page says.
func Texts(lang string, prefixes ...string) map[string]string {
	texts := map[string]string{}
	for _, prefix := range prefixes {
		for _, key := range In(lang).Keys(prefix) {
			texts[key] = Say(lang, key)
		}
	}
	return texts
}

// Say fills in a text: Say("en", "story.pause", "client", "c1", "time", "10s"). A missing key is said with its values.
func Say(lang, key string, pairs ...string) string {
	e, ok := In(lang).Entry(key)
	if !ok {
		return strings.TrimSpace(key + " " + strings.Join(pairs, " "))
	}
	text := e.Text
	for i := 0; i+1 < len(pairs); i += 2 {
		text = strings.ReplaceAll(text, "{"+pairs[i]+"}", pairs[i+1])
	}
	return Tight(text)
}

// Tight drops the blanks between two Chinese characters or their punctuation, where a Latin name may be filled in.
func Tight(text string) string {
	return betweenHan.ReplaceAllString(betweenHan.ReplaceAllString(text, "$1$2"), "$1$2") // twice: matches may overlap
}

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

// Named returns a text of a picture, with the names of locks and faults in place of their ids.
func Named(said, lang string) string {
	name := func(id string) string { return orElse(lang, "name.lock."+id, orElse(lang, "name.fault."+id, id)) }
	return Tight(ids.ReplaceAllStringFunc(said, name))
}

// ids matches what may be the id of a lock or a fault.
var ids = regexp.MustCompile(`[a-z][a-z0-9-]*[a-z0-9]`)

// FamilyTitle returns what the locks of a family have in common; its id likewise.
func FamilyTitle(id, lang string) string { return orElse(lang, "family."+id, id) }

// FaultTitle returns what a fault is; its name likewise.
func FaultTitle(name, lang string) string { return orElse(lang, "title.fault."+name, name) }

// RaceTitle returns what happens in a race; its id likewise.
func RaceTitle(id, lang string) string { return orElse(lang, "title.race."+id, id) }

func orElse(lang, key, other string) string {
	if e, ok := In(lang).Entry(key); ok {
		return e.Text
	}
	return other
}
