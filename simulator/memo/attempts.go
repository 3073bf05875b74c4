package memo

import (
	"locklab/simulator/history"
	"locklab/simulator/internal/codec"
)

// laterBy are the numbers of tokens that clients have drawn before the attempts with whose names an effect is tried, all of them;
// oneLaterBy are those of one client, while the others have drawn none. The text prove.assumed.tried has them.
var (
	laterBy    = [...]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 98}
	oneLaterBy = [...]int{1, 98}
)

// LaterTexts returns the replacements of texts with which an effect is tried if Memo.Attempts is set: by the names that clients have in later
// attempts, and by those of other attempts of one client in the place of other clients. The values are what is asked, and the data.
func LaterTexts[A, D any](asked A, data D) (texts []func(string) string) {
	var named history.Clients
	note := func(s string) string {
		for c, is := range history.Named(s) {
			named[c] = named[c] || is
		}
		return s
	}
	codec.Replace(asked, note)
	asking := named
	codec.Replace(data, note)
	for _, by := range laterBy {
		texts = append(texts, func(s string) string { return history.Later(s, 0, by) })
	}
	for c, is := range named {
		if !is {
			continue
		}
		for _, by := range oneLaterBy {
			texts = append(texts, func(s string) string { return history.Later(s, c, by) })
		}
		for _, but := range []history.Clients{asking, {}} {
			texts = append(texts, func(s string) string { return history.OfOne(s, c, but) })
		}
	}
	return texts
}
