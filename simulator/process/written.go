package process

import (
	"errors"
	"slices"

	"locklab/simulator/internal/codec"
)

var errRoot = errors.New("simulator: a history begins where no program does")

// A Root is the entry at which a history begins.
type Root struct{ of root }

// Write returns the root in texts.
func (r Root) Write() map[string]string { return codec.Leaves(r.of) }

// History returns the root of an entry's history, and the entries on the way, the root first and the entry last: each has
// observed one thing more than the one before.
func History(p *Process, at uint32) (r Root, way []uint32) {
	for way = []uint32{at}; p.entries[at].Parent != at; way = append(way, at) {
		at = p.entries[at].Parent
	}
	slices.Reverse(way)
	return Root{rootAt(&p.entries[at])}, way
}

// ReadRoot returns the root entry of which Write has returned these texts, of a program that has not begun, or has ended.
func ReadRoot(p *Process, written map[string]string) (uint32, error) {
	r, err := codec.FromLeaves[root](written)
	if err == nil && (r.main.Kind != Begin && r.main != Op{} || r.kept != NoMemory) {
		err = errRoot
	}
	if err != nil {
		return 0, err
	}
	return p.rootOf(r), p.room.Take()
}

// State returns what the process has come to at an entry, but for what it waits for, in texts.
func (e *Entry) State() map[string]string {
	return codec.Leaves(struct {
		memory, tokens, born              uint64
		lease                             uint8
		entered, inside, resting, hasRead bool
		kept                              Memory
	}{uint64(e.Memory), e.Tokens, e.Born, e.Lease, e.Entered, e.Inside, e.Resting, e.Reads, e.Kept})
}
