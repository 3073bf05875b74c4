package realserver

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"locklab/simulator/i18n"
)

// ErrNoRedis is that there is no redis-server on the path.
var ErrNoRedis = i18n.Errorf("error.live.redis")

// FindRedis returns the path of redis-server; without it the error is ErrNoRedis.
func FindRedis() (path string, err error) {
	if path, err = exec.LookPath("redis-server"); err != nil {
		return "", ErrNoRedis
	}
	return path, nil
}

// Port stands for the server's port in options of StartRedis.
const Port = "PORT"

// StartRedis runs a redis-server on a free loopback port, with dir for its files and
// further options of its command line; with a clock, that is its time of day. It waits
// until the server answers.
func StartRedis(ctx context.Context, dir string, clock *Clock, options ...string) (p *Process, addr string, err error) {
	binary, err := FindRedis()
	if err != nil {
		return nil, "", err
	}
	return start(ctx, "redis-server", "Ready to accept connections", clock.env(), func(port string) []string {
		args := append([]string{binary,
			"--bind", "127.0.0.1", "--protected-mode", "yes", "--save", "", "--appendonly", "no", "--dir", dir, "--port", Port}, options...)
		for i, a := range args {
			if a == Port {
				args[i] = port
			}
		}
		return args
	})
}

// StartSentinel runs a Sentinel on a free loopback port, with dir for its files. It watches the master at an
// address under a name, with Redis's own defaults; so many must agree that the master is down.
func StartSentinel(ctx context.Context, dir, name, master string, quorum int) (p *Process, addr string, err error) {
	binary, err := FindRedis()
	if err != nil {
		return nil, "", err
	}
	host, port, err := net.SplitHostPort(master)
	if err != nil {
		return nil, "", err
	}
	watch := fmt.Sprintf("sentinel monitor %s %s %s %d", name, host, port, quorum)
	return start(ctx, "redis-sentinel", "+monitor", nil, func(port string) []string {
		config := filepath.Join(dir, "sentinel-"+port+".conf") // Sentinel keeps what it knows there
		// Without the file the server says so, and does not start.
		_ = os.WriteFile(config, []byte(strings.Join([]string{"bind 127.0.0.1", "protected-mode yes", "port " + port, "dir " + dir, watch, ""}, "\n")), 0o600)
		return []string{binary, config, "--sentinel"}
	})
}
