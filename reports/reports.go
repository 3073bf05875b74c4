// Package reports turns finished runs into something to read: lanes, numbered
// steps, redis-cli transcripts, stories in English and Chinese, the verdict grid,
// charts, and one page that holds them all.
//
// A report reads a history and a judgement, or counts made from them, and
// nothing else (but for the order of the timeline, which gives every lock its
// colour); no run is played again. The same input gives the same bytes:
// nothing here asks for the time, the locale or the terminal.
//
// One run:
//
//	[Lanes]     who did what, side by side, with the verdicts in the margin
//	[Table]     the same as numbered steps, with the key after each of them
//	[RedisCLI]  the same as commands that one can type
//	[Narrate]   the same as a story
//
// Many runs:
//
//	[Grid]         which lock falls to what
//	[Sensitivity]  how often, against the size of a fault
//	[ParChart]     how little bad luck it takes
//	[Frontier]     how large a fault is survived
//	[Doom]         how much is lost already, step by step
//	[HTML]         everything on one page
//
// Texts are framed in ASCII, because the box-drawing characters are of
// ambiguous width in Chinese terminals. Pictures are in English: the fonts that
// come with gonum/plot have no Chinese.
package reports

// Options say how a text is to look.
type Options struct {
	// Width is the number of terminal cells that no line exceeds; 0: no limit.
	// From NarrowWidth on, Lanes draws a column per client; below, it prints an
	// event a line.
	Width int
	// Lang is the language of sentences: "en", "zh" or "both" (English first).
	// Empty or unknown: English. Commands, verdict words and race ids are never
	// translated.
	Lang string
	// Color paints verdicts, faults and brackets with ANSI sequences, which take
	// no room. They repeat what the text says.
	Color bool
	// NoReturn is the event, from 1, beside which Lanes shows the point of no
	// return; 0: there is none to show. See Doom.
	NoReturn int
	// Brief leaves out what explains the drawing, for pages that do so themselves.
	Brief bool
}

// NarrowWidth is the width from which columns are worth drawing.
const NarrowWidth = 120

// langs lists the catalogues to speak from, in the order in which they speak.
func (o Options) langs() []string {
	switch o.Lang {
	case "zh":
		return []string{"zh"}
	case "both":
		return []string{"en", "zh"}
	}
	return []string{"en"}
}
