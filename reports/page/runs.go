package page

import (
	"io"

	"locklab/reports"
	"locklab/reports/text"
)

// Runs is a page of runs and of nothing else, as timelines that move: of one run, or of the moments of a log.
type Runs struct {
	Lang    string // as for text.Chosen; the page is in the first language
	Title   string
	Parts   []Part
	Notes   []string
	Command string // the line that makes this page again
	Version string // of the program that played the runs; "": it played none
}

// A Part is one run.
type Part struct {
	Title, Text string // "": without
	Run         *reports.Run
	Listings    []reports.Listing // that the calls of the run name
}

// WriteRuns writes the page. It returns ErrTooLarge if that would have more than MaxSize bytes.
func WriteRuns(w io.Writer, r Runs) error {
	lang := text.Chosen(r.Lang)[0]
	data := struct {
		Lang     string              `json:"lang"`
		Texts    map[string]string   `json:"texts"`
		Runs     []*reports.Run      `json:"runs"`
		Listings [][]reports.Listing `json:"listings"`
	}{lang, text.Texts(lang, "motion."), []*reports.Run{}, [][]reports.Listing{}}
	for _, p := range r.Parts {
		data.Runs, data.Listings = append(data.Runs, p.Run), append(data.Listings, p.Listings)
	}
	return execute(w, "runs.html", map[string]any{
		"Tag": text.Tag(lang), "Title": r.Title, "Of": r, "Data": data,
		"Say":    func(key string) string { return text.Say(lang, "html."+key) },
		"Policy": policy(inline), "Style": style("page.css"), "Script": script("runs.js"),
	}, MaxSize)
}
