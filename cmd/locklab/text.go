package main

import (
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// wrap prints text after a label, broken at the width of the output; further
// lines are indented like the first one's text. Chinese may break anywhere.
func (a *app) wrap(label, text string) {
	indent := runewidth.StringWidth(label)
	line, width := label, indent
	for _, word := range splitWords(text) {
		w := runewidth.StringWidth(word)
		if width > indent && width+w > a.width {
			a.printf("%s\n", strings.TrimRight(line, " "))
			line, width = strings.Repeat(" ", indent), indent
			word = strings.TrimLeft(word, " ")
			w = runewidth.StringWidth(word)
		}
		line += word
		width += w
	}
	a.printf("%s\n", strings.TrimRight(line, " "))
}

// splitWords cuts a text where a line may break: before a space, and around
// wide characters, but not before closing punctuation, nor after opening, nor
// between a number and its unit.
func splitWords(text string) (words []string) {
	start := 0
	runes := []rune(text)
	for i := 1; i < len(runes); i++ {
		wide := runewidth.RuneWidth(runes[i]) == 2 || runewidth.RuneWidth(runes[i-1]) == 2
		if runes[i] == ' ' && !measures(runes, i) || wide && !measures(runes, i-1) && !strings.ContainsRune("，。；：！？、）」”》):,.;!?", runes[i]) && !strings.ContainsRune("（「“《(", runes[i-1]) {
			words = append(words, string(runes[start:i]))
			start = i
		}
	}
	return append(words, string(runes[start:]))
}

// measures says whether the space at i stands between a number and its unit.
func measures(runes []rune, i int) bool {
	if i < 1 || i+1 >= len(runes) || runes[i] != ' ' || !unicode.IsDigit(runes[i-1]) {
		return false
	}
	unit, _, _ := strings.Cut(string(runes[i+1:min(i+4, len(runes))]), " ")
	unit = strings.TrimRight(unit, ".,;:)")
	return unit == "s" || unit == "ms" || runewidth.RuneWidth(runes[i+1]) == 2 && unicode.Is(unicode.Han, runes[i+1])
}
