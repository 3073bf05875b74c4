package reports

import (
	_ "embed"
	"strings"

	"locklab/simulator/verdict"
)

// Sentences live in catalogues, one per language, with the same keys and the
// same placeholders. A line is "key = text"; {name} is filled in; # begins a
// comment.
var (
	//go:embed text/en.txt
	english string
	//go:embed text/zh.txt
	chinese string

	catalogues = map[string]map[string]string{
		"en": parseCatalogue(english),
		"zh": parseCatalogue(chinese),
	}
)

func parseCatalogue(text string) map[string]string {
	entries := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, value, ok := strings.Cut(line, " = ")
		if ok && !strings.HasPrefix(line, "#") {
			entries[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return entries
}

// say fills a sentence: say("en", "story.pause", "client", "c1", "time", "10s").
// A key that is missing speaks for itself, so that nothing goes unsaid.
func say(lang, key string, pairs ...string) string {
	text, ok := catalogues[lang][key]
	if !ok {
		return key + " " + strings.Join(pairs, " ")
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		text = strings.ReplaceAll(text, "{"+pairs[i]+"}", pairs[i+1])
	}
	return text
}

// Meaning says in one line what a verdict means. lang is "en" or "zh"; an
// unknown word gives "".
func Meaning(w verdict.Word, lang string) string { return entry(lang, "meaning."+string(w)) }

// Cure says in one line what mends a verdict, like Meaning.
func Cure(w verdict.Word, lang string) string { return entry(lang, "cure."+string(w)) }

func entry(lang, key string) string {
	if lang != "zh" {
		lang = "en"
	}
	return catalogues[lang][key]
}
