package redisnode

import (
	"slices"

	"locklab/simulator/node"
	"locklab/simulator/process"
)

// Symmetric is true: a server tells clients apart by the names in their data only.
func (k *Kind) Symmetric() bool { return true }

// RenameState is a server with the clients renamed in its data.
func (k *Kind) RenameState(s State, to *node.Names) State {
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
	from := k.keyspaces[d.keyspace]
	renamed := from.renamed(to)
	was := *d
	for i := range from.ttls {
		place := renamed.place(to.Rename(from.expiring(i).name))
		d.deadline[place], d.with[place] = was.deadline[i], was.with[i]
	}
	d.keyspace = k.internKeyspace(renamed)
	k.regroup(d)
}

// SameRequest says whether two requests are the same but for the names in the first.
func (k *Kind) SameRequest(a, b *process.Op, to *node.Names) bool {
	x, y := &k.batches[a.Arg], &k.batches[b.Arg]
	if x.on.renamed(to) != y.on {
		return false
	}
	return slices.EqualFunc(x.commands, y.commands, func(x, y []string) bool {
		return slices.EqualFunc(x, y, func(x, y string) bool { return to.Rename(x) == y })
	})
}

// NamesClient says whether an answer names a client, and how it reads.
func (k *Kind) NamesClient(answer uint32) (text string, named bool) {
	r := &k.replies[answer]
	return r.text, node.NamesAny(r.resp)
}

// RenameAnswer is an answer with the clients renamed in it.
func (k *Kind) RenameAnswer(answer uint32, to *node.Names) uint32 {
	return k.internReply(to.Rename(k.replies[answer].resp))
}

// RenameRequest is a request with the clients renamed in it.
func (k *Kind) RenameRequest(request uint32, to *node.Names) (uint32, error) {
	var commands [][]string
	b := &k.batches[request]
	for _, c := range b.commands {
		renamed := make([]string, len(c))
		for j, arg := range c {
			renamed[j] = to.Rename(arg)
		}
		commands = append(commands, renamed)
	}
	return k.internBatch(b.on.renamed(to), writeBatch(commands))
}

// RenameMemory is memory: a library remembers nothing.
func (k *Kind) RenameMemory(memory uint32, _ *node.Names) uint32 { return memory }
