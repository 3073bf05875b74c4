// Package motion draws a run as a timeline that moves. Go turns a history into data (Of);
// motion.js, which pages embed, draws it: a bar for each client, the lease on each server
// running down, messages as arrows, faults and verdicts at their instants, and the lock's
// own code with the line at which each client is.
//
// The data name events by their indexes. Events of one instant follow each other, so that
// a picture can show their order.
package motion

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Script defines the function motion of a page, and Style is how what it draws looks.
var (
	//go:embed motion.js
	source string
	Script = source + "MOTION.clients = " + quoted(ClientColors) + ";\n"
	//go:embed motion.css
	Style string
)

// ClientColors are the colours of clients 1, 2, ... in all pictures of runs.
var ClientColors = []string{"#0072b2", "#00805e", "#a8518a", "#8a6d00", "#3b7ea1", "#6b5fb5"}

func quoted(all []string) string { return `["` + strings.Join(all, `", "`) + `"]` }

// Said is a text by language. One that is the same in all is a string in JSON.
type Said map[string]string

// MarshalJSON implements json.Marshaler.
func (s Said) MarshalJSON() ([]byte, error) {
	first, same := "", true
	for _, lang := range text.Languages() {
		t, ok := s[lang]
		if !ok {
			continue
		}
		if first == "" {
			first = t
		}
		same = same && t == first
	}
	if same {
		return json.Marshal(first)
	}
	return json.Marshal(map[string]string(s))
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Said) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*s = Said{}
		for _, lang := range text.Languages() {
			(*s)[lang] = one
		}
		return nil
	}
	return json.Unmarshal(b, (*map[string]string)(s))
}

// A Timeline is a run as data. Instants are in microseconds of true time; -1 is none.
type Timeline struct {
	Lock      string         `json:"lock"`
	Race      string         `json:"race"` // "": a search
	Verdicts  []verdict.Word `json:"verdicts"`
	Key       string         `json:"key"`
	ZooKeeper bool           `json:"zookeeper,omitempty"`
	Clients   int            `json:"clients"`
	Nodes     int            `json:"nodes"`
	Probe     int            `json:"probe,omitempty"` // the client that looks for deadlocks; 0: there is none
	TTL       int64          `json:"ttl"`
	End       int64          `json:"end"`
	At        []int64        `json:"at"`     // of each event, the time since the one before
	States    []State        `json:"states"` // each until the next
	Messages  []Message      `json:"messages"`
	Faults    []Fault        `json:"faults,omitempty"`
	Marks     []Mark         `json:"marks,omitempty"`
	Rows      []Row          `json:"rows"`
	Calls     []Call         `json:"calls,omitempty"`
	Replay    string         `json:"replay,omitempty"` // the command that plays it again
	Skews     []int64        `json:"skews,omitempty"`  // by client, the largest error of its clock; none: all are right
	Story     []Sentence     `json:"story,omitempty"`
	Commands  Said           `json:"commands,omitempty"` // as one types them into redis-cli
}

// A State is what is so from an event on.
type State struct {
	Event   int      `json:"e"`
	Clients []string `json:"c"` // where each is, with "/paused" if its process stands still
	Keys    []Key    `json:"k"` // of each server
}

// A Key is the locked key on a server; without an owner and with Until 0 it is free.
type Key struct {
	Held  bool  `json:"h,omitempty"`
	Owner int   `json:"o,omitempty"` // client; 0: unknown
	Until int64 `json:"u,omitempty"` // when it is gone; -1: it has no time to live
	Down  bool  `json:"d,omitempty"`
}

// A Message is a request and its reply. Events that did not happen are -1.
type Message struct {
	ID       int    `json:"i"` // as history.Event.Msg
	Client   int    `json:"c"`
	Node     int    `json:"n"` // -1: the resource
	Sent     int    `json:"s"`
	Arrived  int    `json:"a"`
	Answered int    `json:"r"`
	What     string `json:"w"`
	Reply    string `json:"p,omitempty"`
	Lost     bool   `json:"l,omitempty"`
}

// A Fault is what went wrong.
type Fault struct {
	Event  int    `json:"e"`
	Client int    `json:"c,omitempty"`
	Node   int    `json:"n,omitempty"`
	Name   string `json:"w"`
}

