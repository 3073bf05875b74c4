// Package realserver runs a real ZooKeeper for the length of a test. It is for
// tests only.
package realserver

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	redisserver "locklab/simulator/realserver"
)

// jar is where Debian's package zookeeper has the server, once installed; its
// manifest names the rest.
const jar = "/usr/share/java/zookeeper.jar"

// logger lets the server say on stderr when it is ready.
const logger = "/usr/share/java/slf4j-simple.jar"

// Start runs a standalone server on a free loopback port, with dataDir for its
// snapshots and logs, and returns its address. Its tick is 100 ms, and a session
// may ask for a time-out of anything from that to a minute. Without the package the test is
// skipped, or fails where the environment says CI=true.
//
// The server ends with the test, or with the test's process, whatever ends that:
// a shell kills it when the pipe from here closes.
func Start(t testing.TB, dataDir string) string {
	t.Helper()
	java, err := exec.LookPath("java")
	if err == nil {
		_, err = os.Stat(jar)
	}
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatalf("no ZooKeeper here (%v): install the package zookeeper", err)
	case err != nil:
		t.Skipf("no ZooKeeper here (%v): install the package zookeeper", err)
	}
	var talk string
	for range 5 { // somebody may take the port that was just found free
		addr, said, ready := try(t, java, dataDir)
		if ready {
			return addr
		}
		talk = said
	}
	t.Fatalf("ZooKeeper does not start; it says:\n%s", talk)
	return ""
}

// try starts a server and reads its log until it is ready or has ended.
func try(t testing.TB, java, dataDir string) (addr, said string, ready bool) {
	t.Helper()
	addr = freePort(t)
	_, port, _ := net.SplitHostPort(addr)
	config := filepath.Join(t.TempDir(), "zoo.cfg")
	lines := []string{
		"tickTime=100", "minSessionTimeout=100", "maxSessionTimeout=60000",
		"dataDir=" + dataDir, "clientPort=" + port, "clientPortAddress=127.0.0.1",
		"admin.enableServer=false", "maxClientCnxns=0", "",
	}
	if err := os.WriteFile(config, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	// The container manager is what the server starts last, when it serves.
	said, ready = redisserver.Process(t, "ContainerManager",
		java, "-Xmx128m", "-Dzookeeper.forceSync=no", "-cp", jar+":"+logger, "org.apache.zookeeper.server.ZooKeeperServerMain", config)
	return addr, said, ready
}

// freePort is an address at which nobody listens.
func freePort(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
