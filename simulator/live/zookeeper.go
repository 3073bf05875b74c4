package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"locklab/simulator"
	"locklab/simulator/child"
	"locklab/simulator/internal/jute"
	"locklab/simulator/realserver"
	"locklab/simulator/zookeeper"
)

// A ZooKeeper is a server, for simulators of an ensemble. One run at a time may use it: a trace is played below a znode
// of its own, which is gone at the end.
//
// Each client of the lab has a session, on a connection that breaks, and is made again with the client's watches, when
// the trace says so. Each request that reaches the ensemble in the trace is written to it, in the protocol, and the
// server's answer is what the lock's code hears. News of watches stay on their way until the trace brings them. A
// request whose connection has broken before it arrives is run on another connection of the same session.
//
// Sessions end when the trace says so: another connection takes the session over and closes it, which is the same
// transaction as its end by silence. The server's own time-out is a minute, and plays no part.
//
// Compared are the answers, the news of watches that reach a client, and after each step the znodes with their numbers.
type ZooKeeper struct {
	version string // "?": it does not say
	folder  *child.Folder
	process *realserver.Process
}

// NewZooKeeper runs a server. The error is realserver.ErrNoZooKeeper if something is missing.
func NewZooKeeper(ctx context.Context) (_ Server, err error) {
	on := &ZooKeeper{}
	if on.folder, err = child.NewFolder(); err != nil {
		return nil, err
	}
	if on.process, err = realserver.StartZooKeeper(ctx, on.folder.Path); err == nil {
		on.version, err = realserver.ZooKeeperVersion(on.process.Addr)
	}
	if err != nil {
		on.Close()
		return nil, err
	}
	return on, nil
}

// Version implements Server.
func (on *ZooKeeper) Version() string { return on.version }

// Close implements Server.
func (on *ZooKeeper) Close() {
	if on.process != nil {
		on.process.Kill()
	}
	on.folder.Close()
}

func (on *ZooKeeper) servers(p *player) servers {
	p.run.Servers = 1
	return &ensemble{player: p, addr: on.process.Addr, root: fmt.Sprintf("/locklab-live-%d", time.Now().UnixNano())}
}

var _ zookeeper.Real = (*ensemble)(nil)

// An ensemble is the real ZooKeeper of one run.
type ensemble struct {
	*player
	addr    string
	root    string // the znode below which the run is played
	offset  int64  // of the real server's transactions
	admin   *realserver.ZooKeeperConn
	clients []*realserver.ZooKeeperConn // of the lab; it may have broken
	lab     []string                    // paths that the lab's ensemble holds
	changed bool                        // since they were compared
}

// connect makes a connection of a session; of the zero session, which begins another one.
func (r *ensemble) connect(s realserver.ZooKeeperSession) (*realserver.ZooKeeperConn, error) {
	return realserver.DialZooKeeper(r.addr, s, 0)
}

// start makes the znodes that are there at the beginning, and the sessions of the clients.
func (r *ensemble) start() (err error) {
	r.sim.Kind().(*zookeeper.Kind).Real = r
	config := r.sim.Config()
	if r.admin, err = r.connect(realserver.ZooKeeperSession{}); err != nil {
		return err
	}
	contents, _ := config.Nodes[0].Contents.(zookeeper.Contents)
	initial := contents.Znodes
	if len(initial.Paths()) == 0 {
		initial = zookeeper.New()
	}
	for _, path := range initial.Paths() { // the first is the root
		if _, err := must(r.ask(r.admin, zookeeper.Request{Op: zookeeper.Create, Path: path})); err != nil {
			return err
		}
	}
	for range config.Clients {
		w, err := r.connect(realserver.ZooKeeperSession{})
		if err != nil {
			return err
		}
		r.clients = append(r.clients, w)
	}
	// Nothing has happened in the lab since, but that the sessions have begun.
	_, err = must(r.ask(r.admin, zookeeper.Request{Op: zookeeper.Exists, Path: "/"}))
	r.offset = r.admin.Last - initial.Zxid() - int64(len(r.clients))
	return err
}

