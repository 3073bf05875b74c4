package servertest

import (
	"context"
	"database/sql"
	"testing"

	"github.com/go-sql-driver/mysql"
	_ "github.com/lib/pq"
	"github.com/redis/go-redis/v9"

	"locklab/simulator/realserver"
)

// TestPasswords: other users of this machine reach the servers that this package starts, but none lets them in. No
// command line has the password.
func TestPasswords(t *testing.T) {
	if err := mysql.SetLogger(&mysql.NopLogger{}); err != nil {
		t.Fatal(err)
	}
	connect := func(driver, name string) error {
		db, err := sql.Open(driver, name)
		if err != nil {
			return err
		}
		defer db.Close()
		return db.PingContext(t.Context())
	}
	for _, test := range []struct {
		name    string
		missing func() error
		start   func(ctx context.Context, dir string) (*realserver.Process, error)
		ping    func(addr, user, password string) error
		users   []string // the first is that of the lab
	}{
		{
			"redis", func() error { _, err := realserver.FindRedis(); return err },
			func(ctx context.Context, dir string) (*realserver.Process, error) {
				return realserver.StartRedis(ctx, dir, nil)
			},
			func(addr, user, password string) error {
				options := redis.Options{Addr: addr, Username: user, Password: password, MaxRetries: -1, DisableIdentity: true}
				rdb := redis.NewClient(&options)
				defer rdb.Close()
				return rdb.Ping(t.Context()).Err()
			},
			[]string{"", "default"},
		},
		{
			"mariadb", func() error { _, err := realserver.FindMariaDB(); return err },
			func(ctx context.Context, dir string) (*realserver.Process, error) {
				return realserver.StartMariaDB(ctx, dir, nil)
			},
			func(addr, user, password string) error {
				return connect("mysql", user+":"+password+"@tcp("+addr+")/test")
			},
			[]string{"root", "mysql", "test", ""},
		},
		{
			"postgresql", func() error { _, err := realserver.FindPostgreSQL(); return err },
			func(ctx context.Context, dir string) (*realserver.Process, error) {
				return realserver.StartPostgreSQL(ctx, dir, nil)
			},
			func(addr, user, password string) error {
				return connect("postgres", "postgres://"+user+":"+password+"@"+addr+"/postgres?sslmode=disable")
			},
			[]string{"postgres", "root"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			Need(t, test.missing())
			p, err := test.start(t.Context(), folder(t))
			if err != nil {
				t.Fatal(err)
			}
			defer p.Kill()
			OnlyLoopback(t, p.Pid(), p.Addr)
			NamesNowhere(t, p.Pid(), realserver.Password)
			for i, user := range test.users {
				if err := test.ping(p.Addr, user, realserver.Password); i == 0 && err != nil {
					t.Error(err)
				}
				for _, password := range []string{"", "root", user} {
					if test.ping(p.Addr, user, password) == nil {
						t.Errorf("user %q gets in with the password %q", user, password)
					}
				}
			}
		})
	}
}
