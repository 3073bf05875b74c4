package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"locklab/reports"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
)

func (a *app) replay() *cobra.Command {
	var (
		against, view, expect string
		files                 []string
		step, doom            bool
	)
	c := &cobra.Command{
		Use:   "replay LINK|FILE",
		Short: "the same run again, or the same attack on another lock",
		Long: `Plays a trace: a link that another command printed, or a file that holds one
(the link alone, or the JSON of run).

--against NAME makes the same attack on another lock: the race's script, with
the trace's numbers and seed.
--step shows one step after the other; on a terminal each waits for Enter.

` + doomHelp + `
It is there for what a search has found (locklab explore): in a race's lab a
clock says how long each message takes, and only one thing can come next.`,
		Args: exactly(1, "replay LINK|FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			want, err := parseExpect(expect)
			if err != nil {
				return err
			}
			curve, files, err := doomFiles(files, doom)
			if err != nil {
				return err
			}
			if err := checkView(view, files); err != nil {
				return err
			}
			t, err := readTrace(args[0])
			if err != nil {
				return err
			}
			o, err := replayed(t, against)
			if err != nil {
				return err
			}
			if step {
				view = "step"
			}
			a.ctx = c.Context()
			untold := error(nil)
			if doom {
				if untold, err = a.foresee(c.Context(), o.Strategy, o.Trace, "", curve); err != nil {
					return fmt.Errorf("--doom: %w", err)
				}
			}
			return cmp.Or(a.show(o, view, files, want), untold)
		},
	}
	f := c.Flags()
	f.StringVar(&against, "against", "", "another lock to attack in the same way")
	f.StringVar(&view, "view", "lanes", "lanes, table, redis, story, or several with commas")
	f.StringVar(&expect, "expect", "", "verdicts that must come out")
	f.BoolVar(&step, "step", false, "one step after the other")
	f.BoolVar(&doom, "doom", false, "how much is lost after each step, and the point of no return; of traces found by search")
	f.StringArrayVarP(&files, "out", "o", nil, "write to FILE: .json, .txt or .html; the doom curve as .png, .svg or .csv (repeatable)")
	return c
}

func replayed(t simulator.Trace, against string) (*race.Outcome, error) {
	if against == "" {
		return study.Replay(t)
	}
	_, sc, s, err := study.Resolve(t)
	if err != nil {
		return nil, err
	}
	entry, err := race.Strategy(against)
	if err != nil {
		return nil, fmt.Errorf("--against: %w", err)
	}
	return race.Play(entry, sc, s)
}

// readTrace takes a link, or the name of a file that holds one.
func readTrace(arg string) (simulator.Trace, error) {
	t, err := simulator.ParseLink(arg)
	if !errors.Is(err, simulator.ErrTraceForeign) {
		return t, err
	}
	text, readErr := readLimited(arg, 64<<20)
	if noFile(readErr) {
		return t, fmt.Errorf("%.60q is neither a trace nor a file: %w; 'locklab run' prints a link and 'locklab run -o run.json' writes a file", arg, err)
	}
	if readErr != nil {
		return t, fmt.Errorf("cannot read the trace: %w", readErr)
	}
	link := strings.TrimSpace(string(text))
	if strings.HasPrefix(link, "{") {
		var j struct {
			Version int    `json:"version"`
			Trace   string `json:"trace"`
		}
		if err := json.Unmarshal(text, &j); err != nil {
			return t, fmt.Errorf("%s: this JSON is damaged: %w; write it again with 'locklab run -o'", arg, err)
		}
		if j.Version != schema {
			return t, fmt.Errorf("%s: this file is of version %d, this program reads %d; write it again with 'locklab run -o'", arg, j.Version, schema)
		}
		link = j.Trace
	}
	if t, err = simulator.ParseLink(link); err != nil {
		return t, fmt.Errorf("%s: %w", arg, err)
	}
	return t, nil
}

// noFile says that a name is the name of no file, for whatever reason, such as
// being too long.
func noFile(err error) bool {
	path := (*os.PathError)(nil)
	return errors.As(err, &path) && !errors.Is(err, os.ErrPermission) && path.Op == "open"
}

func readLimited(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%s is larger than any run", name)
	}
	return b, err
}

// stepThrough shows the table row by row; on a terminal each waits for Enter, or
// for Ctrl-C.
func (a *app) stepThrough(o *race.Outcome) error {
	var text strings.Builder
	if err := reports.Table(&text, o.History, o.Judgement, a.options()); err != nil {
		return internal(err)
	}
	_, interactive := terminal(a.stdin)
	in := bufio.NewReader(a.stdin)
	for line := range strings.Lines(text.String()) {
		a.printf("%s", line)
		if interactive && strings.TrimSpace(line) != "" && !a.entered(in) {
			return nil // the reader has gone
		}
	}
	return nil
}

// entered waits for a line of input; false: there will be none.
func (a *app) entered(in *bufio.Reader) bool {
	line := make(chan error, 1)
	go func() {
		_, err := in.ReadString('\n')
		line <- err
	}()
	select {
	case err := <-line:
		return err == nil
	case <-a.ctx.Done():
		return false
	}
}
