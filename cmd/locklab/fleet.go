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
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locklab/reports/text"
	"locklab/scenarios/fleet"
	"locklab/scenarios/share"
)

// fleet has many machines compute the tasks of a command.
func (a *app) fleet() *cobra.Command {
	c := &cobra.Command{
		Use:  "fleet",
		Args: a.knownFleetCommand,
		RunE: func(c *cobra.Command, _ []string) error {
			a.printHelp(c)
			return nil
		},
		Example: a.examples("fleet", "fleet run verify", "fleet worker --redis 127.0.0.1:PORT --password-file FILE", "fleet run --redis rediss://10.0.0.5:6380 par --strategies all -o par.png"),
	}
	c.AddCommand(a.fleetRun(), a.fleetWorker())
	return c
}

func (a *app) knownFleetCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return text.Errorf("error.command", "name", "fleet "+args[0], "near", text.Near(args[0], []string{"run", "worker"}))
}

// redisFlags say which Redis server holds the queue.
type redisFlags struct{ address, password, ca string }

func (r *redisFlags) add(a *app, f *pflag.FlagSet) {
	usage := a.usage("fleet")
	f.StringVar(&r.address, "redis", "", usage("redis"))
	f.StringVar(&r.password, "password-file", "", usage("password-file"))
	f.StringVar(&r.ca, "ca", "", usage("ca"))
}

// option is what asynq connects with; nil: no server is named.
func (r *redisFlags) option(a *app) (asynq.RedisConnOpt, error) {
	address := cmp.Or(r.address, a.getenv("LOCKLAB_REDIS"))
	if address == "" {
		if r.password != "" || r.ca != "" {
			return nil, text.Errorf("error.fleet.noredis")
		}
		return nil, nil
	}
	opt, err := parseRedis(address)
	if err != nil {
		return nil, err
	}
	password, config, err := r.secrets(a)
	if err != nil {
		return nil, err
	}
	switch opt := opt.(type) {
	case asynq.RedisClientOpt:
		opt.Password, opt.TLSConfig = cmp.Or(password, opt.Password), withRoots(opt.TLSConfig, config)
		return opt, nil
	case asynq.RedisFailoverClientOpt: // in the URL is the password of the sentinels
		opt.Password, opt.TLSConfig = password, withRoots(opt.TLSConfig, config)
		return opt, nil
	}
	return nil, text.Errorf("error.fleet.address", "value", withoutPassword(address))
}

// parseRedis reads HOST:PORT, or a URL.
func parseRedis(address string) (asynq.RedisConnOpt, error) {
	if !strings.Contains(address, "://") {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return nil, text.Errorf("error.fleet.address", "value", address)
		}
		return asynq.RedisClientOpt{Addr: address}, nil
	}
	opt, err := asynq.ParseRedisURI(address)
	if err != nil {
		return nil, text.Errorf("error.fleet.address", "value", withoutPassword(address))
	}
	if sentinels, ok := opt.(asynq.RedisFailoverClientOpt); ok {
		if sentinels.MasterName == "" {
			return nil, text.Errorf("error.fleet.master", "value", withoutPassword(address))
		}
		for _, one := range sentinels.SentinelAddrs {
			if _, _, err := net.SplitHostPort(one); err != nil {
				return nil, text.Errorf("error.fleet.address", "value", withoutPassword(address))
			}
		}
	}
	return opt, nil
}

// secrets reads the files of the flags. config is nil without --ca.
func (r *redisFlags) secrets(a *app) (password string, config *tls.Config, err error) {
	if r.password != "" {
		content, err := a.read(r.password, 1<<16)
		if err != nil {
			return "", nil, text.Errorf("error.file", "file", "--password-file "+r.password, "cause", bare(err))
		}
		if password = strings.TrimRight(string(content), "\r\n"); password == "" {
			return "", nil, text.Errorf("error.fleet.password", "file", r.password)
		}
	}
	if r.ca == "" {
		return password, nil, nil
	}
	pem, err := a.read(r.ca, 1<<20)
	if err != nil {
		return "", nil, text.Errorf("error.file", "file", "--ca "+r.ca, "cause", bare(err))
	}
	config = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	if !config.RootCAs.AppendCertsFromPEM(pem) {
		return "", nil, text.Errorf("error.fleet.ca", "file", r.ca)
	}
	return password, config, nil
}

