package record_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"locklab/simulator/effort"
	. "locklab/simulator/record"
	"locklab/simulator/verdict"
)

// A moment is an instant that is not known exactly: of a line, of the from of a release, or of the end of a section
// that no line shows. It was between lo and hi, and not before the moments of after.
type moment struct {
	lo, hi int
	after  []int
}

// A stay is a section: it lasts from one moment to another. Endless: no line shows the other.
type stay struct {
	client, enter, end int
	endless            bool
}

// A spoken is a line, with the stay that it is of; -1: none.
type spoken struct {
	at, client, stay int
	text             string
}

// A smallLog is what two or three clients write about one key.
type smallLog struct {
	lines   []spoken
	moments []moment
	stays   []stay
	strict  [][2]int // the first was before the second, also if they have one instant
}

// writing says what the lines of a log have beside instants, and whether all sections have ended when it ends.
type writing struct{ seqs, versions, ends bool }

// A speaker writes a smallLog, in the order in which all happens, with clocks that are off by no more than they say.
type speaker struct {
	smallLog
	writing
	rng      *rand.Rand
	name     string
	now      int
	seq      int         // the last moment with one; -1: none
	ordinals map[int]int // the version that a moment has read or written, twice, and one more for a read
	version  int
	clients  [3]struct {
		stay, shown int   // the present one, or -1; its last moment that shows the client inside
		last        []int // the next line is not before these
		from, until int   // the lease ends by itself between these instants; 0: it does not
		at, now     int   // of its last line, and when that was
	}
}

func (s *speaker) moment(lo, hi int, after ...int) int {
	s.moments = append(s.moments, moment{lo, hi, slices.Clone(after)})
	return len(s.moments) - 1
}

// say adds a line and returns its moment. calls: it has the from of its call, which ends the stay.
func (s *speaker) say(client int, event, more string, calls bool) int {
	c, within := &s.clients[client], []int{0, 0, 1, 2, 5}[s.rng.IntN(5)]
	at := max(s.now+s.rng.IntN(2*within+1)-within, c.at) // a clock that is set back by nothing
	within = max(within, at-s.now)
	defer func() { c.at, c.now = at, s.now }()
	if calls {
		from := min(at, c.now+s.rng.IntN(s.now-c.now+1)+s.rng.IntN(2*within+1)-within)
		s.stays[c.stay].end = s.moment(from-within, from+within, c.shown) // a renewal may be under way beside it
		c.last = append(c.last, s.stays[c.stay].end)
		more += fmt.Sprintf(`,"from":%d`, from)
	}
	m := s.moment(at-within, at+within, c.last...)
	c.last = []int{m}
	if s.seqs && event != "ended" && s.rng.IntN(3) > 0 {
		if s.seq >= 0 {
			s.strict = append(s.strict, [2]int{s.seq, m})
		}
		s.seq = m
		more += fmt.Sprintf(`,"seq":%d`, 100*s.now+m)
	}
	switch {
	case s.versions && event == "wrote":
		s.version++
		s.ordinals[m] = 2 * s.version
		more += fmt.Sprintf(`,"version":%d,"base":%d`, s.version, s.version-1)
	case s.versions && event == "read":
		s.ordinals[m] = 2*s.version + 1
		more += fmt.Sprintf(`,"version":%d`, s.version)
	case event == "acquired" || event == "renewed" && more == `,"ok":true`:
		if c.until = 0; s.rng.IntN(3) == 0 {
			until := at + s.rng.IntN(30)
			c.from, c.until = until-within, until+within
			more += fmt.Sprintf(`,"until":%d`, until)
		}
	}
	if event != "ended" {
		more += fmt.Sprintf(`,"key":"%s"`, s.name)
	}
	text := fmt.Sprintf(`{"at":%d,"within":%d,"client":"%s.%d","event":"%s"%s}`,
		at, within, s.name, client, event, more)
	s.lines = append(s.lines, spoken{at, client, c.stay, text + "\n"})
	return m
}

