package redis_test

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// errFault is what a client hears of a command that a fault struck.
var errFault = errors.New("fault")

// A fault strikes one kind of command on one connection.
type fault struct {
	command string // its name, in any case
	before  func() // runs before the command leaves, if not nil
	lose    int    // how many of them do not reach the server
	mute    int    // how many of them reach it, but their replies do not come back
}

func (f *fault) DialHook(next redis.DialHook) redis.DialHook { return next }

func (f *fault) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (f *fault) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if !strings.EqualFold(cmd.Name(), f.command) {
			return next(ctx, cmd)
		}
		if f.before != nil {
			f.before()
		}
		if f.lose > 0 {
			f.lose--
			return errFault
		}
		err := next(ctx, cmd)
		if f.mute > 0 {
			f.mute--
			return errFault
		}
		return err
	}
}

// slow makes a command take d on the client's clock.
func slow(command string, clock interface{ Advance(time.Duration) }, d time.Duration) *fault {
	return &fault{command: command, before: func() { clock.Advance(d) }}
}
