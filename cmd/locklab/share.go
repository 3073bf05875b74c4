package main

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locklab/reports/text"
	"locklab/scenarios/share"
)

// showing are the flags that say where results go. Only a process that has all results obeys them.
var showing = []string{"out", "all", "junit", "summary", "annotations", "title", "notes"}

// computeShare computes a share of a command and prints it.
func computeShare(e *env, c *command, args []string, shard string) error {
	part, err := share.ParsePart(shard)
	if err != nil {
		return err
	}
	for _, name := range showing {
		if f := e.running.Flag(name); f != nil && f.Changed && !slices.Contains([]string{"", "[]"}, f.Value.String()) {
			return text.Errorf("error.shard.shows", "flag", "--"+name)
		}
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

// flagsOf are the flags of a command that were given and that are wanted, in alphabetical order.
func flagsOf(c *cobra.Command, wanted func(name string) bool) (flags []string) {
	c.Flags().Visit(func(f *pflag.Flag) {
		if c.Root().PersistentFlags().Lookup(f.Name) != nil || f.Name == "shard" || !wanted(f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			if values = list.GetSlice(); f.Value.Type() == "stringSlice" {
				values = []string{strings.Join(values, ",")}
			}
		}
		for _, v := range values {
			flags = append(flags, "--"+f.Name+"="+v)
		}
	})
	return flags
}

// taskProgress shows how many tasks of a share are done. Several goroutines may call progress.
func taskProgress(e *console) (progress func(done, of int), end func()) {
	var known sync.Once // the number of tasks
	show, finish := func(int) {}, func() {}
	return func(done, of int) {
		if of > 0 {
			known.Do(func() { show, finish = e.progress(of, "progress.tasks") })
			show(done)
		}
	}, func() { finish() }
}

// mergeCommand puts shares together.
func mergeCommand() *command {
	return &command{
		use: "merge FILE...", texts: []string{"merge", "verify"},
		examples: []string{"merge share-*.json", "merge --json share-*.json",
			`merge share-*.json --junit verify.xml --annotations github --summary "$GITHUB_STEP_SUMMARY"`},
		flags: func(f *flags) { // runMerge gives them to the command of the shares
			f.out(new([]string))
			for _, name := range []string{"junit", "summary", "annotations"} {
				f.add(name, new(string))
			}
		},
		run: runMerge,
	}
}

// runMerge runs the command of the shares, whose tasks others have computed, with the flags of this call.
func runMerge(e *env, files []string) error {
	var shares []*share.Share
	for _, file := range files {
		content, err := readFile(file, maxShare)
		var s *share.Share
		if err == nil {
			s, err = share.Read(file, content)
		}
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
	args := append(slices.Clone(results.Command), flagsOf(e.running, func(string) bool { return true })...)
	var end func()
	results.Progress, end = taskProgress(e.console)
	e.command, e.computer, e.inputs, e.merges = commandLine(args), results, results.Inputs, true
	err = e.execute(e.ctx, args)
	end()
	unfit := results.Unfit()
	if differs := (*share.DifferError)(nil); errors.As(unfit, &differs) {
		return &exitError{exitNoAnswer, differs}
	}
	return cmp.Or(unfit, err)
}

// maxShare is the size of the largest share that is read, in bytes.
const maxShare = 64 << 20
