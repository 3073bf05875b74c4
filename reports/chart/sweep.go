package chart

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"locklab/reports"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/scenarios/study"
)

// A Sweep draws the share of seeded runs that end in some verdicts, against one setting as
// curves or against two as heat maps, for each lock.
type Sweep struct {
	study.Sweep
	Lang string // of the pictures
}

// Title is what the chart shows.
func (s *Sweep) Title(lang string) string {
	var axes []string
	for _, a := range s.Order.Axes {
		axes = append(axes, a.Name())
	}
	return say(lang, "sweep.title", "verdicts", s.verdicts(lang), "axes", text.Join(lang, "sweep.axes", axes))
}

func (s *Sweep) verdicts(lang string) string {
	var words []string
	for _, w := range s.Order.Words {
		words = append(words, string(w))
	}
	return text.Join(lang, "sweep.or", words)
}

// Assumptions are those under which the shares are what they are.
func (s *Sweep) Assumptions(lang string) string {
	of := s.Order.Situation(nil)
	axis := func(name string) bool {
		return slices.ContainsFunc(s.Order.Axes, func(a study.Axis) bool { return a.Setting.Name == name })
	}
	work := say(lang, "sweep.work.parts")
	switch {
	case axis("work"):
		work = say(lang, "sweep.work.axis")
	case of.WholeLease:
		work = say(lang, "sweep.work.lease")
	case of.Work > 0:
		work = say(lang, "sweep.work.fixed", "work", length(of.Work))
	case of.Renewal > 0 || axis("renewal"):
		work = say(lang, "sweep.work.fixed", "work", say(lang, "sweep.work.three"))
	}
	number := func(name, value string) string {
		if axis(name) {
			return say(lang, "sweep.varied")
		}
		return value
	}
	parts := []string{say(lang, "sweep.base", "runs", thousands(s.Order.Runs), "clients", number("clients", strconv.Itoa(of.Clients)),
		"ttl", number("ttl", length(of.TTL)), "retry", number("retry", length(of.Retry)), "work", work)}
	for _, a := range s.Order.Axes {
		if text.In(lang).Has("sweep.what." + a.Setting.Name) {
			parts = append(parts, say(lang, "sweep.what", "name", a.Name(), "what", say(lang, "sweep.what."+a.Setting.Name)))
		}
	}
	for _, v := range s.Order.Fixed {
		if text.In(lang).Has("sweep.what." + v.Setting.Name) {
			parts = append(parts, say(lang, "sweep.what", "name", v.String(), "what", say(lang, "sweep.what."+v.Setting.Name)))
		}
	}
	return text.Join(lang, "grid.both", parts)
}

func pointShare(p study.SweepPoint) float64 { return share(study.Point{K: p.K, N: p.N}) }

// CSV writes one line a point, with its Wilson interval.
func (s *Sweep) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	head := []string{"strategy"}
	for _, a := range s.Order.Axes {
		head = append(head, a.Name()+" ("+a.Unit()+")")
	}
	records := [][]string{append(head, "k", "n", "share", "wilson_lo", "wilson_hi")}
	for _, one := range s.Series {
		for _, p := range one.Points {
			lo, hi := study.Wilson(p.K, p.N)
			row := []string{one.Strategy}
			for _, v := range p.At {
				row = append(row, decimal(v))
			}
			records = append(records, append(row, strconv.Itoa(p.K), strconv.Itoa(p.N), fixed(pointShare(p)), fixed(lo), fixed(hi)))
		}
	}
	if err := out.WriteAll(records); err != nil {
		return fmt.Errorf("chart: writing a sweep: %w", err)
	}
	return nil
}

// Text writes a value per line and a lock per column; with two settings a table a lock.
func (s *Sweep) Text(w io.Writer, o reports.Options) error {
	out := o.Lines(w)
	for _, lang := range out.Langs() {
		out.Put(s.Title(lang), 0)
		out.Put(s.Assumptions(lang), 0)
	}
	out.Put("", 0)
	if len(s.Order.Axes) == 1 {
		s.table(out)
	} else {
		for i := range s.Series {
			s.map2(out, &s.Series[i])
		}
	}
	for _, one := range s.Series {
		if one.NA != "" {
			out.Put(sayAll(out, "sweep.na", "lock", one.Strategy, "why", out.Each(func(lang string) string { return say(lang, "na."+string(one.NA)) })), 0)
		}
	}
	out.Put("", 0)
	for _, lang := range out.Langs() {
		out.Put(s.Takeaway(lang), 0)
	}
	return out.Err()
}

