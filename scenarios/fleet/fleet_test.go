package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"locklab/reports/text"
	"locklab/scenarios/share"
	"locklab/simulator/i18n"
)

// squares is a plan whose i-th result is i*i.
func squares(n int) share.Plan {
	p := share.Plan{Do: func(_ context.Context, i int) (json.RawMessage, error) {
		return json.RawMessage(fmt.Sprint(i * i)), nil
	}, Check: func(i int, r json.RawMessage) error {
		n := 0
		if err := json.Unmarshal(r, &n); err != nil || n < 0 {
			return &share.ValueError{Task: fmt.Sprintf("square %d", i), Field: "square", Value: string(r), Want: i18n.New("share.want.known")}
		}
		return nil
	}}
	for i := range n {
		p.Tasks = append(p.Tasks, share.Task{ID: fmt.Sprintf("square %d", i), Cost: 0.2})
	}
	return p
}

func checkSquares(t *testing.T, results []json.RawMessage) {
	t.Helper()
	for i, r := range results {
		if string(r) != fmt.Sprint(i*i) {
			t.Errorf("result %d is %q", i, r)
		}
	}
}

func loopback(t *testing.T) asynq.RedisClientOpt {
	t.Helper()
	opt, err := Loopback(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return opt
}

func coordinator(redis asynq.RedisConnOpt) *Coordinator {
	return &Coordinator{Redis: redis, Build: "build 1", Command: []string{"squares"}, Retention: time.Hour}
}

// start runs workers until the returned function is called. They count the chunks that
// they compute.
func start(t *testing.T, redis asynq.RedisConnOpt, n int, plan share.Plan) (computed *atomic.Int64, stop func()) {
	t.Helper()
	computed = &atomic.Int64{}
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range n {
		w := Worker{Redis: redis, Build: "build 1", Compute: func(ctx context.Context, p *Chunk) ([]share.Result, error) {
			computed.Add(1)
			chosen := share.Chosen{Tasks: p.Tasks}
			if _, err := chosen.Compute(ctx, plan); !errors.Is(err, share.ErrPartial) {
				return nil, err
			}
			return chosen.Results, nil
		}}
		all.Go(func() {
			if err := w.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	stop = sync.OnceFunc(func() {
		cancel()
		all.Wait()
	})
	t.Cleanup(stop)
	return computed, stop
}

// TestFleet: two workers compute everything once, and a second command with the same work
// computes nothing.
func TestFleet(t *testing.T) {
	t.Parallel()
	redis, plan := loopback(t), squares(50)
	computed, _ := start(t, redis, 2, plan)
	for range 2 {
		results, err := coordinator(redis).Compute(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		checkSquares(t, results)
	}
	all := chunks("build 1", []string{"squares"}, nil, plan.Tasks)
	if n, want := computed.Load(), int64(len(all)+len(sample(all))); n != want { // some twice
		t.Errorf("%d chunks were computed, there are %d", n, want)
	}
}

// TestGoesOn: a coordinator that is stopped leaves the queue as it is. The next one has
// what was computed, and what the workers compute meanwhile.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	redis, plan := loopback(t), squares(20)
	ctx, cancel := context.WithCancel(t.Context())
	first := coordinator(redis)
	first.Progress = func(Status) { cancel() }
	if results, err := first.Compute(ctx, plan); !errors.Is(err, context.Canceled) || len(results) != 20 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	inspector := asynq.NewInspector(redis)
	defer inspector.Close()
	info, err := inspector.GetQueueInfo(Queue("build 1"))
	if err != nil || info.Pending != len(chunks("", nil, nil, plan.Tasks)) {
		t.Fatalf("the queue has %+v, %v", info, err)
	}
	start(t, redis, 1, plan)
	results, err := coordinator(redis).Compute(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	checkSquares(t, results)
}

// TestKept: what is kept as files outlives the server. A damaged file is computed again,
// and where nothing can be kept the coordinator says so and goes on.
func TestKept(t *testing.T) {
	t.Parallel()
	plan, kept := squares(10), &Kept{t.TempDir()}
	all := chunks("build 1", []string{"squares"}, nil, plan.Tasks)
	run := func() int64 {
		redis := loopback(t)
		computed, stop := start(t, redis, 1, plan)
		c := coordinator(redis)
		c.Kept = kept
		c.Rejected = func(why error) { t.Log(why) }
		results, err := c.Compute(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		checkSquares(t, results)
		stop()
		return computed.Load()
	}
	if n := run(); n != int64(len(all)) {
		t.Errorf("%d chunks were computed first", n)
	}
	file := kept.file(all[1].ID())
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content[:len(content)-10], 0o644); err != nil {
		t.Fatal(err)
	}
	if n := run(); n != 1 {
		t.Errorf("%d chunks were computed, one file was damaged", n)
	}
	kept.Clean(0)
	if left, err := filepath.Glob(filepath.Join(kept.Dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}

	kept = &Kept{"/dev/full/results"}
	redis := loopback(t)
	start(t, redis, 1, plan)
	c, said := coordinator(redis), error(nil)
	c.Kept, c.Rejected = kept, func(why error) { said = why }
	if results, err := c.Compute(t.Context(), plan); err != nil {
		t.Error(err)
	} else {
		checkSquares(t, results)
	}
	if said == nil || !strings.Contains(text.SayError("en", said), "results cannot be kept") {
		t.Errorf("it says %v", said)
	}
}

// lie answers chunks of build 1 with what answer makes of them.
func lie(t *testing.T, redis asynq.RedisConnOpt, times int, answer func(p *Chunk) []byte) (told *atomic.Int64) {
	t.Helper()
	told = &atomic.Int64{}
	server := asynq.NewServer(redis, asynq.Config{
		Concurrency: 1, Queues: map[string]int{Queue("build 1"): 1}, Logger: quiet{}, TaskCheckInterval: 20 * time.Millisecond, ShutdownTimeout: time.Second,
		RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return 0 },
	})
	enough := errors.New("enough")
	err := server.Start(asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
		if told.Load() >= int64(times) {
			return enough
		}
		if told.Add(1) == int64(times) {
			go server.Stop()
		}
		p := &Chunk{}
		if err := json.Unmarshal(task.Payload(), p); err != nil {
			return err
		}
		_, err := task.ResultWriter().Write(answer(p))
		return err
	}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Shutdown)
	return told
}

// TestLies: a result of another build, of other tasks, or that is damaged, is thrown away,
// with the name of its worker; after three the command fails.
func TestLies(t *testing.T) {
	t.Parallel()
	others := func(p *Chunk, change func(*share.Share)) []byte {
		s := share.Share{Build: p.Build, Command: p.Command, Worker: "liar:1"}
		for _, id := range p.Tasks {
			s.Results = append(s.Results, share.Result{Task: id, Result: json.RawMessage("7")})
		}
		change(&s)
		var b strings.Builder
		if err := s.Write(&b); err != nil {
			t.Error(err)
		}
		return []byte(b.String())
	}
	for name, c := range map[string]struct {
		answer func(p *Chunk) []byte
		says   string
	}{
		"build":  {func(p *Chunk) []byte { return others(p, func(s *share.Share) { s.Build = "build 2" }) }, "by liar:1 is of another build (build 2; this is build 1)"},
		"tasks":  {func(p *Chunk) []byte { return others(p, func(s *share.Share) { s.Results[0].Task = "square 99" }) }, "by liar:1 is of other tasks"},
		"damage": {func(p *Chunk) []byte { b := others(p, func(*share.Share) {}); b[len(b)/2] ^= 1; return b }, "Compute that share again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis, plan := loopback(t), squares(2)
			lie(t, redis, 1000, c.answer)
			said := 0
			liars := coordinator(redis)
			liars.Rejected = func(why error) {
				if said++; !strings.Contains(text.SayError("en", why), c.says) {
					t.Errorf("it says %v", why)
				}
			}
			_, err := liars.Compute(t.Context(), plan)
			if err == nil || said != rejections || !strings.Contains(text.SayError("en", err), c.says) {
				t.Errorf("after %d: %v", said, err)
			}
		})
	}
	t.Run("one lie", func(t *testing.T) {
		t.Parallel()
		redis, plan := loopback(t), squares(3)
		c := coordinator(redis)
		rejected := make(chan error, 9)
		c.Rejected = func(why error) {
			rejected <- why
			start(t, redis, 1, plan) // an honest one
		}
		lie(t, redis, 1, func(p *Chunk) []byte { return others(p, func(s *share.Share) { s.Build = "build 2" }) })
		results, err := c.Compute(t.Context(), plan)
		if err != nil || len(rejected) == 0 {
			t.Fatalf("%d results were thrown away, %v", len(rejected), err)
		}
		checkSquares(t, results)
	})
}

// TestFails: a task whose computation is an error ends the command, and says which.
func TestFails(t *testing.T) {
	t.Parallel()
	redis, plan := loopback(t), squares(5)
	do := plan.Do
	plan.Do = func(ctx context.Context, i int) (json.RawMessage, error) {
		if i == 3 {
			return nil, errors.New("three is wrong")
		}
		return do(ctx, i)
	}
	start(t, redis, 1, plan)
	_, err := coordinator(redis).Compute(t.Context(), plan)
	if err == nil || !strings.Contains(text.SayError("en", err), "square ") || !strings.Contains(text.SayError("en", err), "three is wrong") {
		t.Error(err)
	}
}

// TestOtherBuild: a worker does not wait where there is work of another build only. One that
// would is stopped as soon as it is ready.
func TestOtherBuild(t *testing.T) {
	t.Parallel()
	redis := loopback(t)
	c := coordinator(redis)
	ctx, cancel := context.WithCancel(t.Context())
	c.Progress = func(Status) { cancel() }
	if _, err := c.Compute(ctx, squares(1)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	working, stop := context.WithCancel(t.Context())
	err := (&Worker{Redis: redis, Build: "build 2", Ready: stop}).Run(working)
	if err == nil || !strings.Contains(text.SayError("en", err), "another build (build 1; this is build 2)") {
		t.Error(err)
	}
}

// TestOtherBuildLater: nor does one to whose server such work comes later.
func TestOtherBuildLater(t *testing.T) {
	t.Parallel()
	redis := loopback(t)
	looked := make(chan struct{})
	worker := &Worker{Redis: redis, Build: "build 2", looks: looked}
	ended := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	worker.Ready = func() {
		go func() {
			defer stop()
			c := coordinator(redis)
			enqueued, cancel := context.WithCancel(t.Context())
			c.Progress = func(Status) { cancel() }
			if _, err := c.Compute(enqueued, squares(1)); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			for range 2 { // the second look began after that
				select {
				case looked <- struct{}{}:
				case <-ended:
					return
				}
			}
		}()
	}
	err := worker.Run(ctx)
	close(ended)
	if err == nil || !strings.Contains(text.SayError("en", err), "another build (build 1; this is build 2)") {
		t.Error(err)
	}
}

// TestChunks: the same tasks make the same chunks; a long task is alone, and comes first.
func TestChunks(t *testing.T) {
	tasks := squares(7).Tasks
	tasks[4].Cost = 9
	all := chunks("b", []string{"c"}, nil, tasks)
	if len(all) != 4 || all[0].Tasks[0] != "square 4" || len(all[0].Tasks) != 1 || len(all[1].Tasks) != 2 {
		t.Errorf("%d chunks, the first has %v", len(all), all[0].Tasks)
	}
	ids := map[string]bool{}
	for _, p := range append(all, chunks("b2", []string{"c"}, nil, tasks)...) {
		ids[p.ID()] = true
	}
	if len(ids) != 8 || all[2].ID() != chunks("b", []string{"c"}, nil, tasks)[2].ID() {
		t.Errorf("%d IDs", len(ids))
	}
}

// BenchmarkChunk measures a task with nothing to do, from the queue of asynq and back.
func BenchmarkChunk(b *testing.B) {
	redis, err := Loopback(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	plan := squares(b.N)
	for i := range plan.Tasks {
		plan.Tasks[i].Cost = 1
	}
	ctx, cancel := context.WithCancel(b.Context())
	var all sync.WaitGroup
	w := Worker{Redis: redis, Build: "build 1", Compute: func(ctx context.Context, p *Chunk) ([]share.Result, error) {
		chosen := share.Chosen{Tasks: p.Tasks}
		if _, err := chosen.Compute(ctx, plan); !errors.Is(err, share.ErrPartial) {
			return nil, err
		}
		return chosen.Results, nil
	}}
	all.Go(func() { _ = w.Run(ctx) })
	b.ResetTimer()
	if _, err := coordinator(redis).Compute(b.Context(), plan); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	cancel()
	all.Wait()
}
