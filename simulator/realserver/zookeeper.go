package realserver

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// jar is where Debian's package zookeeper has the server, once installed; its
// manifest names the rest.
const jar = "/usr/share/java/zookeeper.jar"

// logger lets the server say on stderr when it is ready.
const logger = "/usr/share/java/slf4j-simple.jar"

// NeedZooKeeper returns the path of java. Without that, or without the package, the test
// is skipped, or fails where the environment says CI=true. A test that begins with a
// subtest that runs a server calls it first: otherwise only the subtest is skipped.
func NeedZooKeeper(t Test) (java string) {
	t.Helper()
	java, err := exec.LookPath("java")
	for _, file := range []string{jar, logger} {
		if err == nil {
			_, err = os.Stat(file)
		}
	}
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatalf("no ZooKeeper here (%v): install the package zookeeper", err)
	case err != nil:
		t.Skipf("no ZooKeeper here (%v): install the package zookeeper", err)
	}
	return java
}

// ZooKeeper runs a standalone ZooKeeper on a free loopback port, with dataDir for its
// snapshots and logs, and returns its address. Its tick is 100 ms, and a session may
// ask for a time-out of anything from that to a minute. See
// NeedZooKeeper for what happens without the package.
func ZooKeeper(t Test, dataDir string) string {
	t.Helper()
	java := NeedZooKeeper(t)
	// The container manager is what the server starts last, when it serves.
	p, addr, err := start(t.Context(), "ZooKeeper", "ContainerManager", nil, func(port string) []string {
		config := filepath.Join(t.TempDir(), "zoo.cfg")
		lines := []string{
			"tickTime=100", "minSessionTimeout=100", "maxSessionTimeout=60000",
			"dataDir=" + dataDir, "clientPort=" + port, "clientPortAddress=127.0.0.1",
			"admin.enableServer=false", "maxClientCnxns=0", "",
		}
		if err := os.WriteFile(config, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{java, "-Xmx128m", "-Dzookeeper.forceSync=no", "-cp", jar + ":" + logger, "org.apache.zookeeper.server.ZooKeeperServerMain", config}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return addr
}
