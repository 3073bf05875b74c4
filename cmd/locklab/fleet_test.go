package main

import (
	"bufio"
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/scenarios/fleet"
	"locklab/scenarios/share"
	"locklab/simulator/realserver"
)

// process is locklab as a process.
type process struct {
	*exec.Cmd
	out  bytes.Buffer
	errs io.ReadCloser
}

func startProgram(t testing.TB, args ...string) *process {
	t.Helper()
	p := &process{Cmd: program(t, args...)}
	p.Env = append(p.Env, "LOCKLAB_REDIS=", "LC_MESSAGES=")
	p.Stdout = &p.out
	var err error
	if p.errs, err = p.StderrPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	return p
}

// address is the one that fleet run prints.
func (p *process) address(t testing.TB) string {
	t.Helper()
	in := bufio.NewReader(p.errs)
	for {
		line, err := in.ReadString('\n')
		if found := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(line); found != "" {
			go io.Copy(io.Discard, in)
			return found
		}
		if err != nil {
			t.Fatalf("no address: %v, %s", err, line)
		}
	}
}

func worker(t testing.TB, address string) *process {
	t.Helper()
	w := startProgram(t, "fleet", "worker", "--redis", address)
	go io.Copy(io.Discard, w.errs)
	return w
}

var fleetWork = []string{"par", "--strategies", "setnx,token,watchdog", "--attempts", "1", "--json"}

// TestFleetProcesses: two workers and a coordinator, as processes, come to what one machine
// gives.
func TestFleetProcesses(t *testing.T) {
	t.Parallel()
	c := startProgram(t, append([]string{"fleet", "run", "--cache", t.TempDir()}, fleetWork...)...)
	address := c.address(t)
	a, b := worker(t, address), worker(t, address)
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, w := range []*process{a, b} {
		if err := w.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if err := w.Wait(); err != nil {
			t.Errorf("a worker that was stopped: %v", err)
		}
	}
	if code, one, errs := call(t, fleetWork...); code != exitOK || one != c.out.String() {
		t.Errorf("exit status %d, %s\none machine:\n%.2000s\nthe fleet:\n%.2000s", code, errs, one, c.out.String())
	}
}

