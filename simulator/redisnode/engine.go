package redisnode

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"locklab/simulator/i18n"
	"locklab/simulator/intern"
	"locklab/simulator/resp"
)

// engine is the one real Redis of a simulator: a miniredis without a listener that is put into a state, given a
// command, and read out again. It serves all servers of all worlds.
type engine struct {
	m       *miniredis.Miniredis
	peer    *server.Peer
	out     bytes.Buffer
	hello   string   // its answer to the handshake of a new connection
	loaded  []string // sources in its script cache, sorted
	sources []string // scripts that it has seen, by first appearance
	// noMemo is the simple implementation that tests compare with: every state is built anew.
	noMemo bool

	needs    needs  // what the commands of this call, those of scripts included, read beside the keyspace
	refused  string // the first of them that cannot be simulated
	exceeded error  // the first of them whose answer is not determined, as a *intern.LimitError
	ordering bool   // it executes a command for answerUnordered
	scripted bool   // one of them may have changed the script cache
	ran      bool   // it has executed the last batch, which was not remembered
	refuses  bool   // the server has too few replicas to write
	now      time.Time

	conns     []connection   // of which the keyspace keeps something, and that of this call
	peers     []*server.Peer // theirs
	published []message      // by the commands of this call
}

// needs says what a command may have read beside the keyspace.
type needs uint8

const (
	needsNothing needs = iota
	needsTTLs          // how long keys have still to live
	needsClock         // the server's clock, and the above
)

func classify(cmd string, args []string) needs {
	switch {
	case namesDeadline(cmd, args):
		return needsClock
	case (cmd == "EXPIRE" || cmd == "PEXPIRE") && len(args) > 2:
		return needsTTLs // NX, XX, GT, LT
	case is(cmd, blind):
		return needsNothing
	case is(cmd, looks):
		return needsTTLs
	}
	return needsClock
}

// namesDeadline reports whether a command sets a lifetime by its end.
func namesDeadline(cmd string, args []string) bool {
	return (cmd == "SET" || cmd == "GETEX") && slices.ContainsFunc(args, isAbsolute)
}

func isAbsolute(arg string) bool {
	return strings.EqualFold(arg, "PXAT") || strings.EqualFold(arg, "EXAT")
}

func newEngine() (*engine, error) {
	e := &engine{m: miniredis.NewMiniRedis()}
	conn, err := e.m.Dial() // starts it, without a listener
	if err != nil {
		return nil, fmt.Errorf("simulator: start miniredis: %w", err)
	}
	conn.Close()
	e.peer = server.NewPeer(bufio.NewWriter(&e.out))
	e.hello = e.dispatch([]string{"HELLO", "2"})
	if err := e.m.Server().Register("DELIFEQ", e.deleteIfEqual); err != nil {
		return nil, fmt.Errorf("simulator: %w", err)
	}
	e.m.Server().SetPreHook(e.before)
	return e, nil
}

func (e *engine) close() { e.m.Close() }

// before sees every command before it runs, also those that a script calls; true: it has answered the command itself.
func (e *engine) before(peer *server.Peer, cmd string, args ...string) bool {
	e.needs = max(e.needs, classify(cmd, args))
	switch {
	case is(cmd, unfit):
		e.refuse("the command " + cmd)
	case is(cmd, random):
		e.limit("limit.chance", "what", cmd)
	case cmd == byChance && len(args) == 1:
		e.limit("limit.chance", "what", args[0])
	case unordered[cmd] > 0 && !e.ordering:
		e.answerUnordered(peer, cmd, args)
	case e.refuses && cmd == "MULTI":
		e.refuse("a transaction on a server with too few replicas")
	case e.refuses && !is(cmd, reads):
		peer.WriteError("NOREPLICAS Not enough good replicas to write.")
	default:
		return e.instead(peer, cmd, args)
	}
	return true
}

