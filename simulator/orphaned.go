package simulator

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/codec"
	"locklab/simulator/memo"
	"locklab/simulator/node"
	"locklab/simulator/process"
	"locklab/simulator/translate"
)

// Orphaned requests are in flight though their sender gave up or died. A world names a list of them, in the order in
// which they were orphaned, so that the place of one, which stands in choices and in traces, is the same in every
// simulator. What follows from the world does not depend on it: a RestPart has the same requests in its own order.

// maxOrphans is the number of orphaned requests that a Choice can distinguish.
const maxOrphans = 127

// arrivalOf is the arrival of an orphaned request at a place of a list.
func arrivalOf(o *node.Orphan, place int) Choice {
	return Choice{Verb: Orphaned, Client: o.From, Thread: int8(place)}
}

// compareOrphans is an order in which requests are equal that come to the same: but for the numbers of their messages.
func compareOrphans(a, b node.Orphan) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Op.Node, b.Op.Node), cmp.Compare(a.Op.Kind, b.Op.Kind),
		cmp.Compare(a.Op.Arg, b.Op.Arg), cmp.Compare(a.Op.Base, b.Op.Base),
		cmp.Compare(a.Op.Token, b.Op.Token), cmp.Compare(a.Op.Lease, b.Op.Lease),
		cmp.Compare(a.Hold, b.Hold), cmp.Compare(a.Latest, b.Latest))
}

// orphanInPart is an orphaned request at now as a part has it: without its number, and with stamps from the present.
func (s *Simulator) orphanInPart(o node.Orphan, now time.Duration) node.Orphan {
	o.Msg = 0
	if t := s.stamps.inPart(now); t != nil && o.Op.Kind == process.Request {
		o.Op.Arg = s.clients.words.Requests.Map(o.Op.Arg, t)
	}
	return o
}

// newOrphans makes the table of lists of orphaned requests; 0: none.
func newOrphans(m *memo.Memo) *memo.Table[string, []node.Orphan] {
	return memo.NewTable(m, memo.Entries[string, []node.Orphan]{
		What: "limit.of.orphaned", Key: codec.Key[[]node.Orphan],
		Fill: slices.Clone[[]node.Orphan], First: [][]node.Orphan{nil},
	})
}

// changed numbers the list that change makes of a copy of another. The next call uses its memory again.
func (s *Simulator) changed(id uint32, change func([]node.Orphan) []node.Orphan) uint32 {
	s.orphanList = change(append(s.orphanList[:0], *s.orphans.At(id)...))
	return s.orphans.ID(s.orphanList)
}

// orphansDue is the time until the next deadline of the requests of a list; Never: there is none.
func (t *Timing) orphansDue(list []node.Orphan) time.Duration {
	due := Never
	for i := range list {
		due = min(due, t.messageDue(list[i].Hold, list[i].Latest))
	}
	return due
}

// Orphan keeps the request of client c's thread under way.
func (v *view) Orphan(c, thread int8) {
	if v.s.Orphans(v.w) >= v.s.mostOrphans {
		v.s.room.Exceed("limit.orphaned", "most", v.s.mostOrphans)
		return
	}
	th := &v.w.procs[c-1].Threads[thread]
	op := *v.Op(c, thread)
	op.Open, op.D = false, 0 // no thread waits for it any longer
	o := node.Orphan{Op: op, Hold: th.Hold, Latest: th.Latest, Msg: th.Msg, From: c}
	v.w.orphans = v.s.changed(v.w.orphans, func(list []node.Orphan) []node.Orphan { return append(list, o) })
}

// DropOrphans loses the orphaned requests to server n that come from some clients.
func (v *view) DropOrphans(n int8, from history.ClientSet) {
	v.w.orphans = v.s.changed(v.w.orphans, func(list []node.Orphan) []node.Orphan {
		return slices.DeleteFunc(list, func(o node.Orphan) bool { return o.Op.Node == n && from.Has(uint8(o.From)) })
	})
}

// ReleaseOrphans has the orphaned requests go on that server n holds up.
func (v *view) ReleaseOrphans(n int8) {
	v.w.orphans = v.s.changed(v.w.orphans, func(list []node.Orphan) []node.Orphan {
		for i := range list {
			if list[i].Op.Node == n {
				list[i].Hold = 0
			}
		}
		return list
	})
}

