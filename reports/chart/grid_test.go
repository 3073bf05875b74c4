package chart

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot/vg"

	"locklab/reports"
	"locklab/reports/internal/samples"
	"locklab/reports/text"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

func TestCellText(t *testing.T) {
	for _, c := range []struct {
		verdicts string
		cell     Cell
		want     string
	}{
		{"HOLDS", Cell{AsExpected: true, Triggered: true}, " - holds"},
		{"HOLDS", Cell{AsExpected: true}, " 0 VACUOUS"},
		{"", Cell{AsExpected: true, Triggered: true}, " ."},
		{"N/A", Cell{AsExpected: true, Triggered: true}, " ."},
		{"OVERLAP", Cell{Triggered: true}, "[# OVERLAP]"},
		{"OVERLAP STALE-WRITE WRONG-DEL", Cell{AsExpected: true}, " # OVERLAP+2"},
		{"OVERLAP FENCED", Cell{AsExpected: true, Triggered: true}, " = FENCED"},
		{"OVERLAP FENCED ORPHAN", Cell{AsExpected: true, Triggered: true}, " = FENCED+1"},
		// What makes it a failure.
		{"OVERLAP FENCED WRONG-DEL", Cell{AsExpected: true, Triggered: true}, " x WRONG-DEL+1"},
		{"OVERLAP STALE-WRITE FENCED", Cell{AsExpected: true, Triggered: true}, " # OVERLAP+2"},
		{"ORPHAN DEADLOCK", Cell{AsExpected: true, Triggered: true}, " @ DEADLOCK+1"},
		{"BLOCKED", Cell{AsExpected: true, Triggered: true, Blocked: 28 * time.Second}, " > BLOCKED 28 s"},
		{"BLOCKED", Cell{AsExpected: true, Triggered: true, Blocked: 9512 * ms}, " > BLOCKED 9.5 s"},
		{"BLOCKED UNKNOWN", Cell{AsExpected: true, Triggered: true}, " > BLOCKED+1"},
		{"SOMETHING-NEW", Cell{AsExpected: true, Triggered: true}, " ."},
	} {
		c.cell.Verdicts = wordsOf(c.verdicts)
		if got := c.cell.text(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.verdicts, got, c.want)
		}
	}
}

// uncounted stands behind the race of most failures.
const uncounted = " Alone these are no failures: FENCED (two inside, data safe), ORPHAN and BLOCKED (waits that end). "

