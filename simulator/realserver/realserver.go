// Package realserver runs real servers: redis-servers (and ZooKeeper, MariaDB, PostgreSQL) on loopback ports in a folder of
// their own, with a clock that their user moves (Clock), and with a Gate on a connection
// between two of them. Package servertest runs one for the length of a test.
//
// Other users of the machine reach its loopback as well. So Redis, MariaDB and PostgreSQL ask for a password, which is in
// no command line. A ZooKeeper asks for none: the clients under test create znodes that are open to all. Other users
// can change these, and run no program by that.
//
// Nothing outlives its user: a shell beside each server reads from a pipe, and kills the
// server when the other end of the pipe is gone, whatever ended this process; one more
// removes the folder.
package realserver

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"locklab/simulator/i18n"
)

// IsMissing reports whether err is that a program is missing here: ErrNoRedis, ErrNoCompiler, ErrNoZooKeeper, ErrNoMariaDB or
// ErrNoPostgreSQL.
func IsMissing(err error) bool {
	return slices.ContainsFunc([]error{ErrNoRedis, ErrNoCompiler, ErrNoZooKeeper, ErrNoMariaDB, ErrNoPostgreSQL}, func(missing error) bool {
		return errors.Is(err, missing)
	})
}

// Password is that of all servers that this process starts.
var Password = rand.Text()

// secret writes a file into a folder for a server, which only its account reads.
func secret(dir, name, content string) (path string, err error) {
	path = filepath.Join(dir, name)
	return path, os.WriteFile(path, []byte(content), 0o600)
}

// A Process is a server that runs.
type Process struct {
	Addr string // HOST:PORT
	cmd  *exec.Cmd
	life io.Closer // the shell kills the server when this is closed
}

// Pid is the number of the process that keeps the server, its parent.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Kill ends the server as a crash does, and waits for its end.
func (p *Process) Kill() {
	p.life.Close()
	p.cmd.Wait() // it was killed
}

// supervised runs a script of the shell in a process group of its own, which Ctrl-C does not
// reach. The script reads from a pipe whose other end is life.
func supervised(script string, args, env []string) (cmd *exec.Cmd, life io.WriteCloser, err error) {
	cmd = exec.Command("sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), env...)
	life, err = cmd.StdinPipe()
	return cmd, life, err
}

// A Folder is a temporary folder, which is gone after Close or when this process ends.
type Folder struct {
	Path string
	Process
}

// NewFolder makes a folder.
func NewFolder() (*Folder, error) {
	// A server that is being killed may still write: again, for some seconds.
	cmd, life, err := supervised(`d=$(mktemp -d "$1/locklab-live-XXXXXX") || exit; echo "$d"; exec >&-; read end; for i in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$d" && exit; sleep 0.5; done 2>/dev/null`, []string{os.TempDir()}, nil)
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	f := &Folder{Process: Process{cmd: cmd, life: life}}
	path, err := io.ReadAll(stdout)
	if f.Path = strings.TrimSpace(string(path)); err != nil || f.Path == "" {
		f.Close()
		return nil, i18n.Errorf("error.live.folder", "folder", os.TempDir())
	}
	return f, nil
}

// Close removes the folder.
func (f *Folder) Close() { f.Kill() }

// freePort returns an address on loopback that was free just now.
func freePort() (addr, port string, err error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	addr = free.Addr().String()
	free.Close()
	_, port, err = net.SplitHostPort(addr)
	return addr, port, err
}

// start runs a server on a free loopback port, and returns it when it has printed
// a line with the words ready.
func start(ctx context.Context, name, ready string, env []string, command func(port string) []string) (*Process, error) {
	log := ""
	for range 5 { // another program may take the port that was just found free
		addr, port, err := freePort()
		if err != nil {
			return nil, err
		}
		p, said, err := run(ctx, ready, env, command(port))
		if err != nil {
			return nil, err
		}
		if p != nil {
			p.Addr = addr
			return p, nil
		}
		log = said
	}
	return nil, i18n.Errorf("error.live.start", "server", name, "log", log)
}

// run starts a server and returns it when it is ready; nil: it has ended before, and log
// is what it printed.
func run(ctx context.Context, ready string, env, command []string) (p *Process, log string, err error) {
	// The shell outlives neither: it reads until this end of the pipe is closed.
	cmd, life, err := supervised(`"$@" 2>&1 & exec >&- 2>&-; read end; kill -9 $!; wait`, command, env)
	if err != nil {
		return nil, "", err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	p = &Process{cmd: cmd, life: life}
	stop := context.AfterFunc(ctx, func() { life.Close() })
	var printed strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		fmt.Fprintln(&printed, lines.Text())
		if strings.Contains(lines.Text(), ready) && stop() {
			go io.Copy(io.Discard, stdout) // what it says later must not fill the pipe
			return p, printed.String(), nil
		}
	}
	p.Kill()
	return nil, printed.String(), ctx.Err()
}
