package chart

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"locklab/reports"
	"locklab/reports/motion"
	"locklab/reports/text"
	"locklab/simulator/history"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A Timeline draws a run for a slide: what motion.js draws, at its end. Time runs evenly between gaps that are cut,
// which a wave marks; events of one instant stand beside each other.
type Timeline struct {
	History   *history.History
	Judgement verdict.Judgement
	Verdicts  []verdict.Word
	Source    string // the version and the command that made it; "": the picture names none
	Now       int    // an event after which a question is asked, which is marked; 0: none
}

// The measures of the picture, in points. Heights are the least; a high picture stretches them.
const (
	timelineLeft  vg.Length = 52 // for the names
	timelineRight vg.Length = 12
	timelineUnit  vg.Length = 0.53 // of places, at least
	timelineWide  vg.Length = 560  // more than that is squeezed, so that each run fits on a page
	timelineFlags           = 3    // rows above the lanes for faults and verdicts, at most
	laneHeight    vg.Length = 16
	laneGap       vg.Length = 15 // for the messages of a lane
	arrowGap      vg.Length = 26 // between lanes and servers
	bandHigh      vg.Length = 20
	bandGap       vg.Length = 5
)

// faultInk is that of faults, between the colours of harm and of calm.
var faultInk = color.NRGBA{0xa8, 0x64, 0x00, 0xff}

func clientColor(client int) color.NRGBA {
	c := color.NRGBA{A: 0xff}
	fmt.Sscanf(motion.ClientColors[(client-1)%len(motion.ClientColors)], "#%02x%02x%02x", &c.R, &c.G, &c.B)
	return c
}

// timelinePlot is a Timeline in a language. Until it is drawn, places have no unit.
type timelinePlot struct {
	*reports.Run
	lang    string
	history *history.History
	now     int         // as in Timeline
	few     bool        // what goes to servers of one band at a time is one arrow
	drawn   []string    // of these
	rows    int         // above the lanes
	at      []int64     // of each event, in microseconds
	x       []vg.Length // of each event, and of the end
	clients []int       // shown, from 1

	c            draw.Canvas
	lane, server map[int]vg.Length // the middles, by client and by server
	top, axis    vg.Length
	bar, band    vg.Length // heights
}

// run is the run as it is drawn: where it is too wide, its longest gaps are cut to one length, and then all are.
func (r *Timeline) run(lang string) *reports.Run {
	run, _ := reports.RunOf(r.History, r.Judgement, r.Verdicts, []string{lang}, false)
	gaps, wide, last := slices.Clone(run.X), float64(timelineWide/timelineUnit), len(run.X)-1
	for i := last; i > 0; i-- {
		gaps[i] -= run.X[i-1]
	}
	left, longest := wide, math.Inf(1)
	for i, gap := range slices.Sorted(slices.Values(gaps)) { // as much for each as the shorter ones leave
		if longest = max(left/float64(len(gaps)-i), 4); gap > longest {
			break
		}
		left, longest = left-gap, gap
	}
	for i := 1; i <= last; i++ {
		run.X[i] = run.X[i-1] + min(gaps[i], longest)
	}
	if end := run.X[last]; end > wide {
		for i := range run.X {
			run.X[i] *= wide / end
		}
	}
	return run
}

