package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locklab/reports/text"
	"locklab/scenarios/share"
	"locklab/simulator/i18n"
)

// divide returns what runs a command whose work can be divided: a share of it, or all of it.
func divide(e *env, c *command, built *cobra.Command) func(args []string) error {
	shard := ""
	(&flags{built.Flags(), e, nil}).add("shard", &shard)
	return func(args []string) error {
		if e.given("shard") {
			return computeShare(e, c, args, shard)
		}
		return c.run(e, args)
	}
}

// refuseShowing returns an error if a flag says where results go.
func refuseShowing(c *cobra.Command) error {
	for _, name := range showing {
		if f := c.Flags().Lookup(name); f != nil && f.Changed &&
			!slices.Contains([]string{"", "[]"}, f.Value.String()) {
			return text.Errorf("error.shard.shows", "flag", "--"+name)
		}
	}
	return nil
}

// showing are the flags that say where results go. Only a process that has all results obeys them.
var showing = []string{"out", "all", "junit", "summary", "annotations", "title", "notes"}

// computeShare computes a share of a command and prints it.
func computeShare(e *env, c *command, args []string, shard string) error {
	part, err := share.ParsePart(shard)
	if err != nil {
		return err
	}
	if err := refuseShowing(e.running); err != nil {
		return err
	}
	build, err := share.Build()
	if err != nil {
		return internal(err)
	}
	progress, end := taskProgress(e.console)
	partial := &share.Partial{Part: part, Progress: progress}
	e.computer, e.inputs = partial, map[string]string{}
	out := e.Out
	e.Out = io.Discard // the command has only a part of its results
	err = c.run(e, args)
	e.Out = out
	end()
	stopped := e.ctx.Err() != nil
	if err != nil && !errors.Is(err, share.ErrPartial) && !stopped {
		return err
	}
	s := share.Share{
		Build: build, Command: canonical(e.running, args), Inputs: e.inputs, Part: part.String(), Stopped: stopped,
	}
	if err := s.Write(e.Out, partial.Results); err != nil {
		return internal(err)
	}
	if stopped {
		return noAnswer("error.stopped")
	}
	return nil
}

// canonical is the command line that computes the same: without "locklab", without flags
// that all commands have, and without those that say where results go.
func canonical(c *cobra.Command, args []string) []string {
	return append(wordsOf(c), append(flagsOf(c, func(name string) bool { return !slices.Contains(showing, name) }),
		args...)...)
}

// divides reports whether a command line from elsewhere is one that canonical writes of a
// command that has --shard: it names no file to write.
func divides(e *env, command []string) bool {
	c, rest, err := newRoot(newEnv(nil, nil, nil, e.getenv)).Find(command)
	return err == nil && c.Flags().Lookup("shard") != nil && c.ParseFlags(rest) == nil && slices.Equal(canonical(c,
		c.Flags().Args()), command)
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
func taskProgress(e *console) (progress func(done, of int), end func()) {
	var mu sync.Mutex
	var show func(n int)
	finish := func() {}
	progress = func(done, of int) {
		mu.Lock()
		defer mu.Unlock()
		if show == nil && of > 0 {
			show, finish = e.progress(of, "progress.tasks")
		}
		if show != nil {
			show(done)
		}
	}
	return progress, func() { finish() }
}

// mergeCommand puts shares together.
func mergeCommand() *command {
	var out []string
	var junit, summary, annotations string
	return &command{
		use: "merge FILE...", texts: []string{"merge", "verify"},
		examples: []string{"merge share-*.json", "merge --json share-*.json",
			`merge share-*.json --junit verify.xml --annotations github --summary "$GITHUB_STEP_SUMMARY"`},
		flags: func(f *flags) { // runMerge gives them to the command of the shares
			f.out(&out)
			f.add("junit", &junit)
			f.add("summary", &summary)
			f.add("annotations", &annotations)
		},
		run: runMerge,
	}
}

func runMerge(e *env, files []string) error {
	if len(files) == 0 {
		return text.Errorf("error.share.none")
	}
	var shares []*share.Share
	for _, file := range files {
		s, err := readShare(file)
		if err != nil {
			return err
		}
		shares = append(shares, s)
	}
	results, err := share.Merge(files, shares)
	if err != nil {
		return err
	}
	if !divides(e, results.Command) {
		return text.Errorf("error.share.other", "file", files[0], "command", strings.Join(results.Command, " "))
	}
	given := flagsOf(e.running, func(string) bool { return true })
	var end func()
	results.Progress, end = taskProgress(e.console)
	err = runMerged(e, append(slices.Clone(results.Command), given...), results)
	end()
	if differs := (*share.DifferError)(nil); errors.As(results.Unfit(), &differs) {
		return &exitError{exitNoAnswer, differs}
	}
	if unfit := results.Unfit(); unfit != nil {
		return unfit
	}
	return err
}

func readShare(file string) (*share.Share, error) {
	content, err := readFile(file, maxShare)
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return nil, text.Errorf("error.file", "file", file, "cause", i18n.Bare(err))
	}
	if err != nil {
		return nil, err
	}
	return share.Read(file, content)
}

// maxShare is the size of the largest share that is read, in bytes.
const maxShare = 64 << 20

// runMerged runs a command whose tasks others have computed, with the flags of this call
// that all commands have.
func runMerged(e *env, args []string, results *share.Results) error {
	inner := newEnv(e.stdin, nil, e.stderr, e.getenv)
	inner.stdout, inner.Out = e.stdout, e.Out
	inner.ctx, inner.command = e.ctx, commandLine(args)
	inner.computer, inner.inputs, inner.merges = results, results.Inputs, true
	inner.Lang, inner.Width = e.Lang, e.Width
	args = append(slices.Clone(args), "--color="+e.color)
	if e.json {
		args = append(args, "--json")
	}
	if e.lang != "" {
		args = append(args, "--lang="+e.lang)
	}
	if e.width != 0 {
		args = append(args, "--width="+fmt.Sprint(e.width))
	}
	err := inner.execute(e.ctx, args)
	e.Keep(inner.Err)
	return err
}
