package main

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"locklab/reports/text"
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
	needLive(t)
	servertest.NeedZooKeeper(t)
	servertest.NeedDatabases(t)
	for name, args := range map[string]string{"live.txt": "live run token failover", "live.zookeeper.txt": "live run zk-naive waiter-dies --lang both", "live.database.txt": "live run db-for-update slow-work --lang both", "live.zh.txt": "live run delifeq clock-jump --lang zh"} {
		code, out, errs := call(t, strings.Fields(args)...)
		if want := map[string]int{"live.zh.txt": exitNoAnswer}[name]; code != want || errs != "" { // it cannot be shown
			t.Errorf("%s: exit status %d, want %d, %s", args, code, want, errs)
		}
		golden(t, name, []byte(serverVersion.ReplaceAllString(out, "VERSION")))
	}
}

// A table of two cells, its file, and the same as JSON.
func TestLiveMatrix(t *testing.T) {
	needLive(t)
	file := filepath.Join(t.TempDir(), "live.csv")
	code, out, errs := call(t, "live", "matrix", "--strategies", "token,zk-mutex", "--scenarios", "restart,R25,R42", "--rounds", "2", "-o", file)
	if code != exitOK || !strings.Contains(errs, "live.csv") {
		t.Errorf("exit status %d, %s", code, errs)
	}
	golden(t, "live.matrix.txt", []byte(serverVersion.ReplaceAllString(out, "VERSION")))
	content, err := os.ReadFile(file)
	if rows := strings.Count(string(content), "\n"); err != nil || rows != 4 || !strings.Contains(string(content), "token,restart,OVERLAP STALE-WRITE,OVERLAP STALE-WRITE,true,0,") {
		t.Errorf("%v: %s", err, content)
	}
	code, out, _ = call(t, "live", "run", "token", "restart", "--json")
	var j struct {
		Agrees  bool
		Servers int
		Answers int
	}
	if err := json.Unmarshal([]byte(out), &j); err != nil || code != exitOK || !j.Agrees || j.Servers != 2 || j.Answers == 0 {
		t.Errorf("%v, exit status %d: %s", err, code, out)
	}
}

// A ZooKeeper that runs already is used, by an empty PATH as well, and keeps nothing of it.
func TestLiveGiven(t *testing.T) {
	addr := servertest.ZooKeeper(t, t.TempDir())
	t.Setenv("PATH", "")
	if code, out, errs := call(t, "live", "run", "zk-recheck", "lost-create", "--zookeeper", addr); code != exitOK || !strings.Contains(out, "They agree") {
		t.Errorf("exit status %d, %s%s", code, out, errs)
	}
	conn, _, err := zk.Connect([]string{addr}, 10*time.Second, zk.WithLogInfo(false))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	names, _, err := conn.Children("/")
	if err != nil || len(names) != 1 || names[0] != "zookeeper" {
		t.Errorf("it still has %q, %v", names, err)
	}
}

