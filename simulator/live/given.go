package live

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/internal/clock"
	"locklab/simulator/realserver"
	"locklab/simulator/redisnode"
)

// A LateError is that a request came so late that a lease may have ended meanwhile: such a run
// decides nothing.
type LateError struct{ error }

func (e LateError) Unwrap() error { return e.error }

// A Reason is why a run cannot be played on servers that somebody else runs; "": it can.
type Reason string

// Reasons, with what is named beside them.
const (
	GivenReplicas Reason = "given-replicas"
	GivenFault    Reason = "given-fault"   // the event
	GivenRate     Reason = "given-rate"    // of a server's clock
	GivenCommand  Reason = "given-command" // the command
	GivenMargin   Reason = "given-margin"  // how much was left of a lease
)

// Margin is what must be left of a lease when a request arrives, for a server whose clock
// cannot be stopped: far more than a request takes.
const Margin = 50 * time.Millisecond

// harmless are the commands that a run may send to such a server. They touch nothing but the keys that
// they name, and tell no absolute time.
var harmless = strings.Fields(`PING GET GETDEL GETSET SET SETNX SETEX PSETEX MGET STRLEN INCR INCRBY DECR DECRBY
	EXISTS TYPE DEL UNLINK DELEX DELIFEQ EXPIRE PEXPIRE PERSIST TTL PTTL
	HGET HSET HSETNX HDEL HLEN HEXISTS HGETALL HINCRBY LPUSH RPUSH LPOP RPOP LLEN LREM LINDEX LRANGE
	SADD SREM SCARD SISMEMBER SMEMBERS ZADD ZREM ZCARD ZRANK ZSCORE ZRANGE ZRANGEBYSCORE ZREMRANGEBYSCORE
	EVAL EVALSHA SCRIPT MULTI EXEC DISCARD WATCH UNWATCH PUBLISH SUBSCRIBE UNSUBSCRIBE`)

// harmful is the first command that may not be sent; "": there is none.
func harmful(commands [][]string) string {
	for _, c := range commands {
		switch name := strings.ToUpper(c[0]); {
		case !slices.Contains(harmless, name):
			return name
		case name == "SCRIPT" && !(len(c) == 3 && strings.EqualFold(c[1], "LOAD")):
			return "SCRIPT " + strings.ToUpper(strings.Join(c[1:min(2, len(c))], ""))
		case name == "SET":
			for _, option := range c[min(3, len(c)):] {
				if option = strings.ToUpper(option); option == "EXAT" || option == "PXAT" {
					return "SET " + option
				}
			}
		}
	}
	return ""
}

// WhyNotGiven says why a run of the lab cannot be played on servers that somebody else runs, and what
// is to be named with the reason.
func WhyNotGiven(config simulator.Config, events []history.Event) (why Reason, what string) {
	for _, c := range config.Nodes {
		switch {
		case c.Replicas > 0:
			return GivenReplicas, ""
		case c.PPM != 0:
			return GivenRate, ""
		}
	}
	type key struct {
		server int
		name   string
	}
	ends := map[key]time.Duration{}
	for i := range events {
		e := &events[i]
		if e.Node < 1 || e.Node > len(config.Nodes) {
			continue
		}
		switch e.Kind {
		case history.Down, history.Up, history.Failover, history.Split, history.Heal, history.ClockStep:
			return GivenFault, e.Name()
		case history.Change, history.Expire:
			if delete(ends, key{e.Node, e.Key}); e.Kind == history.Change && e.After != "" && e.Until != history.Forever {
				ends[key{e.Node, e.Key}] = e.Until
			}
		case history.Apply, history.External:
			if what := harmful(commandsOf(e.Cmd)); what != "" {
				return GivenCommand, what
			}
			for k, end := range ends {
				if left := end - e.At; k.server == e.Node && left < Margin {
					return GivenMargin, left.String()
				}
			}
		}
	}
	return "", ""
}

// commandsOf are the commands of one write, as histories have them.
func commandsOf(cmd []string) (all [][]string) {
	for len(cmd) > 0 {
		end := slices.Index(cmd, ";")
		if end < 0 {
			end = len(cmd)
		}
		if end > 0 {
			all = append(all, cmd[:end])
		}
		cmd = cmd[min(end+1, len(cmd)):]
	}
	return all
}

