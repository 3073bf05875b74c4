package explore

// store holds all states: their words, how each was first reached, and an index by
// their words. It grows by blocks, so that only the index is ever copied.
type store struct {
	width  int // words of a state
	blocks []block
	n      int
	index  []slot // open addressing
}

// block is blockSize states.
type block struct {
	words  []uint32
	parent []uint32 // the state from which it was first reached
	via    []uint16 // by which choice
	depth  []uint32 // in how many steps
}

func newBlock(width int) block {
	return block{
		words: make([]uint32, blockSize*width), parent: make([]uint32, blockSize),
		via: make([]uint16, blockSize), depth: make([]uint32, blockSize),
	}
}

const (
	blockBits = 14
	blockSize = 1 << blockBits
)

// slot is the number of a state plus one, with its tag, some bits of its hash. The last of these say where the index
// has it, the others tell most other states apart without a look at their words.
type slot struct{ id, tag uint32 }

func newStore(width int) *store { return &store{width: width, index: make([]slot, 1<<10)} }

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

// slotOf returns where the index has a state, or would have it, and the tag of its hash.
func (s *store) slotOf(words []uint32) (at, tag uint32) {
	tag = tagOf(words)
	mask := uint32(len(s.index) - 1)
	at = tag & mask
	for s.index[at].id != 0 && (s.index[at].tag != tag || !same(s.words(s.index[at].id-1), words)) {
		at = (at + 1) & mask
	}
	return at, tag
}

// find returns the number of a state, and whether there is one.
func (s *store) find(words []uint32) (id uint32, found bool) {
	at, _ := s.slotOf(words)
	return s.index[at].id - 1, s.index[at].id != 0
}

// add numbers a state if it is new.
func (s *store) add(words []uint32, parent uint32, via uint16, depth uint32) (id uint32, fresh bool) {
	at, tag := s.slotOf(words)
	if there := s.index[at].id; there != 0 {
		return there - 1, false
	}
	id = uint32(s.n)
	if id&(blockSize-1) == 0 {
		s.blocks = append(s.blocks, newBlock(s.width))
	}
	b, i := &s.blocks[id>>blockBits], id&(blockSize-1)
	copy(b.words[int(i)*s.width:], words)
	b.parent[i], b.via[i], b.depth[i] = parent, via, depth
	s.index[at] = slot{id + 1, tag}
	s.n++
	if s.n*5 > len(s.index)*4 {
		s.grow()
	}
	return id, true
}

// shorten replaces the way to a state by a shorter one.
func (s *store) shorten(id, parent uint32, via uint16, depth uint32) {
	b, i := &s.blocks[id>>blockBits], id&(blockSize-1)
	b.parent[i], b.via[i], b.depth[i] = parent, via, depth
}

// grow doubles the index. It looks at no state: where the index has one depends on its tag.
func (s *store) grow() {
	old := s.index
	s.index = make([]slot, 2*len(old))
	for _, there := range old {
		if there.id != 0 {
			s.put(there)
		}
	}
}

// put enters a state that the index has not.
func (s *store) put(new slot) {
	mask := uint32(len(s.index) - 1)
	at := new.tag & mask
	for s.index[at].id != 0 {
		at = (at + 1) & mask
	}
	s.index[at] = new
}

// growth is the memory of a larger index, if one will soon be needed beside the present one.
func (s *store) growth() int64 {
	const soon = 1 << 17
	if (s.n+soon)*5 <= len(s.index)*4 {
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