// arriveOrphan has an orphaned request reach its server, or the resource.
func (v *view) arriveOrphan(c Choice) error {
	id := v.w.orphans
	list := *v.s.orphans.At(id)
	if c.Thread < 0 || int(c.Thread) >= len(list) || list[c.Thread].From != c.Client {
		return node.Refuse("refused.orphan")
	}
	o := list[c.Thread]
	if o.Hold > 0 {
		return node.Refuse("refused.orphan.held")
	}
	var err error
	if o.Op.Kind.ToServer() {
		v.s.stamps.arrive(v.w.now, &o.Op)
		err = v.happen(node.Input{What: node.ArrivedOrphan, Orphan: &o})
	} else {
		v.arriveResource(&o.Op, o.From, o.Msg)
	}
	held := (*node.Refused)(nil)
	if errors.As(err, &held) {
		err = nil
	}
	v.w.orphans = v.s.changed(id, func(list []node.Orphan) []node.Orphan {
		if held != nil {
			list[c.Thread] = o
			return list
		}
		return slices.Delete(list, int(c.Thread), int(c.Thread)+1)
	})
	return err
}

// orphansEnabled appends the arrivals of orphaned requests. Of several that are equal
// but for the number of their message it is that of the first.
func (s *Simulator) orphansEnabled(w *World, buf []Choice) []Choice {
	list := *s.orphans.At(w.orphans)
	for i := range list {
		if list[i].Hold == 0 && s.firstOrphan(list, s.orphanInPart(list[i], w.now), w.now) == i {
			buf = append(buf, arrivalOf(&list[i], i))
		}
	}
	return buf
}

// firstOrphan is the first of a list of a world at now that is o in its part; -1: none is.
func (s *Simulator) firstOrphan(list []node.Orphan, o node.Orphan, now time.Duration) int {
	return slices.IndexFunc(list, func(other node.Orphan) bool { return s.orphanInPart(other, now) == o })
}

// An OrphanedRequest is a request under way whose sender no longer waits.
type OrphanedRequest struct {
	Choice Choice // its arrival
	Msg    int    // the number of its message in the history
}

// OrphanedRequests appends the orphaned requests that can arrive in w, in the order
// of their places: also those of which Enabled lists only the first.
func (s *Simulator) OrphanedRequests(w *World, buf []OrphanedRequest) []OrphanedRequest {
	list := *s.orphans.At(w.orphans)
	for i := range list {
		if list[i].Hold == 0 {
			buf = append(buf, OrphanedRequest{arrivalOf(&list[i], i), int(list[i].Msg)})
		}
	}
	return buf
}

// orphansInPart is the list of a world as a part has it, sorted.
func (s *Simulator) orphansInPart(w *World) uint32 {
	if w.orphans == 0 {
		return 0
	}
	return s.changed(w.orphans, func(list []node.Orphan) []node.Orphan {
		for i := range list {
			list[i] = s.orphanInPart(list[i], w.now)
		}
		slices.SortFunc(list, compareOrphans)
		return list
	})
}

// Orphaned calls yield for every orphaned request of a part that can arrive: its choice, by its place in the part, and
// the server it goes to (0: the resource). Of several that are equal it is the first. It says how long it is until one
// more can; Never if none is held up.
func (ps Parts) Orphaned(r *RestPart, yield func(c Choice, node int)) (due time.Duration) {
	list := *ps.s.orphans.At(r.orphans)
	for i := range list {
		if o := &list[i]; o.Hold == 0 && (i == 0 || list[i-1] != *o) {
			yield(arrivalOf(o, i), max(int(o.Op.Node), 0))
		}
	}
	return ps.s.config.Timing.orphansDue(list)
}

// Orphans returns the number of orphaned requests in flight in w.
func (s *Simulator) Orphans(w *World) int { return len(*s.orphans.At(w.orphans)) }

// PlaceInPart returns the place in w's RestPart of the orphaned request at a place of w.
func (ps Parts) PlaceInPart(w *World, place int) (int, error) {
	if list := *ps.s.orphans.At(w.orphans); place >= 0 && place < len(list) {
		part := *ps.s.orphans.At(ps.s.orphansInPart(w))
		return slices.Index(part, ps.s.orphanInPart(list[place], w.now)), nil
	}
	return 0, fmt.Errorf("simulator: there is no orphaned request %d", place)
}

// PlaceInWorld returns the place in w, in which the clients have other names, of the orphan at a place of a part.
func (ps Parts) PlaceInWorld(w *World, part *RestPart, place int, to *history.Names) (int, error) {
	o := ps.s.Symmetry().orphan((*ps.s.orphans.At(part.orphans))[place], translate.Rename(to))
	if at := ps.s.firstOrphan(*ps.s.orphans.At(w.orphans), o, w.now); at >= 0 {
		return at, nil
	}
	return 0, fmt.Errorf("simulator: there is no such orphaned request of c%d", o.From)
}
