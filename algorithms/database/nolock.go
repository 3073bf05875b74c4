package database

import (
	"context"

	"locklab/algorithms/lock"
)

// What follows is no lock and keeps no client out: the statement that writes the data changes no row if its condition
// does not hold. A test holds the condition of the lab's protected resource (lock.Guard) against these.
const (
	WriteByVersion = "UPDATE accounts SET balance = ?, version = version + 1 WHERE id = ? AND version = ?" // as read
	WriteOnce      = "INSERT IGNORE INTO payments (id, amount) VALUES (?, ?)"                              // an order's
	SeeToken       = "UPDATE accounts SET token = $1 WHERE id = $2 AND token < $1"                         // each read
	WriteByToken   = "UPDATE accounts SET balance = $1, token = $2 WHERE id = $3 AND token <= $2"
)

// byVersion compares the version that was read with that of the row. (1981: Kung and Robinson, On Optimistic Methods
// for Concurrency Control; every object-relational mapper has it as a version column.)
//
// It was meant for rows that are seldom changed by two at a time, which need no lock.
//
// How it fails: it does not lose an update. But the work of a client that is late is discarded, and what it has done
// elsewhere, a mail, a payment, is done twice.
//
// Ours is refused once and does not try again.
var byVersion = unlocked("no-lock-version", 1981, lock.ByVersion)

// once inserts a row with a key that the work has anyway, an order or a day. (2015: Stripe's idempotency keys; the
// unique key is that of the first SQL databases.)
//
// It was meant for work that is done once however often it is begun.
//
// How it fails: as [byVersion]; the work itself is begun by each.
//
// Ours has one key for all that the clients do: the first write is taken, and no other.
var once = unlocked("no-lock-unique", 2015, lock.Once)

func unlocked(id string, year int, guard lock.Guard) lock.Entry {
	return lock.Entry{ID: id, Family: lock.Unlocked, Year: year, Server: lock.InDatabase(lock.MySQL),
		Guard: guard, Expiry: lock.ExpiryNone, New: func(lock.Env) lock.Lock { return free{} }}
}

// free lets every client in and asks no server.
type free struct{}

func (free) Acquire(ctx context.Context, _ string) (lock.Lease, error) { return free{}, ctx.Err() }
func (free) Release(context.Context) error                             { return nil }

// byToken takes a number from a counter of the database and sends it with each read and write, and the resource
// refuses a write with a number below one that it has seen. (1978: Reed's time stamps, in whose order a store is read
// and written; 2016: Kleppmann's fencing tokens, which a lock gives.)
//
// It shows that the token keeps the data, and not the lock.
//
// How it fails: as [byVersion]. After a failover to a replica that lacks the last number the counter gives it twice.
// Then two clients have the same, and one loses the other's update.
//
// Ours counts in the row of a lock, which is never held.
var byToken = lock.Entry{
	ID:      "no-lock-token",
	Family:  lock.Unlocked,
	Year:    2016,
	Server:  lock.InDatabase(lock.PostgreSQL),
	Guard:   lock.ByToken,
	Expiry:  lock.ExpiryNone,
	Fencing: true,
	New:     func(env lock.Env) lock.Lock { return counter{env} },
}

type counter struct{ env lock.Env }

const nextNumber = "INSERT INTO locks (name, version) VALUES ($1, 1) " +
	"ON CONFLICT (name) DO UPDATE SET version = locks.version + 1 RETURNING version"

func (s counter) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	var l number
	if err := s.env.DB.QueryRowContext(ctx, nextNumber, key).Scan(&l); err != nil {
		return nil, lock.Unknown("INSERT", key, err)
	}
	return l, nil
}

var _ lock.Fencer = number(0)

// number is a token that was drawn.
type number uint64

// FencingToken returns the number.
func (l number) FencingToken() uint64          { return uint64(l) }
func (l number) Release(context.Context) error { return nil }
