package redisnode

import (
	"slices"
	"strings"

	"locklab/simulator/node"
)

var _ node.Connected = (*Kind)(nil)

// connections divides states into the connections that watch keys and what replicas lack of them, each of which matters to its client
// only, and the rest. Those that have subscribed stay there: PUBLISH answers how many there are.
type connections struct{ x *Executor }

// Connections implements [node.Connected].
func (k *Kind) Connections() node.Connections { return connections{k.Executor} }

// Of implements [node.Connections].
func (cs connections) Of(state node.State, c int8) node.State {
	own := cs.in(state, func(conn connection) bool {
		return len(conn.channels) == 0 && strings.HasPrefix(conn.name, connectionPrefix(c))
	})
	of := State{data: Data{keyspace: cs.x.keyspaces.ID(keyspace{conns: own})}}
	for i, lacking := range state.(State).lacks {
		of.lacks[i] = lacking & node.Of(c)
	}
	return of
}

// Without implements [node.Connections].
func (cs connections) Without(state node.State) node.State {
	s := state.(State)
	s.lacks = [MaxReplicas]node.Set{}
	return cs.with(s, cs.in(state, func(conn connection) bool { return len(conn.channels) > 0 }))
}

// With implements [node.Connections].
func (cs connections) With(state, other node.State) node.State {
	all := func(connection) bool { return true }
	s := state.(State)
	for i, lacking := range other.(State).lacks {
		s.lacks[i] |= lacking
	}
	return cs.with(s, slices.Concat(cs.in(state, all), cs.in(other, all)))
}

// in are the connections of a state that a function selects; nil: none.
func (cs connections) in(state node.State, selects func(connection) bool) (list []connection) {
	s := state.(State)
	for _, c := range cs.x.keys(&s.data).conns {
		if selects(c) {
			list = append(list, c)
		}
	}
	return list
}

// with is a state with other connections.
func (cs connections) with(state node.State, conns []connection) node.State {
	s := state.(State)
	to := *cs.x.keys(&s.data)
	to.conns, to.ttls = conns, 0
	s.data.keyspace = cs.x.keyspaces.ID(to.sorted())
	return s
}