// certificate writes files: one, that of a certificate for 127.0.0.1, and that of its key.
func certificate(t *testing.T) (file func(name string, content []byte) string, cert, key string) {
	t.Helper()
	dir := t.TempDir()
	https := httptest.NewTLSServer(nil) // for its certificate, which is for 127.0.0.1
	defer https.Close()
	private, err := x509.MarshalPKCS8PrivateKey(https.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	file = func(name string, content []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	cert = file("cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: https.Certificate().Raw}))
	key = file("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	return file, cert, key
}

// TestFleetTLS: the queue is on a Redis server that speaks TLS and wants a password. Whoever
// has another certificate, or no password, is told so.
func TestFleetTLS(t *testing.T) {
	t.Parallel()
	file, cert, key := certificate(t)
	secret := file("secret", []byte("open sesame\n"))
	address := "rediss://" + realserver.RedisTLS(t, cert, key, "--requirepass", "open sesame")

	work := []string{"par", "--strategies", "setnx", "--attempts", "1", "--json"}
	w := startProgram(t, "fleet", "worker", "--redis", address, "--ca", cert, "--password-file", secret)
	go io.Copy(io.Discard, w.errs)
	c := startProgram(t, append([]string{"fleet", "run", "--redis", address, "--ca", cert, "--password-file", secret}, work...)...)
	go io.Copy(io.Discard, c.errs)
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if code, one, errs := call(t, work...); code != exitOK || one != c.out.String() {
		t.Errorf("exit status %d, %s: the result of the fleet is another:\n%.2000s", code, errs, c.out.String())
	}
	for _, wrong := range []struct{ args, want []string }{
		{[]string{"--ca", cert}, []string{"NOAUTH"}},
		{[]string{"--password-file", secret}, []string{"certificate"}}, // of an authority that nobody knows
		{[]string{"--ca", key, "--password-file", secret}, []string{"key.pem", "certificate"}},
	} {
		code, out, errs := call(t, append(append([]string{"fleet", "run", "--redis", address}, wrong.args...), work...)...)
		if code == exitOK || out != "" {
			t.Errorf("%v: exit status %d, %s", wrong.args, code, out)
		}
		for _, want := range wrong.want {
			if !strings.Contains(errs, want) {
				t.Errorf("%v does not say %q: %s", wrong.args, want, errs)
			}
		}
	}
}

// TestFleetKilled: of two workers one is killed ten times at random moments, and another
// takes its place. The result is that of one machine. Nobody waits for the leases of those
// that were killed: the test ends them.
func TestFleetKilled(t *testing.T) {
	if !exhaustive() {
		t.Skip("starts a dozen processes: set LOCKLAB_EXHAUSTIVE=1")
	}
	t.Parallel()
	const kills = 10
	work := []string{"matrix", "--strategies", "token,watchdog,setnx-expire", "--scenarios", "R18,R21,R24,R25", "--runs", "8000", "--json"}
	c := startProgram(t, append([]string{"fleet", "run", "--cache", t.TempDir()}, work...)...)
	address := c.address(t)
	rdb := redis.NewClient(&redis.Options{Addr: address})
	defer rdb.Close()
	build, err := share.Build()
	if err != nil {
		t.Fatal(err)
	}
	key := "asynq:{" + fleet.Queue(build) + "}:"
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()

	worker(t, address)
	victim := worker(t, address)
	random := rand.New(rand.NewPCG(17, 10))
	killed := 0
	ticks := time.NewTicker(5 * time.Millisecond)
	defer ticks.Stop()
	for wait := random.IntN(30); killed < kills; wait-- {
		select {
		case err := <-ended:
			t.Fatalf("it ended after %d kills: %v", killed, err)
		case <-ticks.C:
		}
		active, err := rdb.LRange(t.Context(), key+"active", 0, -1).Result()
		if err != nil {
			t.Fatal(err)
		}
		if wait > 0 || len(active) < 2 { // the victim is at work
			continue
		}
		if err := victim.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = victim.Wait()
		killed++
		wait = random.IntN(30)
		// The other worker's lease ends too: asynq has that task done twice, and it must make
		// no difference.
		active, err = rdb.LRange(t.Context(), key+"active", 0, -1).Result()
		if err != nil {
			t.Fatal(err)
		}
		past := float64(time.Now().Add(-time.Hour).Unix())
		for _, id := range active {
			if err := rdb.ZAddXX(t.Context(), key+"lease", redis.Z{Score: past, Member: id}).Err(); err != nil {
				t.Fatal(err)
			}
		}
		victim = worker(t, address) // and what it looks for first are leases that have ended
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if code, one, errs := call(t, work...); code != exitOK || one != c.out.String() {
		t.Errorf("exit status %d, %s: the result of the fleet is another", code, errs)
	}
}

// BenchmarkFleet compares one process on one core and on all with a coordinator and two
// workers of one core each. What the workers gain is what the queue leaves of two cores.
func BenchmarkFleet(b *testing.B) {
	work := []string{"matrix", "--strategies", "token,watchdog,setnx-expire,redlock", "--scenarios", "R18,R21,R24,R25", "--runs", "4000", "--json"}
	alone := func(b *testing.B, env ...string) {
		for b.Loop() {
			p := program(b, work...)
			p.Env = append(p.Env, env...)
			if err := p.Run(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("one-process-one-core", func(b *testing.B) { alone(b, "GOMAXPROCS=1") })
	b.Run("one-process", func(b *testing.B) { alone(b) })
	b.Run("two-workers", func(b *testing.B) {
		b.Setenv("GOMAXPROCS", "1")
		for b.Loop() {
			c := startProgram(b, append([]string{"fleet", "run", "--cache", b.TempDir()}, work...)...)
			address := c.address(b)
			workers := []*process{worker(b, address), worker(b, address)}
			if err := c.Wait(); err != nil {
				b.Fatal(err)
			}
			for _, w := range workers {
				_ = w.Process.Kill()
				_ = w.Wait()
			}
		}
	})
}