// must is a request that the server may not refuse.
func must(reply zookeeper.Reply, err error) (zookeeper.Reply, error) {
	if err == nil && reply.Code != zookeeper.OK {
		err = reply.Code
	}
	return reply, err
}

// close removes all znodes and ends all sessions.
func (r *ensemble) close() error {
	if r.admin == nil {
		return nil
	}
	paths, err := r.paths("/", nil)
	if errors.Is(err, zookeeper.NoNode) {
		err = nil // it has not begun
	}
	for _, path := range slices.Backward(paths) {
		remove := zookeeper.Request{Op: zookeeper.Delete, Path: path, Version: zookeeper.AnyVersion}
		_, failed := r.ask(r.admin, remove)
		err = errors.Join(err, failed)
	}
	for _, w := range append(r.clients, r.admin) {
		w.Close()
		if failed := realserver.EndSession(r.addr, w.Session); !errors.Is(failed, realserver.ErrSessionEnded) {
			err = errors.Join(err, failed)
		}
	}
	return err
}

// real returns the path on the real server of a path of the lab, and inLab the reverse.
func (r *ensemble) real(path string) string  { return strings.TrimSuffix(r.root+path, "/") }
func (r *ensemble) inLab(path string) string { return cmp.Or(strings.TrimPrefix(path, r.root), "/") }

// Do implements zookeeper.Real.
func (r *ensemble) Do(a zookeeper.Action) zookeeper.Reply {
	if r.err != nil {
		return a.Lab
	}
	r.lab, r.changed = a.Holds.Paths(), true
	answer, err := r.act(a, &r.clients[a.Client-1])
	if err != nil {
		r.fail(fmt.Errorf("%q of c%d: %w", a.Request.Text(), a.Client, err))
		return a.Lab
	}
	return answer
}

// act does what the lab's ensemble did, for a client with a connection. It returns the answer on that, else the lab's.
func (r *ensemble) act(a zookeeper.Action, client **realserver.ZooKeeperConn) (answer zookeeper.Reply, err error) {
	w := *client
	switch a.Kind {
	case zookeeper.ActServe, zookeeper.ActServeBeside:
		if answer, err = r.ask(w, a.Request); err != nil {
			return answer, err
		}
		r.run.Answers++
		if lab, real := a.Request.Observed(a.Lab), a.Request.Observed(answer); lab != real {
			r.differ(Difference{Server: 1, Client: int(a.Client), Cmd: a.Request.Text(), Lab: lab, Real: real})
		}
		r.compareNews(w, a)
		return answer, nil
	case zookeeper.ActServeOrphan:
		var beside *realserver.ZooKeeperConn
		if beside, err = r.connect(w.Session); err == nil {
			_, err = r.ask(beside, a.Request)
			beside.Close()
		}
	case zookeeper.ActNotify: // what is there when a ping is answered
		if _, _, err = w.Do(jute.Ping, nil); err == nil {
			r.compareNews(w, a)
		}
	case zookeeper.ActCut:
		w.Close()
	case zookeeper.ActConnect:
		if w, err = r.connectAgain(w.Session, a); err == nil {
			*client = w
		}
	case zookeeper.ActEnd:
		err = realserver.EndSession(r.addr, w.Session)
	}
	return a.Lab, err
}

// ask makes a request.
func (r *ensemble) ask(w *realserver.ZooKeeperConn, q zookeeper.Request) (reply zookeeper.Reply, err error) {
	kind, p := int32(q.Op), jute.Put(nil, r.real(q.Path))
	switch q.Op {
	case zookeeper.Create:
		p = jute.Put(p, q.Data, []jute.ACL{jute.Open}, int32(q.Mode))
	case zookeeper.Delete:
		p = jute.Put(p, q.Version)
	case zookeeper.SetData:
		p = jute.Put(p, q.Data, q.Version)
	case zookeeper.GetChildren:
		kind, p = jute.GetChildren2, jute.Put(p, q.Watch)
	case zookeeper.Exists, zookeeper.GetData:
		p = jute.Put(p, q.Watch)
	}
	code, answer, err := w.Do(kind, p)
	if err != nil {
		return reply, err
	}
	if reply.Code = zookeeper.Code(code); code != 0 {
		if reply.Code.Known() {
			return reply, nil
		}
		return reply, fmt.Errorf("the server refuses with %d", code)
	}
	switch q.Op {
	case zookeeper.Create, zookeeper.Sync:
		answer.Get(&reply.Path)
		reply.Path = r.inLab(reply.Path)
	case zookeeper.GetData:
		answer.Get(&reply.Data)
	case zookeeper.GetChildren:
		answer.Get(&reply.Children)
	}
	if q.Op != zookeeper.Create && q.Op != zookeeper.Delete && q.Op != zookeeper.Sync {
		answer.Get(&reply.Stat.Czxid)
		reply.Stat.Czxid -= r.offset
	}
	if answer.Short {
		err = io.ErrUnexpectedEOF
	}
	return reply, err
}

