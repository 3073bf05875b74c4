package child

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// parentVariable has this program run the test as what ends.
const parentVariable = "LOCKLAB_TEST_PARENT"

// family is a program that has started another one, and runs for long.
const family = `sleep 1000 & echo started; exec sleep 1000`

// TestEndsWithParent: when a process is killed, what it has started ends, and what that has started: all that could
// still write to their common output. Its folder goes as well.
func TestEndsWithParent(t *testing.T) {
	if os.Getenv(parentVariable) != "" {
		f, err := NewFolder()
		if err != nil {
			t.Fatal(err)
		}
		os.Stdout.WriteString(f.Path + "\n")
		c := exec.Command("sh", "-c", family)
		c.Stdout = os.Stdout
		t.Fatal(Run(c))
	}
	parent := exec.Command(os.Args[0], "-test.run=^TestEndsWithParent$")
	parent.Env = append(os.Environ(), parentVariable+"=1")
	out, err := parent.StdoutPipe()
	if err == nil {
		err = parent.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	folder, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if line, err := lines.ReadString('\n'); line != "started\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(time.Minute, func() { out.Close() }).Stop()
	if _, err := io.ReadAll(lines); err != nil {
		t.Errorf("something has not ended: %v", err)
	}
	parent.Wait() // it was killed
	late := time.After(time.Minute)
	for is := true; is; {
		_, err := os.Stat(strings.TrimSpace(folder))
		select {
		case <-late:
			t.Fatalf("%s is left", folder)
		case <-time.Tick(10 * time.Millisecond):
			is = !errors.Is(err, os.ErrNotExist)
		}
	}
}

// TestEndsWithContext: likewise when its context ends.
func TestEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := exec.CommandContext(ctx, "sh", "-c", family)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Start(c); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); line != "started\n" {
		t.Fatalf("%q, %v", line, err)
	}
	cancel()
	if _, err := io.ReadAll(lines); err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err == nil {
		t.Error("it has come to its end")
	}
}

// TestRun: a program is what it would be without this: its folder, files, output and status are its own.
func TestRun(t *testing.T) {
	reads, writes, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reads.Close()
	dir, err := os.MkdirTemp("", "child")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var out strings.Builder
	c := exec.Command("sh", "-c", `pwd; echo "$1"; echo three >&3; echo nothing 2>/dev/null >&4; exit 7`, "sh", "a 'b'")
	c.Dir, c.Stdout, c.ExtraFiles = dir, &out, []*os.File{writes}
	end, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	writes.Close()
	three, err := io.ReadAll(reads) // to its end, which is that of the program
	if string(three) != "three\n" {
		t.Errorf("%q, %v", three, err)
	}
	err = c.Wait()
	status := (*exec.ExitError)(nil)
	if !errors.As(err, &status) || status.ExitCode() != 7 || out.String() != dir+"\na 'b'\n" {
		t.Errorf("%v, %q", err, out.String())
	}
	if err := Run(exec.Command("no-such-program")); !errors.Is(err, exec.ErrNotFound) {
		t.Error(err)
	}
}
