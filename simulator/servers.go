package simulator

import (
	"slices"
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/codec"
	"locklab/simulator/internal/table"
	"locklab/simulator/node"
	"locklab/simulator/process"
	"locklab/simulator/redisnode"
	"locklab/simulator/zookeeper"
)

// newServers makes the servers of a simulator. All of a world are of one kind, and
// this is the only place that chooses it.
func (s *Simulator) newServers(c *Config, room *table.Room) (err error) {
	first := &c.Nodes[0]
	if first.Session > 0 {
		s.ensemble = zookeeper.NewKind(zookeeper.Config{Session: first.Session, Znodes: first.Znodes, Lines: first.Lines, Wires: c.Clients[0].Host != nil, Clock: clock.State{Offset: first.Offset, PPM: first.PPM}}, room)
		s.servers = &bound[zookeeper.EnsembleState]{s.ensemble, func(w *World) []zookeeper.EnsembleState { return w.ensemble[:] }, func(p *NodePart) *zookeeper.EnsembleState { return &p.ensemble }}
		return nil
	}
	var configs []redisnode.Config
	for _, n := range c.Nodes {
		configs = append(configs, redisnode.Config{Replicas: n.Replicas, MinReplicas: n.MinReplicas, MaxLag: n.MaxLag, AOF: n.AOF, EarlyExpiry: c.Timing != nil, EarlyEnd: c.Timing != nil, Clock: clock.State{Offset: n.Offset, PPM: n.PPM}})
	}
	if s.redis, err = redisnode.New(configs, room); err != nil {
		return err
	}
	s.redis.Retries = c.ClientRetries
	nodes := len(configs)
	s.servers = &bound[redisnode.State]{s.redis, func(w *World) []redisnode.State { return w.nodes[:nodes] }, func(p *NodePart) *redisnode.State { return &p.redis }}
	return nil
}

// servers is a node.Kind, bound to the field of World that holds its states. It is
// all that a step knows of servers.
type servers interface {
	Library(p *process.Process) process.Library
	Patience(timeout time.Duration) time.Duration
	Request(o *process.Op) []string
	Reply(o *process.Op, answer uint32) string
	Ready(w node.World, c int8, buf []Choice) []Choice

	begin(w *World, clients int)
	passed(v *view, standing bool)
	settle(v *view)
	tidy(w *World)
	due(w *World) time.Duration
	told(v *view, c int8, buf []Choice) []Choice
	enabled(w *World, buf []Choice) []Choice
	step(v *view, c Choice) (why string, err error)
	end(v *view, c Choice) (why string, err error)
	arrive(v *view, c, thread int8) error
	arriveOrphan(v *view, o *node.Orphan) (held bool, err error)
	gaveUp(v *view, c, thread int8)
	lost(v *view, c, thread int8)
	heldUp(v *view, c int8)
	paused(v *view, c int8)
	resumed(v *view, c int8)
	crashed(v *view, c int8)

	takePart(w *World, n int, readsClock bool) NodePart
	setPart(w *World, n int, part *NodePart)
	partDue(part *NodePart, now time.Duration) time.Duration
	partEnabled(n int8, part *NodePart, buf []Choice) []Choice
	renamePart(part NodePart, to *Names) NodePart
	Symmetric() bool
	Alike(clients int)
	SameRequest(a, b *process.Op, to *Names) bool
	NamesClient(answer uint32) (text string, named bool)
	RenameAnswer(answer uint32, to *Names) uint32
	RenameRequest(request uint32, to *Names) (uint32, error)
	RenameMemory(memory uint32, to *Names) uint32

	ReadsClock() bool
	Len() int
	Clear()
	Close()
	Sizes() node.Sizes
	Save(w *codec.Writer, from, m node.Sizes)
	Load(r *codec.Reader) error
	HasRequest(o *process.Op) bool
	HasAnswer(answer uint32) bool
	hasPart(part *NodePart) bool
	NoMemo()
}

type bound[S comparable] struct {
	node.Kind[S]
	nodes func(*World) []S
	part  func(*NodePart) *S
}

func (b *bound[S]) begin(w *World, clients int) { b.Begin(b.nodes(w), clients) }

// reach is what a step does with the servers; see Simulator.Reached.
func (b *bound[S]) reach(v *view) []S {
	v.s.reached = true
	return b.nodes(v.w)
}

