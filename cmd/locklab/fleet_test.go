package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"locklab/reports/text"
	"locklab/scenarios/fleet"
	"locklab/scenarios/share"
	"locklab/simulator/effort"
	"locklab/simulator/realserver/servertest"
)

// process is locklab as a process.
type process struct {
	*exec.Cmd
	out  bytes.Buffer
	errs io.ReadCloser
	said bytes.Buffer // of errs, after queue and read
	read sync.WaitGroup
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

// A queue is the server of a coordinator: its address, and the file that has its password.
type queue struct{ address, file string }

// queue is the one that fleet run prints. What follows is read into p.said.
func (p *process) queue(t testing.TB) queue {
	t.Helper()
	in := bufio.NewReader(p.errs)
	for {
		line, err := in.ReadString('\n')
		if q, ok := queueIn(line); ok {
			p.said.WriteString(line)
			p.read.Go(func() { io.Copy(&p.said, in) })
			return q
		}
		if err != nil {
			t.Fatalf("no address: %v, %s", err, line)
		}
	}
}

var queueFlags = regexp.MustCompile(`--redis (127\.0\.0\.1:\d+) --password-file (\S+)\s`)

// queueIn is the queue that a coordinator has named, if it has.
func queueIn(said string) (q queue, ok bool) {
	found := queueFlags.FindStringSubmatch(said)
	if found == nil {
		return queue{}, false
	}
	return queue{found[1], found[2]}, true
}

func worker(t testing.TB, q queue) *process {
	t.Helper()
	w := startProgram(t, "fleet", "worker", "--redis", q.address, "--password-file", q.file)
	go io.Copy(io.Discard, w.errs)
	return w
}

var fleetWork = []string{"par", "--strategies", "setnx,token,watchdog", "--attempts", "1", "--json"}

// TestFleetProcesses: two workers and a coordinator, as processes, come to what one machine
// gives.
func TestFleetProcesses(t *testing.T) {
	t.Parallel()
	c := startProgram(t, append([]string{"fleet", "run", "--cache", t.TempDir()}, fleetWork...)...)
	q := c.queue(t)
	password, err := os.ReadFile(q.file)
	if err != nil || len(password) < 20 {
		t.Fatalf("the password is %q, %v", password, err)
	}
	if info, err := os.Stat(q.file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if code, _, errs := call(t, "fleet", "worker", "--redis", q.address); code != exitNoAnswer || !strings.Contains(errs, "NOAUTH") {
		t.Errorf("a worker without a password: exit status %d, %s", code, errs)
	}
	a, b := worker(t, q), worker(t, q)
	for _, p := range []*process{c, a, b} { // what ps shows
		if shown := strings.Join(p.Args, " "); strings.Contains(shown, strings.TrimSpace(string(password))) {
			t.Errorf("%s", shown)
		}
	}
	c.read.Wait()
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %s", err, c.said.String())
	}
	if said := c.said.String(); strings.Contains(said, strings.TrimSpace(string(password))) || !strings.Contains(said, "were computed by two workers each") {
		t.Errorf("it says %s", said)
	}
	if _, err := os.Stat(q.file); !os.IsNotExist(err) {
		t.Errorf("the file of the password is still there: %v", err)
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

// selfSigned writes files: one, that of a certificate for 127.0.0.1, and that of its key.
func selfSigned(t *testing.T) (file func(name string, content []byte) string, cert, key string) {
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
	file, cert, key := selfSigned(t)
	secret := file("secret", []byte("open sesame\n"))
	address := "rediss://" + servertest.RedisTLS(t, cert, key, "--requirepass", "open sesame")

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
	effort.OnlyExhaustive(t, "starts a dozen processes")
	t.Parallel()
	const kills = 10
	work := []string{"matrix", "--strategies", "token,watchdog,setnx-expire", "--scenarios", "R18,R21,R24,R25", "--runs", "8000", "--json"}
	c := startProgram(t, append([]string{"fleet", "run", "--cache", t.TempDir()}, work...)...)
	q := c.queue(t)
	password, err := os.ReadFile(q.file)
	if err != nil {
		t.Fatal(err)
	}
	rdb := redis.NewClient(&redis.Options{Addr: q.address, Password: strings.TrimSpace(string(password))})
	defer rdb.Close()
	build, err := share.Build()
	if err != nil {
		t.Fatal(err)
	}
	key := "asynq:{" + fleet.Queue(build) + "}:"
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()

	worker(t, q)
	victim := worker(t, q)
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
		victim = worker(t, q) // and what it looks for first are leases that have ended
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
			q := c.queue(b)
			workers := []*process{worker(b, q), worker(b, q)}
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

// TestRedisFlags: what a flag or a URL says reaches the connection, or is refused by name.
func TestRedisFlags(t *testing.T) {
	t.Parallel()
	file, cert, key := selfSigned(t)
	secret, empty := file("secret", []byte("open sesame\n")), file("empty", nil)
	option := func(flags redisFlags) (asynq.RedisConnOpt, error) {
		return flags.option(newTestEnv(io.Discard, io.Discard))
	}
	opt, err := option(redisFlags{address: "redis-sentinel://:theirs@10.0.0.5:26379,10.0.0.6:26379?master=m", password: secret, ca: cert})
	sentinels, ok := opt.(asynq.RedisFailoverClientOpt)
	if err != nil || !ok || sentinels.Password != "open sesame" || sentinels.SentinelPassword != "theirs" || sentinels.MasterName != "m" || len(sentinels.SentinelAddrs) != 2 {
		t.Fatalf("%+v, %v", opt, err)
	}
	if c := sentinels.TLSConfig; c == nil || c.RootCAs == nil || c.MinVersion != tls.VersionTLS12 || c.InsecureSkipVerify {
		t.Errorf("TLS to sentinels: %+v", c)
	}
	opt, err = option(redisFlags{address: "10.0.0.5:6379", password: secret, ca: cert})
	if single, ok := opt.(asynq.RedisClientOpt); err != nil || !ok || single.Password != "open sesame" || single.TLSConfig == nil || single.TLSConfig.RootCAs == nil {
		t.Errorf("%+v, %v", opt, err)
	}
	for says, flags := range map[string]redisFlags{
		"add the name of the master":        {address: "redis-sentinel://10.0.0.5:26379"},
		"write HOST:PORT":                   {address: "redis-sentinel://10.0.0.5?master=m"},
		"--password-file " + empty + ": it": {address: "10.0.0.5:6379", password: empty},
		"key.pem":                           {address: "redis-sentinel://10.0.0.5:26379?master=m", ca: key},
		"absent":                            {address: "redis-sentinel://10.0.0.5:26379?master=m", password: "absent"},
		"need --redis":                      {password: secret},
	} {
		if _, err := option(flags); err == nil || !strings.Contains(text.SayError("en", err), says) {
			t.Errorf("%+v: %v", flags, err)
		}
	}
}

// TestProgressLines: off a terminal a line is printed when more is done, not again and again.
func TestProgressLines(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	e := newTestEnv(io.Discard, io.Discard)
	ticks := make(chan time.Time)
	done, end := e.progressLines(&out, 2, "progress.runs", time.Now(), ticks)
	for _, n := range []int{0, 0, 1, 1, 2, 2} {
		done(n)
		ticks <- time.Time{} // taken when the line before is printed
		ticks <- time.Time{}
	}
	end()
	if got := regexp.MustCompile(`runs \d/\d`).FindAllString(out.String(), -1); !slices.Equal(got, []string{"runs 1/2", "runs 2/2"}) {
		t.Errorf("%q", out.String())
	}
}
