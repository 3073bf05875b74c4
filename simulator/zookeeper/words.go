package zookeeper

import (
	"fmt"
	"slices"
	"strings"

	"locklab/simulator/internal/jute"
	"locklab/simulator/process"
)

// Requests that a [Session] does not send.
const (
	opSetWatches = Op(jute.SetWatches) // the client hands in the watches that it waits for
	opClose      = Op(jute.Close)      // the session ends
	opConnect    = Op(-64)             // not so in the protocol: the session goes on, on this connection
	opHangUp     = Op(-65)             // not sent: the connection ends, and the session goes on
	opListen     = Op(-66)             // not sent: the client waits for news
)

// wireRequest is a request that a client has sent; on a connection, if code opens them.
type wireRequest struct {
	Request
	on     wireRef
	memory uint32 // opSetWatches
}

// storedRequest is one that a client has sent.
type storedRequest struct {
	wireRequest
	text []string `codec:"derived"` // as histories show it
}

// worded is r with its text.
func (x *Executor) worded(r storedRequest) storedRequest {
	r.text = r.Text()
	if r.Op == opSetWatches {
		for _, w := range x.memories.At(r.memory).watches {
			r.text = append(r.text, w.Path)
		}
	}
	return r
}

// internRequest numbers a request.
func (x *Executor) internRequest(r wireRequest) uint32 {
	return x.requests.ID(storedRequest{wireRequest: r})
}

// Text is the request as histories show it, in the words of the API.
func (r Request) Text() []string {
	text := []string{map[Op]string{
		Ping: "PING", Create: "CREATE", Delete: "DELETE", Exists: "EXISTS", GetData: "GETDATA",
		SetData: "SETDATA", GetChildren: "GETCHILDREN", Sync: "SYNC",
		opConnect: "CONNECT", opSetWatches: "SETWATCHES", opClose: "CLOSE", opHangUp: "DISCONNECT", opListen: "LISTEN",
	}[r.Op]}
	if r.Path != "" {
		text = append(text, r.Path)
	}
	if r.Data != "" || r.Op == SetData {
		text = append(text, r.Data)
	}
	switch r.Mode {
	case Ephemeral:
		text = append(text, "EPHEMERAL")
	case Sequential:
		text = append(text, "PERSISTENT_SEQUENTIAL")
	case Ephemeral | Sequential:
		text = append(text, "EPHEMERAL_SEQUENTIAL")
	}
	if versioned := r.Op == Delete || r.Op == SetData; versioned && r.Version != AnyVersion {
		text = append(text, "VERSION", fmt.Sprint(r.Version))
	}
	if r.Watch {
		text = append(text, "WATCH")
	}
	return text
}

// A storedAnswer is a message to a client: events, and behind them the reply to its request, if it waits for one.
type storedAnswer struct {
	events []Event
	reply  Reply
	text   string
	left   stamp // of what the request has left a watch on
}

// answerTo is the reply to a request as a client's library receives it.
func answerTo(r Request, reply Reply) storedAnswer {
	a := storedAnswer{reply: known(r, reply), text: replyText(r, reply)}
	if w, leaves := r.leaves(reply.Code); leaves {
		a.left = reply.Stat.stamp(w.Kind)
	}
	return a
}

// known returns the part of a reply that a client observes: see Session.Do.
func known(r Request, reply Reply) (t Reply) {
	t = Reply{Code: reply.Code, Path: reply.Path, Data: reply.Data, Children: reply.Children}
	if r.Op == Exists {
		t.Stat.Czxid = reply.Stat.Czxid
	}
	return t
}

// Observed returns what of a reply a client can observe, in words; the children are in order.
func (r Request) Observed(reply Reply) string {
	reply = known(r, reply)
	children := slices.Sorted(slices.Values(reply.Children))
	text := fmt.Sprintf("%s %q %q %q", codes[reply.Code].text, reply.Path, reply.Data, children)
	if reply.Stat.Czxid != 0 {
		text += fmt.Sprintf(", transaction %d", reply.Stat.Czxid)
	}
	return text
}

// replyText is the reply to a request as histories show it.
func replyText(r Request, reply Reply) string {
	if reply.Code != OK {
		return "(error) " + codes[reply.Code].name
	}
	switch r.Op {
	case Create:
		return reply.Path
	case Exists:
		return fmt.Sprintf("czxid %d", reply.Stat.Czxid)
	case GetData:
		return fmt.Sprintf("%q", reply.Data)
	case GetChildren:
		return "[" + strings.Join(reply.Children, ", ") + "]"
	}
	return "OK"
}

func eventText(e EventType) string {
	return [...]string{
		NodeCreated: "created", NodeDeleted: "deleted",
		NodeDataChanged: "its data changed", NodeChildrenChanged: "a child came or went",
	}[e]
}

// A memory holds what a client's library must know to connect again: the watches that have not fired, and which of
// them have missed something. That can be told by left, what each looked at when it was left, or by seen, the last
// transaction that the client has observed: a watch that has not fired had missed nothing then, because its event
// would have come first. A [Session] has left, and code that opens connections sends seen.
type memory struct {
	watches []Watch
	left    []stamp
	seen    int64
}

// last returns a transaction that the client has observed, and by which none of its watches had missed anything.
func (m *memory) last() (last int64) {
	for _, s := range m.left {
		last = max(last, s.created, s.changed)
	}
	return last
}

// The words of clients, by which another model than this ensemble asks what code does: see simulator.Simulator.Follow.

// Asks returns the request of an operation.
func (x *Executor) Asks(o *process.Op) Request { return x.requests.At(o.Arg).Request }

// Watched returns the watch that an operation waits for.
func (x *Executor) Watched(o *process.Op) Watch { return *x.watches.At(o.Arg) }

// Tell numbers what reaches a client at once: events, of which an EventType of 0 is the end of
// its session, and behind them the reply to r, if r is not nil.
func (x *Executor) Tell(events []Event, r *Request, reply Reply) (answer uint32) {
	var a storedAnswer
	if r != nil {
		slices.SortFunc(reply.Children, byHash)
		a = answerTo(*r, reply)
	}
	a.events = events
	return x.answers.ID(a)
}
