package reports

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/reports/text"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A Run is a run as a reader sees it: what pictures of it draw, and what pages have of it as JSON. It names events by
// their indexes. Instants are in microseconds of true time; -1 is none.
type Run struct {
	Lock      string         `json:"lock"`
	Race      string         `json:"race"` // "": a search
	Verdicts  []verdict.Word `json:"verdicts"`
	Key       string         `json:"key"`
	ZooKeeper bool           `json:"zookeeper,omitempty"`
	Clients   int            `json:"clients"`
	Nodes     int            `json:"nodes"`           // servers that play a part
	Probe     int            `json:"probe,omitempty"` // the client that looks for deadlocks; 0: there is none
	TTL       int64          `json:"ttl"`
	End       int64          `json:"end"`
	At        []int64        `json:"at"` // of each event, the time since the one before
	// X are the places of the events in a picture, and last that of the end, in a unit of the picture's.
	X        []float64 `json:"x"`
	Cuts     []int     `json:"cuts,omitempty"` // events before which time is cut
	Bands    []Band    `json:"bands"`
	States   []Moment  `json:"states"` // each until the next
	Messages []Message `json:"messages"`
	Faults   []Fault   `json:"faults,omitempty"`
	Marks    []Mark    `json:"marks,omitempty"`
	Rows     []Row     `json:"rows"`
	Calls    []Call    `json:"calls,omitempty"`
	Replay   string    `json:"replay,omitempty"` // the command that plays it again
	Skews    []int64   `json:"skews,omitempty"`  // by client, the largest error of its clock; none: all are right
	Story    []SaidAt  `json:"story,omitempty"`
	Commands Said      `json:"commands,omitempty"` // as one types them into redis-cli
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
	Times    int    `json:"x,omitempty"` // of attempts that repeat each other, which it stands for; 0: one
	Token    uint64 `json:"k,omitempty"` // the fencing token of a write; 0: none
	Newest   uint64 `json:"h,omitempty"` // of a write that is refused, the highest token that the resource has seen
	Round    int    `json:"-"`           // the index of the first message of its round: see Run.gather
}

// A Fault is what went wrong.
type Fault struct {
	Event int    `json:"e"`
	Name  string `json:"w"`
	Said  Said   `json:"s"`

	client, node int           // that it strikes; 0: none
	jump         time.Duration // of a clock
}

// A Mark is a verdict at the event that completes it, with the time that it covers.
type Mark struct {
	Event   int          `json:"e"`
	From    int64        `json:"f"`
	To      int64        `json:"t"`
	Word    verdict.Word `json:"w"`
	Waiting []int        `json:"c,omitempty"` // the clients that want the lock, which nobody can get
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

// A SaidAt is a sentence of the story.
type SaidAt struct {
	When string `json:"t,omitempty"`
	Said Said   `json:"s"`
}

// A Said is a text by language. One that is the same in all is a string in JSON.
type Said map[string]string

// MarshalJSON implements json.Marshaler.
func (s Said) MarshalJSON() ([]byte, error) {
	var texts []string
	for _, lang := range text.Languages() {
		if t, ok := s[lang]; ok {
			texts = append(texts, t)
		}
	}
	if texts = slices.Compact(texts); len(texts) == 1 {
		return json.Marshal(texts[0])
	}
	return json.Marshal(map[string]string(s))
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Said) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) != nil {
		return json.Unmarshal(b, (*map[string]string)(s))
	}
	*s = Said{}
	for _, lang := range text.Languages() {
		(*s)[lang] = one
	}
	return nil
}

// A Book is runs, with the code that they share.
type Book struct {
	Listings []Listing       `json:"listings"`
	Runs     map[string]*Run `json:"runs"`
}

