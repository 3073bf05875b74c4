package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"locklab/simulator"
	"locklab/simulator/child"
	"locklab/simulator/realserver"
)

// A Pool keeps redis-servers for later runs that are as new after a run. What was written to them is removed,
// what they were configured for a run is taken back, and they are used again only if they then say of themselves,
// at length, what new ones say: see server.state. A server that was killed, and all servers of a run that has
// differed from the lab, are not used again. It may be used by several goroutines.
type Pool struct {
	Folder *child.Folder // for the files of servers; it is gone after Close
	clocks string        // the library of realserver.BuildClocks

	mu    sync.Mutex
	dirs  int
	idle  map[int][]*set    // by how many replicas they have
	asNew map[int][2]string // the states of a new master and of a new replica

	again, unclean int // see Counts
}

// A set is a master with its replicas.
type set struct {
	master   *server   // nil: it is down
	replicas []*server // in the place of a promoted one: the old master of a split, see group.split
}

// NewPool makes a pool without servers. The error is realserver.ErrNoRedis or ErrNoCompiler if something is missing.
func NewPool() (*Pool, error) {
	if _, err := realserver.FindRedis(); err != nil {
		return nil, err
	}
	folder, err := child.NewFolder()
	if err != nil {
		return nil, err
	}
	p := &Pool{Folder: folder, idle: map[int][]*set{}, asNew: map[int][2]string{}}
	if p.clocks, err = realserver.BuildClocks(folder.Path); err != nil {
		folder.Close()
		return nil, err
	}
	return p, nil
}

// Close ends the servers, and removes the folder. No run may use the pool any more.
func (p *Pool) Close() {
	defer p.Folder.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, sets := range p.idle {
		for _, s := range sets {
			s.end()
		}
	}
	clear(p.idle)
}

// Counts returns the numbers of times that servers were used again, and that they could not be, since something was left
// that cleaning does not remove.
func (p *Pool) Counts() (again, unclean int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.again, p.unclean
}

// all returns the servers that run.
func (s *set) all() []*server {
	return slices.DeleteFunc(append([]*server{s.master}, s.replicas...), func(one *server) bool { return one == nil })
}

// end kills all servers.
func (s *set) end() {
	for _, one := range s.all() {
		one.kill()
		os.RemoveAll(one.dir) // the pool's folder is removed in the end anyway
	}
}

// idleSet takes a set that is as new; nil: there is none.
func (p *Pool) idleSet(replicas int) *set {
	p.mu.Lock()
	defer p.mu.Unlock()
	sets := p.idle[replicas]
	if len(sets) == 0 {
		return nil
	}
	p.again++
	p.idle[replicas] = sets[:len(sets)-1]
	return sets[len(sets)-1]
}

// server returns a server with the options of one of the lab that holds nothing, at an instant; or, if it has an
// append-only file and from is a folder, what that has on disk.
func (p *Pool) server(ctx context.Context, c *simulator.NodeConfig, at time.Time, from string) (*server, error) {
	if c.AOF == simulator.NoAOF {
		if s := p.idleSet(0); s != nil {
			s.master.clock.Set(at)
			return s.master, s.master.configure(settings(c))
		}
	}
	p.mu.Lock()
	p.dirs++
	dir := filepath.Join(p.Folder.Path, fmt.Sprintf("server-%d", p.dirs))
	p.mu.Unlock()
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if from != "" && c.AOF != simulator.NoAOF {
		if err := copyAOF(from, dir); err != nil {
			return nil, err
		}
	}
	clock, err := realserver.NewClock(p.clocks, dir+"-clock", at)
	if err != nil {
		return nil, err
	}
	return startServer(ctx, dir, clock, c)
}

// take returns a set for a server of the lab, at an instant. The replicas have all that the master has,
// and their gates are shut.
func (p *Pool) take(ctx context.Context, c *simulator.NodeConfig, at time.Time) (s *set, err error) {
	if c.AOF == simulator.NoAOF && c.Replicas > 0 {
		s = p.idleSet(c.Replicas)
	}
	if s == nil {
		return p.join(ctx, c, at)
	}
	for _, one := range s.all() {
		one.clock.Set(at)
		err = errors.Join(err, one.configure(settings(c)))
	}
	return s, err
}