func (r *Timeline) picture(f Format) picture {
	run := r.run(f.Lang)
	p := &timelinePlot{Run: run, lang: f.Lang, history: r.History, now: r.Now, few: f.Slide,
		rows: min(timelineFlags, len(run.Faults)+len(run.Marks)) + min(r.Now, 1)}
	now := int64(0)
	for _, d := range run.At {
		now += d
		p.at = append(p.at, now)
	}
	for c := 1; c <= run.Clients; c++ {
		acts := func(s reports.Moment) bool { return s.Clients[c-1].String() != "idle" }
		if c != run.Probe || slices.ContainsFunc(run.States, acts) {
			p.clients = append(p.clients, c)
		}
	}
	var below []string
	if race := r.History.Race; race != "" {
		below = []string{text.Label(say(f.Lang, "explain.head", "text", race)) + text.RaceTitle(race, f.Lang)}
	}
	least := vg.Point{X: timelineLeft + timelineRight + timelineUnit*vg.Length(run.X[len(run.X)-1]), Y: p.least()}
	if f.Size.width == 0 && !f.Slide { // a screen has room for more words
		least.X = min(1.3*least.X, max(timelineLeft+timelineRight+timelineWide, least.X))
	}
	scale := map[bool]string{false: "timeline.scale", true: "timeline.scale.cut"}[run.Cuts != nil]
	signs := []string{say(f.Lang, scale)}
	if slices.ContainsFunc(run.Messages, func(m reports.Message) bool { return m.Node < 0 }) {
		signs = append(signs, say(f.Lang, "timeline.versions", "ring", "○", "dot", "●"))
	}
	if !r.History.ZooKeeper && !r.History.Database && !r.History.Local {
		signs = append(signs, say(f.Lang, "timeline.height"))
	}
	drawn := frame{title: cmp.Or(f.Title, r.Finding(f.Lang)), below: below, least: least, body: p.draw, size: f.Size,
		bare: f.Bare, from: source(r.Source, f.Lang), foot: []string{text.Join(f.Lang, "part.sentences", signs)}}
	if f.Slide {
		drawn.title, drawn.below, drawn.large = "", nil, true
	}
	if f.Slide && !f.Notes { // another says how to read them
		drawn.foot = nil
	}
	if f.Print {
		p.spread(0, ColumnWidth-6)
		p.rows = 0
		for _, flag := range p.flagsWithin(ColumnWidth - 6) { // each has its label
			p.rows = max(p.rows, flag.row+1)
		}
		drawn.tall, drawn.least = true, vg.Point{X: ColumnWidth - 6, Y: 0.8 * p.least()} // denser than on a screen
	}
	return drawn.picture()
}

// Finding returns what the run shows: its gravest verdict, and what became of the data.
func (r *Timeline) Finding(lang string) string {
	word := append(slices.Clone(r.Verdicts), verdict.Unknown)[0]
	key := "timeline." + string(word)
	pairs := []string{"lock", text.Named(r.History.Lock, lang), "clients", "", "time", ""}
	of := lists.Pick(r.Judgement.Findings, func(f verdict.Finding) bool { return f.Verdict == word })
	sets := slices.Compact(lists.Each(of, func(f verdict.Finding) string {
		return text.Join(lang, "part.and", lists.Each(f.Clients, func(c int) string { return fmt.Sprintf("c%d", c) }))
	}))
	if len(of) > 0 {
		pairs[3], pairs[5] = sets[0], length(reports.Brief(of[0].To-of[0].From))
		if word == verdict.Overlap && len(sets) > 1 {
			key, pairs[3] = "timeline.more", text.Join(lang, "brief.then", sets)
		} else if word == verdict.Overlap && of[0].From == of[0].To { // a search ends there
			key = "timeline.moment"
		} else if word == verdict.Orphan && of[0].Forever {
			key, pairs[5] = "timeline.forever", length(reports.Brief(r.History.End))
		}
	}
	said := say(lang, key, pairs...)
	for _, then := range []verdict.Word{verdict.StaleWrite, verdict.Fenced} {
		if word == verdict.Overlap && slices.Contains(r.Verdicts, then) {
			return say(lang, "timeline.then."+string(then), append(pairs, "first", said)...)
		}
	}
	return said
}

// Seen returns the share, in percent, of the width of a picture up to the middle between an event and the next.
func (r *Timeline) Seen(f Format, event int) float64 {
	run := r.run(f.Lang)
	width, end := r.picture(f).width, max(run.X[len(run.X)-1], 1)
	middle := (run.X[event] + run.X[min(event+1, len(run.X)-1)]) / 2
	x := vg.Length(middle/end) * (width - 2*3 - timelineLeft - timelineRight)
	return math.Round(1e4*float64((3+timelineLeft+x)/width)) / 100
}

// placeOf returns the place of an instant; between two events time runs evenly.
func (p *timelinePlot) placeOf(at int64) vg.Length {
	i := slices.IndexFunc(p.at, func(t int64) bool { return t >= at })
	switch {
	case i < 0:
		return p.x[len(p.at)-1]
	case i == 0 || p.at[i] == at:
		return p.x[i]
	}
	return p.x[i-1] + vg.Length(float64(at-p.at[i-1])/float64(p.at[i]-p.at[i-1]))*(p.x[i]-p.x[i-1])
}

// above counts the clients that stand above the servers; the others stand below.
func (p *timelinePlot) above() int { return (len(p.clients) + 1) / 2 }

