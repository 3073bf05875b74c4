package redisnode

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"

	"locklab/simulator/resp"
)

var errFrame = errors.New("simulator: not a RESP value")

// ParseBatch splits what a client wrote into commands, each of at least one word.
func ParseBatch(wire string) (commands [][]string, err error) {
	for wire != "" {
		var args []string
		if args, wire, err = resp.Command(wire); err != nil {
			return nil, fmt.Errorf("simulator: what the client wrote is no command: %w", errFrame)
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
	if push, ok := only(values); ok && len(push) == 3 && slices.Contains([]any{"message", "subscribe", "unsubscribe"}, push[0]) {
		return resp.Text(push[2])
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
