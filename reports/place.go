package reports

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"

	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A picture of a run is as wide as wide, before it is stretched. Its time runs evenly, but that events keep a distance,
// and that at most so many gaps are cut: those that would take more than long have the width cut.
const (
	wide   = 760.0
	long   = 0.34 * wide
	cut    = 0.24 * wide
	cuts   = 3
	apart  = 11.0 // two instants, at least
	round  = 4.0  // two instants in which a client asks one server after another for the same
	beside = 5.0  // events of one instant
)

// place says where events stand in a picture, and which gaps between them are cut.
func (r *Run) place() {
	told, at, now := r.told(), []int64(nil), int64(0)
	for _, d := range r.At {
		now += d
		at = append(at, now)
	}
	at = append(at, max(r.End, now)) // the end
	g := gapsOf(append(told, len(at)-1), at, r.rounds())
	r.Cuts = g.cut()
	r.X = make([]float64, len(at))
	x, even := 0.0, g.scale()
	for n := 1; n < len(g.told); n++ {
		width := g.least[n] + float64(g.lasts[n])*even
		if g.isCut[n] {
			width = g.least[n] + cut
		}
		for i := g.told[n-1] + 1; i <= g.told[n]; i++ { // between two that are told time runs evenly
			share := 1.0
			if g.lasts[n] > 0 {
				share = float64(at[i]-at[g.told[n-1]]) / float64(g.lasts[n])
			} else if i < g.told[n] {
				share = 0
			}
			r.X[i] = math.Round(2*(x+width*share)) / 2
		}
		x += width
	}
}

// gaps are those before events of which a picture has something.
type gaps struct {
	told  []int     // the events
	lasts []int64   // how long each gap is
	least []float64 // how wide it is at least
	isCut []bool
}

func gapsOf(told []int, at []int64, rounds map[int][2]int) *gaps {
	g := &gaps{told, make([]int64, len(told)), make([]float64, len(told)), make([]bool, len(told))}
	for n := 1; n < len(told); n++ {
		g.lasts[n] = at[told[n]] - at[told[n-1]]
		of, ok := rounds[told[n]]
		switch {
		case n == len(told)-1: // the end may follow at once
		case ok && g.lasts[n] > 0 && rounds[told[n-1]] == of:
			g.least[n] = round
		case g.lasts[n] > 0:
			g.least[n] = apart
		default:
			g.least[n] = beside
		}
	}
	return g
}

// gather gathers messages in rounds: the same command of a client to several servers in turn.
func (r *Run) gather() {
	latest := map[int][]int{} // by client
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Round = i; m.Node < 0 {
			continue
		}
		if slices.ContainsFunc(latest[m.Client], func(o int) bool {
			return r.Messages[o].What != m.What || r.Messages[o].Node == m.Node
		}) {
			latest[m.Client] = nil
		}
		latest[m.Client] = append(latest[m.Client], i)
		m.Round = latest[m.Client][0]
	}
}

// rounds are, by its events, the rounds on servers that a picture draws as one, each with the first of these servers.
func (r *Run) rounds() map[int][2]int {
	all := map[int][2]int{}
	for _, b := range r.Bands {
		for _, m := range r.Messages {
			if len(b.Servers) > 1 && slices.Contains(b.Servers, m.Node) {
				of := [2]int{m.Round, b.Servers[0]}
				all[m.Sent], all[m.Arrived], all[m.Answered] = of, of, of
			}
		}
	}
	return all
}

// scale is the width of a microsecond where time is not cut.
func (g *gaps) scale() float64 {
	left, even := wide, int64(0)
	for _, w := range g.least {
		left -= w
	}
	left = max(left, wide/4)
	for n, d := range g.lasts {
		if g.isCut[n] {
			left -= cut
		} else {
			even += d
		}
	}
	return max(left, 0) / float64(max(even, 1))
}

// cut cuts the longest gaps, and returns the events that end them.
func (g *gaps) cut() (events []int) {
	for range cuts {
		longest := 0 // before which nothing is
		for n, d := range g.lasts {
			if !g.isCut[n] && d > g.lasts[longest] {
				longest = n
			}
		}
		if float64(g.lasts[longest])*g.scale() <= long {
			break
		}
		g.isCut[longest] = true
		events = append(events, g.told[longest])
	}
	slices.Sort(events)
	return events
}

