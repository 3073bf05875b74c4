package chart

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A Grid is the verdicts on every lock in every race. Cells[i][j] is Locks[i] in Races[j]. Pictures and texts draw a
// race per line and a lock per column, in the order given.
type Grid struct {
	Locks []Row
	Races []Column
	Cells [][]Cell
}

// A Row of the grid is a lock. The catalogues have its title and that of its group.
type Row struct {
	ID, Article string
	Group       string // id of the family with which it is drawn where there are many; "": none
}

// unlocked reports whether it is no lock: it is not counted among locks.
func (r Row) unlocked() bool { return r.Group == string(lock.Unlocked) }

// Title describes the lock in a language.
func (r Row) Title(lang string) string { return text.LockTitle(r.ID, lang) }

// A Column of the grid is a race.
type Column struct {
	ID   string
	Code string // the race it plays ("R18"), or ""
}

// Title describes the race in a language.
func (c Column) Title(lang string) string { return text.RaceTitle(c.ID, lang) }

// A Cell is the outcome of one lock in one race.
type Cell struct {
	Lock, Article, Race, Code string

	Verdicts []verdict.Word // as in verdict.Judgement; empty: the race was not played
	Expected []verdict.Word // as contracted
	Why      string         // key of the contract's reason; see text.Reason
	// NotApplicable is the key of the reason why the race does not apply to the lock; "": it does.
	NotApplicable string
	AsExpected    bool // the two agree
	// Uncontracted: no contract speaks of the cell. Then the two neither agree nor differ.
	Uncontracted bool
	Triggered    bool          // what the race is about did happen
	Trace        string        // where the run is kept, "": nowhere
	Blocked      time.Duration // the longest BLOCKED, 0: none
	Overlap      time.Duration // the longest OVERLAP, 0: none
	Votes        string        // "3/5": so many of the servers that it asks grant the lock; see race.Race.Votes
}

// Word is the verdict that stands for the cell: broken before unknown before vacuous before holds. Unless a stale write
// came through, FENCED stands for the OVERLAP beside it, and what makes the cell a failure stands before both.
func (c *Cell) Word() verdict.Word {
	fenced := c.fenced()
	if fenced && !c.Fails() {
		return verdict.Fenced
	}
	i := slices.IndexFunc(words, func(w verdict.Word) bool {
		return slices.Contains(c.Verdicts, w) && !(fenced && (w == verdict.Overlap || w == verdict.Fenced))
	})
	switch {
	case i < 0:
		return verdict.NA
	case words[i] == verdict.Holds && !c.Triggered:
		return verdict.Vacuous
	}
	return words[i]
}

// fenced reports whether FENCED implies the cell's OVERLAP: no stale write came through.
func (c *Cell) fenced() bool {
	return slices.Contains(c.Verdicts, verdict.Fenced) && !slices.Contains(c.Verdicts, verdict.StaleWrite)
}

// Fails reports whether the lock fails in this cell. An overlap whose late writes were refused (FENCED) leaves the data
// safe, and a wait that time ends (ORPHAN, BLOCKED) is the known price of a time to live: neither is a failure.
func (c *Cell) Fails() bool { return verdict.Fails(c.Verdicts) }

// Asked reports whether the cell answers its question.
func (c *Cell) Asked() bool {
	return !slices.Contains([]verdict.Word{verdict.NA, verdict.Vacuous, verdict.Unknown}, c.Word())
}

// Label is the cell's text without its glyph: the gravest word, how many more, and for how long the lock was blocked.
func (c *Cell) Label(lang string) string {
	w := c.Word()
	text := map[bool]string{false: string(w), true: "holds"}[w == verdict.Holds]
	text = say(lang, "word.cell", "word", text, "means", say(lang, "word."+string(w)))
	if n := c.more(); n > 0 && w != verdict.Holds {
		text += "+" + strconv.Itoa(n)
	}
	if w == verdict.Blocked && c.Blocked > 0 {
		text += " " + length(reports.Brief(c.Blocked))
	}
	return strings.TrimSpace(text + " " + c.Votes)
}

// more counts the words of the cell that its label neither names nor implies.
func (c *Cell) more() int {
	n := len(c.Verdicts) - 1
	if c.fenced() && slices.Contains(c.Verdicts, verdict.Overlap) {
		n--
	}
	return n
}

