package contract_test

import (
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms/lock"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator/effort"
	"locklab/simulator/history"
	"locklab/simulator/realserver"
	"locklab/simulator/realserver/servertest"
)

// TestRealServer sends every command that a simulated server has executed, in all cells and in
// the same order, to a redis-server. It compares each reply and, after each command, every key:
// its value, and whether it has a TTL.
//
// The clock of the real server differs from the simulated one. So the test deletes a key that
// expires in the simulation; it restores what a replica brings back from a dump that the real
// server made when the simulated replica caught up; and it compares a reply that is a remaining
// time (PTTL, at the end of the watchdog's script) as a class: missing, endless, or some time.
func TestRealServer(t *testing.T) {
	effort.OnlyPushed(t, "it takes seconds; one goroutine asks")
	t.Parallel()
	server := realServer(t)
	commands := 0
	racetest.EveryCell(t, func(t *testing.T, e lock.Entry, sc race.Race, s race.Settings) {
		o := racetest.PlayListed(t, e, sc, s)
		if o.History == nil {
			return
		}
		for n := 1; n <= o.History.Nodes; n++ {
			r := replayer{t: t, server: server, h: o.History, node: n, keys: map[string]keyState{}, replica: map[string]copied{}, scripts: map[string]string{}}
			commands += r.replay()
		}
	})
	if commands < 1000 {
		t.Errorf("only %d commands were compared", commands)
	}
}

// A replayer sends the commands of one server of a history.
type replayer struct {
	t      *testing.T
	server *redis.Client
	h      *history.History
	node   int
	keys   map[string]keyState // as the history has it

	replica map[string]copied // of the real server, as it was when the lab's caught up
	scripts map[string]string // by their SHA-1, as they were sent
}

type keyState struct {
	value string // as in history.Event
	ends  bool   // it has a time to live
}

// copied is a key in the server's own form.
type copied struct {
	dump string
	left time.Duration // 0: it has no time to live
}

func (r *replayer) replay() (commands int) {
	r.forget()
	for i := 0; i < len(r.h.Events); i++ {
		e := &r.h.Events[i]
		if e.Node != r.node {
			continue
		}
		switch e.Kind {
		case history.Apply:
			reply := r.send(e.Cmd)
			for ; i+1 < len(r.h.Events) && r.changes(&r.h.Events[i+1], e); i++ {
				r.note(&r.h.Events[i+1])
			}
			if !r.sameReply(e, reply) {
				r.t.Errorf("n%d at %v: %q answers %q, in the lab %q", r.node, e.At, e.Cmd, reply, e.Reply)
			}
			r.compare(e)
			commands++
		case history.Replicate:
			r.replicate()
		case history.Change: // nobody's command: the server has lost something, or its replica had kept it
			if e.Client != 0 {
				r.t.Fatalf("n%d at %v: a change by c%d without its command", r.node, e.At, e.Client)
			}
			r.note(e)
			r.restate(e)
		case history.Expire:
			r.note(e)
			r.restate(e)
		case history.Down, history.Failover: // scripts do not outlive their server
			racetest.Must(r.server.ScriptFlush(r.t.Context()).Result())(r.t)
		}
	}
	return commands
}

// changes says whether e is a change made by the command of apply.
func (r *replayer) changes(e, apply *history.Event) bool {
	return e.Kind == history.Change && e.Node == r.node && e.Client == apply.Client && e.At == apply.At
}

func (r *replayer) forget() {
	racetest.Must(r.server.FlushAll(r.t.Context()).Result())(r.t)
	racetest.Must(r.server.ScriptFlush(r.t.Context()).Result())(r.t)
}

func (r *replayer) note(e *history.Event) {
	if e.After == "" {
		r.keys[e.Key] = keyState{}
		return
	}
	r.keys[e.Key] = keyState{value: e.After, ends: e.Until != history.Forever}
}

// restate makes a key as the history has it, without a client's command.
func (r *replayer) restate(e *history.Event) {
	if e.After == "" {
		racetest.Must(r.server.Del(r.t.Context(), e.Key).Result())(r.t)
		return
	}
	k, ok := r.replica[e.Key]
	if !ok {
		r.t.Fatalf("n%d at %v: a key that comes from nowhere: %q", r.node, e.At, e.After)
	}
	racetest.Must(r.server.RestoreReplace(r.t.Context(), e.Key, k.left, k.dump).Result())(r.t)
	r.compare(e)
}

