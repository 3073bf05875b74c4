package page

import (
	"io"

	"locklab/reports"
	"locklab/reports/text"
)

// A Log is the page about a log that was judged: some of its moments, as timelines that move.
type Log struct {
	Lang    string // as for text.Chosen; the page is in the first language
	Title   string
	Command string // the line that makes this page again
	Parts   []Part
	Notes   []string
}

// A Part is one moment of a log.
type Part struct {
	Title, Text string
	Run         *reports.Run
}

// WriteLog writes the page. It returns ErrTooLarge if that would have more than MaxSize bytes.
func WriteLog(w io.Writer, l Log) error {
	lang := text.Chosen(l.Lang)[0]
	data := struct {
		Lang  string            `json:"lang"`
		Texts map[string]string `json:"texts"`
		Runs  []*reports.Run    `json:"runs"`
	}{lang, text.Texts(lang, "motion."), []*reports.Run{}}
	for _, p := range l.Parts {
		data.Runs = append(data.Runs, p.Run)
	}
	return execute(w, "log.html", map[string]any{
		"Tag": text.Tag(lang), "Title": l.Title, "Command": l.Command, "Parts": l.Parts, "Notes": l.Notes, "Data": data,
		"Again": text.Say(lang, "html.again"), "NoScript": text.Say(lang, "html.run.noscript"),
		"Policy": policy(inline), "Style": style("page.css"), "Script": script(),
	}, MaxSize)
}
