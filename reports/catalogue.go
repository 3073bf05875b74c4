package reports

import (
	_ "embed"
	"regexp"
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
	return betweenHan.ReplaceAllString(text, "$1$2")
}

// betweenHan is a blank between two Chinese characters, or wide brackets. It
// stands in a sentence for names in Latin letters, and goes where Chinese is
// filled in.
var betweenHan = regexp.MustCompile(`([\p{Han}）]) ([\p{Han}（])`)

// sayAll joins parts by the sentence of a key with {first} and {next}.
func sayAll(lang, key string, parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	text := parts[0]
	for _, next := range parts[1:] {
		text = say(lang, key, "first", text, "next", next)
	}
	return text
}

// sayOf says the same of several things together, in the order in which they
// first come up: "a, b: text. c: another."
func sayOf(lang string, names, texts []string) string {
	var together []string
	for i := 0; i < len(names); {
		n := i + 1
		for n < len(names) && texts[n] == texts[i] {
			n++
		}
		together = append(together, say(lang, "chart.of", "names", sayAll(lang, "chart.list", names[i:n]), "text", texts[i]))
		i = n
	}
	return sayAll(lang, "grid.both", together)
}

// who names locks, or says that they are all, or all that are left.
func who(lang string, locks []string, all int, last bool) string {
	switch {
	case len(locks) == all && all > 1:
		return say(lang, "chart.every")
	case last && len(locks) < all && len(locks) > 2:
		return say(lang, "chart.others")
	}
	return sayAll(lang, "chart.list", locks)
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
