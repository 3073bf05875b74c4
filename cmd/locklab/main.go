// Command locklab runs, breaks, explains and compares the locks that people have built
// on Redis.
//
// Results go to standard output, progress and errors to standard error. The exit status
// is 0 when everything came out as expected, 1 when a verdict differed, 2 for wrong use,
// 3 when there is no answer, 4 when output was lost or for an error in locklab itself.
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
	"strings"
	"syscall"

	"github.com/redis/go-redis/v9/logging"
	"github.com/spf13/cobra"

	"locklab/reports/text"
)

func main() {
	logging.Disable() // go-redis writes what it returns as an error as well
	os.Exit(run(untilStopped(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
}

// untilStopped returns a context that ends with the first signal that asks the program to
// stop: by Ctrl-C, by kill, or because the terminal is gone. The second Ctrl-C ends the
// program at once.
func untilStopped() context.Context {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a closed pipe is an error of Write, and files are still written
	stop := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		stop = append(stop, syscall.SIGHUP)
	}
	ctx, _ := signal.NotifyContext(context.Background(), stop...)
	context.AfterFunc(ctx, func() { signal.Reset(os.Interrupt) })
	return ctx
}

// run is the whole program. It uses nothing global, so that tests can call it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) (code int) {
	a := newApp(stdin, stdout, stderr, getenv)
	a.ctx = ctx
	a.command = text.Visible(strings.Join(append([]string{"locklab"}, args...), " "))
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintln(stderr, presentable(a.Say("error.internal", "problem", fmt.Sprint(r), "command", a.command)))
			if getenv("LOCKLAB_DEBUG") != "" {
				stderr.Write(debug.Stack())
			}
			code = exitInternal
		}
	}()
	a.guessLanguage(args)
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.Out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	code = a.report(cmp.Or(err, a.helped))
	if lost := a.stdout.err; lost != nil && !errors.Is(lost, syscall.EPIPE) { // whoever closed a pipe has seen enough
		code = cmp.Or(code, a.report(internal(text.Errorf("error.output", "cause", bare(lost)))))
	}
	return code
}

// root returns the command without a name: it lists the others.
func (a *app) root() *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:           "locklab",
		Args:          a.knownCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(c *cobra.Command, args []string) error {
			return cmp.Or(a.refuseEmpty(c, args), a.checkCommonFlags())
		},
		RunE: func(*cobra.Command, []string) error {
			if version {
				return a.printVersion()
			}
			a.landing()
			return nil
		},
	}
	root.Flags().BoolVar(&version, "version", false, a.usage("")("version"))
	root.CompletionOptions.HiddenDefaultCmd = true
	f, usage := root.PersistentFlags(), a.usage("")
	f.BoolVar(&a.json, "json", false, usage("json"))
	f.StringVar(&a.lang, "lang", "", usage("lang", "languages", a.sayLanguages()))
	f.StringVar(&a.color, "color", "auto", usage("color"))
	f.IntVar(&a.width, "width", 0, usage("width"))
	root.AddCommand(a.demo(), a.list(), a.run(), a.explain(), a.replay(), a.shared(a.matrix()), a.shared(a.sweep()), a.explore(),
		a.shared(a.verify()), a.shared(a.par()), a.shared(a.tolerance()), a.shared(a.rate()), a.price(), a.shared(a.recovery()), a.shared(a.waiting()), a.play(), a.quiz(), a.serve(),
		a.check(), a.merge(), a.fleet(), a.live(), a.secondOpinion())
	a.translateHelp(root)
	root.SetFlagErrorFunc(a.flagError)
	return root
}

// knownCommand refuses a first word that is no command, and offers the nearest.
func (a *app) knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if args[0] == "frontier" {
		return text.Errorf("error.renamed", "old", "locklab frontier", "new", "locklab tolerance")
	}
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return text.Errorf("error.command", "name", args[0], "near", text.Near(args[0], names))
}

// noArguments refuses arguments.
func (a *app) noArguments(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return text.Errorf("error.noarguments", "command", c.CommandPath(), "name", args[0])
	}
	return nil
}

// atMost refuses more arguments.
func (a *app) atMost(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > n {
			return text.Errorf("error.noarguments", "command", c.CommandPath(), "name", args[n])
		}
		return nil
	}
}

// exactly refuses any other number of arguments.
func (a *app) exactly(n int) cobra.PositionalArgs { return a.within(n, n) }

// within refuses more or fewer arguments.
func (a *app) within(n, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < n || len(args) > most {
			return text.Errorf("error.arguments", "given", len(args), "needed", n, "usage", "locklab "+c.Use)
		}
		return nil
	}
}
