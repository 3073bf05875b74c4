package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"locklab/scenarios/share"
	"locklab/simulator/i18n"
)

// A Coordinator has workers compute the tasks of one command. It is a share.Computer.
type Coordinator struct {
	Redis     asynq.RedisConnOpt
	Build     string            // share.Build, but for tests
	Command   []string          // as in share.Share; set before Compute
	Inputs    map[string]string // likewise
	Retention time.Duration     // of results
	Kept      *Kept             // results that are kept as files; nil: the server keeps them
	Progress  func(Status)      // called from time to time; may be nil
	// Rejected is called for each result that was thrown away; it may be nil.
	Rejected func(why error)
	// Compared is the number of tasks that two workers have computed with equal results. Compute sets it.
	Compared int
}

// A Status is the progress of a command.
type Status struct {
	Done, Of     int // tasks
	Had          int // of Done: tasks that were done before
	Elapsed      time.Duration
	Left         time.Duration // by the costs of tasks; below 0: unknown yet
	Workers      []WorkerStatus
	Waiting      int // chunks in the queue that no worker has begun
	OtherBuilds  int // workers on this server that are of other builds
	Disconnected error
}

// A WorkerStatus is the present work of a worker.
type WorkerStatus struct {
	Name  string        // host and process ID
	Chunk string        // the first task of its present chunk; "": it is idle
	More  int           // further tasks of it
	For   time.Duration // since it began with that
	Done  int           // chunks that this coordinator has from it
}

// MaxRetries is the number of times that asynq gives a chunk to another worker after one was killed.
const MaxRetries = 25

// rejections is the number of results of a chunk that are thrown away before the command fails.
const rejections = 3

// poll is the interval at which the queue is read. A fleet lives in real time: here, and nowhere
// in what it computes, the wall clock is read.
const poll = 100 * time.Millisecond

// Compute enqueues what is neither done nor in the queue, and waits for all results. When
// ctx ends it returns those that there are; the queue stays as it is. What the server has
// lost is enqueued again.
func (c *Coordinator) Compute(ctx context.Context, plan share.Plan) ([]json.RawMessage, error) {
	connect := bound{c.Redis, ctx}
	r := &run{
		Coordinator: c, ctx: ctx, plan: plan, began: time.Now(), results: make([]json.RawMessage, len(plan.Tasks)), queue: Queue(c.Build), marker: marker(c.Build),
		redis: connect.MakeRedisClient().(redis.UniversalClient), open: map[string]*Chunk{}, by: map[string]int{}, from: map[string]string{}, retries: map[string]int{},
	}
	r.client, r.inspector = asynq.NewClientFromRedisClient(r.redis), asynq.NewInspectorFromRedisClient(r.redis)
	defer r.redis.Close()
	c.Compared = 0
	r.begin(chunks(c.Build, c.Command, c.Inputs, plan.Tasks))
	err := r.wait()
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, ErrDoubtful):
		return make([]json.RawMessage, len(plan.Tasks)), err
	}
	return r.results, err
}

// begin takes the results that are kept, and opens the other chunks. Of those some are
// computed twice.
func (r *run) begin(all []*Chunk) {
	for _, p := range all {
		r.cost += p.cost
		if content := r.Kept.get(p.ID()); content != nil && r.take(p, content) == nil {
			continue
		}
		r.open[p.ID()] = p
		r.queued = append(r.queued, p)
	}
	r.sampled = sample(r.queued)
}

// wait waits until no chunk is open.
func (r *run) wait() error {
	if len(r.open) == 0 {
		r.report()
		return nil
	}
	if err := r.mark(); err != nil { // the first contact: a wrong address is an error at once
		return err
	}
	defer r.redis.Del(context.WithoutCancel(r.ctx), r.marker)
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		if err := r.look(); err != nil {
			return err
		}
		if !r.counted && r.unreachable == nil { // what an earlier command has left
			r.counted, r.had, r.hadCost = true, r.done, r.doneCost
		}
		r.report()
		if len(r.open) == 0 {
			return nil
		}
		if r.unreachable == nil && r.uncompared() {
			r.drop()
			return nil
		}
		select {
		case <-r.ctx.Done():
			return r.ctx.Err()
		case <-ticker.C:
		}
	}
}

// run is one Compute.
type run struct {
	*Coordinator
	ctx       context.Context
	plan      share.Plan
	queue     string
	redis     redis.UniversalClient
	client    *asynq.Client
	inspector *asynq.Inspector
	results   []json.RawMessage
	sampled   map[string]bool   // IDs of chunks that a second worker computes
	open      map[string]*Chunk // not done yet, by ID
	queued    []*Chunk          // to be enqueued
	marker    string            // key that the server has as long as it has lost nothing
	by        map[string]int    // chunks, by worker
	from      map[string]string // worker, by the ID of a chunk that it has computed
	retries   map[string]int    // of rejected chunks, by ID

	began             time.Time
	done, had         int
	counted           bool    // had is known
	cost              float64 // of all chunks
	doneCost, hadCost float64
	processed         int       // as the queue has counted them, failures too
	swept             time.Time // when all of the queue's results were looked through
	reported          time.Time
	info              *asynq.QueueInfo
	unreachable       error
	unreachableSince  time.Time
	idleSince         time.Time // when only comparisons were left, and the last of them was begun
}

