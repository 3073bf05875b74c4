package realserver

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"locklab/simulator/i18n"
)

// jar is the file in which Debian's package zookeeper has the server, once installed; its
// manifest names the rest.
const jar = "/usr/share/java/zookeeper.jar"

// logger lets the server say on stderr when it is ready.
const logger = "/usr/share/java/slf4j-simple.jar"

// ErrNoZooKeeper is that java or the package is missing.
var ErrNoZooKeeper = i18n.Errorf("error.live.zookeeper")

// FindZooKeeper returns the path of java if the server is installed, too; else ErrNoZooKeeper.
func FindZooKeeper() (java string, err error) {
	java, err = exec.LookPath("java")
	for _, file := range []string{jar, logger} {
		if err == nil {
			_, err = os.Stat(file)
		}
	}
	if err != nil {
		return "", ErrNoZooKeeper
	}
	return java, nil
}

// StartZooKeeper runs a standalone ZooKeeper on a free loopback port, with dir for its files. Its tick is 100 ms, and a session may ask for a time-out of anything from
// that to a minute.
func StartZooKeeper(ctx context.Context, dir string) (*Process, error) {
	java, err := FindZooKeeper()
	if err != nil {
		return nil, err
	}
	// The container manager is what the server starts last, when it serves.
	return start(ctx, way{"ZooKeeper", "ContainerManager", kill, nil}, func(port string) []string {
		config := filepath.Join(dir, "zoo.cfg")
		lines := []string{
			"tickTime=100", "minSessionTimeout=100", "maxSessionTimeout=60000",
			"dataDir=" + dir, "clientPort=" + port, "clientPortAddress=127.0.0.1",
			"admin.enableServer=false", "maxClientCnxns=0", "",
		}
		// Without the file the server says so, and does not start.
		_ = os.WriteFile(config, []byte(strings.Join(lines, "\n")), 0o600)
		// Java writes what it has to say of a crash into the folder that it runs in.
		return []string{"sh", "-c", `cd "$1" && shift && exec "$@"`, "sh", dir, java, "-Xmx128m", "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1", "-Dzookeeper.forceSync=no", "-cp", jar + ":" + logger, "org.apache.zookeeper.server.ZooKeeperServerMain", config}
	})
}
