package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locklab/reports/text"
	"locklab/scenarios/share"
)

// elsewhere says who computes the tasks of a command in place of this process.
type elsewhere struct {
	computer share.Computer
	// inputs are the files that the command reads. given: there are no others; otherwise they
	// are read, and entered here.
	inputs map[string]string
	given  bool
	// planned is told the command line that computes the same; nil: it is not.
	planned func(command []string)
	// strict forbids what touches this machine: the command comes from another one.
	strict bool
}

// shared gives a command the flag --shard, and has its tasks computed where they are to be,
// by a fleet too.
func (a *app) shared(c *cobra.Command) *cobra.Command {
	c = a.inShares(c)
	c.Annotations = map[string]string{isShared: "yes"}
	return c
}

// inShares is shared without a fleet: it keeps results, and would not compute again what
// real servers did once.
func (a *app) inShares(c *cobra.Command) *cobra.Command {
	var shard string
	c.Flags().StringVar(&shard, "shard", "", a.usage("")("shard"))
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case c.Flags().Changed("shard"):
			return a.computeShare(c, args, shard, run)
		case a.elsewhere != nil:
			return a.computeElsewhere(c, args, run)
		}
		return run(c, args)
	}
	return c
}

// isShared is the annotation of a command that a fleet runs.
const isShared = "shared"

func (a *app) computeElsewhere(c *cobra.Command, args []string, run func(*cobra.Command, []string) error) error {
	e := a.elsewhere
	if e.strict {
		if err := a.refuseShowing(c, "error.fleet.shows"); err != nil {
			return err
		}
	}
	if e.planned != nil {
		e.planned(canonical(c, args))
	}
	c.SetContext(share.With(c.Context(), e.computer, text.Fits))
	return run(c, args)
}

// refuseShowing returns an error if a flag says where results go.
func (a *app) refuseShowing(c *cobra.Command, key string) error {
	for _, name := range showing {
		if f := c.Flags().Lookup(name); f != nil && f.Changed && !slices.Contains([]string{"", "[]"}, f.Value.String()) {
			return text.Errorf(key, "flag", "--"+name)
		}
	}
	return nil
}

// showing are the flags that say where results go. They belong to whoever has all results.
var showing = []string{"out", "checkpoint", "junit", "summary", "annotations", "resume"}

// computeShare computes a share of a command and prints it.
func (a *app) computeShare(c *cobra.Command, args []string, shard string, run func(*cobra.Command, []string) error) error {
	if a.elsewhere != nil {
		return text.Errorf("error.shard.elsewhere")
	}
	part, err := share.ParsePart(shard)
	if err != nil {
		return err
	}
	if err := a.refuseShowing(c, "error.shard.shows"); err != nil {
		return err
	}
	build, err := share.Build()
	if err != nil {
		return internal(err)
	}
	progress, end := a.taskProgress()
	partial := &share.Partial{Part: part, Progress: progress}
	a.elsewhere = &elsewhere{inputs: map[string]string{}}
	c.SetContext(share.With(c.Context(), partial, text.Fits))
	restore := a.silence()
	err = run(c, args)
	restore()
	end()
	stopped := c.Context().Err() != nil
	if err != nil && !errors.Is(err, share.ErrPartial) && !stopped {
		return err
	}
	s := share.Share{
		Build: build, Command: canonical(c, args), Inputs: a.elsewhere.inputs, Part: part.String(),
		Tasks: partial.Tasks, Stopped: stopped, Results: partial.Results,
	}
	if err := s.Write(a.Out); err != nil {
		return internal(err)
	}
	if stopped {
		return noAnswer("error.stopped")
	}
	return nil
}

