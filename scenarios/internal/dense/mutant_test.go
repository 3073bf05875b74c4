package dense

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locklab/algorithms/lock"
)

// A mutant is a lock of which one thing is changed in what it sends or hears. The same entry goes to the lab and to the
// runner.
type mutant struct {
	lock.Entry // as it is changed
	edit       edit
	guard      guard
	number     int // in mutants
}

func (m *mutant) String() string {
	s := m.ID + ": " + m.edit.what
	if m.guard.name != "" {
		s += " if " + m.guard.name
	}
	if m.Holders > 0 {
		s += fmt.Sprintf(", Holders: %d", m.Holders)
	}
	return s
}

// breaks are the conditions of proofs that m does not keep.
func (m *mutant) breaks() []string { return slices.Concat(m.guard.breaks, m.edit.breaks) }

// An edit changes one kind of command. do sends what is sent instead, and returns the reply to it.
type edit struct {
	kind, what string
	name       string // of the command
	script     string // that it runs, if any
	breaks     []string
	do         func(send sender, words []string) (any, error)
}

type sender func(words ...string) (any, error)

// A guard says when an edit is made; breaks are the conditions of proofs that code with it does not keep.
type guard struct {
	name   string
	breaks []string
	holds  func(m *interceptor, send sender) bool
}

// mutants are all that were made: a lock knows its own by the number, so that its memory stays plain.
var mutants []*mutant

// A interceptor is the part of a mutant that goes with one process.
type interceptor struct {
	number, asked, attempts, client int
	token, reply                    string
	clock                           lock.Clock
	tokens                          lock.Tokens
}

// newMutant changes a lock.
func newMutant(e lock.Entry, ed edit, g guard) *mutant {
	m := &mutant{Entry: e, edit: ed, guard: g, number: len(mutants)}
	create, number := e.New, m.number
	m.New = func(env lock.Env) lock.Lock {
		k := &interceptor{number: number, clock: env.Clock, tokens: env.Tokens}
		nodes := make([]redis.UniversalClient, len(env.Nodes))
		for i, n := range env.Nodes {
			nodes[i] = k.intercept(n)
		}
		env.Nodes, env.Tokens = nodes, k
		return &counting{create(env), k}
	}
	mutants = append(mutants, m)
	return m
}

// counting counts attempts.
type counting struct {
	inner lock.Lock
	k     *interceptor
}

func (c *counting) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	if mutants[c.k.number].guard.name == thirdAttempt {
		c.k.attempts++
	}
	return c.inner.Acquire(ctx, key)
}

// Token implements lock.Tokens.
func (k *interceptor) Token() string {
	k.token = k.tokens.Token()
	if g := mutants[k.number].guard.name; g != ownToken {
		defer func() { k.token = "" }()
	}
	return k.token
}

// A connection is one through which a interceptor sends.
type connection struct {
	*redis.Client
	inner redis.UniversalClient
	k     *interceptor
}

func (k *interceptor) intercept(inner redis.UniversalClient) redis.UniversalClient {
	c := &connection{redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", Protocol: 2, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}}), inner, k}
	c.AddHook(c)
	return c
}

// Watch and Subscribe are left as they are.
func (c *connection) Watch(ctx context.Context, f func(*redis.Tx) error, keys ...string) error {
	return c.inner.Watch(ctx, f, keys...)
}

func (c *connection) Subscribe(ctx context.Context, channels ...string) *redis.PubSub {
	return c.inner.Subscribe(ctx, channels...)
}

// DialHook implements redis.Hook, as do the others.
func (c *connection) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessPipelineHook changes nothing.
func (c *connection) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		p := c.inner.Pipeline()
		for _, cmd := range cmds {
			_ = p.Process(ctx, cmd)
		}
		_, err := p.Exec(ctx)
		return err
	}
}

func (c *connection) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		m := mutants[c.k.number]
		words := make([]string, len(cmd.Args()))
		for i, a := range cmd.Args() {
			words[i] = fmt.Sprint(a)
		}
		send := func(words ...string) (any, error) {
			args := make([]any, len(words))
			for i, w := range words {
				args[i] = w
			}
			fresh := redis.NewCmd(ctx, args...)
			err := c.inner.Process(ctx, fresh)
			return fresh.Val(), err
		}
		if m.guard.name == seventhCommand {
			c.k.asked++
		}
		if !m.edit.fits(words) || m.guard.holds != nil && !m.guard.holds(c.k, send) {
			err := c.inner.Process(ctx, cmd)
			if got, ok := cmd.(*redis.Cmd); ok && m.guard.name == oddReply {
				c.k.reply = fmt.Sprint(got.Val())
			}
			return err
		}
		got, err := m.edit.do(send, words)
		if err == nil {
			err = deliver(cmd, got)
		}
		cmd.SetErr(err)
		return err
	}
}