// least is the least height of the drawing.
func (p *timelinePlot) least() vg.Length {
	lanes, bands := vg.Length(len(p.clients))*(laneHeight+laneGap), vg.Length(len(p.Bands))*(bandHigh+bandGap)
	return vg.Length(p.rows)*smallLine + lanes + 2*arrowGap + bands + 2*smallLine
}

func (p *timelinePlot) draw(c draw.Canvas) {
	p.c = c
	p.spread(c.Min.X, c.Size().X)
	p.arrange()
	p.overlaps()
	p.flags()
	for _, client := range p.clients {
		p.client(client)
	}
	p.messages()
	for _, b := range p.Bands { // no arrow crosses the names of owners
		p.bandOf(b)
	}
	p.times()
}

// spread places events in a picture of some width.
func (p *timelinePlot) spread(left, width vg.Length) {
	end := max(p.X[len(p.X)-1], 1)
	p.x = lists.Each(p.X, func(x float64) vg.Length {
		return left + timelineLeft + vg.Length(x/end)*(width-timelineLeft-timelineRight)
	})
}

// arrange places lanes and servers from top to bottom, and lets them fill the height.
func (p *timelinePlot) arrange() {
	fixed := vg.Length(p.rows+2) * smallLine
	stretch := (p.c.Size().Y - fixed) / (p.least() - fixed)
	p.bar, p.band = laneHeight*min(stretch, 1.6), bandHigh*min(stretch, 2)
	p.top, p.axis = p.c.Max.Y-vg.Length(p.rows)*smallLine, p.c.Min.Y+smallLine
	p.lane, p.server = map[int]vg.Length{}, map[int]vg.Length{}
	room := p.bar + laneGap*min(stretch, 1.4)
	bands := vg.Length(len(p.Bands)) * (p.band + bandGap)
	gap := (p.top - p.axis - smallLine - 4 - bands - room*vg.Length(len(p.clients))) / 2 // on both sides of the servers
	y := p.top
	for i, c := range p.clients {
		if i < p.above() { // its messages stand above it
			p.lane[c] = y - room + p.bar/2
			y -= room
			continue
		}
		p.lane[c] = p.axis + smallLine + 4 + room*vg.Length(len(p.clients)-i) - p.bar/2
	}
	y -= gap
	for _, b := range p.Bands {
		for _, n := range b.Servers {
			p.server[n] = y - p.band/2
		}
		y -= p.band + bandGap
	}
}

// overlaps marks the time in which two clients are inside, or in which one waits for a lock that nobody can get.
func (p *timelinePlot) overlaps() {
	for _, m := range p.Marks {
		for _, c := range m.Waiting {
			if y, ok := p.lane[c]; ok {
				fillBox(p.c, box(p.placeOf(m.From), y-p.bar, p.placeOf(m.To), y+p.bar), faded(vermillion, 0x30))
			}
		}
		if m.Word != verdict.Overlap || m.To <= m.From {
			continue
		}
		left, right := p.x[m.Event], p.placeOf(m.To) // events of one instant stand beside each other
		fillBox(p.c, box(left, p.axis, right, p.top), faded(vermillion, 0x30))
		held := reports.Brief(time.Duration(m.To-m.From) * time.Microsecond)
		label := fmt.Sprintf("%s %s", worded(p.lang, m.Word)[0], length(held))
		if x := p.besideLines(left, right, smallStrong.Width(label)); x > 0 {
			write(p.c, bold(writing(smallSize, vermillion)), x, p.axis+smallLine/2+4, label)
		}
	}
}

// besideLines is a place within an overlap, or behind it, where no line runs through a label; 0: there is none.
func (p *timelinePlot) besideLines(left, right, width vg.Length) vg.Length {
	lines := lists.Each(p.Marks, func(m reports.Mark) vg.Length { return p.x[m.Event] })
	for _, f := range p.Faults {
		lines = append(lines, p.x[f.Event])
	}
	for _, from := range append(slices.Sorted(slices.Values(lines)), right) {
		x := from + 5
		through := func(line vg.Length) bool { return x-4 < line && line < x+width+3 }
		fits := x+width < right || from == right && x+width < p.c.Max.X
		if from >= left && fits && !slices.ContainsFunc(lines, through) {
			return x
		}
	}
	return 0
}

