package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"maps"
	"math"
	"strings"
	"testing"

	"locklab/reports"
	"locklab/reports/internal/samples"
	"locklab/scenarios/study"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

// charts are one of each, with every kind of cell in it. The name is that of a lock and a race of each.
func charts(t *testing.T, name string) map[string]Result {
	grid, overview, sweep, par, tolerance, rate := gridSample(), manySample(), sweepSample(), parSample(),
		toleranceSample(), rateSample(t)
	recovery := recoverySample(rate)
	if name != "" {
		grid.Locks[0].ID, overview.Locks[0].ID, sweep.Series[0].Lock = name, name, name
		for i := range rate.Bounds {
			if rate.Bounds[i].Lock == "setnx" {
				rate.Bounds[i].Lock = name
			}
		}
		recovery.Recoveries[0].Lock = name
		par.Locks[0].ID, tolerance.Locks[0].ID = name, name
		grid.Races[0].ID, overview.Races[0].ID = name, name
	}
	return map[string]Result{"grid": &grid, "overview": &overview, "sweep": sweep, "par": &par, "tolerance": &tolerance,
		"rate": rate, "theorems": theoremsSample(), "recovery": recovery, "waiting": waitingSample()}
}

// Every text is as it was, and in its width.
func TestTexts(t *testing.T) {
	alone := gridSample() // two locks show what each does
	alone.Locks, alone.Cells = alone.Locks[4:], alone.Cells[4:]
	all := charts(t, "")
	for _, c := range []struct {
		file  string
		chart Result
		look  reports.Look
	}{
		{"grid.120", all["grid"], reports.Look{Width: reports.NarrowWidth, Lang: "both"}},
		{"grid.80", all["grid"], reports.Look{Width: 80}},
		{"grid.20", &alone, reports.Look{Width: 20}},
		{"overview.120", all["overview"], reports.Look{Width: 120}},
		{"overview.80", all["overview"], reports.Look{Width: 80}},
		{"overview.40", all["overview"], reports.Look{Width: 40}},
		{"par", all["par"], reports.Look{Width: reports.NarrowWidth}},
		{"tolerance", all["tolerance"], reports.Look{Width: reports.NarrowWidth}},
		{"theorems", theoremsSample(), reports.Look{Width: reports.NarrowWidth}},
		{"rate.en", all["rate"], reports.Look{Width: 120, Lang: "en"}},
		{"rate.zh", all["rate"], reports.Look{Width: 120, Lang: "zh"}},
	} {
		samples.Golden(t, c.file+".txt", func(w io.Writer) error { return Text(w, c.chart, c.look) })
		for _, width := range []int{41, 60, 81} {
			samples.CheckWidth(t, c.file, width, func(w io.Writer) error { return Text(w, c.chart, reports.Look{Width: width}) })
		}
	}
	for file, c := range map[string]Result{"grid": all["grid"], "par": all["par"], "tolerance": all["tolerance"],
		"theorems": theoremsSample()} {
		samples.Golden(t, file+".csv", c.Table().CSV)
	}
}

