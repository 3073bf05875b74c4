package live

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"locklab/simulator"
	"locklab/simulator/internal/jute"
	"locklab/simulator/realserver"
	"locklab/simulator/zookeeper"
)

var _ zookeeper.Real = (*ensemble)(nil)

// An ensemble is the real ZooKeeper of one run.
type ensemble struct {
	*player
	root     string // the znode below which the run is played
	offset   int64  // of the real server's transactions
	admin    *realserver.ZooKeeperConn
	clients  []*ensembleClient
	sessions []realserver.ZooKeeperSession // that have begun, and have not ended
	lab      []string                      // paths that the lab's ensemble holds
	changed  bool                          // since they were compared
}

func newZooKeeper(p *player) *ensemble {
	p.run.Servers = 1
	return &ensemble{player: p, root: fmt.Sprintf("/locklab-live-%d", time.Now().UnixNano())}
}

// An ensembleClient is a client of the lab.
type ensembleClient struct {
	session realserver.ZooKeeperSession
	wire    *realserver.ZooKeeperConn // nil: its connection has broken
}

// connect begins a session.
func (r *ensemble) connect() (*realserver.ZooKeeperConn, error) {
	w, err := realserver.DialZooKeeper(r.on.ZooKeeper, realserver.ZooKeeperSession{}, 0)
	if err == nil {
		r.sessions = append(r.sessions, w.Session)
	}
	return w, err
}

