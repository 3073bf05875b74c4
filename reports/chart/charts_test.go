package chart

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/plot/vg"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/internal/samples"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/simulator/effort"
)

// A sample is a chart with every kind of cell in it, and what the tests know of it.
type sample struct {
	Result
	title  string                       // a pattern of its title
	claims func(c *Chart, m title) bool // what the title says is in the table
	others map[string]Result            // by their titles: those that say how little there is to say
	empty  []Result                     // charts of nothing, of no lock and the like
	texts  map[string]reports.Look      // golden files of its text
	csv    func(w io.Writer) error      // a golden file; nil: there is none
	work   bool                         // it takes the usual work for granted
}

// charts are the samples of all specs, and those of what a spec draws in another way.
func charts() map[string]sample {
	return map[string]sample{
		"grid":      gridChart(),
		"overview":  overviewChart(),
		"par":       parChart(),
		"tolerance": toleranceChart(),
		"sweep":     sweepChart(),
		"recovery":  recoveryChart(),
		"waiting":   waitingChart(),
		"rate":      rateChart(),
		"theorems":  theoremsChart(),
	}
}

// TestEveryChartHasASample: all other tests range over samples.
func TestEveryChartHasASample(t *testing.T) {
	for name := range specs {
		if charts()[name].Result == nil {
			t.Errorf("there is no sample of %s: write %sChart in %s_test.go, and the line\n\t\t%q: %sChart(),\n"+
				"in charts of charts_test.go", name, name, name, name, name)
		}
	}
}

// Every text is as it was, and in its width.
func TestTexts(t *testing.T) {
	for name, c := range charts() {
		for file, look := range c.texts {
			samples.Golden(t, file+".txt", func(w io.Writer) error { return Text(w, c.Result, look) })
		}
		for _, width := range []int{41, 60, 81} {
			samples.CheckWidth(t, name, width,
				func(w io.Writer) error { return Text(w, c.Result, reports.Look{Width: width}) })
		}
		if c.csv != nil {
			samples.Golden(t, name+".csv", c.csv)
		}
	}
}

// A picture is as it was, but for a tenth of a percent of its colours: another version of the encoder changes the file
// and not the picture. Drawn twice it has the same bytes; its size is what it says.
func TestPictures(t *testing.T) {
	for name, c := range charts() {
		p := Of(c.Result, "").picture(Format{Lang: "en"})
		p.dpi = 14
		drawn := samples.Written(t, p.png)
		if drawn != samples.Written(t, p.png) {
			t.Errorf("%s: two drawings of the same differ", name)
		}
		if d := difference(t, samples.Wanted(t, name+".png", []byte(drawn)), []byte(drawn)); d > 0.001 {
			t.Errorf("testdata/%s.png: %.2f %% of the colours differ: look at the picture, then -update rewrites it",
				name, 100*d)
		}
		config, err := png.DecodeConfig(strings.NewReader(drawn))
		x, y := p.width.Points()*14/72, p.height.Points()*14/72
		if err != nil || math.Abs(float64(config.Width)-x) > 1 || math.Abs(float64(config.Height)-y) > 1 {
			t.Errorf("%s: %d by %d pixels, want %.0f by %.0f: %v", name, config.Width, config.Height, x, y, err)
		}
	}
}

// A picture has names in place of the ids of the milestones, in its title as in its labels; a table keeps the ids.
func TestNames(t *testing.T) {
	named := 0
	for name, chart := range charts() {
		c := Of(chart.Result, "")
		for _, lang := range text.Languages() {
			ids, called := values("lock", c.Table.records()), values("lock", c.named(lang).Table.records())
			for i, id := range ids {
				want := text.Named(id, lang)
				if len(ids) < overviewFrom && called[i] != want || lang == "en" && want != id {
					t.Errorf("%s, %s: %s is called %s, not %s", name, lang, id, called[i], want)
				}
				if title := c.named(lang).Said[lang].Title; want != id && len(ids) < overviewFrom {
					named++
					if regexp.MustCompile(`(^|[^a-z-])` + id + `($|[^a-z-])`).MatchString(title) {
						t.Errorf("%s: the title still says %s: %s", name, id, title)
					}
				}
			}
		}
	}
	if named < 10 {
		t.Errorf("only %d locks have names", named)
	}
}