// The values of the marker: chunks are being enqueued, or all are.
const (
	enqueuing = "enqueuing"
	enqueued  = "enqueued"
)

// marker is the name of the key of one coordinator. It expires, as a coordinator may be
// killed.
func marker(build string) string { return Queue(build) + ":coordinator:" + rand.Text() }

// mark sets the marker before chunks are enqueued: if it is gone afterwards, some of them
// may be.
func (r *run) mark() error {
	return redisError(r.redis.Set(r.ctx, r.marker, enqueuing, forever).Err())
}

// enqueueAll enqueues what is to be enqueued; everything that is open if the server has lost
// the marker.
func (r *run) enqueueAll() error {
	switch was, err := r.redis.Get(r.ctx, r.marker).Result(); {
	case errors.Is(err, redis.Nil):
		r.queued = slices.SortedFunc(maps.Values(r.open), func(a, b *Chunk) int { return cmp.Or(cmp.Compare(b.cost, a.cost), strings.Compare(a.ID(), b.ID())) })
		if err := r.mark(); err != nil {
			return err
		}
		r.swept, r.processed = time.Time{}, -1
		r.client = asynq.NewClientFromRedisClient(r.redis) // the old one has recorded that the server has the queue
	case err != nil:
		return redisError(err)
	case was == enqueued && len(r.queued) == 0:
		return nil
	}
	for len(r.queued) > 0 {
		if p := r.queued[0]; r.open[p.ID()] == p {
			if err := r.enqueue(p); err != nil {
				return err
			}
		}
		r.queued = r.queued[1:]
	}
	return redisError(r.redis.SetXX(r.ctx, r.marker, enqueued, forever).Err())
}

// enqueue puts a chunk into the queue, unless it is there.
func (r *run) enqueue(p *Chunk) error {
	payload, err := json.Marshal(p)
	if err != nil {
		return err
	}
	enqueue := func() error {
		_, err := r.client.EnqueueContext(r.ctx, asynq.NewTask(taskType, payload), asynq.Queue(r.queue), asynq.TaskID(p.ID()),
			asynq.MaxRetry(MaxRetries), asynq.Timeout(forever), asynq.Retention(r.Retention))
		return err
	}
	err = enqueue()
	if !errors.Is(err, asynq.ErrTaskIDConflict) {
		return redisError(err)
	}
	if left, err := r.leftover(p); left || err != nil {
		return redisError(cmp.Or(err, enqueue()))
	}
	switch info, err := r.inspector.GetTaskInfo(r.queue, p.ID()); {
	case err != nil: // it is gone by now, or has only just come: see the next look
	case info.State == asynq.TaskStateArchived: // an earlier command has given it up
		return redisError(r.inspector.RunTask(r.queue, p.ID()))
	case info.State == asynq.TaskStateCompleted:
		r.swept = time.Time{} // its result is anywhere among the others
	}
	return nil
}

// leftover removes what a worker has left on a server that had lost the chunk meanwhile: a
// result without a task, in whose place asynq enqueues none.
func (r *run) leftover(p *Chunk) (bool, error) {
	key := "asynq:{" + r.queue + "}:t:" + p.ID()
	has, err := r.redis.HExists(r.ctx, key, "msg").Result()
	if err != nil || has {
		return false, err
	}
	return true, r.redis.Del(r.ctx, key).Err()
}

// patience is the time for which the server may be out of reach.
const patience = time.Minute

// look enqueues what is missing, takes the results that have come, and finds chunks that
// were given up. A server that is out of reach is an error only after a while.
func (r *run) look() error {
	err := r.exchange()
	if !errors.Is(err, ErrRedis) {
		r.unreachable = nil
		return err
	}
	if r.ctx.Err() != nil {
		return r.ctx.Err()
	}
	if r.unreachable == nil {
		r.unreachableSince = time.Now()
	}
	r.unreachable = err
	if time.Since(r.unreachableSince) > patience {
		return err
	}
	return nil
}

// exchange is look, in which the server answers.
func (r *run) exchange() error {
	if err := r.enqueueAll(); err != nil {
		return err
	}
	info, err := r.inspector.GetQueueInfo(r.queue)
	if err != nil {
		return redisError(err)
	}
	r.info = info
	if info.ProcessedTotal != r.processed || time.Since(r.swept) > 30*time.Second {
		if err := r.collect(info, time.Since(r.swept) > 30*time.Second); err != nil {
			return err
		}
		r.processed = info.ProcessedTotal
	}
	if info.Archived == 0 {
		return nil
	}
	archived, err := r.inspector.ListArchivedTasks(r.queue, asynq.PageSize(1000))
	if err != nil {
		return redisError(err)
	}
	for _, t := range archived {
		if p := r.open[t.ID]; p != nil {
			return i18n.Errorf("error.fleet.failed", "task", p.Tasks[0], "more", len(p.Tasks)-1, "times", t.Retried+1, "cause", t.LastErr)
		}
	}
	return nil
}

