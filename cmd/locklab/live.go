package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/scenarios/reality"
	"locklab/scenarios/share"
	"locklab/simulator/lists"
	"locklab/simulator/realserver"
)

// liveCommand shows on real servers what the lab says.
func liveCommand() *command {
	return &command{
		use: "live", below: []*command{liveRunCommand(), liveMatrixCommand(), liveVerifyCommand()},
		examples: []string{"live run token gc-pause", "live run LINK", "live matrix -o live.csv"},
	}
}

// liveJSON is one trace in the lab and on real servers in JSON.
type liveJSON struct {
	*reality.Comparison
	NotShown string `json:"not_shown,omitempty"` // why it was not played on real servers, in English
	Stopped  string `json:"stopped,omitempty"`   // why the real run ended before the trace
}

func comparisonJSON(c *reality.Comparison) (j liveJSON) {
	j.Comparison = c
	if c.NotShown != "" {
		j.NotShown = notShown("en", c.NotShown, c.Missing)
	}
	if !c.Stopped.IsZero() {
		j.Stopped = text.SayMessage("en", c.Stopped)
	}
	return j
}

// notShown says why traces were not shown.
func notShown(lang string, why race.Reason, missing ...string) string {
	return text.Say(lang, "live.not."+string(why), "command", text.Join(lang, "chart.list", missing))
}

// maxRounds bounds --rounds.
const maxRounds = 1000

// The bounds of --lease: shorter than the first and the machine is too slow to show anything
// else than itself, longer than the second and nothing is shown that is not before.
const (
	minLease = 50 * time.Millisecond
	maxLease = 10 * time.Second
)

func addLease(f *flags, lease *time.Duration) {
	*lease = reality.DefaultLease
	ranged(f, "lease", lease, minLease, maxLease)
}

// liveError is an error of the machine, or that the user has stopped it.
func liveError(ctx context.Context, err error) error {
	switch {
	case realserver.IsMissing(err):
		return err
	case err != nil && ctx.Err() != nil:
		return noAnswer("error.stopped")
	case err != nil:
		return &exitError{exitInternal, err}
	}
	return nil
}

func liveRunCommand() *command {
	var lease time.Duration
	r := &runFlags{}
	return &command{
		use: "run LOCK RACE | LINK | FILE", args: between(1, 2, "race"), complete: aLockAndARace,
		texts:    []string{"live", "run"},
		examples: []string{"live run token failover", "live run redlock restart --lease 1s", "live run LINK"},
		flags: func(f *flags) {
			addLease(f, &lease)
			f.each("set", &r.settings)
		},
		run: func(e *env, args []string) error {
			o, err := r.play(e, args)
			if err != nil {
				return err
			}
			return showLive(e, o, lease)
		},
	}
}

// showLive shows a run of the lab on real servers.
func showLive(e *env, o *race.Outcome, lease time.Duration) error {
	b, err := reality.NewBench(e.ctx, lease)
	if err != nil {
		return liveError(e.ctx, err)
	}
	defer b.Close()
	s := &reality.Showing{Lab: o}
	if o.NotApplicable == "" {
		if s, err = b.Show(e.ctx, o); err != nil {
			return liveError(e.ctx, err)
		}
	}
	e.show("live run", comparisonJSON(s.Compare()), func() { printShowing(e.console, b, s) })
	switch {
	case o.NotApplicable != "":
		return nil
	case s.Run == nil: // the output says why
		return &exitError{exitNoAnswer, nil}
	case !s.Agrees():
		return &exitError{exitDiffers, nil}
	}
	return nil
}

