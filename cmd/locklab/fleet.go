package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"

	"locklab/reports/text"
	"locklab/scenarios/fleet"
	"locklab/scenarios/share"
	"locklab/simulator/i18n"
)

// fleetCommand has many machines compute the tasks of a command.
func fleetCommand() *command {
	return &command{
		use: "fleet", below: []*command{fleetRunCommand(), fleetWorkerCommand()},
		examples: []string{"fleet run verify", "fleet worker --redis 127.0.0.1:PORT --password-file FILE", "fleet run --redis rediss://10.0.0.5:6380 par --strategies all -o par.png"},
	}
}

// redisFlags say which Redis server holds the queue.
type redisFlags struct{ address, password, ca string }

func (r *redisFlags) add(f *flags) {
	f.add("redis", &r.address)
	f.add("password-file", &r.password)
	f.add("ca", &r.ca)
}

// option returns the connection for asynq; nil: no server is named.
func (r *redisFlags) option(e *env) (asynq.RedisConnOpt, error) {
	address := cmp.Or(r.address, e.getenv("LOCKLAB_REDIS"))
	if address == "" {
		if r.password != "" || r.ca != "" {
			return nil, text.Errorf("error.fleet.noredis")
		}
		return nil, nil
	}
	opt, err := fleet.ParseRedis(address)
	if err != nil {
		return nil, err
	}
	password, config, err := r.secrets(e)
	if err != nil {
		return nil, err
	}
	return fleet.WithSecrets(opt, password, config), nil
}

// secrets reads the files of the flags. config is nil without --ca.
func (r *redisFlags) secrets(e *env) (password string, config *tls.Config, err error) {
	if r.password != "" {
		content, err := e.read(r.password, 1<<16)
		if err != nil {
			return "", nil, text.Errorf("error.file", "file", "--password-file "+r.password, "cause", i18n.Bare(err))
		}
		if password = strings.TrimRight(string(content), "\r\n"); password == "" {
			return "", nil, text.Errorf("error.fleet.password", "file", r.password)
		}
	}
	if r.ca == "" {
		return password, nil, nil
	}
	pem, err := e.read(r.ca, 1<<20)
	if err != nil {
		return "", nil, text.Errorf("error.file", "file", "--ca "+r.ca, "cause", i18n.Bare(err))
	}
	config = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return "", nil, text.Errorf("error.fleet.ca", "file", r.ca)
	}
	return password, config, nil
}

// fleetRunFlags are the flags of "locklab fleet run".
type fleetRunFlags struct {
	redis     redisFlags
	retention time.Duration
	cache     string
}

func fleetRunCommand() *command {
	r := &fleetRunFlags{retention: 24 * time.Hour}
	return &command{
		use: "run [FLAGS] COMMAND...", texts: []string{"fleet"}, flags: r.add, run: r.run,
		examples: []string{"fleet run verify", "fleet run --redis 10.0.0.5:6379 --password-file secret sweep pause/ttl --runs 100000 -o sweep.png"},
	}
}

func (r *fleetRunFlags) add(f *flags) {
	f.set.SetInterspersed(false) // what follows COMMAND belongs to it
	r.redis.add(f)
	ranged(f, "retention", &r.retention, time.Minute, math.MaxInt64, "error.fleet.retention")
	f.add("cache", &r.cache)
}

func (r *fleetRunFlags) run(e *env, args []string) error {
	if len(args) == 0 {
		return text.Errorf("error.fleet.command")
	}
	if found, _, err := e.running.Root().Find(args); err != nil || found.Annotations[isShared] == "" {
		return text.Errorf("error.fleet.notshared", "command", strings.Join(args, " "))
	}
	build, err := share.Build()
	if err != nil {
		return internal(err)
	}
	opt, err := r.redis.option(e)
	if err != nil {
		return err
	}
	c := &fleet.Coordinator{Redis: opt, Build: build, Inputs: map[string]string{}, Retention: r.retention}
	if opt == nil {
		stop, err := r.startRedis(e, c)
		defer stop()
		if err != nil {
			return err
		}
	}
	return coordinate(e, c, args)
}

