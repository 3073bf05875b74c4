package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"locklab/simulator"
	"locklab/simulator/child"
	"locklab/simulator/realserver"
)

// A Launcher starts redis-servers. It may be used by several goroutines.
type Launcher struct {
	Folder *child.Folder // for the files of servers; it is gone after Close
	clocks string        // the library of realserver.BuildClocks
	dirs   atomic.Int64
}

// NewLauncher makes a folder and the servers' clocks. The error is realserver.ErrNoRedis or ErrNoCompiler, if missing.
func NewLauncher() (*Launcher, error) {
	if _, err := realserver.FindRedis(); err != nil {
		return nil, err
	}
	folder, err := child.NewFolder()
	if err != nil {
		return nil, err
	}
	l := &Launcher{Folder: folder}
	if l.clocks, err = realserver.BuildClocks(folder.Path); err != nil {
		folder.Close()
		return nil, err
	}
	return l, nil
}

// Close removes the folder. No run may use it any more.
func (l *Launcher) Close() { l.Folder.Close() }

// A set is a master with its replicas.
type set struct {
	master   *server   // nil: it is down
	replicas []*server // in the place of a promoted one: the old master of a split, see group.split
}

// all returns the servers that run.
func (s *set) all() []*server {
	return slices.DeleteFunc(append([]*server{s.master}, s.replicas...), func(one *server) bool { return one == nil })
}

// end kills all servers.
func (s *set) end() {
	for _, one := range s.all() {
		one.kill()
		os.RemoveAll(one.dir) // the launcher's folder is removed in the end anyway
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
func (l *Launcher) start(ctx context.Context, c *simulator.NodeConfig, at time.Time, from string) (*server, error) {
	dir := filepath.Join(l.Folder.Path, fmt.Sprintf("server-%d", l.dirs.Add(1)))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if from != "" && c.AOF != simulator.NoAOF {
		if err := copyAOF(from, dir); err != nil {
			return nil, err
		}
	}
	clock, err := realserver.NewClock(l.clocks, dir+"-clock", at)
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

// startSet runs a server of the lab with its replicas, at an instant. They have what the master has, and shut gates.
func (l *Launcher) startSet(ctx context.Context, c *simulator.NodeConfig, at time.Time) (*set, error) {
	s := &set{replicas: make([]*server, c.Replicas)}
	var all errgroup.Group
	all.Go(func() (err error) {
		s.master, err = l.start(ctx, c, at, "")
		return err
	})
	for i := range s.replicas {
		all.Go(func() (err error) {
			s.replicas[i], err = l.start(ctx, c, at, "")
			return err
		})
	}
	err := all.Wait()
	for _, replica := range s.replicas {
		if err == nil {
			err = replica.catchUp(ctx, s.master)
		}
	}
	if err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}
