package redisnode

import (
	"bufio"
	"bytes"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/alicebob/miniredis/v2/server"
)

// Compare and delete, compare and set: what a lock's release and renewal needed a script for. No redis-server 7.0 has
// any of these. DELEX key IFEQ|IFNE value (Redis 8.4) comes with miniredis; the other two follow their published pages,
// with miniredis's own GET, DEL and SET inside:
//
//	DELIFEQ key value                             Valkey 9.0    valkey.io/commands/delifeq
//	SET key value IFEQ comparison [options]       Valkey 8.1    valkey.io/commands/set
//	                                              Redis 8.4     redis.io/commands/set
//
// Unlike there, both are refused between MULTI and EXEC. Comparisons by digest, and SET with IFNE, are unknown here.

// deleteIfEqual is DELIFEQ: 1 if the key was deleted, 0 if it is missing or differs, WRONGTYPE if it is no string.
func (e *engine) deleteIfEqual(c *server.Peer, _ string, args []string) {
	if len(args) != 2 {
		c.WriteError("ERR wrong number of arguments for 'delifeq' command")
		return
	}
	switch value := e.compared(c, "GET", args[0]); {
	case value == proto.String(args[1]):
		c.WriteRaw(e.within(c, "DEL", args[0]))
	case isError(value):
		c.WriteRaw(value)
	default:
		c.WriteInt(0)
	}
}

// setIfEqual is SET with the option IFEQ: it sets a key that holds the comparison, with the lifetime that the other
// options say (none, if they say nothing), and leaves any other alone. The reply is OK or nil; with GET it is the value
// before, either way. A key that is no string is WRONGTYPE.
//
// The comparison chooses XX or NX, of which one cannot be met; all else, also other options' checks, is SET's.
func (e *engine) setIfEqual(c *server.Peer, set []string, comparison string) {
	value := e.compared(c, "GET", set[0])
	only := "XX"
	if value != proto.Nil && value != proto.String(comparison) {
		only = "NX"
	}
	reply := e.within(c, slices.Concat([]string{"SET"}, set, []string{only})...)
	if isError(value) && !isError(reply) {
		reply = value
	}
	c.WriteRaw(reply)
}

// cutIfEqual takes the option IFEQ out of the arguments of SET. Where it stands
// beside NX or XX, which exclude it, it stays, and SET finds the syntax wrong.
func cutIfEqual(args []string) (set []string, comparison string, ok bool) {
	at := 0
	for i := 2; i < len(args); i++ {
		switch strings.ToUpper(args[i]) {
		case "NX", "XX":
			return args, "", false
		case "IFEQ":
			at = i
			i++
		case "EX", "PX", "EXAT", "PXAT":
			i++
		}
	}
	if at == 0 || at+1 == len(args) {
		return args, "", false
	}
	return slices.Concat(args[:at], args[at+2:]), args[at+1], true
}

// within executes a command as a part of the one that c has sent, in the script that c may be.
func (e *engine) within(c *server.Peer, args ...string) string {
	var out bytes.Buffer
	peer := server.NewPeer(bufio.NewWriter(&out))
	peer.Ctx = c.Ctx
	e.m.Server().Dispatch(peer, args)
	peer.Flush()
	return out.String()
}

// compared is within of what a comparison reads, and refuses it between MULTI and EXEC.
func (e *engine) compared(c *server.Peer, args ...string) string {
	value := e.within(c, args...)
	if value == queued {
		e.refuse("a comparison with IFEQ between MULTI and EXEC")
	}
	return value
}

func isError(reply string) bool { return strings.HasPrefix(reply, "-") }
