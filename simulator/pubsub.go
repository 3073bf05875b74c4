package simulator

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/alicebob/miniredis/v2/server"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/table"
)

// SUBSCRIBE, UNSUBSCRIBE and PUBLISH. The lab answers them, since who is connected
// and what is under way is the lab's: a miniredis would leave messages to
// goroutines of its own. They are as in Redis: a message goes to who is subscribed
// at that moment, in the order of publication, and one that nobody hears is lost
// for ever (redis.io, develop/pubsub).
//
// A subscription is kept in the server's shape, under the connection's name, with
// the messages that its client has not taken yet: the server's output buffer. So a
// PUBLISH, also one in a script, concerns its server only, and that a message leaves
// for a client (Unblock) concerns that client and its server. A restart, a failover
// or a split breaks the connection, and what was in the buffer is lost with it; a
// client that stands still finds its messages when it goes on, and one whose time is
// over while a message is on its way finds that when it listens next.
//
// Ours differs: a buffer holds maxInbox messages, and a world in which it would hold
// more ends with a LimitError; a Redis breaks the connection at some number of bytes
// (client-output-buffer-limit). That a client has died its server learns in no other way. Closing a connection that
// listens takes a round trip, and channels of one command are taken in the order of
// their names. Patterns, shards, PUBSUB and PUBLISH in a transaction
// are refused.

// sub is one connection that listens.
type sub struct {
	conn     string // its name: see watcherName
	channels []string
	inbox    []message // what its client has not taken yet, the oldest first
}

type message struct{ channel, payload string }

// maxInbox is how many messages wait for one connection.
const maxInbox = 128

// text is for the id of a shape. That of a watch begins otherwise.
func (s *sub) text() string { return fmt.Sprintf("sub %q %q %q", s.conn, s.channels, s.inbox) }

// listened is s with these connections that listen.
func (s keyspace) listened(subs []sub) keyspace {
	if len(subs) == 0 {
		return s
	}
	slices.SortFunc(subs, func(a, b sub) int { return strings.Compare(a.conn, b.conn) })
	s.subs = subs
	id := []byte(s.id)
	for i := range subs {
		id = table.AppendText(id, subs[i].text())
	}
	s.id = string(id)
	return s
}

// sub is what the server keeps of a connection that listens; nil: nothing.
func (s *keyspace) sub(conn string) *sub {
	if i := slices.IndexFunc(s.subs, func(u sub) bool { return u.conn == conn }); i >= 0 {
		return &s.subs[i]
	}
	return nil
}

// takeCommand stands for no command: it is a batch by which a client takes the
// first message of its connection's buffer.
const takeCommand = "\x00take"

var takeWire = []byte(proto.Strings(takeCommand))

// takeText is how histories show it.
var takeText = []string{"MESSAGE"}

// about finds out whether a batch is about a subscription.
func (t *redisTable) about(b *batch) {
	others := 0
	for _, c := range b.commands {
		switch strings.ToUpper(c[0]) {
		case "SUBSCRIBE", "UNSUBSCRIBE":
			b.about = true
		case strings.ToUpper(takeCommand):
			b.about, b.text = true, takeText
		default:
			others++
		}
	}
	switch {
	case !b.about || b.unfit != "":
	case others > 0:
		b.unfit = "SUBSCRIBE in one write with other commands"
	case b.link.conn == "":
		b.unfit = "the command " + b.text[0]
	}
	t.listens = t.listens || b.about
}

// listen runs a batch that is about a subscription. It reads and changes nothing
// but what its server keeps of the connection.
func (t *redisTable) listen(from uint32, b *batch) *effect {
	s := &t.shapes[from]
	subs := slices.Clone(s.subs)
	own := sub{conn: b.link.conn}
	if i := slices.IndexFunc(subs, func(u sub) bool { return u.conn == own.conn }); i >= 0 {
		own = subs[i]
		subs = slices.Delete(subs, i, i+1)
	}
	var resp strings.Builder
	for _, c := range b.commands {
		own = own.after(c, &resp)
	}
	if len(own.channels) > 0 {
		subs = append(subs, own)
	}
	kept := newKeyspace(slices.Clone(s.keys), s.scripts, s.watches...)
	eff := &effect{to: t.internShape(kept.listened(subs)), reply: t.internReply(resp.String())}
	for i := range eff.lives {
		eff.lives[i].keep = int8(i)
	}
	return eff
}

