package zookeeper

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// A Line is what the recipe "Locks" makes of a znode: its children that are
// ephemeral and carry a number queue there, and the lowest number is the first.
type Line struct {
	Parent string    // path
	First  string    // name of the first child
	Owner  SessionID // whose that is
}

// Lines lists the znodes at which somebody queues, in the order of their paths.
// Whether a queue is a lock is for its users to say.
func (s State) Lines() (lines []Line) {
	numbers := map[string]int64{} // of the first, by parent
	for i := range s.nodes {
		n := &s.nodes[i]
		number, ok := numbered(n.path)
		if n.owner == 0 || !ok {
			continue
		}
		above := parent(n.path)
		line := Line{above, strings.TrimPrefix(n.path[len(above):], "/"), n.owner}
		at := slices.IndexFunc(lines, func(l Line) bool { return l.Parent == above })
		switch {
		case at < 0:
			lines = append(lines, line)
		case number < numbers[above]:
			lines[at] = line
		default:
			continue
		}
		numbers[above] = number
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
