package zookeeper

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Line is a znode at which clients queue, as in the recipe "Locks": its children
// that are ephemeral and carry a number, of which the lowest is the first. Of two with
// the same number, which only an exhausted counter gives, the older child is first. An
// ephemeral without a number is a line of one, for those who want to create it.
type Line struct {
	Parent string    // path; of an ephemeral without a number its own
	First  string    // name of the first child, or which session has it: "session 2"
	Owner  SessionID // whose that is
}

// Lines lists the znodes at which clients queue, in the order of their paths. Whether
// a queue is a lock is up to its users.
func (s State) Lines() (lines []Line) {
	type rank struct{ number, czxid int64 }
	ranks := map[string]rank{} // of the first, by parent
	for i := range s.nodes {
		n := &s.nodes[i]
		number, ok := numbered(n.path)
		switch {
		case n.owner == 0:
			continue
		case !ok:
			lines = append(lines, Line{n.path, fmt.Sprintf("session %d", n.owner), n.owner})
			continue
		}
		above := parent(n.path)
		line := Line{above, strings.TrimPrefix(n.path[len(above):], "/"), n.owner}
		at := slices.IndexFunc(lines, func(l Line) bool { return l.Parent == above })
		switch {
		case at < 0:
			lines = append(lines, line)
		case number < ranks[above].number, number == ranks[above].number && n.czxid < ranks[above].czxid:
			lines[at] = line
		default:
			continue
		}
		ranks[above] = rank{number, n.czxid}
	}
	slices.SortFunc(lines, func(a, b Line) int { return cmp.Compare(a.Parent, b.Parent) })
	return lines
}

// numbered is the number at the end of a path as create appends it: see sequence.
func numbered(path string) (number int64, ok bool) {
	for _, places := range []int{10, 11} { // -2147483648 takes one more than all others
		if at := len(path) - places; at >= 0 {
			if number, err := strconv.ParseInt(path[at:], 10, 32); err == nil {
				return number, true
			}
		}
	}
	return 0, false
}

// A watch is one as the server remembers it: to it, one on a znode that is
// not there yet is a WatchData.
type watch struct {
	session SessionID
	path    string
	kind    WatchKind
}

func (a watch) compare(b watch) int {
	return cmp.Or(cmp.Compare(a.session, b.session), cmp.Compare(a.path, b.path), cmp.Compare(a.kind, b.kind))
}

// watch is s with w left. A session has at most one watch of a kind on a path.
func (s State) watch(w watch) State {
	if i, there := slices.BinarySearchFunc(s.watches, w, watch.compare); !there {
		s.watches = slices.Insert(slices.Clone(s.watches), i, w)
	}
	return s
}

// fire notifies every session that has left a watch of one of the kinds on path,
// once each, and takes those watches away.
func (s State) fire(fired []Event, event EventType, path string, kinds ...WatchKind) (State, []Event) {
	hit := func(w watch) bool { return w.path == path && slices.Contains(kinds, w.kind) }
	if !slices.ContainsFunc(s.watches, hit) {
		return s, fired
	}
	last := SessionID(0)
	for _, w := range s.watches {
		if hit(w) && w.session != last {
			last = w.session
			fired = append(fired, Event{w.session, event, path})
		}
	}
	s.watches = slices.DeleteFunc(slices.Clone(s.watches), hit)
	return s, fired
}

// requestText is a request as histories show it, in the words of the API.
func requestText(r Request) []string {
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
