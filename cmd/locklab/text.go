package main

import (
	"strings"

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
// wide characters, but not before closing punctuation, nor after opening.
func splitWords(text string) (words []string) {
	start := 0
	runes := []rune(text)
	for i := 1; i < len(runes); i++ {
		wide := runewidth.RuneWidth(runes[i]) == 2 || runewidth.RuneWidth(runes[i-1]) == 2
		if runes[i] == ' ' || wide && !strings.ContainsRune("，。；：！？、）」”》):,.;!?", runes[i]) && !strings.ContainsRune("（「“《(", runes[i-1]) {
			words = append(words, string(runes[start:i]))
			start = i
		}
	}
	return append(words, string(runes[start:]))
}
