package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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
	kinds  map[string]string  // of the keys that it had when it was last asked for all that it holds
	asked  []string           // keys of known kinds that it was asked for
	gate   *realserver.Gate   // in front of its master; nil: it has none, or has lost it
	cutOff []*realserver.Gate // to replicas that have left without its noticing
	ready  []*realserver.Conn // for clients; see prepare
}

// settings returns those in which a server of the lab differs from one that holds nothing on disk and has no replicas.
func settings(c *simulator.NodeConfig) map[string]string {
	s := map[string]string{}
	if c.Replicas > 0 || c.AOF != simulator.NoAOF {
		// How often in a second it looks whether a child has written what a replica needs, for example.
		// Each time takes it a tenth of a millisecond, and hundreds run at a time.
		s["hz"] = "50"
	}
	if c.MinReplicas > 0 {
		s["min-replicas-to-write"] = strconv.Itoa(c.MinReplicas)
		s["min-replicas-max-lag"] = strconv.Itoa(int(maxLag(c) / time.Second))
	}
	if c.AOF != simulator.NoAOF {
		s["appendonly"], s["auto-aof-rewrite-percentage"] = "yes", "0"
		s["appendfsync"] = map[simulator.AOF]string{simulator.EverySecond: "everysec", simulator.Always: "always"}[c.AOF]
	}
	return s
}

// asNew returns the values that these settings have in a server that holds nothing on disk and has no replicas.
func asNew(settings map[string]string) map[string]string {
	s := map[string]string{}
	for name := range settings {
		s[name] = newSettings[name]
	}
	return s
}

var newSettings = map[string]string{
	"hz": "1", "min-replicas-to-write": "0", "min-replicas-max-lag": "10",
	"appendonly": "no", "auto-aof-rewrite-percentage": "100", "appendfsync": "no",
}

// startServer runs a redis-server with the options of a server of the lab.
func startServer(ctx context.Context, dir string, clock *realserver.Clock, c *simulator.NodeConfig) (*server, error) {
	options := []string{
		"--repl-diskless-sync", "no", "--repl-diskless-load", "disabled",
		// What Redis measures by the time of day must not end while a clock jumps.
		"--repl-timeout", "2000000000", "--repl-ping-replica-period", "1000000", "--timeout", "0",
		"--lua-time-limit", "0",
		"--jemalloc-bg-thread", "no", // the kernel wakes it by a time of day that is not this server's: it would never sleep
		"--latency-tracking", "no", "--maxclients", "1000", // both take memory that is written at the start
	}
	all := maps.Clone(newSettings)
	maps.Copy(all, settings(c))
	for name, value := range all {
		options = append(options, "--"+name, value)
	}
	r, err := realserver.NewRedis(ctx, dir, clock, options...)
	if err != nil {
		clock.Close()
		return nil, err
	}
	return &server{Redis: r, dir: dir, clock: clock}, nil
}

