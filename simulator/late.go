package simulator

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/table"
)

// Requests under way whose sender gave up or died. A world names a list of them,
// in the order in which they were left behind, so that the place of one, which
// stands in choices and in traces, is the same in every lab. What becomes of the
// world does not depend on that order: RestPart has the same requests in an order
// of its own.

// lateState is a request whose sender gave up or died while it was on the way.
type lateState struct {
	token uint64
	hold  time.Duration // it does not arrive before, true time
	batch uint32
	base  int32
	msg   uint32
	kind  opKind
	node  int8
	from  int8
}

// maxLate is how many can be told apart by a Choice.
const maxLate = 127

func newLate(o op, from int8, th *threadState) lateState {
	return lateState{token: o.token, hold: th.hold, msg: th.msg, batch: o.batch, base: o.base, kind: o.kind, node: o.node, from: from}
}

func (s *lateState) op() op {
	return op{kind: s.kind, node: s.node, batch: s.batch, base: s.base, token: s.token}
}

// choice is its arrival, at a place of a list.
func (s *lateState) choice(place int) Choice {
	return Choice{Verb: Orphaned, Client: s.from, Thread: int8(place)}
}

// compare is an order in which requests are equal that come to the same: but for
// the numbers of their messages.
func (s lateState) compare(o lateState) int {
	return cmp.Or(cmp.Compare(s.from, o.from), cmp.Compare(s.node, o.node), cmp.Compare(s.kind, o.kind), cmp.Compare(s.batch, o.batch),
		cmp.Compare(s.base, o.base), cmp.Compare(s.token, o.token), cmp.Compare(s.hold, o.hold))
}

// relative is how it stands at now: without its number, and held up for so long.
func (s lateState) relative(now time.Duration) lateState {
	s.msg = 0
	if s.hold != clock.Never {
		s.hold = max(s.hold-now, 0)
	}
	return s
}

// absolute is s, which was taken as if it were the beginning of time, at now.
func (s lateState) absolute(now time.Duration) lateState {
	if s.hold > 0 {
		s.hold = clock.Later(now, s.hold)
	}
	return s
}

// lateTable numbers lists of late requests.
type lateTable struct {
	room  *table.Room
	lists [][]lateState // 0: none
	ids   map[string]uint32
	list  []lateState // of whoever makes a new one
	key   []byte
	max   int // requests of one world
}

func newLateTable(r *table.Room) *lateTable {
	t := &lateTable{room: r, ids: map[string]uint32{}, max: maxLate}
	t.clear()
	return t
}

func (t *lateTable) clear() {
	t.lists = append(table.Emptied(t.lists), nil)
	clear(t.ids)
}

// blank is an empty list, to be filled and interned at once.
func (t *lateTable) blank() []lateState { return t.list[:0] }

// intern numbers a list, and may keep its room for the next blank.
func (t *lateTable) intern(list []lateState) uint32 {
	t.list = list
	if len(list) == 0 {
		return 0
	}
	key := t.key[:0]
	for i := range list {
		s := &list[i]
		key = append(key, byte(s.kind), byte(s.node), byte(s.from))
		key = binary.LittleEndian.AppendUint64(key, s.token)
		key = binary.LittleEndian.AppendUint64(key, uint64(s.hold))
		key = binary.LittleEndian.AppendUint32(key, s.batch)
		key = binary.LittleEndian.AppendUint32(key, uint32(s.base))
		key = binary.LittleEndian.AppendUint32(key, s.msg)
	}
	t.key = key
	if id, ok := t.ids[string(key)]; ok {
		return id
	}
	id, ok := t.room.Next(len(t.lists), "lists of late requests")
	if ok {
		t.lists = append(t.lists, slices.Clone(list))
		t.ids[string(key)] = id
	}
	return id
}

// addLate keeps a request under way.
func (l *Simulator) addLate(w *World, o op, from int8, th *threadState) {
	old := l.lates.lists[w.late]
	if len(old) >= l.lates.max {
		l.room.Exceed("more than %d requests are under way whose senders no longer wait: give the clients fewer attempts, or the faults a smaller budget", l.lates.max)
		return
	}
	w.late = l.lates.intern(append(append(l.lates.blank(), old...), newLate(o, from, th)))
}

// dropLate forgets the late requests of which gone is true.
func (l *Simulator) dropLate(w *World, gone func(s *lateState) bool) {
	if w.late == 0 {
		return
	}
	list := append(l.lates.blank(), l.lates.lists[w.late]...)
	w.late = l.lates.intern(slices.DeleteFunc(list, func(s lateState) bool { return gone(&s) }))
}

