package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"locklab/simulator/effort"
	"locklab/simulator/realserver"
	"locklab/simulator/realserver/servertest"
)

// needLive skips a test where real servers cannot be run, or fails it where the environment says CI=true.
func needLive(t *testing.T) {
	t.Helper()
	servertest.NeedRedis(t)
	_, err := realserver.FindCompiler()
	servertest.Need(t, err)
}

var serverVersion = regexp.MustCompile(`\d+\.\d+\.\d+|PostgreSQL \d+\.\d+`)

// What people see of a run on real servers, in both languages, and of a cell that cannot be
// shown.
func TestLive(t *testing.T) {
	effort.OnlyPushed(t, "it starts servers")
	needLive(t)
	servertest.NeedZooKeeper(t)
	servertest.NeedDatabases(t)
	for name, args := range map[string]string{"live.txt": "live run token failover",
		"live.zookeeper.txt": "live run zk-naive waiter-dies --lang both",
		"live.database.txt":  "live run db-for-update slow-work --lang both",
		"live.zh.txt":        "live run delifeq clock-jump --lang zh"} {
		code, out, errs := call(t, strings.Fields(args)...)
		if want := map[string]int{"live.zh.txt": exitNoAnswer}[name]; code != want || errs != "" { // it cannot be shown
			t.Errorf("%s: exit status %d, want %d, %s", args, code, want, errs)
		}
		golden(t, name, serverVersion.ReplaceAllString(out, "VERSION"))
	}
}

// A table of two cells, its file, and the same as JSON.
func TestLiveMatrix(t *testing.T) {
	effort.OnlyPushed(t, "it starts servers")
	needLive(t)
	file := filepath.Join(t.TempDir(), "live.csv")
	code, out, errs := call(t, "live", "matrix", "--locks", "token,zk-mutex", "--races", "restart,R25,R42", "--rounds",
		"2", "-o", file)
	if code != exitOK || !strings.Contains(errs, "live.csv") {
		t.Errorf("exit status %d, %s", code, errs)
	}
	golden(t, "live.matrix.txt", serverVersion.ReplaceAllString(out, "VERSION"))
	content := contentOf(t, file)
	if strings.Count(content, "\n") != 4 || !strings.Contains(content,
		"token,restart,OVERLAP STALE-WRITE,OVERLAP STALE-WRITE,true,0,") {
		t.Error(content)
	}
	code, out, _ = call(t, "live", "run", "token", "restart", "--json")
	if j := dataOf[liveJSON](t, out, "live run"); code != exitOK || !*j.Agrees || j.Servers != 2 || j.Answers == 0 {
		t.Errorf("exit status %d: %s", code, out)
	}
}

// On a machine without redis-server the command ends with status 2 and says what to do.
func TestLiveWithoutRedis(t *testing.T) {
	only := t.TempDir()
	for _, tool := range []string{"sh", "rm", "mktemp"} {
		path, err := exec.LookPath(tool)
		if err != nil || os.Symlink(path, filepath.Join(only, tool)) != nil {
			t.Fatal("a package is missing, dash or coreutils: there is no " + tool)
		}
	}
	t.Setenv("PATH", only)
	if code, _, errs := call(t, "live", "run", "token", "failover"); code != exitUsage ||
		!strings.Contains(errs, "install the package redis-server") {
		t.Errorf("exit status %d, %s", code, errs)
	}
}

// Whatever ends the program, no server and no file outlives it: when it is asked to stop, at once, and
// when it is killed, soon.
func TestLiveLeavesNothing(t *testing.T) {
	effort.OnlyPushed(t, "it starts servers")
	needLive(t)
	servertest.NeedZooKeeper(t)
	servertest.NeedDatabases(t)
	const redis = "live run setnx crash-holding --lease 10s"
	for _, run := range []struct {
		signal     syscall.Signal
		args, sign string // a pattern of what is there when a server of the run is
	}{
		{syscall.SIGTERM, redis, "*/server-*"}, {syscall.SIGINT, redis, "*/server-*"},
		{syscall.SIGKILL, redis, "*/server-*"}, {syscall.SIGTERM, "live matrix --locks line", "*/zoo.cfg"},
		{syscall.SIGTERM, "live matrix --locks named", "*/data/postmaster.pid"},
		{syscall.SIGKILL, "live matrix --locks rows", "*/data/postmaster.pid"},
	} {
		t.Log(run.args)
		signal, tmp := run.signal, openFolder(t)
		t.Cleanup(func() {
			for _, pid := range serversIn(tmp) {
				line, _ := os.ReadFile("/proc/" + pid + "/cmdline")
				t.Logf("left: process %s, %s", pid, strings.ReplaceAll(string(line), "\x00", " "))
			}
			for _, name := range left(tmp) {
				t.Log("left:", name)
			}
		})
		p := program(t, strings.Fields(run.args)...)
		p.Env = append(p.Env, "TMPDIR="+tmp)
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		until(t, "a server runs", func() bool {
			there, _ := filepath.Glob(filepath.Join(tmp, run.sign))
			return len(serversIn(tmp)) > 0 && len(there) > 0
		})
		if err := p.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		status := statusOf(t, p.Wait())
		if signal == syscall.SIGKILL {
			until(t, "nothing is left", func() bool { return len(serversIn(tmp)) == 0 && len(left(tmp)) == 0 })
			continue
		}
		if servers, files := serversIn(tmp), left(tmp); status != exitNoAnswer || len(servers) > 0 || len(files) > 0 {
			t.Errorf("%v: exit status %d, and %v and %v are left", signal, status, servers, files)
		}
	}
}

// openFolder is a temporary folder that other users may enter, as databases must.
func openFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "")
	if err == nil {
		err = os.Chmod(folder, 0o711)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

// until waits for something that happens elsewhere.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	limit := time.After(time.Minute)
	for tick := time.Tick(10 * time.Millisecond); !is(); {
		select {
		case <-tick:
		case <-limit:
			t.Fatal("in vain: " + what)
		}
	}
}

// serversIn are the processes that work below a folder.
func serversIn(folder string) (pids []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range all {
		if dir, err := os.Readlink(link); err == nil && strings.HasPrefix(dir, folder) {
			pids = append(pids, filepath.Base(filepath.Dir(link)))
		}
	}
	return pids
}

// left are the entries of a folder.
func left(folder string) []string {
	names, _ := filepath.Glob(filepath.Join(folder, "*"))
	return names
}
