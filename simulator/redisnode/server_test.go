package redisnode

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"locklab/simulator/intern"
	"locklab/simulator/internal/clock"
	"locklab/simulator/memo"
)

// wire encodes a command as a client does.
func wire(args []string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b
}

// commandsOf are the commands of one write: words, with "; " between commands.
func commandsOf(line string) (commands [][]string) {
	for command := range strings.SplitSeq(line, "; ") {
		commands = append(commands, strings.Fields(command))
	}
	return commands
}

// bareServer is a server without a world.
type bareServer struct {
	t     testing.TB
	table *Executor
	data  Data
	now   time.Duration
}

func newServer(t testing.TB) *bareServer {
	k, err := New(make([]Config, 1), memo.New(intern.NewRoom()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return &bareServer{t: t, table: k.Executor}
}

// raw is the answer to a command, as it goes over the wire.
func (s *bareServer) raw(args ...string) string {
	s.t.Helper()
	eff, err := s.try(args...)
	if err != nil {
		s.t.Fatalf("%q: %v", args, err)
	}
	return s.table.replies.At(eff.Reply).resp
}

func (s *bareServer) try(args ...string) (*Effect, error) { return s.tryBatch("", args) }

func (s *bareServer) tryBatch(conn string, commands ...[]string) (*Effect, error) {
	var out []byte
	for _, args := range commands {
		out = append(out, wire(args)...)
	}
	id, err := s.table.internBatch(connRef{name: conn}, out)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.table.apply(&s.data, s.now, id)
}

// batch is the answers to commands that are sent in one write on a connection.
func (s *bareServer) batch(conn string, commands ...[]string) string {
	s.t.Helper()
	eff, err := s.tryBatch(conn, commands...)
	if err != nil {
		s.t.Fatalf("%s: %q: %v", conn, commands, err)
	}
	return s.table.replies.At(eff.Reply).resp
}

// do is a line of words, and the answer as redis-cli shows it.
func (s *bareServer) do(line string) string {
	s.t.Helper()
	return ReplyText(s.raw(strings.Fields(line)...))
}

// pass lets time pass and keys expire.
func (s *bareServer) pass(d time.Duration) (expired []string) {
	s.now += d
	for {
		place, ok := s.table.overdue(&s.data, s.now, s.table.spare)
		if !ok {
			return expired
		}
		expired = append(expired, s.table.drop(&s.data, place).name)
	}
}

// TestServer has scripts for one server: "command -> reply", and "+d" for time that passes. On a connection, a, b or c,
// there are the commands of one write. They are of milliseconds, and of errors; the rest is compared with other
// servers.
func TestServer(t *testing.T) {
	for name, story := range map[string]string{
		"a key lives through the millisecond of its deadline": `
			SET k v PX 10 -> OK
			+10ms
			PTTL k -> 0
			GET k -> "v"
			+999999ns
			GET k -> "v"
			+1ns
			GET k -> (nil)
			PTTL k -> -2`,
		"SET IFEQ goes by the rules of SET": `
			SET k mine -> OK
			SET k v IFEQ mine PX 0 -> (error) ERR invalid expire time in set
			SET k v IFEQ yours PX 0 -> (error) ERR invalid expire time in set
			SET none v IFEQ mine PX x -> (error) ERR value is not an integer or out of range
			SET k v IFEQ -> (error) ERR syntax error
			SET k v IFEQ mine NX -> (error) ERR syntax error
			SET k v XX IFEQ mine -> (error) ERR syntax error
			SET k v IFEQ mine IFEQ mine -> (error) ERR syntax error
			SET k v IFEQ mine IFEQ -> (error) ERR syntax error
			HSET h f v -> 1
			SET h v IFEQ v -> (error) WRONGTYPE Operation against a key holding the wrong kind of value
			SET h v IFEQ v GET -> (error) WRONGTYPE Operation against a key holding the wrong kind of value
			SET h v IFEQ v EX 0 -> (error) ERR invalid expire time in set
			GET k -> "mine"
			TYPE h -> hash`,
		"deadlines by the clock": `
			SET k v PXAT 1780000010000 -> OK
			+4s
			PTTL k -> 6000
			PEXPIRETIME k -> 1780000010000
			GETEX k PXAT 1780000005000 -> "v"
			PTTL k -> 1000
			PEXPIREAT k 1780000004000 -> 1
			EXISTS k -> 0
			SET k v PXAT 1780000003000 -> OK
			EXISTS k -> 0
			SET k v NX PXAT 1780000004000 -> OK
			EXISTS k -> 0
			SET k v NX EXAT 1780000004 -> OK
			EXISTS k -> 0
			SET k v PX 10 -> OK
			GETEX k EXAT 1780000004 -> "v"
			EXISTS k -> 0
			EVAL return(redis.call('SET',KEYS[1],'v','NX','pxat',ARGV[1])) 1 k 1780000004000 -> OK
			EXISTS k -> 0
			SET k IFEQ -> OK
			SET k v IFEQ IFEQ PXAT 1780000004000 -> OK
			EXISTS k -> 0
			SET PXAT v PXAT 1780000004001 -> OK
			PTTL PXAT -> 1`,
		"a script that was loaded": `
			SCRIPT LOAD return(1) -> "930269f31393d0be681588b6ab08dccee7d6bb67"
			EVALSHA 930269f31393d0be681588b6ab08dccee7d6bb67 0 -> 1
			EVALSHA 030269f31393d0be681588b6ab08dccee7d6bb67 0 -> (error) NOSCRIPT ` +
			"No matching script. Please use EVAL.",
		"a second that has begun is past": `
			+500ms
			SET k v EXAT 1780000000 -> OK
			EXISTS k -> 0
			SET k v EXAT 1780000001 -> OK
			PTTL k -> 500`,
		"the clock is read in whole milliseconds": `
			+1500us
			TIME -> ["1780000000" "1000"]
			+400us
			TIME -> ["1780000000" "1000"]
			+100us
			TIME -> ["1780000000" "2000"]
			+2s
			TIME -> ["1780000002" "2000"]`,
		"a watched key is gone when its time is over, and no more": `
			a: SET k v PX 10 -> OK
			a: WATCH k -> OK
			b: WATCH other -> OK
			+11ms
			a: MULTI; PING; EXEC -> OK; QUEUED; (nil)
			b: MULTI; PING; EXEC -> OK; QUEUED; [PONG]`,
		"watched keys are flushed": `
			a: SET k v -> OK
			a: WATCH k none -> OK
			b: WATCH none -> OK
			c: FLUSHALL -> OK
			a: MULTI; PING; EXEC -> OK; QUEUED; (nil)
			b: MULTI; PING; EXEC -> OK; QUEUED; [PONG]`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			for line := range strings.Lines(strings.TrimSpace(story)) {
				line = strings.TrimSpace(line)
				if d, ok := strings.CutPrefix(line, "+"); ok {
					passes, err := time.ParseDuration(d)
					if err != nil {
						t.Fatal(err)
					}
					s.pass(passes)
					continue
				}
				said, want, _ := strings.Cut(line, " -> ")
				conn, batch, onConn := strings.Cut(said, ": ")
				if !onConn {
					conn, batch = "", said
				}
				if got := ReplyText(s.batch(conn, commandsOf(batch)...)); got != want {
					t.Errorf("at %v: %s\ngot  %s\nwant %s", s.now, said, got, want)
				}
			}
			if left := s.table.keyspaces.At(s.data.keyspace).conns; len(left) > 0 {
				t.Errorf("at the end there are still watches: %+v", left)
			}
		})
	}
}