// pageSize is the number of results that are read at once.
const pageSize = 50

// collect takes results from the queue. The newest come last, about; all: not only those.
func (r *run) collect(info *asynq.QueueInfo, all bool) error {
	if all {
		r.swept = time.Now()
	}
	for page := (info.Completed + pageSize - 1) / pageSize; page >= 1; page-- {
		tasks, err := r.inspector.ListCompletedTasks(r.queue, asynq.PageSize(pageSize), asynq.Page(page))
		if err != nil {
			return redisError(err)
		}
		news := false
		for _, t := range tasks {
			p := r.open[t.ID]
			if p == nil {
				continue
			}
			news = true
			if why := r.take(p, t.Result); why != nil {
				if err := r.reject(p, why); err != nil {
					return err
				}
				continue
			}
			if p.Not != "" {
				continue
			}
			if err := r.Kept.put(t.ID, t.Result); err != nil && r.Rejected != nil {
				r.Rejected(i18n.Errorf("error.fleet.keep", "cause", err))
			}
		}
		if !news && !all {
			break
		}
	}
	return nil
}

// take reads the result of a chunk, and checks it. The chunk is done once.
func (r *run) take(p *Chunk, content []byte) error {
	s, err := share.Read(p.ID(), content)
	if err != nil {
		return err
	}
	if s.Build != r.Build {
		return i18n.Errorf("error.fleet.result.build", "worker", s.Worker, "task", p.Tasks[0], "there", s.Build, "here", r.Build)
	}
	if !slices.Equal(s.Command, p.Command) || !slices.EqualFunc(s.Results, p.Tasks, func(r share.Result, id string) bool { return r.Task == id }) {
		return i18n.Errorf("error.fleet.result.tasks", "worker", s.Worker, "task", p.Tasks[0])
	}
	for i, result := range s.Results {
		if err := r.plan.Check(p.at[i], result.Result); err != nil {
			return i18n.Errorf("error.fleet.result.value", "worker", s.Worker, "cause", err)
		}
	}
	r.from[p.ID()] = s.Worker
	if p.Not != "" {
		return r.compare(p, s)
	}
	for i, result := range s.Results {
		r.results[p.at[i]] = result.Result
	}
	delete(r.open, p.ID())
	r.done += len(p.Tasks)
	r.doneCost += p.cost
	r.by[s.Worker]++
	if r.sampled[p.ID()] {
		r.twice(p, s.Worker, s.Results)
	}
	return nil
}

// reject throws a result away and has the chunk computed again.
func (r *run) reject(p *Chunk, why error) error {
	if errors.Is(why, ErrDoubtful) {
		return why
	}
	id := p.ID()
	if r.retries[id]++; r.retries[id] > rejections {
		return marked{i18n.Errorf("error.fleet.rejected", "task", p.Tasks[0], "times", rejections, "cause", why), ErrDoubtful}
	}
	if r.Rejected != nil {
		r.Rejected(i18n.Errorf("error.fleet.again", "cause", why))
	}
	if err := r.inspector.DeleteTask(r.queue, id); err != nil && !errors.Is(err, asynq.ErrTaskNotFound) {
		return redisError(err)
	}
	r.queued = append(r.queued, p)
	return nil
}

// report passes the Status on, once a second.
func (r *run) report() {
	if r.Progress == nil || time.Since(r.reported) < time.Second && len(r.open) > 0 {
		return
	}
	r.reported = time.Now()
	s := Status{Done: r.done, Of: len(r.results), Had: r.had, Elapsed: time.Since(r.began), Left: -1, Disconnected: r.unreachable}
	if fresh := r.doneCost - r.hadCost; fresh > 0 {
		s.Left = time.Duration((r.cost - r.doneCost) / fresh * float64(s.Elapsed))
	}
	if r.info != nil {
		s.Waiting = r.info.Pending
	}
	if servers, err := r.inspector.Servers(); err == nil {
		for _, server := range servers {
			if server.Queues[r.queue] > 0 {
				s.Workers = append(s.Workers, r.worker(server))
			} else if isOurs(server) {
				s.OtherBuilds++
			}
		}
	}
	slices.SortFunc(s.Workers, func(a, b WorkerStatus) int { return strings.Compare(a.Name, b.Name) })
	r.Progress(s)
}

func isOurs(server *asynq.ServerInfo) bool {
	for name := range server.Queues {
		if strings.HasPrefix(name, queuePrefix) {
			return true
		}
	}
	return false
}

func (r *run) worker(server *asynq.ServerInfo) WorkerStatus {
	w := WorkerStatus{Name: workerName(server.Host, server.PID)}
	for name, n := range r.by {
		if of, _, _ := strings.Cut(name, "/"); of == w.Name {
			w.Done += n
		}
	}
	for _, a := range server.ActiveWorkers {
		p := Chunk{}
		if json.Unmarshal(a.TaskPayload, &p) == nil && len(p.Tasks) > 0 {
			w.Chunk, w.More, w.For = p.Tasks[0], len(p.Tasks)-1, time.Since(a.Started)
		}
	}
	return w
}
