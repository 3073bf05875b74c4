package record_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator/effort"
	. "locklab/simulator/record"
	"locklab/simulator/verdict"
)

// A fake is a lock in memory that says what it is told to.
type fake struct {
	taken *fakeLease
	fails error
}

type fakeLease struct {
	of    *fake
	says  error
	token uint64
}

func (f *fake) Acquire(context.Context, string) (lock.Lease, error) {
	if f.fails != nil {
		return nil, f.fails
	}
	f.taken = &fakeLease{of: f, token: 7}
	return f.taken, nil
}

func (f *fake) Await(ctx context.Context, key string, _ time.Duration) (lock.Lease, error) {
	return f.Acquire(ctx, key)
}

func (l *fakeLease) Release(context.Context) error { return l.says }
func (l *fakeLease) Renew(context.Context) error   { return l.says }
func (l *fakeLease) FencingToken() uint64          { return l.token }
func (l *fakeLease) Reports()                      {}

// What the user of a lock sees becomes lines that the judges read, and the lock is what it was.
func TestWrap(t *testing.T) {
	var out bytes.Buffer
	to := NewRecorder(&out)
	f := &fake{}
	s := Wrap(f, to, "c1")
	if _, queues := s.(lock.Queuer); !queues {
		t.Error("it cannot wait in line any more")
	}
	if Wrap(f, nil, "c1") != lock.Lock(f) {
		t.Error("without a recorder it is another lock")
	}
	ctx := t.Context()
	lease, err := s.Acquire(ctx, "k")
	if err != nil {
		t.Fatal(err)
	}
	if fencer, ok := lock.As[lock.Fencer](lease); !ok || fencer.FencingToken() != 7 {
		t.Error("the token is lost")
	}
	renewer, ok := lock.As[lock.Renewer](lease)
	if !ok {
		t.Fatal("it cannot be renewed any more")
	}
	for _, says := range []error{nil, lock.ErrNotHeld, errors.New("timeout")} {
		f.taken.says = says
		if err := renewer.Renew(ctx); err != says {
			t.Errorf("%v becomes %v", says, err)
		}
	}
	if err := lease.Release(ctx); err != f.taken.says {
		t.Error(err)
	}
	f.fails = lock.ErrNotAcquired
	if _, err := s.(lock.Queuer).Await(ctx, "k", time.Second); err != lock.ErrNotAcquired {
		t.Error(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		l, err := Parse([]byte(line))
		if err != nil || l.Client != "c1" || l.Key != "k" || l.From.Known == (l.Event == Leaving) {
			t.Errorf("%s: %v", line, err)
		}
		word := string(l.Event)
		if l.OK != nil {
			word += map[bool]string{true: " yes", false: " no"}[*l.OK]
		}
		got = append(got, word)
	}
	if want := "acquired, renewed yes, renewed no, leaving, released, refused"; strings.Join(got, ", ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	if r := judged(t, out.String()); r.Verdicts[0] != verdict.Holds || r.Acquired != 1 {
		t.Errorf("%+v", r)
	}
}

// A line that no reader takes is an error of its writer.
func TestRecorderRefuses(t *testing.T) {
	to := NewRecorder(&bytes.Buffer{})
	to.Record(Line{Event: Acquired, Key: "k"})
	if err := to.Close(); err == nil || !strings.Contains(err.Error(), "client") {
		t.Error(err)
	}
}

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
	effort.OnlyPushed(t, "it runs programs")
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
			if r.Acquired == 0 || r.Open != 0 || r.Counts[verdict.Overlap] != 0 ||
				strings.Count(string(log), "\n") != int(r.Lines) {
				t.Errorf("%+v", r)
			}
		})
	}
}