// after is what becomes of a connection by one command, and what it is told.
func (s sub) after(command []string, resp *strings.Builder) sub {
	name := strings.ToLower(command[0])
	if name == takeCommand {
		s.tell(resp, 1)
		s.inbox = slices.Clone(s.inbox[1:])
		return s
	}
	channels := command[1:]
	switch {
	case name == "subscribe" && len(channels) == 0:
		resp.WriteString("-ERR wrong number of arguments for 'subscribe' command\r\n")
		return s
	case len(channels) == 0:
		channels = s.channels
	}
	s.tell(resp, len(s.inbox)) // they were there before the answer
	s.inbox = nil
	if len(channels) == 0 {
		resp.WriteString("*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0\r\n")
	}
	for _, c := range channels {
		s.channels = slices.DeleteFunc(slices.Clone(s.channels), func(have string) bool { return have == c })
		if name == "subscribe" {
			s.channels = append(s.channels, c)
			slices.Sort(s.channels)
		}
		resp.WriteString("*3\r\n" + bulk(name) + bulk(c) + ":" + strconv.Itoa(len(s.channels)) + "\r\n")
	}
	return s
}

// tell writes the first n messages of the buffer.
func (s *sub) tell(resp *strings.Builder, n int) {
	for _, m := range s.inbox[:n] {
		resp.WriteString(proto.Strings("message", m.channel, m.payload))
	}
}

// pushText is replyText, but of a message its payload, and of a confirmation the
// number of channels.
func pushText(resp string) string {
	text := replyText(resp)
	if n, err := frame(resp); err != nil || n != len(resp) || !strings.HasPrefix(resp, "*3\r\n") {
		return text
	}
	for _, kind := range []string{"message", "subscribe", "unsubscribe"} {
		if strings.HasPrefix(resp[len("*3\r\n"):], bulk(kind)) {
			rest := resp[len("*3\r\n"):]
			for range 2 { // the kind, the channel
				n, _ := frame(rest)
				rest = rest[n:]
			}
			return valueText(rest)
		}
	}
	return text
}

func bulk(s string) string { return "$" + strconv.Itoa(len(s)) + "\r\n" + s + "\r\n" }

// publish answers PUBLISH with how many connections get the message; false: it has
// no such form, and miniredis knows the error.
func (e *engine) publish(peer *server.Peer, args []string) bool {
	if len(args) != 2 {
		return false
	}
	e.published = append(e.published, message{args[0], args[1]})
	n := 0
	for i := range e.subs {
		if slices.Contains(e.subs[i].channels, args[0]) {
			n++
		}
	}
	peer.WriteInt(n)
	return true
}

// delivered is what the connections that listen have in their buffers after what
// has been published in this call.
func (e *engine) delivered() []sub {
	if len(e.published) == 0 {
		return e.subs
	}
	var subs []sub
	for _, s := range e.subs {
		s.inbox = slices.Clone(s.inbox)
		for _, m := range e.published {
			if slices.Contains(s.channels, m.channel) {
				s.inbox = append(s.inbox, m)
			}
		}
		if len(s.inbox) > maxInbox {
			e.full = true
		}
		subs = append(subs, s)
	}
	return subs
}

// renamed is a connection that listens with the clients renamed in it.
func (s *sub) renamed(to *Names) sub {
	r := sub{conn: renameText(s.conn, to)}
	for _, c := range s.channels {
		r.channels = append(r.channels, renameText(c, to))
	}
	slices.Sort(r.channels)
	for _, m := range s.inbox {
		r.inbox = append(r.inbox, message{renameText(m.channel, to), renameText(m.payload, to)})
	}
	return r
}

// mayTell says whether client c's thread, which listens, is to be told something: a
// message waits for it, or its server does not know its connection any more.
func (l *Simulator) mayTell(w *World, c, thread int8) bool {
	o := l.op(w, Choice{Client: c, Thread: thread})
	if w.nodes[o.node-1].outage(c) != serving {
		return false
	}
	data, _ := l.side(w, int(o.node-1), c)
	s := l.table.shapes[data.shape].sub(l.table.batches[o.batch].link.conn)
	return s == nil || len(s.inbox) > 0
}

// tellings appends what the threads of client c that listen are to be told.
func (l *Simulator) tellings(w *World, c int8, buf []Choice) []Choice {
	for t := range w.procs[c-1].threads {
		if w.procs[c-1].threads[t].phase == listening && l.mayTell(w, c, int8(t)) {
			buf = append(buf, Choice{Verb: Unblock, Client: c, Thread: int8(t)})
		}
	}
	return buf
}