// deliver makes a reply that of a command.
func deliver(cmd redis.Cmder, got any) error {
	generic := redis.NewCmdResult(got, nil)
	switch cmd := cmd.(type) {
	case *redis.Cmd:
		cmd.SetVal(got)
	case *redis.IntCmd:
		n, _ := generic.Int64()
		cmd.SetVal(n)
	case *redis.StringCmd:
		cmd.SetVal(fmt.Sprint(got))
	case *redis.StatusCmd:
		cmd.SetVal(fmt.Sprint(got))
	case *redis.BoolCmd:
		n, _ := generic.Int64()
		cmd.SetVal(n != 0)
	default:
		return fmt.Errorf("no such command: %T", cmd)
	}
	return nil
}

// fits reports whether a command is the one that is changed.
func (e *edit) fits(words []string) bool {
	switch name := strings.ToUpper(words[0]); {
	case name == "SCRIPT" && len(words) == 3:
		return e.script != "" && words[2] == e.script
	case name == "EVAL" || name == "EVALSHA":
		return e.script != "" && (words[1] == e.script || words[1] == shaOf(e.script))
	default:
		return e.script == "" && name == e.name
	}
}

func shaOf(script string) string {
	sum := sha1.Sum([]byte(script))
	return hex.EncodeToString(sum[:])
}

const (
	seventhCommand = "it is the process's 7th command"
	thirdAttempt   = "it is the process's 3rd attempt"
	ownToken       = "the token ends in 7"
	oddReply       = "the last reply ended in 7"
)

// looks are the conditions that code does not keep which looks into tokens.
var looks = []string{"compares", "looks"}

// guards are rare.
var guards = []guard{
	{seventhCommand, []string{"keeps"}, func(k *interceptor, _ sender) bool { return k.asked == 7 }},
	{thirdAttempt, []string{"keeps"}, func(k *interceptor, _ sender) bool { return k.attempts == 3 }},
	{ownToken, looks, func(k *interceptor, _ sender) bool { return strings.HasSuffix(k.token, "7") }},
	{oddReply, append([]string{"counts", "keeps"}, looks...), func(k *interceptor, _ sender) bool {
		return strings.HasSuffix(k.reply, "7")
	}},
	{"8300 < PTTL < 8900", []string{"instants"}, func(_ *interceptor, send sender) bool {
		left, _ := send("PTTL", key)
		n, _ := left.(int64)
		return 8300 < n && n < 8900
	}},
	{"its clock shows 3 to 4 hours", []string{"clock", "instants"}, func(k *interceptor, _ sender) bool {
		return k.clock.Now().UTC().Hour() == 3
	}},
	{"it is the 3rd client", []string{"counts"}, func(k *interceptor, send sender) bool {
		if k.client == 0 {
			n, _ := send("INCR", "clients")
			first, _ := n.(int64)
			k.client = int(first)
		}
		return k.client == 3
	}},
	{"INCR n % 13 == 0", []string{"counts"}, every(13)},
	{"INCR n % 16 == 0", []string{"counts"}, every(16)},
	{"INCR n % 37 == 0", []string{"counts"}, every(37)},
}

func every(n int64) func(*interceptor, sender) bool {
	return func(_ *interceptor, send sender) bool {
		got, err := send("INCR", "n")
		count, _ := got.(int64)
		return err == nil && count%n == 0
	}
}

// scriptGuards are guards of a server, in whose script they stand.
var scriptGuards = []struct {
	text   string
	breaks []string
}{
	{`redis.call('incr', 'n') % 13 == 0`, []string{"counts"}},
	{`redis.call('incr', 'n') % 37 == 0`, []string{"counts"}},
	{`redis.call('pttl', KEYS[1]) > 8300 and redis.call('pttl', KEYS[1]) < 8900`, []string{"instants"}},
	{`string.sub(ARGV[1], -1) == '7'`, looks},
	{`redis.call('time')[1] % 60 == 7`, []string{"clock", "instants"}},
}

