package live

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"time"

	"locklab/simulator"
	"locklab/simulator/lists"
	"locklab/simulator/realserver"
	"locklab/simulator/redisnode"
)

// A server is one redis-server that runs, or has been killed.
type server struct {
	*realserver.Redis
	dir    string
	clock  *realserver.Clock
	gate   *realserver.Gate   // in front of its master; nil: it has none, or has lost it
	cutOff []*realserver.Gate // to replicas that have left without its noticing
	ready  []*realserver.Conn // for clients; see prepare
}

// options returns the command line of a redis-server for one of the lab.
func options(c *simulator.NodeConfig) []string {
	all := []string{
		"--repl-diskless-sync", "no", "--repl-diskless-load", "disabled",
		// What Redis measures by the time of day must not end while a clock jumps.
		"--repl-timeout", "2000000000", "--repl-ping-replica-period", "1000000", "--timeout", "0",
		"--lua-time-limit", "0",
		// The kernel wakes it by a time of day that is not this server's: it would never sleep.
		"--jemalloc-bg-thread", "no",
		"--latency-tracking", "no", "--maxclients", "1000", // both take memory that is written at the start
	}
	if c.Replicas > 0 || c.AOF != simulator.NoAOF {
		// How often in a second it looks whether a child has written what a replica needs, for example.
		// Each time takes it a tenth of a millisecond, and hundreds run at a time.
		all = append(all, "--hz", "50")
	} else {
		all = append(all, "--hz", "1")
	}
	if c.MinReplicas > 0 {
		all = append(all, "--min-replicas-to-write", strconv.Itoa(c.MinReplicas),
			"--min-replicas-max-lag", strconv.Itoa(int(maxLag(c)/time.Second)))
	}
	if c.AOF != simulator.NoAOF {
		fsync := map[simulator.AOF]string{simulator.EverySecond: "everysec", simulator.Always: "always"}[c.AOF]
		all = append(all, "--appendonly", "yes", "--auto-aof-rewrite-percentage", "0", "--appendfsync", fsync)
	}
	return all
}

// maxLag returns min-replicas-max-lag.
func maxLag(config *simulator.NodeConfig) time.Duration {
	if config.MaxLag == 0 {
		return 10 * time.Second
	}
	return config.MaxLag
}

// kill ends the server as a crash does.
func (s *server) kill() {
	s.Kill()
	s.clock.Close()
	s.leave()
	s.closeCutOff()
	for _, w := range s.ready {
		w.Close()
	}
}

// prepare connects n times, before anything is written: WAIT waits for what had been written when the connection sent
// its last command, and to give the password is one. A client of the lab has sent none.
func (s *server) prepare(n int) error {
	for range n {
		w, err := realserver.Dial(s.Addr)
		if err != nil {
			return err
		}
		s.ready = append(s.ready, w)
	}
	return nil
}

// connect returns a connection for a client.
func (s *server) connect() (w *realserver.Conn, err error) {
	if len(s.ready) == 0 {
		return realserver.Dial(s.Addr)
	}
	w, s.ready = s.ready[0], s.ready[1:]
	return w, nil
}

func (s *server) closeCutOff() {
	for _, g := range s.cutOff {
		g.Close()
	}
	s.cutOff = nil
}

// leave forgets the server's master.
func (s *server) leave() {
	if s.gate != nil {
		s.gate.Close()
		s.gate = nil
	}
}

// promote makes a replica a master.
func (s *server) promote(ctx context.Context) error { return s.ReplicaOf(ctx, "NO", "ONE").Err() }

// follow makes the server a replica of a master, behind an open gate.
func (s *server) follow(ctx context.Context, master *server) (err error) {
	if s.gate != nil {
		s.gate.Open()
		return nil
	}
	if s.gate, err = realserver.NewGate(master.Addr); err != nil {
		return err
	}
	host, port, _ := net.SplitHostPort(s.gate.Addr())
	// A replica that has lost its master would try again in a second only.
	if err := s.promote(ctx); err != nil {
		return err
	}
	return s.ReplicaOf(ctx, host, port).Err()
}

// catchUp brings a replica up to date, and shuts its gate again.
func (s *server) catchUp(ctx context.Context, master *server) error {
	if err := s.follow(ctx, master); err != nil {
		return err
	}
	first, err := master.replication(ctx)
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(s.Addr)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		r, err := master.replication(ctx)
		if err != nil {
			return err
		}
		if p := r.replicas[port]; p.online && p.offset >= first.offset {
			own, err := s.replication(ctx) // it may still read what a master without any write has sent
			if err != nil {
				return err
			}
			if own.linked {
				s.gate.Shut()
				return nil
			}
		}
		// WAIT has the master ask its replicas how far they are, which counts as a write.
		asker, err := realserver.Dial(master.Addr)
		if err != nil {
			return err
		}
		if err = asker.Send([]string{"PING"}, []string{"WAIT", "99", "0"}); err == nil {
			err = rest(ctx, pause)
		}
		asker.Close()
		if err != nil {
			return err
		}
	}
}