// replicate copies every key as it stands.
func (r *replayer) replicate() {
	ctx := r.t.Context()
	clear(r.replica)
	for key, k := range r.keys {
		if k.value != "" {
			dump, left := racetest.Must(r.server.Dump(ctx, key).Result())(r.t), racetest.Must(r.server.PTTL(ctx, key).Result())(r.t)
			r.replica[key] = copied{dump, max(0, left)}
		}
	}
}

func (r *replayer) send(cmd []string) string {
	args := make([]any, len(cmd))
	for i := range cmd {
		args[i] = cmd[i]
	}
	v, err := r.server.Do(r.t.Context(), args...).Result()
	return notation(v, err)
}

// notation writes a reply as redis-cli does, and as a history has it.
func notation(v any, err error) string {
	var refusal redis.Error
	switch {
	case errors.Is(err, redis.Nil):
		return "(nil)"
	case errors.As(err, &refusal):
		return "(error) " + refusal.Error()
	case err != nil:
		return "no answer: " + err.Error()
	}
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case string:
		return v
	}
	return fmt.Sprintf("%T", v)
}

// sameReply compares a reply. A text comes quoted in a history, and a status
// bare; the client here makes no difference.
func (r *replayer) sameReply(e *history.Event, real string) bool {
	sim := e.Reply
	if text, err := strconv.Unquote(sim); err == nil {
		sim = text
	}
	timed := r.tellsTime(e.Cmd)
	return sim == real || timed && class(sim) == class(real)
}

// tellsTime says whether the reply may be the remaining time of a key: that of a script
// that asks for it.
func (r *replayer) tellsTime(cmd []string) bool {
	switch strings.ToUpper(cmd[0]) {
	case "EVAL":
		sum := sha1.Sum([]byte(cmd[1]))
		r.scripts[hex.EncodeToString(sum[:])] = cmd[1]
		return strings.Contains(cmd[1], "PTTL")
	case "EVALSHA":
		return strings.Contains(r.scripts[cmd[1]], "PTTL")
	}
	return false
}

// class of a reply that may be a remaining time.
func class(reply string) string {
	switch n, err := strconv.Atoi(reply); {
	case err != nil:
		return reply
	case n == -2:
		return "missing"
	case n == -1:
		return "endless"
	}
	return "some time"
}

// compare compares every key of the history with the server.
func (r *replayer) compare(e *history.Event) {
	ctx := r.t.Context()
	for key, want := range r.keys {
		left := racetest.Must(r.server.PTTL(ctx, key).Result())(r.t)
		is := keyState{ends: left > 0}
		if left != -2 {
			is.value = r.value(key)
		}
		if is != want {
			r.t.Errorf("n%d at %v: after %q the key %s is %+v (PTTL %v), in the lab %+v", r.node, e.At, e.Cmd, key, is, left, want)
		}
	}
	if n := racetest.Must(r.server.DBSize(ctx).Result())(r.t); int(n) != r.present() {
		r.t.Errorf("n%d at %v: after %q there are %d keys, in the lab %d", r.node, e.At, e.Cmd, n, r.present())
	}
}

func (r *replayer) present() (n int) {
	for _, k := range r.keys {
		if k.value != "" {
			n++
		}
	}
	return n
}

// value is a key's value as a history writes it.
func (r *replayer) value(key string) string {
	ctx := r.t.Context()
	switch kind := racetest.Must(r.server.Type(ctx, key).Result())(r.t); kind {
	case "string":
		return racetest.Must(r.server.Get(ctx, key).Result())(r.t)
	case "hash":
		var fields []string
		for f, v := range racetest.Must(r.server.HGetAll(ctx, key).Result())(r.t) {
			fields = append(fields, f+"="+v)
		}
		slices.Sort(fields)
		return "{" + strings.Join(fields, " ") + "}"
	default:
		return "a " + kind
	}
}

// realServer runs a redis-server for the length of the test.
func realServer(t *testing.T) *redis.Client {
	client := redis.NewClient(&redis.Options{Addr: servertest.Redis(t), Password: realserver.Password, Protocol: 2, MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() { client.Close() })
	return client
}
