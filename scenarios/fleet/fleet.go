// Package fleet has many machines compute the tasks of a command (package share), over a
// queue of asynq on a Redis server. Queueing, leases, retries and retention are asynq's.
//
// A [Coordinator] puts short tasks together into chunks of about half a second, and
// enqueues each under an ID that is a hash of the build, the command and the tasks in it:
// what is in the queue, or done, is not enqueued again. A [Worker] takes one chunk after
// the other, computes it by running the same command for these tasks only, and leaves the
// result with the chunk. The coordinator collects the results until it has all.
//
// # What can go wrong
//
// A coordinator that ends leaves the queue as it is; the next one with the same command
// finds what is done. A worker that is killed loses its present chunk: asynq's lease on it
// ends after 30 s, asynq waits another 30 s for clocks that differ, and looks every minute,
// so that another worker has it within two minutes. A chunk may be computed twice then,
// which makes no difference. One that fails 25 times, or whose computation is an error,
// ends the command.
//
// Each build has a queue of its own, so that no worker gets tasks of another build. A
// result names the build that has computed it and ends in a checksum; one that does not
// fit is thrown away, and its chunk is enqueued again. That finds mistakes, not malice:
// a client that can write to the Redis server can forge results, but nothing else, since workers
// run only commands that compute, and read and write no files.
//
// # Without a Redis server
//
// The coordinator has a miniredis on loopback then, and keeps results as files, because
// that queue ends with it.
package fleet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hibiken/asynq"

	"locklab/scenarios/share"
)

// A Chunk is some tasks of a command, as they travel to a worker.
type Chunk struct {
	Build   string            `json:"build"`
	Command []string          `json:"command"` // as in share.Share
	Inputs  map[string]string `json:"inputs,omitempty"`
	Tasks   []string          `json:"tasks"`         // IDs
	Not     string            `json:"not,omitempty"` // worker that has computed them already: another one is wanted
	cost    float64
	at      []int          // places of the tasks in the plan
	first   []share.Result // of Not
}

// ID is the same for the same tasks of the same command of the same build.
func (p *Chunk) ID() string {
	content, err := json.Marshal(p)
	if err != nil {
		panic(err) // texts only
	}
	return share.Hash(p.Build, string(content))
}

// chunkCost is the cost in seconds up to which short tasks share a chunk. The overhead of asynq,
// some milliseconds a chunk, is small compared with it.
const chunkCost = 0.5

// chunks groups tasks. What takes longest comes first.
func chunks(build string, command []string, inputs map[string]string, tasks []share.Task) (all []*Chunk) {
	var open *Chunk
	for _, long := range []bool{true, false} {
		for i, t := range tasks {
			cost := t.Expected()
			if (cost >= chunkCost) != long {
				continue
			}
			if open == nil || open.cost+cost > chunkCost && open.cost > 0 {
				open = &Chunk{Build: build, Command: command, Inputs: inputs}
				all = append(all, open)
			}
			open.Tasks, open.at, open.cost = append(open.Tasks, t.ID), append(open.at, i), open.cost+cost
		}
		open = nil
	}
	slices.SortStableFunc(all, func(a, b *Chunk) int { return cmp.Compare(b.cost, a.cost) })
	return all
}

const queuePrefix = "locklab-"

// Queue is the name of the queue of a build.
func Queue(build string) string { return queuePrefix + share.Hash(build)[:12] }

// taskType is asynq's name for a kind of task. There is one.
const taskType = "locklab"

// answer is the result of a chunk.
func answer(p *Chunk, worker string, results []share.Result) ([]byte, error) {
	var b strings.Builder
	err := share.Share{Build: p.Build, Command: p.Command, Worker: worker, Results: results}.Write(&b)
	return []byte(b.String()), err
}

// Self is the name of this process among workers: host and process ID.
func Self() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	return workerName(host, os.Getpid())
}

func workerName(host string, pid int) string { return fmt.Sprintf("%s:%d", host, pid) }

// forever is longer than a chunk may take: asynq gives up after half an hour otherwise.
const forever = 30 * 24 * time.Hour

// quiet is asynq's logger; it passes on errors only.
type quiet struct{ report func(string) }

func (q quiet) Debug(...any) {}
func (q quiet) Info(...any)  {}
func (q quiet) Warn(...any)  {}
func (q quiet) Error(args ...any) {
	if q.report != nil {
		q.report(fmt.Sprint(args...))
	}
}
func (q quiet) Fatal(args ...any) { q.Error(args...) }

var _ asynq.Logger = quiet{}
