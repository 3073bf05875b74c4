package dense

import (
	"bufio"
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"locklab/simulator/history"
)

// epoch is what a right clock shows at the start of a run.
var epoch = time.UnixMilli(1_000_000_000_000).UTC()

// leapYear begins the years of which dates are drawn.
var leapYear = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// A store is a miniredis that all runs use in turn.
type store struct {
	m   *miniredis.Miniredis
	out bytes.Buffer
	own *server.Peer // its own connection

	memories map[string]*memory // see eval
	bySHA    bool               // scripts are called by their names, too
	looks    bool               // a script has looked at more than the content
	askedTTL string             // … or at what this key has still to live
	did      [][]string         // … and what it has called
	turn     int                // counts the scripts
}

func newStore(t testing.TB) *store {
	t.Helper()
	s := &store{m: miniredis.NewMiniRedis(), memories: map[string]*memory{}}
	conn, err := s.m.Dial() // starts it without a listener
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	t.Cleanup(s.m.Close)
	s.m.SetTime(epoch)
	s.m.ClockTTL(true)
	s.m.Server().SetPreHook(func(_ *server.Peer, command string, args ...string) bool {
		s.watch(command, args)
		return false
	})
	s.own = s.peer()
	return s
}

func (s *store) peer() *server.Peer { return server.NewPeer(bufio.NewWriterSize(&s.out, 256)) }

// empty makes it a new server whose clock shows a date.
func (s *store) empty(date time.Time) {
	s.m.SetTime(date)
	s.wipe()
}

// wipe loses all data.
func (s *store) wipe() {
	s.m.FlushAll()
	s.run(s.own, "SCRIPT", "FLUSH")
}

// run executes a command and returns the reply as it is sent.
func (s *store) run(peer *server.Peer, args ...string) string {
	s.out.Reset()
	s.did, s.looks, s.askedTTL = nil, false, ""
	s.m.Server().Dispatch(peer, known(args))
	peer.Flush()
	return s.out.String()
}

// known is a command that miniredis knows: of those that it does not, DELIFEQ key value, DELEX key IFEQ value, and
// SET key value IFEQ old PX ms, a script that does the same.
func known(args []string) []string {
	const (
		is  = `if redis.call("GET", KEYS[1]) ~= ARGV[1] then return false end `
		del = is + `return redis.call("DEL", KEYS[1])`
		set = is + `return redis.call("SET", KEYS[1], ARGV[2], "PX", ARGV[3])`
	)
	switch name := strings.ToUpper(args[0]); {
	case name == "DELIFEQ", name == "DELEX":
		return []string{"EVAL", strings.Replace(del, "false", "0", 1), "1", args[1], args[len(args)-1]}
	case name == "SET" && len(args) == 7 && args[3] == "IFEQ":
		return []string{"EVAL", set, "1", args[1], args[4], args[2], args[6]}
	}
	return args
}

// value is the key's value as text, "" if there is none, and what it has still to live.
func (s *store) value() (text string, left time.Duration) {
	switch s.m.Type(key) {
	case "":
		return "", 0
	case "string":
		text, _ = s.m.Get(key)
		text = "=" + text // may be empty
	case "hash":
		fields, _ := s.m.HKeys(key)
		slices.Sort(fields)
		for _, f := range fields {
			text += f + "=" + s.m.HGet(key, f) + " "
		}
	case "list":
		items, _ := s.m.List(key)
		text = strings.Join(items, " ")
	default:
		text = s.m.Dump()
	}
	return text, s.m.TTL(key)
}

// A node is a server in one run.
type node struct {
	w     *world
	n     int // from 1
	store *store
	ahead time.Duration // its clock, of true time
	hung  bool
	down  bool
	lives int        // how often it has crashed
	queue []*message // what arrived while it hung

	value string // of the key, as it was seen last
	until time.Duration
	turn  int // counts the changes
	log   []executed
}

// An executed is a command that a server has executed.
type executed struct {
	at   time.Duration
	peer *server.Peer
	args []string
}

// tick has its clock show the present.
func (n *node) tick() { n.show(n.w.now) }

func (n *node) show(now time.Duration) { n.store.m.SetTime(n.w.date.Add(now + n.ahead)) }

// execute executes the commands of a request.
func (n *node) execute(m *message) (reply string) {
	n.tick()
	n.w.record(history.Event{Kind: history.Apply, Client: m.from.p.id, Lease: m.lease, Node: n.n, Cmd: m.commands[0]})
	for _, args := range m.commands {
		// Replicas have all at once: none of the faults here loses a server to one.
		if strings.EqualFold(args[0], "WAIT") {
			reply += ":" + args[1] + "\r\n"
			continue
		}
		s := n.store
		s.bySHA = s.bySHA || strings.EqualFold(args[0], "EVALSHA")
		if strings.EqualFold(args[0], "EVAL") && !s.bySHA && !n.w.drawn {
			reply += s.eval(m.peer, args)
		} else {
			reply += s.run(m.peer, args...)
		}
		n.log = append(n.log, executed{n.w.now, m.peer, args})
	}
	n.look(m.from.p.id, m.lease)
	return reply
}

// look records what has become of the key by the doing of a client, 0: of nobody.
func (n *node) look(client, lease int) {
	n.tick()
	for _, k := range n.store.m.Keys() {
		if n.store.m.TTL(k) < 0 { // set with a deadline in the past
			n.store.m.Del(k)
		}
	}
	value, left := n.store.value()
	until := history.Forever
	if left > 0 {
		until = n.w.now + left
	}
	if value == "" {
		until = 0
	}
	if value == n.value && until == n.until {
		return
	}
	n.w.record(history.Event{Kind: history.Change, Client: client, Lease: lease, Node: n.n, Key: key, Before: n.value,
		After: value, Until: until})
	n.hold(value, until)
}

// hold remembers the key, and has it end.
func (n *node) hold(value string, until time.Duration) {
	n.value, n.until = value, until
	n.turn++
	if turn := n.turn; value != "" && until != history.Forever {
		n.w.at(until, func() {
			if turn == n.turn {
				n.tick()
				n.w.record(history.Event{Kind: history.Expire, Node: n.n, Key: key, Before: n.value})
				n.hold("", 0)
			}
		}).first = true
	}
}

// jump moves its clock, and with it the end of every key.
func (n *node) jump(d time.Duration) {
	n.tick()
	for _, k := range n.store.m.Keys() { // miniredis does so for a jump forward only
		if left := n.store.m.TTL(k); left > 0 && d < 0 {
			n.store.m.SetTTL(k, left-d)
		}
	}
	n.ahead += d
	n.look(0, 0)
}

// parse reads the commands of a request.
func parse(raw string) (commands [][]string) {
	number := func() int {
		line, rest, _ := strings.Cut(raw[1:], "\r\n")
		raw = rest
		n, err := strconv.Atoi(line)
		if err != nil {
			panic("not a request: " + line)
		}
		return n
	}
	for raw != "" {
		args := make([]string, number())
		for i := range args {
			n := number()
			args[i], raw = raw[:n], raw[n+2:]
		}
		commands = append(commands, args)
	}
	return commands
}
