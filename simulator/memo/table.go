package memo

import (
	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/codec"
	"locklab/simulator/internal/table"
)

// A Table numbers values of one type.
type Table[K comparable, E any] struct {
	Entries[K, E]
	room *table.Room
	ids  map[K]uint32
	list []E

	stamps []clock.Stamps // by number, as far as they were asked for
	moved  map[movedID]uint32
}

// A movedID is an entry whose time stamps are moved.
type movedID struct {
	id uint32
	by clock.Shift
}

// Entries describes the entries of a table: plain values, as package codec has them. Only What and
// Key must be set. Entries without a key of their own have their encoding, [codec.Key].
type Entries[K comparable, E any] struct {
	What string           // the key of the text that names them where there are too many
	Key  func(E) K        // equal values have equal keys, others have others
	Fill func(E) E        // fills in the derived fields of a new entry
	Text func(E) []string // of an entry, as histories show it
	// Rename renames the clients in an entry; nil: those in its texts. Sort brings an entry whose
	// texts were renamed into its canonical form.
	Rename func(E, *history.Names) E
	// Replace is an entry with other texts, but for names that connections have, in its canonical form; nil: all are replaced.
	Replace func(E, func(string) string) E
	Sort    func(E) E
	// Recount is an entry with other numbers of what counts, in its canonical form; nil: those in its texts.
	Recount func(E, history.Recount) E

	First []E // from number 0 on, in every table
}

// NewTable adds a table to those of m.
func NewTable[K comparable, E any](m *Memo, of Entries[K, E]) *Table[K, E] {
	t := &Table[K, E]{Entries: of, room: m.Room, ids: map[K]uint32{}, moved: map[movedID]uint32{}}
	m.tables = append(m.tables, t)
	t.clear()
	return t
}

// ID numbers a value. If there is no number left, that is noted as a limit.
func (t *Table[K, E]) ID(e E) uint32 {
	key := t.Key(e)
	if id, ok := t.ids[key]; ok {
		return id
	}
	t.room.Grow()
	if t.Fill != nil { // which may number others
		e = t.Fill(e)
	}
	id, ok := t.room.Next(len(t.list), t.What)
	if ok {
		t.ids[key] = id
		t.list = append(t.list, e)
	}
	return id
}

// Find is the number of the value with a key, if it has one.
func (t *Table[K, E]) Find(key K) (id uint32, ok bool) {
	id, ok = t.ids[key]
	return id, ok
}

// At is the value with a number. It is good until another one is numbered, and must not be changed.
func (t *Table[K, E]) At(id uint32) *E { return &t.list[id] }

// All are the values in the order of their numbers.
func (t *Table[K, E]) All() []E { return t.list }

// Len is the number of values, and Has reports whether there is one with a number.
func (t *Table[K, E]) Len() int           { return len(t.list) }
func (t *Table[K, E]) Has(id uint32) bool { return int(id) < len(t.list) }

func (t *Table[K, E]) clear() {
	t.list = table.Emptied(t.list)
	clear(t.ids)
	clear(t.moved)
	t.stamps = t.stamps[:0]
	for _, e := range t.First {
		t.ID(e)
	}
}

// Words implements [node.Vocabulary].
func (t *Table[K, E]) Words(id uint32) []string { return t.Text(t.list[id]) }

// Named implements [node.Vocabulary].
func (t *Table[K, E]) Named(id uint32) (named bool) {
	codec.Replace(t.list[id], func(text string) string {
		named = named || history.NamesAny(text)
		return text
	})
	return named
}

// Renamed implements [node.Vocabulary].
func (t *Table[K, E]) Renamed(id uint32, to *history.Names) uint32 { return t.ID(t.renamed(id, to)) }

// Same implements [node.Vocabulary].
func (t *Table[K, E]) Same(a, b uint32, to *history.Names) bool {
	return t.Key(t.renamed(a, to)) == t.Key(t.list[b])
}

// Replaced implements [node.Vocabulary].
func (t *Table[K, E]) Replaced(id uint32, text func(string) string) uint32 {
	if t.Replace != nil {
		return t.ID(t.Replace(t.list[id], text))
	}
	return t.ID(t.replaced(id, text))
}

// Recounted implements [node.Vocabulary].
func (t *Table[K, E]) Recounted(id uint32, f history.Recount) uint32 {
	if t.Recount != nil {
		return t.ID(t.Recount(t.list[id], f))
	}
	return t.Replaced(id, f.Text)
}

// Stamps implements [node.Vocabulary].
func (t *Table[K, E]) Stamps(id uint32) clock.Stamps {
	for n := len(t.stamps); n < len(t.list); n++ {
		t.room.Grow()
		has := clock.NoStamps
		codec.ReplaceNumerals(t.list[n], func(text string) string {
			has.Add(text)
			return text
		})
		t.stamps = append(t.stamps, has)
	}
	return t.stamps[id]
}

// Moved implements [node.Vocabulary].
func (t *Table[K, E]) Moved(id uint32, by clock.Shift) uint32 {
	if by == (clock.Shift{}) || t.Stamps(id).Grain == 0 {
		return id
	}
	to, ok := t.moved[movedID{id, by}]
	if !ok {
		t.room.Grow()
		to = t.ID(t.sorted(codec.ReplaceNumerals(t.list[id], func(text string) string { return clock.MoveStamps(text, by) })))
		t.moved[movedID{id, by}] = to
	}
	return to
}

// Write implements [node.Vocabulary].
func (t *Table[K, E]) Write(id uint32) map[string]string { return codec.Leaves(t.list[id]) }

// Read implements [node.Vocabulary].
func (t *Table[K, E]) Read(written map[string]string) (uint32, error) {
	e, err := codec.FromLeaves[E](written)
	if err == nil && t.Sort != nil {
		e = t.Sort(e)
	}
	if err != nil {
		return 0, err
	}
	return t.ID(e), nil
}

func (t *Table[K, E]) renamed(id uint32, to *history.Names) E {
	if t.Rename != nil {
		return t.Rename(t.list[id], to)
	}
	return t.replaced(id, to.Rename)
}

// replaced is an entry with other texts, in its canonical form.
func (t *Table[K, E]) replaced(id uint32, text func(string) string) E {
	return t.sorted(codec.Replace(t.list[id], text))
}

func (t *Table[K, E]) sorted(e E) E {
	if t.Sort != nil {
		return t.Sort(e)
	}
	return e
}
