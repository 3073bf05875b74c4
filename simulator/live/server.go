package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"locklab/simulator"
	"locklab/simulator/realserver"
)

// A server is one redis-server that runs, or has been killed.
type server struct {
	process *realserver.Process
	addr    string
	dir     string
	dial    func() (*realserver.Wire, error)
	admin   *realserver.Wire   // for everything that no client sends
	kinds   map[string]string  // of the keys that it had when it was last asked for all that it holds
	gate    *realserver.Gate   // in front of its master; nil: it has none, or has lost it
	cutOff  []*realserver.Gate // to replicas that have left without its noticing
}

// How often in a second a server does what is not a client's: looks whether a child has written what a
// replica needs, for example. Each time takes it a tenth of a millisecond, and hundreds run at a time.
const (
	busy = "50"
	idle = "1" // without such duties
)

// startServer runs a redis-server with the options of a server of the lab.
func startServer(ctx context.Context, dir string, c *realserver.Clock, config *simulator.NodeConfig) (*server, error) {
	hz := busy
	if config.Replicas == 0 && config.AOF == simulator.NoAOF {
		hz = idle
	}
	options := []string{
		"--repl-diskless-sync", "no", "--repl-diskless-load", "disabled", "--hz", hz,
		// What Redis measures by the time of day must not end while a clock jumps.
		"--repl-timeout", "2000000000", "--repl-ping-replica-period", "1000000", "--timeout", "0",
		"--min-replicas-to-write", strconv.Itoa(config.MinReplicas), "--min-replicas-max-lag", strconv.Itoa(int(maxLag(config) / time.Second)),
		"--lua-time-limit", "0",
		"--jemalloc-bg-thread", "no", // the kernel wakes it by a time of day that is not this server's: it would never sleep
		"--appendfsync", map[simulator.AOF]string{simulator.NoAOF: "no", simulator.EverySecond: "everysec", simulator.Always: "always"}[config.AOF],
	}
	if config.AOF != simulator.NoAOF {
		options = append(options, "--appendonly", "yes", "--auto-aof-rewrite-percentage", "0")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	p, addr, err := realserver.StartRedis(ctx, dir, c, options...)
	if err != nil {
		return nil, err
	}
	dial := func() (*realserver.Wire, error) { return realserver.DialRedis(addr) }
	admin, err := dial()
	if err != nil {
		p.Kill()
		return nil, err
	}
	return &server{process: p, addr: addr, dir: dir, dial: dial, admin: admin}, nil
}

// maxLag is min-replicas-max-lag.
func maxLag(config *simulator.NodeConfig) time.Duration {
	if config.MaxLag == 0 {
		return 10 * time.Second
	}
	return config.MaxLag
}

// kill ends the server as a crash does.
func (s *server) kill() {
	s.admin.Close()
	s.process.Kill()
	s.leave()
	s.closeCutOff()
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
	v, err := s.admin.Do(args...)
	if refusal := realserver.Refusal(""); err == nil && asRefusal(v, &refusal) {
		err = refusal
	}
	if err != nil {
		return nil, fmt.Errorf("%s to %s: %w", strings.Join(args, " "), s.addr, err)
	}
	return v, nil
}

func asRefusal(v any, to *realserver.Refusal) bool {
	r, ok := v.(realserver.Refusal)
	if ok {
		*to = r
	}
	return ok
}

// follow makes the server a replica of a master, behind an open gate.
func (s *server) follow(master *server) error {
	if s.gate != nil {
		s.gate.Open()
		return nil
	}
	gate, err := realserver.NewGate(master.addr)
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
	_, port, _ := net.SplitHostPort(s.addr)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		r, err := master.replication()
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(r.replicas, func(p replicaInfo) bool { return p.port == port }); i >= 0 && r.replicas[i].online && r.replicas[i].offset >= first.offset {
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
		asker, err := master.dial()
		if err != nil {
			return err
		}
		err = asker.Send(realserver.AppendCommand(realserver.AppendCommand(nil, "PING"), "WAIT", "99", "0"))
		if err == nil {
			err = rest(ctx, pause)
		}
		asker.Close()
		if err != nil {
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

// replication is what a server says of its replicas, and of its master.
type replication struct {
	offset   int64
	linked   bool // it is a replica that has all that its master had when it came
	good     int  // replicas that min-replicas-to-write counts
	replicas []replicaInfo
}

type replicaInfo struct {
	port   string
	online bool
	offset int64
	lag    time.Duration
}

func (s *server) replication() (r replication, err error) {
	v, err := s.do("INFO", "replication")
	if err != nil {
		return r, err
	}
	for line := range strings.Lines(v.(string)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch {
		case name == "master_repl_offset":
			r.offset, err = strconv.ParseInt(value, 10, 64)
		case name == "master_link_status":
			r.linked = value == "up"
		case name == "min_slaves_good_slaves":
			r.good, err = strconv.Atoi(value)
		case strings.HasPrefix(name, "slave") && strings.Contains(value, ",offset="):
			var p replicaInfo
			for pair := range strings.SplitSeq(value, ",") {
				switch k, v, _ := strings.Cut(pair, "="); k {
				case "port":
					p.port = v
				case "state":
					p.online = v == "online"
				case "offset":
					p.offset, err = strconv.ParseInt(v, 10, 64)
				case "lag":
					seconds, wrong := strconv.Atoi(v)
					p.lag, err = time.Duration(seconds)*time.Second, errors.Join(err, wrong)
				}
			}
			r.replicas = append(r.replicas, p)
		}
		if err != nil {
			return r, fmt.Errorf("INFO replication says %q: %w", line, err)
		}
	}
	return r, nil
}

// now is what TIME answers.
func (s *server) now() (time.Time, error) {
	v, err := s.do("TIME")
	if err != nil {
		return time.Time{}, err
	}
	return timeOf(v)
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

// holds is what a server holds at an instant.
type holds struct {
	at   time.Time // what its clock shows
	keys map[string]value
}

// A question asks a server for what it holds, in one write if it has only keys that it had at the last one.
type question struct {
	s     *server
	known []string // keys whose kind is known
}

// ask writes a question; of the keys expected the server may be asked at once.
func (s *server) ask(expected map[string]value) (question, error) {
	q := question{s: s}
	raw := realserver.AppendCommand(realserver.AppendCommand(nil, "TIME"), "KEYS", "*")
	for name := range s.kinds {
		if _, is := expected[name]; is {
			q.known = append(q.known, name)
			raw = appendReading(realserver.AppendCommand(realserver.AppendCommand(raw, "TYPE", name), "PEXPIRETIME", name), s.kinds[name], name)
		}
	}
	if err := s.admin.Send(raw); err != nil {
		return q, fmt.Errorf("KEYS to %s: %w", s.addr, err)
	}
	return q, nil
}

// answer reads what the server answers, and asks again where that is not all.
func (q question) answer() (h holds, err error) {
	answers, err := q.s.admin.ReceiveAll(2 + 3*len(q.known))
	if err != nil {
		return h, fmt.Errorf("KEYS to %s: %w", q.s.addr, err)
	}
	if h.at, err = timeOf(answers[0]); err != nil {
		return h, err
	}
	names, ok := answers[1].([]any)
	if !ok {
		return h, fmt.Errorf("KEYS to %s answers %v", q.s.addr, answers[1])
	}
	h.keys = map[string]value{}
	for _, n := range names {
		name := fmt.Sprint(n)
		i := slices.Index(q.known, name)
		if i < 0 {
			h.keys, err = q.s.keys(names)
			return h, err
		}
		kind, ends, text := answers[2+3*i], answers[3+3*i], answers[4+3*i]
		if kind != q.s.kinds[name] {
			h.keys, err = q.s.keys(names)
			return h, err
		}
		h.add(name, kind, ends, text)
	}
	return h, nil
}

func (h *holds) add(name string, kind, ends, text any) {
	if n, ok := ends.(int64); ok && n != -2 { // it has not ended meanwhile
		h.keys[name] = value{text: content(fmt.Sprint(kind), text), ends: n}
	}
}

// keys reads keys, and learns their kinds.
func (s *server) keys(names []any) (map[string]value, error) {
	var ask [][]string
	for _, name := range names {
		ask = append(ask, []string{"TYPE", fmt.Sprint(name)}, []string{"PEXPIRETIME", fmt.Sprint(name)})
	}
	told, err := s.admin.DoAll(ask...)
	if err != nil {
		return nil, err
	}
	s.kinds = map[string]string{}
	var raw []byte
	for i, name := range names {
		kind := fmt.Sprint(told[2*i])
		s.kinds[fmt.Sprint(name)] = kind
		raw = appendReading(raw, kind, fmt.Sprint(name))
	}
	if err := s.admin.Send(raw); err != nil {
		return nil, err
	}
	contents, err := s.admin.ReceiveAll(len(names))
	if err != nil {
		return nil, err
	}
	h := holds{keys: map[string]value{}}
	for i, name := range names {
		h.add(fmt.Sprint(name), told[2*i], told[2*i+1], contents[i])
	}
	return h.keys, nil
}

// appendReading writes the command that reads a key of some kind.
func appendReading(raw []byte, kind, name string) []byte {
	how := readers[kind]
	return realserver.AppendCommand(raw, slices.Concat(how[:1], []string{name}, how[1:])...)
}

// readers are how to read a value of each type.
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
	var words []string
	for _, w := range list {
		words = append(words, fmt.Sprint(w))
	}
	switch kind {
	case "hash":
		var pairs []string
		for p := range slices.Chunk(words, 2) {
			pairs = append(pairs, strings.Join(p, "="))
		}
		sort.Strings(pairs)
		return "{" + strings.Join(pairs, " ") + "}"
	case "set":
		sort.Strings(words)
	case "zset":
		var pairs []string
		for p := range slices.Chunk(words, 2) {
			score, _ := strconv.ParseFloat(p[1], 64)
			pairs = append(pairs, fmt.Sprint(score)+"\x00"+p[0])
		}
		sort.Strings(pairs)
		return "[" + strings.ReplaceAll(strings.Join(pairs, " "), "\x00", " ") + "]"
	}
	return "[" + strings.Join(words, " ") + "]"
}

// aofDir is where a server keeps what it has done, below its folder.
const aofDir = "appendonlydir"

// copyAOF copies what a server has on disk to another folder, which it replaces.
func copyAOF(from, to string) error {
	to, from = filepath.Join(to, aofDir), filepath.Join(from, aofDir)
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(from))
}
