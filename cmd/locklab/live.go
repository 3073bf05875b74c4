package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/scenarios/reality"
	"locklab/scenarios/share"
	"locklab/simulator/lists"
	"locklab/simulator/live"
	"locklab/simulator/realserver"
	"locklab/simulator/verdict"
)

// liveCommand shows on real servers what the lab says.
func liveCommand() *command {
	return &command{
		use: "live", below: []*command{liveRunCommand(), liveMatrixCommand(), liveVerifyCommand()},
		examples: []string{"live run token gc-pause", "live run LINK", "live matrix -o live.csv"},
	}
}

// liveJSON is one trace in the lab and on real servers.
type liveJSON struct {
	Lock     string `json:"lock"`
	Race     string `json:"race"`
	Trace    string `json:"trace"`
	NotShown string `json:"not_shown,omitempty"` // why it was not played on real servers, in English
	Agrees   *bool  `json:"agrees,omitempty"`    // absent if not shown
	// Round is that of which the rest is, from 1: the first that disagrees, or the last.
	Round       int               `json:"round,omitempty"`
	Lab         []verdict.Word    `json:"lab"`
	Real        []verdict.Word    `json:"real,omitempty"`
	Servers     int               `json:"servers,omitempty"` // that ran, or starts of one
	Answers     int               `json:"answers,omitempty"` // that were compared
	Speed       float64           `json:"speed,omitempty"`   // seconds of the trace in one second
	Stopped     string            `json:"stopped,omitempty"` // why the real run ended before the trace
	Differences []live.Difference `json:"differences,omitempty"`
}

func comparisonJSON(c *reality.Comparison) liveJSON {
	j := liveJSON{Lock: c.Lock, Race: c.Race, Trace: c.Trace, Lab: c.Lab}
	if c.NotShown != "" {
		j.NotShown = notShown("en", c)
	}
	if !c.Shown() {
		return j
	}
	j.Agrees, j.Round, j.Real, j.Servers = &c.Agrees, c.Round, c.Real, c.Servers
	j.Answers, j.Speed, j.Differences = c.Answers, c.Speed, c.Differ
	if !c.Stopped.IsZero() {
		j.Stopped = text.SayMessage("en", c.Stopped)
	}
	return j
}

func notShown(lang string, c *reality.Comparison) string {
	return text.Say(lang, "live.not."+string(c.NotShown), "command", c.Missing)
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
	var (
		lease    time.Duration
		settings []string
	)
	return &command{
		use: "run LOCK RACE | LINK", texts: []string{"live", "run"}, args: aRaceOrASavedRun, complete: aLockAndARace,
		examples: []string{"live run token failover", "live run redlock restart --lease 1s", "live run LINK"},
		flags: func(f *flags) {
			addLease(f, &lease)
			f.each("set", &settings)
		},
		run: func(e *env, args []string) error {
			o, err := playOrReplay(args, settings)
			if err != nil {
				return err
			}
			return showLive(e, o, lease)
		},
	}
}

// aRaceOrASavedRun refuses all arguments but a lock and a race, or a run that was saved: a link, or a file that has
// one.
func aRaceOrASavedRun(c *cobra.Command, args []string) error {
	if len(args) == 1 {
		if _, err := os.Stat(args[0]); err == nil || isLink(args[0]) {
			return nil
		}
	}
	return exactly(2, "race")(c, args)
}

// playOrReplay plays a lock in a race with other settings in the lab, or a run that was saved.
func playOrReplay(args, settings []string) (*race.Outcome, error) {
	if len(args) == 1 {
		if settings != nil {
			return nil, text.Errorf("error.live.settings", "value", settings[0])
		}
		t, err := readTrace(args[0])
		if err != nil {
			return nil, err
		}
		return replayed(t, "")
	}
	entry, sc, s, err := pickRun(args, settings)
	if err != nil {
		return nil, err
	}
	return race.Play(entry, sc, s)
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
				return text.Say(lang, "live.na", "why", notShown(lang, s.Compare()))
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
		e.Printf("  %s\n", sayDifference(e, c.Key, d))
	}
	if !c.Stopped.IsZero() {
		e.Printf("  %s\n", e.Message(c.Stopped))
	}
}

