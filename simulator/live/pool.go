package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"locklab/simulator"
	"locklab/simulator/child"
	"locklab/simulator/realserver"
)

// A Pool keeps redis-servers for later runs with the same options that are as new after a run. What was written to them
// is removed, and they are used again only if they then say of themselves, at length, what they have said when they
// were new: see server.state. A server that was killed or that has an append-only file, and all servers of a run that
// has differed from the lab, are not used again. It may be used by several goroutines.
//
// A new server takes 15 ms, and a used one takes 1; with a replica it is 60 and 4.
type Pool struct {
	Folder *child.Folder // for the files of servers; it is gone after Close
	clocks string        // the library of realserver.BuildClocks

	mu   sync.Mutex
	dirs int
	idle map[string][]*set // by kind

	again, unclean int // see Counts
}

// A set is a master with its replicas.
type set struct {
	master   *server   // nil: it is down
	replicas []*server // in the place of a promoted one: the old master of a split, see group.split
	kind     string    // the number of replicas, and the options
	new      string    // what the servers said of themselves when they were new; "": they are not used again
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
	p := &Pool{Folder: folder, idle: map[string][]*set{}}
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

// Counts returns the numbers of times that servers were used again, and that they could not be, since something was
// left that cleaning does not remove.
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

// aofDir is the folder in which a server keeps what it has done, below its own.
const aofDir = "appendonlydir"

// copyAOF copies what a server has on disk to another folder, which it replaces.
func copyAOF(from, to string) error {
	to, from = filepath.Join(to, aofDir), filepath.Join(from, aofDir)
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(from))
}

// start runs a server with the options of one of the lab, at an instant. It holds nothing; or, if it has an append-only
// file and from is a folder, what that has on disk.
func (p *Pool) start(ctx context.Context, c *simulator.NodeConfig, at time.Time, from string) (*server, error) {
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
	r, err := realserver.NewRedis(ctx, dir, clock, options(c)...)
	if err != nil {
		clock.Close()
		return nil, err
	}
	return &server{Redis: r, dir: dir, clock: clock}, nil
}

// take returns a set for a server of the lab, at an instant. The replicas have all that the master has,
// and their gates are shut.
func (p *Pool) take(ctx context.Context, c *simulator.NodeConfig, at time.Time) (*set, error) {
	s := &set{replicas: make([]*server, c.Replicas), kind: fmt.Sprint(c.Replicas, options(c))}
	p.mu.Lock()
	if used := p.idle[s.kind]; len(used) > 0 {
		p.again++
		s, p.idle[s.kind] = used[len(used)-1], used[:len(used)-1]
	}
	p.mu.Unlock()
	for _, one := range s.all() {
		one.clock.Set(at)
	}
	if s.master != nil {
		return s, nil
	}
	var all errgroup.Group
	all.Go(func() (err error) {
		s.master, err = p.start(ctx, c, at, "")
		return err
	})
	for i := range s.replicas {
		all.Go(func() (err error) {
			s.replicas[i], err = p.start(ctx, c, at, "")
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
		s.new, err = s.clean(ctx)
	}
	if err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// give takes a set back after a run, if it is as new when it has been cleaned. Else it ends.
func (p *Pool) give(ctx context.Context, s *set, differs bool) {
	if differs || s.master == nil || s.new == "" {
		s.end()
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second) // a replica may not follow any more
	defer cancel()
	state, err := s.clean(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil && state == s.new {
		p.idle[s.kind] = append(p.idle[s.kind], s)
		return
	}
	p.unclean++
	s.end()
}

// clean removes what a run has left, and returns what the servers say of themselves then.
func (s *set) clean(ctx context.Context) (state string, err error) {
	for _, one := range s.all() {
		one.closeCutOff()
	}
	if err := s.master.FlushAll(ctx).Err(); err != nil {
		return "", err
	}
	for _, replica := range s.replicas {
		if err := replica.catchUp(ctx, s.master); err != nil {
			return "", err
		}
	}
	for _, one := range s.all() {
		is, err := one.tidy(ctx)
		if err != nil {
			return "", err
		}
		state += is
	}
	return state, nil
}

// tidy has a server forget its clients, what they have loaded, and how it has counted them, and returns its state.
func (s *server) tidy(ctx context.Context) (state string, err error) {
	p := s.Pipeline()
	p.ClientKillByFilter(ctx, "TYPE", "normal", "SKIPME", "yes")
	p.ClientKillByFilter(ctx, "TYPE", "pubsub", "SKIPME", "yes")
	p.ScriptFlush(ctx)
	p.ConfigResetStat(ctx)
	info, clients := p.Info(ctx), p.ClientList(ctx)
	config, users := p.ConfigGet(ctx, "*"), p.Do(ctx, "ACL", "LIST")
	if _, err := p.Exec(ctx); err != nil {
		return "", err
	}
	for _, own := range []string{"port", "dir", "slaveof", "replicaof", "oom-score-adj-values"} {
		delete(config.Val(), own)
	}
	var connections []string
	for line := range strings.Lines(clients.Val()) {
		connections = append(connections, fmt.Sprint(clientFields.FindAllString(line, -1)))
	}
	slices.Sort(connections)
	return fmt.Sprint(infoLines.FindAllString(info.Val(), -1), connections, config.Val(), users.Val()), nil
}

// infoLines are the lines of INFO, and clientFields the fields of CLIENT LIST, that a run may change and that tell of
// something that a later one could notice.
var (
	infoLines = regexp.MustCompile(`(?m)^(role|connected_slaves|master_link_status|master_sync_in_progress|` +
		`slave_read_only|master_failover_state|(async_)?loading|rdb_bgsave_in_progress|aof_\w+_in_progress|` +
		`\w+_clients|clients_in_timeout_table|pubsub_\w+|number_of_\w+|total_error_replies|db\d+|errorstat_\w+):.*$`)
	clientFields = regexp.MustCompile(`\b(name|db|flags|[ps]?sub|ssub|multi|watch|user|redir|resp)=\S*`)
)
