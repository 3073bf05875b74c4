package reports

import (
	"locklab/reports/text"
	"locklab/simulator/verdict"
)

// say fills in a sentence of the catalogues.
func say(lang, key string, pairs ...string) string { return text.Say(lang, key, pairs...) }

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
	e, _ := text.In(lang).Entry(key)
	return e.Text
}
