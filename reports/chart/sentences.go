package chart

import (
	"cmp"

	"locklab/reports/layout"
	"locklab/reports/text"
)

// say fills in a text of the catalogues.
var say = text.Say

// pictured is the language of a picture: English unless another is named.
func pictured(lang string) string { return cmp.Or(lang, "en") }

// sayAll fills in a text in every language of the output.
func sayAll(out *layout.Lines, key string, pairs ...string) string {
	return out.Each(func(lang string) string { return say(lang, key, pairs...) })
}

// aboutEach joins what is said of several things, in their order. Neighbours of which
// the same is said are named together: "a, b: text. c: another."
func aboutEach(lang string, names, texts []string) string {
	var sentences []string
	for i := 0; i < len(names); {
		n := i + 1
		for n < len(names) && texts[n] == texts[i] {
			n++
		}
		sentences = append(sentences, say(lang, "chart.of", "names", text.Join(lang, "chart.list", names[i:n]), "text", texts[i]))
		i = n
	}
	return text.Join(lang, "grid.both", sentences)
}

// named names some of all locks, or says that they are all, or all that are left.
func named(lang string, locks []string, all int, last bool) string {
	switch {
	case len(locks) == all && all > 1:
		return say(lang, "chart.every")
	case last && len(locks) < all && len(locks) > 2:
		return say(lang, "chart.others")
	}
	return text.Join(lang, "chart.list", locks)
}