// startRedis has a coordinator use a Redis server of this process.
func (r *fleetRunFlags) startRedis(e *env, c *fleet.Coordinator) (stop func(), err error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(e.ctx)) // it outlives Ctrl-C
	own, err := fleet.Loopback(ctx)
	if err != nil {
		return cancel, internal(text.Errorf("error.fleet.redis", "cause", err))
	}
	if c.Kept, err = keptResults(r.cache, r.retention); err != nil {
		return cancel, err
	}
	c.Redis = own
	file, remove, err := passwordFile(own.Password)
	if err != nil {
		return cancel, internal(text.Errorf("error.fleet.password.write", "cause", err))
	}
	e.inform("fleet.start", "address", own.Addr, "file", file)
	return func() {
		remove()
		cancel()
	}, nil
}

// coordinate runs a command whose tasks a fleet computes.
func coordinate(e *env, c *fleet.Coordinator, args []string) error {
	c.Rejected = func(why error) { fmt.Fprintln(e.stderr, presentable(e.Error(why))) }
	show, end := fleetProgress(e)
	c.Progress = show
	computer := &ending{Coordinator: c, end: end}
	err := runElsewhere(e, args, &elsewhere{
		computer: computer, inputs: c.Inputs, planned: func(command []string) { c.Command = command },
	})
	end()
	switch {
	case e.ctx.Err() != nil:
		e.inform("fleet.stopped")
	case computer.used && c.Compared > 0:
		e.inform("fleet.compared", "n", fmt.Sprint(c.Compared))
	case computer.used && !errors.Is(err, fleet.ErrRedis) && !errors.Is(err, fleet.ErrDoubtful):
		e.inform("fleet.compared.none")
	}
	return fleetError(err)
}

// passwordFile writes a password to a file that only this user can read. remove removes it.
func passwordFile(password string) (file string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "locklab-fleet-") // of mode 0700
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	file = filepath.Join(dir, "password")
	if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
		remove()
		return "", nil, err
	}
	return file, remove, nil
}

// ending clears the progress before results are printed.
type ending struct {
	*fleet.Coordinator
	end  func()
	used bool // the command has come to its tasks
}

func (e *ending) Compute(ctx context.Context, p share.Plan) (results []json.RawMessage, err error) {
	defer e.end()
	e.used = true
	return e.Coordinator.Compute(ctx, p)
}

// keptResults returns the store for the results of a coordinator without a Redis server.
func keptResults(dir string, retention time.Duration) (*fleet.Kept, error) {
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, text.Errorf("error.fleet.cache", "cause", err)
		}
		dir = filepath.Join(user, "locklab", "fleet")
	}
	k := &fleet.Kept{Dir: dir}
	k.Clean(retention)
	return k, nil
}

// fleetProgress shows the progress of a fleet and a line for each worker on a terminal, and
// elsewhere a line now and then if more is done.
func fleetProgress(e *env) (show func(fleet.Status), end func()) {
	f, ok := terminal(e.stderr)
	switch {
	case f == nil:
		return nil, func() {}
	case !ok:
		done, last := 0, time.Duration(0)
		return func(s fleet.Status) {
			if s.Done > done && s.Done < s.Of && s.Elapsed-last >= betweenLines {
				done, last = s.Done, s.Elapsed
				fmt.Fprintln(f, presentable(statusLines(e, s)[0]))
			}
		}, func() {}
	}
	var mu sync.Mutex
	lines, ended := 0, false
	clear := func() {
		if lines > 0 {
			fmt.Fprintf(f, "\x1b[%dA\r\x1b[J", lines)
		}
		lines = 0
	}
	return func(s fleet.Status) {
			mu.Lock()
			defer mu.Unlock()
			if ended {
				return
			}
			clear()
			for _, line := range statusLines(e, s) {
				fmt.Fprintln(f, presentable(line))
				lines++
			}
		}, func() {
			mu.Lock()
			defer mu.Unlock()
			clear()
			ended = true
		}
}

