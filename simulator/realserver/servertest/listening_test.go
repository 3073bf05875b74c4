package servertest

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"locklab/simulator/realserver"
)

// TestListening: a socket on every address of the machine is seen as such.
func TestListening(t *testing.T) {
	for listen, want := range map[string]string{"127.0.0.1:0": "127.0.0.1", "0.0.0.0:0": "0.0.0.0", "[::1]:0": "[::1]", "[::]:0": "[::]"} {
		network := "tcp4"
		if strings.HasPrefix(listen, "[") {
			network = "tcp6"
		}
		l, err := net.Listen(network, listen)
		if err != nil && network == "tcp6" {
			continue // a machine without IPv6
		}
		if err != nil {
			t.Fatal(err)
		}
		all, err := listening(os.Getpid())
		if addr := fmt.Sprintf("%s:%d", want, l.Addr().(*net.TCPAddr).Port); err != nil || !slices.Contains(all, addr) {
			t.Errorf("%s: %v, %v, want %s", listen, all, err, addr)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestServersOnLoopback: other machines reach none of the servers that this package starts.
func TestServersOnLoopback(t *testing.T) {
	t.Run("redis", func(t *testing.T) {
		NeedRedis(t)
		p, err := realserver.StartRedis(t.Context(), t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Kill()
		OnlyLoopback(t, p.Pid(), p.Addr)
	})
	t.Run("zookeeper", func(t *testing.T) {
		NeedZooKeeper(t)
		p, err := realserver.StartZooKeeper(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer p.Kill()
		OnlyLoopback(t, p.Pid(), p.Addr)
	})
	t.Run("gate", func(t *testing.T) {
		g, err := realserver.NewGate("127.0.0.1:1")
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		OnlyLoopback(t, os.Getpid(), g.Addr())
	})
}
