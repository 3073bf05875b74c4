// Package servertest has real servers for the length of a test, and what tests need beside them. Without the
// program that is needed a test is skipped, or fails where the environment says CI=true.
package servertest

import (
	"testing"

	"locklab/simulator/child"
	"locklab/simulator/effort"
	"locklab/simulator/realserver"
)

// Redis runs a redis-server on a free loopback port, which keeps nothing on disk, and returns its address. The
// options are further ones of its command line.
func Redis(t testing.TB, options ...string) string {
	t.Helper()
	NeedRedis(t)
	p, err := realserver.StartRedis(t.Context(), t.TempDir(), nil, options...)
	return during(t, p, err)
}

// ZooKeeper runs a ZooKeeper on a free loopback port, with a folder for its files, and returns its address.
func ZooKeeper(t testing.TB, dataDir string) string {
	t.Helper()
	NeedZooKeeper(t)
	p, err := realserver.StartZooKeeper(t.Context(), dataDir)
	return during(t, p, err)
}

// MariaDB runs a MariaDB on a free loopback port, and returns its address; see realserver.StartMariaDB.
func MariaDB(t testing.TB) string {
	t.Helper()
	_, err := realserver.FindMariaDB()
	Need(t, err)
	p, err := realserver.StartMariaDB(t.Context(), folder(t), nil)
	return during(t, p, err)
}

// PostgreSQL runs a PostgreSQL on a free loopback port, and returns its address; see realserver.StartPostgreSQL.
func PostgreSQL(t testing.TB, settings ...string) string {
	t.Helper()
	_, err := realserver.FindPostgreSQL()
	Need(t, err)
	p, err := realserver.StartPostgreSQL(t.Context(), folder(t), nil, settings...)
	return during(t, p, err)
}

// NeedDatabases skips a test without MariaDB or PostgreSQL.
func NeedDatabases(t testing.TB) {
	t.Helper()
	_, err := realserver.FindMariaDB()
	Need(t, err)
	_, err = realserver.FindPostgreSQL()
	Need(t, err)
}

// folder is a temporary folder into which another user can be let, unlike that of testing.
func folder(t testing.TB) string {
	t.Helper()
	f, err := child.NewFolder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f.Path
}

func during(t testing.TB, p *realserver.Process, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p.Addr
}

// NeedRedis skips a test without redis-server on the path.
func NeedRedis(t testing.TB) {
	t.Helper()
	_, err := realserver.FindRedis()
	Need(t, err)
}

// NeedZooKeeper skips a test without java or the package. A test that begins with a subtest that runs a server calls
// it first: otherwise only the subtest is skipped.
func NeedZooKeeper(t testing.TB) {
	t.Helper()
	_, err := realserver.FindZooKeeper()
	Need(t, err)
}

// Need skips a test if err is that a program is missing, and fails it for any other error.
func Need(t testing.TB, err error) {
	t.Helper()
	if err != nil && !realserver.IsMissing(err) {
		t.Fatal(err)
	}
	effort.Need(t, err)
}