// difference is the mean difference of two pictures' pixels, from 0 to 1; 1 if their sizes differ.
func difference(t *testing.T, a, b []byte) float64 {
	t.Helper()
	x, err := png.Decode(bytes.NewReader(a))
	y, err2 := png.Decode(bytes.NewReader(b))
	if err = errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	size := x.Bounds()
	if size != y.Bounds() {
		return 1
	}
	sum := 0.0
	for i := size.Min.X; i < size.Max.X; i++ {
		for j := size.Min.Y; j < size.Max.Y; j++ {
			r1, g1, b1, _ := x.At(i, j).RGBA()
			r2, g2, b2, _ := y.At(i, j).RGBA()
			for _, c := range [][2]uint32{{r1, r2}, {g1, g2}, {b1, b2}} {
				sum += math.Abs(float64(c[0]) - float64(c[1]))
			}
		}
	}
	return sum / float64(3*0xffff*size.Dx()*size.Dy())
}

// Names in SVG are text: they add no element, and leave the picture well-formed, without text that needs a font.
func TestMarkupInNames(t *testing.T) {
	name, err := json.Marshal(`]]></text><script>alert("x")</script>&amp;'` + "\x1b\x00")
	if err != nil {
		t.Fatal(err)
	}
	named := strings.NewReplacer("setnx", string(name[1:len(name)-1]), "fixed", string(name[1:len(name)-1]))
	for of, r := range charts() {
		c, err := Read([]byte(named.Replace(samples.Written(t, Of(r.Result, "").JSON))))
		if err != nil {
			t.Fatalf("%s: %v", of, err)
		}
		drawn := samples.Written(t, func(w io.Writer) error { return SVG(w, c, Format{}) })
		for d := xml.NewDecoder(strings.NewReader(drawn)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Errorf("%s: %v", of, err)
				break
			}
			start, ok := token.(xml.StartElement)
			if ok && (start.Name.Local == "script" || start.Name.Local == "text") {
				t.Errorf("%s: there is an element %s", of, start.Name.Local)
			}
		}
		if !strings.Contains(drawn, "alert(") {
			t.Errorf("%s: the name is not in the picture", of)
		}
	}
}

// A picture in Chinese asks the catalogues for nothing in English, and its letters are other ones.
func TestPicturesSpeakChinese(t *testing.T) {
	asked, before := map[string]bool{}, say
	defer func() { say = before }()
	say = func(lang, key string, pairs ...string) string {
		asked[lang] = true
		if !said(key) && !strings.HasPrefix(key, "prove.lemma.") { // which is in tables only
			t.Errorf("the font is not held against %s, which pictures say: name its kind in said", key)
		}
		return before(lang, key, pairs...)
	}
	run := samples.Played(t, "token", "gc-pause")
	pictures := map[string]Picture{"run": &Timeline{History: run.History, Judgement: run.Judgement,
		Verdicts: run.Verdicts}}
	for name, c := range charts() {
		pictures[name] = Of(c.Result, "")
	}
	for name, c := range pictures {
		var drawn []string
		for _, lang := range []string{"", "zh"} {
			clear(asked)
			drawn = append(drawn, samples.Written(t, func(w io.Writer) error { return SVG(w, c, Format{Lang: lang}) }))
			if want := pictured(lang); !maps.Equal(asked, map[string]bool{want: true}) {
				t.Errorf("%s: a picture in %q asks for texts in %v", name, lang, asked)
			}
		}
		if drawn[0] == drawn[1] {
			t.Errorf("%s: both pictures are the same", name)
		}
	}
}

// Charts of nothing, of no lock, of no hazard and of one point are drawn all the same.
func TestNothingToDraw(t *testing.T) {
	effort.OnlyPushed(t, "it takes seconds")
	for name, s := range charts() {
		for _, r := range s.empty {
			c := Of(r, "")
			if err := errors.Join(Pictures[".png"](io.Discard, c, Format{}), SVG(io.Discard, c, Format{}),
				Pictures[".pdf"](io.Discard, c, Format{}),
				Text(io.Discard, r, reports.Look{}), c.Table.CSV(io.Discard), c.JSON(io.Discard)); err != nil {
				t.Errorf("%s: %+v: %v", name, r, err)
			}
		}
	}
}

// Titles that say how little there is to say.
func TestFindings(t *testing.T) {
	for name, s := range charts() {
		for want, r := range s.others {
			if got := r.Finding("en"); got != want {
				t.Errorf("%s: got  %s\nwant %s", name, got, want)
			}
		}
	}
}

// All charts of what a lock survives take the same work for granted, and say so below their titles.
func TestOneWork(t *testing.T) {
	for name, s := range charts() {
		for _, lang := range text.Languages() {
			part, _, _ := strings.Cut(say(lang, "work.usual"), " ")
			if below := s.Assumptions(lang); s.work && !strings.Contains(below, part) {
				t.Errorf("%s, %s: no work of %s: %s", name, lang, part, below)
			}
		}
	}
}