// acquire begins a stay.
func (s *speaker) acquire(client int) {
	c := &s.clients[client]
	c.stay = len(s.stays)
	s.stays = append(s.stays, stay{client: client})
	c.shown = s.say(client, "acquired", "", false)
	s.stays[c.stay].enter = c.shown
}

// hide ends a stay at a moment that no line shows, before the next line of its client.
func (s *speaker) hide(client int) {
	c, latest := &s.clients[client], math.MaxInt
	if c.until != 0 {
		latest = c.until
	}
	end := s.moment(math.MinInt, latest, c.shown)
	s.stays[c.stay].end, s.stays[c.stay].endless = end, true
	c.last = append(c.last, end)
}

// leave ends a stay with a line.
func (s *speaker) leave(client int, event string) {
	c := &s.clients[client]
	calls := event == "released" && s.rng.IntN(2) == 0
	if event == "ended" || event == "released" && !calls {
		s.hide(client)
	}
	m := s.say(client, event, "", calls)
	if event == "leaving" || event == "lost" {
		s.stays[c.stay].end = m
	}
	c.stay = -1
}

// smallLogOf is a log of a few lines, from an instant on.
func smallLogOf(rng *rand.Rand, name string, start int, with writing) *smallLog {
	s := &speaker{writing: with, rng: rng, name: name, now: start, seq: -1, ordinals: map[int]int{}}
	for c := range s.clients {
		s.clients[c].stay = -1
	}
	n := 2 + rng.IntN(2)
	events := []string{"leaving", "lost", "released", "released", "renewed", "no", "read", "wrote", "ended", "acquired"}
	for range 3 + rng.IntN(4) {
		s.now += rng.IntN(4)
		client := rng.IntN(n)
		c := &s.clients[client]
		silent := c.stay >= 0 && c.until != 0 && s.now+10 >= c.from // a line could show that it is inside after that
		switch event := events[rng.IntN(len(events))]; {
		case c.stay < 0 && rng.IntN(3) > 0:
			s.acquire(client)
		case c.stay < 0:
			s.say(client, []string{"refused", "read", "wrote"}[rng.IntN(3)], "", false)
		case event == "acquired":
			s.hide(client)
			s.acquire(client)
		case silent && event != "ended":
		case event == "no":
			s.say(client, "renewed", `,"ok":false`, false)
		case event == "renewed":
			c.shown = s.say(client, event, `,"ok":true`, false)
		case event == "read" || event == "wrote":
			c.shown = s.say(client, event, "", false)
		default:
			s.leave(client, event)
		}
	}
	for client := range n {
		if c := &s.clients[client]; c.stay >= 0 && with.ends {
			s.now += 40
			s.leave(client, "ended")
		} else if c.stay >= 0 {
			s.hide(client)
		}
	}
	for a, x := range s.ordinals {
		for b, y := range s.ordinals {
			if x < y {
				s.strict = append(s.strict, [2]int{a, b})
			}
		}
	}
	return &s.smallLog
}

// A pairOf is two stays of different clients.
type pairOf struct{ a, b int }