// A GivenInfo is what a server says of itself.
type GivenInfo struct {
	Version string
	run     string // of the process
}

// CheckGiven looks at servers that somebody else runs. The error says what has to be changed before a
// trace can be played on them: each database must be empty, of a master without a cluster, and of a
// server of its own.
func CheckGiven(all []realserver.GivenRedis) (infos []GivenInfo, err error) {
	for i, g := range all {
		w, err := g.Dial()
		if err != nil {
			return nil, i18n.Errorf("error.live.redis-given", "addr", g.String(), "cause", err)
		}
		info, err := checkGiven(w)
		w.Close()
		if err != nil {
			return nil, i18n.Errorf("error.live.redis-given", "addr", g.String(), "cause", err)
		}
		if same := slices.IndexFunc(infos, func(other GivenInfo) bool { return other.run == info.run }); same >= 0 {
			return nil, i18n.Errorf("error.live.redis-same", "addr", all[i].String(), "other", all[same].String())
		}
		infos = append(infos, info)
	}
	return infos, nil
}

func checkGiven(w *realserver.Wire) (info GivenInfo, err error) {
	said, err := w.Must("INFO")
	if err != nil {
		return info, err
	}
	is := map[string]string{}
	for line := range strings.Lines(fmt.Sprint(said)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		is[name] = value
	}
	info = GivenInfo{is["redis_version"], is["run_id"]}
	switch {
	case is["cluster_enabled"] == "1":
		return info, i18n.Errorf("error.live.redis-cluster")
	case is["role"] != "master":
		return info, i18n.Errorf("error.live.redis-role", "role", cmp.Or(is["role"], "?"))
	}
	if _, err := w.Must("PEXPIRETIME", "locklab"); err != nil {
		return info, i18n.Errorf("error.live.redis-old", "version", info.Version, "cause", err)
	}
	return info, mustBeEmpty(w)
}

// mustBeEmpty refuses a database that holds anything.
func mustBeEmpty(w *realserver.Wire) error {
	n, err := w.Must("DBSIZE")
	if err != nil || n == int64(0) {
		return err
	}
	some, err := w.Must("RANDOMKEY")
	if err != nil {
		return err
	}
	return i18n.Errorf("error.live.redis-full", "n", fmt.Sprint(n), "key", fmt.Sprint(some))
}

// FitsGiven says what has to be changed on servers before they can play this run: there must be as many as
// it has, which know none of the scripts that it loads, and nobody else listens if it sends messages.
func FitsGiven(all []realserver.GivenRedis, config simulator.Config, events []history.Event) error {
	if len(all) != len(config.Nodes) {
		return i18n.Errorf("error.live.redis-number", "need", len(config.Nodes), "given", len(all))
	}
	hashes, talks := map[string]bool{}, false
	for i := range events {
		for _, c := range commandsOf(events[i].Cmd) {
			name := strings.ToUpper(c[0])
			if name == "EVALSHA" && len(c) > 1 {
				hashes[c[1]] = true
			}
			talks = talks || name == "SUBSCRIBE" || strings.Contains(strings.ToUpper(strings.Join(c, " ")), "PUBLISH")
		}
	}
	for _, g := range all {
		w, err := g.Dial()
		if err != nil {
			return i18n.Errorf("error.live.redis-given", "addr", g.String(), "cause", err)
		}
		err = fits(w, hashes, talks)
		w.Close()
		if err != nil {
			return i18n.Errorf("error.live.redis-given", "addr", g.String(), "cause", err)
		}
	}
	return nil
}

func fits(w *realserver.Wire, hashes map[string]bool, talks bool) error {
	for hash := range hashes {
		v, err := w.Must("SCRIPT", "EXISTS", hash)
		if list, _ := v.([]any); err != nil {
			return err
		} else if len(list) == 1 && list[0] == int64(1) {
			return i18n.Errorf("error.live.redis-script", "hash", hash)
		}
	}
	if !talks {
		return nil
	}
	v, err := w.Must("PUBSUB", "CHANNELS")
	if list, _ := v.([]any); err == nil && len(list) > 0 {
		return i18n.Errorf("error.live.redis-listeners", "channel", fmt.Sprint(list[0]))
	}
	if err != nil {
		return err
	}
	patterns, err := w.Must("PUBSUB", "NUMPAT") // CHANNELS leaves them out
	if err == nil && patterns != int64(0) {
		return i18n.Errorf("error.live.redis-patterns", "n", fmt.Sprint(patterns))
	}
	return err
}

