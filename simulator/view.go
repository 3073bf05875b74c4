package simulator

import (
	"time"

	"locklab/simulator/node"
	"locklab/simulator/process"
)

// A view is a world together with the tables of its simulator: what its servers see, as a
// node.World, what a fault strikes, and where a choice is made.
type view struct {
	s *Simulator
	w *World
}

// view returns the view of w. There is one view a simulator, which this sets to w, so that
// a step allocates nothing for it.
func (s *Simulator) view(w *World) *view {
	s.current.w = w
	return &s.current
}

func (v *view) Now() time.Duration                { return v.w.now }
func (v *view) Clients() int                      { return len(v.s.clients.procs) }
func (v *view) Client(c int8) *node.ClientProcess { return &v.w.procs[c-1] }
func (v *view) Op(c, thread int8) *process.Op {
	p := &v.w.procs[c-1]
	o := v.s.clients.op(c, p, int(thread))
	if v.s.stamps.grain > 0 {
		return v.s.stamps.ofDay(p, o)
	}
	return o
}
func (v *view) Memory(c int8) uint32          { return v.s.clients.entry(c, &v.w.procs[c-1]).Memory }
func (v *view) Servers() int                  { return len(v.s.config.Nodes) }
func (v *view) State(n int8) node.State       { return v.w.servers[n-1] }
func (v *view) SetState(n int8, s node.State) { v.w.servers[n-1] = s }