// configure changes settings of a server that runs.
func (s *server) configure(settings map[string]string) error {
	if len(settings) == 0 {
		return nil
	}
	command := []string{"CONFIG", "SET"}
	for name, value := range settings {
		command = append(command, name, value)
	}
	_, err := s.do(command...)
	return err
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
	s.closeReady()
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

func (s *server) closeReady() {
	for _, w := range s.ready {
		w.Close()
	}
	s.ready = nil
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

// do sends a command that must succeed.
func (s *server) do(args ...string) (any, error) {
	v, err := s.Do(args...)
	if err != nil {
		return nil, fmt.Errorf("%s to %s: %w", strings.Join(args, " "), s.Addr, err)
	}
	return v, nil
}

// follow makes the server a replica of a master, behind an open gate.
func (s *server) follow(master *server) error {
	if s.gate != nil {
		s.gate.Open()
		return nil
	}
	gate, err := realserver.NewGate(master.Addr)
	if err != nil {
		return err
	}
	s.gate = gate
	host, port, _ := net.SplitHostPort(gate.Addr())
	// A replica that has lost its master would try again in a second only.
	if _, err = s.do("REPLICAOF", "NO", "ONE"); err == nil {
		_, err = s.do("REPLICAOF", host, port)
	}
	return err
}

// promote makes a replica a master.
func (s *server) promote() error {
	_, err := s.do("REPLICAOF", "NO", "ONE")
	s.leave()
	return err
}

// catchUp brings a replica up to date, and shuts its gate again.
func (s *server) catchUp(ctx context.Context, master *server) error {
	if err := s.follow(master); err != nil {
		return err
	}
	first, err := master.replication()
	if err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(s.Addr)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		r, err := master.replication()
		if err != nil {
			return err
		}
		if p := r.replicas[port]; p.online && p.offset >= first.offset {
			own, err := s.replication() // it may still read what a master without any write has sent
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
		err = asker.Send([]string{"PING"}, []string{"WAIT", "99", "0"})
		if err == nil {
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
func (s *server) receivedWait(w *realserver.Conn) error {
	for {
		list, err := s.do("CLIENT", "LIST")
		if err != nil {
			return err
		}
		for line := range strings.Lines(fmt.Sprint(list)) {
			fields := strings.Fields(line)
			if slices.Contains(fields, "addr="+w.Name()) && slices.ContainsFunc(fields, func(f string) bool {
				flags, ok := strings.CutPrefix(f, "flags=")
				return ok && strings.Contains(flags, "b")
			}) {
				return nil
			}
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

func (s *server) replication() (r replication, err error) {
	info, err := s.Info("replication")
	number := func(text string) int64 {
		n, wrong := strconv.ParseInt(text, 10, 64)
		if wrong != nil {
			err = errors.Join(err, fmt.Errorf("INFO replication of %s: %w", s.Addr, wrong))
		}
		return n
	}
	r = replication{linked: info["master_link_status"] == "up", replicas: map[string]replicaInfo{}}
	for name, value := range info {
		switch {
		case name == "master_repl_offset":
			r.offset = number(value)
		case name == "min_slaves_good_slaves":
			r.good = number(value)
		case strings.HasPrefix(name, "slave") && strings.Contains(value, ",offset="):
			is := map[string]string{}
			for pair := range strings.SplitSeq(value, ",") {
				k, v, _ := strings.Cut(pair, "=")
				is[k] = v
			}
			r.replicas[is["port"]] = replicaInfo{is["state"] == "online", number(is["offset"]), time.Duration(number(is["lag"])) * time.Second}
		}
	}
	return r, err
}

// timeOf reads what TIME answers.
func timeOf(v any) (time.Time, error) {
	list, _ := v.([]any)
	if len(list) != 2 {
		return time.Time{}, fmt.Errorf("TIME answers %v", v)
	}
	sec, err1 := strconv.ParseInt(fmt.Sprint(list[0]), 10, 64)
	micro, err2 := strconv.ParseInt(fmt.Sprint(list[1]), 10, 64)
	return time.Unix(sec, micro*1000), errors.Join(err1, err2)
}

// A value is what a key holds, as histories write it.
type value struct {
	text string
	// ends is the last millisecond of the server's clock in which the key lives, since the Unix epoch;
	// lasting: it has no time to live.
	ends int64
}

const lasting = -1

// ask asks the server for all that it holds, in one write. Of keys that it had at the last time, and is expected to
// have, it asks for the values at once.
func (s *server) ask(expected map[string]value) error {
	s.asked = s.asked[:0]
	commands := [][]string{{"TIME"}, {"KEYS", "*"}}
	for name, kind := range s.kinds {
		if _, is := expected[name]; is {
			s.asked = append(s.asked, name)
			commands = append(commands, reading(name, kind)...)
		}
	}
	if err := s.Send(commands...); err != nil {
		return fmt.Errorf("KEYS to %s: %w", s.Addr, err)
	}
	return nil
}

// answer reads the answer to ask, and asks again where that is not all: what the clock showed, and all keys.
func (s *server) answer() (at time.Time, keys map[string]value, err error) {
	answers, err := s.Values(2 + 3*len(s.asked))
	if err != nil {
		return at, nil, fmt.Errorf("KEYS to %s: %w", s.Addr, err)
	}
	if at, err = timeOf(answers[0]); err != nil {
		return at, nil, err
	}
	names, ok := answers[1].([]any)
	if !ok {
		return at, nil, fmt.Errorf("KEYS to %s answers %v", s.Addr, answers[1])
	}
	keys = map[string]value{}
	for _, n := range names {
		name := fmt.Sprint(n)
		i := slices.Index(s.asked, name)
		if i < 0 || fmt.Sprint(answers[2+3*i]) != s.kinds[name] {
			keys, err = s.readAll(names)
			return at, keys, err
		}
		addKey(keys, name, answers[2+3*i:])
	}
	return at, keys, nil
}

// readAll reads keys, and notes their kinds.
func (s *server) readAll(names []any) (map[string]value, error) {
	var kinds, commands [][]string
	for _, name := range names {
		kinds = append(kinds, []string{"TYPE", fmt.Sprint(name)})
	}
	answers, err := s.DoAll(kinds...)
	if err != nil {
		return nil, err
	}
	s.kinds = map[string]string{}
	for i, kind := range answers {
		s.kinds[kinds[i][1]] = fmt.Sprint(kind)
		commands = append(commands, reading(kinds[i][1], fmt.Sprint(kind))...)
	}
	if answers, err = s.DoAll(commands...); err != nil {
		return nil, err
	}
	keys := map[string]value{}
	for i := range names {
		addKey(keys, kinds[i][1], answers[3*i:])
	}
	return keys, nil
}

// reading returns the commands that read a key of some kind; addKey reads their answers.
func reading(name, kind string) [][]string {
	how := readers[kind]
	return [][]string{{"TYPE", name}, {"PEXPIRETIME", name}, slices.Concat(how[:1], []string{name}, how[1:])}
}

func addKey(keys map[string]value, name string, answers []any) {
	if n, ok := answers[1].(int); ok && n != -2 { // it has not ended meanwhile
		keys[name] = value{text: content(fmt.Sprint(answers[0]), answers[2]), ends: int64(n)}
	}
}

// readers are the commands that read a value of each type.
var readers = map[string][]string{
	"string": {"GET"}, "hash": {"HGETALL"}, "list": {"LRANGE", "0", "-1"}, "set": {"SMEMBERS"}, "zset": {"ZRANGE", "0", "-1", "WITHSCORES"},
	"none": {"TYPE"},
}

// content writes a value as a history does.
func content(kind string, v any) string {
	list, ok := v.([]any)
	if !ok {
		return fmt.Sprint(v)
	}
	words := lists.Each(list, func(w any) string { return fmt.Sprint(w) })
	if kind == "zset" { // a member, and its score
		for p := range slices.Chunk(words, 2) {
			score, _ := strconv.ParseFloat(p[1], 64)
			p[0], p[1] = fmt.Sprint(score), p[0]
		}
	}
	return redisnode.ValueText(kind, words)
}

// aofDir is the folder in which a server keeps what it has done, below its own.
const aofDir = "appendonlydir"

// copyAOF copies what a server has on disk to another folder, which it replaces.
func copyAOF(from, to string) error {
	to, from = filepath.Join(to, aofDir), filepath.Join(from, aofDir)
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(from))
}
