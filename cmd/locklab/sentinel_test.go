package main

import (
	"bytes"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/scenarios/reality"
	"locklab/simulator/realserver/servertest"
	"locklab/simulator/verdict"
)

// What is told of a failover, in both languages. Package reality makes one.
func TestSentinelPrinted(t *testing.T) {
	token, _ := algorithms.ByName("token")
	d := reality.SentinelDemo{Lock: token, Fault: reality.Partitioned, DownAfter: reality.DownAfter, TTL: 10 * time.Second}
	run := &reality.SentinelRun{Version: "7.0.15", Waited: 32100 * time.Millisecond, Two: 10200 * time.Millisecond, Demoted: 42200 * time.Millisecond, Verdicts: []verdict.Word{verdict.Overlap}}
	for _, m := range []struct {
		ms              int
		who, what, note string
	}{{0, "master", "partition", ""}, {3000, "c2", "fails", "i/o timeout"}, {30900, "sentinel", "+sdown", "master"}, {32100, "c2", "enters", ""}, {32110, "master", "healed", ""}, {42200, "master", "demoted", ""}} {
		run.Moments = append(run.Moments, reality.Moment{At: time.Duration(m.ms) * time.Millisecond, Who: m.who, What: m.what, Note: m.note})
	}
	var out bytes.Buffer
	e := newTestEnv(&out, io.Discard)
	e.guessLanguage([]string{"--lang", "both"})
	printSentinel(e, d, run)
	for _, fault := range []string{reality.Paused, reality.Killed} {
		if d.Fault = fault; fault == reality.Killed {
			run.Demoted, run.Two, run.Verdicts = 0, 0, []verdict.Word{verdict.Holds}
		}
		printSentinel(e, d, run)
	}
	golden(t, "live.sentinel.txt", out.Bytes())
}

// Wrong use ends with status 2; asked to stop, a failover leaves nothing.
func TestSentinelRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"redlock": "redlock", "zk-mutex": "zk-mutex", "token-wait": "token-wait", "nolock": "nolock", "token extra": "extra",
		"--fault fire": "--fault fire: give one of partition, pause, kill", "--down-after 1ms": "--down-after 1ms", "--ttl 1h": "--ttl 1h0m0s", "--periods 1us": "--periods 1µs", "constant --ttl 1500ms": "--ttl 1.5s",
	} {
		if code, out, errs := call(t, append([]string{"live", "sentinel"}, strings.Fields(args)...)...); code != exitUsage || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: exit status %d, %s%s", args, code, out, errs)
		}
	}
	servertest.NeedRedis(t)
	tmp := t.TempDir()
	p := program(t, "live", "sentinel")
	p.Env = append(p.Env, "TMPDIR="+tmp)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "five servers run", func() bool { return len(serversIn(tmp)) >= 5 })
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if status := statusOf(t, p.Wait()); status != exitNoAnswer || len(serversIn(tmp))+len(left(tmp)) > 0 {
		t.Errorf("exit status %d, and %v and %v are left", status, serversIn(tmp), left(tmp))
	}
}
