package zookeeper

import "encoding/binary"

// AppendKey appends a canonical form of s to b: two states have the same form if
// and only if they hold the same.
func (s State) AppendKey(b []byte) []byte {
	num := func(v int64) { b = binary.AppendVarint(b, v) }
	text := func(t string) { b = append(binary.AppendUvarint(b, uint64(len(t))), t...) }
	num(s.zxid)
	num(int64(s.newest))
	num(int64(len(s.nodes)))
	for i := range s.nodes {
		n := &s.nodes[i]
		text(n.path)
		text(n.data)
		for _, v := range []int64{n.czxid, n.mzxid, n.pzxid, int64(n.version), int64(n.creates), int64(n.owner)} {
			num(v)
		}
	}
	num(int64(len(s.sessions)))
	for _, id := range s.sessions {
		num(int64(id))
	}
	num(int64(len(s.watches)))
	for _, w := range s.watches {
		num(int64(w.session))
		num(int64(w.kind))
		text(w.path)
	}
	return b
}

// Reconnect is reconnect with the highest zxid that the client has seen in a reply, as in the protocol.
func (s State) Reconnect(id SessionID, seen int64, watches []Watch) (State, Code, []Event) {
	return s.reconnect(id, watches, since(seen))
}
