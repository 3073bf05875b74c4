package chart

import (
	"bytes"
	"encoding/csv"
	"io"
	"strings"
	"testing"

	"locklab/reports"
	"locklab/reports/internal/samples"
)

// A cell of which no contract speaks is neither as expected nor otherwise, in any
// shape that a grid has.
func TestUncontractedCells(t *testing.T) {
	g := Grid{
		Strategies: []Row{{ID: "known"}, {ID: "unknown"}},
		Scenarios:  []Column{{ID: "pause", Race: "R18"}},
		Cells: [][]Cell{
			{{Verdicts: wordsOf("OVERLAP"), Expected: wordsOf("OVERLAP"), AsExpected: true, Reached: true}},
			{{Verdicts: wordsOf("OVERLAP"), Uncontracted: true, Reached: true}},
		},
	}
	for lang, want := range map[string]string{
		"en": "Every cell that the contract covers came out as expected. The contract does not cover 1 of 2 cells.",
		"zh": "契约覆盖的每一格都与预期相符。2 格中有 1 格契约没有覆盖。",
	} {
		if got := g.Takeaway(lang); !strings.HasSuffix(got, want) {
			t.Errorf("%s: %s", lang, got)
		}
	}
	if g.sameVerdicts(0, 1) {
		t.Error("the two would share a line of an overview")
	}
	c := g.cell(1, 0)
	if c.text() != "(# OVERLAP)" || c.mark() != "(#" {
		t.Errorf("%q, %q", c.text(), c.mark())
	}
	text := samples.Written(t, func(w io.Writer) error { return Text(w, &g, reports.Look{Lang: "both"}) })
	if !strings.Contains(text, "(...)") || !strings.Contains(text, "not in the contract / 契约没有覆盖") {
		t.Errorf("the legend is silent:\n%s", text)
	}
	records, err := csv.NewReader(strings.NewReader(samples.Written(t, csvOf(&g)))).ReadAll()
	if err != nil || records[2][5] != "no contract" || records[2][6] != "" || records[1][6] != "true" {
		t.Errorf("%v %q", err, records)
	}
	var svg bytes.Buffer
	if err := SVG(&svg, &g, Format{}); err != nil || !strings.Contains(svg.String(), "dashed border") {
		t.Errorf("%v: the picture does not explain its border", err)
	}

	g.Cells[0][0] = *c
	if got := g.Takeaway("en"); strings.Contains(got, "expected") || !strings.HasSuffix(got, "The contract does not cover 2 of 2 cells.") {
		t.Error(got)
	}
	g.Cells[0][0] = Cell{Verdicts: wordsOf("LIE"), Reached: true}
	if got := g.Takeaway("en"); !strings.HasSuffix(got, "1 of 2 cells differ from what was expected. The contract does not cover 1 of 2 cells.") {
		t.Error(got)
	}
}
