package simulator

import (
	"errors"

	"locklab/simulator/internal/codec"
	"locklab/simulator/node"
)

// TableSizes says how far a simulator's tables had come at some moment. They only
// grow, so that it can be told later what they held then.
type TableSizes struct {
	readsClock bool
	servers    node.Sizes
	orphans    int
	histories  [MaxClients]int
}

// TableSizes is the present moment. NewWorld may make it void, as it does worlds.
func (s *Simulator) TableSizes() TableSizes {
	m := TableSizes{readsClock: s.readsClock, servers: s.servers.Sizes(), orphans: len(s.orphans.lists)}
	for i, p := range s.procs {
		m.histories[i] = p.Len()
	}
	return m
}

// Save writes what the tables held at m, so that worlds and parts of that time mean
// the same to another simulator of the same config.
func (s *Simulator) Save(w *codec.Writer, m TableSizes) {
	w.Put(m.readsClock)
	s.servers.Save(w, m.servers)
	w.Put(s.orphans.lists[:m.orphans])
	for i, p := range s.procs {
		p.Save(w, m.histories[i])
	}
}

// Load reads what Save wrote into a simulator in which nothing has happened yet.
// After an error the simulator is of no use.
func (s *Simulator) Load(r *codec.Reader) error {
	r.Get(&s.readsClock)
	if err := s.servers.Load(r); err != nil {
		return err
	}
	var lists [][]node.Orphan
	r.Get(&lists)
	for _, list := range lists {
		s.orphans.intern(list)
	}
	for _, p := range s.procs {
		p.Load(r)
	}
	if r.Err() != nil {
		return r.Err()
	}
	if len(s.orphans.lists) != len(lists) {
		return errors.New("simulator: saved tables hold something twice")
	}
	return nil
}
