package redisnode

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"

	"locklab/simulator/i18n"
	"locklab/simulator/process"
	"locklab/simulator/resp"
)

var _ process.Wire = (*Wire)(nil)

// Dial makes connections of process p that know nothing of those that p makes elsewhere.
func (k *Kind) Dial(p *process.Code) func(n int) process.Wire {
	of := &Connections{kind: k, p: p}
	return func(n int) process.Wire { return &Wire{of: of, node: int8(n)} }
}

// Write takes what a client wrote, whole commands or parts of them. What client libraries say of themselves, or ask of
// every new connection, is answered at once and goes to no server: a proof about a lock is not about handshakes.
func (c *Wire) Write(b []byte) (answers []byte, err error) {
	c.raw = append(c.raw, b...)
	for len(c.raw) > 0 {
		if c.raw[0] != '*' {
			return answers, noCommand(c.raw)
		}
		words, rest, err := resp.Command(string(c.raw))
		if err != nil {
			return answers, nil // the rest of it is still to come
		}
		if answer, ok := c.handshake(words); ok {
			answers = append(answers, answer...)
		} else {
			c.out = append(c.out, c.raw[:len(c.raw)-len(rest)]...)
		}
		c.raw = append(c.raw[:0], rest...)
	}
	return answers, nil
}

// Unsent reports whether there is something to be sent.
func (c *Wire) Unsent() bool { return len(c.out) > 0 || len(c.raw) > 0 }

// noCommand says what is wrong with what a client wrote. A ZooKeeper's client begins with
// the length of its request to connect, and the version 0 of its protocol.
func noCommand(b []byte) error {
	written := fmt.Sprintf("%.40q", b)
	if len(b) >= 8 && string(b[:3]) == "\x00\x00\x00" && string(b[4:8]) == "\x00\x00\x00\x00" {
		return &process.ProtocolError{Err: i18n.Errorf("error.wire.zookeeper", "bytes", written), ZooKeeper: true}
	}
	return i18n.Errorf("error.wire.command", "bytes", written)
}

// handshake is the answer to a command that concerns the connection only. RESP3 is
// refused, as by a Redis before version 6, so that libraries go on with RESP2.
func (c *Wire) handshake(words []string) (answer string, ok bool) {
	second := ""
	if len(words) > 1 {
		second = strings.ToUpper(words[1])
	}
	switch strings.ToUpper(words[0]) {
	case "HELLO":
		if second == "2" {
			return c.of.kind.Executor.engine.hello, true
		}
		return "-ERR unknown command 'HELLO'\r\n", true
	case "PING":
		if len(c.channels) > 0 {
			return "*2\r\n$4\r\npong\r\n$0\r\n\r\n", true
		}
		return "+PONG\r\n", true
	case "CLIENT":
		switch second {
		case "SETINFO", "SETNAME", "NO-EVICT", "NO-TOUCH":
			return "+OK\r\n", true
		}
		return "-ERR unknown subcommand '" + second + "'\r\n", true
	case "SELECT":
		if second == "0" {
			return "+OK\r\n", true
		}
	}
	return "", false
}

// Close unsubscribes, if the connection has subscribed.
func (c *Wire) Close() bool {
	if !c.Listens() {
		return false
	}
	c.out = append(c.out[:0], proto.Strings("UNSUBSCRIBE")...)
	return true
}

// ParseBatch splits what a client wrote into commands, each of at least one word.
func ParseBatch(wire string) (commands [][]string, err error) {
	for wire != "" {
		var args []string
		if args, wire, err = resp.Command(wire); err != nil {
			return nil, errors.New("simulator: what the client wrote is no command: simulator: not a RESP value")
		}
		commands = append(commands, args)
	}
	return commands, nil
}

// writeBatch returns the bytes that a client writes for these commands: ParseBatch undone.
func writeBatch(commands [][]string) (wire []byte) {
	for _, c := range commands {
		wire = append(wire, proto.Strings(c...)...)
	}
	return wire
}

// ReplyText writes RESP2 replies as histories show them: as redis-cli does, on one line, but of a message its
// payload, and of the confirmation of a subscription the number of channels.
func ReplyText(reply string) string {
	values, err := resp.All(reply)
	if err != nil {
		return fmt.Sprintf("%q", reply)
	}
	if push, _ := only(values); len(push) == 3 {
		switch push[0] {
		case "message", "subscribe", "unsubscribe":
			return resp.Text(push[2])
		}
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = resp.Text(v)
	}
	return strings.Join(texts, "; ")
}

// only returns the array that an answer consists of, if it does.
func only(values []any) (list []any, ok bool) {
	if len(values) == 1 {
		list, ok = values[0].([]any)
	}
	return list, ok
}