// push sends a thread that listens the first of its messages, or breaks its
// connection where its server does not know that.
func (l *Simulator) push(w *World, c Choice, th *threadState) error {
	if !l.mayTell(w, c.Client, c.Thread) {
		return l.refuse(w, c, "no message waits for this thread")
	}
	o := l.op(w, c)
	data, number := l.side(w, int(o.node-1), c.Client)
	if l.table.shapes[data.shape].sub(l.table.batches[o.batch].link.conn) == nil {
		th.answer(lostConn)
		return nil
	}
	eff, err := l.table.apply(data, w.nodes[o.node-1].clock.Read(w.now), o.batch)
	if err != nil {
		return err
	}
	e := l.emit(w, history.Push)
	e.Client, e.Thread, e.Node, e.Msg = int(c.Client), int(c.Thread), number, int(th.msg)
	e.Cmd, e.Reply = takeText, l.table.replies[eff.reply].text
	th.answer(eff.reply)
	return nil
}

// MayTell says whether the thread of client c that listens can be told something by
// the server that it listens to, n.
func (l *Simulator) MayTell(c int, client *ClientPart, n int, node *NodePart, now time.Duration, thread int) bool {
	w := l.At(now)
	w.SetClientPart(c, client)
	l.SetNodePart(&w, n, node)
	return l.mayTell(&w, int8(c), int8(thread))
}

// Listens appends the choices by which client c's threads that listen would be
// told something, if there is anything.
func (p *ClientPart) Listens(c int, buf []Choice) []Choice {
	for t := range p.s.threads {
		if !p.s.dead && p.s.threads[t].phase == listening {
			buf = append(buf, Choice{Verb: Unblock, Client: int8(c), Thread: int8(t)})
		}
	}
	return buf
}

// What a connection of a client does.

var errMachineClock = errors.New("simulator: a read deadline by the machine's clock, which is nobody's in the lab: give the context a deadline by the client's own")

// SetReadDeadline bounds how long the connection listens for a message. Requests
// are bounded by Setup.Timeout.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.deadline = t
	return nil
}

// hear waits for a message.
func (c *conn) hear() error {
	if len(c.channels) == 0 {
		return errors.New("simulator: a read without a request: the lab pushes nothing to who has not subscribed")
	}
	d := clock.Never
	switch {
	case c.deadline.IsZero():
	case c.deadline.Location() != time.UTC: // as all times of the lab are, and none of the machine's
		return errMachineClock
	default:
		d = max(c.deadline.Sub(Clock{c.p}.Now()), 0) // by the client's own clock
	}
	id, err := c.p.sim.table.internBatch(link{watcherName(c.p.id, c.watcher), true}, takeWire)
	if err != nil {
		return err
	}
	s, ok := c.p.ask(op{kind: opListen, node: c.node, batch: id, d: d})
	if !ok {
		return net.ErrClosed
	}
	c.in = c.p.sim.table.replies[s.val].resp // also when the time is over: see giveUp
	return c.lost(s)
}

// lost is the error of an observation that is no reply. A connection that is gone
// listens no more.
func (c *conn) lost(s observation) error {
	if s.kind == broken {
		c.channels = nil
	}
	return s.err("read")
}

// subscribe keeps account of what the connection listens to, and brings channels
// into one order: go-redis keeps them in a map, and subscribes in whatever order it
// finds them in when it has to dial anew.
func (c *conn) subscribe(out []byte) []byte {
	commands, err := parseBatch(string(out))
	if err != nil {
		return out
	}
	for _, command := range commands {
		switch channels := command[1:]; strings.ToUpper(command[0]) {
		case "SUBSCRIBE":
			slices.Sort(channels)
			c.channels = slices.Concat(c.channels, channels)
		case "UNSUBSCRIBE":
			slices.Sort(channels)
			c.channels = slices.DeleteFunc(slices.Clone(c.channels), func(have string) bool {
				return len(channels) == 0 || slices.Contains(channels, have)
			})
		}
	}
	return writeBatch(commands)
}

// Close tells the server, if the connection listens.
func (c *conn) Close() error {
	if l := c.p.live; len(c.channels) == 0 || l == nil || l.dead {
		return nil
	}
	c.out = append(c.out[:0], proto.Strings("UNSUBSCRIBE")...)
	return c.exchange()
}