// TestUnfit: a command whose effect no snapshot can hold is refused by name, in a script
// as well; it is not executed, and later commands work.
func TestUnfit(t *testing.T) {
	s := newServer(t)
	s.do("SET k v PX 1000")
	for cmd := range commandTraits {
		if !is(cmd, unfit) {
			continue
		}
		s.refused("cannot carry the command "+cmd+":", []string{strings.ToLower(cmd), "k", "1", "1"})
		s.refused("cannot carry the command "+cmd+":",
			[]string{"EVAL", `return redis.pcall(ARGV[1], "k", "1", "1")`, "0", cmd})
	}
	for _, line := range []string{"XADD s * f v", "PFADD h a"} {
		s.refused("cannot carry a key of type", strings.Fields(line))
	}
	for i := range MaxKeys {
		s.do(fmt.Sprintf("SET k%d v PX 1000", i))
		if i == MaxKeys-2 { // with k there are as many as there is room for
			break
		}
	}
	s.refused("more than 4 keys", strings.Fields("SET more v PX 1000"))
	if got := s.do("DBSIZE"); got != "4" {
		t.Errorf("after all that, DBSIZE is %s", got)
	}
}

// vocabulary makes random commands on a few keys of every type. TTLs are whole
// seconds, and time passes in steps that never meet their ends, where a plain
// miniredis and a Redis differ (see TestServer). COPY goes to free keys only: a
// miniredis that has copied over a key of another type remembers the old value.
type vocabulary struct{ *rand.Rand }

func (v vocabulary) pick(words ...string) string { return words[v.IntN(len(words))] }

