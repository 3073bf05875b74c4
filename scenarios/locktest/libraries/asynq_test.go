package libraries

import (
	"testing"

	"github.com/hibiken/asynq"

	"locklab/scenarios/locktest"
)

// asynqUnique takes asynq's lock of unique tasks by its client, and gives it back by its
// inspector: as a server does at the end of a task, a deleted task deletes the key if the
// key has its ID. The ID is drawn by asynq.
func asynqUnique(c *locktest.Client) {
	rdb := goRedis(c, 1)
	defer rdb.Close()
	client, inspector := asynq.NewClientFromRedisClient(rdb), asynq.NewInspectorFromRedisClient(rdb)
	task, err := client.EnqueueContext(c.Context(), asynq.NewTask("t", nil), asynq.Unique(ttl))
	if err != nil {
		return
	}
	c.Critical(work)
	_ = inspector.DeleteTask(task.Queue, task.ID)
}

// TestAsynq: asynq's lock of unique tasks, as a lock of two clients.
func TestAsynq(t *testing.T) {
	for _, test := range []struct{ budget, breaks string }{
		{"crash=1,pause=1", "OVERLAP STALE-WRITE"},
		{"lose-reply=1", "ORPHAN"},
	} {
		t.Run(test.budget, func(t *testing.T) {
			b := locktest.Bounds{Clients: 2, Budget: test.budget, TTL: ttl, Key: "asynq:{default}:unique:t:",
				Beside: 20_000}
			locktest.Check(t, b, asynqUnique, test.breaks)
		})
	}
}
