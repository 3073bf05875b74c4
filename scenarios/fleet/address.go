package fleet

import (
	"cmp"
	"crypto/tls"
	"net"
	"strings"

	"github.com/hibiken/asynq"

	"locklab/simulator/i18n"
)

// ParseRedis reads the address of a Redis server: HOST:PORT, or a URL.
func ParseRedis(address string) (asynq.RedisConnOpt, error) {
	if !strings.Contains(address, "://") {
		if _, _, err := net.SplitHostPort(address); err != nil {
			return nil, i18n.Errorf("error.fleet.address", "value", address)
		}
		return asynq.RedisClientOpt{Addr: address}, nil
	}
	opt, err := asynq.ParseRedisURI(address)
	if err != nil {
		return nil, i18n.Errorf("error.fleet.address", "value", withoutPassword(address))
	}
	if sentinels, ok := opt.(asynq.RedisFailoverClientOpt); ok {
		if sentinels.MasterName == "" {
			return nil, i18n.Errorf("error.fleet.master", "value", withoutPassword(address))
		}
		for _, one := range sentinels.SentinelAddrs {
			if _, _, err := net.SplitHostPort(one); err != nil {
				return nil, i18n.Errorf("error.fleet.address", "value", withoutPassword(address))
			}
		}
	}
	return opt, nil
}

// WithSecrets adds a password and the roots of certificates to what ParseRedis has read. Both may
// be empty: then the URL's own stay. The URL of sentinels has their password, not the server's.
func WithSecrets(opt asynq.RedisConnOpt, password string, roots *tls.Config) asynq.RedisConnOpt {
	switch opt := opt.(type) {
	case asynq.RedisClientOpt:
		opt.Password, opt.TLSConfig = cmp.Or(password, opt.Password), withRoots(opt.TLSConfig, roots)
		return opt
	case asynq.RedisFailoverClientOpt:
		opt.Password, opt.TLSConfig = password, withRoots(opt.TLSConfig, roots)
		return opt
	}
	return opt
}

// withRoots is a URL's own TLS settings, or none, with the roots of --ca.
func withRoots(own, ca *tls.Config) *tls.Config {
	if own == nil || ca == nil {
		return cmp.Or(own, ca)
	}
	own.RootCAs = ca.RootCAs
	return own
}

// withoutPassword is an address that may be printed.
func withoutPassword(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		rest = "…" + rest[at:]
	}
	return scheme + "://" + rest
}