// withRoots is a URL's own TLS settings, or none, with the roots of --ca.
func withRoots(own, ca *tls.Config) *tls.Config {
	if own == nil || ca == nil {
		return cmp.Or(own, ca)
	}
	own.RootCAs = ca.RootCAs
	return own
}

// withoutPassword is an address that may be printed.
func withoutPassword(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		rest = "…" + rest[at:]
	}
	return scheme + "://" + rest
}

func (a *app) fleetRun() *cobra.Command {
	var (
		redis     redisFlags
		retention time.Duration
		cache     string
	)
	c := &cobra.Command{
		Use:     "run [FLAGS] COMMAND...",
		Example: a.examples("fleet-run", "fleet run verify", "fleet run --redis 10.0.0.5:6379 --password-file secret sweep pause/ttl --runs 100000 -o sweep.png"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return text.Errorf("error.fleet.command")
			}
			if retention < time.Minute {
				return text.Errorf("error.fleet.retention", "value", retention)
			}
			if found, _, err := c.Root().Find(args); err != nil || found.Annotations[isShared] == "" {
				return text.Errorf("error.fleet.notshared", "command", strings.Join(args, " "))
			}
			build, err := share.Build()
			if err != nil {
				return internal(err)
			}
			opt, err := redis.option(a)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithCancel(context.WithoutCancel(c.Context())) // of the server: it outlives Ctrl-C
			defer cancel()
			coordinator := &fleet.Coordinator{Redis: opt, Build: build, Inputs: map[string]string{}, Retention: retention}
			if opt == nil {
				own, err := fleet.Loopback(ctx)
				if err != nil {
					return internal(text.Errorf("error.fleet.redis", "cause", err))
				}
				if coordinator.Kept, err = a.keptResults(cache, retention); err != nil {
					return err
				}
				coordinator.Redis = own
				file, remove, err := passwordFile(own.Password)
				if err != nil {
					return internal(text.Errorf("error.fleet.password.write", "cause", err))
				}
				defer remove()
				a.inform("fleet.start", "address", own.Addr, "file", file)
			}
			coordinator.Rejected = func(why error) { fmt.Fprintln(a.stderr, presentable(a.Error(why))) }
			show, end := a.fleetProgress()
			coordinator.Progress = show
			computer := &ending{Coordinator: coordinator, end: end}
			err = a.runElsewhere(c.Context(), args, &elsewhere{
				computer: computer, inputs: coordinator.Inputs, planned: func(command []string) { coordinator.Command = command },
			})
			end()
			switch {
			case c.Context().Err() != nil:
				a.inform("fleet.stopped")
			case computer.used && coordinator.Compared > 0:
				a.inform("fleet.compared", "n", fmt.Sprint(coordinator.Compared))
			case computer.used && !errors.Is(err, fleet.ErrRedis) && !errors.Is(err, fleet.ErrDoubtful):
				a.inform("fleet.compared.none")
			}
			return fleetError(err)
		},
	}
	f, usage := c.Flags(), a.usage("fleet")
	f.SetInterspersed(false) // what follows COMMAND belongs to it
	redis.add(a, f)
	f.DurationVar(&retention, "retention", 24*time.Hour, usage("retention"))
	f.StringVar(&cache, "cache", "", usage("cache"))
	return c
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

