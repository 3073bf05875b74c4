package zookeeper

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// znode is one znode.
type znode struct {
	path    string
	data    string
	czxid   int64
	mzxid   int64
	pzxid   int64
	version int32
	// creates counts the children that were ever created here, plain ones too. It
	// is the number that the next sequential child gets. See count.
	creates int32
	owner   SessionID
}

func (n znode) compare(o znode) int { return cmp.Compare(n.path, o.path) }

// find is the place of path among the nodes.
func (s *State) find(path string) (int, bool) {
	return slices.BinarySearchFunc(s.nodes, path, func(n znode, path string) int { return cmp.Compare(n.path, path) })
}

// parent is the path above path; "" if path has no slash.
func parent(path string) string {
	i := strings.LastIndexByte(path, '/')
	if i == 0 {
		return "/"
	}
	return path[:max(i, 0)]
}

// children calls yield with the name of every child of path.
func (s *State) children(path string, yield func(name string)) {
	prefix := strings.TrimSuffix(path, "/") + "/"
	i, _ := s.find(prefix)
	for ; i < len(s.nodes); i++ {
		name, below := strings.CutPrefix(s.nodes[i].path, prefix)
		if !below {
			return
		}
		if name != "" && !strings.Contains(name, "/") {
			yield(name)
		}
	}
}

func (s *State) stat(n *znode) Stat {
	st := Stat{
		Czxid: n.czxid, Mzxid: n.mzxid, Pzxid: n.pzxid, Version: n.version, Owner: n.owner, DataLength: len(n.data),
	}
	s.children(n.path, func(string) { st.NumChildren++ })
	// Of those created all but the present ones have been deleted.
	st.Cversion = 2*n.creates - int32(st.NumChildren)
	return st
}

// valid reports whether path may name a znode ("The ZooKeeper Data Model").
func valid(path string) bool {
	switch {
	case path == "/":
		return true
	case !strings.HasPrefix(path, "/"):
		return false
	}
	for name := range strings.SplitSeq(path[1:], "/") {
		if name == "" || name == "." || name == ".." {
			return false
		}
	}
	return !strings.ContainsFunc(path, func(r rune) bool {
		return r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0 && r <= 0xffff
	})
}

// A change is a State while something happens to it, with slices of its own, and the events of watches that fired.
type change struct {
	State
	fired []Event
}

func (s State) change() *change {
	s.nodes, s.sessions, s.watches = slices.Clone(s.nodes), slices.Clone(s.sessions), slices.Clone(s.watches)
	return &change{State: s}
}

// create makes a znode.
func (c *change) create(id SessionID, r Request) Reply {
	c.zxid++
	above, path := parent(r.Path), r.Path
	p, ok := c.find(above)
	switch {
	case above == "" || strings.Contains(path, "\x00"):
		return Reply{Code: BadArguments}
	case !ok:
		return Reply{Code: NoNode}
	}
	from := &c.nodes[p]
	if r.Mode&Sequential != 0 {
		path += fmt.Sprintf("%010d", from.creates) // ten places at least, the sign counted ("Sequence Nodes")
	}
	i, exists := c.find(path)
	switch {
	case !valid(path):
		return Reply{Code: BadArguments}
	case exists:
		return Reply{Code: NodeExists}
	case from.owner != 0:
		return Reply{Code: NoChildrenForEphemerals}
	}
	n := znode{path: path, data: r.Data, czxid: c.zxid, mzxid: c.zxid, pzxid: c.zxid}
	if r.Mode&Ephemeral != 0 {
		n.owner = id
	}
	from.count(c.zxid)
	c.nodes = slices.Insert(c.nodes, i, n)
	c.fire(NodeCreated, path, WatchData)
	c.fire(NodeChildrenChanged, above, WatchChildren)
	return Reply{Path: path}
}

// count counts one more child. The guide says that the counter overflows, to -2147483648, beyond 2147483647 ("Sequence
// Nodes"). A server 3.8 takes over only a larger number: its counter stays at 2147483647 for good, each later
// sequential child gets that number, and pzxid stands still. (It guards the replay of a log on a younger snapshot; only
// of requests so close together that one is not yet applied can the later one still be numbered -2147483648.)
func (n *znode) count(zxid int64) {
	if next := n.creates + 1; next > n.creates {
		n.creates, n.pzxid = next, zxid
	}
}

// delete removes a znode.
func (c *change) delete(r Request) Code {
	c.zxid++
	i, ok := c.find(r.Path)
	switch {
	case r.Path == "/" || parent(r.Path) == "" || strings.Contains(r.Path, "\x00"):
		return BadArguments
	case !ok:
		return NoNode
	case !r.matches(&c.nodes[i]):
		return BadVersion
	case c.stat(&c.nodes[i]).NumChildren > 0:
		return NotEmpty
	}
	c.remove(i)
	return OK
}

// remove takes the znode in place i away, in the present transaction.
func (c *change) remove(i int) {
	path := c.nodes[i].path
	above := parent(path)
	p, _ := c.find(above)
	c.nodes[p].pzxid = c.zxid
	c.nodes = slices.Delete(c.nodes, i, i+1)
	c.fire(NodeDeleted, path, WatchData, WatchChildren)
	c.fire(NodeChildrenChanged, above, WatchChildren)
}

// setData replaces the data of a znode.
func (c *change) setData(r Request) Reply {
	c.zxid++
	i, ok := c.find(r.Path)
	switch {
	case !valid(r.Path):
		return Reply{Code: BadArguments}
	case !ok:
		return Reply{Code: NoNode}
	case !r.matches(&c.nodes[i]):
		return Reply{Code: BadVersion}
	}
	n := &c.nodes[i]
	n.data, n.mzxid = r.Data, c.zxid
	n.version++
	c.fire(NodeDataChanged, r.Path, WatchData)
	return Reply{Stat: c.stat(n)}
}

// matches reports whether a znode has the version that a request asks for.
func (r Request) matches(n *znode) bool { return r.Version == AnyVersion || r.Version == n.version }

// read looks at a znode.
func (s *State) read(r Request) Reply {
	i, ok := s.find(r.Path)
	if !ok {
		return Reply{Code: NoNode}
	}
	n := &s.nodes[i]
	reply := Reply{Stat: s.stat(n)}
	switch r.Op {
	case GetData:
		reply.Data = n.data
	case GetChildren:
		s.children(n.path, func(name string) { reply.Children = append(reply.Children, name) })
		slices.SortFunc(reply.Children, byHash)
	}
	return reply
}

// byHash is the order in which children are listed.
func byHash(a, b string) int { return cmp.Or(cmp.Compare(hash(a), hash(b)), cmp.Compare(a, b)) }

func hash(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()
}

// SetCounter is s in which the next sequential child of path gets the number
// next, as after 2^31 children and more. It panics if there is no such znode.
//
// With -2147483648 it is the guide's ensemble just after the overflow: that child's name sorts first, also by value.
func (s State) SetCounter(path string, next int32) State {
	i, ok := s.find(path)
	if !ok {
		panic(fmt.Sprintf("zookeeper: SetCounter: there is no znode %q", path))
	}
	c := s.change()
	c.nodes[i].creates = next
	return c.State
}
