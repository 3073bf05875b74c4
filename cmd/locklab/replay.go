package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"locklab/reports"
	"locklab/reports/text"
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
		Use:     "replay LINK|FILE",
		Example: a.examples("replay", "replay LINK --against redlock"),
		Args:    a.exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			want, err := a.parseExpect(c, expect)
			if err != nil {
				return err
			}
			curve, files, err := a.doomFiles(files, doom)
			if err != nil {
				return err
			}
			if err := a.checkView(view, files); err != nil {
				return err
			}
			if err := a.checkOutputs("-o", curve...); err != nil {
				return err
			}
			t, err := a.readTrace(args[0])
			if err != nil {
				return err
			}
			o, err := a.replayed(t, against)
			if err != nil {
				return err
			}
			if step {
				view = "step"
			}
			unanswered := error(nil)
			if doom {
				if unanswered, err = a.findDoom(c.Context(), o.Strategy, o.Trace, ""); err != nil {
					return text.Errorf("error.doom", "cause", err)
				}
			}
			return cmp.Or(a.show(o, view, append(files, curve...), want), unanswered)
		},
	}
	f, usage := c.Flags(), a.usage("replay")
	f.StringVar(&against, "against", "", usage("against"))
	f.StringVar(&view, "view", "lanes", usage("view"))
	f.StringVar(&expect, "expect", "", usage("expect"))
	f.BoolVar(&step, "step", false, usage("step"))
	f.BoolVar(&doom, "doom", false, usage("doom"))
	f.StringArrayVarP(&files, "out", "o", nil, usage("out"))
	return c
}

func (a *app) replayed(t simulator.Trace, against string) (*race.Outcome, error) {
	if _, err := race.Strategy(t.Strategy); err != nil && against == "" {
		return nil, text.Errorf("error.replay.unlisted", "lock", t.Strategy)
	}
	if against == "" {
		return study.Replay(t)
	}
	entry, err := race.Strategy(against)
	if err != nil {
		return nil, text.Errorf("error.against", "cause", err)
	}
	return study.Against(entry, t)
}

// readTrace reads a link, or a file that contains one.
func (a *app) readTrace(arg string) (simulator.Trace, error) {
	t, err := simulator.ParseLink(arg)
	if !errors.Is(err, simulator.ErrTraceForeign) {
		return t, err
	}
	content, readErr := a.read(arg, maxTraceFile)
	if noFile(readErr) {
		return t, text.Errorf("error.trace.neither", "name", fmt.Sprintf("%.60s", arg), "cause", err)
	}
	if readErr != nil {
		return t, text.Errorf("error.trace.read", "cause", readErr)
	}
	link := strings.TrimSpace(string(content))
	if strings.HasPrefix(link, "{") {
		var j struct {
			Version int    `json:"version"`
			Trace   string `json:"trace"`
		}
		if err := json.Unmarshal(content, &j); err != nil {
			return t, text.Errorf("error.trace.json", "file", arg, "cause", err)
		}
		if j.Version != schema {
			return t, text.Errorf("error.trace.version", "file", arg, "version", j.Version, "ours", schema)
		}
		link = j.Trace
	}
	if t, err = simulator.ParseLink(link); err != nil {
		return t, text.Errorf("error.file", "file", arg, "cause", err)
	}
	return t, nil
}

// noFile says whether opening failed because there is no such file, for example since
// the name is too long for one.
func noFile(err error) bool {
	path := (*os.PathError)(nil)
	return errors.As(err, &path) && !errors.Is(err, os.ErrPermission) && path.Op == "open"
}

// stepThrough draws the lanes, one more row after each Enter; b goes back, q ends. Where the
// input is no terminal and has ended, it draws the rest.
func (a *app) stepThrough(o *race.Outcome) error {
	_, interactive := terminal(a.stdin)
	in := bufio.NewReader(a.stdin)
	look := a.options()
	look.Brief = true
	all := len(reports.Rows(a.Langs()[0], o.History, o.Judgement))
	for n, shown := 1, ""; n <= all; {
		var b strings.Builder
		look.Rows = n
		if err := reports.Lanes(&b, o.History, o.Judgement, look); err != nil {
			return internal(err)
		}
		a.Printf("%s", strings.TrimPrefix(b.String(), shown)) // forwards: what is new
		shown = b.String()
		if n == all {
			return nil
		}
		a.Printf("%s", a.First("step.prompt", "n", fmt.Sprint(n), "all", fmt.Sprint(all)))
		line, ok := a.line(in)
		if !interactive {
			a.Printf("%s\n", line)
		}
		switch {
		case ok && line == "q", !ok && interactive:
			return nil
		case !ok:
			n = all
		case line == "b":
			n, shown = max(n-1, 1), ""
			a.Printf("\n")
		default:
			n++
		}
	}
	return nil
}