// until returns the place at which the n-th state ends.
func (p *timelinePlot) until(n int) vg.Length {
	if n+1 < len(p.States) {
		return p.x[p.States[n+1].Event]
	}
	return p.x[len(p.x)-1]
}

// client draws what a client does as a bar, and its name.
func (p *timelinePlot) client(c int) {
	y, end := p.lane[c], p.x[len(p.x)-1]
	write(p.c, bold(normal), p.c.Min.X, y, fmt.Sprintf("c%d", c))
	p.c.StrokeLine2(draw.LineStyle{Color: hairline, Width: 0.7, Dashes: []vg.Length{2, 3}}, p.x[0], y, end, y)
	stages := lists.Each(p.States, func(m reports.Moment) string { // it has left, and is no longer inside
		return strings.Replace(m.Clients[c-1].String(), "leaving", "releasing", 1)
	})
	for n := 0; n < len(stages); {
		first, stage := n, stages[n]
		for n < len(stages) && stages[n] == stage {
			n++
		}
		at := box(p.x[p.States[first].Event], y-p.bar/2, p.until(n-1), y+p.bar/2)
		if stage != "idle" && at.Max.X > at.Min.X {
			p.stage(c, stage, at)
		}
	}
}

// stage draws one stage of a client: solid inside, dashed while it asks, hatched while paused, grey where asked for.
func (p *timelinePlot) stage(c int, stage string, at vg.Rectangle) {
	stage, paused := strings.CutSuffix(stage, "/paused")
	style, key, frame := writing(smallSize, ink), "motion.stage."+stage, clientColor(c)
	switch stage {
	case "veiled":
		fillBox(p.c, at, paleGrey)
		frame = faintInk
		at.Min.X -= 13 // no arrow crosses what is left of it
	case "dead":
		strokeBox(p.c, at, faintInk, 0.8, 1, 3)
	case "inside":
		fillBox(p.c, at, clientColor(c))
		strokeBox(p.c, at, clientColor(c), 1.2)
		if c%2 == 0 && at.Max.X-at.Min.X > 8 { // in print its colour is as grey as that of the one before
			strokeBox(p.c, inset(at, 2), white, 0.8)
		}
		style = writing(smallSize, white)
	default:
		fillBox(p.c, at, paleGrey)
		strokeBox(p.c, at, clientColor(c), 1, 3, 2)
	}
	if paused {
		fillBox(p.c, inset(at, 1), paleGrey)
		hatch(p.c, at)
		strokeBox(p.c, at, frame, 1.2)
		style, key = smallStrong, "motion.paused"
	}
	said := say(p.lang, key)
	if width := style.Width(said) + 6; width < at.Max.X-at.Min.X {
		if paused { // letters on hatches are hard to read
			middle := at.Min.Y + p.bar/2
			fillBox(p.c, box(at.Min.X+3, middle-smallLine/2, at.Min.X+3+width, middle+smallLine/2), paleGrey)
		}
		write(p.c, style, at.Min.X+5, at.Min.Y+p.bar/2, said)
	}
}

// hatch draws slanted lines in a rectangle.
func hatch(c draw.Canvas, at vg.Rectangle) {
	height := at.Max.Y - at.Min.Y
	for x := at.Min.X - height + 4; x < at.Max.X; x += 5 {
		low, high := max(at.Min.X-x, 0), min(at.Max.X-x, height)
		c.StrokeLine2(draw.LineStyle{Color: faintInk, Width: 0.6}, x+low, at.Min.Y+low, x+high, at.Min.Y+high)
	}
}

// bandOf draws whose the key is on the servers of a band. The height is what is left of the lease.
func (p *timelinePlot) bandOf(b reports.Band) {
	n := b.Servers[0]
	y := p.server[n] - p.band/2
	strokeBox(p.c, box(p.x[0], y, p.x[len(p.x)-1], y+p.band), hairline, 0.7)
	name := cmp.Or(b.Name, say(p.lang, "motion.storage"))
	write(p.c, strong, p.c.Min.X, p.server[n], fitText(strong, name, timelineLeft-4))
	for i := 0; n > 0 && i < len(p.States); {
		first, k := i, p.States[i].Keys[n-1]
		for i < len(p.States) && p.States[i].Keys[n-1] == k {
			i++
		}
		event, left, right := p.States[first].Event, p.x[p.States[first].Event], p.until(i-1)
		switch {
		case right <= left:
		case k.Down:
			hatch(p.c, box(left, y, right, y+p.band))
		case k.Held:
			p.wedge(k, event, left, right, y)
			another := first == 0 || p.States[first-1].Keys[n-1].Owner != k.Owner
			if another && k.Owner > 0 {
				fillBox(p.c, box(left+2, y+p.band/3-4, left+14, y+p.band/3+5), white)
				write(p.c, smallStrong, left+3, y+p.band/3, fmt.Sprintf("c%d", k.Owner))
			}
			if i < len(p.States) {
				p.expiry(k, p.at[p.States[i].Event], left, right, y)
			}
		}
	}
}

