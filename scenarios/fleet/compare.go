package fleet

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"locklab/scenarios/share"
	"locklab/simulator/i18n"
	"locklab/simulator/lists"
)

// Of sampleOf chunks one is computed by a second worker, too.
const sampleOf = 16

// ErrDoubtful is in the chain of errors that leave a result in doubt: two workers have different
// ones, or all that came were rejected.
var ErrDoubtful = errors.New("fleet: a result in doubt")

// sample chooses the chunks that a second worker computes: one in sampleOf, rounded up, by
// their IDs, which are hashes.
func sample(all []*Chunk) map[string]bool {
	ids := lists.Each(all, (*Chunk).ID)
	slices.Sort(ids)
	chosen := map[string]bool{}
	for _, id := range ids[:(len(ids)+sampleOf-1)/sampleOf] {
		chosen[id] = true
	}
	return chosen
}

// twice has a chunk computed again, by a worker other than the one that has.
func (r *run) twice(p *Chunk, worker string, results []share.Result) {
	again := &Chunk{Build: p.Build, Command: p.Command, Inputs: p.Inputs, Tasks: p.Tasks, Not: worker, at: p.at, first: results}
	r.open[again.ID()] = again
	r.queued = append(r.queued, again)
}

// compare compares the results of two workers.
func (r *run) compare(p *Chunk, s *share.Share) error {
	if s.Worker == p.Not {
		return i18n.Errorf("error.fleet.result.self", "worker", s.Worker, "task", p.Tasks[0])
	}
	for i, result := range s.Results {
		if !bytes.Equal(result.Result, p.first[i].Result) {
			r.forget(p.Not, s.Worker)
			return marked{i18n.Errorf("error.fleet.differ", "task", result.Task, "worker", p.Not, "other", s.Worker), ErrDoubtful}
		}
	}
	delete(r.open, p.ID())
	r.Compared += len(p.Tasks)
	return nil
}

// forget discards everything that some workers have computed of this command: the next
// coordinator has it computed again.
func (r *run) forget(workers ...string) {
	for id, worker := range r.from {
		if slices.Contains(workers, worker) {
			r.Kept.remove(id)
			_ = r.inspector.DeleteTask(r.queue, id) // it may be gone
		}
	}
}

// lonely is the time that comparisons wait for a worker that begins with one.
const lonely = 30 * time.Second

// uncompared reports whether all that is left are comparisons, and fewer than two workers
// are there to make them, or none has begun with any for a while.
func (r *run) uncompared() bool {
	for _, p := range r.open {
		if p.Not == "" {
			return false
		}
	}
	if r.info.Active > 0 || r.idleSince.IsZero() {
		r.idleSince = time.Now()
	}
	servers, err := r.inspector.Servers()
	if err != nil {
		return false
	}
	n := 0
	for _, server := range servers {
		if server.Queues[r.queue] > 0 && server.Status == "active" {
			n++
		}
	}
	return n < 2 || time.Since(r.idleSince) > lonely
}

// drop takes the comparisons that no worker makes out of the queue.
func (r *run) drop() {
	for id := range r.open {
		_ = r.inspector.DeleteTask(r.queue, id) // unless a worker has just begun with it
	}
	clear(r.open)
}
