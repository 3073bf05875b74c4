package lessons

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"locklab/reports/text"
)

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