// expiry marks where a lease ends, or a session, with words above what is left of it.
func (p *timelinePlot) expiry(k reports.KeyState, at int64, left, right, y vg.Length) {
	said := say(p.lang, "motion.expiry")
	if k.Until.Microseconds() > at {
		said = say(p.lang, "timeline.session")
		if !slices.ContainsFunc(p.history.Events, func(e history.Event) bool {
			return e.Kind == history.SessionEnd && e.Client == k.Owner && e.At.Microseconds() == at
		}) {
			return
		}
	}
	p.c.StrokeLine2(draw.LineStyle{Color: ink, Width: 0.8, Dashes: []vg.Length{1, 1.5}}, right, y, right, y+p.band)
	if width := small.Width(said) + 3; right-width > left {
		write(p.c, small, right-width, y+p.band-smallLine/2, said)
	}
}

// wedge draws what is left of a lease between two places.
func (p *timelinePlot) wedge(k reports.KeyState, event int, left, right, y vg.Length) {
	height := func(at int64) vg.Length {
		share := 1.0
		if k.Until != history.Forever {
			share = min(max(float64(k.Until.Microseconds()-at)/float64(max(p.TTL, 1)), 0), 1)
		}
		return y + p.band*vg.Length(share)
	}
	path := vg.Path{}
	path.Move(vg.Point{X: left, Y: y})
	for i := event; i < len(p.at) && p.x[i] <= right; i++ {
		path.Line(vg.Point{X: p.x[i], Y: height(p.at[i])})
	}
	if end := len(p.at); right > p.x[end-1] {
		path.Line(vg.Point{X: right, Y: height(p.End)})
	}
	path.Line(vg.Point{X: right, Y: y})
	path.Close()
	paint := faintInk
	if k.Owner > 0 {
		paint = clientColor(k.Owner)
	}
	p.c.SetColor(faded(paint, [2]uint8{0x48, 0x80}[k.Owner%2])) // two greys in print
	p.c.Fill(path)
}

// messages draws requests and replies as arrows, and beside the lane what they say, where there is room: on paper, so
// that no line runs through it. What the one before it says is not said again; what has no room stands behind that.
func (p *timelinePlot) messages() {
	last, rooms := map[int]string{}, map[int]*room{}
	for _, c := range p.clients {
		rooms[c] = &room{}
	}
	var storage [3]room // beside the marks of reads and writes, above and below
	lines := lists.Each(p.Marks, func(m reports.Mark) vg.Length { return p.x[m.Event] })
	for _, m := range p.Messages {
		switch {
		case m.Node < 0 && m.Arrived >= 0:
			storage[0].taken = append(storage[0].taken, [2]vg.Length{p.x[m.Arrived], p.x[m.Arrived]})
		case m.Arrived >= 0 && p.lane[m.Client] < p.server[-1]: // its arrows cross the resource
			sent, ends := p.x[m.Begins()], p.x[max(m.Arrived, m.Answered)]
			lines = append(lines, (sent+p.x[m.Arrived])/2, (p.x[m.Arrived]+ends)/2)
		}
	}
	storage[0].lines, storage[1].lines = lines, lines // below there is paper behind what is said
	var labels [3][]func()                            // of what takes a key, of what has a number, and of the others
	answers := p.answers()
	for i, m := range p.Messages {
		lane, shown := p.lane[m.Client]
		server, ok := p.server[m.Node]
		out := m.Begins()
		if !shown || !ok || out < 0 {
			continue
		}
		up := vg.Length(math.Copysign(1, float64(lane-server)))
		edge, beside := lane-up*p.bar/2, lane+up*(p.bar+smallLine)/2 // towards the servers, and away from them
		p.arrows(&m, edge, server)
		if m.Node < 0 {
			if m.Arrived >= 0 && m.What == "WRITE" {
				p.touch(&m, server, storage[:])
			} else if m.Arrived >= 0 {
				labels[2] = append(labels[2], func() { p.touch(&m, server, storage[:]) })
			}
			continue
		}
		said, begins := answers[i]
		if again := last[m.Client] == said; !begins || again && m.Times == 0 {
			continue
		}
		last[m.Client] = said
		x, room, turn := p.x[out], rooms[m.Client], 2
		if after := p.history.Events[max(m.Arrived, 0)+1:]; m.Times > 0 {
			said, turn = fmt.Sprintf("%s ×%d", said, m.Times), 1
		} else if len(after) > 0 && after[0].Kind == history.Change && after[0].Before == "" && !p.history.ZooKeeper {
			turn = 0
		}
		labels[turn] = append(labels[turn], func() {
			if !p.label(said, x, beside, lane, room) && turn != 1 {
				labels[2] = append(labels[2], func() { p.label(said, room.behind(x), beside, lane, room) })
			}
		})
	}
	for turn := range labels {
		for i := 0; i < len(labels[turn]); i++ {
			labels[turn][i]()
		}
	}
}

