package redisnode

import "time"

// An Asked is a time that servers were asked for.
type Asked struct {
	D       time.Duration // how long a key is to live, or a WAIT to wait; 0: a request has asked how long a key has still to live
	Wait    bool
	Request []string // the first request that did, as histories show it
}

type askedKey struct {
	d    time.Duration
	wait bool
}

// Asked are the different times that servers were asked for, in the order in which they
// were met. The slice must not be changed.
func (k *Kind) Asked() []Asked { return k.asked }

func (k *Kind) note(a Asked) {
	key := askedKey{a.D, a.Wait}
	if k.askedID[key] {
		return
	}
	k.askedID[key] = true
	k.asked = append(k.asked, a)
}

// noteLives notes the lifetimes that a request has set. Of a command that looks at the
// time, what was left of some key before may be that of another one now (RENAME).
func (k *Kind) noteLives(eff *effect, left []int64, n needs, request []string) {
	if n != needsNothing {
		k.note(Asked{Request: request})
	}
next:
	for _, l := range eff.lives[:k.keyspaces[eff.to].ttls] {
		if l.keep >= 0 || l.ms <= 0 {
			continue
		}
		for _, before := range left {
			if n != needsNothing && before == l.ms {
				continue next
			}
		}
		k.note(Asked{D: time.Duration(l.ms) * time.Millisecond, Request: request})
	}
}
