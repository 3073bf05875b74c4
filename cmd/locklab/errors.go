package main

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locklab/faults"
	"locklab/reports/chart"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/i18n"
)

// Exit statuses.
const (
	exitOK       = 0
	exitDiffers  = 1
	exitUsage    = 2
	exitNoAnswer = 3
	exitInternal = 4
)

// exitError ends the program with a status. A nil error in it prints nothing, since the output has said everything.
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

// internal marks an error as one of locklab itself. That the user has stopped the command or a
// limit of the simulator was reached is no such error: it leaves the question without an answer.
func internal(err error) error {
	if err == nil {
		return nil
	}
	if stoppedBy(err) {
		return noAnswer("error.stopped")
	}
	if errors.As(err, new(chart.SizeError)) {
		return err
	}
	if limit := (*simulator.LimitError)(nil); errors.As(err, &limit) {
		return &exitError{exitNoAnswer, err}
	}
	return &exitError{exitInternal, err}
}

// stoppedBy reports whether an error is that the user has stopped the command.
func stoppedBy(err error) bool { return errors.Is(err, context.Canceled) }

// noAnswer returns an error that ends the program with exit status 3.
func noAnswer(key string, pairs ...any) error {
	return &exitError{exitNoAnswer, text.Errorf(key, pairs...)}
}

// presentable is a message without control characters, and with … for most of what is too long: it may repeat input.
func presentable(message string) string {
	var lines []string
	for line := range strings.SplitSeq(message, "\n") {
		line = longQuote.ReplaceAllStringFunc(text.Visible(line),
			func(s string) string { return text.Cut(s, 100) + `"` })
		line = longWord.ReplaceAllStringFunc(line, func(s string) string { return text.Cut(s, 200) })
		lines = append(lines, text.Cut(line, 1000))
	}
	return strings.Join(lines[:min(len(lines), 1000)], "\n")
}

var (
	longQuote = regexp.MustCompile(`"(?:[^"\\]|\\.){200,}"`)
	longWord  = regexp.MustCompile(`[^\s"]{400,}`)
)

// flagError says in plain words what is wrong with a flag.
func flagError(c *cobra.Command, err error) error {
	if refused := (*exitError)(nil); errors.As(err, &refused) {
		return refused
	}
	if names := c.Flags().Args(); !c.HasParent() && len(names) > 0 { // as in "locklab token gc-pause --seed 3"
		return knownCommand(c, names)
	}
	value, missing := (*pflag.InvalidValueError)(nil), (*pflag.ValueRequiredError)(nil)
	unknown := (*pflag.NotExistError)(nil)
	problem := err
	switch {
	case errors.As(err, &value) && value.GetValue() == "":
		problem = text.Errorf("error.flag.empty", "flag", "--"+value.GetFlag().Name)
	case errors.As(err, &value):
		problem = text.Errorf("error.flag.value", "flag", "--"+value.GetFlag().Name, "value", value.GetValue(),
			"want", wanted(err))
	case errors.As(err, &missing):
		problem = text.Errorf("error.flag.missing", "flag", "--"+missing.GetFlag().Name)
	case errors.As(err, &unknown):
		var all []string
		c.Flags().VisitAll(func(f *pflag.Flag) { all = append(all, "--"+f.Name) })
		name := unknown.GetSpecifiedName()
		if c.Flags().Lookup("set") != nil && slices.Contains(race.SettingNames(), name) {
			return text.Errorf("error.flag.setting", "flag", "--"+name, "name", name)
		}
		if c.Name() == "chart" {
			return text.Errorf("error.chart.flag", "flag", "--"+name)
		}
		if fault, err := faults.ByName(strings.TrimSuffix(name, "s")); c.Flags().Lookup("budget") != nil && err == nil {
			return text.Errorf("error.flag.fault", "flag", "--"+name, "fault", fault.Name)
		}
		return text.Errorf("error.flag.unknown", "flag", flagIn.FindString(err.Error()),
			"near", text.Near("--"+name, all), "command", c.CommandPath())
	}
	return text.Errorf("error.flag", "problem", problem, "command", c.CommandPath())
}

// mayBeEmpty are flags whose empty value means something, or is refused in words of its own.
// Outside of GitHub the variable is empty that --summary is given there.
var mayBeEmpty = []string{"budget", "expect", "summary", "title"}

// refuseEmpty refuses an empty name: an unset variable of a script must not look like a flag that was left out.
func refuseEmpty(c *cobra.Command, args []string) (err error) {
	if c.Name() == cobra.ShellCompRequestCmd { // a shell completes an empty word
		return nil
	}
	if i := slices.Index(args, ""); i >= 0 {
		return text.Errorf("error.argument.empty", "n", i+1, "command", c.CommandPath())
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok && f.Value.Type() == "stringArray" {
			values = list.GetSlice()
		} else if f.Value.Type() != "string" {
			return
		}
		if err == nil && slices.Contains(values, "") && !slices.Contains(mayBeEmpty, f.Name) {
			err = text.Errorf("error.flag", "problem", text.Errorf("error.flag.empty", "flag", "--"+f.Name),
				"command", c.CommandPath())
		}
	})
	return err
}

// flagIn finds the flag in what pflag says about it.
var flagIn = regexp.MustCompile(`--?[a-zA-Z][a-z-]*$`)

// wanted says what to write in place of a value that could not be read.
func wanted(err error) any {
	said, number := i18n.Error(nil), (*strconv.NumError)(nil)
	switch {
	case errors.As(err, &said):
		return said
	case !errors.As(err, &number): // the only flags that are no numbers are lengths of time
		return i18n.New("error.want.length")
	case number.Func == "ParseBool":
		return i18n.New("error.want.bool")
	case number.Func == "ParseUint":
		return i18n.New("error.want.natural")
	}
	return i18n.New("error.want.integer")
}