// A Mark is a verdict at the event that completes it, with the time that it covers.
type Mark struct {
	Event   int          `json:"e"`
	From    int64        `json:"f"`
	To      int64        `json:"t"`
	Word    verdict.Word `json:"w"`
	Clients []int        `json:"c"`
	Said    Said         `json:"s"`
}

// A Row is a line of the lanes.
type Row struct {
	Event   int    `json:"e"` // the last that it tells
	From    int64  `json:"f"`
	To      int64  `json:"t"`
	Lanes   []Said `json:"l"`
	Servers Said   `json:"s,omitempty"`
	Marks   []Said `json:"m,omitempty"`
}

// A Sentence is one of the story.
type Sentence struct {
	When string `json:"t,omitempty"`
	Said Said   `json:"s"`
}

// A Call is where a client's code is from an event on: lines of listings.
type Call struct {
	Event  int      `json:"e"`
	Client int      `json:"c"`
	Lines  [][2]int `json:"l"` // listing and line, from 0, the outermost call first
}

// A Listing is a part of the lock's code.
type Listing struct {
	File  string `json:"f"`
	First int    `json:"n"`
	Text  string `json:"t"`
}

// A Book is runs, with the code that they share.
type Book struct {
	Listings []Listing            `json:"listings"`
	Runs     map[string]*Timeline `json:"runs"`
}

// Add adds a run under a name.
func (b *Book) Add(name string, r *Timeline, listings []reports.Listing) {
	if b.Runs == nil {
		b.Runs = map[string]*Timeline{}
	}
	number := make([]int, len(listings))
	for i, l := range listings {
		one := Listing{l.File, l.First, strings.ReplaceAll(strings.Join(l.Lines, "\n"), "\t", "    ")}
		if number[i] = slices.Index(b.Listings, one); number[i] < 0 {
			number[i] = len(b.Listings)
			b.Listings = append(b.Listings, one)
		}
	}
	for _, c := range r.Calls {
		for i := range c.Lines {
			c.Lines[i][0] = number[c.Lines[i][0]]
		}
	}
	b.Runs[name] = r
}

// Of returns a run as data, in some languages, with the listings of its calls. With words it
// has its story and its commands as well.
func Of(h *history.History, j verdict.Judgement, verdicts []verdict.Word, langs []string, words bool) (*Timeline, []reports.Listing) {
	in := languages(langs)
	r := &Timeline{
		Lock: h.Strategy, Race: h.Scenario, Verdicts: append([]verdict.Word{}, verdicts...), Key: h.Key, ZooKeeper: h.ZooKeeper,
		Clients: h.Clients, Nodes: servers(h), Probe: h.Probe, TTL: micros(h.TTL), End: micros(h.End),
		At: []int64{}, States: []State{}, Messages: messages(h), Rows: in.rows(h, j),
	}
	last := int64(0)
	if len(h.Events) == 0 { // a picture of the beginning
		r.At = []int64{0}
		r.States = []State{stateOf(reports.Moment{State: reports.StateOf(h)})}
	}
	for i := range h.Events {
		e := &h.Events[i]
		at := micros(e.At)
		r.At, last = append(r.At, at-last), at
		if e.Kind.Fault() {
			r.Faults = append(r.Faults, Fault{i, e.Client, e.Node, strings.TrimSpace(e.Name() + " " + size(e.D))})
		}
	}
	r.Skews = skews(h)
	for _, m := range reports.Moments(h) {
		r.States = append(r.States, stateOf(m))
	}
	for _, f := range j.Findings {
		r.Marks = append(r.Marks, Mark{
			Event: min(max(f.Event, 0), len(h.Events)-1), From: micros(f.From), To: micros(f.To), Word: f.Verdict, Clients: f.Clients,
			Said: in.say(func(lang string) string { return reports.Mark(lang, h, f) }),
		})
	}
	if words {
		r.Story, r.Commands = in.story(h, j), in.commands(h, j)
	}
	listings, calls := reports.Calls(h)
	for _, c := range calls {
		call := Call{Event: c.Event, Client: c.Client}
		for _, l := range c.Lines {
			call.Lines = append(call.Lines, [2]int{l.Listing, l.Line})
		}
		r.Calls = append(r.Calls, call)
	}
	return r, listings
}

