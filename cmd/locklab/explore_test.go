package main

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"locklab/simulator/effort"
)

// What a search prints is the same in every call; with --time it also says how long it took.
func TestExploreTime(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	args := strings.Fields("explore setnx --timing lockstep --attempts 1 --budget crash=1")
	_, once, _ := call(t, args...)
	_, timed, _ := call(t, append(args, "--time")...)
	speed := regexp.MustCompile(`(?m)^\d+\.\d\d s, .* million transitions/s, \d+ bytes per state\n`)
	if speed.MatchString(once) || !speed.MatchString(timed) || speed.ReplaceAllString(timed, "") != once {
		t.Errorf("without --time:\n%s\nwith it:\n%s", once, timed)
	}
	if _, out, _ := call(t, append(args, "--json", "--time")...); !strings.Contains(out, `"seconds": `) {
		t.Errorf("as JSON: %s", out)
	}
}

// impatient is a context that ends when it was looked at so many times.
type impatient struct {
	context.Context
	stop  context.CancelFunc
	looks int
}

func (i *impatient) Err() error {
	if i.looks--; i.looks == 0 {
		i.stop()
	}
	return i.Context.Err()
}

// A search that is stopped says that it was cut short and, with the shortest way to it, what it has found by then.
func TestExploreStopped(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	args := strings.Fields("explore token --timing any --attempts 1 --uses none --budget pause=1")
	for looks := 8; looks < 1<<10; looks += looks / 4 {
		ctx, stop := context.WithCancel(t.Context())
		var out, errs strings.Builder
		code := run(&impatient{ctx, stop, looks}, args, strings.NewReader(""), &out, &errs, func(string) string { return "" })
		stop()
		if code != exitNoAnswer || !strings.Contains(out.String(), "cut short") {
			t.Fatalf("after %d looks: exit status %d: %s\n%s", looks, code, errs.String(), out.String())
		}
		if strings.Contains(out.String(), "The shortest way to OVERLAP:") {
			return
		}
	}
	t.Error("nothing was found")
}
