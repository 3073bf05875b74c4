package zookeeper

import (
	"cmp"
	"slices"

	world "locklab/simulator/node"
)

// Rename is the ensemble with the clients renamed.
func (k *Kind) Rename(state world.State, to *world.Names) world.State {
	s := state.(EnsembleState)
	ends := s.ends
	for c := range world.MaxClients {
		s.ends[to[c+1]-1] = ends[c]
	}
	s.contents, _ = k.contents.Renamed(s.contents, to)
	return s
}

// renamed is contents with the clients renamed: each has what the other had, but for the number of
// its session.
func (from contents) renamed(to *world.Names) (contents, error) {
	s := from
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
	return s, nil
}

func (w Watch) renamed(to *world.Names) (Watch, error) { return Watch{w.Kind, to.Rename(w.Path)}, nil }

func (r storedRequest) renamed(to *world.Names) (storedRequest, error) {
	r.Path, r.Data = to.Rename(r.Path), to.Rename(r.Data)
	return r, nil
}

func (m memory) renamed(to *world.Names) (memory, error) {
	m.watches = slices.Clone(m.watches)
	for i := range m.watches {
		m.watches[i].Path = to.Rename(m.watches[i].Path)
	}
	return m, nil
}

// named reports whether an answer names a client.
func (a storedAnswer) named() bool {
	return world.NamesAny(a.reply.Path) || world.NamesAny(a.reply.Data) || slices.ContainsFunc(a.reply.Children, world.NamesAny) ||
		slices.ContainsFunc(a.events, func(e Event) bool { return world.NamesAny(e.Path) })
}

// renamed is an answer with the clients renamed in it. Children come in the order in which an
// ensemble lists them.
func (a storedAnswer) renamed(to *world.Names) (storedAnswer, error) {
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
	return a, nil
}
