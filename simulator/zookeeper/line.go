package zookeeper

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A line is the first of those who queue at a znode, as in the recipe "Locks": of its children that are ephemeral and
// carry a number that with the lowest one. Of two with the same number, which only an exhausted counter gives, the
// older child is first. An ephemeral without a number is a line of one, for those who want to create it.
type line struct {
	first         string // name of the child, or which session has it: "session 2"
	owner         SessionID
	number, czxid int64 // of the child
}

// lines are those of an ensemble by the paths of the znodes; that of an ephemeral without a number has its own path.
// Whether a queue is a lock is up to its users.
func (s *State) lines() map[string]line {
	lines := map[string]line{}
	for i := range s.nodes {
		n := &s.nodes[i]
		if n.owner == 0 {
			continue
		}
		number, ok := numbered(n.path)
		if !ok {
			lines[n.path] = line{first: fmt.Sprintf("session %d", n.owner), owner: n.owner}
			continue
		}
		above := parent(n.path)
		l := line{strings.TrimPrefix(n.path[len(above):], "/"), n.owner, number, n.czxid}
		first, there := lines[above]
		if !there || cmp.Or(cmp.Compare(number, first.number), cmp.Compare(n.czxid, first.czxid)) < 0 {
			lines[above] = l
		}
	}
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

// lineChange is one line whose first has become another.
type lineChange struct {
	key           string // what histories call it
	before, after string // names
	gone          bool   // the former first has left the line, and was not overtaken
	owner         int8   // client of the new one; 0: none, or of no client
}

// lineChanges lists the lines that have another first, in the order of their paths.
func (x *Executor) lineChanges(from, to *contents) (changes []lineChange) {
	all := maps.Clone(from.lines)
	maps.Copy(all, to.lines)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		a, b := from.lines[path], to.lines[path]
		if a == b {
			continue
		}
		ch := lineChange{key: cmp.Or(x.config.Lines[path], path), before: a.first, after: b.first}
		if a.first != "" {
			_, there := to.state.find(strings.TrimSuffix(path, "/") + "/" + a.first)
			ch.gone = !there
		}
		if b.first != "" {
			ch.owner = to.clientAt(to.ofSession(b.owner))
		}
		changes = append(changes, ch)
	}
	return changes
}