// told are the events of which a picture has something, by their indexes; the first is one of them.
func (r *Run) told() []int {
	all := []int{0}
	for _, s := range r.States {
		all = append(all, s.Event)
	}
	for _, f := range r.Faults {
		all = append(all, f.Event)
	}
	for _, m := range r.Marks {
		all = append(all, m.Event)
	}
	for _, m := range r.Messages {
		for _, event := range []int{m.Sent, m.Arrived, m.Answered} {
			all = append(all, max(event, 0))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// An attempt has the first and the last event of requests that end in a refusal, after which the client tries again.
type attempt struct {
	begins, ends int
	asks         string // its commands and the replies, without numbers, as those of tokens and nodes of a queue
}

var numbers = regexp.MustCompile(`\S*\d\S*`)

// attempts are the refused attempts of a client.
func (r *Run) attempts(client int) (all []attempt) {
	begun := -1
	for _, s := range r.States {
		switch is := s.Clients[client-1]; {
		case is.Stage == verdict.Acquiring && begun < 0:
			begun = s.Event
		case is.Stage == verdict.Idle && is.Retries && begun >= 0:
			all = append(all, attempt{begins: begun, ends: s.Event})
			begun = -1
		case is.Stage != verdict.Acquiring:
			begun = -1
		}
	}
	for i := range all {
		for _, m := range r.Messages {
			if m.Client == client && all[i].has(m.Begins()) {
				asks := m.What + " " + m.Reply
				all[i].asks += fmt.Sprintln(m.Node, numbers.ReplaceAllString(asks, ""), m.Lost, all[i].has(m.Answered))
			}
		}
	}
	return all
}

func (a attempt) has(event int) bool { return event >= a.begins && event <= a.ends }

// fold makes one of attempts that repeat each other while nothing else happens: the first, with their number.
func (r *Run) fold() {
	var loud []int // what else happens: faults, verdicts, reads and writes, who gets in or leaves
	for _, f := range r.Faults {
		loud = append(loud, f.Event)
	}
	for _, m := range r.Marks {
		loud = append(loud, m.Event)
	}
	for _, m := range r.Messages {
		if m.Node == history.Resource {
			loud = append(loud, m.Arrived)
		}
	}
	for c := range r.Clients {
		all := r.attempts(c + 1)
		for len(all) > 0 {
			n := 1
			for n < len(all) && all[n].asks == all[0].asks &&
				!slices.ContainsFunc(loud, func(e int) bool { return e > all[0].begins && e < all[n].ends }) {
				n++
			}
			if n > 2 {
				r.foldAttempts(c+1, n, all[0], attempt{all[1].begins, all[n-1].ends, ""})
			}
			all = all[n:]
		}
	}
}

// foldAttempts folds so many attempts of a client: the first, and then the rest.
func (r *Run) foldAttempts(client, times int, first, rest attempt) {
	asked, replies := map[int]bool{}, map[string]string{} // with which what is folded away arrives; the last by command
	r.Messages = slices.DeleteFunc(r.Messages, func(m Message) bool {
		folded := m.Client == client && rest.has(m.Begins()) && (m.Lost || rest.has(m.Answered))
		if asked[m.Arrived] = asked[m.Arrived] || folded; folded && r.Nodes == 1 && !r.ZooKeeper {
			replies[m.What] = m.Reply
		}
		return folded
	})
	for i := range r.Messages {
		if m := &r.Messages[i]; m.Client == client && first.has(m.Begins()) && m.Node > 0 {
			m.Times, m.Reply = times, fromTo(m.Reply, cmp.Or(replies[m.What], m.Reply))
		}
	}
	var states []Moment
	had, took := make([]bool, r.Nodes), make([]bool, r.Nodes)
	for _, s := range r.States {
		within := s.Event >= rest.begins && s.Event < rest.ends
		if within {
			s.Clients[client-1] = ClientState{Retries: true, Veiled: s.Clients[client-1].Veiled}
		}
		for n, k := range s.Keys {
			has := k.Held && k.Owner == client
			took[n] = has && (took[n] || !had[n] && asked[s.Event])
			if had[n] = has; took[n] && within { // what it took meanwhile, it gave back
				s.Keys[n] = KeyState{Down: k.Down}
			}
		}
		if n := len(states); n == 0 || !states[n-1].equal(s.State) {
			states = append(states, s)
		}
	}
	r.States = states
}

// fromTo writes the first and the last reply to attempts that are folded: of one that is the same, once.
func fromTo(first, last string) string {
	if first == last {
		return first
	}
	return first + ".." + last
}

// Begins is the event with which a message begins.
func (m *Message) Begins() int {
	if m.Sent < 0 {
		return m.Arrived
	}
	return m.Sent
}

// A Band is servers on which the same happens to the key throughout a run, drawn as one in a picture; or the resource.
type Band struct {
	Servers []int  `json:"n"` // from 1; -1: the resource
	Name    string `json:"w"` // "n1-3", the key if there is one server; "": the resource
}

// bands gathers the servers of a run, and adds the resource if it is read or written.
func (r *Run) bands() (all []Band) {
	type life struct {
		held, down bool
		owner      int
	}
	lives := make([][]life, r.Nodes)
	for n := range lives {
		for _, s := range r.States {
			lives[n] = append(lives[n], life{s.Keys[n].Held, s.Keys[n].Down, s.Keys[n].Owner})
		}
		lives[n] = slices.Compact(lives[n])
		same := slices.IndexFunc(all, func(b Band) bool { return slices.Equal(lives[b.Servers[0]-1], lives[n]) })
		if same < 0 {
			same, all = len(all), append(all, Band{})
		}
		all[same].Servers = append(all[same].Servers, n+1)
	}
	for i := range all {
		if all[i].Name = "n" + ranges(all[i].Servers); r.Nodes == 1 {
			all[i].Name = r.Key
		}
	}
	if slices.ContainsFunc(r.Messages, func(m Message) bool { return m.Node < 0 && m.Arrived >= 0 }) {
		all = append(all, Band{Servers: []int{history.Resource}})
	}
	return all
}