// answers returns the labels of messages, by the first of a round.
func (p *timelinePlot) answers() map[int]string {
	rounds, said := map[int][]reports.Message{}, map[int]string{}
	for _, m := range p.Messages {
		if m.Lost {
			m.Reply = say(p.lang, "timeline.lost")
		} else if m.Answered < 0 {
			m.Reply = ""
		}
		rounds[m.Round] = append(rounds[m.Round], m)
	}
	for first, of := range rounds {
		said[first] = of[0].What
		sign := " → "
		for _, like := range lists.Gather(of, func(a, b reports.Message) bool { return a.Reply == b.Reply }) {
			if like[0].Reply == "" {
				continue
			}
			said[first] += sign + like[0].Reply
			sign = ", "
			if len(of) > 1 {
				said[first] += fmt.Sprintf(" (%d/%d)", len(like), len(of))
			}
		}
	}
	return said
}

// label writes what a message says, if there is room, at a place, or at the end with a line that leads to the place.
func (p *timelinePlot) label(said string, at, y, lane vg.Length, r *room) bool {
	width := small.Width(said)
	x := min(at, p.x[len(p.x)-1]+timelineRight-width)
	taken := r.take(x, x+width)
	if taken {
		if x < at {
			up := vg.Length(math.Copysign(1, float64(y-lane)))
			y += 3 * up
			defer p.c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1}, at, y-9*up, at, y-4.5*up)
		}
		fillBox(p.c, box(x-1, y-smallLine/2+1, x+width+1, y+smallLine/2-1), white)
		write(p.c, small, x, y, said)
	}
	return taken
}

// touch marks a read or a write in the lane of the resource, with as much of what it says as there is room for.
func (p *timelinePlot) touch(m *reports.Message, y vg.Length, rows []room) {
	said, letters, glyph := []string{m.Reply}, small, draw.GlyphStyle{Color: ink, Radius: 2.4, Shape: draw.RingGlyph{}}
	switch {
	case m.Reply == "refused":
		said, letters = []string{say(p.lang, "motion.refused")}, bold(writing(smallSize, green))
		if m.Newest > m.Token && m.Token > 0 {
			fenced := say(p.lang, "motion.fenced", "token", fmt.Sprint(m.Token), "newest", fmt.Sprint(m.Newest))
			said = append([]string{fenced}, said...)
		}
		glyph = draw.GlyphStyle{Color: green, Radius: 3, Shape: draw.CrossGlyph{}}
	case m.What == "WRITE":
		letters, glyph.Shape = smallStrong, draw.CircleGlyph{}
		if m.Token > 0 {
			said = []string{say(p.lang, "motion.token", "reply", m.Reply, "token", fmt.Sprint(m.Token)), m.Reply}
		}
	}
	x := p.x[m.Arrived]
	p.c.DrawGlyph(glyph, vg.Point{X: x, Y: y})
	for k, s := range said {
		width := letters.Width(s)
		for i, above := range []vg.Length{0, 0, 1, -1}[:3+(k+1)/len(said)] {
			from := []vg.Length{x + 5, x - 5 - width, x - width/2, x - width/2}[i]
			if from >= p.x[0] && from+width <= p.x[len(p.x)-1] && rows[max(i-1, 0)].take(from, from+width) {
				y += above * max(p.band/3, 7)
				if above < 0 {
					fillBox(p.c, box(from-1, y-4, from+width+1, y+4), white)
				}
				write(p.c, letters, from, y, s)
				return
			}
		}
	}
}

