package memo

import (
	"math/rand/v2"
	"regexp"
	"strconv"

	"locklab/simulator/history"
	"locklab/simulator/hypothesis"
	"locklab/simulator/internal/clock"
	"locklab/simulator/process"
	"locklab/simulator/translate"
)

// Effects check the effects of acts of a kind of server: X is an act, with what it is done to, whose effect is known.
type Effects[X any] struct {
	// Checked returns the checks of the effect of x.
	Checked func(x X) *Checked
	// Map translates x and its effect. Commutes reports whether the effect of y, x in translation, is that of x in it.
	Map      func(x X, t *translate.Translation) (X, error)
	Commutes func(x, y X, t *translate.Translation) bool
	// Named are the clients that a request names, and the data, and Stamps the time stamps in them.
	Named  func(x X) (asked, kept history.ClientSet)
	Stamps func(x X) (asked, kept clock.Stamps)
	Text   func(x X) []string // of x in an error
	// Try, if it is not nil, checks what only this kind has, as counters.
	Try func(x X) error
}

// Checked has the checks of an effect.
type Checked struct {
	clients uint8 // so many, from the first, were found interchangeable
	moved   bool  // it was tried at other times of day
	tried   bool  // it was tried in all other ways
}

// Check checks, when an effect is used for the first time, that it commutes with all translations that are assumed to
// make no difference: what follows from translated data by a translated act is what follows, translated. The error
// names what it does not commute with.
func (of *Effects[X]) Check(m *Memo, x X) error {
	if of.Checked(x).clients < m.Symmetric && !m.Plain {
		if err := of.checkNames(m, x); err != nil {
			return err
		}
	}
	if m.Grain > 0 && !of.Checked(x).moved {
		for _, t := range stampMoves(m, of, x) {
			if err := of.check(x, t, hypothesis.Measures); err != nil {
				return err
			}
		}
		of.Checked(x).moved = true
	}
	if of.Checked(x).tried {
		return nil
	}
	of.Checked(x).tried = true
	if of.Try != nil {
		if err := of.Try(x); err != nil {
			return err
		}
	}
	if m.Attempts {
		for _, t := range otherAttempts(m, of, x) {
			if err := of.check(x, t, hypothesis.Peers); err != nil {
				return err
			}
		}
	}
	if m.Drawn != nil {
		return of.check(x, translate.Texts(m.Drawn), hypothesis.Drawn)
	}
	return nil
}

// check returns an error if the effect of x does not commute with a translation, which a hypothesis says that it does.
func (of *Effects[X]) check(x X, t *translate.Translation, h hypothesis.ID) error {
	y, err := of.Map(x, t)
	if err == nil && !of.Commutes(x, y, t) {
		err = of.refuted(x, h)
	}
	return err
}

func (of *Effects[X]) refuted(x X, h hypothesis.ID) error {
	return &hypothesis.Refuted{Of: h, Command: of.Text(x)}
}

// checkNames checks that an act does not depend on which of the m.Symmetric first clients is which. A script that
// compares, sorts, cuts or hashes tokens, or contains one, can break this; so can a command that orders by name what is
// equal otherwise (ZRANK, ZRANGE). So every effect is checked by its results, when it is used for the first time.
//
// The orbit of an act is the set of all its renamed forms, each with its own effect. For every element of the orbit and
// every swap of two neighbouring clients, the effect of the renamed element must be the renamed effect. Every
// permutation is a sequence of such swaps and the orbit contains every element on the way, so the same holds for every
// permutation. It would not suffice to check the swaps of one element: a script that knows one order of three tokens
// depends on names, but no single swap of another order need show it.
//
// The check computes at most what a search without symmetry computes.
func (of *Effects[X]) checkNames(m *Memo, x X) error {
	orbit := []X{x}
	of.Checked(x).clients = m.Symmetric
	err := of.close(&orbit, m.Symmetric)
	if err != nil {
		for _, x := range orbit { // the next search must find that again
			of.Checked(x).clients = 0
		}
	}
	return err
}

// close adds to the orbit what follows from it by renaming, and checks each pair.
func (of *Effects[X]) close(orbit *[]X, clients uint8) error {
	for i := 0; i < len(*orbit); i++ {
		x := (*orbit)[i]
		for c := uint8(1); c < clients; c++ {
			swap := translate.Rename(history.Swap(c, c+1))
			y, err := of.Map(x, swap)
			if err != nil {
				return err
			}
			if !of.Commutes(x, y, swap) {
				return of.refuted(x, hypothesis.Alike)
			}
			if checked := of.Checked(y); checked.clients < clients {
				checked.clients = clients
				*orbit = append(*orbit, y)
			}
		}
	}
	return nil
}

// stampMoves move the time stamps of an act and its data to the Epoch and to other times of day; where data holds
// ancient ones, also those to more ancient ones. nil: there are none.
func stampMoves[X any](m *Memo, of *Effects[X], x X) (all []*translate.Translation) {
	asked, kept := of.Stamps(x)
	first := min(asked.First, kept.First)
	if first == clock.Never {
		return nil
	}
	stride := process.Stride.Truncate(m.Grain)
	shifts := []clock.Shift{{By: -clock.Floor(first, m.Grain)}, {By: stride}, {By: process.Strides * stride}}
	if kept.First <= m.Oldest {
		shifts = append(shifts, clock.MoreAncient(m.Oldest)...)
	}
	for _, by := range shifts {
		all = append(all, translate.Move(by))
	}
	return all
}

// otherAttempts give clients the names that they have in later attempts, and put those of other attempts of one client
// in the place of other clients.
func otherAttempts[X any](m *Memo, of *Effects[X], x X) (all []*translate.Translation) {
	asked, kept := of.Named(x)
	add := func(text func(string) string) { all = append(all, translate.Texts(text)) }
	for _, by := range m.Further(10, MostTokens) {
		add(func(s string) string { return history.Later(s, 0, by) })
	}
	for _, c := range (asked | kept).AppendTo(nil) {
		for _, by := range m.Further(4, MostTokens) {
			add(func(s string) string { return history.Later(s, c, by) })
		}
		for _, but := range []history.ClientSet{asked, 0} {
			add(func(s string) string { return history.OfOne(s, c, but) })
		}
	}
	return all
}

// MostTokens is the most that a token is later, since 1000 stand for those of other clients.
const MostTokens = 900

// further are numbers by which others are higher where it is tried that they make no difference: 1 to 128, which have
// all residues of all moduli up to 128, powers of two with one beside each, and two hundred that are drawn.
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

// Further are n numbers from 1 to most by which others are to be higher: half always the first, half the next in turn.
func (m *Memo) Further(n, most int) (some []int) {
	for some = append(some, further[:(n+1)/2]...); len(some) < n; {
		if m.turn = (m.turn + 1) % len(further); m.turn >= (n+1)/2 && further[m.turn] <= most {
			some = append(some, further[m.turn])
		}
	}
	return some
}

var digits = regexp.MustCompile("[0-9]+")

// CountsFurther reports whether texts differ in numbers only, each of which is equal or higher by so much.
func CountsFurther(a, b string, by int) bool {
	if digits.ReplaceAllString(a, "0") != digits.ReplaceAllString(b, "0") {
		return false
	}
	y := digits.FindAllString(b, -1)
	for i, x := range digits.FindAllString(a, -1) {
		if n, err := strconv.Atoi(x); x != y[i] && (err != nil || strconv.Itoa(n+by) != y[i]) {
			return false
		}
	}
	return true
}
