package realserver

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"

	"locklab/simulator/child"
	"locklab/simulator/i18n"
)

// ErrNoMariaDB and ErrNoPostgreSQL are that a server, or the program that makes its first files, is missing.
var (
	ErrNoMariaDB    = i18n.Errorf("error.live.mariadb")
	ErrNoPostgreSQL = i18n.Errorf("error.live.postgresql")
)

// postgresFolders are where Debian has PostgreSQL's programs, which are not on the path.
const postgresFolders = "/usr/lib/postgresql/*/bin"

// find returns the paths of programs, which are on the path or in one of some folders.
func find(missing error, folders []string, programs ...string) (paths []string, err error) {
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

// FindMariaDB returns the paths of mariadbd and mariadb-install-db; without one the error is ErrNoMariaDB.
func FindMariaDB() (paths []string, err error) {
	return find(ErrNoMariaDB, []string{"/usr/sbin"}, "mariadbd", "mariadb-install-db")
}

// FindPostgreSQL returns the paths of postgres and initdb; without one the error is ErrNoPostgreSQL.
func FindPostgreSQL() (paths []string, err error) {
	folders, _ := filepath.Glob(postgresFolders) // the pattern is well formed
	return find(ErrNoPostgreSQL, folders, "postgres", "initdb")
}

// as is a command that runs another one as a user, if this process is root, under which PostgreSQL does not run.
// The user owns dir then, and has its temporary files there.
func as(user, dir string) ([]string, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	if out, err := exec.Command("chown", "-R", user, dir).CombinedOutput(); err != nil {
		return nil, i18n.Errorf("error.live.start", "server", "chown", "log", string(out))
	}
	return []string{"env", "TMPDIR=" + dir, "setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups", "--"}, nil
}

// runTool runs a program of a server to its end, unless there is what it makes.
func runTool(ctx context.Context, makes string, command ...string) error {
	if _, err := os.Stat(makes); err == nil {
		return nil
	}
	var log bytes.Buffer
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdout, c.Stderr = &log, &log
	if err := child.Run(c); err != nil {
		return i18n.Errorf("error.live.start", "server", filepath.Base(command[0]), "log", log.String())
	}
	return nil
}

// StartMariaDB runs a MariaDB on a free loopback port, with dir, in a folder that other users may enter, for its files. Its user root
// has the Password, and its database test is empty, unless a server that was killed has left files in dir. With a clock, it waits for clients by
// that.
func StartMariaDB(ctx context.Context, dir string, clock *Clock) (*Process, error) {
	paths, err := FindMariaDB()
	if err != nil {
		return nil, err
	}
	// The accounts that come with the files are the system's; that of this process comes with the server.
	account := "root@127.0.0.1"
	begin, err := secret(dir, "begin.sql", "CREATE DATABASE IF NOT EXISTS test;\n"+
		"CREATE USER IF NOT EXISTS "+account+" IDENTIFIED BY '"+Password+"';\n"+
		"GRANT ALL ON *.* TO "+account+" WITH GRANT OPTION;\n")
	if err != nil {
		return nil, err
	}
	user, err := as("mysql", dir)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if err := runTool(ctx, data, append(user, paths[1], "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=socket", "--skip-test-db")...); err != nil {
		return nil, err
	}
	return start(ctx, way{"mariadbd", "ready for connections", kill, clock.waits()}, func(port string) []string {
		return append(user, paths[0], "--no-defaults", "--datadir="+data, "--bind-address=127.0.0.1", "--port="+port,
			"--socket="+filepath.Join(dir, "s"), "--skip-name-resolve", "--init-file="+begin, "--innodb-buffer-pool-size=8M", "--innodb-log-file-size=4M", "--innodb-flush-log-at-trx-commit=2")
	})
}

// StartPostgreSQL runs a PostgreSQL on a free loopback port, with dir, in a folder that other users may enter, for its files, and
// further settings NAME=VALUE. Its user postgres has the Password, and its database postgres, in the order of bytes, is empty, unless a
// server that was killed has left files in dir. With a clock, that is its time of day.
func StartPostgreSQL(ctx context.Context, dir string, clock *Clock, settings ...string) (*Process, error) {
	paths, err := FindPostgreSQL()
	if err != nil {
		return nil, err
	}
	password, err := secret(dir, "password", Password)
	if err != nil {
		return nil, err
	}
	user, err := as("postgres", dir)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if err := runTool(ctx, data, append(user, paths[1], "-D", data, "-U", "postgres", "-A", "scram-sha-256", "--pwfile="+password, "-N", "-E", "UTF8", "--locale=C")...); err != nil {
		return nil, err
	}
	return start(ctx, way{"postgres", "ready to accept connections", quit, clock.env()}, func(port string) []string {
		command := append(user, paths[0], "-D", data, "-k", "", "-p", port)
		for _, s := range append([]string{"listen_addresses=127.0.0.1", "fsync=off"}, settings...) {
			command = append(command, "-c", s)
		}
		return command
	})
}