// A room is what is free in a line of labels.
type room struct {
	taken [][2]vg.Length
	lines []vg.Length // through which no label is to run
}

// behind is the place behind the label at a place.
func (r *room) behind(x vg.Length) vg.Length {
	for _, t := range r.taken {
		if t[0] <= x && x < t[1]+4 {
			return t[1] + 8
		}
	}
	return x
}

// take takes a place, if it is free.
func (r *room) take(left, right vg.Length) bool {
	over := func(t [2]vg.Length) bool { return left < t[1]+4 && right > t[0]-4 }
	through := func(x vg.Length) bool { return left+4 < x && x < right }
	if slices.ContainsFunc(r.taken, over) || slices.ContainsFunc(r.lines, through) {
		return false
	}
	r.taken = append(r.taken, [2]vg.Length{left, right})
	return true
}

// arrows draws a request, solid, and its reply, dashed. A cross ends one that is lost.
func (p *timelinePlot) arrows(m *reports.Message, edge, server vg.Length) {
	if one := fmt.Sprint(m.Round, server, m.Lost); p.few && !slices.Contains(p.drawn, one) {
		p.drawn = append(p.drawn, one)
	} else if p.few {
		return
	}
	target := server + p.band/2
	if edge < server {
		target = server - p.band/2
	}
	line := draw.LineStyle{Color: clientColor(m.Client), Width: 1}
	arrow := func(from, to int, y, end vg.Length) {
		switch {
		case from < 0 || to < 0 && !m.Lost:
		case to < 0:
			half := vg.Point{X: p.x[from] + 4, Y: (y + end) / 2}
			p.c.StrokeLine2(line, p.x[from], y, half.X, half.Y)
			p.c.DrawGlyph(draw.GlyphStyle{Color: vermillion, Radius: 3, Shape: draw.CrossGlyph{}}, half)
		default:
			p.c.StrokeLine2(line, p.x[from], y, p.x[to], end)
			p.head(line.Color, vg.Point{X: p.x[from], Y: y}, vg.Point{X: p.x[to], Y: end})
		}
	}
	arrow(m.Sent, m.Arrived, edge, target)
	line.Dashes = []vg.Length{2, 1.5}
	arrow(m.Arrived, m.Answered, target, edge)
}

// head draws the head of an arrow.
func (p *timelinePlot) head(c color.Color, from, to vg.Point) {
	turn := math.Atan2(float64(to.Y-from.Y), float64(to.X-from.X))
	path := vg.Path{}
	path.Move(to)
	for _, d := range []float64{0.4, -0.4} {
		path.Line(vg.Point{X: to.X - vg.Length(4.5*math.Cos(turn+d)), Y: to.Y - vg.Length(4.5*math.Sin(turn+d))})
	}
	path.Close()
	p.c.SetColor(c)
	p.c.Fill(path)
	p.c.SetLineStyle(draw.LineStyle{Color: c, Width: 0.5})
	p.c.Stroke(path)
}

// A timelineFlag is a fault, a verdict or a question with its line from top to bottom. Its label is in a row above.
type timelineFlag struct {
	x           vg.Length
	said        string
	line        draw.LineStyle
	letters     draw.TextStyle
	from, width vg.Length
	row         int
}

