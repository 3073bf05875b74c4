package reports

import (
	"fmt"
	"hash/fnv"
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/simulator/verdict"
)

// The colours of Okabe and Ito (2008), which people with any kind of colour
// vision can tell apart. They never stand alone: cells carry a glyph and a
// word, lines a marker and a dash.
var (
	black      = color.NRGBA{0x00, 0x00, 0x00, 0xff}
	orange     = color.NRGBA{0xe6, 0x9f, 0x00, 0xff}
	skyBlue    = color.NRGBA{0x56, 0xb4, 0xe9, 0xff}
	green      = color.NRGBA{0x00, 0x9e, 0x73, 0xff}
	blue       = color.NRGBA{0x00, 0x72, 0xb2, 0xff}
	vermillion = color.NRGBA{0xd5, 0x5e, 0x00, 0xff}
	purple     = color.NRGBA{0xcc, 0x79, 0xa7, 0xff}

	white     = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	ink       = color.NRGBA{0x22, 0x22, 0x22, 0xff}
	faintInk  = color.NRGBA{0x6b, 0x6b, 0x6b, 0xff}
	hairline  = color.NRGBA{0xd8, 0xd8, 0xd8, 0xff}
	paleGreen = color.NRGBA{0xec, 0xf6, 0xf2, 0xff}
	paleGrey  = color.NRGBA{0xf1, 0xf1, 0xf1, 0xff}
)

// A class is a family of verdicts that share a colour.
type class string

const (
	classBroken   class = "broken"   // exclusion or data is lost
	classFenced   class = "fenced"   // exclusion is lost, data is not
	classTouched  class = "touched"  // somebody else's lock or trust is damaged
	classStuck    class = "stuck"    // somebody waits without end
	classSlow     class = "slow"     // somebody waits longer than need be
	classHolds    class = "holds"    // nothing happened
	classUnknown  class = "unknown"  // the run says nothing
	classNotAsked class = "notasked" // the question has no meaning
)

// look is how a verdict appears wherever it stands.
type look struct {
	glyph string // one ASCII character, different for every word
	class class
}

// words are the verdicts from the gravest to the most harmless: safety in the
// order of package verdict, then what never ends before what time mends.
var words = []verdict.Word{
	verdict.Overlap, verdict.StaleWrite, verdict.Fenced, verdict.WrongDel, verdict.Lie,
	verdict.Deadlock, verdict.Starved, verdict.Orphan, verdict.Blocked,
	verdict.Unknown, verdict.Vacuous, verdict.Holds, verdict.NA,
}

var looks = map[verdict.Word]look{
	verdict.Overlap:    {"#", classBroken},
	verdict.StaleWrite: {"%", classBroken},
	verdict.Fenced:     {"=", classFenced},
	verdict.WrongDel:   {"x", classTouched},
	verdict.Lie:        {"!", classTouched},
	verdict.Orphan:     {"o", classSlow},
	verdict.Deadlock:   {"@", classStuck},
	verdict.Blocked:    {">", classSlow},
	verdict.Starved:    {"*", classStuck},
	verdict.Holds:      {"-", classHolds},
	verdict.Unknown:    {"?", classUnknown},
	verdict.Vacuous:    {"0", classUnknown},
	verdict.NA:         {".", classNotAsked},
}

func lookOf(w verdict.Word) look {
	if l, ok := looks[w]; ok {
		return l
	}
	return look{"?", classUnknown}
}

// paints are a class's ground and writing, chosen to differ in lightness by at
// least 4.5 to 1.
var paints = map[class]struct{ ground, writing color.NRGBA }{
	classBroken:   {vermillion, black},
	classFenced:   {orange, black},
	classTouched:  {purple, black},
	classStuck:    {blue, white},
	classSlow:     {skyBlue, black},
	classHolds:    {paleGreen, faintInk},
	classUnknown:  {paleGrey, ink},
	classNotAsked: {white, faintInk},
}

// A style is how a strategy is drawn, the same in every chart.
type style struct {
	color  color.NRGBA
	marker draw.GlyphDrawer
	dash   []vg.Length
}

var (
	lineColors = []color.NRGBA{blue, vermillion, green, purple, orange, skyBlue, black}
	markers    = []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.SquareGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}, draw.RingGlyph{},
		draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{},
	}
	dashes = [][]vg.Length{
		nil, {6, 2}, {2, 2}, {8, 2, 2, 2}, {4, 3},
	}
)

// styleOf gives a strategy its colour, marker and dash: those of its place among
// the milestones, and then in the timeline, in whatever company it is drawn. The three lists have lengths
// without a common factor, so that 280 places differ. A lock that is not in the
// timeline gets a place that follows from its id.
func styleOf(id string) style {
	known := slices.Concat(algorithms.Milestones(), algorithms.All())
	n := slices.IndexFunc(known, func(e lock.Entry) bool { return e.ID == id })
	if n < 0 {
		sum := fnv.New32a()
		sum.Write([]byte(id))
		n = int(sum.Sum32() % 280)
	}
	return style{
		color:  lineColors[n%len(lineColors)],
		marker: markers[n%len(markers)],
		dash:   dashes[n%len(dashes)],
	}
}

// hexColor is a colour as style sheets write it.
func hexColor(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
