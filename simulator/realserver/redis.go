package realserver

import (
	"os"
	"os/exec"
	"testing"
)

// Redis runs a redis-server on a free loopback port, which keeps nothing on disk,
// and returns its address. The options are further ones of its command line.
// Without redis-server on the path the test is skipped, or fails where the
// environment says CI=true.
func Redis(t testing.TB, options ...string) string {
	t.Helper()
	return redis(t, func(port string) []string { return append([]string{"--port", port}, options...) })
}

// RedisTLS is like Redis, for clients that speak TLS. cert and key are files.
func RedisTLS(t testing.TB, cert, key string, options ...string) string {
	t.Helper()
	return redis(t, func(port string) []string {
		return append([]string{"--port", "0", "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-auth-clients", "no"}, options...)
	})
}

func redis(t testing.TB, options func(port string) []string) string {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatal("redis-server is not on PATH: install the package redis-server")
	case err != nil:
		t.Skip("redis-server is not on PATH: install the package redis-server")
	}
	return start(t, "redis-server", "Ready to accept connections", func(port string) []string {
		return append([]string{binary, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir()}, options(port)...)
	})
}