// statusLines are the progress of a fleet in words.
func statusLines(e *env, s fleet.Status) (lines []string) {
	seconds := max(s.Elapsed.Seconds(), 0.001)
	left := e.Say("fleet.left.unknown")
	if s.Left >= 0 {
		left = s.Left.Round(time.Second).String()
	}
	lines = append(lines, e.Say("fleet.status", "done", fmt.Sprint(s.Done), "of", fmt.Sprint(s.Of), "rate", fmt.Sprintf("%.1f", float64(s.Done-s.Had)/seconds),
		"left", left, "waiting", fmt.Sprint(s.Waiting)))
	for _, w := range s.Workers {
		key := "fleet.worker.idle"
		if w.Chunk != "" {
			key = "fleet.worker"
		}
		lines = append(lines, "  "+e.Say(key, "worker", w.Name, "done", fmt.Sprint(w.Done), "task", w.Chunk, "more", fmt.Sprint(w.More), "since", w.For.Round(time.Second).String()))
	}
	if len(s.Workers) == 0 {
		lines = append(lines, "  "+e.Say("fleet.worker.none"))
	}
	if s.OtherBuilds > 0 {
		lines = append(lines, "  "+e.Say("fleet.worker.others", "n", fmt.Sprint(s.OtherBuilds)))
	}
	if s.Disconnected != nil {
		lines = append(lines, "  "+e.Say("fleet.disconnected", "cause", text.SayError("en", s.Disconnected)))
	}
	return lines
}

func fleetWorkerCommand() *command {
	var redis redisFlags
	return &command{
		use: "worker --redis ADDR", texts: []string{"fleet"}, args: noArguments, flags: redis.add,
		examples: []string{"fleet worker --redis 127.0.0.1:PORT --password-file FILE", "fleet worker --redis rediss://10.0.0.5:6380 --password-file secret --ca ca.pem",
			"fleet worker --redis redis-sentinel://:SECRET@10.0.0.5:26379,10.0.0.6:26379?master=NAME --password-file secret --ca ca.pem"},
		run: func(e *env, _ []string) error { return runWorker(e, &redis) },
	}
}

func runWorker(e *env, redis *redisFlags) error {
	build, err := share.Build()
	if err != nil {
		return internal(err)
	}
	opt, err := redis.option(e)
	if err != nil {
		return err
	}
	if opt == nil {
		return text.Errorf("error.fleet.worker")
	}
	w := fleet.Worker{
		Redis: opt, Build: build, Compute: computeChunk,
		Ready: func() { e.inform("fleet.worker.start", "worker", fleet.Self(), "build", build) },
		Done: func(p *fleet.Chunk, took time.Duration) {
			e.inform("fleet.worker.done", "task", p.Tasks[0], "more", fmt.Sprint(len(p.Tasks)-1), "seconds", fmt.Sprintf("%.1f", took.Seconds()))
		},
		Report: func(message string) { fmt.Fprintln(e.stderr, presentable(message)) },
	}
	return fleetError(w.Run(e.ctx))
}

// fleetError marks an error of the Redis server, and results in doubt, as what leaves the
// question open.
func fleetError(err error) error {
	if errors.Is(err, fleet.ErrRedis) || errors.Is(err, fleet.ErrDoubtful) {
		return &exitError{exitNoAnswer, err}
	}
	return err
}

// computeChunk runs a command for some of its tasks. It prints nothing and touches no
// file.
func computeChunk(ctx context.Context, p *fleet.Chunk) ([]share.Result, error) {
	inner := newEnv(bytes.NewReader(nil), io.Discard, io.Discard, func(string) string { return "" })
	chosen := &share.Chosen{Tasks: p.Tasks}
	inner.ctx, inner.elsewhere = ctx, &elsewhere{computer: chosen, inputs: p.Inputs, given: true, strict: true}
	if c, _, err := newRoot(inner).Find(p.Command); err != nil || c.Annotations[isShared] == "" {
		return nil, text.Errorf("error.fleet.notshared", "command", strings.Join(p.Command, " "))
	}
	err := inner.execute(ctx, p.Command)
	if len(chosen.Results) == len(p.Tasks) {
		return chosen.Results, nil
	}
	return nil, cmp.Or(err, text.Errorf("error.share.task.none", "task", p.Tasks[0]))
}
