package lessons

import (
	"regexp"
	"strings"

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
