package record_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locklab/simulator/effort"
	. "locklab/simulator/record"
	"locklab/simulator/verdict"
)

// pythonMain has threads contend for a lock of the process, in place of one of Redis.
const pythonMain = `
def work():
    for _ in range(100):
        guarded(Lock(), "k", lambda: time.sleep(0))
threads = [threading.Thread(target=work) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
`

const pythonLock = `
import sys, threading, types
redis = sys.modules["redis"] = types.ModuleType("redis")
redis.exceptions = types.SimpleNamespace(LockNotOwnedError=KeyError)
shared = threading.Lock()
class Lock:
    def acquire(self, blocking): return shared.acquire(blocking=blocking)
    def release(self): shared.release()
`

const javaMain = `
    interface RLock { String getName(); boolean tryLock(); void unlock(); }
    static class Lock extends java.util.concurrent.locks.ReentrantLock implements RLock {
        public String getName() { return "k"; }
    }
    public static void main(String[] args) throws Exception {
        RLock lock = new Lock();
        Runnable work = () -> { for (int i = 0; i < 100; i++) guarded(lock, Thread::yield); };
        Thread[] threads = new Thread[8];
        for (int i = 0; i < 8; i++) (threads[i] = new Thread(work)).start();
        for (Thread t : threads) t.join();
    }
}
`

// The programs shown for Python and Java run, and the log that threads share is read without a wrong line.
func TestExamplesRun(t *testing.T) {
	t.Parallel()
	imports := "import java.io.*; import java.net.*; import java.time.*; public class Example {\n"
	for _, example := range []struct{ file, text, with string }{
		{"example.py", pythonLock + Python + pythonMain, "python3"},
		{"Example.java", imports + Java + javaMain, "java"},
	} {
		t.Run(example.with, func(t *testing.T) {
			t.Parallel()
			with, err := exec.LookPath(example.with)
			effort.Need(t, err)
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, example.file), []byte(example.text), 0o600); err != nil {
				t.Fatal(err)
			}
			program := exec.Command(with, example.file)
			program.Dir = dir
			if out, err := program.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			logs, _ := filepath.Glob(filepath.Join(dir, "events-*.jsonl"))
			if len(logs) != 1 {
				t.Fatalf("the logs are %v", logs)
			}
			log, err := os.ReadFile(logs[0])
			if err != nil {
				t.Fatal(err)
			}
			r := judged(t, string(log))
			if r.Acquired == 0 || r.Open != 0 || r.Counts[verdict.Overlap] != 0 || strings.Count(string(log), "\n") != int(r.Lines) {
				t.Errorf("%+v", r)
			}
		})
	}
}