// table has a line for each value that some lock was looked at.
func (s *Sweep) table(out *layout.Lines) {
	axis := s.Order.Axes[0]
	var xs []float64
	sheet := layout.Sheet{Right: map[int]bool{0: true}, Floor: 6}
	head := []string{axis.Name()}
	for _, one := range s.Series {
		for _, p := range one.Points {
			xs = append(xs, p.At[0])
		}
		head = append(head, one.Strategy)
		sheet.Right[len(head)-1] = true
	}
	slices.Sort(xs)
	sheet.Rows = [][]string{head}
	for _, x := range slices.Compact(xs) {
		row := []string{axis.Format(x)}
		for _, one := range s.Series {
			row = append(row, countAt(one, []float64{x}))
		}
		sheet.Rows = append(sheet.Rows, row)
	}
	sheet.WriteOrCells(out)
}

// map2 is the table of one lock: the second setting down, the first across.
func (s *Sweep) map2(out *layout.Lines, one *study.SweepSeries) {
	if len(one.Points) == 0 {
		return
	}
	x, y := s.Order.Axes[0], s.Order.Axes[1]
	sheet := layout.Sheet{Right: map[int]bool{0: true}, Floor: 4, Tight: true}
	head := []string{y.Name() + " \\ " + x.Name()}
	for i, v := range x.Values {
		head = append(head, x.Format(v))
		sheet.Right[i+1] = true
	}
	sheet.Rows = [][]string{head}
	for _, down := range slices.Backward(y.Values) {
		row := []string{y.Format(down)}
		for _, across := range x.Values {
			cell := ""
			if p, ok := pointAt(*one, []float64{across, down}); ok {
				cell = percent(pointShare(p)) + "%"
			}
			row = append(row, cell)
		}
		sheet.Rows = append(sheet.Rows, row)
	}
	out.Put(one.Strategy, 0)
	sheet.WriteOrCells(out)
	out.Put("", 0)
}

func pointAt(one study.SweepSeries, at []float64) (study.SweepPoint, bool) {
	i, ok := slices.BinarySearchFunc(one.Points, at, func(p study.SweepPoint, at []float64) int { return slices.Compare(p.At, at) })
	if !ok {
		return study.SweepPoint{}, false
	}
	return one.Points[i], true
}

func countAt(one study.SweepSeries, at []float64) string {
	p, ok := pointAt(one, at)
	if !ok {
		return "."
	}
	return fmt.Sprintf("%d/%d", p.K, p.N)
}

// Takeaway says where each lock failed, how often at most, and what bound holds for those
// that never did. Shares whose intervals overlap are not ranked.
func (s *Sweep) Takeaway(lang string) string {
	var seen, never []string
	for _, one := range s.Series {
		var hits []study.SweepPoint
		runs := 0
		for _, p := range one.Points {
			runs = max(runs, p.N)
			if p.K > 0 {
				hits = append(hits, p)
			}
		}
		switch {
		case runs == 0:
		case len(hits) == 0:
			_, hi := study.Wilson(0, runs)
			never = append(never, say(lang, "sensitivity.zero", "lock", one.Strategy, "bound", "0/"+thousands(runs)+" -> "+bound(hi)))
		default:
			seen = append(seen, s.where(lang, one, hits))
		}
	}
	var parts []string
	if len(seen) > 0 {
		parts = append(parts, say(lang, "sensitivity.seen", "text", text.Join(lang, "grid.join", seen)))
	}
	if len(never) > 0 {
		parts = append(parts, say(lang, "sensitivity.never", "text", text.Join(lang, "grid.join", never)))
	}
	if len(parts) == 0 {
		return say(lang, "sweep.nothing")
	}
	return text.Join(lang, "grid.both", parts)
}

// where says at which values a lock failed.
func (s *Sweep) where(lang string, one study.SweepSeries, hits []study.SweepPoint) string {
	most := slices.MaxFunc(hits, func(a, b study.SweepPoint) int { return cmp.Compare(pointShare(a), pointShare(b)) })
	lo, hi := study.Wilson(most.K, most.N)
	top := fmt.Sprintf("%s %% (%s-%s)", percent(pointShare(most)), percent(lo), percent(hi))
	if len(s.Order.Axes) == 2 {
		return say(lang, "sweep.map", "lock", one.Strategy, "hits", strconv.Itoa(len(hits)), "points", strconv.Itoa(len(one.Points)), "top", top,
			"x", s.Order.Axes[0].Name()+"="+s.Order.Axes[0].Format(most.At[0]), "y", s.Order.Axes[1].Name()+"="+s.Order.Axes[1].Format(most.At[1]))
	}
	a := s.Order.Axes[0]
	first, last := hits[0].At[0], hits[len(hits)-1].At[0]
	key, left, right := "sweep.between", one.Points[0].At[0] == first, one.Points[len(one.Points)-1].At[0] == last
	switch {
	case left && right && len(hits) == len(one.Points):
		key = "sweep.everywhere"
	case left && right:
		key = "sweep.both"
	case right:
		key = "sensitivity.from"
	case left:
		key = "sweep.upto"
	case first == last:
		key = "sweep.only"
	}
	return say(lang, key, "lock", one.Strategy, "x", a.Format(first), "y", a.Format(last), "top", top)
}
