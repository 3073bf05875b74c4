package redis_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/go-zookeeper/zk"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/algorithms/zookeeper"
)

// Two processes want one lock on a real server, for which miniredis stands in here.
func Example() {
	server, err := miniredis.Run()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	entry, _ := algorithms.ByName("token")
	process := func() lock.Lock {
		env := lock.Production(10*time.Second, redis.NewClient(&redis.Options{
			Addr:                     server.Addr(),
			MaxRetries:               -1, // or a lost reply is retried behind the entry's back
			ReadTimeout:              time.Second,
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		}))
		if err := entry.Check(env); err != nil {
			panic(err) // the error says what to change
		}
		return entry.New(env)
	}
	ctx := context.Background()
	a, b := process(), process()

	lease, err := a.Acquire(ctx, "seckill")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("A acquired the lock")

	if _, err := b.Acquire(ctx, "seckill"); errors.Is(err, lock.ErrNotAcquired) {
		fmt.Println("B was refused:", err)
	}

	fmt.Println("A released it:", lease.Release(ctx))
	fmt.Println("A released it again:", lease.Release(ctx))

	// Output:
	// A acquired the lock
	// B was refused: lock: not acquired
	// A released it: <nil>
	// A released it again: lock: not held
}

// At most two processes work at a time, on a real ensemble; a third one waits.
func ExampleOnConn() {
	conn, _, err := zk.Connect([]string{"127.0.0.1:2181"}, 10*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()

	env := lock.Production(0) // a lease lasts as long as the session
	env.ZooKeeper = zookeeper.OnConn(conn, env.Clock)
	lease, err := zookeeper.NewSemaphore(env, 2).Await(context.Background(), "report", time.Minute)
	if err != nil {
		log.Fatal(err)
	}
	// work
	if err := lease.Release(context.Background()); err != nil {
		log.Fatal(err)
	}
}