// join makes a set of single servers.
func (p *Pool) join(ctx context.Context, c *simulator.NodeConfig, at time.Time) (*set, error) {
	s := &set{replicas: make([]*server, c.Replicas)}
	var all errgroup.Group
	all.Go(func() (err error) {
		s.master, err = p.server(ctx, c, at, "")
		return err
	})
	for i := range s.replicas {
		all.Go(func() (err error) {
			s.replicas[i], err = p.server(ctx, c, at, "")
			return err
		})
	}
	err := all.Wait()
	for _, replica := range s.replicas {
		if err == nil {
			err = replica.catchUp(ctx, s.master)
		}
	}
	if err == nil && c.AOF == simulator.NoAOF {
		err = p.noteNew(s, c)
	}
	if err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// noteNew notes the states of the first set with so many replicas.
func (p *Pool) noteNew(s *set, c *simulator.NodeConfig) error {
	p.mu.Lock()
	_, known := p.asNew[c.Replicas]
	p.mu.Unlock()
	if known {
		return nil
	}
	for _, one := range s.all() { // a replica asks its master for a PONG before it gives the password
		if _, err := one.do("CONFIG", "RESETSTAT"); err != nil {
			return err
		}
	}
	states, err := s.states(c)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.asNew[c.Replicas] = states
	p.mu.Unlock()
	for _, one := range s.all() {
		err = errors.Join(err, one.configure(settings(c)))
	}
	return err
}

// give takes a set back after a run, if it is as new when it has been cleaned. Else it ends.
func (p *Pool) give(ctx context.Context, s *set, c *simulator.NodeConfig, differs bool) {
	if differs || s.master == nil {
		s.end()
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second) // a replica may not follow any more
	defer cancel()
	err := s.clean(ctx)
	var states [2]string
	if err == nil {
		states, err = s.states(c)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil && states == p.asNew[c.Replicas] {
		p.idle[c.Replicas] = append(p.idle[c.Replicas], s)
		return
	}
	p.unclean++
	s.end()
}

// clean removes what a run has left.
func (s *set) clean(ctx context.Context) error {
	for _, one := range s.all() {
		one.closeCutOff()
	}
	if err := s.master.tidy("FLUSHALL", "SYNC"); err != nil {
		return err
	}
	for _, replica := range s.replicas {
		if err := replica.catchUp(ctx, s.master); err != nil {
			return err
		}
		if err := replica.tidy("PING"); err != nil {
			return err
		}
	}
	if len(s.replicas) == 0 {
		return nil
	}
	return s.master.tidy("PING") // it was asked for how far its replicas are
}

// tidy has a server forget its clients, what they have loaded, and how it has counted them.
func (s *server) tidy(first ...string) error {
	_, err := s.DoAll(first,
		[]string{"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"}, []string{"CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"},
		[]string{"SCRIPT", "FLUSH", "SYNC"}, []string{"CONFIG", "RESETSTAT"})
	return err
}

// states returns the state of the master, and the common one of the replicas, without the settings for a server of
// the lab.
func (s *set) states(c *simulator.NodeConfig) (states [2]string, err error) {
	for _, one := range s.all() {
		if err := one.configure(asNew(settings(c))); err != nil {
			return states, err
		}
	}
	if states[0], err = s.master.state(); err != nil {
		return states, err
	}
	for i, replica := range s.replicas {
		state, err := replica.state()
		if err != nil {
			return states, err
		}
		if i > 0 && state != states[1] {
			return states, errors.New("the replicas differ")
		}
		states[1] = state
	}
	return states, nil
}

// info are the lines of INFO, and fields those of CLIENT LIST, that a run may change and that
// tell of something that a later one could notice. Keys, the fewest and the most of what was
// counted, and errors have lines of their own each: db0, errorstat_ERR.
var (
	info = []string{
		"redis_mode", "role", "connected_slaves", "master_link_status", "master_sync_in_progress", "slave_read_only", "master_failover_state",
		"loading", "async_loading", "rdb_bgsave_in_progress", "aof_enabled", "aof_rewrite_in_progress", "maxmemory", "maxmemory_policy",
		"connected_clients", "blocked_clients", "tracking_clients", "clients_in_timeout_table", "pubsub_channels", "pubsub_patterns",
		"number_of_cached_scripts", "number_of_functions", "number_of_libraries", "total_error_replies", "cluster_enabled", "db", "errorstat_",
	}
	fields = []string{"name", "db", "flags", "sub", "psub", "ssub", "multi", "watch", "user", "redir", "resp"}
)

// state returns what a server says of itself that a run could have changed: its role, keys, scripts, clients, users,
// and all of its configuration, without what tells it from another server.
func (s *server) state() (string, error) {
	answers, err := s.DoAll([]string{"INFO"}, []string{"CLIENT", "LIST"}, []string{"CONFIG", "GET", "*"}, []string{"ACL", "LIST"}, []string{"DBSIZE"})
	if err != nil {
		return "", err
	}
	var said []string
	for line := range strings.Lines(fmt.Sprint(answers[0])) {
		line = strings.TrimSpace(line)
		name, _, _ := strings.Cut(line, ":")
		if slices.Contains(info, name) || strings.HasPrefix(name, "db") || strings.HasPrefix(name, "errorstat_") {
			said = append(said, line)
		}
	}
	var clients []string
	for line := range strings.Lines(fmt.Sprint(answers[1])) {
		client := ""
		for field := range strings.FieldsSeq(line) {
			if name, _, _ := strings.Cut(field, "="); slices.Contains(fields, name) {
				client += " " + field
			}
		}
		clients = append(clients, client)
	}
	config, _ := answers[2].([]any) // in an order of its own
	var settings []string
	for pair := range slices.Chunk(config, 2) {
		switch pair[0] {
		case "port", "dir", "slaveof", "replicaof", "oom-score-adj-values":
		default:
			settings = append(settings, fmt.Sprintf("%s %s", pair...))
		}
	}
	slices.Sort(clients)
	slices.Sort(settings)
	return strings.Join(slices.Concat(said, clients, settings, []string{fmt.Sprint(answers[3:]...)}), "\n"), nil
}
