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

// StartMariaDB runs a MariaDB on a free loopback port, with dir, in a folder that other users may enter, for its
// files. Its user root has the Password, and its database test is empty, unless a server that was killed has left files
// in dir. With a clock, it waits for clients by that.
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
	data := filepath.Join(dir, "data")
	user, err := firstFiles(ctx, "mysql", dir, data,
		paths[1], "--no-defaults", "--datadir="+data, "--auth-root-authentication-method=socket", "--skip-test-db")
	if err != nil {
		return nil, err
	}
	ready := "ready for connections"
	return start(ctx, way{"mariadbd", ready, kill, clock.waits()}, func(port string) []string {
		return append(user, paths[0], "--no-defaults", "--datadir="+data, "--init-file="+begin,
			"--bind-address=127.0.0.1", "--port="+port, "--socket="+filepath.Join(dir, "s"), "--skip-name-resolve",
			"--innodb-buffer-pool-size=8M", "--innodb-log-file-size=4M", "--innodb-flush-log-at-trx-commit=2")
	})
}

// StartPostgreSQL runs a PostgreSQL on a free loopback port, with dir, in a folder that other users may enter, for its
// files, and further settings NAME=VALUE. Its user postgres has the Password, and its database postgres, in the order
// of bytes, is empty, unless a server that was killed has left files in dir. With a clock, that is its time of day.
func StartPostgreSQL(ctx context.Context, dir string, clock *Clock, settings ...string) (*Process, error) {
	paths, err := FindPostgreSQL()
	if err != nil {
		return nil, err
	}
	password, err := secret(dir, "password", Password)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	user, err := firstFiles(ctx, "postgres", dir, data,
		paths[1], "-D", data, "-U", "postgres", "-A", "scram-sha-256", "--pwfile="+password,
		"-N", "-E", "UTF8", "--locale=C")
	if err != nil {
		return nil, err
	}
	ready := "ready to accept connections"
	return start(ctx, way{"postgres", ready, quit, clock.env()}, func(port string) []string {
		command := append(user, paths[0], "-D", data, "-k", "", "-p", port)
		for _, s := range append([]string{"listen_addresses=127.0.0.1", "fsync=off"}, settings...) {
			command = append(command, "-c", s)
		}
		return command
	})
}

// firstFiles has a tool make what it makes in dir, unless that is there. It returns how a command begins that runs as a
// user if this process is root, under which PostgreSQL does not run. The user then owns dir, with its temporary files.
func firstFiles(ctx context.Context, user, dir, made string, tool ...string) (as []string, err error) {
	if os.Getuid() == 0 {
		if out, err := exec.Command("chown", "-R", user, dir).CombinedOutput(); err != nil {
			return nil, i18n.Errorf("error.live.start", "server", "chown", "log", string(out))
		}
		as = []string{"env", "TMPDIR=" + dir, "setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups", "--"}
	}
	if _, err := os.Stat(made); err == nil {
		return as, nil
	}
	command := append(as, tool...)
	c, log := exec.CommandContext(ctx, command[0], command[1:]...), bytes.Buffer{}
	c.Stdout, c.Stderr = &log, &log
	if err := child.Run(c); err != nil {
		return nil, i18n.Errorf("error.live.start", "server", filepath.Base(command[0]), "log", log.String())
	}
	return as, nil
}
