package redis_test

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// errFault is the error that a client gets for a command into which a fault was
// injected.
var errFault = errors.New("fault")

// noHook lets everything pass.
type noHook struct{}

func (noHook) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (noHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }
func (noHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// A fault is injected into the commands of one name on one connection.
type fault struct {
	noHook
	command      string // its name, in any case
	before       func() // runs before the command leaves, if not nil
	loseRequests int    // how many of them do not reach the server
	loseReplies  int    // of how many the server runs the command but the reply is lost
}

func (f *fault) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if !strings.EqualFold(cmd.Name(), f.command) {
			return next(ctx, cmd)
		}
		if f.before != nil {
			f.before()
		}
		if f.loseRequests > 0 {
			f.loseRequests--
			return errFault
		}
		err := next(ctx, cmd)
		if f.loseReplies > 0 {
			f.loseReplies--
			return errFault
		}
		return err
	}
}

// slow makes a command take d on the client's clock.
func slow(command string, clock interface{ Advance(time.Duration) }, d time.Duration) *fault {
	return &fault{command: command, before: func() { clock.Advance(d) }}
}
