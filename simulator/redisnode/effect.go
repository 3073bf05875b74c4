package redisnode

import (
	"time"

	"locklab/simulator/internal/clock"
)

// An Effect is what a request does to the keyspace of a server, without a State.
type Effect struct {
	To, Reply uint32
	Lives     []Lifetime // of the keys of To that expire, in their order
	Changes   []Change   // the keys that the request has touched
	// What the effect depends on besides keyspace and request.
	ReadsLeft, ReadsClock bool
}

// A Lifetime is that of a key: what was left of the key at place Keep before or, if that is
// negative, so long from now.
type Lifetime struct {
	Keep int
	D    time.Duration
}

// A Change is a key that a request has touched, if only by giving it the time to live that
// it had. Was and Is are its places among the keys that expire; -1: it does not, or is not
// there. A value "" is a missing key.
type Change struct {
	Key, Before, After string
	Was, Is            int
}

// Effect is what a request does to a keyspace; 0 is the empty one. left is what is left of each
// key that expires, whole milliseconds, and now the server's clock since the epoch: they
// matter only if the Effect says so. why is the key of a text that says why the effect is not
// all that the request does; "": it is.
func (k *Kind) Effect(keyspace uint32, left []time.Duration, now time.Duration, request uint32) (e Effect, why string, err error) {
	b := k.batches.At(request)
	switch {
	case b.wait != nil:
		return e, "promela.wait", nil
	case b.on.known || b.subscribe || b.transaction.ends || b.transaction.watches != nil:
		return e, "promela.connection", nil
	}
	d := Data{keyspace: keyspace}
	ms := clock.Millis(now)
	for i := range left {
		d.deadline[i] = ms + left[i].Milliseconds()
	}
	eff, err := k.look(&d, now, request)
	if err != nil {
		return e, "", err
	}
	e = Effect{To: eff.to, Reply: eff.reply}
	if first := k.effects[effectKey{keyspace, request}]; first != nil {
		e.ReadsLeft, e.ReadsClock = first.needs >= needsTTLs, first.needs >= needsClock
	}
	for i := range k.keyspaces.At(eff.to).ttls {
		e.Lives = append(e.Lives, Lifetime{int(eff.lives[i].keep), time.Duration(eff.lives[i].ms) * time.Millisecond})
	}
	for i := range eff.changes {
		ch := &eff.changes[i]
		e.Changes = append(e.Changes, Change{ch.key, ch.before, ch.after, k.keyspaces.At(keyspace).place(ch.key), int(ch.place)})
	}
	return e, "", k.memo.Room.Take()
}

// Drop is a keyspace without the key at a place among those that expire, and that key.
func (k *Kind) Drop(keyspace uint32, place int) (to uint32, key string, err error) {
	d := Data{keyspace: keyspace}
	key = k.drop(&d, place).name
	return d.keyspace, key, k.memo.Room.Take()
}

// Expiring is how many keys of a keyspace expire.
func (k *Kind) Expiring(keyspace uint32) int { return k.keyspaces.At(keyspace).ttls }

// Say is a request, the keys of a keyspace or a reply in words.
func (k *Kind) Say(request uint32) []string { return k.batches.At(request).text }

// SayReply is a reply as redis-cli shows it.
func (k *Kind) SayReply(reply uint32) string { return k.replies.At(reply).text }

// SayKeys is what a keyspace holds.
func (k *Kind) SayKeys(keyspace uint32) (text string) {
	for i := range k.keyspaces.At(keyspace).keys {
		key := &k.keyspaces.At(keyspace).keys[i]
		text += sep(i) + key.name + "=" + key.text()
		if key.expires {
			text += " (expires)"
		}
	}
	return text
}