// choices tries every order and every coincidence of the moments: which pairs of stays have time in common in all of
// them, and which in some and not in all.
func (l *smallLog) choices() (all, some map[pairOf]bool) {
	n := len(l.moments)
	known := make([][2]bool, n*n) // [a*n+b]: b does not come before a, and comes after it even if both have one instant
	for b, m := range l.moments {
		for _, a := range m.after {
			known[a*n+b][0] = true
		}
	}
	for _, s := range l.strict {
		known[s[0]*n+s[1]] = [2]bool{true, true}
	}
	for via := range n {
		for a := range n {
			for b := range n {
				if x, y := known[a*n+via], known[via*n+b]; x[0] && y[0] {
					k := &known[a*n+b]
					k[0], k[1] = true, k[1] || x[1] || y[1]
				}
			}
		}
	}
	seen := map[pairOf]*[3]bool{} // whether a pair was found apart, or in common by what is known only, or by instants
	for i, a := range l.stays {
		for j, b := range l.stays[:i] {
			if a.client != b.client {
				seen[pairOf{j, i}] = &[3]bool{}
			}
		}
	}
	open := len(seen)           // pairs that may have been apart always, or together always
	rank := make([]int, n)      // which of the instants a moment has, from 1
	former := make([]uint64, n) // of each moment: those that must have an instant before it gets one
	for k, known := range known {
		if known[0] {
			former[k%n] |= 1 << (k / n)
		}
	}
	before := func(a, b int) bool { return rank[a] < rank[b] || rank[a] == rank[b] && known[a*n+b][1] }
	look := func() {
		for p, found := range seen {
			a, b, kind := l.stays[p.a], l.stays[p.b], 0
			switch {
			case rank[a.enter] < rank[b.end] && rank[b.enter] < rank[a.end]:
				kind = 2
			case before(a.enter, b.end) && before(b.enter, a.end):
				kind = 1
			}
			undecided := !found[0] || !found[2]
			if found[kind] = true; undecided && found[0] && found[2] {
				open--
			}
		}
	}
	// place gives instants to those moments that have none: the last one, so many steps after now and not after hi, or
	// a later one.
	var place func(placed uint64, last, instants, now, steps, hi int)
	place = func(placed uint64, last, instants, now, steps, hi int) {
		if placed == 1<<n-1 {
			look()
		}
		for m, x := range l.moments {
			if open == 0 || placed>>m&1 != 0 || former[m]&^placed != 0 {
				continue
			}
			for next := range 2 {
				first, steps, until := max(now, x.lo), steps+next, x.hi
				if x.lo > now {
					steps = 0
				}
				if next == 0 { // at the instant of those before it
					until = min(hi, x.hi)
				}
				if next == 0 && (m < last || instants == 0) || first > until || first == until && steps > 0 {
					continue
				}
				rank[m] = instants + next
				place(placed|1<<m, m, instants+next, first, steps, until)
			}
		}
	}
	place(0, n, 0, math.MinInt, 0, math.MaxInt)
	all, some = map[pairOf]bool{}, map[pairOf]bool{}
	for p, found := range seen {
		if !found[0] {
			all[p] = found[2]
		} else if found[2] {
			some[p] = true
		}
	}
	return all, some
}

// whole is many small logs as those of three machines, and where each of their lines is.
func whole(logs []*smallLog) (files [3]string, places map[Place]pairOf) {
	type at struct {
		spoken
		log int
	}
	var all []at
	for i, l := range logs {
		for _, s := range l.lines {
			all = append(all, at{s, i})
		}
	}
	slices.SortStableFunc(all, func(a, b at) int { return a.at - b.at })
	places = map[Place]pairOf{}
	var texts [3]strings.Builder
	var lines [3]int
	for _, s := range all {
		texts[s.client].WriteString(s.text)
		lines[s.client]++
		places[Place{fmt.Sprint(s.client + 1), lines[s.client]}] = pairOf{s.log, s.stay}
	}
	for i := range files {
		files[i] = texts[i].String()
	}
	return files, places
}

// differ says how what a judge has found differs from what all choices of instants show; "": in nothing. If exact,
// all that is certain must be claimed, and only what is possible be UNKNOWN; else more may be UNKNOWN. A lease without
// an end is UNKNOWN once.
func (l *smallLog) differ(claimed, unsure map[pairOf]bool, exact bool) string {
	all, some := l.choices()
	doubted := map[int]bool{}
	for p := range unsure {
		doubted[p.a], doubted[p.b] = true, true
		if !all[p] && !some[p] && exact {
			return fmt.Sprintf("%v never overlap, and are UNKNOWN", p)
		}
		if all[p] && exact {
			return fmt.Sprintf("%v overlap, and are UNKNOWN", p)
		}
	}
	for p := range claimed {
		if _, always := all[p]; !always {
			return fmt.Sprintf("%v need not overlap, and are claimed to", p)
		}
	}
	for _, list := range []map[pairOf]bool{all, some} {
		for p := range list {
			once := l.stays[p.a].endless && doubted[p.a] || l.stays[p.b].endless && doubted[p.b]
			if list[p] && !claimed[p] && !unsure[p] && !once || all[p] && exact && !claimed[p] {
				return fmt.Sprintf("%v overlap (always: %t), and claimed are %v", p, all[p], claimed)
			}
		}
	}
	return ""
}

