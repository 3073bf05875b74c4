// Package realserver runs a real redis-server for the length of a test. It is for
// tests only.
package realserver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Start runs a redis-server on a free loopback port, which keeps nothing on disk,
// and returns its address. The options are further ones of its command line.
// Without redis-server on the path the test is skipped, or fails where the
// environment says CI=true.
//
// The server ends with the test, or with the test's process, whatever ends that:
// a shell kills it when the pipe from here closes.
func Start(t testing.TB, options ...string) string {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatal("redis-server is not on PATH: install the package redis-server")
	case err != nil:
		t.Skip("redis-server is not on PATH: install the package redis-server")
	}
	var talk string
	for range 5 { // somebody may take the port that was just found free
		addr, said, ready := try(t, binary, options)
		if ready {
			return addr
		}
		talk = said
	}
	t.Fatalf("redis-server does not start; it says:\n%s", talk)
	return ""
}

// try starts a server and reads its log until it is ready or has ended.
func try(t testing.TB, binary string, options []string) (addr, said string, ready bool) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr = free.Addr().String()
	free.Close()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{binary,
		"--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", t.TempDir()}, options...)
	said, ready = Process(t, "Ready to accept connections", args...)
	return addr, said, ready
}

// Process starts a server that is killed when the test ends, or its process does,
// and says whether it has printed a line with the word ready, and what it printed
// until then.
func Process(t testing.TB, ready string, command ...string) (log string, ok bool) {
	t.Helper()
	// The shell outlives neither: it reads until the test's end of the pipe is closed.
	args := append([]string{"-c", `"$@" 2>&1 & exec >&- 2>&-; read end; kill -9 $!; wait`, "sh"}, command...)
	cmd := exec.Command("sh", args...)
	life, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		life.Close()
		cmd.Wait() // it was killed: that is no news
	})
	var printed strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		fmt.Fprintln(&printed, lines.Text())
		if strings.Contains(lines.Text(), ready) {
			go io.Copy(io.Discard, stdout) // what it says later must not fill the pipe
			return printed.String(), true
		}
	}
	return printed.String(), false
}