// silence leaves out what a command prints that has only a part of its results.
func (a *app) silence() (restore func()) {
	out := a.Out
	a.Out = discard{}
	return func() { a.Out = out }
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// canonical is the command line that computes the same: without "locklab", without flags
// that all commands have, and without those that say where results go.
func canonical(c *cobra.Command, args []string) []string {
	return append(strings.Fields(c.CommandPath())[1:], append(flagsOf(c, func(name string) bool { return !slices.Contains(showing, name) }), args...)...)
}

// divides reports whether a command line from elsewhere is one that canonical writes of a
// command that has --shard: it names no file to write.
func (a *app) divides(command []string) bool {
	c, rest, err := newApp(nil, nil, nil, a.getenv).root().Find(command)
	return err == nil && c.Flags().Lookup("shard") != nil && c.ParseFlags(rest) == nil && slices.Equal(canonical(c, c.Flags().Args()), command)
}

// flagsOf are the flags of a command that were given and that are wanted, in alphabetical
// order.
func flagsOf(c *cobra.Command, wanted func(name string) bool) (flags []string) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if c.InheritedFlags().Lookup(f.Name) != nil || f.Name == "shard" || !wanted(f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			flags = append(flags, "--"+f.Name+"="+v)
		}
	})
	return flags
}

// taskProgress shows how many tasks of a share are done, on a terminal only. Several
// goroutines may call progress.
func (a *app) taskProgress() (progress func(done, of int), end func()) {
	var mu sync.Mutex
	var show func(n int)
	finish := func() {}
	progress = func(done, of int) {
		mu.Lock()
		defer mu.Unlock()
		if show == nil && of > 0 {
			if show, finish = a.progress(of, "progress.tasks"); show == nil {
				show = func(int) {}
			}
		}
		show(done)
	}
	return progress, func() { finish() }
}

// merge puts shares together.
func (a *app) merge() *cobra.Command {
	var out []string
	var junit, summary, annotations string
	c := &cobra.Command{
		Use:     "merge FILE...",
		Example: a.examples("merge", "merge share-*.json", "merge --json share-*.json", `merge share-*.json --junit verify.xml --annotations github --summary "$GITHUB_STEP_SUMMARY"`),
		RunE: func(c *cobra.Command, files []string) error {
			if len(files) == 0 {
				return text.Errorf("error.share.none")
			}
			var shares []*share.Share
			for _, file := range files {
				if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() { // a device has no end
					return text.Errorf("error.file", "file", file, "cause", text.Errorf("error.share.regular"))
				}
				content, err := a.read(file, maxShare)
				if err != nil {
					return text.Errorf("error.file", "file", file, "cause", bare(err))
				}
				s, err := share.Read(file, content)
				if err != nil {
					return err
				}
				shares = append(shares, s)
			}
			results, err := share.Merge(files, shares)
			if err != nil {
				return err
			}
			if !a.divides(results.Command) {
				return text.Errorf("error.share.other", "file", files[0], "command", strings.Join(results.Command, " "))
			}
			flags := flagsOf(c, func(string) bool { return true })
			err = a.runElsewhere(c.Context(), append(slices.Clone(results.Command), flags...), &elsewhere{computer: results, inputs: results.Inputs, given: true})
			if unfit := results.Unfit(); unfit != nil {
				return unfit
			}
			return err
		},
	}
	f, usage := c.Flags(), a.usage("merge")
	f.StringArrayVarP(&out, "out", "o", nil, usage("out"))
	f.StringVar(&junit, "junit", "", a.usage("verify")("junit"))
	f.StringVar(&summary, "summary", "", a.usage("verify")("summary"))
	f.StringVar(&annotations, "annotations", "", a.usage("verify")("annotations"))
	return c
}

// maxShare is the size of the largest share that is read, in bytes.
const maxShare = 1 << 30

// runElsewhere runs a command whose tasks e computes, with the flags of this call that all
// commands have.
func (a *app) runElsewhere(ctx context.Context, args []string, e *elsewhere) error {
	inner := newApp(a.stdin, nil, a.stderr, a.getenv)
	inner.stdout, inner.Out = a.stdout, a.Out
	inner.ctx, inner.elsewhere, inner.command = ctx, e, text.Visible(strings.Join(append([]string{"locklab"}, args...), " "))
	inner.Lang, inner.Width = a.Lang, a.Width
	args = append(slices.Clone(args), "--color="+a.color)
	if a.json {
		args = append(args, "--json")
	}
	if a.lang != "" {
		args = append(args, "--lang="+a.lang)
	}
	if a.width != 0 {
		args = append(args, "--width="+fmt.Sprint(a.width))
	}
	root := inner.root()
	root.SetArgs(args)
	root.SetOut(inner.Out)
	root.SetErr(a.stderr)
	return root.ExecuteContext(ctx)
}
