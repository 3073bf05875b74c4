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
