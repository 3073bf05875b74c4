// Package realserver runs a real redis-server or a real ZooKeeper for the length of a
// test. It is for tests only.
package realserver

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"
)

// start runs a server on a free loopback port and returns its address. It ends with
// the test, or with the test's process, whatever ends that: a shell kills it when
// the pipe from here closes.
func start(t testing.TB, name, ready string, command func(port string) []string) (addr string) {
	t.Helper()
	log := ""
	for range 5 { // another program may take the port that was just found free
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
		var ok bool
		if log, ok = run(t, ready, command(port)); ok {
			return addr
		}
	}
	t.Fatalf("%s does not start; it says:\n%s", name, log)
	return ""
}

// run starts a server that is killed when the test ends, or its process does, and
// says whether it has printed a line with the words ready, and what it printed until
// then.
func run(t testing.TB, ready string, command []string) (log string, ok bool) {
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
		cmd.Wait() // it was killed
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