// Surprising reports whether the cell is not what was expected.
func (c *Cell) Surprising() bool { return !c.AsExpected && !c.Uncontracted }

// brackets stand around what was not expected, round ones where nothing was.
func (c *Cell) brackets() (open, closing string) {
	switch {
	case c.Uncontracted:
		return "(", ")"
	case c.Surprising():
		return "[", "]"
	}
	return " ", ""
}

// text is the cell in a terminal: "# OVERLAP+2", in its brackets.
func (c *Cell) text() string {
	open, closing := c.brackets()
	if c.Word() == verdict.NA {
		return open + LookOf(c.Word()).Glyph + closing
	}
	return open + LookOf(c.Word()).Glyph + " " + c.Label("en") + closing
}

// Part is the grid of some locks in some scenarios.
func (g *Grid) Part(lock func(Row) bool, raceID func(Column) bool) *Grid {
	p, columns := &Grid{}, lists.Pick(lists.Indices(g.Races), func(j int) bool { return raceID(g.Races[j]) })
	p.Races = lists.Pick(g.Races, raceID)
	for i, r := range g.Locks {
		if lock(r) {
			p.Locks = append(p.Locks, r)
			p.Cells = append(p.Cells, lists.Each(columns, func(j int) Cell { return g.Cells[i][j] }))
		}
	}
	return p
}

func (g *Grid) cell(lock, raceID int) *Cell { return &g.Cells[lock][raceID] }

// Name is that of Result, and so are the next ones.
func (g *Grid) Name() string                   { return "grid" }
func (g *Grid) Notes(string) []string          { return nil }
func (g *Grid) Assumptions(lang string) string { return say(lang, "grid.assumptions") }

// Finding says which race breaks every lock and which one most of them, or else which one those that survive it.
func (g *Grid) Finding(lang string) string {
	every := g.breaking(func(fail, asked int) bool { return fail == asked && asked > 1 })
	most := g.breaking(func(fail, asked int) bool { return fail < asked && asked > 1 }) // tells locks apart
	switch {
	case every >= 0 && most >= 0:
		_, all := g.failing(every)
		if fail, asked := g.failing(most); len(asked) == len(all) {
			return say(lang, "grid.finding.of", "first", g.finds(lang, every), "k", strconv.Itoa(len(fail)), "race",
				g.Races[most].Title(lang))
		}
		return say(lang, "grid.join", "first", g.finds(lang, every), "next", g.finds(lang, most))
	case most < 0:
		most = g.breaking(func(int, int) bool { return true })
	}
	if most < 0 {
		return say(lang, "grid.quiet")
	}
	found := g.finds(lang, most)
	fail, asked := g.failing(most)
	left := lists.Pick(asked, func(i int) bool { return !slices.Contains(fail, i) })
	if len(left) == 0 || len(left) > maxNamed {
		return found
	}
	for j := range g.Races {
		if others, _ := g.failing(j); slices.Equal(others, left) {
			return say(lang, "grid.finding.left", "first", found, "locks", g.names(left, lang),
				"race", g.Races[j].Title(lang))
		}
	}
	return found
}

// breaking is the race that breaks most locks, of those that break some and are wanted; -1: there is none.
func (g *Grid) breaking(wanted func(fail, asked int) bool) (race int) {
	race, most := -1, 0
	for j := range g.Races {
		if fail, asked := g.failing(j); len(fail) > most && wanted(len(fail), len(asked)) {
			race, most = j, len(fail)
		}
	}
	return race
}

// finds says how many locks a race breaks, and of one which it is.
func (g *Grid) finds(lang string, race int) string {
	fail, asked := g.failing(race)
	key := "grid.finding"
	switch {
	case len(asked) == 1:
		key = "grid.finding.one"
	case len(fail) == len(asked):
		key = "grid.finding.all"
	case len(fail) == 1:
		key = "grid.finding.only"
	}
	all := lists.Pick(g.Locks, func(r Row) bool { return !r.unlocked() })
	of := map[bool]string{true: "grid.asked.some", false: "grid.asked"}[len(asked) < len(all)]
	said := say(lang, key, "k", strconv.Itoa(len(fail)), "n", say(lang, of, "n", strconv.Itoa(len(asked))),
		"locks", g.names(fail, lang), "race", g.Races[race].Title(lang))
	bare := lists.Pick(fail, func(i int) bool { return g.cell(i, race).bare() })
	if bare == nil {
		return said
	}
	votes := func(i int) string { return g.cell(i, race).Votes }
	alike := lists.Gather(bare, func(a, b int) bool { return votes(a) == votes(b) })
	return say(lang, "grid.finding.bare", "first", said, "locks", text.Join(lang, "grid.join",
		lists.Each(alike, func(of []int) string {
			granted, servers, _ := strings.Cut(votes(of[0]), "/")
			names := lists.Each(of, func(i int) string { return g.Locks[i].ID })
			return say(lang, "grid.granted", "locks", firstNames(lang, names, titleLocks),
				"votes", granted, "servers", servers)
		})))
}

