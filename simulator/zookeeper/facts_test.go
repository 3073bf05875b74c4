package zookeeper_test

import (
	"encoding/binary"
	"hash/adler32"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"locklab/simulator/realserver/servertest"
	. "locklab/simulator/zookeeper"
)

// TestSilence ends a session because its client is silent: on a real server by waiting, on a State by Close.
func TestSilence(t *testing.T) {
	const timeout = 300 * time.Millisecond
	s := newStage(servertest.ZooKeeper(t, t.TempDir()), "/silence")
	must(t, s.connect())
	must(t, s.begin())
	must(t, s.connectFor(timeout))
	watcher, silent := s.sessions[0], s.sessions[1]
	defer watcher.end(s.addr)
	must(t, s.ask(silent, Request{Op: Create, Path: "/silence/own", Mode: Ephemeral}))
	must(t, s.ask(watcher, Request{Op: Exists, Path: "/silence/own", Watch: true}))
	must(t, s.ask(watcher, Request{Op: GetChildren, Path: "/silence", Watch: true}))
	silent.line.HangUp()
	must(t, silent.line.Silence(s.addr, timeout))

	heard := []Event{<-watcher.events, <-watcher.events} // after the session time-out
	s.state = s.state.Disconnect(silent.id)
	var fired []Event
	s.state, _, fired = s.state.Close(silent.id)
	for i := range heard {
		heard[i].Session = watcher.id
	}
	if !slices.Equal(fired, heard) {
		t.Errorf("the State tells the watcher %+v, ZooKeeper %+v", fired, heard)
	}
	s.deliver(fired)
	if s.state.Alive(silent.id) || !s.state.Alive(watcher.id) {
		t.Error("the wrong session ended")
	}
	if err := s.ask(watcher, Request{Op: GetChildren, Path: "/silence"}); err != nil {
		t.Error(err)
	}

	// The client learns of the end when it comes back, and not before.
	silent.line.Pass <- struct{}{}
	<-silent.expired
	if _, code, _ := s.state.Reconnect(silent.id, silent.seen, nil); code != SessionExpired {
		t.Errorf("the State takes the session back: %v", code)
	}
	silent.line.Cut(silent.conn)
}

// TestNothingMissed disconnects and reconnects when the last transaction was the one that
// created the watched znode: random steps seldom do that.
func TestNothingMissed(t *testing.T) {
	s := newStage(servertest.ZooKeeper(t, t.TempDir()), "/missed")
	must(t, s.connect())
	c := s.sessions[0]
	defer c.end(s.addr)
	must(t, s.begin())
	must(t, s.ask(c, Request{Op: GetData, Path: "/missed", Watch: true}))
	must(t, s.ask(c, Request{Op: GetChildren, Path: "/missed", Watch: true}))
	must(t, s.ask(c, Request{Op: Exists, Path: "/missed/a", Watch: true}))
	s.leave(c)
	s.comeBack(c)
	must(t, s.compareEvents(false))
	if len(c.wait) != 3 {
		t.Errorf("%d watches are left, want 3", len(c.wait))
	}
}

// TestOverflow numbers children past 2^31: the numbers of a queue are not unique for ever.
func TestOverflow(t *testing.T) {
	servertest.NeedZooKeeper(t)
	dir := t.TempDir()
	usedUp(t, dir)
	s := newStage(servertest.ZooKeeper(t, dir), "/wrap")
	// The State follows what the log says: a session takes transaction 1.
	var nobody SessionID
	s.state, nobody = s.state.Connect()
	for _, path := range []string{"/wrap", "/wrap/first"} {
		s.state, _, _ = s.state.Apply(nobody, Request{Op: Create, Path: path})
	}
	s.state = s.state.SetCounter("/wrap", lastButOne)
	must(t, s.connect())
	c := s.sessions[0]
	defer c.end(s.addr)
	for _, r := range []Request{
		{Op: Create, Path: "/wrap/n-", Mode: Ephemeral | Sequential},
		{Op: Create, Path: "/wrap/n-", Mode: Ephemeral | Sequential},
		{Op: Exists, Path: "/wrap"},
		{Op: Create, Path: "/wrap/n-", Mode: Ephemeral | Sequential}, // exists
		{Op: Create, Path: "/wrap/a-", Mode: Ephemeral | Sequential}, // the same number
		{Op: Create, Path: "/wrap/plain"},
		{Op: Create, Path: "/wrap/b-", Mode: Ephemeral | Sequential}, // and again
		{Op: GetChildren, Path: "/wrap"},
	} {
		if err := s.ask(c, r); err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
	}
}

const lastButOne = 1<<31 - 2

// usedUp leaves a log in dataDir in which the parent /wrap has numbered all but two of the 2^31 children that it can.
func usedUp(t *testing.T, dataDir string) {
	t.Helper()
	t.Run("a server makes its folder", func(t *testing.T) { servertest.ZooKeeper(t, dataDir) })
	log := []byte("ZKLG")
	log = binary.BigEndian.AppendUint32(log, 2) // version
	log = binary.BigEndian.AppendUint64(log, 0) // database
	for _, create := range []struct {
		zxid     uint64
		path     string
		cversion uint32 // of the parent, afterwards
	}{{2, "/wrap", 1}, {3, "/wrap/first", lastButOne}} {
		txn := make([]byte, 8+4) // nobody's session, and its number of the request
		txn = binary.BigEndian.AppendUint64(txn, create.zxid)
		txn = binary.BigEndian.AppendUint64(txn, 0) // time
		txn = binary.BigEndian.AppendUint32(txn, 1) // create
		text := func(s string) { txn = append(binary.BigEndian.AppendUint32(txn, uint32(len(s))), s...) }
		text(create.path)
		text("")                                                     // data
		txn = binary.BigEndian.AppendUint32(txn, 1)                  // one rule of access
		txn = binary.BigEndian.AppendUint32(txn, uint32(zk.PermAll)) // everything
		text("world")
		text("anyone")
		txn = append(txn, 0) // not ephemeral
		txn = binary.BigEndian.AppendUint32(txn, create.cversion)
		log = binary.BigEndian.AppendUint64(log, uint64(adler32.Checksum(txn)))
		log = binary.BigEndian.AppendUint32(log, uint32(len(txn)))
		log = append(append(log, txn...), 'B')
	}
	if err := os.WriteFile(filepath.Join(dataDir, "version-2", "log.2"), log, 0o600); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