func (v vocabulary) command() []string {
	k, f := v.pick("a", "b", "c"), v.pick("f", "g", "\x00", "")
	val := v.pick("1", "x", "", "a\r\nb", "中")
	num := strconv.Itoa(v.IntN(20) - 5)
	sec, ms := strconv.Itoa(1+v.IntN(9)), strconv.Itoa(1000*(1+v.IntN(9)))
	all := [][]string{
		{"SET", k, val}, {"SET", k, val, "EX", sec}, {"SET", k, val, "NX", "PX", ms}, {"SET", k, val, "XX", "KEEPTTL"},
		{"SETNX", k, val},
		{"GET", k}, {"GETSET", k, val}, {"GETDEL", k}, {"DEL", k}, {"DELIFEQ", k, val},
		{"SET", k, f, "IFEQ", val, "PX", ms}, {"APPEND", k, val}, {"INCR", k}, {"INCRBY", k, num}, {"TYPE", k},
		{"EXISTS", k}, {"EXPIRE", k, sec}, {"PEXPIRE", k, ms}, {"EXPIRE", k, sec, v.pick("NX", "XX", "GT", "LT")},
		{"PERSIST", k}, {"TTL", k}, {"PTTL", k}, {"EXPIRE", k, "0"},
		{"RENAME", k, v.pick("a", "b", "c")}, {"COPY", k, v.pick("a", "b", "c")}, {"GETEX", k, "PX", ms},
		{"HSET", k, f, val}, {"HSETNX", k, f, val}, {"HGET", k, f}, {"HDEL", k, f}, {"HINCRBY", k, f, num},
		{"HEXISTS", k, f}, {"HGETALL", k}, {"HLEN", k},
		{"LPUSH", k, val}, {"RPUSH", k, val, f}, {"LPOP", k}, {"RPOP", k}, {"LRANGE", k, "0", "-1"},
		{"LREM", k, "0", val}, {"SADD", k, val, f}, {"SREM", k, val}, {"SMEMBERS", k}, {"SCARD", k},
		{"ZADD", k, num + ".5", val}, {"ZADD", k, v.pick("inf", "-inf", "1e300", "0.1"), f}, {"ZREM", k, val},
		{"ZRANGE", k, "0", "-1", "WITHSCORES"}, {"ZRANK", k, val}, {"ZSCORE", k, f},
		{"EVAL", `redis.call("set", KEYS[1], ARGV[1], "px", ARGV[2]); return redis.call("get", KEYS[1])`, "1",
			k, val, ms},
		{"EVALSHA", scriptSHA(`return redis.call("pttl", KEYS[1])`), "1", k},
		{"EVAL", `return redis.call("pttl", KEYS[1])`, "1", k},
		{"MSET", "a", val, "b", f}, {"DBSIZE"}, {"FLUSHALL"}, {"SCRIPT", "FLUSH"},
	}
	return all[v.IntN(len(all))]
}

// TestServerKeepsWhatARedisKeeps plays random commands on our server, which is restored
// from a snapshot for each command, and on a plain miniredis.
func TestServerKeepsWhatARedisKeeps(t *testing.T) {
	s := newServer(t)
	for seed := range uint64(40) {
		v := vocabulary{rand.New(rand.NewPCG(seed, 4))}
		kept := keptRedis(t)
		s.data, s.now = Data{}, 0
		kept.m.SetTime(clock.Epoch)
		for i := range 120 {
			if v.IntN(6) == 0 {
				d := time.Duration(v.IntN(3)*1000+1)*time.Millisecond + 333*time.Microsecond
				s.pass(d)
				kept.m.SetTime(clock.Epoch.Add(s.now.Truncate(time.Millisecond)))
				kept.m.FastForward(time.Duration(clock.Millis(s.now))*time.Millisecond - kept.at)
				kept.at = time.Duration(clock.Millis(s.now)) * time.Millisecond
			}
			cmd := v.command()
			want := kept.dispatch(cmd)
			if words := unordered[cmd[0]]; words > 0 && elements(want) > words {
				s.holds(cmd[1], kept)
				continue
			}
			if got := s.raw(cmd...); got != want {
				t.Fatalf("seed %d, command %d at %v, %q:\ngot  %q\nwant %q", seed, i, s.now, cmd, got, want)
			}
		}
	}
}

// kept is a plain miniredis, taken from an engine before its first command.
type kept struct {
	*engine
	at time.Duration // how far it has been moved
}

// holds checks that a key has the same elements on our server, which refuses to name them, and on
// a plain miniredis.
func (s *bareServer) holds(key string, kept *kept) {
	s.t.Helper()
	keys := s.table.keyspaces.At(s.data.keyspace).keys
	i := slices.IndexFunc(keys, func(k keyValue) bool { return k.name == key })
	if i < 0 {
		s.t.Fatalf("no key %q", key)
	}
	if want, err := kept.parts(key, keys[i].kind); err != nil || !slices.Equal(keys[i].parts, want) {
		s.t.Fatalf("%q holds %q, want %q (%v)", key, keys[i].parts, want, err)
	}
}

func keptRedis(t *testing.T) *kept {
	e, err := newEngine()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.close)
	e.ordering = true
	return &kept{engine: e}
}
