// Package realserver runs real servers: redis-servers (and ZooKeeper, MariaDB, PostgreSQL) on loopback ports in a
// folder of their own, with a clock that their user moves (Clock), and with a Gate on a connection
// between two of them. Package servertest runs one for the length of a test.
//
// Other users of the machine reach its loopback as well. So Redis, MariaDB and PostgreSQL ask for a password, which is
// in no command line, and ZooKeeper, whose client in Go knows no password that a server would refuse, asks for a
// certificate (ConnectZooKeeper).
//
// Nothing outlives its user: a shell beside each server reads from a pipe, and ends the
// server when the other end of the pipe is gone, whatever ended this process.
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

	"locklab/simulator/child"
	"locklab/simulator/i18n"
)

// A server, or something that it needs here, is missing: redis-server, a C compiler for its clock, java or Debian's
// package zookeeper, a database or the program that makes its first files.
var (
	ErrNoRedis      = i18n.Errorf("error.live.redis")
	ErrNoCompiler   = i18n.Errorf("error.live.compiler")
	ErrNoZooKeeper  = i18n.Errorf("error.live.zookeeper")
	ErrNoMariaDB    = i18n.Errorf("error.live.mariadb")
	ErrNoPostgreSQL = i18n.Errorf("error.live.postgresql")
)

// IsMissing reports whether err is one of the above.
func IsMissing(err error) bool {
	missing := []error{ErrNoRedis, ErrNoCompiler, ErrNoZooKeeper, ErrNoMariaDB, ErrNoPostgreSQL}
	return slices.ContainsFunc(missing, func(one error) bool { return errors.Is(err, one) })
}

// FindRedis returns the path of redis-server, or ErrNoRedis.
func FindRedis() ([]string, error) { return find(ErrNoRedis, "", "redis-server") }

// FindCompiler returns the path of a C compiler, or ErrNoCompiler.
func FindCompiler() ([]string, error) { return find(ErrNoCompiler, "", "cc") }

// FindMariaDB returns the paths of mariadbd and mariadb-install-db, or ErrNoMariaDB.
func FindMariaDB() ([]string, error) {
	return find(ErrNoMariaDB, "/usr/sbin", "mariadbd", "mariadb-install-db")
}

// FindPostgreSQL returns the paths of postgres and initdb, which Debian does not have on the path, or ErrNoPostgreSQL.
func FindPostgreSQL() ([]string, error) {
	return find(ErrNoPostgreSQL, "/usr/lib/postgresql/*/bin", "postgres", "initdb")
}

// FindZooKeeper returns the path of java, and those of the server, whose manifest names the rest, of what lets it say
// on stderr when it is ready, and of what its TLS needs beside; or ErrNoZooKeeper.
func FindZooKeeper() ([]string, error) {
	paths, err := find(ErrNoZooKeeper, "", "java")
	for _, name := range []string{"zookeeper", "slf4j-simple", "netty-codec"} {
		file := "/usr/share/java/" + name + ".jar"
		if _, missing := os.Stat(file); missing != nil {
			return nil, ErrNoZooKeeper
		}
		paths = append(paths, file)
	}
	return paths, err
}

// find returns the paths of programs, which are on the path or in the last folder of a pattern that has them.
func find(missing error, pattern string, programs ...string) (paths []string, err error) {
	folders, _ := filepath.Glob(pattern) // it is well formed
	for _, name := range programs {
		path, err := exec.LookPath(name)
		for i := len(folders) - 1; i >= 0 && err != nil; i-- {
			path, err = exec.LookPath(filepath.Join(folders[i], name))
		}
		if err != nil {
			return nil, missing
		}
		paths = append(paths, path)
	}
	return paths, nil
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

// A way is how a server is started and ended.
type way struct {
	name  string
	ready string // stands in a line that it prints when it serves
	end   string // the signal that ends it at once
	env   []string
}

// The signals. A server that quits writes nothing more, like one that is killed, but it ends its processes and gives
// back the memory that the system has for it.
const (
	kill = "KILL"
	quit = "QUIT"
)

// start runs a server on a free loopback port, and returns it when it serves.
func start(ctx context.Context, w way, command func(port string) []string) (*Process, error) {
	log := ""
	for range 5 { // another program may take the port that was just found free
		addr, port, err := freePort()
		if err != nil {
			return nil, err
		}
		p, said, err := run(ctx, w, command(port))
		if err != nil {
			return nil, err
		}
		if p != nil {
			p.Addr = addr
			return p, nil
		}
		log = said
	}
	return nil, i18n.Errorf("error.live.start", "server", w.name, "log", log)
}

// run starts a server and returns it when it is ready; nil: it has ended before, and log is what it printed.
func run(ctx context.Context, w way, command []string) (p *Process, log string, err error) {
	// The shell outlives neither: it reads until this end of the pipe is closed. SIGQUIT is sent until the server has
	// ended: one that has only begun ignores it, as all that a shell starts beside itself.
	cmd, life, err := child.Shell(`"$@" 2>&1 & p=$!; exec >&- 2>&-; read end
(while kill -`+w.end+` $p; do sleep 0.1; done) & wait $p; kill $!`, command, w.env)
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
		if strings.Contains(lines.Text(), w.ready) && stop() {
			go io.Copy(io.Discard, stdout) // what it says later must not fill the pipe
			return p, printed.String(), nil
		}
	}
	p.Kill()
	return nil, printed.String(), ctx.Err()
}
