package redisnode

import (
	"time"

	"locklab/simulator/node"
)

type askedKey struct {
	of node.LengthOf
	d  time.Duration
}

func keyOf(l node.Length) askedKey { return askedKey{l.Of, l.D} }

var readsClock = node.Length{Of: node.ClockReads}

// noted is l, which has been asked for the first time.
func (k *Kind) noted(l node.Length) node.Length {
	k.memo.ReadsClock = k.memo.ReadsClock || l.Of == node.ClockReads
	return l
}

// Asked are the different times that servers were asked for, in the order in which they
// were met. The slice must not be changed.
func (k *Kind) Asked() []node.Length { return k.asked.All() }

// noteLives notes the lifetimes that a request has set. Of a command that looks at the
// time, what was left of some key before may be that of another one now (RENAME).
func (k *Kind) noteLives(eff *effect, left []int64, n needs, request []string) {
	if n != needsNothing {
		k.asked.ID(node.Length{Of: node.Remainders, Request: request})
	}
next:
	for _, l := range eff.lives[:k.keyspaces.At(eff.to).ttls] {
		if l.keep >= 0 || l.ms <= 0 {
			continue
		}
		for _, before := range left {
			if n != needsNothing && before == l.ms {
				continue next
			}
		}
		k.asked.ID(node.Length{Of: node.KeyLife, D: time.Duration(l.ms) * time.Millisecond, Request: request})
	}
}
