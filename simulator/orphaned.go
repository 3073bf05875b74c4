package simulator

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/table"
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// Orphaned requests are under way though their sender gave up or died. A world names
// a list of them, in the order in which they were orphaned, so that the place of
// one, which stands in choices and in traces, is the same in every simulator. What
// follows from the world does not depend on that order: a RestPart has the same
// requests in an order of its own.

// maxOrphans is how many can be told apart by a Choice.
const maxOrphans = 127

// arrivalOf is the arrival of an orphaned request at a place of a list.
func arrivalOf(o *node.Orphan, place int) Choice {
	return Choice{Verb: Orphaned, Client: o.From, Thread: int8(place)}
}

// compareOrphans is an order in which requests are equal that come to the same: but
// for the numbers of their messages.
func compareOrphans(a, b node.Orphan) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Op.Node, b.Op.Node), cmp.Compare(a.Op.Kind, b.Op.Kind), cmp.Compare(a.Op.Arg, b.Op.Arg),
		cmp.Compare(a.Op.Base, b.Op.Base), cmp.Compare(a.Op.Token, b.Op.Token), cmp.Compare(a.Op.Lease, b.Op.Lease),
		cmp.Compare(a.Hold, b.Hold), cmp.Compare(a.Latest, b.Latest))
}

// relativeOrphan is an orphaned request as it stands at now: without its number, and
// held up for so long.
func relativeOrphan(o node.Orphan, now time.Duration) node.Orphan {
	o.Msg = 0
	if o.Hold != Never {
		o.Hold = max(o.Hold-now, 0)
	}
	if o.Latest != Never {
		o.Latest = max(o.Latest-now, 0)
	}
	return o
}

// orphanTable numbers lists of orphaned requests.
type orphanTable struct {
	room  *table.Room
	lists [][]node.Orphan // 0: none
	ids   map[string]uint32
	list  []node.Orphan // memory for the next new list
	key   []byte
	max   int // requests of one world
}

func newOrphanTable(r *table.Room) *orphanTable {
	t := &orphanTable{room: r, ids: map[string]uint32{}, max: maxOrphans}
	t.clear()
	return t
}

func (t *orphanTable) clear() {
	t.lists = append(table.Emptied(t.lists), nil)
	clear(t.ids)
}

// blank is an empty list, to be filled and interned at once.
func (t *orphanTable) blank() []node.Orphan { return t.list[:0] }

// intern numbers a list, and may keep its memory for the next blank.
func (t *orphanTable) intern(list []node.Orphan) uint32 {
	t.list = list
	if len(list) == 0 {
		return 0
	}
	key := t.key[:0]
	for i := range list {
		o := &list[i]
		key = append(key, byte(o.Op.Kind), byte(o.Op.Node), byte(o.Op.Lease), byte(o.From))
		key = binary.LittleEndian.AppendUint64(key, o.Op.Token)
		key = binary.LittleEndian.AppendUint64(key, uint64(o.Hold))
		key = binary.LittleEndian.AppendUint64(key, uint64(o.Latest))
		key = binary.LittleEndian.AppendUint32(key, o.Op.Arg)
		key = binary.LittleEndian.AppendUint32(key, uint32(o.Op.Base))
		key = binary.LittleEndian.AppendUint32(key, o.Msg)
	}
	t.key = key
	if id, ok := t.ids[string(key)]; ok {
		return id
	}
	id, ok := t.room.Next(len(t.lists), "limit.of.orphaned")
	if ok {
		t.lists = append(t.lists, slices.Clone(list))
		t.ids[string(key)] = id
	}
	return id
}

// addOrphan keeps the request of client c's thread under way.
func (s *Simulator) addOrphan(w *World, c, thread int8) {
	old := s.orphans.lists[w.orphans]
	if len(old) >= s.orphans.max {
		s.room.Exceed("limit.orphaned", "most", s.orphans.max)
		return
	}
	th := &w.procs[c-1].Threads[thread]
	op := *s.op(w, c, thread)
	op.Open = false // nobody waits for it any more
	o := node.Orphan{Op: op, Hold: th.Hold, Latest: th.Latest, Msg: th.Msg, From: c}
	w.orphans = s.orphans.intern(append(append(s.orphans.blank(), old...), o))
}

// dropOrphans loses the orphaned requests to server n that come from some clients.
func (s *Simulator) dropOrphans(w *World, n int8, from node.Set) {
	if w.orphans == 0 {
		return
	}
	list := append(s.orphans.blank(), s.orphans.lists[w.orphans]...)
	w.orphans = s.orphans.intern(slices.DeleteFunc(list, func(o node.Orphan) bool { return o.Op.Node == n && from.Has(o.From) }))
}

// releaseOrphans has the orphaned requests go on that server n holds up.
func (s *Simulator) releaseOrphans(w *World, n int8) {
	if w.orphans == 0 {
		return
	}
	list := append(s.orphans.blank(), s.orphans.lists[w.orphans]...)
	for i := range list {
		if list[i].Op.Node == n {
			list[i].Hold = 0
		}
	}
	w.orphans = s.orphans.intern(list)
}

// arriveOrphan has an orphaned request reach its server, or the resource.
func (s *Simulator) arriveOrphan(w *World, c Choice) error {
	list := s.orphans.lists[w.orphans]
	if c.Thread < 0 || int(c.Thread) >= len(list) || list[c.Thread].From != c.Client {
		return s.refuse(w, c, "refused.orphan")
	}
	o := list[c.Thread]
	if o.Hold > w.now {
		return s.refuse(w, c, "refused.orphan.held")
	}
	held, err := "", error(nil)
	if o.Op.Kind.ToServer() {
		held, err = s.happen(w, node.Event{What: node.ArrivedOrphan, Orphan: &o})
	} else {
		s.arriveResource(w, &o.Op, o.From, o.Msg)
	}
	rest := append(s.orphans.blank(), list...)
	if held != "" {
		rest[c.Thread] = o
	} else {
		rest = slices.Delete(rest, int(c.Thread), int(c.Thread)+1)
	}
	w.orphans = s.orphans.intern(rest)
	return err
}