// Add adds a run under a name.
func (b *Book) Add(name string, r *Run, listings []Listing) {
	if b.Runs == nil {
		b.Runs = map[string]*Run{}
	}
	number := make([]int, len(listings))
	for i, one := range listings {
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

// RunOf returns a run with texts in some languages and, with words, story and commands; and the listings of its calls.
func RunOf(
	h *history.History, j verdict.Judgement, verdicts []verdict.Word, langs []string, words bool,
) (*Run, []Listing) {
	listings, calls := callsOf(h)
	r := &Run{
		Lock: h.Lock, Race: h.Race, Verdicts: append([]verdict.Word{}, verdicts...), Key: h.Key,
		ZooKeeper: h.ZooKeeper, Clients: h.Clients, Nodes: h.Nodes, Probe: h.Probe, TTL: micros(h.TTL),
		End: micros(h.End), At: []int64{},
		States: Moments(h), Messages: messages(h), Calls: calls, Skews: skews(h),
	}
	if h.Local {
		r.Nodes = 0
	}
	in := saying{}
	for _, lang := range langs {
		in = append(in, newWording(lang, h))
	}
	if len(h.Events) == 0 { // a picture of the beginning
		r.At, r.States = []int64{0}, []Moment{{State: StateOf(h)}}
	}
	last := int64(0)
	for i := range h.Events {
		e := &h.Events[i]
		at := micros(e.At)
		r.At, last = append(r.At, at-last), at
		// a session ends after a fault that silenced its client, or by a fault of its own; who gives up a write goes on
		gaveUp := e.Kind == history.Timeout && e.Node == history.Resource
		if e.Kind.Fault() || gaveUp || e.Kind == history.SessionEnd && r.Faults == nil {
			jump := map[bool]time.Duration{true: e.D}[e.Kind == history.ClockStep]
			said := in.say(func(v *wording) string { return v.struck(e, gaveUp) })
			r.fault(Fault{i, e.Name(), said, e.Client, e.Node, jump}, ServerName(h))
		}
	}
	for _, f := range j.Findings {
		r.Marks = append(r.Marks, Mark{
			Event: eventOf(f, h), From: micros(f.From), To: micros(f.To), Word: f.Verdict,
			Waiting: in[0].waiting(f), Said: in.say(func(v *wording) string { return v.mark(f) }),
		})
	}
	r.Rows = in.rows(h, j)
	r.fold()
	r.gather()
	r.Bands = append([]Band{}, r.bands()...)
	r.place()
	if words {
		r.Story, r.Commands = in.story(j), in.commands(j)
	}
	return r, listings
}

// struck says of a fault whom it strikes, or who gave up a write.
func (v *wording) struck(e *history.Event, gaveUp bool) string {
	s, who := &step{Event: *e}, clientName(e.Client)
	if gaveUp {
		sent := slices.IndexFunc(v.h.Events, func(one history.Event) bool { return one.Msg == e.Msg })
		waited := InWords(v.lang, e.At-v.h.Events[sent].At)
		return v.say("run.timeout", "client", who, "time", waited)
	}
	if v.h.Nodes > 1 && e.Node > 0 {
		who += "→" + nodeName(e.Node)
	}
	if lane := v.lane(s, ""); e.Client > 0 && lane != "" {
		return who + " " + lane
	}
	return cmp.Or(v.redis(s), e.Name())
}

// eventOf is the event that completes a finding, by its index.
func eventOf(f verdict.Finding, h *history.History) int { return min(max(f.Event, 0), len(h.Events)-1) }

// fault adds a fault. The clocks of a client and of a server that are set at one instant are that of one machine, and
// said once, of the server, which goes by its name where it is the only one, and of the client.
func (r *Run) fault(f Fault, server string) {
	for i := range r.Faults {
		before := &r.Faults[i]
		client, node := before, &f
		if before.client == 0 {
			client, node = &f, before
		}
		at := slices.Max(r.At[before.Event+1 : f.Event+1])
		if at == 0 && client.client > 0 && node.client == 0 && f.jump != 0 && f.jump == before.jump {
			if r.Nodes > 1 {
				server = nodeName(node.node)
			}
			for lang, said := range client.Said {
				client.Said[lang] = server + " + " + said
			}
			before.Said, before.client, before.node = client.Said, client.client, node.node
			return
		}
	}
	r.Faults = append(r.Faults, f)
}

// saying words a run in several languages.
type saying []*wording

// say returns a text in each language that has it; nil: none has.
func (in saying) say(of func(v *wording) string) (s Said) {
	for _, v := range in {
		if t := of(v); t != "" {
			if s == nil {
				s = Said{}
			}
			s[v.lang] = t
		}
	}
	return s
}

func (in saying) rows(h *history.History, j verdict.Judgement) []Row {
	all := []Row{}
	for _, l := range linesOf(h, withoutReloads(stepsOf(h, j))) {
		row := Row{Event: l.last.index, From: micros(l.from), To: micros(l.to),
			Servers: in.say(func(v *wording) string { return v.befell(&l) })}
		for c := range l.turns {
			row.Lanes = append(row.Lanes, in.say(func(v *wording) string { return v.lanesTurn(&l, c) }))
		}
		for m := range l.findings {
			row.Marks = append(row.Marks, in.say(func(v *wording) string { return v.mark(l.findings[m]) }))
		}
		all = append(all, row)
	}
	return all
}

func (in saying) story(j verdict.Judgement) (all []SaidAt) {
	for _, v := range in {
		for i, s := range Sentences(v.lang, v.h, j) {
			if i == len(all) {
				all = append(all, SaidAt{s.When, Said{}})
			}
			all[i].Said[v.lang] = s.Text
		}
	}
	return all
}

func (in saying) commands(j verdict.Judgement) Said {
	return in.say(func(v *wording) string {
		var b strings.Builder
		_ = RedisCLI(&b, v.h, j, Look{Lang: v.lang}) // writing to a string does not fail
		return b.String()
	})
}

func micros(d time.Duration) int64 {
	if d == history.Forever {
		return -1
	}
	return d.Microseconds()
}

// skews are, by client, the largest error of its clock; nil: all clocks are right.
func skews(h *history.History) []int64 {
	all := make([]int64, h.Clients)
	for i := range h.Events {
		if e := &h.Events[i]; e.Client > 0 && e.Client <= h.Clients {
			if skew := micros(e.Skew); max(skew, -skew) > max(all[e.Client-1], -all[e.Client-1]) {
				all[e.Client-1] = skew
			}
		}
	}
	if slices.Max(append(all, 0)) == 0 && slices.Min(append(all, 0)) == 0 {
		return nil
	}
	return all
}

// messages are those of a run, in the order in which they were sent.
func messages(h *history.History) []Message {
	all, known, news, newest := []Message{}, map[int]int{}, reloads(h), uint64(0)
	for i := range h.Events {
		e := &h.Events[i]
		if e.Msg == 0 {
			continue
		}
		n, ok := known[e.Msg]
		if !ok {
			n, known[e.Msg] = len(all), len(all)
			all = append(all, Message{ID: e.Msg, Sent: -1, Arrived: -1, Answered: -1, What: Command(e.Cmd, h.Key)})
		}
		m := &all[n]
		m.Node, m.Client = cmp.Or(m.Node, e.Node), cmp.Or(m.Client, e.Client)
		switch e.Kind {
		case history.Send:
			m.Sent = i
		case history.Apply, history.Reject, history.Push, history.Fire:
			m.Arrived, m.Reply = i, Reply(e.Reply)
		case history.Read, history.Write:
			m.Arrived, m.What = i, strings.ToUpper(e.Kind.String())
			if h.Guard == history.Fenced {
				m.Token = e.Token
			}
			if m.Reply = "v" + strconv.Itoa(e.Version); e.Kind == history.Write && !e.OK {
				m.Reply, m.Newest = "refused", newest
			}
			newest = max(newest, e.Token)
		case history.Answer:
			m.Answered = i
		case history.LoseRequest, history.LoseReply:
			m.Lost = true
		}
	}
	return slices.DeleteFunc(all, func(m Message) bool { return m.Client == 0 || m.Node == 0 || news[m.Answered] })
}
