package realserver

import (
	"bufio"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"locklab/simulator/i18n"
)

// A GivenRedis is one database of a redis-server that somebody else runs.
type GivenRedis struct {
	options *redis.Options
}

// ParseRedis reads HOST:PORT, or a URL as go-redis has it: redis://, rediss:// (TLS) or unix://, with user,
// password and database. The error does not repeat the password.
func ParseRedis(addr string) (g GivenRedis, err error) {
	shown := addr
	if strings.Contains(addr, "://") {
		g.options, err = redis.ParseURL(addr)
		if scheme, rest, _ := strings.Cut(addr, "://"); strings.Contains(rest, "@") {
			shown = scheme + "://...@" + rest[strings.LastIndex(rest, "@")+1:]
		}
		if wrong := (*url.Error)(nil); errors.As(err, &wrong) { // it repeats all
			err = wrong.Err
		}
	} else if _, _, err = net.SplitHostPort(addr); err == nil {
		g.options = &redis.Options{Network: "tcp", Addr: addr}
	}
	if err != nil {
		return g, i18n.Errorf("error.live.redis-address", "value", shown, "cause", err)
	}
	return g, nil
}

// String names the server and the database, without the password.
func (g GivenRedis) String() string {
	if g.options.DB > 0 {
		return g.options.Addr + "/" + strconv.Itoa(g.options.DB)
	}
	return g.options.Addr
}

// Dial connects, and chooses the database. An error of the server is a Refusal.
func (g GivenRedis) Dial() (w *Wire, err error) {
	dialer := &net.Dialer{Timeout: patience}
	var conn net.Conn
	if g.options.TLSConfig != nil {
		conn, err = tls.DialWithDialer(dialer, g.options.Network, g.options.Addr, g.options.TLSConfig)
	} else {
		conn, err = dialer.Dial(g.options.Network, g.options.Addr)
	}
	if err != nil {
		return nil, err
	}
	w = &Wire{conn, bufio.NewReader(conn)}
	var hello [][]string
	switch o := g.options; {
	case o.Username != "":
		hello = append(hello, []string{"AUTH", o.Username, o.Password})
	case o.Password != "":
		hello = append(hello, []string{"AUTH", o.Password})
	}
	if g.options.DB > 0 {
		hello = append(hello, []string{"SELECT", strconv.Itoa(g.options.DB)})
	}
	for _, command := range hello {
		if _, err := w.Must(command...); err != nil {
			w.Close()
			return nil, err
		}
	}
	return w, nil
}

// Must is Do with an error that the server answers with as an error, a Refusal.
func (w *Wire) Must(args ...string) (any, error) {
	v, err := w.Do(args...)
	if refusal, ok := v.(Refusal); ok {
		return nil, refusal
	}
	return v, err
}
