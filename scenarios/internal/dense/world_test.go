package dense

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/server"

	"locklab/simulator/history"
)

// A world is one run on servers of Redis.
type world struct {
	*limits
	sampler
	now       time.Duration
	date      time.Time // that a right clock shows at the start
	queue     []*event
	servers   []*node
	processes []*process
	messages  []*message // on their way, or at a server
	running   *thread

	hazard   int // of so many chances to strike a fault takes one
	left     []int
	strikes  int
	versions int           // of the resource: its accepted writes
	barred   bool          // the probe was refused for good
	waits    time.Duration // since when a client could have a connection again, or news; see choose

	events []history.Event
	paid   []int     // strikes before each of them
	told   *[]string // what happened, in words; nil: nobody listens
}

// An event is something that happens at an instant. Of the events of one instant any may
// come first, but a key that ends then is gone.
type event struct {
	at    time.Duration
	first bool
	tie   uint32
	do    func()
	off   bool // it does not happen
}

func (e *event) before(o *event) bool {
	switch {
	case e.at != o.at:
		return e.at < o.at
	case e.first != o.first:
		return e.first
	}
	return e.tie < o.tie
}

func (w *world) at(at time.Duration, do func()) *event {
	e := &event{at: at, tie: w.Uint32(), do: do}
	w.queue = append(w.queue, e)
	return e
}

// take removes the first event.
func (w *world) take() *event {
	first, last := 0, len(w.queue)-1
	for i, e := range w.queue {
		if e.before(w.queue[first]) {
			first = i
		}
	}
	e := w.queue[first]
	w.queue[first] = w.queue[last]
	w.queue = w.queue[:last]
	return e
}

func (w *world) record(e history.Event) {
	e.At = w.now
	w.events = append(w.events, e)
	w.paid = append(w.paid, w.strikes)
	if w.told != nil {
		w.tell("%s", words(&e))
	}
}

// tell says in words what happened, to somebody who listens.
func (w *world) tell(format string, args ...any) {
	if w.told != nil {
		*w.told = append(*w.told, fmt.Sprintf("%14s  %s", fmt.Sprintf("%.6f s", w.now.Seconds()),
			fmt.Sprintf(format, args...)))
	}
}

// A message is a request and the reply to it.
type message struct {
	from     *thread
	lease    int
	node     int               // 0: the resource
	resource history.EventKind // Read or Write
	version  int               // that was read
	peer     *server.Peer
	commands [][]string

	turn   *turn
	stage  stage
	due    *event
	latest time.Duration
	reply  string
	err    error
}

// stage is where a message is.
type stage uint8

const (
	unsent stage = iota
	asking
	atServer
	answering
	gone // lost, or arrived
)

// post sends a message of a thread, unless a fault strikes first.
func (w *world) post(m *message) {
	w.messages = append(slices.DeleteFunc(w.messages, func(m *message) bool { return m.stage == gone }), m)
	m.from.p.asking++
	w.strike(m)
	m.from.deliver(func() { w.send(m) })
}

func (w *world) latencyOf(m *message) time.Duration {
	if m.node == 0 || m.from.p.near {
		return 0
	}
	return w.latency
}

func (w *world) send(m *message) {
	w.tell("c%d sends %v", m.from.p.id, m)
	m.stage = asking
	m.from.later(w.patience, w.lateness, func() { w.giveUp(m) })
	w.travel(m, func() { w.arrive(m) })
}

// travel has a message arrive within the latency from now on.
func (w *world) travel(m *message, arrive func()) {
	m.latest = w.now + w.latencyOf(m)
	m.due = w.at(w.now+w.upTo(w.latencyOf(m)), arrive)
}

// arrive is a request at its server.
func (w *world) arrive(m *message) {
	if m.node == 0 {
		w.serve(m)
		return
	}
	n := w.servers[m.node-1]
	switch {
	case n.down:
		w.snap(m)
	case n.hung:
		m.stage = atServer
		n.queue = append(n.queue, m)
	default:
		m.reply = n.execute(m)
		w.answer(m)
	}
}

// serve is a request at the resource, which accepts all.
func (w *world) serve(m *message) {
	e := history.Event{Kind: m.resource, Client: m.from.p.id, Lease: m.lease, Node: history.Resource, OK: true}
	if m.resource == history.Write {
		w.versions++
		e.Base = m.version
	}
	m.version = w.versions
	e.Version = w.versions
	w.record(e)
	w.answer(m)
}

// answer sends a reply.
func (w *world) answer(m *message) {
	m.stage = answering
	w.travel(m, func() { w.hear(m, nil) })
}

// snap breaks the connection of a message, which its sender learns within the latency.
func (w *world) snap(m *message) {
	m.stage = answering
	w.travel(m, func() { w.hear(m, errBroken) })
}

// hear ends the wait for an answer.
func (w *world) hear(m *message, err error) {
	m.stage = gone
	m.from.deliver(func() {
		if !m.turn.over {
			w.tell("c%d has the answer to %v: %q %v", m.from.p.id, m, m.reply, err)
			m.from.p.asking--
			m.err = err
			m.turn.wake()
		}
	})
}

