package lock

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// An Entry describes a lock in the list of all locks, and makes it.
type Entry struct {
	ID      string        // short name, as typed on a command line
	Family  Family        // the mechanism by which it excludes
	Article string        // id of the variant in the articles, for example "003-A"; "": no article has it
	Also    []string      // ids of the same lock in other articles
	Year    int           // when the idea, in its first form, was released or described in public
	Server                // what it locks on
	TTL     time.Duration // the lease that its article uses; 0: its article sets none
	Unit    time.Duration // Env.TTL must be a whole multiple of it; 0: the lock ignores Env.TTL
	Expiry  Expiry        // what ends a lease that nobody releases
	Holders int           // how many may hold it at a time: 0 is one; AnyNumber for readers among readers
	// Holder returns who holds the lock, by the value of its key as histories show it, "" if it is missing; "": it is
	// free. nil: a key that exists is held, and each value is a holder. Of a pool the free token is the value.
	Holder func(value string) string
	Guard  Guard // of what is no lock: how the data are kept; "": it is a lock
	// Writer makes the lock of a client that excludes all others, and that holders of this one, of which there may be
	// any number, exclude: without one among them nothing shows that a reader's lock works. nil: there is none.
	Writer  func(Env) Lock
	Fencing bool           // its leases have fencing tokens of their own; see Fences
	Search  Search         // what a search of it looks at where nobody says it
	New     func(Env) Lock // call Check first
}

// A Search is the part of a lock's behaviour that is searched by default. The zero value is the usual: every timing,
// with two attempts of each client, which does whatever the lock offers but give up. It is chosen by what it shows
// and costs, so that it is complete within some ten seconds; where it is not the usual, a line beside it says why.
type Search struct {
	Lockstep bool    // one schedule
	Once     bool    // one attempt of each client
	NoUses   bool    // clients only acquire, work and release
	NoFaults bool    // whatever the budget is
	Few      bool    // on three servers, where the lock uses more
	Most     int     // states at which it ends, where none is complete; 0: it is complete
	Clients  int     // where more are needed than usual; 0: the usual ones
	Beside   *Search // a second search, which shows what the first leaves out; nil: there is none
}

// A Server is what a lock locks on: one Redis server or several, an ensemble of ZooKeeper, or a database. OnRedis,
// OnZooKeeper and InDatabase make it.
type Server struct {
	Nodes int // number of independent servers: 1, or the article's number for a quorum; 0: an ensemble
	// Shards is the number of servers on a client's list at first, of which the client asks one for a
	// key: Nodes is 1 then, and Env.Nodes may be any number of servers. 0: it asks all of Nodes.
	Shards int
	// Replicas is the number of replicas per server whose acknowledgement it waits for; 0: it sends no WAIT.
	Replicas int
	// Line returns the znode under which the clients of key queue, the holders first; for a lock that
	// combines several, that of the first. nil: it is no ZooKeeper.
	Line     func(key string) string
	Database Dialect // in which SQL the lock is written; "": it is no database
	Rows     bool    // the row of every key must exist before the first Acquire
}

// OnRedis is one Redis server, or as many independent ones as the article has for a quorum.
func OnRedis(nodes int) Server { return Server{Nodes: nodes} }

// OnZooKeeper is an ensemble on which clients of a key queue under the znode that line returns.
func OnZooKeeper(line func(key string) string) Server { return Server{Line: line} }

// InDatabase is a database with this SQL.
func InDatabase(dialect Dialect) Server { return Server{Nodes: 1, Database: dialect} }

// A Dialect is the SQL of a database, at its defaults.
type Dialect string

const (
	MySQL      Dialect = "mysql"      // and MariaDB: REPEATABLE READ, placeholders ?
	MySQL56    Dialect = "mysql-5.6"  // and MariaDB 10.0.1: a session has one named lock at most
	PostgreSQL Dialect = "postgresql" // READ COMMITTED, placeholders $1, $2
)

// AnyNumber of holders may have a lock at a time.
const AnyNumber = -1

// A Guard is the condition of the statement that writes the data, by which these are kept without a lock. Any number
// of clients work at a time, and the work of some is discarded.
type Guard string

const (
	ByVersion Guard = "compare-and-set" // the version is still the one that was read
	Once      Guard = "once"            // nothing has been written yet: a unique key
	ByToken   Guard = "fenced"          // no higher token has read or written
)

// Expiry is the kind of end of a lease that no client releases.
type Expiry int

const (
	ExpiryNone    Expiry = iota // nothing: the key stays until somebody deletes it
	ExpiryServer                // the server's clock: the key has a TTL
	ExpiryClients               // the clients' clocks: the key's value is a time that clients compare with theirs
	ExpirySession               // the ensemble's clock: the holder's session is silent for the session time-out
)

// A Family is the mechanism that several locks have in common: its short name, as typed on a command line.
type Family string

const (
	OneProcess Family = "one-process"
	TwoSteps   Family = "two-steps"
	Stamps     Family = "stamps"
	OneStep    Family = "one-step"
	Reentrant  Family = "reentrant"
	Renewed    Family = "renewed"
	Redisson   Family = "redisson"
	Majority   Family = "majority"
	Line       Family = "line"
	Rows       Family = "rows"
	Named      Family = "named"
	Unlocked   Family = "unlocked" // no lock: see Entry.Guard
)

// Variant returns a lock like e, apart from the arguments. No article has it; see InArticle.
func (e Entry) Variant(id string, year int, create func(Env) Lock) Entry {
	e.ID, e.Article, e.Also, e.Year, e.New = id, "", nil, year, create
	return e
}

// Searched returns e with what a search of it looks at.
func (e Entry) Searched(s Search) Entry {
	e.Search = s
	return e
}

