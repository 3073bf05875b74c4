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
	admin    *realserver.KeeperWire
	clients  []*ensembleClient
	sessions []realserver.KeeperSession // that have begun, and have not ended
	lab      []string                   // paths that the lab's ensemble holds
	changed  bool                       // since they were compared
}

func newZooKeeper(p *player) *ensemble {
	p.run.Servers = 1
	return &ensemble{player: p, root: fmt.Sprintf("/locklab-live-%d", time.Now().UnixNano())}
}

// An ensembleClient is a client of the lab.
type ensembleClient struct {
	session realserver.KeeperSession
	wire    *realserver.KeeperWire // nil: its connection has broken
}

// connect begins a session.
func (r *ensemble) connect() (*realserver.KeeperWire, error) {
	w, err := realserver.DialKeeper(r.opt.ZooKeeper, realserver.KeeperSession{}, 0)
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
	initial := config.Nodes[0].Znodes
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
func (r *ensemble) close(*Run) (err error) {
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
		err = errors.Join(err, realserver.EndSession(r.opt.ZooKeeper, s))
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

// Serve implements zookeeper.Real.
func (r *ensemble) Serve(client int8, q zookeeper.Request, lab zookeeper.Reply, events []zookeeper.Event) zookeeper.Reply {
	if r.err != nil {
		return lab
	}
	is, err := r.askAs(client, q)
	if err != nil {
		r.fail(fmt.Errorf("%q of c%d: %w", q.Text(), client, err))
		return lab
	}
	r.run.Answers++
	if q.Observed(is) != q.Observed(lab) {
		r.differ(Difference{Server: 1, Client: int(client), Cmd: q.Text(), Lab: q.Observed(lab), Real: q.Observed(is)})
	}
	r.compareNews(client, events)
	return is
}

// askAs makes a request on a client's connection.
func (r *ensemble) askAs(client int8, q zookeeper.Request) (zookeeper.Reply, error) {
	w := r.clients[client-1].wire
	if w == nil {
		return zookeeper.Reply{}, net.ErrClosed
	}
	return r.ask(w, q)
}

// ask makes a request.
func (r *ensemble) ask(w *realserver.KeeperWire, q zookeeper.Request) (reply zookeeper.Reply, err error) {
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

// ServeOrphan implements zookeeper.Real.
func (r *ensemble) ServeOrphan(client int8, q zookeeper.Request, _ zookeeper.Reply) {
	if r.err != nil {
		return
	}
	w, err := realserver.DialKeeper(r.opt.ZooKeeper, r.clients[client-1].session, 0)
	if err == nil {
		_, err = r.ask(w, q)
		w.Close()
	}
	if err != nil {
		r.fail(fmt.Errorf("%q of c%d: %w", q.Text(), client, err))
	}
}

// Notify implements zookeeper.Real.
func (r *ensemble) Notify(client int8, events []zookeeper.Event) {
	if r.err != nil {
		return
	}
	// What the server has sent before this answer is here when it is.
	w := r.clients[client-1].wire
	if w == nil {
		r.fail(net.ErrClosed)
		return
	}
	if _, _, err := w.Do(jute.Ping, nil); err != nil {
		r.fail(err)
		return
	}
	r.compareNews(client, events)
}

// compareNews compares the news of watches that have reached a client.
func (r *ensemble) compareNews(client int8, lab []zookeeper.Event) {
	w := r.clients[client-1].wire
	var is []zookeeper.Event
	for _, n := range w.News {
		is = append(is, zookeeper.Event{Type: zookeeper.EventType(n.Type), Path: r.inLab(n.Path)})
	}
	w.News = nil
	if a, b := newsText(lab), newsText(is); a != b {
		r.differ(Difference{Server: 1, Client: int(client), Key: "watches", Lab: a, Real: b})
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

// Cut implements zookeeper.Real.
func (r *ensemble) Cut(client int8) {
	if c := r.clients[client-1]; r.err == nil && c.wire != nil {
		c.wire.Close()
		c.wire = nil
	}
}

// Connect implements zookeeper.Real.
func (r *ensemble) Connect(client int8, seen int64, watches []zookeeper.Watch, ended bool) {
	if r.err != nil {
		return
	}
	c := r.clients[client-1]
	w, err := realserver.DialKeeper(r.opt.ZooKeeper, c.session, 0)
	if refused := errors.Is(err, realserver.ErrSessionEnded); refused != ended && (err == nil || refused) {
		r.differ(Difference{Server: 1, Client: int(client), Key: "session", Lab: sessionText[ended], Real: sessionText[refused]})
	}
	if errors.Is(err, realserver.ErrSessionEnded) {
		w, err = r.connect()
	} else if err == nil && len(watches) > 0 {
		err = r.leaveAgain(w, seen, watches)
	}
	if err != nil {
		r.fail(err)
		return
	}
	c.session, c.wire = w.Session, w
}

var sessionText = map[bool]string{true: "ended", false: "alive"}

// leaveAgain leaves watches on a new connection.
func (r *ensemble) leaveAgain(w *realserver.KeeperWire, seen int64, watches []zookeeper.Watch) error {
	p := jute.Put(nil, seen+r.offset)
	for _, kind := range []zookeeper.WatchKind{zookeeper.WatchData, zookeeper.WatchCreation, zookeeper.WatchChildren} {
		var paths []string
		for _, watch := range watches {
			if watch.Kind == kind {
				paths = append(paths, r.real(watch.Path))
			}
		}
		p = jute.Put(p, paths)
	}
	_, _, err := w.Do(jute.SetWatches, p)
	return err
}

// End implements zookeeper.Real.
func (r *ensemble) End(client int8) {
	if r.err != nil {
		return
	}
	s := r.clients[client-1].session
	r.fail(realserver.EndSession(r.opt.ZooKeeper, s))
	r.sessions = slices.DeleteFunc(r.sessions, func(o realserver.KeeperSession) bool { return o.ID == s.ID })
}

// Holds implements zookeeper.Real.
func (r *ensemble) Holds(s zookeeper.State) { r.lab, r.changed = s.Paths(), true }

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
	conn, err := net.DialTimeout("tcp", addr, 5*time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := conn.Write([]byte("srvr")); err != nil {
		return "", err
	}
	b := make([]byte, 4096)
	n, err := conn.Read(b)
	if err != nil {
		return "", err
	}
	_, version, _ := strings.Cut(string(b[:n]), "Zookeeper version: ")
	version, _, _ = strings.Cut(version, "-")
	return cmp.Or(version, "?"), nil // it may be forbidden to ask
}