// judgeAll judges logs together, and compares what is found with the choices of each of them. It returns the number
// of lines, of overlaps and of what is UNKNOWN.
func judgeAll(t *testing.T, logs []*smallLog, exact bool) (n [3]int) {
	files, places := whole(logs)
	r, err := tried(files[:]...)
	if err != nil {
		t.Fatal(err)
	}
	found := make([][2]map[pairOf]bool, len(logs))
	for i := range found {
		found[i] = [2]map[pairOf]bool{{}, {}}
	}
	for _, f := range r.Findings {
		kind := 0
		if f.Verdict == verdict.Unknown && f.May == verdict.Overlap {
			kind = 1
		} else if f.Verdict != verdict.Overlap {
			continue
		}
		a, b := places[f.Lines[0]], places[f.Lines[1]]
		if a.a != b.a || a.b < 0 || b.b < 0 {
			t.Fatalf("lines of two logs, or of none: %+v", f)
		}
		found[a.a][kind][pairOf{min(a.b, b.b), max(a.b, b.b)}] = true
		n[1+kind]++
	}
	for i, l := range logs {
		if d := l.differ(found[i][0], found[i][1], exact); d != "" {
			for _, s := range l.lines {
				t.Log(strings.TrimSpace(s.text))
			}
			t.Fatalf("%s; stays %v, moments %v", d, l.stays, l.moments)
		}
	}
	n[0] = r.Lines
	return n
}

// TestChoices: of small logs, each by itself or many mixed, a judge claims what is so whatever the instants were, and
// UNKNOWN is what is so for some of them. Where lines have a seq or versions, which restrict instants in ways that it
// does not pursue, more may be UNKNOWN.
func TestChoices(t *testing.T) {
	effort.OnlyPushed(t, "it judges 200,000 lines in every way")
	effort.Unwatched(t, "one goroutine")
	seeds := uint64(1)
	if effort.Exhaustive() {
		seeds = 20
	}
	for name, c := range map[string]struct {
		writing
		logs   int
		atOnce int  // so many are judged together
		apart  int  // the time from the beginning of one to that of the next
		one    bool // all are about one key
	}{
		"alone":               {writing{}, 2_000, 1, 0, false},
		"alone, with seq":     {writing{seqs: true}, 2_000, 1, 0, false},
		"alone, with version": {writing{versions: true}, 2_000, 1, 0, false},
		"many keys":           {writing{}, 24_000, 24_000, 7, false},
		"one key":             {writing{ends: true}, 18_000, 18_000, 300, true},
		"one key, with seq":   {writing{seqs: true, ends: true}, 2_000, 2_000, 300, true},
	} {
		for seed := range seeds {
			t.Run(name, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(16, seed))
				var logs []*smallLog
				for i := range c.logs {
					key := fmt.Sprint("k", i)
					if c.one {
						key = "k"
					}
					logs = append(logs, smallLogOf(rng, key, 1000+i*c.apart, c.writing))
				}
				var total [3]int
				for together := range slices.Chunk(logs, c.atOnce) {
					for k, n := range judgeAll(t, together, !c.seqs && !c.versions) {
						total[k] += n
					}
				}
				t.Logf("%d lines: %d overlaps, and %d are UNKNOWN", total[0], total[1], total[2])
				if total[1] < 50 || total[2] < 50 {
					t.Error("agreement says nothing")
				}
			})
		}
	}
}
