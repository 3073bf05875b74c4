package redisnode

import (
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/alicebob/miniredis/v2/server"

	"locklab/simulator/history"
	"locklab/simulator/node"
	"locklab/simulator/resp"
)

// SUBSCRIBE, UNSUBSCRIBE and PUBLISH. A miniredis would leave messages to goroutines of its own, so this package
// answers them. They are as in Redis: a message goes to the connections that are subscribed at that moment, in the
// order of publication, and one without subscribers is lost (redis.io, develop/pubsub).
//
// A subscription is kept in the server's keyspace, under the connection's name, with the messages that its client has
// not taken yet: the server's output buffer. So a PUBLISH, also one in a script, concerns its server only, and that a
// message leaves for a client (Unblock) concerns that client and its server. A restart, a failover or a split breaks
// the connection, and what was in the buffer is lost with it. A client that is paused finds its messages when it goes
// on; one that stops waiting while a message is on its way finds that when it listens next.
//
// The simulation differs from Redis: a buffer holds maxInbox messages, and a world in which it would hold more ends
// with a LimitError; a Redis breaks the connection at some number of bytes (client-output-buffer-limit). The server
// does not notice that a client has died. Closing a connection that has subscribed takes a round trip, and channels of
// one command are taken in the order of their names. Patterns, shards, PUBSUB and PUBLISH in a transaction are refused.

type message struct{ channel, payload string }

// maxInbox is the number of messages that can wait for one connection.
const maxInbox = 128

// takeCommand is no command of Redis: with it a client takes the first message of its connection's buffer.
const takeCommand = "\x00take"

var takeWire = []byte(proto.Strings(takeCommand))

// takeText is how histories show it.
var takeText = []string{"MESSAGE"}

// markSubscribe finds out whether a batch concerns a subscription.
func (x *Executor) markSubscribe(b *batch) {
	others := 0
	for _, c := range b.commands {
		switch strings.ToUpper(c[0]) {
		case "SUBSCRIBE", "UNSUBSCRIBE":
			b.subscribe = true
		case strings.ToUpper(takeCommand):
			b.subscribe, b.text = true, takeText
		default:
			others++
		}
	}
	switch {
	case !b.subscribe || b.unfit != "":
	case others > 0:
		b.unfit = "SUBSCRIBE in one write with other commands"
	case b.on.name == "":
		b.unfit = "the command " + b.text[0]
	}
	x.listens = x.listens || b.subscribe
}

// subscribe runs a batch about a subscription. It reads and changes only what its server keeps of the connection.
func (x *Executor) subscribe(from uint32, b *batch) *Effect {
	s := x.keyspaces.At(from)
	own := connection{name: b.on.name}
	if was := s.conn(own.name); was != nil {
		own = *was
	}
	conns := slices.DeleteFunc(slices.Clone(s.conns), func(c connection) bool { return c.name == own.name })
	var resp strings.Builder
	for _, c := range b.commands {
		own = own.after(c, &resp)
	}
	if !own.idle() {
		conns = append(conns, own)
	}
	kept := keyspace{keys: s.keys, scripts: s.scripts, conns: conns}
	eff := &Effect{To: x.keyspaces.ID(kept.sorted()), Reply: x.internReply(resp.String())}
	for i := range x.keyspaces.At(eff.To).ttls {
		eff.Lives = append(eff.Lives, Lifetime{Keep: i})
	}
	return eff
}

// after returns the connection as one command leaves it; resp gets the answer.
func (s connection) after(command []string, resp *strings.Builder) connection {
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
		resp.WriteString(proto.Array(proto.String(name), proto.String(c), proto.Int(len(s.channels))))
	}
	return s
}

// tell writes the first n messages of the buffer.
func (s *connection) tell(resp *strings.Builder, n int) {
	for _, m := range s.inbox[:n] {
		resp.WriteString(proto.Strings("message", m.channel, m.payload))
	}
}

