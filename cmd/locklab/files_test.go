//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9/logging"

	"locklab/simulator/effort"
)

// asProgram makes the test binary the program itself, for what only a process shows:
// signals, closed pipes and devices.
const asProgram = "LOCKLAB_TEST_AS_PROGRAM"

// statusFile names the file into which the program then writes what the system says of its
// process at the end: the memory that wait reports includes that of the process that
// started it.
const statusFile = "LOCKLAB_TEST_STATUS"

func TestMain(m *testing.M) {
	logging.Disable() // as main does
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	if limit := os.Getenv(fileLimit); limit != "" {
		limitFiles(limit)
	}
	ctx := untilStopped()
	if os.Getenv(tellsReady) != "" {
		os.NewFile(3, "ready").Close()
	}
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	if name := os.Getenv(statusFile); name != "" {
		status, err := os.ReadFile("/proc/self/status")
		if err == nil {
			err = os.WriteFile(name, status, 0o600)
		}
		if err != nil {
			panic(err)
		}
	}
	os.Exit(code)
}

// peak runs a program and returns its exit status and the most memory that it had, in MB.
func peak(t *testing.T, c *exec.Cmd) (code, megabytes int) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "status")
	c.Env = append(c.Env, statusFile+"="+name)
	code = statusOf(t, c.Run())
	_, rest, _ := strings.Cut(contentOf(t, name), "VmHWM:")
	if _, err := fmt.Sscanf(rest, "%d", &megabytes); err != nil {
		t.Fatal(err)
	}
	return code, megabytes >> 10
}

// program returns a process of the program that is not started yet.
func program(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = append(os.Environ(), asProgram+"=1", "LANG=C", "LC_ALL=C")
	return c
}

// statusOf returns the exit status of a process that has ended; -1: a signal ended it.
func statusOf(t *testing.T, err error) int {
	t.Helper()
	failed := (*exec.ExitError)(nil)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &failed):
		return failed.ExitCode()
	}
	t.Fatal(err)
	return 0
}

