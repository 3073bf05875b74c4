package chart

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

	"locklab/simulator/verdict"
)

// The colours of Okabe and Ito (2008), which people with any kind of colour vision can tell apart. They are never the
// only sign: cells carry a glyph and a word, lines their name.
var (
	black      = color.NRGBA{0x00, 0x00, 0x00, 0xff}
	skyBlue    = color.NRGBA{0x56, 0xb4, 0xe9, 0xff}
	green      = color.NRGBA{0x00, 0x9e, 0x73, 0xff}
	blue       = color.NRGBA{0x00, 0x72, 0xb2, 0xff}
	vermillion = color.NRGBA{0xd5, 0x5e, 0x00, 0xff}
	yellow     = color.NRGBA{0xf0, 0xe4, 0x42, 0xff}
	purple     = color.NRGBA{0xcc, 0x79, 0xa7, 0xff}

	white     = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	ink       = color.NRGBA{0x22, 0x22, 0x22, 0xff}
	faintInk  = color.NRGBA{0x6b, 0x6b, 0x6b, 0xff}
	hairline  = color.NRGBA{0xd8, 0xd8, 0xd8, 0xff}
	paleGreen = color.NRGBA{0xec, 0xf6, 0xf2, 0xff}
	calmGreen = color.NRGBA{0xa6, 0xd9, 0xc4, 0xff}
	paleGrey  = color.NRGBA{0xf1, 0xf1, 0xf1, 0xff}
)

// A Class is a family of verdicts that share a colour. Its name is that of a class in the page's style sheet.
type Class string

const (
	classBroken   Class = "broken"   // exclusion or data is lost
	classFenced   Class = "fenced"   // exclusion is lost, data is not: a calm colour
	classTouched  Class = "touched"  // somebody else's lock or trust is damaged
	classStuck    Class = "stuck"    // somebody waits without end
	classOrphan   Class = "orphan"   // a key is left in a name that nobody answers for
	classSlow     Class = "slow"     // somebody waits longer than need be
	classHolds    Class = "holds"    // nothing happened
	classUnknown  Class = "unknown"  // the run says nothing
	classNotAsked Class = "notasked" // the question has no meaning
)

// A Look is how a verdict appears in grids, charts and pages.
type Look struct {
	Glyph string // one ASCII character, different for every verdict
	Class Class
}

// looks are those of the verdicts, from the gravest to the most harmless: safety in the order of package verdict, then
// what never ends before what a TTL ends.
var looks = []struct {
	word verdict.Word
	Look
}{
	{verdict.Overlap, Look{"#", classBroken}},
	{verdict.StaleWrite, Look{"%", classBroken}},
	{verdict.Fenced, Look{"=", classFenced}},
	{verdict.WrongDel, Look{"x", classTouched}},
	{verdict.Lie, Look{"!", classTouched}},
	{verdict.Deadlock, Look{"@", classStuck}},
	{verdict.Starved, Look{"*", classStuck}},
	{verdict.Orphan, Look{"o", classOrphan}},
	{verdict.Blocked, Look{">", classSlow}},
	{verdict.Slow, Look{"~", classSlow}},
	{verdict.Noisy, Look{"+", classSlow}},
	{verdict.Unknown, Look{"?", classUnknown}},
	{verdict.Vacuous, Look{"0", classUnknown}},
	{verdict.Holds, Look{"-", classHolds}},
	{verdict.NA, Look{".", classNotAsked}},
}

// words are the verdicts in that order.
var words = Verdicts()

// Verdicts returns all verdicts, from the gravest to the most harmless.
func Verdicts() (all []verdict.Word) {
	for _, l := range looks {
		all = append(all, l.word)
	}
	return all
}

// LookOf returns the look of a verdict; an unknown one looks like UNKNOWN.
func LookOf(w verdict.Word) Look {
	if i := slices.Index(words, w); i >= 0 {
		return looks[i].Look
	}
	return LookOf(verdict.Unknown)
}

// A paint is the colour of a cell, and of what is written on it.
type paint struct{ ground, writing color.NRGBA }

// paints are a class's ground and writing, chosen to differ in lightness by at least 4.5 to 1.
var paints = map[Class]paint{
	classBroken:   {vermillion, black},
	classFenced:   {calmGreen, black},
	classTouched:  {purple, black},
	classStuck:    {blue, white},
	classOrphan:   {yellow, black},
	classSlow:     {skyBlue, black},
	classHolds:    {paleGreen, faintInk},
	classUnknown:  {paleGrey, ink},
	classNotAsked: {white, faintInk},
}

// The colours of series: one stands out, the rest is grey.
var (
	standout = vermillion
	grey     = color.NRGBA{0x70, 0x70, 0x70, 0xff}
)

// inColor is the colour of a series that stands out, or does not.
func inColor(stands bool) color.NRGBA {
	if stands {
		return standout
	}
	return grey
}

// faded is a colour that lets what is below it through.
func faded(c color.NRGBA, alpha uint8) color.NRGBA { c.A = alpha; return c }

// StyleSheet is the CSS of classes that look the same day and night, as charts draw them. Quiet classes are the page's.
func StyleSheet() string {
	var b strings.Builder
	for _, c := range []Class{classBroken, classFenced, classTouched, classStuck, classOrphan, classSlow} {
		fmt.Fprintf(&b, ".%s { background: %s; color: %s; }\n", c, hexOf(paints[c].ground), hexOf(paints[c].writing))
	}
	return b.String()
}