// On a Redis that runs already a run agrees, keeps what others have there, and leaves nothing, when it is interrupted
// neither. What that server cannot do has its reason.
func TestLiveRedis(t *testing.T) {
	addr := servertest.Redis(t, "--requirepass", "secret")
	url := "redis://:secret@" + addr + "/"
	given, err := realserver.ParseRedis(url + "3")
	if err != nil {
		t.Fatal(err)
	}
	w, err := given.Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	size := func() any {
		n, err := w.Do("DBSIZE")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, run := range []struct {
		args string
		code int
		want string
	}{
		{"setnx crash-holding --redis " + url + "3", exitOK, "They agree"},
		{"setnx calm --lang zh --redis " + url + "3", exitOK, "时间没有缩放"},
		{"token restart --redis " + url + "3", exitNoAnswer, "leave out --redis"},
		{"token failover --redis " + url + "3", exitNoAnswer, "it needs replicas"},
		{"token flush --redis " + url + "3", exitNoAnswer, "FLUSHALL"},
		{"token failover --json --redis " + url + "3", exitNoAnswer, "not_shown"},
		{"token calm --redis " + url + "3 --lease 1s", exitUsage, "--lease 1s: with --redis nothing is scaled"},
		{"token calm --redis " + addr, exitUsage, "--redis " + addr + " cannot be used: NOAUTH"},
		{"token calm --redis redis://:wrong@" + addr, exitUsage, "--redis " + addr + " cannot be used: WRONGPASS"},
		{"token calm --redis here", exitUsage, "--redis here: give HOST:PORT or redis://HOST:PORT/DB"},
		{"token calm --redis " + url + "3," + url + "4", exitUsage, addr + "/4: this is the same server as " + addr + "/3"},
		{"redlock calm --redis " + url, exitUsage, "--redis names 1, and this run has 5"},
		{"zk-mutex calm --redis " + url, exitUsage, "zk-mutex locks on a ZooKeeper"},
		{"token calm --redis 127.0.0.1:1", exitUsage, "--redis 127.0.0.1:1 cannot be used"},
	} {
		code, out, errs := call(t, append([]string{"live", "run"}, strings.Fields(run.args)...)...)
		if code != run.code || !strings.Contains(strings.Join(strings.Fields(out+errs), " "), run.want) || strings.Contains(out+errs, "secret") || strings.Contains(out+errs, "wrong@") {
			t.Errorf("%s: exit status %d, %s%s", run.args, code, out, errs)
		}
		if n := size(); n != 0 {
			t.Fatalf("%s leaves %v keys", run.args, n)
		}
	}
	if _, err := w.Do("SET", "theirs", "1"); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := call(t, "live", "run", "setnx", "calm", "--redis", url+"3"); code != exitUsage || !strings.Contains(errs, "not empty (keys: 1, one is theirs)") || size() != 1 {
		t.Errorf("exit status %d, %s", code, errs)
	}
	if _, err := w.Do("DEL", "theirs"); err != nil {
		t.Fatal(err)
	}
	p := program(t, "live", "run", "token", "gc-pause", "--redis", url+"3")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the lock is there", func() bool { return size() == 1 })
	if err := p.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if status := statusOf(t, p.Wait()); status != exitNoAnswer || size() != 0 {
		t.Errorf("exit status %d, and %v keys are left", status, size())
	}
}

// TestLiveRedisOfOthers: nothing is published that somebody else might get, and before scripts are
// left in a cache that is said, with their number.
func TestLiveRedisOfOthers(t *testing.T) {
	if !effort.Watched {
		effort.OnlyExhaustive(t, "it takes seconds")
	}
	addr := servertest.Redis(t)
	listener, err := realserver.AddressOf(addr).Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if v, err := listener.Do("PSUBSCRIBE", "*"); err != nil {
		t.Fatal(v, err)
	}
	args := []string{"live", "run", "watchdog", "calm", "--redis", "redis://" + addr + "/9", "--width", "1000"}
	for lang, want := range map[string]string{"en": "somebody has subscribed to patterns (PSUBSCRIBE, patterns: 1)", "zh": "有人用 PSUBSCRIBE 订阅了模式（1 个）"} {
		if code, out, errs := call(t, append(args, "--lang", lang)...); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("exit status %d, %s%s", code, out, errs)
		}
	}
	if next, err := listener.Do("PING"); err != nil || fmt.Sprint(next) != "[pong ]" {
		t.Errorf("it was sent %v, %v", next, err)
	}
	listener.Close()
	w, err := realserver.AddressOf(addr).Dial()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	until(t, "nobody listens", func() bool {
		n, err := w.Do("PUBSUB", "NUMPAT")
		return err == nil && n == 0
	})
	code, _, errs := call(t, args...)
	info, err := w.Do("INFO", "memory")
	scripts := regexp.MustCompile(`number_of_cached_scripts:(\d+)`).FindStringSubmatch(fmt.Sprint(info))
	if err != nil || scripts == nil || scripts[1] == "0" {
		t.Fatalf("%v, %v", info, err)
	}
	if want := text.Say("en", "live.scripts", "n", scripts[1]); code != exitOK || strings.TrimSpace(errs) != want {
		t.Errorf("exit status %d, %q, want %q", code, errs, want)
	}
}

