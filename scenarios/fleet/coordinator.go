package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"locklab/reports/text"
	"locklab/scenarios/share"
)

// A Coordinator has workers compute the tasks of one command. It is a share.Computer.
type Coordinator struct {
	Redis     asynq.RedisConnOpt
	Build     string            // share.Build, but for tests
	Command   []string          // as in share.Share; set before Compute
	Inputs    map[string]string // likewise
	Retention time.Duration     // how long results are kept
	Kept      *Kept             // results that are kept as files; nil: the server keeps them
	Progress  func(Status)      // from time to time; nil: it is not told
	// Rejected is told which result was thrown away; nil: it is not.
	Rejected func(why error)

	retries map[string]int // of rejected parcels, by ID
}

// A Status is how far a command has come.
type Status struct {
	Done, Of     int // tasks
	Had          int // of Done: tasks that were done before
	Elapsed      time.Duration
	Left         time.Duration // by the costs of tasks; below 0: unknown yet
	Workers      []WorkerStatus
	Waiting      int // parcels in the queue that nobody has begun
	OtherBuilds  int // workers on this server that are of other builds
	Disconnected error
}

// A WorkerStatus is what a worker does.
type WorkerStatus struct {
	Name   string        // host and process ID
	Parcel string        // the first task of its present parcel; "": it is idle
	More   int           // further tasks of it
	For    time.Duration // since it began with that
	Done   int           // parcels that this coordinator has from it
}

// MaxRetries is how often asynq gives a parcel to another worker after one was killed.
const MaxRetries = 25

// rejections is how many results of a parcel are thrown away before the command fails.
const rejections = 3

// poll is how often the queue is looked at. A fleet lives in real time: here, and nowhere
// in what it computes, the wall clock is read.
const poll = 100 * time.Millisecond

// Compute enqueues what is neither done nor in the queue, and waits for all results. When
// ctx ends it returns those that there are; the queue stays as it is.
func (c *Coordinator) Compute(ctx context.Context, plan share.Plan) ([]json.RawMessage, error) {
	r := &run{
		Coordinator: c, began: time.Now(), results: make([]json.RawMessage, len(plan.Tasks)), queue: Queue(c.Build),
		client: asynq.NewClient(c.Redis), inspector: asynq.NewInspector(c.Redis), open: map[string]*Parcel{}, by: map[string]int{},
	}
	defer r.client.Close()
	defer r.inspector.Close()
	c.retries = map[string]int{}
	all := parcels(c.Build, c.Command, c.Inputs, plan.Tasks)
	for _, p := range all {
		r.cost += p.cost
		if content := c.Kept.get(p.ID()); content != nil && r.take(p, content) == nil {
			continue
		}
		r.open[p.ID()] = p
	}
	for _, p := range all {
		if r.open[p.ID()] == nil {
			continue
		}
		if err := r.enqueue(ctx, p); err != nil {
			return r.results, err
		}
	}
	if err := r.collect(true); err != nil {
		return r.results, err
	}
	r.had, r.hadCost = r.done, r.doneCost
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for len(r.open) > 0 {
		r.report()
		select {
		case <-ctx.Done():
			return r.results, ctx.Err()
		case <-ticker.C:
		}
		if err := r.look(); err != nil {
			return r.results, err
		}
	}
	r.report()
	return r.results, nil
}

// run is one Compute.
type run struct {
	*Coordinator
	queue     string
	client    *asynq.Client
	inspector *asynq.Inspector
	results   []json.RawMessage
	open      map[string]*Parcel // not done yet, by ID
	by        map[string]int     // parcels, by worker

	began             time.Time
	done, had         int
	cost              float64 // of all parcels
	doneCost, hadCost float64
	processed         int       // as the queue has counted them, failures too
	swept             time.Time // when all of the queue's results were looked through
	reported          time.Time
	info              *asynq.QueueInfo
	unreachable       error
	unreachableSince  time.Time
}

