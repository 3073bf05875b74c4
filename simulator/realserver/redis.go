package realserver

import (
	"context"
	"os"
	"os/exec"

	"locklab/reports/text"
)

// ErrNoRedis is that there is no redis-server on the path.
var ErrNoRedis = text.Errorf("error.live.redis")

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