// keptResults is where the results of a coordinator without a Redis server are kept.
func (a *app) keptResults(dir string, retention time.Duration) (*fleet.Kept, error) {
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
func (a *app) fleetProgress() (show func(fleet.Status), end func()) {
	f, ok := terminal(a.stderr)
	switch {
	case f == nil:
		return nil, func() {}
	case !ok:
		done, last := 0, time.Duration(0)
		return func(s fleet.Status) {
			if s.Done > done && s.Done < s.Of && s.Elapsed-last >= betweenLines {
				done, last = s.Done, s.Elapsed
				fmt.Fprintln(f, presentable(a.statusLines(s)[0]))
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
			for _, line := range a.statusLines(s) {
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
func (a *app) statusLines(s fleet.Status) (lines []string) {
	seconds := max(s.Elapsed.Seconds(), 0.001)
	left := a.Say("fleet.left.unknown")
	if s.Left >= 0 {
		left = s.Left.Round(time.Second).String()
	}
	lines = append(lines, a.Say("fleet.status", "done", fmt.Sprint(s.Done), "of", fmt.Sprint(s.Of), "rate", fmt.Sprintf("%.1f", float64(s.Done-s.Had)/seconds),
		"left", left, "waiting", fmt.Sprint(s.Waiting)))
	for _, w := range s.Workers {
		key := "fleet.worker.idle"
		if w.Parcel != "" {
			key = "fleet.worker"
		}
		lines = append(lines, "  "+a.Say(key, "worker", w.Name, "done", fmt.Sprint(w.Done), "task", w.Parcel, "more", fmt.Sprint(w.More), "since", w.For.Round(time.Second).String()))
	}
	if len(s.Workers) == 0 {
		lines = append(lines, "  "+a.Say("fleet.worker.none"))
	}
	if s.OtherBuilds > 0 {
		lines = append(lines, "  "+a.Say("fleet.worker.others", "n", fmt.Sprint(s.OtherBuilds)))
	}
	if s.Disconnected != nil {
		lines = append(lines, "  "+a.Say("fleet.disconnected", "cause", text.SayError("en", s.Disconnected)))
	}
	return lines
}

func (a *app) fleetWorker() *cobra.Command {
	var redis redisFlags
	c := &cobra.Command{
		Use: "worker --redis ADDR",
		Example: a.examples("fleet-worker", "fleet worker --redis 127.0.0.1:PORT --password-file FILE", "fleet worker --redis rediss://10.0.0.5:6380 --password-file secret --ca ca.pem",
			"fleet worker --redis redis-sentinel://:SECRET@10.0.0.5:26379,10.0.0.6:26379?master=NAME --password-file secret --ca ca.pem"),
		Args: a.noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			build, err := share.Build()
			if err != nil {
				return internal(err)
			}
			opt, err := redis.option(a)
			if err != nil {
				return err
			}
			if opt == nil {
				return text.Errorf("error.fleet.worker")
			}
			w := fleet.Worker{
				Redis: opt, Build: build, Compute: a.computeParcel,
				Ready: func() { a.inform("fleet.worker.start", "worker", fleet.Self(), "build", build) },
				Done: func(p *fleet.Parcel, took time.Duration) {
					a.inform("fleet.worker.done", "task", p.Tasks[0], "more", fmt.Sprint(len(p.Tasks)-1), "seconds", fmt.Sprintf("%.1f", took.Seconds()))
				},
				Tell: func(message string) { fmt.Fprintln(a.stderr, presentable(message)) },
			}
			return fleetError(w.Run(c.Context()))
		},
	}
	redis.add(a, c.Flags())
	return c
}

// fleetError marks an error of the Redis server, and results in doubt, as what leaves the
// question open.
func fleetError(err error) error {
	if errors.Is(err, fleet.ErrRedis) || errors.Is(err, fleet.ErrDoubtful) {
		return &exitError{exitNoAnswer, err}
	}
	return err
}

// computeParcel runs a command for some of its tasks. It prints nothing and touches no
// file.
func (a *app) computeParcel(ctx context.Context, p *fleet.Parcel) ([]share.Result, error) {
	inner := newApp(bytes.NewReader(nil), io.Discard, io.Discard, func(string) string { return "" })
	chosen := &share.Chosen{Tasks: p.Tasks}
	inner.ctx, inner.elsewhere = ctx, &elsewhere{computer: chosen, inputs: p.Inputs, given: true, strict: true}
	root := inner.root()
	if c, _, err := root.Find(p.Command); err != nil || c.Annotations[isShared] == "" {
		return nil, text.Errorf("error.fleet.notshared", "command", strings.Join(p.Command, " "))
	}
	root.SetArgs(p.Command)
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	err := root.ExecuteContext(ctx)
	if len(chosen.Results) == len(p.Tasks) {
		return chosen.Results, nil
	}
	return nil, cmp.Or(err, text.Errorf("error.share.task.none", "task", p.Tasks[0]))
}