// start makes the znodes that are there at the beginning, and the sessions of the clients.
func (r *ensemble) start(sim *simulator.Simulator) (err error) {
	sim.Kind().(*zookeeper.Kind).Real = r
	config := sim.Config()
	if r.admin, err = r.connect(); err != nil {
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
		w, err := r.connect()
		if err != nil {
			return err
		}
		r.clients = append(r.clients, &ensembleClient{w.Session, w})
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

// close ends all sessions and removes all znodes.
func (r *ensemble) close(*Playback) (err error) {
	for _, c := range r.clients {
		if c.wire != nil {
			c.wire.Close()
		}
	}
	if r.admin != nil {
		err = r.remove("/")
		r.admin.Close()
	}
	for _, s := range r.sessions {
		err = errors.Join(err, realserver.EndSession(r.on.ZooKeeper, s))
	}
	return err
}

func (r *ensemble) remove(path string) error {
	reply, err := r.ask(r.admin, zookeeper.Request{Op: zookeeper.GetChildren, Path: path})
	if err != nil || reply.Code == zookeeper.NoNode {
		return err
	}
	for _, name := range reply.Children {
		err = errors.Join(err, r.remove(strings.TrimSuffix(path, "/")+"/"+name))
	}
	if err == nil {
		_, err = r.ask(r.admin, zookeeper.Request{Op: zookeeper.Delete, Path: path, Version: zookeeper.AnyVersion})
	}
	return err
}

// real returns the path on the real server of a path of the lab, and inLab the reverse.
func (r *ensemble) real(path string) string { return strings.TrimSuffix(r.root+path, "/") }
func (r *ensemble) inLab(path string) string {
	return cmp.Or(strings.TrimPrefix(path, r.root), "/")
}

// Do implements zookeeper.Real.
func (r *ensemble) Do(a zookeeper.Action) zookeeper.Reply {
	if r.err != nil {
		return a.Lab
	}
	r.lab, r.changed = a.Holds.Paths(), true
	c := r.clients[a.Client-1]
	switch a.Kind {
	case zookeeper.ActServe, zookeeper.ActServeBeside:
		return r.serve(c.wire, a)
	case zookeeper.ActServeOrphan:
		w, err := realserver.DialZooKeeper(r.on.ZooKeeper, c.session, 0)
		if err == nil {
			_, err = r.ask(w, a.Request)
			w.Close()
		}
		r.failAt(a, err)
	case zookeeper.ActNotify:
		r.notify(c.wire, a)
	case zookeeper.ActCut:
		if c.wire != nil {
			c.wire.Close()
			c.wire = nil
		}
	case zookeeper.ActConnect:
		r.fail(r.connectAgain(c, a))
	case zookeeper.ActEnd:
		r.fail(realserver.EndSession(r.on.ZooKeeper, c.session))
		r.sessions = slices.DeleteFunc(r.sessions, func(o realserver.ZooKeeperSession) bool { return o.ID == c.session.ID })
	}
	return a.Lab
}

// failAt keeps the error of a request, if it is the first.
func (r *ensemble) failAt(a zookeeper.Action, err error) {
	if err != nil {
		r.fail(fmt.Errorf("%q of c%d: %w", a.Request.Text(), a.Client, err))
	}
}

// serve makes a request on a client's connection.
func (r *ensemble) serve(w *realserver.ZooKeeperConn, a zookeeper.Action) zookeeper.Reply {
	q, is, err := a.Request, zookeeper.Reply{}, net.ErrClosed
	if w != nil {
		is, err = r.ask(w, q)
	}
	if err != nil {
		r.failAt(a, err)
		return a.Lab
	}
	r.run.Answers++
	if q.Observed(is) != q.Observed(a.Lab) {
		r.differ(Difference{Server: 1, Client: int(a.Client), Cmd: q.Text(), Lab: q.Observed(a.Lab), Real: q.Observed(is)})
	}
	r.compareNews(w, a)
	return is
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

// notify compares the news of watches that are there when a ping is answered.
func (r *ensemble) notify(w *realserver.ZooKeeperConn, a zookeeper.Action) {
	err := net.ErrClosed
	if w != nil {
		_, _, err = w.Do(jute.Ping, nil)
	}
	if err != nil {
		r.fail(err)
		return
	}
	r.compareNews(w, a)
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

// connectAgain makes a new connection for a client.
func (r *ensemble) connectAgain(c *ensembleClient, a zookeeper.Action) error {
	w, err := realserver.DialZooKeeper(r.on.ZooKeeper, c.session, 0)
	refused := errors.Is(err, realserver.ErrSessionEnded)
	if refused != a.Ended && (err == nil || refused) {
		r.differ(Difference{Server: 1, Client: int(a.Client), Key: "session", Lab: sessionText[a.Ended], Real: sessionText[refused]})
	}
	if refused {
		w, err = r.connect()
	} else if err == nil && len(a.Watches) > 0 {
		err = r.leaveAgain(w, a)
	}
	if err == nil {
		c.session, c.wire = w.Session, w
	}
	return err
}

var sessionText = map[bool]string{true: "ended", false: "alive"}

// leaveAgain leaves watches on a new connection.
func (r *ensemble) leaveAgain(w *realserver.ZooKeeperConn, a zookeeper.Action) error {
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
	_, _, err := w.Do(jute.SetWatches, p)
	return err
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
	if err != nil {
		return err
	}
	there := map[bool]string{true: "there", false: "(nil)"}
	for _, path := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(is, r.lab)))) {
		if lab, real := slices.Contains(r.lab, path), slices.Contains(is, path); lab != real {
			r.differ(Difference{Server: 1, Key: path, Lab: there[lab], Real: there[real]})
		}
	}
	return nil
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

// ZooKeeperVersion asks a server for its version; "?": it does not say.
func ZooKeeperVersion(addr string) (string, error) {
	conn, err := realserver.ConnectZooKeeper("tcp", addr, 5*time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := conn.Write([]byte("srvr")); err != nil {
		return "", err
	}
	b := make([]byte, 4096)
	n, err := conn.Read(b) // the server hangs up at once: the end may come with the answer
	if n == 0 {
		return "", err
	}
	_, version, _ := strings.Cut(string(b[:n]), "Zookeeper version: ")
	version, _, _ = strings.Cut(version, "-")
	return cmp.Or(version, "?"), nil // it may be forbidden to ask
}
