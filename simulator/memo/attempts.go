package memo

import (
	"math/rand/v2"

	"locklab/simulator/history"
	"locklab/simulator/internal/codec"
)

// further are numbers by which others are higher where it is tried that they make no difference: 1 to 128, which have all residues of all
// moduli up to 128, powers of two with one beside each, and two hundred that are drawn.
var further = func() []int {
	list := []int{1, 8, 9, 98, 2, 3} // with which 1 and 2 have as many digits, fewer, or more
	for n := 4; n <= 128; n++ {
		list = append(list, n)
	}
	for power := 256; power <= 1<<40; power *= 2 {
		list = append(list, power-1, power, power+1)
	}
	for n, draw := 0, rand.New(rand.NewPCG(1, 1)); n < 200; n++ {
		list = append(list, draw.IntN(128<<(n%34)))
	}
	return list
}()

// Further are n numbers from 1 to most by which others are to be higher: always the first ones, half of them, and the next ones in turn.
func (m *Memo) Further(n, most int) (some []int) {
	for some = append(some, further[:(n+1)/2]...); len(some) < n; {
		if m.turn = (m.turn + 1) % len(further); m.turn >= (n+1)/2 && further[m.turn] <= most {
			some = append(some, further[m.turn])
		}
	}
	return some
}

// MostTokens is the most that a token is later, since 1000 stand for those of other clients.
const MostTokens = 900

// LaterTexts returns the replacements of texts with which an effect is tried if Memo.Attempts is set: by the names that clients have in later
// attempts, and by those of other attempts of one client in the place of other clients. The values are what is asked, and the data.
func LaterTexts[A, D any](m *Memo, asked A, data D) (texts []func(string) string) {
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
	for _, by := range m.Further(10, MostTokens) {
		texts = append(texts, func(s string) string { return history.Later(s, 0, by) })
	}
	for c, is := range named {
		if !is {
			continue
		}
		for _, by := range m.Further(4, MostTokens) {
			texts = append(texts, func(s string) string { return history.Later(s, c, by) })
		}
		for _, but := range []history.Clients{asking, {}} {
			texts = append(texts, func(s string) string { return history.OfOne(s, c, but) })
		}
	}
	return texts
}
