package main

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/scenarios/fleet"
	"locklab/scenarios/share"
)

// process is locklab as a process.
type process struct {
	*exec.Cmd
	out  bytes.Buffer
	errs io.ReadCloser
}

func startProgram(t *testing.T, args ...string) *process {
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
func (p *process) address(t *testing.T) string {
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

func worker(t *testing.T, address string) *process {
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