// editsOf are all changes of one command that a lock has sent.
func editsOf(words []string) (list []edit) {
	name, script := strings.ToUpper(words[0]), ""
	if name == "EVAL" {
		script = words[1]
	}
	add := func(kind, what string, do func(send sender, words []string) (any, error)) {
		list = append(list, edit{kind: kind, what: name + ": " + what, name: name, script: script, do: do})
	}
	sent := func(kind, what string, change func(words []string) []string) {
		add(kind, what, func(send sender, words []string) (any, error) { return send(change(slices.Clone(words))...) })
	}
	add("retry", "sent twice", func(send sender, words []string) (any, error) {
		_, _ = send(words...)
		return send(words...)
	})
	add("retry", "sent again after an error", func(send sender, words []string) (any, error) {
		got, err := send(words...)
		if err != nil && !errors.Is(err, redis.Nil) {
			return send(words...)
		}
		return got, err
	})
	yes := any(int64(1))
	if name == "SET" {
		yes = "OK"
	}
	add("error ignored", "an error counts as success", func(send sender, words []string) (any, error) {
		got, err := send(words...)
		if err != nil && !errors.Is(err, redis.Nil) {
			return yes, nil
		}
		return got, err
	})
	add("refusal ignored", "a refusal counts as success", func(send sender, words []string) (any, error) {
		got, err := send(words...)
		if errors.Is(err, redis.Nil) || got == int64(0) {
			return yes, nil
		}
		return got, err
	})
	add("dropped", "not sent", func(sender, []string) (any, error) { return yes, nil })
	if script != "" {
		return slices.Concat(list, splits(words), scriptEdits(script))
	}
	sent("keys", "another key", func(w []string) []string { w[1] += ":x"; return w })
	for i, word := range words {
		switch upper := strings.ToUpper(word); {
		case i > 2 && (upper == "NX" || upper == "XX"):
			sent("NX", upper+" dropped", func(w []string) []string { return slices.Delete(w, i, i+1) })
		case i > 2 && (upper == "PX" || upper == "EX"):
			other := map[string]string{"PX": "EX", "EX": "PX"}[upper]
			sent("unit", upper+" as "+other, func(w []string) []string { w[i] = other; return w })
			sent("NX", upper+" dropped", func(w []string) []string { return slices.Delete(w, i, i+2) })
		case i > 1 && regexp.MustCompile(`^\d{1,6}$`).MatchString(word):
			for _, by := range []int{-1, 1, -750, 750} {
				sent("constant", fmt.Sprintf("%s by %d", word, by), func(w []string) []string {
					n, _ := strconv.Atoi(w[i])
					w[i] = strconv.Itoa(max(n+by, 1))
					return w
				})
			}
		}
	}
	switch name {
	case "SETNX":
		add("NX", "SET", func(send sender, w []string) (any, error) {
			_, err := send("SET", w[1], w[2])
			return yes, err
		})
	case "SET":
		list = append(list, guarded(words)...)
	case "GETSET":
		add("split", "GET, then SET", func(send sender, w []string) (any, error) {
			got, err := send("GET", w[1])
			if _, failed := send("SET", w[1], w[2]); failed != nil {
				return nil, failed
			}
			return got, err
		})
	case "DELIFEQ", "DELEX":
		add("split", "GET, then DEL", getThenDel)
	case "EXPIRE", "PEXPIRE":
		other := map[string]string{"EXPIRE": "PEXPIRE", "PEXPIRE": "EXPIRE"}[name]
		sent("unit", other, func(w []string) []string { w[0] = other; return w })
	}
	return list
}

func getThenDel(send sender, w []string) (any, error) {
	held, err := send("GET", w[1])
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	if held != w[len(w)-1] {
		return int64(0), nil
	}
	return send("DEL", w[1])
}

// splits are commands in place of a script that compares and deletes.
func splits(words []string) (list []edit) {
	lower := strings.ToLower(words[1])
	if !strings.Contains(lower, `"get"`) || !strings.Contains(lower, `"del"`) {
		return nil
	}
	instead := func(what string, do func(send sender, w []string) (any, error)) {
		split := func(send sender, w []string) (any, error) {
			if strings.EqualFold(w[0], "SCRIPT") {
				return send(w...)
			}
			return do(send, []string{"", w[3], w[len(w)-1]})
		}
		list = append(list, edit{"split", "EVAL: " + what, "EVAL", words[1], nil, split})
	}
	if words[2] == "1" && len(words) == 5 {
		instead("GET, then DEL", getThenDel)
		instead("DEL", func(send sender, w []string) (any, error) { return send("DEL", w[1]) })
	}
	return list
}

