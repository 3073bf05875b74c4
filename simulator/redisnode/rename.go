package redisnode

import (
	"slices"

	"locklab/simulator/node"
)

// Rename is a server with the clients renamed in its data.
func (k *Kind) Rename(state node.State, to *node.Names) node.State {
	s := state.(State)
	k.renameData(&s.data, to)
	for i := range s.replicas {
		k.renameData(&s.replicas[i], to)
		s.lacks[i] = s.lacks[i].Renamed(to)
	}
	k.renameData(&s.disk, to)
	s.cut = s.cut.Renamed(to)
	return s
}

func (k *Kind) renameData(d *Data, to *node.Names) {
	from := *k.keyspaces.At(d.keyspace)
	renamed, _ := from.renamed(to)
	was := *d
	for i := range from.ttls {
		place := renamed.place(to.Rename(from.expiring(i).name))
		d.deadline[place], d.with[place] = was.deadline[i], was.with[i]
	}
	d.keyspace = k.keyspaces.ID(renamed)
	k.regroup(d)
}

// named reports whether an answer names a client.
func (r reply) named() bool { return node.NamesAny(r.resp) }

func (r reply) renamed(to *node.Names) (reply, error) { return reply{resp: to.Rename(r.resp)}, nil }

// same reports whether x is y but for the names in x.
func (x batch) same(y batch, to *node.Names) bool {
	return x.on.renamed(to) == y.on && slices.EqualFunc(x.commands, y.commands, func(x, y []string) bool {
		return slices.EqualFunc(x, y, func(x, y string) bool { return to.Rename(x) == y })
	})
}

func (b batch) renamed(to *node.Names) (batch, error) {
	r := batch{on: b.on.renamed(to)}
	for _, c := range b.commands {
		renamed := make([]string, len(c))
		for j, arg := range c {
			renamed[j] = to.Rename(arg)
		}
		r.commands = append(r.commands, renamed)
	}
	return r, nil
}