// failing are the locks that a race breaks, and those of which it is asked.
func (g *Grid) failing(race int) (fail, asked []int) {
	asked = lists.Pick(lists.Indices(g.Locks), func(i int) bool {
		return !g.Locks[i].unlocked() && g.cell(i, race).Asked()
	})
	return lists.Pick(asked, func(i int) bool { return g.cell(i, race).Fails() }), asked
}

// Takeaway is the finding, and whether anything differs from what was expected, or nothing was.
func (g *Grid) Takeaway(lang string) string {
	all, surprises, open := len(g.Locks)*len(g.Races), g.count((*Cell).Surprising), g.Uncontracted()
	if n := g.count(func(c *Cell) bool { return c.Word() == verdict.Unknown }); n > 0 {
		return say(lang, "grid.open", "n", strconv.Itoa(n), "all", strconv.Itoa(all))
	}
	n := []string{"n", strconv.Itoa(surprises), "all", strconv.Itoa(all), "open", strconv.Itoa(open)}
	said := []string{say(lang, "grid.stop", "text", strings.TrimRight(g.Finding(lang), ".。"))}
	if g.count((*Cell).Fails) > 0 {
		said = append(said, say(lang, "grid.counted"))
	}
	switch {
	case surprises > 0:
		said = append(said, say(lang, "grid.surprise", n...))
	case open == 0:
		said = append(said, say(lang, "grid.expected"))
	case open < all:
		said = append(said, say(lang, "grid.expected.rest"))
	}
	if open > 0 {
		said = append(said, say(lang, "grid.uncontracted", n...))
	}
	return text.Join(lang, "part.sentences", said)
}

// text has the cells and a legend. Locks that do not fit side by side follow in more blocks; many become an overview.
func (g *Grid) text(out *layout.Lines) {
	if g.Many() {
		g.overview(out)
	} else {
		g.columns(out)
	}
	g.legend(out)
	putEach(out, func(lang string) []string { return []string{g.Takeaway(lang)} })
}

// columns prints a race per line and a lock per column, as many of them side by side as fit.
func (g *Grid) columns(out *layout.Lines) {
	for from := 0; from < len(g.Locks); {
		to := from + 1
		for to < len(g.Locks) && g.block(from, to+1).Fits(out.Width()) {
			to++
		}
		if from > 0 {
			out.Put("", 0)
		}
		g.block(from, to).WriteOrCells(out)
		from = to
	}
}

