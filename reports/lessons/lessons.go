// Package lessons holds what is told of locks, races and terms: the texts that a
// teacher needs and no run can give. They stand in catalogues, one folder a
// language, with the same keys and the same places. A place, as in
//
//	calm comes to {verdict mutex calm}
//
// stands for what a run says. Whoever prints a text hands in who plays (a [Fill]), so
// that no figure, reply or verdict is typed and none can grow old.
package lessons

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"locklab/algorithms"
)

//go:embed text
var files embed.FS

// A Book is all texts of one language.
type Book struct {
	keys  []string
	texts map[string]passage
}

// A passage is one text and where it stands.
type passage struct {
	text string
	file string
	line int
}

// A Fill says what stands in a place, such as {verdict token gc-pause}. The error is
// told with the file and the line of the text.
type Fill func(place string, args []string) (string, error)

// In is the book in a language: "zh", or else English.
func In(lang string) *Book {
	if lang == "zh" {
		return books().zh
	}
	return books().en
}

// books are part of the program: a mistake in them is one of ours, and the tests
// find it.
var books = sync.OnceValue(func() (b struct{ en, zh *Book }) {
	for lang, book := range map[string]**Book{"en": &b.en, "zh": &b.zh} {
		var err error
		if *book, err = load(lang); err != nil {
			panic(err)
		}
	}
	return b
})

// load reads a language's folder.
func load(lang string) (*Book, error) {
	b := &Book{texts: map[string]passage{}}
	dir := path.Join("text", lang)
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries { // by name
		text, err := fs.ReadFile(files, path.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if err := b.read(path.Join(lang, e.Name()), string(text)); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// read adds the texts of a file: "key = text", gone on with on lines that begin with
// two blanks; # begins a line that is not for readers.
func (b *Book) read(file, text string) error {
	key := ""
	for i, line := range strings.Split(text, "\n") {
		at := func(err error) error { return fmt.Errorf("lessons: %s:%d: %w", file, i+1, err) }
		rest, more := strings.CutPrefix(line, "  ")
		switch name, first, ok := strings.Cut(line, " = "); {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
			key = ""
		case more && key == "":
			return at(fmt.Errorf("%q goes on with no text: write key = text first", line))
		case more:
			p := b.texts[key]
			p.text = glue(p.text, strings.TrimSpace(rest))
			b.texts[key] = p
		case !ok || strings.ContainsRune(name, ' '):
			return at(fmt.Errorf("%q: write key = text", line))
		default:
			if _, twice := b.texts[name]; twice {
				return at(fmt.Errorf("%s stands here for the second time", name))
			}
			key = name
			b.keys = append(b.keys, key)
			b.texts[key] = passage{strings.TrimSpace(first), file, i + 1}
		}
	}
	for _, key := range b.keys {
		if p := b.texts[key]; p.file == file {
			if err := p.check(); err != nil {
				return fmt.Errorf("lessons: %s:%d: %s: %w", file, p.line, key, err)
			}
		}
	}
	return nil
}

// glue joins two lines by a blank, which Chinese does not have between its
// characters.
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

// places names what may stand between braces, with the least and the most words after
// it; a negative most is any number. The first word is a lock where lock says so.
var places = map[string]struct {
	least, most int
	lock        bool
}{
	"verdict":  {2, 2, true},
	"blocked":  {2, 2, true},
	"reply":    {4, 4, true},
	"ttl":      {1, 2, true},
	"length":   {2, 2, false},
	"year":     {1, 1, true},
	"nodes":    {1, 1, true},
	"quorum":   {1, 1, true},
	"commands": {1, 1, true},
	"par":      {2, 2, true},
	"term":     {1, 1, false},
	"run":      {2, 2, true},
	"falls":    {1, 1, true},
	"stands":   {1, 1, true},
	"quoted":   {1, -1, false},
	"harm":     {0, 0, false}, // of the run that is explained, and when
	"time":     {0, 0, false},
}

var place = regexp.MustCompile(`\{([^{}]*)\}`)

// check says what is wrong with the places of a text.
func (p passage) check() error {
	if rest := place.ReplaceAllString(p.text, ""); strings.ContainsAny(rest, "{}") {
		return fmt.Errorf("a brace stands alone: write {verdict LOCK SCENARIO}")
	}
	for _, m := range place.FindAllStringSubmatch(p.text, -1) {
		words := strings.Fields(m[1])
		if len(words) == 0 {
			return fmt.Errorf("%s is empty", m[0])
		}
		kind, known := places[words[0]]
		args := words[1:]
		switch {
		case !known:
			return fmt.Errorf("%s: there is no place of this kind", m[0])
		case len(args) < kind.least || kind.most >= 0 && len(args) > kind.most:
			return fmt.Errorf("%s: %d words after %s, want %d", m[0], len(args), words[0], kind.least)
		case kind.lock && !isLock(args[0]):
			return fmt.Errorf("%s: there is no lock %q", m[0], args[0])
		}
	}
	return nil
}

func isLock(name string) bool {
	_, ok := algorithms.ByName(name)
	return ok
}

// PathScreens is how many screens the guided tour has: path.1 and on.
const PathScreens = 10

// Keys are the keys that begin with prefix, in the order of the book.
func (b *Book) Keys(prefix string) (keys []string) {
	for _, key := range b.keys {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Has says whether there is a text of this key.
func (b *Book) Has(key string) bool {
	_, ok := b.texts[key]
	return ok
}

// Name is a text without places, such as a label, or the lock of a screen; a key that
// is missing speaks for itself.
func (b *Book) Name(key string) string {
	if p, ok := b.texts[key]; ok {
		return p.text
	}
	return key
}

// Lines is a text with its places filled in, cut where it has " // "; nil if there
// is none of this key.
func (b *Book) Lines(key string, fill Fill) ([]string, error) {
	p, ok := b.texts[key]
	if !ok {
		return nil, nil
	}
	var failed error
	text := place.ReplaceAllStringFunc(p.text, func(m string) string {
		words := strings.Fields(m[1 : len(m)-1])
		value, err := b.fill(words[0], words[1:], fill)
		if err != nil && failed == nil {
			failed = fmt.Errorf("lessons: %s:%d: %s: %s: %w", p.file, p.line, key, m, err)
		}
		return value
	})
	if failed != nil {
		return nil, failed
	}
	var lines []string
	for _, line := range strings.Split(text, "//") {
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines, nil
}

// fill fills a place: what the book knows by itself, and all else from runs.
func (b *Book) fill(kind string, args []string, fill Fill) (string, error) {
	switch kind {
	case "quoted":
		return strings.Join(args, " "), nil
	case "term":
		key := "term." + args[0] + ".name"
		if !b.Has(key) {
			return "", fmt.Errorf("the glossary has no %q", args[0])
		}
		return b.Name(key), nil
	}
	return fill(kind, args)
}
