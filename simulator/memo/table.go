package memo

import (
	"locklab/simulator/history"
	"locklab/simulator/intern"
	"locklab/simulator/internal/clock"
	"locklab/simulator/internal/codec"
	"locklab/simulator/translate"
)

// A Table numbers values of one type.
type Table[K comparable, E any] struct {
	Entries[K, E]
	intern.Table[K, E]

	stamps []clock.Stamps // by number, as far as they were asked for
	moved  intern.Map[movedID, uint32]
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
	// Map is an entry in a translation; nil: its texts are. Sort makes what Map returns canonical; nil: it is.
	Map  func(E, *translate.Translation) E
	Sort func(E) E

	First []E // from number 0 on, in every table
}

// NewTable adds a table to those of m.
func NewTable[K comparable, E any](m *Memo, of Entries[K, E]) *Table[K, E] {
	t := &Table[K, E]{Entries: of, moved: intern.Map[movedID, uint32]{}}
	t.Table = intern.NewTable[K, E](m.Room, of.What, nil)
	m.tables = append(m.tables, t)
	t.Clear()
	return t
}

// ID numbers a value. If there is no number left, that is noted as a limit.
func (t *Table[K, E]) ID(e E) uint32 {
	key := t.Key(e)
	if id, ok := t.Find(key); ok {
		return id
	}
	if t.Fill != nil { // which may number others
		e = t.Fill(e)
	}
	id, fresh := t.Number(key)
	if fresh {
		t.Values[id] = e
	}
	return id
}

// Has reports whether there is a value with a number.
func (t *Table[K, E]) Has(id uint32) bool { return int(id) < t.Len() }

// Clear discards all values but the first ones.
func (t *Table[K, E]) Clear() {
	t.Table.Clear()
	clear(t.moved)
	t.stamps = t.stamps[:0]
	for _, e := range t.First {
		t.ID(e)
	}
}

// Words implements [node.Vocabulary].
func (t *Table[K, E]) Words(id uint32) []string { return t.Text(t.Values[id]) }

// Named implements [node.Vocabulary].
func (t *Table[K, E]) Named(id uint32) (named history.ClientSet) {
	codec.Replace(t.Values[id], func(text string) string {
		named |= history.Named(text)
		return text
	})
	return named
}

// Map implements [node.Vocabulary]. What moved time stamps make of an entry is remembered.
func (t *Table[K, E]) Map(id uint32, by *translate.Translation) uint32 {
	if !by.Moves() {
		return t.ID(t.mapped(id, by))
	}
	if by.By == (clock.Shift{}) || t.Stamps(id).Grain == 0 {
		return id
	}
	to, _ := t.moved.Get(movedID{id, by.By}, func() (uint32, error) { return t.ID(t.mapped(id, by)), nil })
	return to
}

// Same implements [node.Vocabulary].
func (t *Table[K, E]) Same(a, b uint32, by *translate.Translation) bool {
	return t.Key(t.mapped(a, by)) == t.Key(t.Values[b])
}

// Stamps implements [node.Vocabulary].
func (t *Table[K, E]) Stamps(id uint32) clock.Stamps {
	for n := len(t.stamps); n < len(t.Values); n++ {
		has := clock.NoStamps
		codec.ReplaceNumerals(t.Values[n], func(text string) string {
			has.Add(text)
			return text
		})
		t.stamps = append(t.stamps, has)
	}
	return t.stamps[id]
}

// Write implements [node.Vocabulary].
func (t *Table[K, E]) Write(id uint32) map[string]string { return codec.Leaves(t.Values[id]) }

// Read implements [node.Vocabulary].
func (t *Table[K, E]) Read(written map[string]string) (uint32, error) {
	e, err := codec.FromLeaves[E](written)
	if err != nil {
		return 0, err
	}
	return t.ID(t.sorted(e)), nil
}

func (t *Table[K, E]) mapped(id uint32, by *translate.Translation) (e E) {
	if t.Entries.Map != nil {
		e = t.Entries.Map(t.Values[id], by)
	} else {
		e = translate.Value(t.Values[id], by)
	}
	return t.sorted(e)
}

func (t *Table[K, E]) sorted(e E) E {
	if t.Sort != nil {
		return t.Sort(e)
	}
	return e
}
