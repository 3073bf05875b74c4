package explore

import "sync/atomic"

// memo is a map of effects by what they depend on. It is faster than a Go map because
// it knows the form of the key. While one goroutine puts effects others may get them from copies of the memo.
type memo struct {
	slots []memoSlot
	n     int
}

type memoSlot struct {
	key  effectKey
	used uint32 // 1: the slot is filled, and does not change; set last
	eff  effect
}

func (k *effectKey) hash() uint64 {
	h := (uint64(k.client)<<32 | uint64(k.node)) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	h = (h ^ (uint64(k.rest)<<32 | uint64(k.now)) ^ uint64(k.choice)<<20 ^ uint64(k.who)<<12) * 0xff51afd7ed558ccd
	return h ^ h>>32
}

func (m *memo) get(key *effectKey) (effect, bool) {
	if m.n == 0 {
		return effect{}, false
	}
	mask := uint64(len(m.slots) - 1)
	for at := key.hash() & mask; atomic.LoadUint32(&m.slots[at].used) != 0; at = (at + 1) & mask {
		if m.slots[at].key == *key {
			return m.slots[at].eff, true
		}
	}
	return effect{}, false
}

func (m *memo) put(key effectKey, eff effect) {
	if m.n*3 >= len(m.slots)*2 {
		old := m.slots
		m.slots, m.n = make([]memoSlot, max(1024, 2*len(old))), 0
		for i := range old {
			if old[i].used != 0 {
				m.put(old[i].key, old[i].eff)
			}
		}
	}
	mask := uint64(len(m.slots) - 1)
	at := key.hash() & mask
	for m.slots[at].used != 0 {
		at = (at + 1) & mask
	}
	m.slots[at].key, m.slots[at].eff = key, eff
	atomic.StoreUint32(&m.slots[at].used, 1)
	m.n++
}
