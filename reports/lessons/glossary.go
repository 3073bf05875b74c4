package lessons

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"locklab/reports/text"
)

// Terms are the words of the glossary, by name.
func Terms() []string { return namesBetween("term.", ".name") }

// namesBetween returns the names between a prefix and a suffix of keys.
func namesBetween(prefix, suffix string) (names []string) {
	for _, key := range In("en").Keys(prefix) {
		if name, ok := strings.CutSuffix(strings.TrimPrefix(key, prefix), suffix); ok {
			names = append(names, name)
		}
	}
	return names
}

// FindTerm finds a term by its name in the catalogue, by its word in any language,
// by the verdict that it explains, or by another word for it, in any case of letters.
func FindTerm(name string) (term string, ok bool) {
	if furtherVerdicts.MatchString(name) {
		name = "+n"
	}
	for _, term := range Terms() {
		key := "term." + term
		word, _, _ := strings.Cut(In("en").Name(key+".text"), ":") // the verdict
		names := []string{term, word}
		for _, lang := range text.Languages() {
			book := In(lang)
			names = append(names, book.Name(key+".name"))
			if also, ok := book.Entry(key + ".also"); ok {
				names = append(names, strings.Split(also.Text, ",")...)
			}
		}
		for _, n := range names {
			if strings.EqualFold(strings.TrimSpace(n), name) {
				return term, true
			}
		}
	}
	return "", false
}

// furtherVerdicts matches what the grid writes after a verdict.
var furtherVerdicts = regexp.MustCompile(`^\+[0-9]+$`)

// Glossary prints terms with their meanings.
func (t *Teacher) Glossary(terms ...string) error {
	for _, term := range terms {
		for _, lang := range t.out.Langs() {
			head, english := In(lang).Name("term."+term+".name"), In("en").Name("term."+term+".name")
			if head != english {
				head += "（" + english + "）"
			}
			t.out.Printf("%s\n", head)
			t.wrapped("  ", t.lines(lang, "term."+term+".text"))
		}
	}
	return t.err
}

// mostPages is the number of pages that an error names.
const mostPages = 6

// NoPage returns the error about a name that no page has: it names the pages on which the name occurs, or else the most
// similar of names.
func NoPage(name string, names []string) error {
	pages := pagesWith(name)
	if len(pages) == 0 {
		return text.Errorf("error.explain", "name", name, "near", text.Near(name, names))
	}
	for i, page := range pages {
		pages[i] = "locklab explain " + page
	}
	return text.Errorf("error.explain.found", "name", name, "pages", strings.Join(pages[:min(len(pages), mostPages)], ", "))
}

// pagesWith returns the pages on which a word occurs, in any language and any case of letters: first those that have it
// among their search terms.
func pagesWith(word string) (pages []string) {
	if strings.TrimSpace(word) == "" || !utf8.ValidString(word) {
		return nil
	}
	pattern := regexp.QuoteMeta(strings.TrimSpace(word))
	pattern = regexp.MustCompile(`^\w`).ReplaceAllString(pattern, `\b$0`)
	whole := regexp.MustCompile(`(?i)` + regexp.MustCompile(`\w$`).ReplaceAllString(pattern, `$0\b`))
	for _, searchTerms := range []bool{true, false} {
		for _, lang := range text.Languages() {
			for _, key := range In(lang).Keys("") {
				page := pageOf(key)
				if strings.HasSuffix(key, ".words") == searchTerms && page != "" && !slices.Contains(pages, page) && whole.MatchString(In(lang).Get(key)) {
					pages = append(pages, page)
				}
			}
		}
	}
	return pages
}

// pageOf returns the page that shows a text, as explain names it; "": none does.
func pageOf(key string) string {
	part := strings.Split(strings.TrimPrefix(key, "title."), ".")
	if len(part) < 2 {
		return ""
	}
	switch part[0] {
	case "lock", "race", "scenario", "term", "fault":
		if part[0] == "fault" && !strings.HasPrefix(key, "title.") { // a sentence of stories
			return ""
		}
		return part[1]
	case "interview", "path":
		if len(part) > 2 {
			return part[0] + " " + part[1]
		}
	case "debate", "need":
		return part[0]
	case "judging":
		return "judge"
	}
	return ""
}