// enqueue puts a parcel into the queue, unless it is there.
func (r *run) enqueue(ctx context.Context, p *Parcel) error {
	payload, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = r.client.EnqueueContext(ctx, asynq.NewTask(taskType, payload), asynq.Queue(r.queue), asynq.TaskID(p.ID()),
		asynq.MaxRetry(MaxRetries), asynq.Timeout(forever), asynq.Retention(r.Retention))
	switch {
	case errors.Is(err, asynq.ErrTaskIDConflict):
		info, err := r.inspector.GetTaskInfo(r.queue, p.ID())
		if err == nil && info.State == asynq.TaskStateArchived { // an earlier command has given it up
			return redisError(r.inspector.RunTask(r.queue, p.ID()))
		}
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return redisError(err)
}

// ErrRedis is what errors of the Redis server, and of the way to it, are.
var ErrRedis = errors.New("fleet: the Redis server")

type ofRedis struct{ error }

func (ofRedis) Is(target error) bool { return target == ErrRedis }
func (e ofRedis) Unwrap() error      { return e.error }

func redisError(err error) error {
	if err == nil {
		return nil
	}
	return ofRedis{text.Errorf("error.fleet.redis", "cause", err)}
}

// patience is how long the server may be out of reach.
const patience = time.Minute

// look takes the results that have come, and finds parcels that were given up.
func (r *run) look() error {
	info, err := r.inspector.GetQueueInfo(r.queue)
	if err != nil {
		if r.unreachable == nil {
			r.unreachableSince = time.Now()
		}
		r.unreachable = err
		if time.Since(r.unreachableSince) > patience {
			return redisError(err)
		}
		return nil
	}
	r.unreachable, r.info = nil, info
	if info.ProcessedTotal != r.processed || time.Since(r.swept) > 30*time.Second {
		if err := r.collect(time.Since(r.swept) > 30*time.Second); err != nil {
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
			return text.Errorf("error.fleet.failed", "task", p.Tasks[0], "more", len(p.Tasks)-1, "times", t.Retried+1, "cause", t.LastErr)
		}
	}
	return nil
}

// pageSize is how many results are read at once.
const pageSize = 50

// collect takes results from the queue. The newest come last, about; all: not only those.
func (r *run) collect(all bool) error {
	info, err := r.inspector.GetQueueInfo(r.queue)
	if errors.Is(err, asynq.ErrQueueNotFound) {
		return nil
	}
	if err != nil {
		return redisError(err)
	}
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
			if err := r.Kept.put(t.ID, t.Result); err != nil && r.Rejected != nil {
				r.Rejected(text.Errorf("error.fleet.keep", "cause", err))
			}
		}
		if !news && !all {
			break
		}
	}
	return nil
}

// take reads the result of a parcel.
func (r *run) take(p *Parcel, content []byte) error {
	s, err := share.Read(p.ID(), content)
	if err != nil {
		return err
	}
	if s.Build != r.Build {
		return text.Errorf("error.fleet.result.build", "worker", s.Worker, "task", p.Tasks[0], "there", s.Build, "here", r.Build)
	}
	if !slices.Equal(s.Command, p.Command) || !slices.EqualFunc(s.Results, p.Tasks, func(r share.Result, id string) bool { return r.Task == id }) {
		return text.Errorf("error.fleet.result.tasks", "worker", s.Worker, "task", p.Tasks[0])
	}
	for i, result := range s.Results {
		r.results[p.at[i]] = result.Result
	}
	delete(r.open, p.ID())
	r.done += len(p.Tasks)
	r.doneCost += p.cost
	r.by[s.Worker]++
	return nil
}

// reject throws a result away and has the parcel computed again.
func (r *run) reject(p *Parcel, why error) error {
	id := p.ID()
	if r.retries[id]++; r.retries[id] > rejections {
		return text.Errorf("error.fleet.rejected", "task", p.Tasks[0], "times", rejections, "cause", why)
	}
	if r.Rejected != nil {
		r.Rejected(text.Errorf("error.fleet.again", "cause", why))
	}
	if err := r.inspector.DeleteTask(r.queue, id); err != nil {
		return redisError(err)
	}
	return r.enqueue(context.Background(), p)
}

// report tells how far it has come, once a second.
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
	w.Done = r.by[w.Name]
	for _, a := range server.ActiveWorkers {
		p := Parcel{}
		if json.Unmarshal(a.TaskPayload, &p) == nil && len(p.Tasks) > 0 {
			w.Parcel, w.More, w.For = p.Tasks[0], len(p.Tasks)-1, time.Since(a.Started)
		}
	}
	return w
}
