// Command locklab runs, breaks, explains and compares the locks that people
// have built on Redis.
//
// Results go to standard output, talk and progress to standard error. The exit
// status is 0 when everything came out as contracted, 1 when a verdict
// differed, 2 for wrong use, 3 when it could not be told, 4 for a mistake of
// locklab itself.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"locklab/faults"
	"locklab/simulator"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv)
	stop()
	os.Exit(code)
}

// Exit statuses.
const (
	exitOK       = 0
	exitDiffers  = 1
	exitUsage    = 2
	exitUntold   = 3
	exitInternal = 4
)

// exitError ends the program with a status. A nil error in it says nothing: the
// output has said it all.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// internal marks an error as a mistake of locklab. That there is no room for
// something is none: then nothing can be told of it.
func internal(err error) error {
	if err == nil {
		return nil
	}
	if limit := (*simulator.LimitError)(nil); errors.As(err, &limit) {
		return &exitError{exitUntold, err}
	}
	return &exitError{exitInternal, err}
}

// run is the whole program. It touches nothing global, so tests call it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) (code int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(stderr, "locklab: a mistake of locklab itself: %v\nPlease report it with the command that you typed: locklab %s\n", r, strings.Join(args, " "))
			if getenv("LOCKLAB_DEBUG") != "" {
				stderr.Write(debug.Stack())
			}
			code = exitInternal
		}
	}()
	a := newApp(stdin, stdout, stderr, getenv)
	a.command = strings.Join(append([]string{"locklab"}, args...), " ")
	root := a.root()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = a.failed
	}
	return a.report(err)
}

// report says what went wrong and picks the exit status. What is no exitError
// is wrong use.
func (a *app) report(err error) int {
	if err == nil {
		return exitOK
	}
	code := exitUsage
	if e := (*exitError)(nil); errors.As(err, &e) {
		code = e.code
	}
	if text := strings.TrimSpace(err.Error()); text != "" {
		fmt.Fprintln(a.stderr, "locklab: "+text)
	}
	return code
}

var landing = map[string]string{"en": `locklab runs, breaks and compares the locks that people have built on Redis.

  locklab demo                       a tour of one minute
  locklab list                       the locks, the races, the faults
  locklab run token gc-pause         one lock in one race, told in lanes
  locklab explain R18                what a race, a lock, a run or a word is about
  locklab explain path               a guided tour; explain interview: what to answer
  locklab replay LINK                the same run again, or --against another lock
  locklab matrix                     every lock in every race
  locklab sweep pause/ttl            how often, against the size of the fault
  locklab explore token              can it break? every interleaving within bounds
  locklab par                        how little bad luck each lock needs to break
  locklab tolerance                   how large a single fault each lock survives
  locklab verify                     the whole contract proved, for CI

Names may be ids (token, gc-pause), articles' (002-C) or races' (R18).
locklab COMMAND --help says more.
`, "zh": `locklab：把人们在 Redis 上写过的锁拿来运行、弄坏、比较。

  locklab demo                       一分钟看个大概
  locklab list                       有哪些锁、竞态、故障
  locklab run token gc-pause         一把锁在一个竞态里，按泳道讲
  locklab explain R18                讲解一个竞态、一把锁、一次运行或一个词
  locklab explain path               十屏走完演变；explain interview：面试怎么答
  locklab replay LINK                原样重放，或者用 --against 换一把锁
  locklab matrix                     每把锁在每个竞态里的结果
  locklab sweep pause/ttl            多常出事，随故障大小怎么变
  locklab explore token              会不会坏：在范围之内穷举所有顺序
  locklab par                        每把锁要倒多少霉才会坏
  locklab tolerance                   每把锁经得起多大的一次故障
  locklab verify                     验证整份契约，给 CI 用

名字可以是编号（token、gc-pause）、文章里的（002-C）或竞态的（R18）。
locklab COMMAND --help 有更多说明（英文）。
`}

// knownCommand refuses a first word that is no command, and offers the nearest.
func (a *app) knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("there is no command %q:%s 'locklab' alone lists them", args[0], faults.DidYouMean(args[0], names))
}

// plainly says in people's words that a flag's value is no number.
func plainly(err error) error {
	number, given := (*strconv.NumError)(nil), interface{ GetValue() string }(nil)
	if !errors.As(err, &given) {
		return err
	}
	want := "give a length with its unit, such as 10s" // the only flags that are no numbers
	if errors.As(err, &number) {
		switch number.Func {
		case "ParseBool":
			want = "write true or false"
		case "ParseUint":
			want = "give a whole number from 0"
		default:
			want = "give a whole number"
		}
	}
	return fmt.Errorf("%s %q: %s", flagName.FindString(err.Error()), given.GetValue(), want)
}

// flagName finds the flag in what pflag says of it.
var flagName = regexp.MustCompile(`--[a-z-]+`)

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "locklab",
		Short:         "run, break and compare the locks that people have built on Redis",
		Args:          a.knownCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			return a.settle()
		},
		RunE: func(*cobra.Command, []string) error {
			for _, lang := range a.langs() {
				a.printf("%s", landing[lang])
			}
			return nil
		},
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	f := root.PersistentFlags()
	f.BoolVar(&a.json, "json", false, "print JSON instead of text")
	f.StringVar(&a.lang, "lang", "", "language of sentences: en, zh or both (default: from LANG)")
	f.StringVar(&a.color, "color", "auto", "colours: auto, always or never")
	f.IntVar(&a.width, "width", 0, "columns of the output (default: the terminal's, or 120)")
	root.AddCommand(a.demo(), a.list(), a.run(), a.explain(), a.replay(), a.matrix(), a.sweep(), a.explore(), a.verify(), a.par(), a.frontier())
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w\n'%s --help' lists the flags", plainly(err), c.CommandPath())
	})
	return root
}
