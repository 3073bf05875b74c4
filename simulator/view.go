package simulator

import (
	"time"

	"locklab/simulator/history"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// view is a world as its servers see it: a node.World.
type view struct {
	s *Simulator
	w *World
}

// view is w for servers. There is one view a simulator, which this sets to w, so that
// a step allocates nothing for it.
func (s *Simulator) view(w *World) *view {
	s.current.w = w
	return &s.current
}

func (v *view) Now() time.Duration                 { return v.w.now }
func (v *view) Clients() int                       { return len(v.s.procs) }
func (v *view) Client(c int8) *node.Client         { return &v.w.procs[c-1] }
func (v *view) Op(c, thread int8) *process.Op      { return v.s.op(v.w, c, thread) }
func (v *view) Memory(c int8) uint32               { return v.s.entry(v.w, c).Memory }
func (v *view) Servers() int                       { return len(v.s.config.Nodes) }
func (v *view) State(n int8) node.State            { return v.w.servers[n-1] }
func (v *view) SetState(n int8, s node.State)      { v.w.servers[n-1] = s }
func (v *view) Emit(k history.Kind) *history.Event { return v.s.emit(v.w, k) }
func (v *view) DropOrphans(n int8, from node.Set)  { v.s.dropOrphans(v.w, n, from) }
func (v *view) ReleaseOrphans(n int8)              { v.s.releaseOrphans(v.w, n) }
func (v *view) Orphan(c, thread int8)              { v.s.addOrphan(v.w, c, thread) }

func (v *view) EmitClient(k history.Kind, c, thread int8) *history.Event {
	return v.s.emitClient(v.w, k, c, thread)
}

func (v *view) Observe(c, thread int8, s process.Observation) error {
	return v.s.observe(v.w, c, thread, s)
}
