package realserver

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// jar is where Debian's package zookeeper has the server, once installed; its
// manifest names the rest.
const jar = "/usr/share/java/zookeeper.jar"

// logger lets the server say on stderr when it is ready.
const logger = "/usr/share/java/slf4j-simple.jar"

// ZooKeeper runs a standalone ZooKeeper on a free loopback port, with dataDir for its
// snapshots and logs, and returns its address. Its tick is 100 ms, and a session may
// ask for a time-out of anything from that to a minute. Without the package the test
// is skipped, or fails where the environment says CI=true.
func ZooKeeper(t testing.TB, dataDir string) string {
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
	// The container manager is what the server starts last, when it serves.
	return start(t, "ZooKeeper", "ContainerManager", func(port string) []string {
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
}
