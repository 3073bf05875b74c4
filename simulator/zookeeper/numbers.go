package zookeeper

import "slices"

// Numbers of transactions that only grow keep states apart that come to the same. Here
// they are counted anew, so that states recur: see Kind.CountCreations.

// anew is above the numbers that are counted. An act begins there, so that what it has
// numbered can be told from what was there before.
const anew = 1 << 40

// countCreations is s, which one act has made of before, with its numbers counted anew: a
// znode that the act has created has the next number, and mzxid and pzxid of every znode
// say how often they have changed since then. One act creates at most one znode.
func (s State) countCreations(before *State) State {
	s.zxid = before.zxid
	s.nodes = slices.Clone(s.nodes)
	for i := range s.nodes {
		n := &s.nodes[i]
		if n.czxid > anew {
			s.zxid++
			n.czxid, n.mzxid, n.pzxid = s.zxid, 0, 0
			continue
		}
		if n.mzxid <= anew && n.pzxid <= anew {
			continue
		}
		at, _ := before.find(n.path)
		old := &before.nodes[at]
		if n.mzxid > anew {
			n.mzxid = old.mzxid + 1
		}
		if n.pzxid > anew {
			n.pzxid = old.pzxid + 1
		}
	}
	return s
}

// nameLast is s with its newest session, which has nothing yet, called id, which no other
// session is called.
func (s State) nameLast(id SessionID) State {
	last := len(s.sessions) - 1
	s.newest--
	at, _ := s.session(id)
	s.sessions = slices.Insert(slices.Clone(s.sessions[:last]), at, id)
	return s
}
