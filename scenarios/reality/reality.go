// Package reality holds the lab against real servers: a trace is played in the lab and on
// real ones (package live), and what came of it is compared.
package reality

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/database"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/live"
	"locklab/simulator/realserver"
)

// DefaultLease is the duration of a lease on the real servers if no other is given.
const DefaultLease = 500 * time.Millisecond

// A Bench is what real servers of this machine need. It may be used by several goroutines.
type Bench struct {
	Version string        // of redis-server
	Lease   time.Duration // the length of a lease of a trace, above 0
	Rounds  int           // how often a trace is played, unless it differs from the lab before; 0: once

	redis   *live.Launcher
	unknown map[string]bool // words of commands that the redis-server does not know

	zookeeper, mariaDB, postgreSQL server
}

// A server that is no redis-server is started for the first run.
type server struct {
	mu     sync.Mutex // a run has the server for itself
	is     live.Server
	reason error // why there is none
}

// NewBench finds out what there is. The error is realserver.ErrNoRedis or ErrNoCompiler if
// something is missing. Close removes what it has made.
func NewBench(ctx context.Context, lease time.Duration) (b *Bench, err error) {
	redis, err := live.NewLauncher()
	if err != nil {
		return nil, err
	}
	b = &Bench{Lease: lease, redis: redis, unknown: map[string]bool{}}
	if err := b.look(ctx); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Close ends the bench's servers, if it has started any, and removes its folder.
func (b *Bench) Close() {
	for _, s := range []*server{&b.zookeeper, &b.mariaDB, &b.postgreSQL} {
		if s.is != nil {
			s.is.Close()
		}
	}
	b.redis.Close()
}

// play plays a trace on the bench's servers of its kind, and returns their version.
func (b *Bench) play(
	ctx context.Context, sim *simulator.Simulator, lab *race.Outcome, speed float64,
) (run *live.Playback, version string, err error) {
	choices := lab.Trace.Choices
	switch {
	case lab.Lock.OnZooKeeper():
		return b.zookeeper.play(ctx, sim, choices, func() (live.Server, error) { return live.NewZooKeeper(ctx) })
	case lab.Lock.Database == "":
		run, err = live.Play(ctx, sim, choices, live.Redis{Launcher: b.redis, Speed: speed})
		return run, b.Version, err
	}
	dialect, s := sim.Config().Nodes[0].Contents.(database.Contents).Dialect, &b.mariaDB
	if dialect == database.PostgreSQL {
		s = &b.postgreSQL
	}
	return s.play(ctx, sim, choices, func() (live.Server, error) { return live.NewDatabase(ctx, dialect) })
}

// play plays a trace on a server that is started for the first one. Without its package the error is
// realserver.ErrNoZooKeeper, ErrNoMariaDB or ErrNoPostgreSQL.
func (s *server) play(
	ctx context.Context, sim *simulator.Simulator, choices []simulator.Choice, start func() (live.Server, error),
) (run *live.Playback, version string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.is == nil && s.reason == nil {
		s.is, s.reason = start()
	}
	if s.reason != nil {
		return nil, "", s.reason
	}
	version = s.is.Version()
	if run, err = live.Play(ctx, sim, choices, s.is); err != nil {
		s.is.Close()
		s.is = nil // the next run has another
	}
	return run, version, err
}

// look asks a redis-server for its version, and which of the newer commands it knows, about a key that it lacks.
func (b *Bench) look(ctx context.Context) error {
	r, err := realserver.NewRedis(ctx, b.redis.Folder.Path, nil)
	if err != nil {
		return err
	}
	defer r.Kill()
	info, err := r.InfoMap(ctx, "server").Result()
	if err != nil {
		return err
	}
	b.Version = info["Server"]["redis_version"]
	for word, command := range map[string][]any{
		"DELIFEQ": {"DELIFEQ", "k", "v"}, "DELEX": {"DELEX", "k", "IFEQ", "v"}, "IFEQ": {"SET", "k", "v", "IFEQ", "v"},
	} {
		err := r.Do(ctx, command...).Err()
		if errors.As(err, new(redis.Error)) && err != redis.Nil {
			b.unknown[word] = true
		} else if err != nil && err != redis.Nil {
			return err
		}
	}
	return nil
}

// A Showing is a trace in the lab and on real servers.
type Showing struct {
	Lab *race.Outcome
	// NotShown is why it was not played on real servers: a key of the catalogues of texts (there with the prefix
	// "live."); "": it was. Missing is what is named with it, as the command that the redis-server does not know.
	NotShown race.Reason
	Missing  string
	Round    int // the one that is compared, from 1: the first that differs from the lab, or the last
	Real     *race.Outcome
	Run      *live.Playback
	Speed    float64 // of the servers' time; 0: a ZooKeeper, whose time plays no part, or a database, whose time is set
	Version  string  // of the servers
}

// Reasons why a trace is not shown.
const (
	NoZooKeeper    race.Reason = "no-zookeeper"
	NoMariaDB      race.Reason = "no-mariadb"
	NoPostgreSQL   race.Reason = "no-postgresql"
	NoReplica      race.Reason = "no-replica"
	WholeSeconds   race.Reason = "whole-seconds" // the time-out
	OldServer      race.Reason = "old-server"
	CounterSet     race.Reason = "counter-set"
	NoServer       race.Reason = "no-server"
	MissingCommand race.Reason = "missing-command"
)

// Reasons returns all of them.
func Reasons() []race.Reason {
	return []race.Reason{NoZooKeeper, NoMariaDB, NoPostgreSQL, NoReplica, WholeSeconds, OldServer, CounterSet,
		NoServer, MissingCommand}
}

// Agrees reports whether every answer, every key and the verdicts were the same on the real servers.
func (s *Showing) Agrees() bool {
	return s.Run != nil && len(s.Run.Differences) == 0 && s.Run.Stopped == nil &&
		slices.Equal(s.Lab.Verdicts, s.Real.Verdicts)
}

// Show plays a trace that was played in the lab on real servers. The error is about the machine, or ctx's.
func (b *Bench) Show(ctx context.Context, lab *race.Outcome) (*Showing, error) {
	return inRounds(b.Rounds, func() (*Showing, error) { return b.show(ctx, lab) })
}

// inRounds plays a trace n times, or up to the first round that differs from the lab, and returns
// the last one. That rounds which do not differ are not alike either is an error.
func inRounds(n int, show func() (*Showing, error)) (*Showing, error) {
	first, err := show()
	if err != nil || first.Run == nil {
		return first, err
	}
	s := first
	for s.Round = 1; s.Round < n && s.Agrees(); {
		next, err := show()
		if err != nil {
			return nil, err
		}
		next.Round = s.Round + 1
		s = next
	}
	if s.Agrees() && (s.Run.Answers != first.Run.Answers || s.Run.Servers != first.Run.Servers) {
		return nil, i18n.Errorf("error.live.rounds", "lock", s.Lab.Lock.ID, "race", s.Lab.Trace.Race, "round", s.Round,
			"answers", s.Run.Answers, "servers", s.Run.Servers, "before", first.Run.Answers, "first", first.Run.Servers)
	}
	return s, nil
}

// show plays a trace once.
func (b *Bench) show(ctx context.Context, lab *race.Outcome) (*Showing, error) {
	s := &Showing{Lab: lab}
	if s.NotShown, s.Missing = b.whyNotShown(lab); s.NotShown != "" {
		return s, nil
	}
	o, err := search.Open(lab.Lock, lab.Trace)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	if !lab.Lock.OnZooKeeper() && lab.Lock.Database == "" {
		s.Speed = float64(lab.History.TTL) / float64(b.Lease)
	}
	s.Run, s.Version, err = b.play(ctx, o.Simulator, lab, s.Speed)
	for missing, why := range map[error]race.Reason{
		realserver.ErrNoZooKeeper: NoZooKeeper, realserver.ErrNoMariaDB: NoMariaDB,
		realserver.ErrNoPostgreSQL: NoPostgreSQL,
	} {
		if errors.Is(err, missing) {
			s.NotShown = why
			return s, nil
		}
	}
	if err != nil {
		return nil, i18n.Errorf("error.cause.in", "lock", lab.Lock.ID, "race", lab.Trace.Race, "cause", err)
	}
	s.Real = o.Outcome(&s.Run.Run)
	return s, nil
}

func (b *Bench) whyNotShown(lab *race.Outcome) (why race.Reason, missing string) {
	if lab.Lock.Ensemble() && lab.Race.SequenceExhausted {
		return CounterSet, ""
	}
	if lab.Lock.Database == lock.MySQL56 {
		return OldServer, "5.7.5"
	}
	if idle := lab.History.TTL; lab.Lock.Database == lock.MySQL && lab.Lock.Sessions() && idle%time.Second != 0 {
		return WholeSeconds, idle.String()
	}
	sent := false
	for i := range lab.History.Events {
		e := &lab.History.Events[i]
		if lab.Lock.Database != "" && e.Kind == history.Failover {
			return NoReplica, ""
		}
		if e.Kind == history.Send && e.Node > 0 {
			sent = true
			for _, word := range e.Cmd {
				if b.unknown[strings.ToUpper(word)] {
					return MissingCommand, strings.ToUpper(word)
				}
			}
		}
	}
	if !sent {
		return NoServer, ""
	}
	return "", ""
}

// ShowRace shows a lock in a race. NotApplicable of its Lab says if the race does not apply.
func (b *Bench) ShowRace(ctx context.Context, runner *race.Runner, entry lock.Entry, sc race.Race,
	s race.Settings) (*Showing, error) {
	o, err := runner.Play(entry, sc, s)
	if err != nil {
		return nil, err
	}
	if o.NotApplicable != "" {
		return &Showing{Lab: o}, nil
	}
	return b.Show(ctx, o)
}