// receivedWait waits until the server has executed a WAIT that was sent on a connection: it has blocked the
// connection, or answered. It counts the time from then on, so its clock must not move before.
func (s *server) receivedWait(ctx context.Context, w *realserver.Conn) error {
	blocked := regexp.MustCompile(` addr=` + regexp.QuoteMeta(w.LocalAddr().String()) + ` .* flags=\w*b`)
	for {
		list, err := s.ClientList(ctx).Result()
		if err != nil || blocked.MatchString(list) {
			return err
		}
		if answered, err := w.Answered(time.Millisecond); answered || err != nil {
			return err
		}
	}
}

// rest waits for d, or until ctx ends.
func rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// replication has what a server says of its replicas, and of its master.
type replication struct {
	offset   int64
	linked   bool                   // it is a replica that has all that its master had when it came
	good     int64                  // replicas that min-replicas-to-write counts
	replicas map[string]replicaInfo // by their ports
}

type replicaInfo struct {
	online bool
	offset int64
	lag    time.Duration
}

// replicaLine is a line of INFO about a replica: its port, state, offset and lag.
var replicaLine = regexp.MustCompile(`(?m)^slave\d+:.*port=(\d+),state=(\w+),offset=(\d+),lag=(-?\d+)`)

func (s *server) replication(ctx context.Context) (r replication, err error) {
	all, err := s.InfoMap(ctx, "replication").Result()
	info := all["Replication"]
	number := func(text string) int64 {
		n, _ := strconv.ParseInt(text, 10, 64) // there, it is one
		return n
	}
	r = replication{
		offset: number(info["master_repl_offset"]), linked: info["master_link_status"] == "up",
		good: number(info["min_slaves_good_slaves"]), replicas: map[string]replicaInfo{},
	}
	for name, value := range info {
		if is := replicaLine.FindStringSubmatch(name + ":" + value); is != nil {
			lag := time.Duration(number(is[4])) * time.Second
			r.replicas[is[1]] = replicaInfo{is[2] == "online", number(is[3]), lag}
		}
	}
	return r, err
}

// dump returns the server's time of day, and of each key its name, its type, the last millisecond in which it lives,
// and its content.
const dump = `
local all, reads = {redis.call('TIME')}, {
	string = {'GET'}, hash = {'HGETALL'}, list = {'LRANGE', 0, -1}, set = {'SMEMBERS'},
	zset = {'ZRANGE', 0, -1, 'WITHSCORES'},
}
for _, key in ipairs(redis.call('KEYS', '*')) do
	local kind = redis.call('TYPE', key).ok
	local how = reads[kind]
	all[#all + 1] = {key, kind, redis.call('PEXPIRETIME', key), redis.call(how[1], key, unpack(how, 2))}
end
return all`

// contents returns what the server's clock shows, and all that it holds.
func (s *server) contents(ctx context.Context) (at time.Time, keys map[string]value, err error) {
	answer, err := s.Eval(ctx, dump, nil).Slice()
	if err != nil {
		return at, nil, fmt.Errorf("the contents of %s: %w", s.Addr, err)
	}
	clock := answer[0].([]any)
	sec, _ := strconv.ParseInt(clock[0].(string), 10, 64) // TIME has digits only
	micro, _ := strconv.ParseInt(clock[1].(string), 10, 64)
	keys = map[string]value{}
	for _, key := range answer[1:] {
		k := key.([]any)
		keys[k[0].(string)] = value{text: content(k[1].(string), k[3]), ends: k[2].(int64)}
	}
	return time.Unix(sec, micro*1000), keys, nil
}

// content writes a value as a history does.
func content(kind string, v any) string {
	list, ok := v.([]any)
	if !ok {
		return fmt.Sprint(v)
	}
	words := lists.Each(list, func(w any) string { return w.(string) })
	if kind == "zset" { // its score stands before a member
		for i := 0; i < len(words); i += 2 {
			score, _ := strconv.ParseFloat(words[i+1], 64)
			words[i], words[i+1] = fmt.Sprint(score), words[i]
		}
	}
	return redisnode.ValueText(kind, words)
}