// instead executes what is no command of a miniredis, or another one there; false: nothing. Scripts are noted.
func (e *engine) instead(peer *server.Peer, cmd string, args []string) bool {
	if earlier := e.endedNow(cmd, args); earlier != nil {
		e.m.Server().Dispatch(peer, earlier)
		return true
	}
	switch cmd {
	case "SET":
		set, comparison, ok := cutIfEqual(args)
		if ok {
			e.setIfEqual(peer, set, comparison)
		}
		return ok
	case "PUBLISH":
		return e.publish(peer, args)
	case "EVAL", "EVAL_RO":
		if len(args) > 0 {
			e.learn(args[0])
		}
	case "SCRIPT":
		if len(args) > 1 && strings.EqualFold(args[0], "LOAD") {
			e.learn(args[1])
		}
		e.scripted = true
	}
	return false
}

// endedNow is a command that names a deadline, if that is the present millisecond, with an earlier
// one; nil: it is another. A miniredis would take it for no deadline at all. A Redis keeps such a
// key for the rest of the millisecond, here it is gone at once.
func (e *engine) endedNow(cmd string, args []string) []string {
	now, options := e.now.UnixMilli(), 1
	if cmd == "SET" { // after the value
		options = 2
	}
	for i := options; i+1 < len(args) && namesDeadline(cmd, args); i++ {
		if !isAbsolute(args[i]) {
			continue
		}
		unit := int64(1)
		if strings.EqualFold(args[i], "EXAT") {
			unit = 1000
		}
		if at, err := strconv.ParseInt(args[i+1], 10, 64); err == nil && at == now/unit { // or past already
			earlier := slices.Concat([]string{cmd}, args)
			earlier[i+2] = strconv.FormatInt(at-1, 10)
			return earlier
		}
	}
	return nil
}

// refuse keeps the first reason.
func (e *engine) refuse(what string) {
	if e.refused == "" {
		e.refused = what
	}
}

func (e *engine) learn(source string) {
	e.scripted = true
	source = strings.TrimPrefix(source, confinement)
	if !slices.Contains(e.sources, source) {
		e.sources = append(e.sources, source)
	}
}

// dispatch executes a command on the connection that is always there.
func (e *engine) dispatch(args []string) string { return e.send(e.peer, args) }

func (e *engine) send(peer *server.Peer, args []string) string {
	e.out.Reset()
	e.m.Server().Dispatch(peer, args)
	peer.Flush()
	return e.out.String()
}

// scriptSHA is the name under which Redis caches a script.
func scriptSHA(source string) string {
	sum := sha1.Sum([]byte(source))
	return hex.EncodeToString(sum[:])
}

// mark is added to every lifetime that is restored. Redis counts whole milliseconds, so a command cannot set a lifetime
// with such a fraction: what carries it afterwards was kept and not set. It also keeps a key alive whose last
// millisecond has begun, as Redis does.
const mark = 500 * time.Microsecond

// cannotCarry returns why something is refused: a command, as "the command WAIT", or the way in which one is sent.
func cannotCarry(what string) error {
	switch cmd := strings.TrimPrefix(what, "the command "); cmd {
	case "CLUSTER", "SENTINEL":
		return i18n.Errorf("error.redis.alone", "command", cmd)
	case "BLPOP", "BRPOP", "BRPOPLPUSH", "BLMOVE", "BZMPOP", "BZPOPMAX", "BZPOPMIN", "XREAD", "XREADGROUP":
		return i18n.Errorf("error.redis.waits", "command", cmd)
	case "PUBSUB":
		return i18n.Errorf("error.redis.subscribers", "command", cmd)
	}
	return fmt.Errorf("simulator: the lab cannot carry %s: "+
		"it waits in a script, or leaves or reports what no snapshot holds", what)
}

// run brings miniredis to keyspace s with the given lifetimes, sets the clock, runs
// the commands of one batch, and reads the result: the reply, in RESP, the keyspace, and the lifetimes of
// its expiring keys in the order of their places; with mark: kept. What it depends on is in e.needs.
func (e *engine) run(s *keyspace, ttls []time.Duration, now time.Time, b *batch) (
	reply string, to keyspace, left []time.Duration, err error) {
	e.restore(s, ttls)
	e.now = now
	e.m.SetTime(now)
	own := e.connect(s, b)
	e.needs, e.refused, e.exceeded, e.scripted = needsNothing, b.unfit, nil, false
	e.published = nil
	if b.unfit == "" {
		for _, args := range b.commands { // nearly always one
			reply += e.redisScript(args, e.send(own, e.confine(args)))
		}
	}
	if e.scripted {
		e.loaded = e.cached()
	}
	switch {
	case e.exceeded != nil:
		return "", to, nil, e.exceeded
	case e.refused != "":
		return "", to, nil, cannotCarry(e.refused)
	}
	if to.keys, left, err = e.read(); err != nil {
		return "", to, nil, err
	}
	to.scripts, to.conns = e.loaded, e.watching(s, &to, b)
	if !e.deliver(to.conns) {
		return "", to, nil, intern.Limit("limit.messages", "most", maxInbox)
	}
	return reply, to.sorted(), left, nil
}