// guarded is SET in a script, with a guard under which the key is set whoever has it.
func guarded(words []string) (list []edit) {
	if len(words) != 6 || !strings.EqualFold(words[3], "NX") {
		return nil
	}
	for _, g := range scriptGuards {
		const set = "return redis.call('SET', KEYS[1], ARGV[1]%s, '%s', ARGV[2])"
		text := "if " + g.text + " then " + fmt.Sprintf(set, "", words[4])
		text += " end " + fmt.Sprintf(set, ", 'NX'", words[4])
		take := func(send sender, w []string) (any, error) { return send("EVAL", text, "1", w[1], w[2], w[5]) }
		list = append(list, edit{"guard in a script", "EVAL " + text, "SET", "", g.breaks, take})
	}
	return list
}

// rules rewrite one token of a script.
var rules = []struct{ kind, from, to string }{
	{"comparison", `==`, `~=`}, {"comparison", `~=`, `==`},
	{"comparison", `<([^=])`, `<=$1`}, {"comparison", `>([^=])`, `>=$1`},
	{"comparison", `\band\b`, `or`}, {"comparison", `\bor\b`, `and`}, {"comparison", `\bnot `, ``},
	{"NX", `,\s*["'](?i:NX)["']`, ``}, {"unit", `(["'])(?i:PEXPIRE)(["'])`, `${1}EXPIRE${2}`},
	{"unit", `(["'])(?i:PX)(["'])`, `${1}EX${2}`}, {"dropped", `(?m)^\s*redis\.call\([^\n]*\)$`, ``},
	{"keys", `KEYS\[1\]`, `KEYS[1] .. ':x'`}, {"keys", `KEYS\[2\]`, `KEYS[1]`},
	{"keys", `ARGV\[1\]`, `ARGV[2]`}, {"keys", `ARGV\[2\]`, `ARGV[1]`},
	{"constant", `return 1\b`, `return 0`}, {"constant", `return 0\b`, `return 1`},
	{"constant", `([ (,-])1\b`, `${1}2`}, {"constant", `([ (,-])1\b`, `${1}0`}, {"constant", `([ (,-])0\b`, `${1}1`},
	{"constant", `\breturn nil`, `return 1`},
}

// scriptEdits are the scripts of which one token is another, or that have a guard.
func scriptEdits(script string) (list []edit) {
	seen := map[string]bool{script: true}
	add := func(kind, what, text string, breaks []string) {
		if seen[text] {
			return
		}
		seen[text] = true
		list = append(list, edit{kind, what, "EVAL", script, breaks, func(send sender, w []string) (any, error) {
			switch strings.ToUpper(w[0]) {
			case "SCRIPT":
				w[2] = text
			case "EVALSHA":
				w[1] = shaOf(text)
			default:
				w[1] = text
			}
			return send(w...)
		}})
	}
	for _, r := range rules {
		from := regexp.MustCompile(r.from)
		for _, at := range from.FindAllStringSubmatchIndex(script, -1) {
			to := string(from.ExpandString(nil, r.to, script, at))
			what := fmt.Sprintf("%q as %q in %s", script[at[0]:at[1]], to, script)
			add(r.kind, what, script[:at[0]]+to+script[at[1]:], nil)
		}
	}
	for _, g := range scriptGuards {
		text := "if " + g.text + " then redis.call('del', KEYS[1]) end " + script
		add("guard in a script", text, text, g.breaks)
	}
	return list
}

// strong are the kinds of edits that are made under guards, too.
var strong = []string{"NX", "refusal ignored", "split", "dropped"}

// mutantsOf are those of a lock, by the commands that it sends where nothing goes wrong.
func mutantsOf(t *testing.T, b *bed, e lock.Entry) (list []*mutant) {
	seen := map[string]bool{}
	for seed := range uint64(4) {
		l := usual(e)
		l.clients, l.attempts = 2, 2
		if seed == 3 {
			l.work = 2 * l.ttl // to see renewals
		}
		for _, n := range b.play(&l, seed, 0, nil).servers {
			for _, sent := range n.log {
				shape := strings.ToUpper(sent.args[0])
				if shape == "EVAL" {
					shape += sent.args[1]
				}
				if seen[shape] || len(sent.args) < 2 || shape == "EVALSHA" {
					continue
				}
				seen[shape] = true
				if shape == "SCRIPT" {
					continue
				}
				for _, ed := range editsOf(sent.args) {
					list = append(list, newMutant(e, ed, guard{}))
					if slices.Contains(strong, ed.kind) {
						for _, g := range guards {
							list = append(list, newMutant(e, ed, g))
						}
					}
					if ed.kind == "NX" {
						more := e
						more.Holders = 2
						list = append(list, newMutant(more, ed, guard{}), newMutant(more, ed, guards[len(guards)-3]))
					}
				}
			}
		}
	}
	return list
}