// Scripts returns the number of scripts that a run leaves in the caches of its servers: EVAL puts
// them there as SCRIPT LOAD does, and no command removes one alone.
func Scripts(events []history.Event) int {
	type script struct {
		server int
		text   string
	}
	all := map[script]bool{}
	for i := range events {
		e := &events[i]
		if e.Kind != history.Apply {
			continue
		}
		for _, c := range commandsOf(e.Cmd) {
			switch name := strings.ToUpper(c[0]); {
			case name == "EVAL" && len(c) > 1:
				all[script{e.Node, c[1]}] = true
			case name == "SCRIPT" && len(c) > 2:
				all[script{e.Node, c[2]}] = true
			}
		}
	}
	return len(all)
}

// A realClock relates a server's clock, which nobody can set, to that of the trace.
type realClock struct {
	shift time.Duration // what it is ahead; chosen anew where no lease runs
	// from and to are what it was ahead, in milliseconds of either clock, just before and just after the last
	// request.
	from, to int64
	ends     map[string]ending // of the leases that run
	touched  map[string]bool   // all words that were sent, and all keys of the lab: what is ours
}

// An ending is when a lease ends, by either clock in milliseconds since the Unix epoch.
type ending struct{ real, lab int64 }

// startGiven connects to the servers that are given.
func (r *player) startGiven(configs []simulator.NodeConfig) error {
	if len(configs) != len(r.opt.Given) {
		return i18n.Errorf("error.live.redis-number", "need", len(configs), "given", len(r.opt.Given))
	}
	for i, c := range configs {
		g := &group{
			config: c, state: clock.State{Offset: c.Offset, PPM: c.PPM}, split: -1, lab: map[bool]map[string]value{false: {}, true: {}},
			real: &realClock{ends: map[string]ending{}, touched: map[string]bool{}},
		}
		given := r.opt.Given[i]
		w, err := given.Dial()
		if err == nil {
			r.groups = append(r.groups, g)
			g.master = &server{addr: given.String(), admin: w, dial: given.Dial}
			r.run.Servers++
			err = mustBeEmpty(w)
		}
		if err != nil {
			return i18n.Errorf("error.live.redis-given", "addr", given.String(), "cause", err)
		}
	}
	return nil
}

// leases says whether a lease runs in the lab.
func (g *group) leases() bool {
	for _, v := range g.lab[false] {
		if v.ends != lasting {
			return true
		}
	}
	return false
}

// inLab is what the server's clock shows in the lab.
func (r *player) inLab(g *group) time.Time { return clock.Epoch.Add(g.state.Read(r.now)) }

// passGiven waits until a server's own clock shows that the time has passed. Where no lease runs
// nothing depends on it.
func (r *player) passGiven(g *group) error {
	if !g.leases() {
		return nil
	}
	return r.showsTime(g, r.inLab(g).Add(g.real.shift))
}

// showsTime waits until a server's clock has come so far.
func (r *player) showsTime(g *group, until time.Time) error {
	for {
		at, err := g.master.now()
		if err != nil || !at.Before(until) {
			return err
		}
		r.progress(r.now - until.Sub(at))
		if err := rest(r.ctx, min(until.Sub(at), 250*time.Millisecond)); err != nil {
			return err
		}
	}
}

// beforeGiven is called just before a request is written.
func (r *player) beforeGiven(g *group, q redisnode.Request) error {
	if what := harmful(q.Commands); what != "" {
		return i18n.Errorf("error.live.redis-harmful", "command", what)
	}
	for _, c := range q.Commands {
		for _, word := range c {
			g.real.touched[word] = true
		}
	}
	at, err := g.master.now()
	if err != nil {
		return err
	}
	if !g.leases() {
		g.real.shift = at.Sub(r.inLab(g))
	}
	g.real.from = at.UnixMilli() - r.inLab(g).UnixMilli()
	return nil
}