// lateEnabled appends the arrivals of late requests. Of several that are equal but
// for the number of their message it is that of the first.
func (l *Simulator) lateEnabled(w *World, buf []Choice) []Choice {
	list := l.lates.lists[w.late]
	for i := range list {
		if list[i].hold <= w.now && firstLate(list, list[i].relative(w.now), w.now) == i {
			buf = append(buf, list[i].choice(i))
		}
	}
	return buf
}

// firstLate is the first of a list that is s, as it stands at now; -1: none is.
func firstLate(list []lateState, s lateState, now time.Duration) int {
	return slices.IndexFunc(list, func(o lateState) bool { return o.relative(now) == s })
}

// A LateRequest is a request under way whose sender no longer waits.
type LateRequest struct {
	Choice Choice // its arrival
	Msg    int    // the number of its message in the history
}

// LateRequests appends the late requests that can arrive in w, in the order of
// their places: also those of which Enabled lists only the first.
func (l *Simulator) LateRequests(w *World, buf []LateRequest) []LateRequest {
	list := l.lates.lists[w.late]
	for i := range list {
		if list[i].hold <= w.now {
			buf = append(buf, LateRequest{list[i].choice(i), int(list[i].msg)})
		}
	}
	return buf
}

// canonicalLate is the list of a world as a part has it: sorted, as it stands at
// now.
func (l *Simulator) canonicalLate(id uint32, now time.Duration) uint32 {
	if id == 0 {
		return 0
	}
	list := l.lates.blank()
	for _, s := range l.lates.lists[id] {
		list = append(list, s.relative(now))
	}
	slices.SortFunc(list, lateState.compare)
	return l.lates.intern(list)
}

// absoluteLate is the list of a part in a world at now.
func (l *Simulator) absoluteLate(id uint32, now time.Duration) uint32 {
	if id == 0 || now == 0 {
		return id
	}
	list := l.lates.blank()
	for _, s := range l.lates.lists[id] {
		list = append(list, s.absolute(now))
	}
	return l.lates.intern(list)
}

// PartLate calls yield for every late request of a part that can arrive: its
// choice, by its place in the part, and the server it goes to (0: the resource). Of
// several that are equal it is the first. It says how long it is until one more
// can; Never if none is held up.
func (l *Simulator) PartLate(r *RestPart, yield func(c Choice, node int)) (due time.Duration) {
	due = clock.Never
	list := l.lates.lists[r.late]
	for i := range list {
		switch o := &list[i]; {
		case o.hold > 0:
			due = min(due, o.hold)
		case i == 0 || list[i-1] != *o:
			yield(o.choice(i), max(int(o.node), 0))
		}
	}
	return due
}

// PlaceInPart is where the late request at a place of w stands in w's RestPart.
func (l *Simulator) PlaceInPart(w *World, place int) (int, error) {
	if list := l.lates.lists[w.late]; place >= 0 && place < len(list) {
		part := l.lates.lists[l.canonicalLate(w.late, w.now)]
		return firstLate(part, list[place].relative(w.now), 0), nil
	}
	return 0, fmt.Errorf("simulator: there is no late request %d", place)
}

// PlaceInWorld is where the late request at a place of a part stands in w, in
// which the clients have other names.
func (l *Simulator) PlaceInWorld(w *World, part *RestPart, place int, to *Names) (int, error) {
	s, err := l.renameLate(l.lates.lists[part.late][place], to)
	if err != nil {
		return 0, err
	}
	if at := firstLate(l.lates.lists[w.late], s, w.now); at >= 0 {
		return at, nil
	}
	return 0, fmt.Errorf("simulator: there is no such late request of c%d", s.from)
}

// renameLate is a late request with the clients renamed in it.
func (l *Simulator) renameLate(s lateState, to *Names) (lateState, error) {
	s.from = int8(to[s.from])
	if s.kind != opCommand {
		return s, nil
	}
	var commands [][]string
	b := &l.table.batches[s.batch]
	for _, c := range b.commands {
		renamed := make([]string, len(c))
		for j, arg := range c {
			renamed[j] = renameText(arg, to)
		}
		commands = append(commands, renamed)
	}
	var err error
	s.batch, err = l.table.internBatch(b.link.rename(to), writeBatch(commands))
	return s, err
}

// RenameRest is the rest with the clients renamed in the requests under way.
func (l *Simulator) RenameRest(part RestPart, to *Names) (RestPart, error) {
	if part.late == 0 {
		return part, nil
	}
	var list []lateState // interning a batch may come between
	for _, s := range l.lates.lists[part.late] {
		s, err := l.renameLate(s, to)
		if err != nil {
			return part, err
		}
		list = append(list, s)
	}
	slices.SortFunc(list, lateState.compare)
	part.late = l.lates.intern(list)
	return part, l.room.Take()
}
