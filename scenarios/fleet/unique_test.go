package fleet

import (
	"errors"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
)

// TestUniqueTasks: what "locklab explain asynq" says of asynq's own lock, and no search
// shows, because these are commands of other tasks.
func TestUniqueTasks(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	opt := asynq.RedisClientOpt{Addr: server.Addr()}
	client, inspector := asynq.NewClient(opt), asynq.NewInspector(opt)
	defer client.Close()
	defer inspector.Close()
	const ttl, key = 10 * time.Second, "asynq:{default}:unique:t:"
	enqueue := func(want error, options ...asynq.Option) *asynq.TaskInfo {
		t.Helper()
		info, err := client.Enqueue(asynq.NewTask("t", nil), append(options, asynq.Unique(ttl))...)
		if !errors.Is(err, want) {
			t.Fatalf("%v, want %v", err, want)
		}
		return info
	}
	holds := func(want string) {
		t.Helper()
		if !server.Exists(key) && want == "" {
			return
		}
		if got, err := server.Get(key); got != want || err != nil {
			t.Errorf("the lock is that of %q, %v, want %q", got, err, want)
		}
	}

	first := enqueue(nil)
	holds(first.ID)
	if left := server.TTL(key); left != ttl {
		t.Errorf("the TTL is %v", left)
	}
	enqueue(asynq.ErrDuplicateTask)
	server.FastForward(ttl) // the first still waits
	second := enqueue(nil)
	if info, err := inspector.GetQueueInfo("default"); err != nil || info.Pending != 2 {
		t.Errorf("%+v, %v: two equal tasks are to wait", info, err)
	}

	// the release compares
	if err := inspector.DeleteTask("default", first.ID); err != nil {
		t.Fatal(err)
	}
	holds(second.ID)
	if err := inspector.ArchiveTask("default", second.ID); err != nil {
		t.Fatal(err)
	}
	holds(second.ID) // an archived task keeps it
	if err := inspector.DeleteTask("default", second.ID); err != nil {
		t.Fatal(err)
	}
	holds("")

	// an ID that exists: nothing is enqueued, and the lock stays
	if _, err := client.Enqueue(asynq.NewTask("other", nil), asynq.TaskID("x")); err != nil {
		t.Fatal(err)
	}
	enqueue(asynq.ErrTaskIDConflict, asynq.TaskID("x"))
	holds("x")
	enqueue(asynq.ErrDuplicateTask)
	if err := inspector.DeleteTask("default", "x"); err != nil {
		t.Fatal(err)
	}
	holds("x")
}
