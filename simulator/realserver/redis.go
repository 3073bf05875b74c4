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

// StartRedis runs a redis-server on a free loopback port, with dir for its files and
// further options of its command line; with a clock, that is its time of day. It waits
// until the server answers.
func StartRedis(ctx context.Context, dir string, clock *Clock, options ...string) (p *Process, addr string, err error) {
	return startRedis(ctx, dir, clock, func(port string) []string { return append([]string{"--port", port}, options...) })
}

func startRedis(ctx context.Context, dir string, clock *Clock, options func(port string) []string) (p *Process, addr string, err error) {
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, "", ErrNoRedis
	}
	return start(ctx, "redis-server", "Ready to accept connections", clock.env(), func(port string) []string {
		return append([]string{binary,
			"--bind", "127.0.0.1", "--protected-mode", "yes", "--save", "", "--appendonly", "no", "--dir", dir}, options(port)...)
	})
}

// A Test is what this package needs of a testing.TB.
type Test interface {
	Helper()
	Fatal(args ...any)
	Skip(args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
	Cleanup(f func())
	TempDir() string
	Context() context.Context
}

// Redis runs a redis-server on a free loopback port for the length of a test, which keeps
// nothing on disk, and returns its address. The options are further ones of its command
// line. Without redis-server on the path the test is skipped, or fails where the
// environment says CI=true.
func Redis(t Test, options ...string) string {
	t.Helper()
	return serve(t, func(port string) []string { return append([]string{"--port", port}, options...) })
}

// RedisTLS is like Redis, for clients that speak TLS. cert and key are files.
func RedisTLS(t Test, cert, key string, options ...string) string {
	t.Helper()
	return serve(t, func(port string) []string {
		return append([]string{"--port", "0", "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-auth-clients", "no"}, options...)
	})
}

func serve(t Test, options func(port string) []string) string {
	t.Helper()
	NeedRedis(t)
	p, addr, err := startRedis(t.Context(), t.TempDir(), nil, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return addr
}

// NeedRedis skips a test without redis-server on the path, or fails it where the environment
// says CI=true.
func NeedRedis(t Test) {
	t.Helper()
	switch _, err := exec.LookPath("redis-server"); {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatal(ErrNoRedis)
	case err != nil:
		t.Skip(ErrNoRedis)
	}
}

// StartSentinel runs a Sentinel on a free loopback port, with dir for its files. It watches the master at an
// address under a name, with Redis's own defaults; so many must agree that the master is down.
func StartSentinel(ctx context.Context, dir, name, master string, quorum int) (p *Process, addr string, err error) {
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, "", ErrNoRedis
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