// compareNews compares the news of watches that have reached a client.
func (r *ensemble) compareNews(w *realserver.ZooKeeperConn, lab zookeeper.Action) {
	var is []zookeeper.Event
	for _, n := range w.Events {
		is = append(is, zookeeper.Event{Type: zookeeper.EventType(n.Type), Path: r.inLab(n.Path)})
	}
	w.Events = nil
	if a, b := newsText(lab.Events), newsText(is); a != b {
		r.differ(Difference{Server: 1, Client: int(lab.Client), Key: "watches", Lab: a, Real: b})
	}
}

// newsText writes events in the order of their paths: those of a session that ends come in any.
func newsText(events []zookeeper.Event) string {
	var all []string
	for _, e := range events {
		if e.Type != 0 { // the library's own: its session has ended
			all = append(all, fmt.Sprintf("%s %d", e.Path, e.Type))
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// connectAgain makes a new connection for a client that has had a session, and leaves its watches on it.
func (r *ensemble) connectAgain(
	s realserver.ZooKeeperSession, a zookeeper.Action,
) (*realserver.ZooKeeperConn, error) {
	w, err := r.connect(s)
	refused := errors.Is(err, realserver.ErrSessionEnded)
	if refused != a.Ended && (err == nil || refused) {
		r.differ(sessionDiffers(a.Client, a.Ended))
	}
	if refused {
		return r.connect(realserver.ZooKeeperSession{})
	}
	if err != nil || len(a.Watches) == 0 {
		return w, err
	}
	p := jute.Put(nil, a.Seen+r.offset)
	for _, kind := range []zookeeper.WatchKind{zookeeper.WatchData, zookeeper.WatchCreation, zookeeper.WatchChildren} {
		var paths []string
		for _, watch := range a.Watches {
			if watch.Kind == kind {
				paths = append(paths, r.real(watch.Path))
			}
		}
		p = jute.Put(p, paths)
	}
	_, _, err = w.Do(jute.SetWatches, p)
	return w, err
}

// sessionDiffers is that a client's session has ended in one of both only.
func sessionDiffers(client int8, endedInLab bool) Difference {
	text := map[bool]string{true: "ended", false: "alive"}
	return Difference{Server: 1, Client: int(client), Key: "session", Lab: text[endedInLab], Real: text[!endedInLab]}
}

// before does nothing: the servers' time plays no part.
func (r *ensemble) before(simulator.Choice) error { return nil }

// after compares the paths of all znodes.
func (r *ensemble) after(simulator.Choice, int) error {
	if !r.changed {
		return nil
	}
	r.changed = false
	is, err := r.paths("/", nil)
	if err == nil {
		r.compareKeys(1, there(r.lab), there(is))
	}
	return err
}

// there has a value for each path.
func there(paths []string) map[string]value {
	all := map[string]value{}
	for _, path := range paths {
		all[path] = value{"there", lasting}
	}
	return all
}

// paths are those of all znodes from path on.
func (r *ensemble) paths(path string, all []string) ([]string, error) {
	reply, err := must(r.ask(r.admin, zookeeper.Request{Op: zookeeper.GetChildren, Path: path}))
	if err != nil {
		return all, err
	}
	all = append(all, path)
	for _, name := range reply.Children {
		if all, err = r.paths(strings.TrimSuffix(path, "/")+"/"+name, all); err != nil {
			return all, err
		}
	}
	return all, nil
}
