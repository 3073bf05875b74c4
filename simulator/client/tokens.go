package client

import (
	"slices"
	"strconv"
	"strings"

	"locklab/algorithms/lock"
	"locklab/simulator"
)

// Tokens is the kind of values by which clients recognise their own lock.
type Tokens uint8

const (
	Unique    Tokens = iota // a value that nobody else has
	Thread                  // the id of a thread: in every process the same
	Prefix                  // a value of which every longer one begins with it: of any two, one is a prefix of the other
	Constant                // one value for all
	TimeOfDay               // the client's clock in milliseconds, when the token is drawn
)

var tokensNames = []string{"unique", "thread", "prefix", "constant", "clock"}

// TokensNames are the names of all, in the order of the constants.
func TokensNames() []string { return slices.Clone(tokensNames) }

// TokensOf are the tokens of this name; false: there are none.
func TokensOf(name string) (Tokens, bool) {
	i := slices.Index(tokensNames, name)
	return Tokens(max(i, 0)), i >= 0
}

// String is the name that TokensOf reads.
func (t Tokens) String() string { return tokensNames[t] }

// In returns env, which is that of client c, with such tokens. The id of its thread is
// another process's too if the tokens are Thread or Constant.
func (t Tokens) In(env lock.Env, c *simulator.Client) lock.Env {
	switch t {
	case Thread, Constant:
		env.Tokens, env.Thread = same(t.value()), t.value()
	case Prefix:
		env.Tokens = prefixes{c}
	case TimeOfDay:
		env.Tokens = clockTokens{env.Clock}
	}
	return env
}

// value returns the one of all clients.
func (t Tokens) value() string {
	if t == Thread {
		return "1" // of the main thread, on many runtimes
	}
	return "locked"
}

type same string

func (s same) Token() string { return string(s) }

// prefixes makes "t", "tt", "ttt" and so on: the n-th token of a client is like no other.
type prefixes struct{ c *simulator.Client }

func (p prefixes) Token() string {
	unique := p.c.Token()
	n, err := strconv.Atoi(unique[strings.IndexByte(unique, '.')+1:])
	if err != nil {
		panic(err) // see simulator.Client.Token
	}
	return strings.Repeat("t", (n-1)*simulator.MaxClients+p.c.ID())
}

type clockTokens struct{ clock lock.Clock }

func (c clockTokens) Token() string { return strconv.FormatInt(c.clock.Now().UnixMilli(), 10) }
