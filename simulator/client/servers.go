package client

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/database"
	"locklab/simulator/history"
	"locklab/simulator/zookeeper"
)

// Servers returns a lock's servers: n like one; or a ZooKeeper ensemble with sessions of length ttl, where the lock was
// used before; or one database like one, which ends idle sessions after ttl if the lock lasts as long as its session.
func Servers(entry lock.Entry, ttl time.Duration, like simulator.NodeConfig, n int) []simulator.NodeConfig {
	if entry.OnZooKeeper() {
		lines := map[string]string{entry.Line(Key): Key, entry.Line(OtherKey): OtherKey}
		queued := zookeeper.Contents{Znodes: QueuedAt(entry.Line(Key)), Lines: lines}
		return []simulator.NodeConfig{{Session: ttl, Contents: queued}}
	}
	if entry.Database != "" {
		like.Contents = tables(entry)
		if entry.Sessions() {
			like.Session = ttl
		}
		return []simulator.NodeConfig{like}
	}
	return slices.Repeat([]simulator.NodeConfig{like}, n)
}

// tables returns the database of a lock: the table of package locklab/algorithms/database, with the deadline that the
// lock has, and with the rows of the keys if it needs them.
func tables(entry lock.Entry) database.Contents {
	dialect := database.MariaDB
	if entry.Database == lock.PostgreSQL {
		dialect = database.PostgreSQL
	}
	locks := database.Table{Name: "locks", Key: []string{"name"}, Columns: []database.Column{
		{Name: "name", Type: database.Text}, {Name: "owner", Type: database.Text},
		{Name: "version", Type: database.Integer},
	}}
	switch entry.Expiry {
	case lock.ExpiryServer:
		locks.Columns = append(locks.Columns, database.Column{Name: "until", Type: database.Timestamp})
	case lock.ExpiryClients:
		locks.Columns = append(locks.Columns, database.Column{Name: "until_ms", Type: database.Integer})
	}
	if entry.Rows {
		for _, key := range []string{Key, OtherKey} {
			row := make([]database.Value, len(locks.Columns))
			row[0], row[2] = database.TextValue(key), database.IntegerValue(0)
			locks.Rows = append(locks.Rows, row)
		}
	}
	return database.Contents{
		Dialect: dialect, Tables: []database.Table{locks}, OldGetLock: entry.Database == lock.MySQL56,
	}
}

// QueuedAt returns an ensemble on which a client has queued at each of the paths and left.
func QueuedAt(paths ...string) zookeeper.State {
	state, id := zookeeper.New().Connect()
	for _, path := range paths {
		for i := 1; i <= len(path); i++ {
			if i == len(path) || path[i] == '/' {
				state, _, _ = state.Apply(id, zookeeper.Request{Op: zookeeper.Create, Path: path[:i]})
			}
		}
	}
	state, _, _ = state.Close(id)
	return state
}

// History is a history of clients that use a lock, before its first event.
func History(entry lock.Entry, clients int, ttl time.Duration) history.History {
	return history.History{
		Lock: entry.ID, Clients: clients, Nodes: entry.Servers(), Shards: entry.Shards > 0, Key: Key,
		ZooKeeper: entry.OnZooKeeper(), Database: entry.Database != "", Local: entry.Local(),
		Holders: Holders(entry, clients), Holder: entry.Holder, TTL: ttl,
	}
}

// Holders returns with how many others each client may hold the lock at the same time,
// itself included, as history.History has it; nil: it is exclusive.
func Holders(entry lock.Entry, clients int) []int {
	if room := Room(entry); room != 1 {
		return slices.Repeat([]int{room}, clients)
	}
	return nil
}

// Room returns how many clients may hold the lock at the same time, as history.History.Holders has it.
func Room(entry lock.Entry) int {
	switch {
	case entry.Guard != "":
		return history.NoLock
	case entry.Holders == lock.AnyNumber:
		return history.AnyNumber
	}
	return max(entry.Holders, 1)
}

// Tokens is the kind of values by which clients recognise their own lock.
type Tokens uint8

const (
	Unique    Tokens = iota // a value that nobody else has
	Thread                  // the id of a thread: in every process the same
	Prefix                  // a value with which every longer one begins: of any two, one is a prefix of the other
	Constant                // one value for all
	TimeOfDay               // the client's clock in milliseconds, when the token is drawn
)

var tokensNames = []string{"unique", "thread", "prefix", "constant", "clock"}

// String is the name.
func (t Tokens) String() string { return tokensNames[t] }

// In returns env, which is that of client c, with such tokens. The id of its thread is
// another process's too if the tokens are Thread or Constant.
func (t Tokens) In(env lock.Env, c *simulator.Client) lock.Env {
	switch t {
	case Thread, Constant:
		env.Tokens, env.Thread = same(t.value()), t.value()
	case Prefix:
		env.Tokens = prefixes{c}
	case TimeOfDay:
		env.Tokens = clockTokens{env.Clock}
	}
	return env
}

// value returns the one of all clients.
func (t Tokens) value() string {
	if t == Thread {
		return "1" // of the main thread, on many runtimes
	}
	return "locked"
}

type same string

func (s same) Token() string { return string(s) }

// prefixes makes "t", "tt", "ttt" and so on: the n-th token of a client is like no other.
type prefixes struct{ c *simulator.Client }

func (p prefixes) Token() string {
	unique := p.c.Token()
	n, err := strconv.Atoi(unique[strings.IndexByte(unique, '.')+1:])
	if err != nil {
		panic(err) // see simulator.Client.Token
	}
	return strings.Repeat("t", (n-1)*simulator.MaxClients+p.c.ID())
}

type clockTokens struct{ clock lock.Clock }

func (c clockTokens) Token() string { return strconv.FormatInt(c.clock.Now().UnixMilli(), 10) }
