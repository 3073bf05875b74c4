package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
)

// replayed is a saved run played again, or its attack on another lock.
func replayed(t simulator.Trace, against string) (*race.Outcome, error) {
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

// isLink reports whether a word is a link, even of another version or a damaged one.
func isLink(word string) bool {
	_, err := simulator.ParseLink(word)
	return !errors.Is(err, simulator.ErrTraceForeign)
}

// readTrace reads a link, or a file that contains one.
func readTrace(e *env, arg string) (simulator.Trace, error) {
	t, err := simulator.ParseLink(arg)
	if !errors.Is(err, simulator.ErrTraceForeign) {
		return t, err
	}
	content, readErr := e.read(arg, maxTraceFile)
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

// noFile reports whether opening failed because there is no such file, for example since
// the name is too long for one.
func noFile(err error) bool {
	path := (*os.PathError)(nil)
	return errors.As(err, &path) && !errors.Is(err, os.ErrPermission) && path.Op == "open"
}

// stepThrough draws the lanes, one more row after each Enter; b goes back, q ends. Where the
// input is no terminal and has ended, it draws the rest.
func (r *shownRun) stepThrough(e *env) {
	_, interactive := terminal(e.stdin)
	in := bufio.NewReader(e.stdin)
	look := e.look()
	look.Brief = true
	all := len(reports.Rows(e.Langs()[0], r.History, r.Judgement))
	for n, shown := 1, ""; n <= all; {
		var b strings.Builder
		look.Rows = n
		e.Keep(reports.Lanes(&b, r.History, r.Judgement, look))
		e.Printf("%s", strings.TrimPrefix(b.String(), shown)) // forwards: what is new
		shown = b.String()
		if n == all {
			return
		}
		e.Printf("%s", e.First("step.prompt", "n", fmt.Sprint(n), "all", fmt.Sprint(all)))
		line, ok := e.line(in)
		if !interactive {
			e.Printf("%s\n", line)
		}
		switch {
		case ok && line == "q", !ok && interactive:
			return
		case !ok:
			n = all
		case line == "b":
			n, shown = max(n-1, 1), ""
			e.Printf("\n")
		default:
			n++
		}
	}
}