// flagsWithin are faults, verdicts and a question, in rows in which they do not touch, up to an edge on the right.
func (p *timelinePlot) flagsWithin(right vg.Length) (all []timelineFlag) {
	for _, f := range p.Faults {
		line := draw.LineStyle{Color: faultInk, Width: 0.9, Dashes: []vg.Length{3, 2}}
		all = append(all, timelineFlag{x: p.x[f.Event], said: f.Said[p.lang], line: line})
	}
	for i, e := range p.history.Events {
		if e.Kind == history.Enter && e.Note == "check" { // a use of package client
			said := say(p.lang, "timeline.checked", "client", fmt.Sprintf("c%d", e.Client))
			all = append(all, timelineFlag{x: p.x[i], said: said, line: draw.LineStyle{Color: faintInk, Width: 0.9}})
		}
	}
	for _, m := range p.Marks {
		line := draw.LineStyle{Color: vermillion, Width: 1.2}
		if m.Word == verdict.Fenced {
			line.Color = green
		}
		all = append(all, timelineFlag{x: p.x[m.Event], said: strings.TrimPrefix(m.Said[p.lang], "!! "), line: line})
	}
	if now := p.now; now > 0 {
		said := say(p.lang, "timeline.now", "time", decimal(math.Round(float64(p.at[now])/1e4)/100))
		all = append(all, timelineFlag{x: (p.x[now] + p.x[min(now+1, len(p.x)-1)]) / 2, said: said,
			line: draw.LineStyle{Color: ink, Width: 1.6, Dashes: []vg.Length{4, 3}}})
	}
	slices.SortStableFunc(all, func(a, b timelineFlag) int { return cmp.Compare(a.x, b.x) })
	free := make([]vg.Length, len(all))
	for i := range all {
		f := &all[i]
		f.said = withoutBlank.ReplaceAllString(f.said, "$1 $2")
		f.letters = bold(writing(smallSize, f.line.Color))
		f.from, f.width = f.x, f.letters.Width(f.said)+6
		if f.x+f.width > right { // it stands before its line
			f.from = max(f.x-f.width, 0)
		}
		f.row = slices.IndexFunc(free, func(end vg.Length) bool { return f.from >= end })
		free[f.row] = f.from + f.width
	}
	return all
}

// flags draws faults, verdicts and a question; one without a row is a line only.
func (p *timelinePlot) flags() {
	all := p.flagsWithin(p.c.Max.X)
	for _, f := range all {
		top := p.top
		if f.row < p.rows {
			top = p.c.Max.Y - smallLine*vg.Length(f.row)
		}
		p.c.StrokeLine2(f.line, f.x, p.axis, f.x, top)
	}
	for _, f := range all {
		if f.row < p.rows {
			y := p.c.Max.Y - smallLine*(vg.Length(f.row)+0.5)
			fillBox(p.c, box(f.from+2, y-smallLine/2+1, f.from+f.width-2, y+smallLine/2), white)
			write(p.c, f.letters, f.from+3, y, f.said)
		}
	}
}

// sharp are the events that the axis names first: faults, verdicts, and ends of leases.
func (p *timelinePlot) sharp() (events []int) {
	for _, f := range p.Faults {
		events = append(events, f.Event)
	}
	for _, m := range p.Marks {
		events = append(events, m.Event)
	}
	for i := range p.States[1:] {
		for n, k := range p.States[i].Keys {
			next := p.States[i+1]
			if k.Held && next.Keys[n].Owner != k.Owner && k.Until.Microseconds() == p.at[next.Event] {
				events = append(events, next.Event)
			}
		}
	}
	return events
}

// times draws the axis: instants where there is room, and a wave where time is cut.
func (p *timelinePlot) times() {
	axis := draw.LineStyle{Color: faintInk, Width: 0.8}
	p.c.StrokeLine2(axis, p.x[0], p.axis, p.x[len(p.x)-1], p.axis)
	write(p.c, faint, p.c.Min.X, p.c.Min.Y+smallLine/2, "s")
	line, told := room{}, []string{}
	for _, i := range append(append([]int{0}, p.sharp()...), lists.Indices(p.at)...) {
		label, x := decimal(math.Round(float64(p.at[i])/1e3)/1e3), p.x[i]
		width := faint.Width(label) + 2
		if !slices.Contains(told, label) && line.take(x-width/2, x+width/2) {
			write(p.c, aligned(faint, draw.XCenter), x, p.c.Min.Y+smallLine/2, label)
			p.c.StrokeLine2(axis, x, p.axis, x, p.axis-3)
			told = append(told, label)
		}
	}
	for _, i := range p.Cuts {
		wave := []vg.Point{{X: -4, Y: 0}, {X: -2, Y: 3}, {X: 2, Y: -3}, {X: 4, Y: 0}}
		at := vg.Point{X: (p.x[i] + p.x[i-1]) / 2, Y: p.axis}
		p.c.StrokeLines(axis, lists.Each(wave, at.Add))
	}
}