// difference is a sentence about a difference, of a lock with that key.
func sayDifference(e *text.Printer, key string, d live.Difference) string {
	at := reports.Millis(d.At, 1)
	if d.Cmd == nil {
		return e.Say("live.difference.key", "time", at, "n", fmt.Sprint(d.Server), "key", text.Visible(d.Key),
			"lab", text.Visible(d.Lab), "real", text.Visible(d.Real))
	}
	return e.Say("live.difference.answer", "time", at, "n", fmt.Sprint(d.Server),
		"command", text.Visible(reports.Command(d.Cmd, key)),
		"lab", text.Visible(d.Lab), "real", text.Visible(d.Real))
}

// liveCount counts the results of many traces.
type liveCount struct {
	agree int
	not   map[race.Reason]int // why traces were not shown -> how many
	all   []*reality.Comparison
	// differ are those that disagree.
	differ []*reality.Comparison
}

func (t *liveCount) add(all []*reality.Comparison) {
	if t.not == nil {
		t.not = map[race.Reason]int{}
	}
	for _, c := range all {
		t.all = append(t.all, c)
		switch {
		case !c.Shown():
			t.not[c.NotShown]++
		case c.Agrees:
			t.agree++
		default:
			t.differ = append(t.differ, c)
		}
	}
}

// liveTable are the flags of a table of many traces.
type liveTable struct {
	lease  time.Duration
	rounds int
	races  []string
	locks  lockFlags
	out    string
}

func (t *liveTable) add(f *flags) {
	addLease(f, &t.lease)
	t.rounds = 1
	ranged(f, "rounds", &t.rounds, 1, maxRounds)
	t.locks.add(f, "all")
	f.outTo(&t.out)
	f.check("out", func() error {
		if !strings.HasSuffix(strings.ToLower(t.out), ".csv") {
			return text.Errorf("error.live.out", "file", t.out)
		}
		return nil
	})
}

func liveMatrixCommand() *command {
	t := &liveTable{}
	return &command{
		use: "matrix", texts: []string{"live"}, args: noArguments, run: t.runMatrix,
		examples: []string{"live matrix", "live matrix --locks token,redlock --races R18,R21 -o live.csv"},
		flags: func(f *flags) {
			t.add(f)
			f.add("races", &t.races)
		},
	}
}

func (t *liveTable) runMatrix(e *env, _ []string) error {
	list, err := t.locks.pick(algorithms.All())
	if err != nil {
		return err
	}
	scs, err := pickRaces(t.races)
	if err != nil {
		return err
	}
	return t.compute(e, len(scs), func(b *reality.Bench, w *share.Work) (*reality.Table, error) {
		return reality.Matrix(e.ctx, b, list, scs, w)
	})
}

func liveVerifyCommand() *command {
	t := &liveTable{}
	return &command{
		use: "verify", texts: []string{"live"}, args: noArguments, flags: t.add, run: t.runVerify,
		examples: []string{"live verify", "live verify --locks token -o live.csv"},
	}
}

func (t *liveTable) runVerify(e *env, _ []string) error {
	list, err := t.locks.pick(algorithms.All())
	if err != nil {
		return err
	}
	rows := slices.DeleteFunc(contract.Own(), func(x contract.Expectation) bool {
		return x.IsRace() || !slices.ContainsFunc(list, func(l lock.Entry) bool { return l.ID == x.Lock.ID })
	})
	return t.compute(e, reality.Locks(rows), func(b *reality.Bench, w *share.Work) (*reality.Table, error) {
		return reality.Verify(e.ctx, b, rows, w)
	})
}