// orphansEnabled appends the arrivals of orphaned requests. Of several that are equal
// but for the number of their message it is that of the first.
func (s *Simulator) orphansEnabled(w *World, buf []Choice) []Choice {
	list := s.orphans.lists[w.orphans]
	for i := range list {
		if list[i].Hold <= w.now && firstOrphan(list, relativeOrphan(list[i], w.now), w.now) == i {
			buf = append(buf, arrivalOf(&list[i], i))
		}
	}
	return buf
}

// firstOrphan is the first of a list that is o, as it stands at now; -1: none is.
func firstOrphan(list []node.Orphan, o node.Orphan, now time.Duration) int {
	return slices.IndexFunc(list, func(other node.Orphan) bool { return relativeOrphan(other, now) == o })
}

// An OrphanedRequest is a request under way whose sender no longer waits.
type OrphanedRequest struct {
	Choice Choice // its arrival
	Msg    int    // the number of its message in the history
}

// OrphanedRequests appends the orphaned requests that can arrive in w, in the order
// of their places: also those of which Enabled lists only the first.
func (s *Simulator) OrphanedRequests(w *World, buf []OrphanedRequest) []OrphanedRequest {
	list := s.orphans.lists[w.orphans]
	for i := range list {
		if list[i].Hold <= w.now {
			buf = append(buf, OrphanedRequest{arrivalOf(&list[i], i), int(list[i].Msg)})
		}
	}
	return buf
}

// relativeOrphans is the list of a world as a part has it: sorted, as it stands at
// now.
func (s *Simulator) relativeOrphans(id uint32, now time.Duration) uint32 {
	if id == 0 {
		return 0
	}
	list := s.orphans.blank()
	for _, o := range s.orphans.lists[id] {
		list = append(list, relativeOrphan(o, now))
	}
	slices.SortFunc(list, compareOrphans)
	return s.orphans.intern(list)
}

// absoluteOrphans is the list of a part in a world at now.
func (s *Simulator) absoluteOrphans(id uint32, now time.Duration) uint32 {
	if id == 0 || now == 0 {
		return id
	}
	list := s.orphans.blank()
	for _, o := range s.orphans.lists[id] {
		if o.Hold > 0 {
			o.Hold = clock.Later(now, o.Hold)
		}
		if s.config.Timing != nil {
			o.Latest = clock.Later(now, o.Latest)
		}
		list = append(list, o)
	}
	return s.orphans.intern(list)
}

// PartOrphaned calls yield for every orphaned request of a part that can arrive: its
// choice, by its place in the part, and the server it goes to (0: the resource). Of
// several that are equal it is the first. It says how long it is until one more
// can; Never if none is held up.
func (s *Simulator) PartOrphaned(r *RestPart, yield func(c Choice, node int)) (due time.Duration) {
	due = Never
	list := s.orphans.lists[r.orphans]
	for i := range list {
		o := &list[i]
		due = min(due, s.messageDue(o.Hold, o.Latest, 0))
		switch {
		case o.Hold > 0:
		case i == 0 || list[i-1] != *o:
			yield(arrivalOf(o, i), max(int(o.Op.Node), 0))
		}
	}
	return due
}

// Orphans is how many orphaned requests are under way in w.
func (s *Simulator) Orphans(w *World) int { return len(s.orphans.lists[w.orphans]) }

// PlaceInPart is where the orphaned request at a place of w stands in w's RestPart.
func (s *Simulator) PlaceInPart(w *World, place int) (int, error) {
	if list := s.orphans.lists[w.orphans]; place >= 0 && place < len(list) {
		part := s.orphans.lists[s.relativeOrphans(w.orphans, w.now)]
		return firstOrphan(part, relativeOrphan(list[place], w.now), 0), nil
	}
	return 0, fmt.Errorf("simulator: there is no orphaned request %d", place)
}

// PlaceInWorld is where the orphaned request at a place of a part stands in w, in
// which the clients have other names.
func (s *Simulator) PlaceInWorld(w *World, part *RestPart, place int, to *Names) (int, error) {
	o, err := s.renameOrphan(s.orphans.lists[part.orphans][place], to)
	if err != nil {
		return 0, err
	}
	if at := firstOrphan(s.orphans.lists[w.orphans], o, w.now); at >= 0 {
		return at, nil
	}
	return 0, fmt.Errorf("simulator: there is no such orphaned request of c%d", o.From)
}

// renameOrphan is an orphaned request with the clients renamed in it.
func (s *Simulator) renameOrphan(o node.Orphan, to *Names) (_ node.Orphan, err error) {
	o.From = int8(to[o.From])
	if o.Op.Kind == process.Request {
		o.Op.Arg, err = s.words.Requests.Renamed(o.Op.Arg, to)
	}
	return o, err
}

// RenameRest is the rest with the clients renamed in the requests under way.
func (s *Simulator) RenameRest(part RestPart, to *Names) (RestPart, error) {
	if part.orphans == 0 {
		return part, nil
	}
	var list []node.Orphan
	for _, o := range s.orphans.lists[part.orphans] {
		o, err := s.renameOrphan(o, to)
		if err != nil {
			return part, err
		}
		list = append(list, o)
	}
	slices.SortFunc(list, compareOrphans)
	part.orphans = s.orphans.intern(list)
	return part, s.room.Take()
}
