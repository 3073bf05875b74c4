// Command locklab runs, breaks, explains and compares the locks that people have built on Redis.
//
// Results go to standard output, progress and errors to standard error. The exit status is 0 if all was as expected, 1
// if a verdict differed, 2 for wrong use, 3 without an answer, 4 for lost output or an error in locklab.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/redis/go-redis/v9/logging"

	"locklab/reports/text"
	"locklab/simulator/i18n"
)

func main() {
	logging.Disable() // go-redis writes what it returns as an error as well
	os.Exit(run(untilStopped(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}

// untilStopped returns a context that ends with the first signal that asks the program to stop: by Ctrl-C, by kill, or
// because the terminal is gone. The second Ctrl-C ends the program at once.
func untilStopped() context.Context {
	// a closed pipe is an error of Write, and files are still written
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	stop := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		stop = append(stop, syscall.SIGHUP)
	}
	ctx, _ := signal.NotifyContext(context.Background(), stop...)
	context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt) })
	return ctx
}

// run is the whole program. It uses nothing global, so that tests can call it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer,
	getenv func(string) string) (code int) {
	e := newEnv(stdin, stdout, stderr, getenv)
	e.ctx, e.command = ctx, commandLine(args)
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintln(stderr, presentable(e.Say("error.internal", "problem", fmt.Sprint(r), "command", e.command)))
			if getenv("LOCKLAB_DEBUG") != "" {
				stderr.Write(debug.Stack())
			}
			code = exitInternal
		}
	}()
	e.guessLanguage(args)
	err := e.execute(ctx, args)
	code = e.report(cmp.Or(internal(e.Err), err, e.helped))
	if lost := e.stdout.err; lost != nil && !errors.Is(lost, syscall.EPIPE) { // whoever closed a pipe has seen enough
		code = cmp.Or(code, e.report(internal(text.Errorf("error.output", "cause", i18n.Bare(lost)))))
	}
	return code
}