// compute computes a table of so many tasks, prints it, and writes the file.
func (t *liveTable) compute(e *env, tasks int,
	find func(b *reality.Bench, w *share.Work) (*reality.Table, error)) error {
	if err := e.replace("-o", t.out); err != nil {
		return err
	}
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
	var n liveCount
	worst := contract.Met
	for _, row := range table.Rows {
		n.add(row.Comparisons)
		worst = max(worst, row.Status)
	}
	cells := struct {
		Cells []liveJSON `json:"cells"`
	}{append([]liveJSON{}, lists.Each(n.all, comparisonJSON)...)}
	e.show("live", cells, func() { printLiveTable(e.console, table, &n, t.lease, t.rounds) })
	if len(n.differ) > 0 {
		worst = contract.Differs
	}
	return cmp.Or(e.write(t.out, n.csv), asMet(worst))
}

func printLiveTable(e *console, table *reality.Table, t *liveCount, lease time.Duration, rounds int) {
	e.Printf("%s\n\n", e.Say("live.heading", "version", table.Version, "lease", reports.Span(lease)))
	for _, row := range table.Rows {
		if len(row.Comparisons) == 0 {
			continue
		}
		var n liveCount
		n.add(row.Comparisons)
		e.Wrap(text.Pad(row.Name, 32)+"  ", e.Say("live.row", "agree", fmt.Sprint(n.agree),
			"disagree", fmt.Sprint(len(n.differ)), "not", fmt.Sprint(len(n.all)-n.agree-len(n.differ))))
	}
	e.Printf("\n")
	for _, row := range table.Rows {
		for _, reason := range row.Reasons {
			e.Wrap("", e.Say("live.unmet", "search", row.Name, "why", e.Message(reason)))
		}
	}
	for _, c := range t.differ {
		e.Printf("%s\n", e.Say(inRounds("live.differs", rounds), "round", fmt.Sprint(c.Round), "lock", c.Lock,
			"race", c.Race, "lab", reports.Words(c.Lab), "real", reports.Words(c.Real)))
		printDifferences(e.Printer, c)
		e.Printf("  locklab live run %s\n", c.Trace)
	}
	e.Sentence(inRounds("live.sum", rounds), "rounds", fmt.Sprint(rounds), "agree", fmt.Sprint(t.agree),
		"disagree", fmt.Sprint(len(t.differ)))
	for _, why := range reality.Reasons() {
		n := t.not[why]
		if n == 0 {
			continue
		}
		var missing []string
		for _, c := range t.all {
			if c.NotShown == why && c.Missing != "" && !slices.Contains(missing, c.Missing) {
				missing = append(missing, c.Missing)
			}
		}
		slices.Sort(missing)
		e.Wrap("  ", e.Each(func(lang string) string {
			return text.Say(lang, "live.sum.not", "n", fmt.Sprint(n), "why", text.Say(lang, "live.not."+string(why),
				"command", text.Join(lang, "chart.list", missing)))
		}))
	}
}

// inRounds returns the key of a text about rounds, if there are several.
func inRounds(key string, rounds int) string {
	if rounds > 1 {
		return key + ".rounds"
	}
	return key
}

// csv writes one line for each trace.
func (t *liveCount) csv(w io.Writer) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"lock", "race", "lab", "real", "agrees", "differences", "answers", "servers",
		"not_shown", "trace"}}
	for _, s := range t.all {
		j := comparisonJSON(s)
		agrees := ""
		if j.Agrees != nil {
			agrees = fmt.Sprint(*j.Agrees)
		}
		rows = append(rows, []string{j.Lock, j.Race, reports.Words(j.Lab), reports.Words(j.Real), agrees,
			fmt.Sprint(len(j.Differences)), fmt.Sprint(j.Answers), fmt.Sprint(j.Servers), j.NotShown, j.Trace})
	}
	return c.WriteAll(rows)
}
