package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/realserver"
)

// A LateError is that a request came so late that a lease may have ended meanwhile: such a run
// decides nothing.
type LateError struct{ error }

func (e LateError) Unwrap() error { return e.error }

// A Reason is why a run cannot be played on servers that others run; "": it can.
type Reason string

// Reasons, with what is named beside them.
const (
	GivenReplicas Reason = "given-replicas"
	GivenFault    Reason = "given-fault"   // the event
	GivenRate     Reason = "given-rate"    // of a server's clock
	GivenCommand  Reason = "given-command" // the command
	GivenMargin   Reason = "given-margin"  // how much was left of a lease
)

// Margin is the least that must be left of a lease when a request arrives, for a server whose clock
// cannot be stopped: far more than a request takes.
const Margin = 50 * time.Millisecond

// harmless are the commands that a run may send to such a server. They touch nothing but the keys that
// they name, and tell no absolute time.
var harmless = strings.Fields(`PING GET GETDEL GETSET SET SETNX SETEX PSETEX MGET STRLEN INCR INCRBY DECR DECRBY
	EXISTS TYPE DEL UNLINK DELEX DELIFEQ EXPIRE PEXPIRE PERSIST TTL PTTL
	HGET HSET HSETNX HDEL HLEN HEXISTS HGETALL HINCRBY LPUSH RPUSH LPOP RPOP LLEN LREM LINDEX LRANGE
	SADD SREM SCARD SISMEMBER SMEMBERS ZADD ZREM ZCARD ZRANK ZSCORE ZRANGE ZRANGEBYSCORE ZREMRANGEBYSCORE
	EVAL EVALSHA SCRIPT MULTI EXEC DISCARD WATCH UNWATCH PUBLISH SUBSCRIBE UNSUBSCRIBE`)

// harmful returns the first command that may not be sent; "": there is none.
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

// WhyNotGiven returns the reason why a run of the lab cannot be played on servers that others run, and what
// is to be named with it.
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

// commandsOf returns the commands of one write, as histories have them.
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

// CheckGiven looks at servers that others run, and returns their versions. The error says what has to be changed
// before a trace can be played on them: each database must be empty, of a master without a cluster, and of a
// server of its own.
func CheckGiven(all []realserver.RedisAddress) (versions []string, err error) {
	var processes []string
	for _, a := range all {
		var info map[string]string
		if err := OnGiven(a, func(r *realserver.Redis) (err error) {
			info, err = checkGiven(r)
			return err
		}); err != nil {
			return nil, err
		}
		if same := slices.Index(processes, info["run_id"]); same >= 0 {
			return nil, i18n.Errorf("error.live.redis-same", "addr", a.String(), "other", all[same].String())
		}
		processes, versions = append(processes, info["run_id"]), append(versions, info["redis_version"])
	}
	return versions, nil
}

// OnGiven does something on a connection to a server that others run.
func OnGiven(a realserver.RedisAddress, do func(r *realserver.Redis) error) error {
	r, err := a.Connect()
	if err == nil {
		err = do(r)
		r.Close()
	}
	if err != nil {
		return i18n.Errorf("error.live.redis-given", "addr", a.String(), "cause", err)
	}
	return nil
}

func checkGiven(r *realserver.Redis) (info map[string]string, err error) {
	if info, err = r.Info(); err != nil {
		return nil, err
	}
	switch {
	case info["cluster_enabled"] == "1":
		return nil, i18n.Errorf("error.live.redis-cluster")
	case info["role"] != "master":
		return nil, i18n.Errorf("error.live.redis-role", "role", cmp.Or(info["role"], "?"))
	}
	if _, err := r.Do("PEXPIRETIME", "locklab"); err != nil {
		return nil, i18n.Errorf("error.live.redis-old", "version", info["redis_version"], "cause", err)
	}
	return info, mustBeEmpty(r)
}

// mustBeEmpty refuses a database that holds anything.
func mustBeEmpty(r *realserver.Redis) error {
	n, err := r.Do("DBSIZE")
	if err != nil || n == 0 {
		return err
	}
	some, err := r.Do("RANDOMKEY")
	if err != nil {
		return err
	}
	return i18n.Errorf("error.live.redis-full", "n", fmt.Sprint(n), "key", fmt.Sprint(some))
}

// FitsGiven says what has to be changed on servers before they can play this run: there must be as many as
// it has, which know none of the scripts that it loads, and no other client listens if it sends messages.
func FitsGiven(all []realserver.RedisAddress, config simulator.Config, events []history.Event) error {
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
	for _, a := range all {
		if err := OnGiven(a, func(r *realserver.Redis) error { return fits(r, hashes, talks) }); err != nil {
			return err
		}
	}
	return nil
}

func fits(r *realserver.Redis, hashes map[string]bool, talks bool) error {
	for hash := range hashes {
		v, err := r.Do("SCRIPT", "EXISTS", hash)
		if list, _ := v.([]any); err != nil {
			return err
		} else if len(list) == 1 && list[0] == 1 {
			return i18n.Errorf("error.live.redis-script", "hash", hash)
		}
	}
	if !talks {
		return nil
	}
	answers, err := r.DoAll([]string{"PUBSUB", "CHANNELS"}, []string{"PUBSUB", "NUMPAT"}) // CHANNELS leaves patterns out
	if err != nil {
		return err
	}
	if list, _ := answers[0].([]any); len(list) > 0 {
		return i18n.Errorf("error.live.redis-listeners", "channel", fmt.Sprint(list[0]))
	}
	if answers[1] != 0 {
		return i18n.Errorf("error.live.redis-patterns", "n", fmt.Sprint(answers[1]))
	}
	return nil
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