// A Redis that speaks TLS is used as well, if its certificate is known. If not, that is told in one line.
func TestLiveRedisTLS(t *testing.T) {
	servertest.NeedRedis(t)
	_, cert, key := selfSigned(t)
	url := "rediss://:secret@" + servertest.RedisTLS(t, cert, key, "--requirepass", "secret")
	for _, run := range []struct {
		authorities string
		code        int
		want        string
	}{{cert, exitOK, "They agree"}, {key, exitUsage, "certificate signed by unknown authority"}} {
		p := program(t, "live", "run", "setnx", "calm", "--redis", url)
		p.Env = append(p.Env, "SSL_CERT_FILE="+run.authorities, "SSL_CERT_DIR="+t.TempDir())
		said, err := p.CombinedOutput()
		if code := statusOf(t, err); code != run.code || !strings.Contains(strings.Join(strings.Fields(string(said)), " "), run.want) || strings.Contains(string(said), "connection pool") || strings.Contains(string(said), "secret") {
			t.Errorf("exit status %d: %s", code, said)
		}
	}
}

// Wrong use, and a machine without redis-server, end with status 2 and say what to do.
func TestLiveRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"live nonsense":                                  `live nonsense`,
		"live run token":                                 `needs a lock and a race`,
		"live run nolock failover":                       `nolock`,
		"live run token norace":                          `norace`,
		"live run token failover --lease 1ms":            `--lease 1ms: give 50ms to 10s`,
		"live replay nothing":                            `nothing`,
		"live matrix --strategies token -o live.png":     `-o live.png: write FILE.csv`,
		"live matrix --rounds 0":                         `--rounds 0: give 1 to 1000`,
		"live verify --rounds 1001":                      `--rounds 1001: give 1 to 1000`,
		"live run zk-mutex calm --zookeeper here":        `--zookeeper here: give HOST:PORT`,
		"live run token calm --zookeeper 127.0.0.1:1":    `token locks on a Redis`,
		"live run zk-mutex calm --zookeeper 127.0.0.1:1": `127.0.0.1:1 cannot be used`,
		"live run db-row calm --redis 127.0.0.1:1":       `db-row locks in a database`,
		"live run db-row calm --zookeeper 127.0.0.1:1":   `leave out --redis and --zookeeper`,
		"live verify extra":                              `extra`,
	} {
		if code, out, errs := call(t, strings.Fields(args)...); code != exitUsage || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: exit status %d, %s%s", args, code, out, errs)
		}
	}
	only := t.TempDir()
	if sh, err := exec.LookPath("sh"); err != nil || os.Symlink(sh, filepath.Join(only, "sh")) != nil {
		t.Fatal("the package dash is missing: there is no sh")
	}
	for _, tool := range []string{"rm", "mktemp"} {
		path, err := exec.LookPath(tool)
		if err != nil || os.Symlink(path, filepath.Join(only, tool)) != nil {
			t.Fatal("the package coreutils is missing: there is no " + tool)
		}
	}
	t.Setenv("PATH", only)
	for _, args := range []string{"live run token failover", "live contend", "live sentinel"} {
		if code, _, errs := call(t, strings.Fields(args)...); code != exitUsage || !strings.Contains(errs, "install the package redis-server") {
			t.Errorf("%s: exit status %d, %s", args, code, errs)
		}
	}
}

// Whatever ends the program, no server and no file outlives it: when it is asked to stop, at once, and
// when it is killed, soon.
func TestLiveLeavesNothing(t *testing.T) {
	needLive(t)
	servertest.NeedZooKeeper(t)
	servertest.NeedDatabases(t)
	for _, run := range []struct {
		signal     syscall.Signal
		args, sign string // a pattern of what is there when a server of the run is
	}{
		{syscall.SIGTERM, "live run setnx crash-holding --lease 10s", "*/server-*"}, {syscall.SIGINT, "live run setnx crash-holding --lease 10s", "*/server-*"}, {syscall.SIGKILL, "live run setnx crash-holding --lease 10s", "*/server-*"},
		{syscall.SIGTERM, "live matrix --families line", "*/zookeeper/zoo.cfg"},
		{syscall.SIGTERM, "live matrix --families named", "*/data/postmaster.pid"}, {syscall.SIGKILL, "live matrix --families rows", "*/data/postmaster.pid"},
	} {
		t.Log(run.args)
		signal, tmp := run.signal, openFolder(t)
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
	limit := time.After(20 * time.Second)
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
