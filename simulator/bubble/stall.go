package bubble

import (
	"path"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// patience is how long, in real time, code may run before it must have come to rest.
const patience = 3 * time.Second

// stalled says what keeps code from coming to rest: a goroutine of a bubble that runs,
// or that is blocked otherwise than durably. At most one bubble runs at a time.
func stalled(client int) *StallError {
	e := &StallError{Client: client, After: patience}
	b := make([]byte, 4<<20)
	for _, g := range strings.Split(string(b[:runtime.Stack(b, true)]), "\n\n") {
		head, stack, _ := strings.Cut(g, "\n")
		_, state, _ := strings.Cut(head, "[")
		state, _, _ = strings.Cut(state, "]")
		if !strings.Contains(state, "synctest bubble") || strings.Contains(state, "durable") || strings.Contains(stack, "bubble.(*execution).agent") {
			continue
		}
		state, _, _ = strings.Cut(state, ",")
		e.State, e.Stack = state, stack
		if state != "runnable" && state != "running" {
			break
		}
	}
	return e
}

// lineOf is a place of a source file as it is shown: folder/file.go:12.
func lineOf(file string, line int) string {
	return path.Join(path.Base(path.Dir(file)), path.Base(file)) + ":" + strconv.Itoa(line)
}