func (b *bound[S]) passed(v *view, standing bool) { b.Passed(v, b.reach(v), standing) }
func (b *bound[S]) settle(v *view)                { b.Settle(v, b.reach(v)) }

func (b *bound[S]) tidy(w *World) {
	for nodes, n := b.nodes(w), 0; n < len(nodes); n++ {
		b.Tidy(w.now, &nodes[n])
	}
}

func (b *bound[S]) due(w *World) time.Duration {
	next := Never
	for nodes, n := b.nodes(w), 0; n < len(nodes); n++ {
		next = min(next, b.Due(w.now, &nodes[n]))
	}
	return next
}

func (b *bound[S]) told(v *view, c int8, buf []Choice) []Choice {
	return b.Told(v, b.reach(v), c, buf)
}

func (b *bound[S]) enabled(w *World, buf []Choice) []Choice {
	for nodes, n := b.nodes(w), 0; n < len(nodes); n++ {
		before := len(buf)
		buf = b.Enabled(w.now, &nodes[n], int8(n+1), buf)
		if len(nodes) > 1 {
			buf = append(buf[:before], slices.DeleteFunc(buf[before:], func(c Choice) bool { return c.Verb == End })...)
		}
	}
	if len(b.nodes(w)) > 1 && b.stands(w) {
		buf = append(buf, Choice{Verb: End})
	}
	return buf
}

// stands says whether something at a server has come to its end and still stands.
func (b *bound[S]) stands(w *World) bool {
	for nodes, n := b.nodes(w), 0; n < len(nodes); n++ {
		if slices.ContainsFunc(b.Enabled(w.now, &nodes[n], int8(n+1), nil), func(c Choice) bool { return c.Verb == End }) {
			return true
		}
	}
	return false
}

// end makes an End happen.
func (b *bound[S]) end(v *view, c Choice) (why string, err error) {
	switch {
	case c != Choice{Verb: End}:
		return b.step(v, c)
	case !b.stands(v.w):
		return "refused.nothing.ends", nil
	}
	b.settle(v)
	return "", nil
}

func (b *bound[S]) step(v *view, c Choice) (why string, err error) {
	return b.Step(v, b.reach(v), c)
}

func (b *bound[S]) arrive(v *view, c, thread int8) error {
	return b.Arrive(v, b.reach(v), c, thread)
}

func (b *bound[S]) arriveOrphan(v *view, o *node.Orphan) (held bool, err error) {
	return b.ArriveOrphan(v, b.reach(v), o)
}

func (b *bound[S]) gaveUp(v *view, c, thread int8) { b.GaveUp(v, b.reach(v), c, thread) }
func (b *bound[S]) lost(v *view, c, thread int8)   { b.Lost(v, b.reach(v), c, thread) }
func (b *bound[S]) heldUp(v *view, c int8)         { b.HeldUp(v, b.reach(v), c) }
func (b *bound[S]) paused(v *view, c int8)         { b.Paused(v, b.reach(v), c) }
func (b *bound[S]) resumed(v *view, c int8)        { b.Resumed(v, b.reach(v), c) }
func (b *bound[S]) crashed(v *view, c int8)        { b.Crashed(v, b.reach(v), c) }

func (b *bound[S]) takePart(w *World, n int, readsClock bool) (part NodePart) {
	*b.part(&part) = b.Relative(w.now, b.nodes(w)[n-1], readsClock)
	return part
}

func (b *bound[S]) setPart(w *World, n int, part *NodePart) {
	b.nodes(w)[n-1] = b.Absolute(w.now, *b.part(part))
}

func (b *bound[S]) partDue(part *NodePart, now time.Duration) time.Duration {
	s := b.Absolute(now, *b.part(part))
	due := b.Due(now, &s)
	if due == Never {
		return Never
	}
	return due - now
}

func (b *bound[S]) hasPart(part *NodePart) bool { return b.HasState(b.part(part)) }

func (b *bound[S]) partEnabled(n int8, part *NodePart, buf []Choice) []Choice {
	s := b.Absolute(0, *b.part(part))
	return b.Enabled(0, &s, n, buf)
}

func (b *bound[S]) renamePart(part NodePart, to *Names) NodePart {
	s := b.part(&part)
	*s = b.RenameState(*s, to)
	return part
}
