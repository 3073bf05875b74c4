package locktest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"locklab/simulator/database"
	"locklab/simulator/effort"
)

// release deletes the key of a token, and tries again while it has no answer: once a second, in a context of its own.
func release(rdb *redis.Client, token string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*ttl)
	defer cancel()
	for compareAndDelete.Run(ctx, rdb, []string{"k"}, token).Err() != nil && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func drawnToken() string {
	b := make([]byte, 16)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// withDefer is a type with methods, whose release is deferred, also where it does not know whether it has the lock.
func withDefer(c *Client, rdb *redis.Client) {
	token := drawnToken()
	ok, err := rdb.SetNX(c.Context(), "k", token, ttl).Result()
	if ok || err != nil {
		defer release(rdb, token)
	}
	if ok {
		c.Critical(work)
	}
}

// backingOff tries again after longer and longer sleeps, until its context ends.
func backingOff(c *Client, rdb *redis.Client) {
	ctx, cancel := context.WithTimeout(c.Context(), 2*ttl)
	defer cancel()
	token := c.Token()
	for wait := ttl / 9; ; wait *= 2 {
		ok, err := rdb.SetNX(ctx, "k", token, ttl).Result()
		if ok {
			break
		}
		if err != nil {
			release(rdb, token)
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
	defer release(rdb, token)
	c.Critical(work)
}

// awakened subscribes first, and looks again after that, and whenever the lease of another may have ended.
func awakened(c *Client, rdb *redis.Client) {
	token := c.Token()
	freed := rdb.Subscribe(c.Context(), "freed")
	defer freed.Close()
	if _, err := freed.Receive(c.Context()); err != nil {
		return
	}
	for tries := 0; !take(c, rdb, token); tries++ {
		ctx, cancel := context.WithTimeout(c.Context(), ttl/3)
		_, err := freed.ReceiveMessage(ctx)
		if cancel(); tries > 5 || err != nil && ctx.Err() == nil {
			return
		}
	}
	c.Critical(work)
	release(rdb, token)
	rdb.Publish(c.Context(), "freed", token)
}

// errLost is a lease that could not be renewed.
var errLost = errors.New("the lock is lost")

// renewing works and renews in an errgroup: the first that ends, ends the other.
func renewing(c *Client, rdb *redis.Client) {
	token := c.Token()
	if !take(c, rdb, token) {
		return
	}
	defer release(rdb, token)
	both, ctx := errgroup.WithContext(c.Context())
	done := make(chan struct{})
	both.Go(func() error {
		tick := time.NewTicker(ttl / 3)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return nil
			case <-tick.C:
				n, err := prolong.Run(ctx, rdb, []string{"k"}, token, ttl.Milliseconds()).Int()
				if err != nil || n == 0 {
					return errLost
				}
			}
		}
	})
	both.Go(func() error {
		defer close(done)
		c.Critical(func(r *Resource) {
			v := r.Read()
			select {
			case <-time.After(ttl):
				r.Write(v + 1)
			case <-ctx.Done():
			}
		})
		return ctx.Err()
	})
	both.Wait()
}

var prolong = redis.NewScript(`
	if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) end
	return 0`)

// named holds GET_LOCK on a connection of its own, and gives up after a while.
func named(c *Client) {
	db := sql.OpenDB(c.Connector(1))
	defer db.Close()
	conn, err := db.Conn(c.Context())
	if err != nil {
		return
	}
	defer conn.Close()
	var got sql.NullInt64
	if conn.QueryRowContext(c.Context(), "SELECT GET_LOCK(?, ?)", "k", 5).Scan(&got) != nil || got.Int64 != 1 {
		return
	}
	c.Critical(work)
	if conn.QueryRowContext(c.Context(), "SELECT RELEASE_LOCK(?)", "k").Scan(&got) == nil {
		c.Says(got.Int64 == 1)
	}
}

// inserted owns a row that it inserts, and deletes as its owner only.
func inserted(c *Client) {
	db := sql.OpenDB(c.Connector(1))
	defer db.Close()
	owner := c.Token()
	if _, err := db.ExecContext(c.Context(), "INSERT INTO locks (name, owner) VALUES (?, ?)", "k", owner); err != nil {
		return
	}
	defer db.Exec("DELETE FROM locks WHERE name = ? AND owner = ?", "k", owner)
	c.Critical(work)
}

// TestRight: of locks that are right, as people write them, no word is said.
func TestRight(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	text := database.Column{Name: "name", Type: database.Text}
	rows := &database.Contents{Dialect: database.MariaDB, Tables: []database.Table{
		{Name: "locks", Key: []string{"name"}, Columns: []database.Column{text, {Name: "owner", Type: database.Text}}},
	}}
	for name, test := range map[string]struct {
		code   func(*Client)
		budget string
		on     *database.Contents
	}{
		"deferred":    {onRedis(withDefer), "crash=1,lose-reply=1", nil},
		"backing off": {onRedis(backingOff), "crash=1,lose-reply=1", nil},
		"awakened":    {onRedis(awakened), "crash=1", nil},
		"renewing":    {onRedis(renewing), "crash=1", nil},
		"named":       {named, "pause=1", &database.Contents{Dialect: database.MySQL}},
		"inserted":    {inserted, "pause=1", rows},
	} {
		t.Run(name, func(t *testing.T) {
			Check(t, Bounds{Clients: 2, Attempts: 1, Budget: test.budget, TTL: ttl, Database: test.on}, test.code)
		})
	}
}