// InArticle returns e with its ids in the articles, the main one first.
func (e Entry) InArticle(id string, also ...string) Entry {
	e.Article, e.Also = id, also
	return e
}

// Changed returns e with a change.
func (e Entry) Changed(change func(e *Entry)) Entry {
	change(&e)
	return e
}

// Names returns the ID and all ids that the articles have for the lock.
func (e Entry) Names() []string {
	names := []string{e.ID}
	if e.Article != "" {
		names = append(names, e.Article)
	}
	return append(names, e.Also...)
}

// Heading returns the ID, followed by the article's id in brackets if there is one.
func (e Entry) Heading() string {
	if e.Article == "" {
		return e.ID
	}
	return e.ID + " (" + e.Article + ")"
}

// OnZooKeeper reports whether the lock locks on a ZooKeeper, for what can serve only that or
// only Redis. What holds for any server of such a kind is asked of Ensemble, Sessions and Fences.
func (s Server) OnZooKeeper() bool { return s.Line != nil }

// Ensemble reports whether the servers replicate before they answer: they are seen as one, which survives each of them.
func (s Server) Ensemble() bool { return s.Nodes == 0 }

// Sessions reports whether a lease lasts as long as its client's session: Env.TTL is the time-out of
// that, and the client's library sends nothing again.
func (e Entry) Sessions() bool { return e.Expiry == ExpirySession }

// Fences reports whether the lock's leases have fencing tokens of their own, so that Fence is not needed. In an
// ensemble they have a transaction's number.
func (e Entry) Fences() bool { return e.Ensemble() || e.Fencing }

// Local reports whether no server plays a part.
func (e Entry) Local() bool { return e.Family == OneProcess || e.Guard == ByVersion || e.Guard == Once }

// Servers returns the number of servers that the lock needs. An ensemble counts as one. A lock that chooses from a list
// needs one more than are on the list at first, so that a list may also gain a server.
func (s Server) Servers() int {
	if s.Shards > 0 {
		return s.Shards + 1
	}
	return s.Asked()
}

// Asked returns the number of servers that the lock asks for one key. An ensemble counts as one.
func (s Server) Asked() int { return max(s.Nodes, 1) }

// Check returns an error if e.New cannot work with env. The error names the wrong value and says what to use instead; a
// *ServersError is about the number of servers, a *TTLError about the TTL. Call Check before New, which checks nothing:
// with a wrong number of servers New panics or makes a lock on too few, and the server rounds or refuses a TTL that the
// lock cannot express.
//
// A quorum lock takes any number of servers from 3 on: fewer do not survive the failure of one, and one that chooses
// from a list takes any number. Check cannot tell whether the servers are independent.
func (e Entry) Check(env Env) error {
	switch n := len(env.Nodes); {
	case e.Database != "" && env.DB == nil:
		const noDB = "lock: %s locks in a database, and Env.DB is nil: open one with the driver of %s"
		return fmt.Errorf(noDB, e.ID, e.Database)
	case e.Database != "": // the servers are behind Env.DB
	case e.OnZooKeeper() && env.ZooKeeper == nil:
		return fmt.Errorf("lock: %s locks on a ZooKeeper, and Env.ZooKeeper is nil: use zookeeper.OnConn", e.ID)
	case e.Shards > 0 && n > 0: // a ring of one server is one
	case e.Nodes == 1 && n != 1:
		return &ServersError{Lock: e.ID, Given: n, Least: 1, Usual: 1}
	case e.Nodes > 1 && n < 3:
		return &ServersError{Lock: e.ID, Given: n, Least: 3, Usual: e.Nodes}
	}
	if i := slices.Index(env.Nodes, redis.UniversalClient(nil)); i >= 0 {
		return fmt.Errorf("lock: node %d is nil: pass a connected client", i+1)
	}
	switch {
	case env.Clock == nil:
		return errors.New("lock: Env.Clock is nil: use clockwork.NewRealClock, or Production")
	case env.Tokens == nil:
		return errors.New("lock: Env.Tokens is nil: use RandomTokens{}, or Production")
	}
	return e.checkTTL(env)
}

// A ServersError is a number of servers on which a lock cannot lock.
type ServersError struct {
	Lock  string
	Given int
	Least int // 1: exactly one
	Usual int // of its article
}

func (e *ServersError) Error() string {
	if e.Least == 1 {
		return fmt.Sprintf("lock: %s locks on one server, got %d: pass exactly one node", e.Lock, e.Given)
	}
	return fmt.Sprintf("lock: %s needs a majority of at least %d servers, got %d: its article uses %d",
		e.Lock, e.Least, e.Given, e.Usual)
}

// A TTLError is a TTL that a lock cannot express.
type TTLError struct {
	Lock string
	TTL  time.Duration
	Unit time.Duration // of the TTLs that the lock sends
	Try  time.Duration // a TTL that it can express
}

func (e *TTLError) Error() string {
	if e.TTL <= 0 {
		return fmt.Sprintf("lock: TTL %v is not above 0: the article of %s uses %v", e.TTL, e.Lock, e.Try)
	}
	return fmt.Sprintf("lock: TTL %v is not a whole multiple of %v, which %s sends: try %v",
		e.TTL, e.Unit, e.Lock, e.Try)
}

// checkTTL reports whether the lock can express env.TTL.
func (e Entry) checkTTL(env Env) error {
	switch {
	case e.Unit == 0: // the lock has no TTL
		return nil
	case env.TTL <= 0:
		return &TTLError{Lock: e.ID, TTL: env.TTL, Unit: e.Unit, Try: e.TTL}
	case env.TTL%e.Unit != 0:
		return &TTLError{Lock: e.ID, TTL: env.TTL, Unit: e.Unit, Try: env.TTL.Truncate(e.Unit) + e.Unit}
	}
	return nil
}