// afterGiven is called when a request is answered. It returns the answer with what remains of leases as in the
// lab, where it is as much as it must be on the server's clock. The error is a LateError if a lease that ran may
// have ended before the request arrived.
func (r *player) afterGiven(g *group, lab, answer string) (string, error) {
	at, err := g.master.now()
	if err != nil {
		return answer, err
	}
	now := r.inLab(g).UnixMilli()
	g.real.to = at.UnixMilli() - now
	for name, v := range g.lab[false] {
		if e, runs := g.real.ends[name]; runs && v.ends != lasting && at.UnixMilli() > e.real {
			return answer, LateError{i18n.Errorf("error.live.late", "key", name, "left", time.Duration(e.lab-now)*time.Millisecond, "late", at.Sub(r.inLab(g).Add(g.real.shift)).Round(time.Millisecond))}
		}
	}
	is, want := strings.Split(answer, "\r\n"), strings.Split(lab, "\r\n")
	if len(is) != len(want) {
		return answer, nil
	}
	for i := range is {
		if is[i] != want[i] && g.real.remains(is[i], want[i], now) {
			is[i] = want[i]
		}
	}
	return strings.Join(is, "\r\n"), nil
}

// remains says whether two integers are what remains of one lease, as PTTL or TTL tells it on the server and in
// the lab, where it is so late.
func (c *realClock) remains(is, lab string, now int64) bool {
	if !strings.HasPrefix(is, ":") || !strings.HasPrefix(lab, ":") {
		return false
	}
	n, err1 := strconv.ParseInt(is[1:], 10, 64)
	m, err2 := strconv.ParseInt(lab[1:], 10, 64)
	if errors.Join(err1, err2) != nil {
		return false
	}
	for _, e := range c.ends {
		least, most := e.real-(now+c.to), e.real-(now+c.from)
		if m == e.lab-now && least <= n && n <= most || m == (e.lab-now+500)/1000 && (least+500)/1000 <= n && n <= (most+500)/1000 {
			return true
		}
	}
	return false
}

// expireGiven waits until a key is gone whose lease has ended in the lab: it was taken up to some milliseconds
// late.
func (r *player) expireGiven(g *group, key string) error {
	e, runs := g.real.ends[key]
	if !runs {
		return nil
	}
	return r.showsTime(g, time.UnixMilli(e.real+1))
}

// onLabClock has the keys of a server end by the lab's clock. A lease that the last request has given
// ends as in the lab if it does so within the time that the request may have arrived at. One that has ended by
// the server's clock, which is ahead by what the run is late, lasts until it has in the lab: afterGiven notices if
// a request comes meanwhile.
func (r *player) onLabClock(g *group, keys map[string]value) error {
	at, err := g.master.now()
	if err != nil {
		return err
	}
	for name, e := range g.real.ends {
		if lab, is := g.lab[false][name]; is && lab.ends == e.lab && at.UnixMilli() > e.real {
			if _, there := keys[name]; !there {
				keys[name] = value{lab.text, e.real}
			}
		}
	}
	for name, v := range keys {
		if v.ends == lasting {
			continue
		}
		lab, known := g.lab[false][name], g.real.ends[name]
		ahead := v.ends - lab.ends
		switch {
		case known == ending{v.ends, lab.ends}:
			v.ends = lab.ends
		case lab.ends > lasting && g.real.from <= ahead && ahead <= g.real.to:
			g.real.ends[name] = ending{v.ends, lab.ends}
			v.ends = lab.ends
		case v.ends == known.real:
			v.ends = known.lab
		default:
			e := ending{v.ends, v.ends - g.real.from}
			g.real.ends[name] = e
			v.ends = e.lab
		}
		keys[name] = v
	}
	for name := range g.real.ends {
		if v, is := keys[name]; !is || v.ends == lasting {
			delete(g.real.ends, name)
		}
	}
	return nil
}

// clean removes from a server what the run has put there. What others have put there meanwhile stays.
func (g *group) clean() error {
	w, err := g.master.dial() // the other one may be broken
	if err != nil {
		return i18n.Errorf("error.live.redis-left", "addr", g.master.addr, "cause", err)
	}
	defer w.Close()
	v, err := w.Must("KEYS", "*")
	list, _ := v.([]any)
	for _, name := range list {
		if key := fmt.Sprint(name); err == nil && g.real.touched[key] {
			_, err = w.Must("DEL", key)
		}
	}
	if err != nil {
		return i18n.Errorf("error.live.redis-left", "addr", g.master.addr, "cause", err)
	}
	return nil
}