// A title is what its pattern finds in it: numbers and names.
type title []string

func (m title) number(i int) float64 {
	x, err := strconv.ParseFloat(strings.ReplaceAll(m[i], ",", ""), 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// names are those of a list in a sentence.
func (m title) names(i int) []string { return strings.Split(m[i], ", ") }

// rowsOf are the rows of a chart that have some values, by the names of columns.
func rowsOf(c *Chart, pairs ...string) []record {
	return slices.DeleteFunc(c.Table.records(), func(r record) bool {
		for i := 0; i < len(pairs); i += 2 {
			if r.text(pairs[i]) != pairs[i+1] {
				return true
			}
		}
		return false
	})
}

// TestTitlesAreTrue: what the title of each chart claims, its table has.
func TestTitlesAreTrue(t *testing.T) {
	for name, s := range charts() {
		if s.claims == nil {
			continue
		}
		c := Of(s.Result, "")
		m := regexp.MustCompile(s.title).FindStringSubmatch(c.Said["en"].Title)
		if m == nil || !s.claims(c, m) {
			t.Errorf("%s: its table has something else than %q", name, c.Said["en"].Title)
		}
	}
}

// TestLegendsAreShort: two lines hold all that stands below a title, where letters are largest.
func TestLegendsAreShort(t *testing.T) {
	for name, s := range charts() {
		for _, lang := range text.Languages() {
			c := Of(s.Result, "").named(lang)
			all := strings.Join(specs[c.Name].draw(c, lang).below, " ")
			if lines := foldText(normal, all, vg.Length(pixels*72)/mostDPI-2*margin); len(lines) > 2 {
				t.Errorf("%s, %s: more than two lines: %q", name, lang, lines)
			}
		}
	}
}

// TestDrawnAgain: a chart that is read from its JSON has the same numbers and the same pictures, in each language.
func TestDrawnAgain(t *testing.T) {
	for name, r := range charts() {
		c := Of(r.Result, "locklab (devel), locklab chart "+name)
		var kept, again, first, second strings.Builder
		if err := c.JSON(&kept); err != nil {
			t.Fatal(err)
		}
		read, err := Read([]byte(kept.String()))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var before, after any
		err = errors.Join(read.JSON(&again), json.Unmarshal([]byte(kept.String()), &before),
			json.Unmarshal([]byte(again.String()), &after))
		if err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%s: other JSON: %v", name, err)
		}
		for _, ending := range []string{".csv", ".svg"} {
			for _, lang := range text.Languages() {
				first.Reset()
				second.Reset()
				f := Format{Lang: lang}
				err := fmt.Sprint(c.Write(&first, ending, f), read.Write(&second, ending, f))
				if err != "<nil> <nil>" || first.String() != second.String() {
					t.Errorf("%s%s in %s: drawn again it differs: %s", name, ending, lang, err)
				}
			}
		}
	}
	for _, wrong := range []string{`{"version": 2, "chart": "pie"}`, `{"version": 2, "chart": "par"}`, `[]`,
		`{"version": 2, "chart": "sweep", "table": {"columns": [{"name": "lock"}], "rows": [{"lock": "token"}]}}`} {
		if _, err := Read([]byte(wrong)); err == nil {
			t.Errorf("%s is no chart", wrong)
		}
	}
}

const ms = time.Millisecond

// locksOf makes entries of which only the names matter.
func locksOf(ids ...string) (entries []lock.Entry) {
	for _, id := range ids {
		entries = append(entries, lock.Entry{ID: id, Server: lock.OnRedis(1)})
	}
	return entries
}

// sampleLeases are those of a lock whose lease never ends, of some with one, of one that renews it, and of one of which
// nothing is known.
func sampleLeases() []cost.Subject {
	subject := func(id string, spans ...cost.Span) cost.Subject {
		return cost.Subject{Lock: id, Lease: cost.Lease{Spans: spans}}
	}
	return []cost.Subject{
		subject("setnx", cost.Span{Left: math.Inf(1)}),
		subject("token", cost.Span{Left: 1}),
		subject("delex", cost.Span{Left: 1}),
		subject("watchdog", cost.Span{Left: 1}, cost.Span{From: 0.3335, Left: 1}, cost.Span{From: 0.6665, Left: 1},
			cost.Span{From: 1, Left: 1}),
		subject("redlock", cost.Span{Left: 1}),
		subject("mutex"),
	}
}