func fifo(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pipe.json")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// A small contract, as contracted.
const promise = "[gc-pause]\ntoken OVERLAP STALE-WRITE\n"

// A link stays a link, and the file that it names is written. What is no regular file is refused, and stays.
func TestOutputsAreRegularFiles(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(fileWith(t, "older", dir, "there.json"), link); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := call(t, "run", "token", "R18", "-o", link); code != exitOK {
		t.Fatal(code, errs)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if text := contentOf(t, dir, "there.json"); !strings.Contains(text, `"version"`) {
		t.Errorf("%.40q", text)
	}
	nowhere := filepath.Join(dir, "nowhere.json")
	if err := os.Symlink("absent.json", nowhere); err != nil {
		t.Fatal(err)
	}
	device := filepath.Join(dir, "device.json")
	if err := os.Symlink(os.DevNull, device); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{fifo(t), nowhere, device} {
		code, _, errs := call(t, "run", "token", "R18", "-o", name)
		if code != exitUsage || !strings.Contains(errs, name+": cannot write there: it is no regular file") {
			t.Errorf("-o %s: exit status %d: %s", name, code, errs)
		}
		code, _, errs = call(t, "verify", "--contract", contractFile(t, promise), "--summary", name)
		if code != exitUsage || !strings.Contains(errs, "it is no regular file") {
			t.Errorf("--summary %s: exit status %d: %s", name, code, errs)
		}
	}
	for _, args := range [][]string{{"run", fifo(t)}, {"merge", fifo(t)}, {"verify", "--contract", fifo(t)}} {
		if code, _, errs := call(t, args...); code != exitUsage || !strings.Contains(errs, "is no regular file") {
			t.Errorf("%v: exit status %d: %s", args, code, errs)
		}
	}
}

// A summary is added to what the file has: every step of a job writes its part.
func TestSummaryAppends(t *testing.T) {
	file := fileWith(t, "# an earlier step\n", t.TempDir(), "summary.md")
	callIn(t, promise, "verify", "--contract", "contract.txt", "--summary", file)
	if text := contentOf(t, file); !strings.HasPrefix(text, "# an earlier step\n## locklab verify") {
		t.Errorf("%.80q", text)
	}
}

// Places where nothing can be written are found before anything is played, by every
// command, and no message has the name of a temporary file.
func TestOutputsAreCheckedFirst(t *testing.T) {
	occupied := fileWith(t, "mine", t.TempDir(), "occupied")
	folder := t.TempDir() // as a file's name
	if err := os.Mkdir(folder+"/x.json", 0o755); err != nil {
		t.Fatal(err)
	}
	absent := filepath.Join(t.TempDir(), "absent")
	link := link(t)
	for _, place := range []string{"/proc/none/here", "/proc", occupied, absent} {
		for _, command := range []string{
			"run token R18 -o PLACE/x.html", "run LINK -o PLACE/x.json", "run LINK -o PLACE/x.png",
			"run token R18 -o FOLDER/x.json", "explore token --budget pause=2 -o PLACE/x.json",
			"explore token -o PLACE/x.svg", "matrix -o PLACE/x/", "lesson token -o PLACE/x.html",
			"chart sweep pause/ttl -o PLACE/x.png",
			"chart par -o PLACE/x.csv", "chart tolerance -o PLACE/x.csv", "chart rate -o PLACE/x.csv",
			"chart recovery -o PLACE/x.csv", "verify --junit PLACE/x.xml", "verify --summary PLACE/x.md",
		} {
			args := strings.Fields(strings.NewReplacer("PLACE", place, "LINK", link, "FOLDER", folder).Replace(command))
			code, out, errs := call(t, args...)
			if code != exitUsage || out != "" || !strings.Contains(errs, args[len(args)-1]+": cannot write there") ||
				strings.Contains(errs, "/.x") {
				t.Errorf("%v: exit status %d: %s%s", args, code, errs, out)
			}
		}
	}
	if contentOf(t, occupied) != "mine" {
		t.Error("the file that was there is damaged")
	}
	if _, err := os.Stat(absent); err == nil {
		t.Error("a folder was made")
	}
}

// Every signal that asks the program to stop ends it with status 3, also while it waits for a log.
func TestStoppedWhileReading(t *testing.T) {
	hangUp := make(chan os.Signal, 1)
	signal.Notify(hangUp, syscall.SIGHUP) // what starts does not inherit that nohup has this signal ignored
	defer signal.Stop(hangUp)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		pipe := fifo(t)
		c := program(t, "judge", pipe)
		var errs bytes.Buffer
		c.Stderr = &errs
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits until the program reads
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		if code := statusOf(t, c.Wait()); code != exitNoAnswer || !strings.Contains(errs.String(), "stopped") {
			t.Errorf("%v: exit status %d: %s", s, code, errs.String())
		}
		writer.Close()
	}
}

// SIGTERM ends a search as Ctrl-C does: with what it has covered, and status 3.
func TestStoppedSearch(t *testing.T) {
	ctx := untilStopped()
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	code, out, errs := callWith(ctx, "", "explore", "token")
	if code != exitNoAnswer || !strings.Contains(out, "The search was cut short") {
		t.Errorf("exit status %d: %s\n%s", code, errs, out)
	}
}

// The program stays within a tenth of --max-memory, and a search that would need more is given up with the setting
// that gets further.
func TestKeepsToMemory(t *testing.T) {
	effort.OnlyExhaustive(t, "it fills its memory; TestVerify of package contract searches on all cores")
	const most, bounds = 100, "--clients 3 --nodes 3 --budget crash=1,restart=1 --max-states 0"
	file := contractFile(t, "[search clients=3 nodes=3 budget=crash=1,restart=1 max-states=100000000]\nredlock HOLDS\n")
	for args, says := range map[string]string{
		"explore redlock " + bounds: "--max-memory 200 gets about twice as far",
		"verify --contract " + file: "cut short by --max-memory",
	} {
		c := program(t, append(strings.Fields(args), "--max-memory", fmt.Sprint(most))...)
		var said bytes.Buffer
		c.Stdout, c.Stderr = &said, &said
		code, used := peak(t, c)
		if code == exitOK || !strings.Contains(said.String(), says) {
			t.Errorf("%s: exit status %d: %s", args, code, said.String())
		}
		if used > most*11/10 || used < most/2 {
			t.Errorf("%s: %d MB were used of %d", args, used, most)
		}
	}
}