func printShowing(e *console, b *reality.Bench, s *reality.Showing) {
	if s.Lab.NotApplicable != "" || s.NotShown != "" {
		(&shownRun{Outcome: s.Lab, view: "lanes"}).print(e)
		if s.Lab.NotApplicable == "" {
			e.Printf("\n%s\n", e.Each(func(lang string) string {
				return text.Say(lang, "live.na", "why", notShown(lang, s.NotShown, s.Missing))
			}))
		}
		return
	}
	same := len(s.Run.Differences) == 0
	e.Printf("%s\n\n", e.Say("live.title", "lock", s.Lab.Lock.Heading(), "race", s.Lab.Race.ID))
	if same {
		e.Printf("%s\n\n", e.Say("live.lanes.same"))
	} else {
		e.Printf("%s\n\n", e.Say("live.lanes.lab"))
	}
	e.lanes(s.Lab)
	if !same {
		e.Printf("\n%s\n\n", e.Say("live.lanes.real"))
		e.lanes(s.Real)
		e.Printf("\n")
		printDifferences(e.Printer, s.Compare())
	}
	answers, servers := fmt.Sprint(s.Run.Answers), fmt.Sprint(s.Run.Servers)
	ran := e.Say("live.ran", "servers", servers, "version", b.Version, "answers", answers,
		"ttl", reports.Span(s.Lab.History.TTL), "lease", reports.Span(b.Lease), "speed", fmt.Sprintf("%.3g", s.Speed))
	if s.Lab.Lock.OnZooKeeper() {
		ran = e.Say("live.ran.zookeeper", "version", s.Version, "answers", answers)
	} else if s.Lab.Lock.Database != "" {
		ran = e.Say("live.ran.database", "version", s.Version, "n", servers, "answers", answers)
	}
	e.Printf("\n%s\n", ran)
	e.Printf("%s\n%s\n", e.Say("live.verdict.lab", "verdicts", reports.Words(s.Lab.Verdicts)),
		e.Say("live.verdict.real", "verdicts", reports.Words(s.Real.Verdicts)))
	if s.Agrees() {
		e.Sentence("live.agrees")
	} else {
		e.Sentence("live.disagrees", "n", fmt.Sprint(len(s.Run.Differences)))
	}
	e.Next("locklab run "+s.Lab.Trace.Link(), "locklab live run "+s.Lab.Trace.Link())
}

// maxDifferences is the number of differences of a run that are printed; --json has all.
const maxDifferences = 10

func printDifferences(e *text.Printer, c *reality.Comparison) {
	for i, d := range c.Differ {
		if i == maxDifferences {
			e.Printf("  %s\n", e.Say("live.difference.more", "n", fmt.Sprint(len(c.Differ)-i)))
			break
		}
		key, pairs := "live.difference.key", []string{"key", text.Visible(d.Key)}
		if d.Cmd != nil {
			key, pairs = "live.difference.answer", []string{"command", text.Visible(reports.Command(d.Cmd, c.Key))}
		}
		e.Printf("  %s\n", e.Say(key, append(pairs, "time", reports.Millis(d.At, 1), "n", fmt.Sprint(d.Server),
			"lab", text.Visible(d.Lab), "real", text.Visible(d.Real))...))
	}
	if !c.Stopped.IsZero() {
		e.Printf("  %s\n", e.Message(c.Stopped))
	}
}

// apart returns the number of the traces that agree, and those that do not. Others were not shown.
func apart(all []*reality.Comparison) (agree int, differ []*reality.Comparison) {
	for _, c := range all {
		if c.Agrees != nil && *c.Agrees {
			agree++
		} else if c.Agrees != nil {
			differ = append(differ, c)
		}
	}
	return agree, differ
}

// liveTable are the flags of a table of many traces.
type liveTable struct {
	lease  time.Duration
	rounds int
	locks  lockFlags
	out    string
}

// command returns the command of a table, which has flags and finds what to show of locks: so many tasks.
func (t *liveTable) command(c command, more func(f *flags),
	plan func(e *env, locks []lock.Entry) (tasks int, find findTable, err error)) *command {
	c.texts, c.args, t.rounds = []string{"live"}, noArguments, 1
	c.flags = func(f *flags) {
		addLease(f, &t.lease)
		ranged(f, "rounds", &t.rounds, 1, maxRounds)
		t.locks.add(f, f.e.Say("help.flag.locks.all"))
		f.outTo(&t.out)
		f.writes(func() []string { return []string{t.out} }, "error.live.out", ".csv")
		more(f)
	}
	c.run = func(e *env, _ []string) error {
		locks, err := t.locks.pick(algorithms.All())
		if err != nil {
			return err
		}
		tasks, find, err := plan(e, locks)
		if err != nil {
			return err
		}
		return t.compute(e, tasks, find)
	}
	return &c
}

// findTable computes a table on servers.
type findTable func(b *reality.Bench, w *share.Work) (*reality.Table, error)

func liveMatrixCommand() *command {
	var races []string
	return (&liveTable{}).command(command{
		use:      "matrix",
		examples: []string{"live matrix", "live matrix --locks token,redlock --races R18,R21 -o live.csv"},
	}, func(f *flags) { f.add("races", &races) }, func(e *env, locks []lock.Entry) (int, findTable, error) {
		scs, err := pickRaces(races)
		return len(scs), func(b *reality.Bench, w *share.Work) (*reality.Table, error) {
			return reality.Matrix(e.ctx, b, locks, scs, w)
		}, err
	})
}