// publish answers PUBLISH: how many connections get the message; false: no such form, and miniredis knows the error.
func (e *engine) publish(peer *server.Peer, args []string) bool {
	if len(args) != 2 {
		return false
	}
	e.published = append(e.published, message{args[0], args[1]})
	n := 0
	for i := range e.conns {
		if slices.Contains(e.conns[i].channels, args[0]) {
			n++
		}
	}
	peer.WriteInt(n)
	return true
}

// deliver gives the connections what has been published in this call, and reports whether there is room for it.
func (e *engine) deliver(conns []connection) (fits bool) {
	fits = true
	for i := range conns {
		c := &conns[i]
		for _, m := range e.published {
			if slices.Contains(c.channels, m.channel) {
				c.inbox = append(slices.Clip(c.inbox), m)
			}
		}
		fits = fits && len(c.inbox) <= maxInbox
	}
	return fits
}

// subscription returns what the side that the client reaches keeps of the connection; nil: nothing. ready reports
// whether there is something to send: a message, or that its server does not know the connection any more.
func (r request) subscription() (ready bool, s *connection) {
	if reachedBy(r.c, r.at.State) != serving {
		return false, nil
	}
	s = r.at.x.keys(r.at.side(r.c).data).conn(r.batch().on.name)
	return s == nil || len(s.inbox) > 0, s
}

// push sends a listening thread the first of its messages, or breaks its connection if its server does not know it.
func (r request) push() error {
	ready, known := r.subscription()
	switch {
	case !ready:
		return node.Refuse("refused.subscriber")
	case known == nil:
		r.th.Answer(node.LostConn)
		return nil
	}
	d := r.at.side(r.c)
	_, answer, err := d.execute(r.c, r.msg, r.op.Arg)
	if err != nil {
		return err
	}
	e := d.emit(history.Push, r.c)
	e.Thread, e.Msg = int(r.thread), int(r.msg)
	e.Cmd, e.Reply = takeText, r.at.x.replies.At(answer).text
	r.th.Answer(answer)
	return nil
}

// Real is real servers that execute whatever the servers of a Kind execute, request by request. What they answer is
// what the clients hear; what the lab answers is only compared. An answer is in RESP. Errors of the connection to them
// are their own business: they return the lab's answer then.
type Real interface {
	// Execute has a server execute a request. lab is the lab's answer, which has as many values as the real one.
	Execute(r Request, lab string) (answer string)
	// Wait sends a WAIT, whose answer comes later.
	Wait(r Request)
	// Waited is the answer to the WAIT that was sent as message msg.
	Waited(msg uint32, lab string) (answer string)
}

// A Request is what reaches a server.
type Request struct {
	Client int8   // from 1; 0: no client sent it
	Server int    // as histories number it
	Msg    uint32 // its number in the history
	// Conn names the message's connection, if the server keeps something of that; "": any free one of the client.
	Conn     string
	Commands [][]string // what was written at once; nil: the client reads what the server has sent
	behind   copySet    // of a WAIT: the replicas that lack something
}

// ReplicaBehind reports whether a replica, from 0, lacks something when a WAIT begins.
func (r *Request) ReplicaBehind(replica int) bool { return r.behind>>replica&1 != 0 }

// execute runs a batch on the side, as message msg of a client; 0: of none. The answer is the real server's, if any.
func (d side) execute(client int8, msg, batch uint32) (eff *Effect, answer uint32, err error) {
	x, real := d.of.x, d.of.kind.Real
	if eff, err = x.apply(d.data, d.of.reading(), batch); err != nil {
		return nil, 0, err
	}
	if real == nil {
		return eff, eff.Reply, nil
	}
	b := x.batches.At(batch &^ refuseWrites)
	r := Request{Client: client, Server: d.number, Msg: msg, Conn: b.on.name, Commands: b.commands}
	if len(r.Commands) == 1 && r.Commands[0][0] == takeCommand {
		r.Commands = nil
	}
	return eff, x.internReply(real.Execute(r, x.replies.At(eff.Reply).resp)), nil
}

// Values returns the number of RESP values of an answer.
func Values(answer string) int {
	values, _ := resp.All(answer)
	return len(values)
}
