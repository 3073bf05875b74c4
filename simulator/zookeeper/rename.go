package zookeeper

import (
	"cmp"
	"slices"

	world "locklab/simulator/node"
	"locklab/simulator/process"
)

// Symmetric says whether clients can change places. Where sessions are numbered as they
// begin, or code opens them, their numbers tell clients apart.
func (k *Kind) Symmetric() bool { return k.creations }

// RenameState is the ensemble with the clients renamed.
func (k *Kind) RenameState(s EnsembleState, to *world.Names) EnsembleState {
	ends := s.ends
	for c := range world.MaxClients {
		s.ends[to[c+1]-1] = ends[c]
	}
	s.contents = k.renameContents(s.contents, to)
	return s
}

// renameContents is contents with the clients renamed: each has what the other had, but for
// the number of its session.
func (k *Kind) renameContents(id uint32, to *world.Names) uint32 {
	from := &k.contents[id]
	s := *from
	renamed := func(id SessionID) SessionID {
		if c := from.ofSession(id); c >= 0 && c < world.MaxClients {
			return from.peers[to[c+1]-1].session
		}
		return id // of before the run
	}
	s.state.nodes = slices.Clone(s.state.nodes)
	for i := range s.state.nodes {
		n := &s.state.nodes[i]
		n.path, n.data, n.owner = to.Rename(n.path), to.Rename(n.data), renamed(n.owner)
	}
	slices.SortFunc(s.state.nodes, func(a, b znode) int { return cmp.Compare(a.path, b.path) })
	s.state.sessions = slices.Clone(s.state.sessions)
	for i := range s.state.sessions {
		s.state.sessions[i].id = renamed(s.state.sessions[i].id)
	}
	slices.SortFunc(s.state.sessions, func(a, b session) int { return cmp.Compare(a.id, b.id) })
	s.state.watches = slices.Clone(s.state.watches)
	for i := range s.state.watches {
		w := &s.state.watches[i]
		w.session, w.path = renamed(w.session), to.Rename(w.path)
	}
	slices.SortFunc(s.state.watches, watch.compare)
	for c := range world.MaxClients {
		events := slices.Clone(from.peers[c].events)
		for i := range events {
			events[i].Session, events[i].Path = renamed(events[i].Session), to.Rename(events[i].Path)
		}
		s.peers[to[c+1]-1].events = events
	}
	return k.internContents(s)
}

// SameRequest says whether two requests, or two watches that are waited for, are the same but
// for the names in the first.
func (k *Kind) SameRequest(a, b *process.Op, to *world.Names) bool {
	if a.Kind == process.Watch {
		return k.watches[a.Arg].renamed(to) == k.watches[b.Arg]
	}
	return renameRequest(k.requests[a.Arg].wireRequest, to) == k.requests[b.Arg].wireRequest
}

func (w Watch) renamed(to *world.Names) Watch { return Watch{w.Kind, to.Rename(w.Path)} }

// RenameRequest is a request with the clients renamed in it.
func (k *Kind) RenameRequest(request uint32, to *world.Names) (uint32, error) {
	return k.internStored(renameRequest(k.requests[request].wireRequest, to)), nil
}

func renameRequest(r wireRequest, to *world.Names) wireRequest {
	r.Path, r.Data = to.Rename(r.Path), to.Rename(r.Data)
	return r
}

// RenameMemory is what a library remembers with the clients renamed in it.
func (k *Kind) RenameMemory(memory uint32, to *world.Names) uint32 {
	m := k.memories[memory]
	m.watches = slices.Clone(m.watches)
	for i := range m.watches {
		m.watches[i] = m.watches[i].renamed(to)
	}
	return k.internMemory(m)
}

// NamesClient says whether an answer names a client, and how it reads.
func (k *Kind) NamesClient(answer uint32) (text string, named bool) {
	a := &k.answers[answer]
	named = world.NamesAny(a.reply.Path) || world.NamesAny(a.reply.Data) || slices.ContainsFunc(a.reply.Children, world.NamesAny) ||
		slices.ContainsFunc(a.events, func(e Event) bool { return world.NamesAny(e.Path) })
	return a.text, named
}

// RenameAnswer is an answer with the clients renamed in it. Children come in the order in which
// an ensemble lists them.
func (k *Kind) RenameAnswer(answer uint32, to *world.Names) uint32 {
	a := k.answers[answer]
	a.text, a.reply.Path, a.reply.Data = to.Rename(a.text), to.Rename(a.reply.Path), to.Rename(a.reply.Data)
	a.events = slices.Clone(a.events)
	for i := range a.events {
		a.events[i].Path = to.Rename(a.events[i].Path)
	}
	if len(a.reply.Children) > 0 {
		a.reply.Children = slices.Clone(a.reply.Children)
		for i := range a.reply.Children {
			a.reply.Children[i] = to.Rename(a.reply.Children[i])
		}
		slices.SortFunc(a.reply.Children, byHash)
		a.text = replyText(Request{Op: GetChildren}, a.reply)
	}
	return k.internAnswer(a)
}
