package explore

import "locklab/simulator/intern"

// store holds all states: their words, how each was first reached, and an index by
// their words. It grows by blocks, so that only the index is ever copied.
type store struct {
	width  int // words of a state
	blocks []block
	n      int
	index  intern.Index
}

// block is blockSize states.
type block struct {
	words  []uint32
	parent []uint32 // the state from which it was first reached
	via    []uint16 // by which choice
	depth  []uint32 // in how many steps
}

const (
	blockBits = 14
	blockSize = 1 << blockBits
)

func newStore(width int) *store { return &store{width: width, index: make(intern.Index, 1<<10)} }

func (s *store) words(id uint32) []uint32 {
	at := int(id&(blockSize-1)) * s.width
	return s.blocks[id>>blockBits].words[at : at+s.width : at+s.width]
}

// view is for reading the words of the present states while others are added.
func (s *store) view() *store {
	return &store{width: s.width, blocks: s.blocks[:len(s.blocks):len(s.blocks)]}
}

func (s *store) parent(id uint32) uint32 { return s.blocks[id>>blockBits].parent[id&(blockSize-1)] }
func (s *store) via(id uint32) uint16    { return s.blocks[id>>blockBits].via[id&(blockSize-1)] }
func (s *store) depth(id uint32) uint32  { return s.blocks[id>>blockBits].depth[id&(blockSize-1)] }

// find returns the tag of a state, and where the index has it, or would.
func (s *store) find(words []uint32) (tag, at uint32) {
	tag = tagOf(words)
	at = s.index.At(tag)
	for s.index[at].ID != 0 && (s.index[at].Tag != tag || !same(s.words(s.index[at].ID-1), words)) {
		at = s.index.After(at)
	}
	return tag, at
}

// has reports whether a state was added.
func (s *store) has(words []uint32) bool {
	_, at := s.find(words)
	return s.index[at].ID != 0
}

// add numbers a state if it is new.
func (s *store) add(words []uint32, parent uint32, via uint16, depth uint32) (id uint32, fresh bool) {
	tag, at := s.find(words)
	if there := s.index[at].ID; there != 0 {
		return there - 1, false
	}
	id = uint32(s.n)
	if id&(blockSize-1) == 0 {
		s.blocks = append(s.blocks, block{
			words: make([]uint32, blockSize*s.width), parent: make([]uint32, blockSize),
			via: make([]uint16, blockSize), depth: make([]uint32, blockSize),
		})
	}
	b, i := &s.blocks[id>>blockBits], id&(blockSize-1)
	copy(b.words[int(i)*s.width:], words)
	b.parent[i], b.via[i], b.depth[i] = parent, via, depth
	s.index[at] = intern.Slot{ID: id + 1, Tag: tag}
	s.n++
	if s.index.Full(s.n) {
		s.index = s.index.Grown()
	}
	return id, true
}

// shorten replaces the way to a state by a shorter one.
func (s *store) shorten(id, parent uint32, via uint16, depth uint32) {
	b, i := &s.blocks[id>>blockBits], id&(blockSize-1)
	b.parent[i], b.via[i], b.depth[i] = parent, via, depth
}

// growth is the memory of a larger index, if one will soon be needed beside the present one.
func (s *store) growth() int64 {
	const soon = 1 << 17
	if !s.index.Full(s.n + soon) {
		return 0
	}
	return 2 * int64(len(s.index)) * 8
}

// bytes is the memory of the states and their index.
func (s *store) bytes() int64 {
	return int64(len(s.blocks))*int64(blockSize)*int64(4*s.width+10) + int64(len(s.index))*8
}

func same(a, b []uint32) bool {
	for i, x := range b {
		if a[i] != x {
			return false
		}
	}
	return true
}

func tagOf(words []uint32) uint32 {
	h := uint64(len(words)) * 0x9e3779b97f4a7c15
	for _, w := range words {
		h = (h ^ uint64(w)) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	return uint32(h)
}