func TestGridHeadline(t *testing.T) {
	small := func(cells ...string) Grid {
		g := Grid{Races: []Column{{ID: "pause", Code: "R18"}}}
		for i, c := range cells {
			id := fmt.Sprintf("lock%d", i+1)
			g.Locks = append(g.Locks, Row{ID: id})
			g.Cells = append(g.Cells, []Cell{{Verdicts: wordsOf(c), AsExpected: c != "LIE", Triggered: true}})
		}
		return g
	}
	for _, c := range []struct {
		grid Grid
		want string
	}{
		{small("HOLDS", "BLOCKED"), "No lock in this grid fails. Every cell is as expected."},
		{small("OVERLAP"), "lock1 fails when pause." + uncounted + "Every cell is as expected."},
		{small("OVERLAP", "LIE"), "Each of 2 locks fails when pause." + uncounted +
			"1 of 2 cells differ from what was expected."},
		{small("OVERLAP", "HOLDS", "N/A"), "1 of the 2 locks concerned, lock1, fails when pause." + uncounted +
			"Every cell is as expected."},
		{small("HOLDS", "DEADLOCK", "DEADLOCK", "DEADLOCK", "DEADLOCK"), "4 of 5 locks fail when pause." + uncounted +
			"Every cell is as expected."},
	} {
		if got := c.grid.Takeaway("en"); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// A race that also loses requests of locks which ask a majority says so, if such a lock is in the grid.
func TestGridBareMajority(t *testing.T) {
	g := Grid{Locks: []Row{{ID: "token"}, {ID: "redlock"}},
		Races: []Column{{ID: "restart", Code: "R24"}, {ID: "failover", Code: "R21"}}}
	for range g.Locks {
		g.Cells = append(g.Cells, []Cell{{Verdicts: wordsOf("OVERLAP"), Triggered: true},
			{Verdicts: wordsOf("HOLDS"), Triggered: true}})
	}
	for i, votes := range []string{"3/5", "5/5"} {
		of := &g.Cells[1][i]
		of.Lock, of.Code, of.Votes = "redlock", g.Races[i].Code, votes
	}
	want := "n/m: granted by n of its m servers; redlock holds in R21, where all of its servers had granted it, and " +
		"fails with a bare majority (R24)"
	if got, cell := g.Votes("en"), g.Cells[1][0].Label("en"); cell != "OVERLAP 3/5" || got != want {
		t.Errorf("%s: %s", cell, got)
	}
	if title := g.Finding("en"); !strings.Contains(title, "(redlock: granted by 3 of 5)") {
		t.Errorf("the title says nothing of a majority: %s", title)
	}
	g.Cells[1][0].Verdicts = wordsOf("N/A")
	if got := g.Votes("en"); got != "n/m: granted by n of its m servers" {
		t.Errorf("nobody asks a majority there: %q", got)
	}
}

// What counts is a race that breaks all locks, and one that tells apart those of which it is asked.
func TestGridHeadlineTellsApart(t *testing.T) {
	g := Grid{Races: []Column{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}}}
	for id, cells := range [][]string{
		{"OVERLAP", "N/A", "N/A", "N/A"}, // lock0 answers one question of four
		{"OVERLAP", "OVERLAP", "HOLDS", "HOLDS"},
		{"OVERLAP", "OVERLAP", "N/A", "N/A"}, // as many falls, of half as many questions
		{"OVERLAP", "HOLDS", "HOLDS", "N/A"},
		{"OVERLAP", "HOLDS", "HOLDS", "HOLDS"}, // as many falls as lock3, of more questions
	} {
		row := make([]Cell, len(cells))
		for j, c := range cells {
			row[j] = Cell{Verdicts: wordsOf(c), AsExpected: true, Triggered: true}
		}
		g.Locks, g.Cells = append(g.Locks, Row{ID: fmt.Sprintf("lock%d", id)}), append(g.Cells, row)
	}
	want := "Each of 5 locks fails when a; 2 of the 4 locks concerned fail when b." + uncounted +
		"Every cell is as expected."
	if got := g.Takeaway("en"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestGridFindings: each claim about a race has the cells of it, in small grids at random.
func TestGridFindings(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	claim := regexp.MustCompile(`^(?:(\d+) of (?:the )?(\d+|them)(?: locks)?(?: concerned)?,? ?|` +
		`(Each) of (?:the )?(\d+) locks(?: concerned)?|only )?(.*?) ?(?:fails? )?when (\d)$`)
	forms := map[string]bool{}
	for range 2000 {
		g := &Grid{}
		for j := range 1 + random.IntN(4) {
			g.Races = append(g.Races, Column{ID: strconv.Itoa(j)})
		}
		for i := range 1 + random.IntN(4) {
			g.Locks = append(g.Locks, Row{ID: fmt.Sprintf("lock%d", i)})
			g.Cells = append(g.Cells, lists.Each(g.Races, func(Column) Cell {
				return Cell{Verdicts: wordsOf([]string{"OVERLAP", "OVERLAP", "HOLDS", "N/A"}[random.IntN(4)]),
					Triggered: true}
			}))
		}
		found := g.Finding("en")
		for _, part := range strings.Split(found, "; ") {
			m := claim.FindStringSubmatch(part)
			if m == nil {
				if found != "No lock in this grid fails." || g.count((*Cell).Fails) > 0 {
					t.Fatalf("%q says what no cell has", found)
				}
				continue
			}
			race, _ := strconv.Atoi(m[6])
			fail, asked := g.failing(race)
			names := lists.Each(fail, func(i int) string { return g.Locks[i].ID })
			k, n := strconv.Itoa(len(fail)), strconv.Itoa(len(asked))
			forms[part[:3]] = true
			switch said := strings.FieldsFunc(m[5], func(r rune) bool { return r == ',' || r == ' ' }); {
			case m[3] != "" && (m[4] != n || k != n), m[1] != "" && (m[1] != k || m[2] != n && m[2] != "them"),
				m[1] == "" && m[3] == "" && !slices.Equal(said, names),
				slices.ContainsFunc(said, func(id string) bool { return !slices.Contains(names, id) }):
				t.Errorf("%q of the race %d, in which %v of %s fail", found, race, names, n)
			}
		}
	}
	if len(forms) < 6 { // lock0 fails, Each of 2, 1 of 3, 2 of 3, only lock1
		t.Errorf("only %v were found", forms)
	}
}

// TestPosterHasRoom: where a grid has more races than a screen has lines for, its picture is as high as their titles,
// which have two lines each, and its cells have words of the language.
func TestPosterHasRoom(t *testing.T) {
	c := Of(gridChart().Result, "")
	race := slices.Index(c.Table.names(), "race")
	for _, r := range c.Table.Rows {
		for n := range 3 {
			more := slices.Clone(r)
			more[race] = fmt.Sprint(r[race], n)
			c.Table.Rows = append(c.Table.Rows, more)
		}
	}
	p, races := c.picture(Format{Lang: "en"}), len(values("race", c.Table.records()))
	if races < 2*mostWide || p.height < vg.Length(races*3/4)*2*smallSize { // the rest is of one lock only
		t.Errorf("%v is too low for %d races", p.height, races)
	}
	if drawn := written(t, c, Format{Lang: "zh"}); !slices.Contains(drawn, "死锁") || slices.Contains(drawn, "DEADLOCK") {
		t.Errorf("cells have other words than those of the language: %q", drawn)
	}
}

// gridChart shows every word there is, with surprises and a cell that was not triggered.
func gridChart() sample {
	g := &Grid{
		Locks: []Row{
			{ID: "setnx", Article: "003-A"},
			{ID: "setnx-expire", Article: "003-B"},
			{ID: "getset", Article: "000-C"},
			{ID: "watchdog", Article: "003-C"},
			{ID: "token", Article: "002-C"},
			{ID: "redlock", Article: "002-E"},
		},
		Races: []Column{
			{ID: "calm", Code: ""},
			{ID: "crash-holding", Code: "R01"},
			{ID: "crash-between", Code: "R02"},
			{ID: "slow-owner", Code: "R03"},
			{ID: "check-then-del", Code: "R04"},
			{ID: "getset-nil", Code: "R06"},
			{ID: "clock-skew", Code: "R09"},
			{ID: "gc-pause", Code: "R18"},
			{ID: "fenced-pause", Code: "R18"},
			{ID: "failover", Code: "R21"},
			{ID: "restart-empty", Code: "R24"},
			{ID: "split-vote", Code: "R29"},
			{ID: "lost-reply", Code: "R32"},
			{ID: "extend-late", Code: "R34"},
			{ID: "two-keys", Code: "R46"},
		},
	}
	table := [][]string{
		{"HOLDS", "HOLDS", "HOLDS", "HOLDS", "HOLDS", "HOLDS"},
		{"DEADLOCK", "BLOCKED", "BLOCKED", "BLOCKED", "BLOCKED", "BLOCKED"},
		{"N/A", "DEADLOCK", "N/A", "N/A", "N/A", "N/A"},
		{"HOLDS", "OVERLAP WRONG-DEL STALE-WRITE", "OVERLAP WRONG-DEL", "OVERLAP STALE-WRITE WRONG-DEL", "OVERLAP",
			"OVERLAP"},
		{"N/A", "N/A", "N/A", "N/A", "HOLDS", "HOLDS"},
		{"N/A", "N/A", "ORPHAN BLOCKED", "N/A", "N/A", "N/A"},
		{"HOLDS", "HOLDS", "OVERLAP STALE-WRITE", "HOLDS", "HOLDS", "STALE-WRITE WRONG-DEL"},
		{"HOLDS", "OVERLAP STALE-WRITE", "OVERLAP STALE-WRITE", "OVERLAP STALE-WRITE", "OVERLAP STALE-WRITE",
			"OVERLAP STALE-WRITE"},
		{"HOLDS", "FENCED", "FENCED", "FENCED", "FENCED", "FENCED"},
		{"OVERLAP", "OVERLAP", "OVERLAP", "OVERLAP", "OVERLAP", "HOLDS"},
		{"UNKNOWN", "N/A", "N/A", "N/A", "N/A", "OVERLAP"},
		{"N/A", "N/A", "N/A", "N/A", "N/A", "STARVED"},
		{"DEADLOCK", "WRONG-DEL", "HOLDS", "ORPHAN", "ORPHAN", "VACUOUS"},
		{"N/A", "LIE", "LIE WRONG-DEL", "N/A", "HOLDS", "HOLDS"},
		{"DEADLOCK", "BLOCKED", "BLOCKED", "BLOCKED", "BLOCKED", "BLOCKED"},
	}
	for i, s := range g.Locks {
		row := make([]Cell, len(g.Races))
		for j, n := range g.Races {
			row[j] = Cell{Lock: s.ID, Article: s.Article, Race: n.ID, Code: n.Code,
				Verdicts: wordsOf(table[j][i]), Expected: wordsOf(table[j][i]), AsExpected: true, Triggered: true,
				Trace: "traces/" + s.ID + "." + n.ID + ".json"}
			if strings.Contains(table[j][i], "BLOCKED") {
				row[j].Blocked = time.Duration(8+7*i)*time.Second + 40*ms
			}
		}
		g.Cells = append(g.Cells, row)
	}
	g.Cells[4][3].Expected, g.Cells[4][3].AsExpected = wordsOf("HOLDS"), false
	g.Cells[5][6].Expected, g.Cells[5][6].AsExpected = wordsOf("HOLDS"), false
	g.Cells[2][12].Triggered = false
	g.Cells[4][7].Overlap = 3801 * ms
	return sample{
		Result: g,
		title:  `^(\d+) of (\d+) locks fail when (.*?); only (\S+) when (.*)$`,
		claims: func(c *Chart, m title) bool {
			fail, asked := 0.0, 0.0
			for _, r := range c.Table.records() {
				words := strings.Fields(r.text("verdicts"))
				failed := slices.ContainsFunc(words,
					func(w string) bool {
						return strings.Contains("OVERLAP STALE-WRITE WRONG-DEL LIE DEADLOCK STARVED", w)
					}) &&
					!slices.Contains(words, "FENCED")
				switch race := text.RaceTitle(r.text("race"), "en"); {
				case race == m[3] && r.text("lock") == m[4] && failed,
					race == m[5] && (r.text("lock") == m[4]) != failed:
					return false
				case race == m[3] && words[0] != "N/A":
					asked++
					if failed {
						fail++
					}
				}
			}
			return fail == m.number(1) && asked == m.number(2)
		},
		others: map[string]Result{"No lock in this grid fails.": &Grid{}},
		empty:  []Result{&Grid{}},
		texts:  map[string]reports.Look{"grid.120": {Width: reports.NarrowWidth, Lang: "both"}, "grid.80": {Width: 80}},
		csv:    g.Table().CSV,
	}
}

// overviewChart is the sample grid three times over, in groups, with one lock that
// differs from its twins and one that differs only in what was expected.
func overviewChart() sample {
	g := gridChart().Result.(*Grid)
	few, cells := g.Locks, g.Cells
	g.Locks, g.Cells = nil, nil
	for round := range 3 {
		for i, s := range few {
			s.Group = []string{"two-steps", "stamps", "majority"}[i/2]
			row := append([]Cell(nil), cells[i]...)
			if round > 0 {
				s.ID = fmt.Sprintf("%s-%d", s.ID, round+1)
			}
			for j := range row {
				row[j].Lock = s.ID
			}
			if round == 1 && i == 4 {
				row[0].Verdicts = row[7].Verdicts
			}
			if round == 2 && i == 3 {
				row[2].AsExpected = !row[2].AsExpected
			}
			g.Locks, g.Cells = append(g.Locks, s), append(g.Cells, row)
		}
	}
	return sample{Result: g,
		texts: map[string]reports.Look{"overview.120": {Width: 120}, "overview.80": {Width: 80},
			"overview.40": {Width: 40}}}
}

// Two locks show what each does, on the narrowest of terminals.
func TestNarrowGrid(t *testing.T) {
	alone := gridChart().Result.(*Grid)
	alone.Locks, alone.Cells = alone.Locks[4:], alone.Cells[4:]
	samples.Golden(t, "grid.20.txt", func(w io.Writer) error { return Text(w, alone, reports.Look{Width: 20}) })
}

func wordsOf(text string) []verdict.Word {
	var out []verdict.Word
	for _, w := range strings.Fields(text) {
		out = append(out, verdict.Word(w))
	}
	return out
}

// A cell of which no contract speaks is neither as expected nor otherwise, in any
// shape that a grid has.
func TestUncontractedCells(t *testing.T) {
	g := Grid{
		Locks: []Row{{ID: "known"}, {ID: "unknown"}},
		Races: []Column{{ID: "pause", Code: "R18"}},
		Cells: [][]Cell{
			{{Verdicts: wordsOf("OVERLAP"), Expected: wordsOf("OVERLAP"), AsExpected: true, Triggered: true}},
			{{Verdicts: wordsOf("OVERLAP"), Uncontracted: true, Triggered: true}},
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
	if c.text() != "(# OVERLAP)" {
		t.Errorf("%q", c.text())
	}
	text := samples.Written(t, func(w io.Writer) error { return Text(w, &g, reports.Look{Lang: "both"}) })
	if !strings.Contains(text, "(...)") || !strings.Contains(text, "not in the contract / 契约没有覆盖") {
		t.Errorf("the legend is silent:\n%s", text)
	}
	records, err := csv.NewReader(strings.NewReader(samples.Written(t, g.Table().CSV))).ReadAll()
	if err != nil || records[2][5] != "no contract" || records[2][6] != "" || records[1][6] != "true" {
		t.Errorf("%v %q", err, records)
	}
	var svg bytes.Buffer
	if err := SVG(&svg, Of(&g, ""), Format{}); err != nil || !strings.Contains(svg.String(), "dashed border") {
		t.Errorf("%v: the picture does not explain its border", err)
	}

	g.Cells[0][0] = *c
	if got := g.Takeaway("en"); strings.Contains(got, "expected") ||
		!strings.HasSuffix(got, "The contract does not cover 2 of 2 cells.") {
		t.Error(got)
	}
	g.Cells[0][0] = Cell{Verdicts: wordsOf("LIE"), Triggered: true}
	if got := g.Takeaway("en"); !strings.HasSuffix(got,
		"1 of 2 cells differ from what was expected. The contract does not cover 1 of 2 cells.") {
		t.Error(got)
	}
}