// skews are, by client, the largest error of its clock; nil: all clocks are right.
func skews(h *history.History) []int64 {
	all, off := make([]int64, h.Clients), false
	for i := range h.Events {
		e := &h.Events[i]
		if e.Client > 0 && e.Client <= h.Clients && e.Skew.Abs() > time.Duration(all[e.Client-1]).Abs()*time.Microsecond {
			all[e.Client-1], off = micros(e.Skew), true
		}
	}
	if !off {
		return nil
	}
	return all
}

// languages are those of a run's texts.
type languages []string

// say returns a text in each language that has it; nil: none has.
func (in languages) say(of func(lang string) string) Said {
	s := Said{}
	for _, lang := range in {
		if t := of(lang); t != "" {
			s[lang] = t
		}
	}
	if len(s) == 0 {
		return nil
	}
	return s
}

func (in languages) rows(h *history.History, j verdict.Judgement) []Row {
	rows, all := map[string][]reports.Row{}, []Row{}
	for _, lang := range in {
		rows[lang] = reports.Rows(lang, h, j)
	}
	for i, row := range rows[in[0]] {
		out := Row{Event: row.Event, From: micros(row.From), To: micros(row.To), Servers: in.say(func(lang string) string { return rows[lang][i].Servers })}
		for c := range row.Lanes {
			out.Lanes = append(out.Lanes, in.say(func(lang string) string { return rows[lang][i].Lanes[c] }))
		}
		for m := range row.Marks {
			out.Marks = append(out.Marks, in.say(func(lang string) string { return rows[lang][i].Marks[m] }))
		}
		all = append(all, out)
	}
	return all
}

func (in languages) story(h *history.History, j verdict.Judgement) (all []Sentence) {
	stories := map[string][]reports.Sentence{}
	for _, lang := range in {
		stories[lang] = reports.Sentences(lang, h, j)
	}
	for i, s := range stories[in[0]] {
		all = append(all, Sentence{s.When, in.say(func(lang string) string { return stories[lang][i].Text })})
	}
	return all
}

func (in languages) commands(h *history.History, j verdict.Judgement) Said {
	return in.say(func(lang string) string {
		var b strings.Builder
		_ = reports.RedisCLI(&b, h, j, reports.Look{Lang: lang}) // writing to a string does not fail
		return b.String()
	})
}

func micros(d time.Duration) int64 {
	if d == history.Forever {
		return -1
	}
	return d.Microseconds()
}

func size(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return reports.Span(d)
}

// servers is the number of servers that play a part.
func servers(h *history.History) int {
	if h.Local {
		return 0
	}
	return h.Nodes
}

func stateOf(m reports.Moment) State {
	s := State{Event: m.Event, Keys: []Key{}}
	for _, c := range m.Clients {
		name := c.Name()
		if c.Paused {
			name += "/paused"
		}
		s.Clients = append(s.Clients, name)
	}
	for _, k := range m.Keys {
		key := Key{Held: k.Held, Down: k.Down}
		if k.Held {
			key.Owner, key.Until = k.Owner, micros(k.Until)
		}
		s.Keys = append(s.Keys, key)
	}
	return s
}

// messages are those of a run, in the order in which they were sent.
func messages(h *history.History) []Message {
	all, known := []Message{}, map[int]int{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.Msg == 0 {
			continue
		}
		n, ok := known[e.Msg]
		if !ok {
			n, known[e.Msg] = len(all), len(all)
			all = append(all, Message{
				ID: e.Msg, Client: e.Client, Node: e.Node, Sent: -1, Arrived: -1, Answered: -1, What: reports.Command(e.Cmd, h.Key),
			})
		}
		m := &all[n]
		switch e.Kind {
		case history.Send:
			m.Sent = i
		case history.Apply, history.Reject, history.Push, history.Fire:
			m.Arrived, m.Reply = i, reports.Reply(e.Reply)
		case history.Read, history.Write:
			m.Arrived, m.What = i, strings.ToUpper(e.Kind.String())
			if m.Reply = "v" + strconv.Itoa(e.Version); e.Kind == history.Write && !e.OK {
				m.Reply = "refused"
			}
		case history.Answer:
			m.Answered = i
		case history.LoseRequest, history.LoseReply:
			m.Lost = true
		}
		if m.Node == 0 {
			m.Node = e.Node
		}
		if m.Client == 0 {
			m.Client = e.Client
		}
	}
	return slices.DeleteFunc(all, func(m Message) bool { return m.Client == 0 || m.Node == 0 })
}