func liveVerifyCommand() *command {
	return (&liveTable{}).command(command{
		use: "verify", examples: []string{"live verify", "live verify --locks token -o live.csv"},
	}, func(*flags) {}, func(e *env, locks []lock.Entry) (int, findTable, error) {
		rows := lists.Pick(contractOf(contract.Own(), locks),
			func(x contract.Expectation) bool { return !x.IsRace() })
		return reality.Locks(rows), func(b *reality.Bench, w *share.Work) (*reality.Table, error) {
			return reality.Verify(e.ctx, b, rows, w)
		}, nil
	})
}

// compute computes a table of so many tasks, prints it, and writes the file.
func (t *liveTable) compute(e *env, tasks int, find findTable) error {
	b, err := reality.NewBench(e.ctx, t.lease)
	if err != nil {
		return liveError(e.ctx, err)
	}
	defer b.Close()
	b.Rounds = t.rounds
	w, end := e.work(tasks, "progress.live")
	w.Waits = true
	table, err := find(b, w)
	end()
	if err := liveError(e.ctx, err); err != nil {
		return err
	}
	var all []*reality.Comparison
	worst := contract.Met
	for _, row := range table.Rows {
		all, worst = append(all, row.Comparisons...), max(worst, row.Status)
	}
	cells := append([]liveJSON{}, lists.Each(all, comparisonJSON)...)
	e.show("live", map[string]any{"cells": cells}, func() { t.print(e.console, table, all) })
	if _, differ := apart(all); differ != nil {
		worst = contract.Differs
	}
	return cmp.Or(e.write(t.out, func(w io.Writer) error { return writeLive(w, cells) }), asMet(worst))
}

func (t *liveTable) print(e *console, table *reality.Table, all []*reality.Comparison) {
	e.Printf("%s\n\n", e.Say("live.heading", "version", table.Version, "lease", reports.Span(t.lease)))
	for _, row := range table.Rows {
		if of := row.Comparisons; len(of) > 0 {
			agree, differ := apart(of)
			e.Wrap(text.Pad(row.Name, 32)+"  ", e.Say("live.row", "agree", fmt.Sprint(agree),
				"disagree", fmt.Sprint(len(differ)), "not", fmt.Sprint(len(of)-agree-len(differ))))
		}
	}
	e.Printf("\n")
	for _, row := range table.Rows {
		for _, reason := range row.Reasons {
			e.Wrap("", e.Say("live.unmet", "search", row.Name, "why", e.Message(reason)))
		}
	}
	agree, differ := apart(all)
	for _, c := range differ {
		e.Printf("%s\n", e.Say(inRounds("live.differs", t.rounds), "round", fmt.Sprint(c.Round), "lock", c.Lock,
			"race", c.Race, "lab", reports.Words(c.Lab), "real", reports.Words(c.Real)))
		printDifferences(e.Printer, c)
		e.Printf("  locklab live run %s\n", c.Trace)
	}
	e.Sentence(inRounds("live.sum", t.rounds), "rounds", fmt.Sprint(t.rounds), "agree", fmt.Sprint(agree),
		"disagree", fmt.Sprint(len(differ)))
	for _, why := range reality.Reasons() {
		not := lists.Pick(all, func(c *reality.Comparison) bool { return c.Agrees == nil && c.NotShown == why })
		missing := lists.Each(not, func(c *reality.Comparison) string { return c.Missing })
		slices.Sort(missing)
		missing = slices.DeleteFunc(slices.Compact(missing), func(name string) bool { return name == "" })
		if not != nil {
			e.Wrap("  ", e.Each(func(lang string) string {
				return text.Say(lang, "live.sum.not", "n", fmt.Sprint(len(not)), "why", notShown(lang, why, missing...))
			}))
		}
	}
}

// inRounds returns the key of a text about rounds, if there are several.
func inRounds(key string, rounds int) string {
	if rounds > 1 {
		return key + ".rounds"
	}
	return key
}

// writeLive writes one line for each trace.
func writeLive(w io.Writer, cells []liveJSON) error {
	rows := [][]string{{"lock", "race", "lab", "real", "agrees", "differences", "answers", "servers",
		"not_shown", "trace"}}
	for _, j := range cells {
		agrees := ""
		if j.Agrees != nil {
			agrees = fmt.Sprint(*j.Agrees)
		}
		rows = append(rows, []string{j.Lock, j.Race, reports.Words(j.Lab), reports.Words(j.Real), agrees,
			fmt.Sprint(len(j.Differ)), fmt.Sprint(j.Answers), fmt.Sprint(j.Servers), j.NotShown, j.Trace})
	}
	return csv.NewWriter(w).WriteAll(rows)
}
