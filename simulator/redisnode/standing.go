package redisnode

import (
	"slices"
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/node"
)

// What ends by itself at an instant and what else happens at that instant have no order. Where
// time came to it by a Pass with Standing, a key whose life is over is still there, for commands
// with nothing left of it; a server that comes back is not back; and an old master that
// has not heard of its replicas for too long still writes. An End, or the Resume of an outage, ends
// one of these, in any order; all that are left end before time passes.

// isDue says whether the key in a place of a server's data comes to its end now: in this millisecond
// of the server's clock.
func (k *Kind) isDue(now time.Duration, s *State, d *Data, place int) bool {
	return d.deadline[place] == clock.Millis(s.clock.Read(now))
}

// dueIn says whether a key of a server's data comes to its end now.
func (k *Kind) dueIn(now time.Duration, s *State, d *Data) bool {
	for i := range k.keyspaces.At(d.keyspace).ttls {
		if k.isDue(now, s, d, i) {
			return true
		}
	}
	return false
}

// keyIsDue is dueIn for all data of a server: its own, and what may take its place.
func (k *Kind) keyIsDue(now time.Duration, s *State) bool {
	for i := range s.replicas {
		if k.dueIn(now, s, &s.replicas[i]) {
			return true
		}
	}
	return k.dueIn(now, s, &s.data) || k.dueIn(now, s, &s.disk)
}

// outlives is for how many milliseconds a key of a server lives from its deadline on.
func (k *Kind) outlives(s *State) int64 {
	if s.standing {
		return 1
	}
	return k.spare
}

// refusing in place of the time from which an old master refuses writes is an earlier time.
const refusing = -1

// refusing says whether the old master of a split refuses writes.
func (s *State) refusing(now time.Duration) bool {
	return s.refuses < now || s.refuses == now && !s.standing
}

// tidy forgets that what ends now stands where nothing does.
func (k *Kind) tidy(now time.Duration, s *State) {
	if !s.standing {
		return
	}
	s.standing = s.outage != serving && s.until == now || s.cut != 0 && s.refuses == now || k.keyIsDue(now, s)
}

// settle ends what still stands.
func (k *Kind) settle(w node.World, nodes []State) {
	for i := range nodes {
		if nodes[i].standing {
			k.passed(w, nodes, false)
			return
		}
	}
}

// regroup numbers anew which keys of d end together: with is the same for those that do. It matters
// only where something may stand.
func (k *Kind) regroup(d *Data) {
	was := d.with
	d.with = [MaxKeys]uint8{}
	if k.spare > 0 {
		return
	}
	for i := range k.keyspaces.At(d.keyspace).ttls {
		for d.with[i] = 0; was[d.with[i]] != was[i] || d.deadline[d.with[i]] != d.deadline[i]; {
			d.with[i]++
		}
	}
}

// Places of a server's End: first the keys of its data, in their order, then those of its old
// master, and then that this begins to refuse writes.
const (
	placeOldMaster = MaxKeys
	placeRefusing  = 2 * MaxKeys
)

// endings appends what may end at server n now.
func (k *Kind) endings(now time.Duration, s *State, n int8, buf []node.Choice) []node.Choice {
	if !s.standing {
		return buf
	}
	end := func(place int) { buf = append(buf, node.Choice{Verb: node.End, Node: n, Thread: int8(place)}) }
	if s.outage != down {
		for i := range k.keyspaces.At(s.data.keyspace).ttls {
			if k.isDue(now, s, &s.data, i) && int(s.data.with[i]) == i {
				end(i)
			}
		}
	}
	if s.cut == 0 {
		return buf
	}
	old := &s.replicas[s.oldMaster]
	for i := range k.keyspaces.At(old.keyspace).ttls {
		if k.isDue(now, s, old, i) && int(old.with[i]) == i {
			end(placeOldMaster + i)
		}
	}
	if s.refuses == now {
		end(placeRefusing)
	}
	return buf
}

// end makes a choice of endings happen.
func (k *Kind) end(w node.World, nodes []State, c node.Choice) (why string) {
	if c.Node < 1 || int(c.Node) > len(nodes) || !slices.Contains(k.endings(w.Now(), &nodes[c.Node-1], c.Node, nil), c) {
		return "refused.nothing.ends"
	}
	s := &nodes[c.Node-1]
	data, number, place := &s.data, int(c.Node), int(c.Thread)
	switch {
	case place == placeRefusing:
		s.refuses = w.Now() - 1
		return ""
	case place >= placeOldMaster:
		data, number = k.oldMaster(s, c.Node)
		place -= placeOldMaster
	}
	with := data.with
	for i := k.keyspaces.At(data.keyspace).ttls - 1; i >= place; i-- { // what goes moves those behind it
		if with[i] == with[place] {
			k.expireKey(w, data, i, number)
		}
	}
	if data == &s.data {
		k.leaveBehind(s, c.Node)
	}
	return ""
}