// restore makes miniredis hold s.
func (e *engine) restore(s *keyspace, ttls []time.Duration) {
	e.m.FlushAll()
	n := 0
	for i := range s.keys {
		k := &s.keys[i]
		if e.put(k); k.expires {
			e.m.SetTTL(k.name, ttls[n]+mark)
			n++
		}
	}
	if e.noMemo || !slices.Equal(e.loaded, s.scripts) {
		e.loadScripts(s.scripts)
	}
}

func (e *engine) loadScripts(sources []string) {
	e.dispatch([]string{"SCRIPT", "FLUSH"})
	for _, src := range sources {
		e.dispatch([]string{"SCRIPT", "LOAD", confined(src)})
	}
	e.loaded = sources
}

// forgetScripts discards the scripts that it has seen.
func (e *engine) forgetScripts() {
	e.loadScripts(nil)
	e.sources = nil
}

// put writes one key. The errors of these calls all say "wrong type", which a freshly flushed database rules out.
func (e *engine) put(k *keyValue) {
	switch k.kind {
	case "string":
		_ = e.m.Set(k.name, k.parts[0])
	case "hash":
		e.m.HSet(k.name, k.parts...)
	case "list":
		_, _ = e.m.Push(k.name, k.parts...)
	case "set":
		_, _ = e.m.SAdd(k.name, k.parts...)
	case "zset":
		for i := 0; i+1 < len(k.parts); i += 2 {
			e.dispatch([]string{"ZADD", k.name, k.parts[i], k.parts[i+1]})
		}
	}
}

func (e *engine) read() (keys []keyValue, ttls []time.Duration, err error) {
	names := e.m.Keys()
	keys = make([]keyValue, 0, len(names))
	for _, name := range names {
		k := keyValue{name: name, kind: e.m.Type(name)}
		if k.parts, err = e.parts(name, k.kind); err != nil {
			return nil, nil, err
		}
		switch ttl := e.m.TTL(name); {
		case ttl > 0:
			k.expires = true
			ttls = append(ttls, ttl)
		case ttl < 0:
			// Its deadline had come when it was set: SET with PXAT. A Redis does not keep such a key.
			e.m.Del(name)
			continue
		}
		keys = append(keys, k)
	}
	return keys, ttls, nil
}

func (e *engine) parts(name, kind string) (parts []string, err error) {
	switch kind {
	case "string":
		v, err := e.m.Get(name)
		return []string{v}, err
	case "hash":
		fields, err := e.m.HKeys(name)
		for _, f := range fields {
			parts = append(parts, f, e.m.HGet(name, f))
		}
		return parts, err
	case "list":
		return e.m.List(name)
	case "set":
		return e.m.SMembers(name)
	case "zset":
		scores, err := e.m.SortedSet(name)
		for member, score := range scores {
			parts = append(parts, fmt.Sprint(score), member)
		}
		return inOrder(kind, parts), err
	}
	return nil, fmt.Errorf("simulator: the lab cannot carry a key of type %q (%s)", kind, name)
}

// cached lists the sources that the script cache holds, sorted.
func (e *engine) cached() []string {
	if len(e.sources) == 0 {
		return nil
	}
	args := []string{"SCRIPT", "EXISTS"}
	for _, src := range e.sources {
		args = append(args, scriptSHA(confined(src)))
	}
	values, _ := resp.All(e.dispatch(args))
	cached, _ := only(values)
	var in []string
	for i, a := range cached {
		if a == 1 {
			in = append(in, e.sources[i])
		}
	}
	slices.Sort(in)
	return in
}