// block is some locks side by side. A cell begins with a blank or a bracket of its own.
func (g *Grid) block(from, to int) *layout.Sheet {
	head := func(of func(Row) string) []string {
		return append([]string{""}, lists.Each(g.Locks[from:to], func(r Row) string { return " " + of(r) })...)
	}
	s := &layout.Sheet{Floor: 12, Tight: true, Rows: [][]string{
		head(func(r Row) string { return r.ID }), head(func(r Row) string { return r.Article }),
	}}
	code := slices.Max(append(lists.Each(g.Races, func(c Column) int { return layout.Width(c.Code) }), 0))
	for j, c := range g.Races {
		row := []string{strings.TrimSpace(layout.PadRight(c.Code, code) + " " + c.ID)}
		for i := from; i < to; i++ {
			row = append(row, g.cell(i, j).text())
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

// legend explains the glyphs that occur.
func (g *Grid) legend(out *layout.Lines) {
	out.Put("", 0)
	put := func(sign, meaning string) { out.Put(layout.PadRight(sign, 14)+meaning, 14) }
	for _, w := range g.words() {
		put(LookOf(w).Glyph+" "+string(w), out.Each(func(lang string) string { return reports.Meaning(w, lang) }))
	}
	surprise, open := "  [...]", "  (...)"
	if g.Many() {
		surprise, open = "[", "("
	} else if g.count(func(c *Cell) bool { return c.more() > 0 }) > 0 {
		put("  +n", sayAll(out, "grid.legend.more"))
	}
	if slices.ContainsFunc(g.Locks, Row.unlocked) {
		put("no-lock-*", sayAll(out, "grid.legend.unlocked"))
	}
	for _, r := range lists.Pick(g.Locks, func(r Row) bool { return text.In("en").Has("chart.lock." + r.ID) }) {
		put(r.ID, sayAll(out, "chart.lock."+r.ID))
	}
	if g.Votes("en") != "" {
		put("", out.Each(g.Votes))
	}
	if g.count((*Cell).Surprising) > 0 {
		put(surprise, sayAll(out, "grid.legend.surprise"))
	}
	if g.Uncontracted() > 0 {
		put(open, sayAll(out, "grid.legend.uncontracted"))
	}
	out.Put("", 0)
}

// words are those that stand for some cell, from the gravest on.
func (g *Grid) words() []verdict.Word {
	return lists.Pick(words, func(w verdict.Word) bool {
		return g.count(func(c *Cell) bool { return c.Word() == w }) > 0
	})
}

func (g *Grid) count(is func(*Cell) bool) int {
	return len(lists.Pick(slices.Concat(g.Cells...), func(c Cell) bool { return is(&c) }))
}

// Uncontracted is of how many cells no contract speaks.
func (g *Grid) Uncontracted() int { return g.count(func(c *Cell) bool { return c.Uncontracted }) }

// maxNamed is the number of equals that a sentence names; it counts more of them.
const maxNamed = 2

// firstNames lists names in a sentence, so many at most.
func firstNames(lang string, names []string, most int) string {
	list := text.Join(lang, "chart.list", names[:min(most, len(names))])
	if more := len(names) - most; more > 0 {
		return say(lang, "grid.more", "first", list, "n", strconv.Itoa(more))
	}
	return list
}

// bare reports whether some servers have not voted for the lock: it has a bare majority.
func (c *Cell) bare() bool {
	votes, servers, _ := strings.Cut(c.Votes, "/")
	return votes != servers && c.Asked()
}

// Votes explains the votes that cells have, if any do.
func (g *Grid) Votes(lang string) string { return votesIn(g.Table().records(), lang, false) }

func votesIn(all []record, lang string, brief bool) string {
	var said []string
	if !brief && slices.ContainsFunc(all, func(r record) bool { return r.text("votes") != "" }) { // cells name them
		said = append(said, say(lang, "grid.votes"))
	}
	for _, of := range by("lock", all) { // which holds with all votes, and fails with fewer
		races := map[bool][]string{}
		for _, r := range of {
			if c := cellFrom(r); c.Votes != "" && c.Fails() == c.bare() {
				races[c.bare()] = append(races[c.bare()], r.text("code"))
			}
		}
		if len(races) == 2 {
			said = append(said, say(lang, "grid.bare", "lock", of[0].text("lock"), "holds",
				text.Join(lang, "chart.list", races[false]), "fails", text.Join(lang, "chart.list", races[true])))
		}
	}
	return text.Join(lang, "grid.join", said)
}

// noContract is the expectation of a cell of which no contract speaks: a word that no verdict has.
const noContract = "no contract"

// Table has one row a cell; verdicts are separated by blanks.
func (g *Grid) Table() *Table {
	names := "lock article race code verdicts expected as_expected triggered blocked_ms:ms overlap_ms:ms votes trace"
	milliseconds := func(d time.Duration) any { return whole(float64(d) / float64(time.Millisecond)) }
	return tableOf(names, slices.Concat(g.Cells...), func(c Cell) []any {
		expected, as := reports.Words(c.Expected), any(c.AsExpected)
		if c.Uncontracted { // it is neither true nor false
			expected, as = noContract, nil
		}
		if !c.Asked() {
			c.Votes = ""
		}
		return []any{c.Lock, c.Article, c.Race, c.Code, reports.Words(c.Verdicts), expected, as, c.Triggered,
			milliseconds(c.Blocked), milliseconds(c.Overlap), c.Votes, c.Trace}
	})
}