// giveUp is a client that has waited for long enough.
func (w *world) giveUp(m *message) {
	if !m.turn.over {
		w.tell("c%d waits no longer for %v", m.from.p.id, m)
		if m.stage == answering {
			m.due.off, m.stage = true, gone
		}
		m.from.p.asking--
		m.err = errSilence
		m.turn.wake()
	}
}

// String is the message's first command.
func (m *message) String() string {
	if m.node == 0 {
		return m.resource.String()
	}
	return fmt.Sprintf("n%d %s", m.node, brief(m.commands[0]))
}

func brief(command []string) string {
	text := strings.Join(command, " ")
	if len(command) > 3 && strings.HasPrefix(strings.ToUpper(command[0]), "EVAL") {
		text = command[0] + " … " + strings.Join(command[2:], " ")
	}
	return strings.Join(strings.Fields(text), " ")
}

// quiet says whether all clients have ended, nothing is under way and every server runs.
func (w *world) quiet() bool {
	for _, p := range w.processes {
		if p.dead {
			continue
		}
		if !p.done || p.paused || p.asking > 0 ||
			slices.ContainsFunc(p.threads, func(t *thread) bool { return t.paused }) {
			return false
		}
	}
	for _, m := range w.messages {
		if m.stage != gone {
			return false
		}
	}
	for _, n := range w.servers {
		if n.hung || n.down {
			return false
		}
	}
	return true
}

// A bed is what the runs of one lock share: stores and clients of go-redis.
type bed struct {
	stores    []*store
	libraries []*library // one a client, and the probe
	last      *world     // the run before, which is judged: its memory is used again
}

func newBed(t testing.TB, clients, nodes int) *bed {
	b := &bed{}
	for range nodes {
		b.stores = append(b.stores, newStore(t))
	}
	for range clients + 1 {
		l := newLibrary(nodes)
		b.libraries = append(b.libraries, l)
		t.Cleanup(func() {
			for _, c := range l.clients {
				c.Close()
			}
		})
	}
	return b
}

// play makes one run. It is good until the next.
func (b *bed) play(l *limits, seed, number uint64, told *[]string) *world {
	w := &world{limits: l, sampler: sampler{rand.New(rand.NewPCG(seed, number)), l.lockstep}, told: told, date: epoch}
	if l.drawn {
		w.date = leapYear.Add(time.Duration(w.Int64N(int64(4 * 365 * 24 * time.Hour))))
	}
	if b.last != nil {
		w.events, w.paid, w.queue = b.last.events[:0], b.last.paid[:0], b.last.queue[:0]
	}
	b.last = w
	w.hazard = []int{2, 5, 12, 30}[w.IntN(4)] * max(1, l.clients*l.attempts/8)
	for _, a := range l.budget {
		w.left = append(w.left, a.times)
	}
	for i, s := range b.stores[:l.nodes] {
		s.empty(w.date)
		w.servers = append(w.servers, &node{w: w, n: i + 1, store: s})
	}
	for i := range l.clients {
		p := w.process(b.libraries[i], i+1)
		t := p.spawn(0, p.program, nil)
		w.at(0, func() { t.deliver(t.step) })
	}
	probe, asks := (*process)(nil), w.IntN(3) > 0 // it takes much of a run's time
	for range 8 {                                 // instants at which nothing happens but a fault
		w.at(w.upTo(4*w.ttl), func() {})
	}
	for range max(maxEvents, 40*l.clients*l.attempts) {
		switch {
		case probe == nil && w.quiet():
			if !asks {
				w.end()
				return w
			}
			w.left = nil
			probe = w.process(b.libraries[len(b.libraries)-1], l.clients+1)
			probe.near = true
			t := probe.spawn(0, probe.probe, func() { probe.done = true })
			t.step()
		case probe != nil && probe.done, len(w.queue) == 0:
			w.end()
			return w
		}
		w.strike(nil)
		if len(w.queue) == 0 {
			continue
		}
		if e := w.take(); !e.off {
			w.now = e.at
			e.do()
		}
	}
	w.end()
	return w
}

// maxEvents bounds a run: a daemon may go on for ever.
const maxEvents = 3000

func (w *world) process(l *library, id int) *process {
	p := &process{w: w, id: id}
	l.w = w
	w.processes = append(w.processes, p)
	t := p.spawn(0, func(*thread) {}, nil) // for a lock that waits while it is made
	w.running = t
	p.lock = w.entry.New(p.env(l))
	w.running = nil
	return p
}

// end unwinds all threads.
func (w *world) end() {
	for _, p := range w.processes {
		for _, t := range p.threads {
			t.torn = true
			w.running = t
			t.stop()
		}
	}
}

// words are all that an event says.
func words(e *history.Event) string {
	return fmt.Sprintf("c%d.%d %v n%d %q %q -> %q until %v, version %d base %d ok %t %s",
		e.Client, e.Lease, e.Kind, e.Node, e.Cmd, e.Before, e.After, e.Until, e.Version, e.Base, e.OK, e.Note)
}