// A picture is as it was, but for a tenth of a percent of its colours: another version of the encoder changes the file
// and not the picture. Drawn twice it has the same bytes; its size is what it says.
func TestPictures(t *testing.T) {
	for name, c := range charts(t, "") {
		p := Of(c, "").picture(Format{Lang: "en"})
		p.dpi = 14
		drawn := samples.Written(t, p.png)
		if drawn != samples.Written(t, p.png) {
			t.Errorf("%s: two drawings of the same differ", name)
		}
		if d := difference(t, samples.Wanted(t, name+".png", []byte(drawn)), []byte(drawn)); d > 0.001 {
			t.Errorf("testdata/%s.png: %.2f %% of the colours differ: look at the picture, then -update rewrites it", name,
				100*d)
		}
		config, err := png.DecodeConfig(strings.NewReader(drawn))
		x, y := p.width.Points()*14/72, p.height.Points()*14/72
		if err != nil || math.Abs(float64(config.Width)-x) > 1 || math.Abs(float64(config.Height)-y) > 1 {
			t.Errorf("%s: %d by %d pixels, want %.0f by %.0f: %v", name, config.Width, config.Height, x, y, err)
		}
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

// Names in SVG are text: they add no element, and leave the picture well-formed, without text that needs a font. The
// bands of a sweep are translucent.
func TestMarkupInNames(t *testing.T) {
	for name, c := range charts(t, `]]></text><script>alert("x")</script>&amp;'`+"\x1b\x00") {
		drawn := samples.Written(t, func(w io.Writer) error { return SVG(w, Of(c, ""), Format{}) })
		for d := xml.NewDecoder(strings.NewReader(drawn)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
			if start, ok := token.(xml.StartElement); ok && (start.Name.Local == "script" || start.Name.Local == "text") {
				t.Errorf("%s: there is an element %s", name, start.Name.Local)
			}
		}
		if name == "sweep" && !strings.Contains(drawn, "fill-opacity:0.282") {
			t.Error("no band is translucent")
		}
	}
}

// A picture in Chinese asks the catalogues for nothing in English, and its letters are other ones.
func TestPicturesSpeakChinese(t *testing.T) {
	asked, before := map[string]bool{}, say
	defer func() { say = before }()
	say = func(lang, key string, pairs ...string) string {
		asked[lang] = true
		if !said.MatchString(key) && !strings.HasPrefix(key, "prove.lemma.") { // which is in tables only
			t.Errorf("the font is not held against %s, which pictures say", key)
		}
		return before(lang, key, pairs...)
	}
	h, j := samples.GCPause()
	pictures := map[string]Picture{"run": &Timeline{History: h, Judgement: j, Verdicts: j.Verdicts}}
	for name, c := range charts(t, "") {
		pictures[name] = Of(c, "")
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
	sweep := func(all ...study.SweepSeries) Result {
		s := sweepSample()
		s.Series = all
		return s
	}
	point := func(n int) study.SweepSeries {
		return study.SweepSeries{Lock: "setnx", Points: []study.SweepPoint{{At: []float64{1}, K: min(n, 1), N: n}}}
	}
	for _, c := range []Result{
		&Grid{}, &Par{}, &Par{ParTable: study.ParTable{Locks: locksOf("token")}},
		&Par{ParTable: study.ParTable{Verdicts: []verdict.Word{verdict.Lie}}},
		&Tolerance{}, &Tolerance{Tolerance: study.Tolerance{Locks: locksOf("token")}},
		&Tolerance{Tolerance: study.Tolerance{Hazards: []study.Hazard{{Fault: "pause", Sized: true}}}},
		&Rate{}, &WaitingChart{}, &RecoveryChart{}, &Theorems{}, sweep(), sweep(study.SweepSeries{Lock: "setnx"}), sweep(point(1)), sweep(point(0)),
	} {
		err := errors.Join(PNG(io.Discard, Of(c, ""), Format{}), SVG(io.Discard, Of(c, ""), Format{}), Text(io.Discard, c,
			reports.Look{}),
			c.Table().CSV(io.Discard), Of(c, "").JSON(io.Discard))
		if err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Titles that say how little there is to say.
func TestFindings(t *testing.T) {
	sweep, one, par := sweepSample(), toleranceSample(), parSample()
	sweep.Series, one.Locks = sweep.Series[:2], one.Locks[:1]
	overlapping, renewed, equal := *waitingSample(), *recoverySample(rateSample(t)), *recoverySample(rateSample(t))
	renewed.Recoveries, equal.Recoveries = renewed.Recoveries[20:80], equal.Recoveries[20:60]
	for i := range renewed.Recoveries[40:] {
		renewed.Recoveries[40+i].Longest = 12_000 * ms
	}
	overlapping.Results[2].Quick = overlapping.Results[3].Slow
	pause := Par{ParTable: study.ParTable{Locks: par.Locks[1:3], Verdicts: par.Verdicts[:1],
		Budgets: par.Budgets[1:], Rows: []study.Par{*par.Of(1, 1, 0), *par.Of(2, 1, 0)}}}
	for want, c := range map[string]Result{
		"Half of the runs end in OVERLAP at pause/ttl 0.7 (setnx-expire), never with setnx (0 of 1,000: < 0.4 %)": sweep,
		"One pause is enough to let two clients in with each of these 2 locks":                                    &pause,
		"No lock in this grid fails.":                                                              &Grid{},
		"No size of a pause is known at which a lock lets two clients in":                          &one,
		"No overlap is expected at a TTL of 0s":                                                    &Rate{},
		"No run was finished.":                                                                     &WaitingChart{},
		"A crash closes a lock for at most 10s, whatever the work":                                 &equal,
		"A crash closes watchdog for at most 12s, others for less, whatever the work":              &renewed,
		"No lock here is known to be free again after a crash":                                     &RecoveryChart{},
		"A crash closes setnx for ever, others for at most 10s, whatever the work":                 recoverySample(rateSample(t)),
		"With 9 clients a released lock stays free for 1ms to 50ms on average, by the way to wait": &overlapping,
	} {
		if got := c.Finding("en"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	proved := theoremsSample()
	if pause.Inconclusive() || proved.Inconclusive() {
		t.Error("everything was told")
	}
	if proved.All[len(proved.All)-1].Why = ""; !proved.Inconclusive() {
		t.Error("what was not computed is not missed")
	}
}
