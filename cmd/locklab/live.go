package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/scenarios/reality"
	"locklab/scenarios/share"
	"locklab/scenarios/study"
	"locklab/simulator/live"
	"locklab/simulator/realserver"
	"locklab/simulator/verdict"
)

// live shows on real servers what the lab says.
func (a *app) live() *cobra.Command {
	commands := []*cobra.Command{a.liveRun(), a.liveReplay(), a.inShares(a.liveMatrix()), a.inShares(a.liveVerify()), a.liveContend(), a.liveSentinel()}
	c := &cobra.Command{
		Use: "live",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			var names []string
			for _, c := range commands {
				names = append(names, c.Name())
			}
			return text.Errorf("error.command", "name", "live "+args[0], "near", text.Near(args[0], names))
		},
		RunE: func(c *cobra.Command, _ []string) error {
			a.printHelp(c)
			return nil
		},
		Example: a.examples("live", "live run token gc-pause", "live replay LINK", "live matrix -o live.csv"),
	}
	c.AddCommand(commands...)
	return c
}

// liveJSON is one trace in the lab and on real servers.
type liveJSON struct {
	Strategy    string           `json:"strategy"`
	Scenario    string           `json:"scenario"`
	Trace       string           `json:"trace"`
	NotShown    string           `json:"not_shown,omitempty"` // why it was not played on real servers, in English
	Agrees      *bool            `json:"agrees,omitempty"`    // absent if not shown
	Round       int              `json:"round,omitempty"`     // that is told of, from 1: the first that disagrees, or the last
	Lab         []verdict.Word   `json:"lab"`
	Real        []verdict.Word   `json:"real,omitempty"`
	Servers     int              `json:"servers,omitempty"` // redis-servers that ran
	Answers     int              `json:"answers,omitempty"` // that were compared
	Speed       float64          `json:"speed,omitempty"`   // seconds of the trace in one second
	Stopped     string           `json:"stopped,omitempty"` // why the real run ended before the trace
	Differences []differenceJSON `json:"differences,omitempty"`
}

type differenceJSON struct {
	At      time.Duration `json:"at_ns"`
	Choice  int           `json:"choice"` // of the trace, from 1
	Server  int           `json:"server"`
	Client  int           `json:"client,omitempty"`
	Command []string      `json:"command,omitempty"`
	Key     string        `json:"key,omitempty"`
	Lab     string        `json:"lab"`
	Real    string        `json:"real"`
}

func comparisonJSON(c *reality.Comparison) liveJSON {
	j := liveJSON{Strategy: c.Strategy, Scenario: c.Scenario, Trace: c.Trace, Lab: c.Lab}
	if c.NotShown != "" {
		j.NotShown = notShown("en", c)
	}
	if !c.Shown() {
		return j
	}
	j.Agrees, j.Round, j.Real, j.Servers, j.Answers, j.Speed = &c.Agrees, c.Round, c.Real, c.Servers, c.Answers, c.Speed
	if !c.Stopped.IsZero() {
		j.Stopped = text.SayMessage("en", c.Stopped)
	}
	for _, d := range c.Differ {
		j.Differences = append(j.Differences, differenceJSON{d.At, d.Choice, d.Server, d.Client, d.Cmd, d.Key, d.Lab, d.Real})
	}
	return j
}

func notShown(lang string, c *reality.Comparison) string {
	return text.Say(lang, "live.not."+string(c.NotShown), "command", c.Missing)
}

// addLease gives a command the flag --lease.
func (a *app) addLease(c *cobra.Command, lease *time.Duration) {
	c.Flags().DurationVar(lease, "lease", reality.DefaultLease, a.usage("live")("lease"))
}

// maxRounds bounds --rounds.
const maxRounds = 1000

// addRounds gives a command the flag --rounds.
func (a *app) addRounds(c *cobra.Command, rounds *int) {
	c.Flags().IntVar(rounds, "rounds", 1, a.usage("live")("rounds"))
}

// The bounds of --lease: shorter than the first and the machine is too slow to show anything
// else than itself, longer than the second and nothing is shown that is not before.
const (
	minLease = 50 * time.Millisecond
	maxLease = 10 * time.Second
)

func checkLease(lease time.Duration) error {
	if lease < minLease || lease > maxLease {
		return text.Errorf("error.live.lease", "value", lease, "least", minLease, "most", maxLease)
	}
	return nil
}

// isMissing says whether the machine lacks what real servers need.
func isMissing(err error) bool {
	return errors.Is(err, realserver.ErrNoRedis) || errors.Is(err, realserver.ErrNoCompiler)
}

// bench is what real servers need. Without it nothing can be shown.
func (a *app) bench(ctx context.Context, lease time.Duration) (*reality.Bench, error) {
	if err := checkLease(lease); err != nil {
		return nil, err
	}
	b, err := reality.NewBench(ctx, lease)
	if isMissing(err) {
		return nil, err
	}
	return b, a.liveError(ctx, err)
}

// liveServers is on which servers one run is shown.
type liveServers struct {
	lease  time.Duration
	keeper string // the address of a ZooKeeper that is to be used, or ""
	redis  string // those of Redis databases, separated by commas, or ""
}

// add gives a command the flags.
func (s *liveServers) add(a *app, c *cobra.Command) {
	a.addLease(c, &s.lease)
	usage := a.usage("live")
	c.Flags().StringVar(&s.keeper, "zookeeper", "", usage("zookeeper"))
	c.Flags().StringVar(&s.redis, "redis", "", usage("redis"))
}

// bench is the bench for one lock.
func (s *liveServers) bench(ctx context.Context, a *app, e lock.Entry) (*reality.Bench, error) {
	switch {
	case s.keeper != "" && !e.OnZooKeeper():
		if _, _, err := net.SplitHostPort(s.keeper); err != nil {
			return nil, text.Errorf("error.live.address", "value", s.keeper)
		}
		return nil, text.Errorf("error.live.redis-lock", "lock", e.ID)
	case s.redis != "" && e.OnZooKeeper():
		return nil, text.Errorf("error.live.zookeeper-lock", "lock", e.ID)
	case s.keeper != "":
		if _, _, err := net.SplitHostPort(s.keeper); err != nil {
			return nil, text.Errorf("error.live.address", "value", s.keeper)
		}
		return reality.OnZooKeeper(s.keeper, s.lease)
	case s.redis == "":
		return a.bench(ctx, s.lease)
	}
	if s.lease != reality.DefaultLease {
		return nil, text.Errorf("error.live.redis-lease", "value", s.lease)
	}
	var all []realserver.GivenRedis
	for addr := range strings.SplitSeq(s.redis, ",") {
		g, err := realserver.ParseRedis(strings.TrimSpace(addr))
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return reality.OnRedis(all)
}

// liveError is an error of the machine, or that the user has stopped it.
func (a *app) liveError(ctx context.Context, err error) error {
	switch {
	case err != nil && ctx.Err() != nil:
		return noAnswer("error.stopped")
	case errors.As(err, new(live.LateError)):
		return &exitError{exitNoAnswer, err}
	case err != nil:
		return &exitError{exitInternal, err}
	}
	return nil
}

func (a *app) liveRun() *cobra.Command {
	var (
		servers  liveServers
		settings []string
	)
	c := &cobra.Command{
		Use:     "run STRATEGY SCENARIO",
		Example: a.examples("live-run", "live run token failover", "live run redlock restart --lease 1s", "live run zk-mutex session-ends --zookeeper 127.0.0.1:2181", "live run token gc-pause --set ttl=1s --set pause=1300ms --redis redis://127.0.0.1:6379/9"),
		Args:    a.exactly(2),
		RunE: func(c *cobra.Command, args []string) error {
			entry, err := race.Strategy(args[0])
			if err != nil {
				return err
			}
			sc, err := scenarios.ByName(args[1])
			if err != nil {
				return err
			}
			s, err := sc.Settings.With(strings.Join(settings, ","))
			if err != nil {
				return err
			}
			o, err := race.Play(entry, sc, s)
			if err != nil {
				return err
			}
			return a.showLive(c.Context(), o, &servers)
		},
	}
	servers.add(a, c)
	c.Flags().StringArrayVar(&settings, "set", nil, a.usage("run")("set"))
	return c
}

func (a *app) liveReplay() *cobra.Command {
	var servers liveServers
	c := &cobra.Command{
		Use:     "replay LINK|FILE",
		Example: a.examples("live-replay", "live replay LINK"),
		Args:    a.exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			t, err := a.readTrace(args[0])
			if err != nil {
				return err
			}
			if _, err := race.Strategy(t.Strategy); err != nil {
				return text.Errorf("error.replay.unlisted", "lock", t.Strategy)
			}
			o, err := study.Replay(t)
			if err != nil {
				return err
			}
			return a.showLive(c.Context(), o, &servers)
		},
	}
	servers.add(a, c)
	return c
}

// showLive shows a run of the lab on real servers.
func (a *app) showLive(ctx context.Context, o *race.Outcome, servers *liveServers) error {
	b, err := servers.bench(ctx, a, o.Strategy)
	if err != nil {
		return err
	}
	defer b.Close()
	if err := b.Fits(o); err != nil {
		return err
	}
	b.Scripts = func(n int) { a.inform("live.scripts", "n", fmt.Sprint(n)) }
	if b.Given() && o.History != nil {
		done, end := a.progress(int(o.History.End/time.Second)+1, "progress.live.seconds")
		defer end()
		if done != nil {
			b.Progress = func(at time.Duration) { done(int(at / time.Second)) }
		}
	}
	s := &reality.Showing{Lab: o}
	if o.NotApplicable == "" {
		if s, err = b.Show(ctx, o); err != nil {
			return a.liveError(ctx, err)
		}
	}
	if a.json {
		err = a.printJSON(struct {
			Version int `json:"version"`
			liveJSON
		}{schema, comparisonJSON(s.Compare())})
	} else {
		err = a.printShowing(b, s)
	}
	switch {
	case err != nil || o.NotApplicable != "":
		return err
	case s.Run == nil: // the output says why
		return &exitError{exitNoAnswer, nil}
	case !s.Agrees():
		return &exitError{exitDiffers, nil}
	}
	return nil
}

func (a *app) printShowing(b *reality.Bench, s *reality.Showing) error {
	switch {
	case s.Lab.NotApplicable != "":
		return a.printRun(s.Lab, "lanes")
	case s.NotShown != "":
		if err := a.printRun(s.Lab, "lanes"); err != nil {
			return err
		}
		a.Printf("\n%s\n", a.Each(func(lang string) string {
			return text.Say(lang, "live.na", "why", notShown(lang, s.Compare()))
		}))
		return nil
	}
	same := len(s.Run.Differences) == 0
	a.Printf("%s\n\n", a.Say("live.title", "lock", s.Lab.Strategy.Heading(), "race", s.Lab.Scenario.ID))
	if same {
		a.Printf("%s\n\n", a.Say("live.lanes.same"))
	} else {
		a.Printf("%s\n\n", a.Say("live.lanes.lab"))
	}
	if err := reports.Lanes(a.Out, s.Lab.History, s.Lab.Judgement, a.options()); err != nil {
		return internal(err)
	}
	if !same {
		a.Printf("\n%s\n\n", a.Say("live.lanes.real"))
		if err := reports.Lanes(a.Out, s.Real.History, s.Real.Judgement, a.options()); err != nil {
			return internal(err)
		}
		a.Printf("\n")
		a.printDifferences(s.Compare())
	}
	ran := func() string {
		if s.Lab.Strategy.OnZooKeeper() {
			return a.Say("live.ran.zookeeper", "version", s.Version, "answers", fmt.Sprint(s.Run.Answers))
		}
		if b.Given() {
			return a.Say("live.ran.given", "servers", fmt.Sprint(s.Run.Servers), "version", b.Version, "answers", fmt.Sprint(s.Run.Answers), "took", reports.Span(s.Run.Took.Round(100*time.Millisecond)))
		}
		return a.Say("live.ran", "servers", fmt.Sprint(s.Run.Servers), "version", b.Version, "answers", fmt.Sprint(s.Run.Answers),
			"ttl", reports.Span(s.Lab.History.TTL), "lease", reports.Span(b.Lease), "speed", fmt.Sprintf("%.3g", s.Speed))
	}
	a.Printf("\n%s\n", ran())
	a.Printf("%s\n%s\n", a.Say("live.verdict.lab", "verdicts", spell(s.Lab.Verdicts)), a.Say("live.verdict.real", "verdicts", spell(s.Real.Verdicts)))
	if s.Agrees() {
		a.Sentence("live.agrees")
	} else {
		a.Sentence("live.disagrees", "n", fmt.Sprint(len(s.Run.Differences)))
	}
	a.Next("locklab replay "+s.Lab.Trace.Link(), "locklab live replay "+s.Lab.Trace.Link())
	return nil
}

// spell writes verdicts in a row.
func spell(verdicts []verdict.Word) string {
	var all []string
	for _, w := range verdicts {
		all = append(all, string(w))
	}
	return strings.Join(all, " ")
}

// maxDifferences is how many differences of a run are printed; --json has all.
const maxDifferences = 10

func (a *app) printDifferences(c *reality.Comparison) {
	for i, d := range c.Differ {
		if i == maxDifferences {
			a.Printf("  %s\n", a.Say("live.difference.more", "n", fmt.Sprint(len(c.Differ)-i)))
			break
		}
		a.Printf("  %s\n", a.difference(c.Key, d))
	}
	if !c.Stopped.IsZero() {
		a.Printf("  %s\n", a.Message(c.Stopped))
	}
}

// difference is a sentence about a difference, of a lock with that key.
func (a *app) difference(key string, d live.Difference) string {
	at := reports.Millis(d.At, 1)
	if d.Cmd == nil {
		return a.Say("live.difference.key", "time", at, "n", fmt.Sprint(d.Server), "key", text.Visible(d.Key), "lab", text.Visible(d.Lab), "real", text.Visible(d.Real))
	}
	return a.Say("live.difference.answer", "time", at, "n", fmt.Sprint(d.Server), "command", text.Visible(reports.Command(d.Cmd, key)),
		"lab", text.Visible(d.Lab), "real", text.Visible(d.Real))
}

// liveCount is what came of many traces.
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

// oneBench makes a bench when it is first asked for one. close removes it.
func oneBench(ctx context.Context, lease time.Duration, rounds int) (bench func() (*reality.Bench, error), close func()) {
	var b *reality.Bench
	bench = sync.OnceValues(func() (*reality.Bench, error) {
		var err error
		if b, err = reality.NewBench(ctx, lease); err == nil {
			b.Rounds = rounds
		}
		return b, err
	})
	return bench, func() {
		if b != nil {
			b.Close()
		}
	}
}

func (a *app) liveMatrix() *cobra.Command {
	var (
		lease  time.Duration
		rounds int
		races  []string
		locks  lockFlags
		out    string
	)
	c := &cobra.Command{
		Use:     "matrix",
		Example: a.examples("live-matrix", "live matrix", "live matrix --strategies token,redlock --scenarios R18,R21 -o live.csv"),
		Args:    a.noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := locks.pick(a, algorithms.All())
			if err != nil {
				return err
			}
			scs, err := a.pickRaces(races)
			if err != nil {
				return err
			}
			if err := a.checkLiveOut(c, out); err != nil {
				return err
			}
			return a.liveTable(c.Context(), lease, rounds, out, len(scs), func(ctx context.Context, bench func() (*reality.Bench, error), done func(int)) (*reality.Table, error) {
				return reality.Matrix(ctx, bench, lease, rounds, list, scs, done)
			})
		},
	}
	a.addLease(c, &lease)
	a.addRounds(c, &rounds)
	f, usage := c.Flags(), a.usage("live")
	locks.add(a, f, "all")
	f.StringSliceVar(&races, "scenarios", nil, a.usage("matrix")("scenarios"))
	f.StringVarP(&out, "out", "o", "", usage("out"))
	return c
}

func (a *app) liveVerify() *cobra.Command {
	var (
		lease  time.Duration
		rounds int
		locks  lockFlags
		out    string
	)
	c := &cobra.Command{
		Use:     "verify",
		Example: a.examples("live-verify", "live verify", "live verify --strategies token -o live.csv"),
		Args:    a.noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := locks.pick(a, algorithms.All())
			if err != nil {
				return err
			}
			if err := a.checkLiveOut(c, out); err != nil {
				return err
			}
			rows := slices.DeleteFunc(contract.Own(), func(e contract.Expectation) bool {
				return !e.IsSearch() || !slices.ContainsFunc(list, func(l lock.Entry) bool { return l.ID == e.Strategy.ID })
			})
			return a.liveTable(c.Context(), lease, rounds, out, reality.Locks(rows), func(ctx context.Context, bench func() (*reality.Bench, error), done func(int)) (*reality.Table, error) {
				return reality.Verify(ctx, bench, lease, rounds, rows, done)
			})
		},
	}
	a.addLease(c, &lease)
	a.addRounds(c, &rounds)
	locks.add(a, c.Flags(), "all")
	c.Flags().StringVarP(&out, "out", "o", "", a.usage("live")("out"))
	return c
}

func (a *app) checkLiveOut(c *cobra.Command, out string) error {
	if !c.Flags().Changed("out") {
		return nil
	}
	if !strings.HasSuffix(strings.ToLower(out), ".csv") {
		return text.Errorf("error.live.out", "file", out)
	}
	return a.checkOutputs("-o", out)
}

// liveTable computes a table of so many tasks, prints it, and writes the file.
func (a *app) liveTable(ctx context.Context, lease time.Duration, rounds int, out string, tasks int, compute func(ctx context.Context, bench func() (*reality.Bench, error), done func(int)) (*reality.Table, error)) error {
	if err := checkLease(lease); err != nil {
		return err
	}
	if rounds < 1 || rounds > maxRounds {
		return text.Errorf("error.live.round", "value", rounds, "most", maxRounds)
	}
	bench, closeBench := oneBench(ctx, lease, rounds)
	defer closeBench()
	done, end := a.progress(tasks, "progress.live")
	table, err := compute(ctx, bench, done)
	end()
	if errors.Is(err, share.ErrPartial) || isMissing(err) {
		return err
	}
	if err := a.liveError(ctx, err); err != nil {
		return err
	}
	var t liveCount
	worst := contract.Met
	for _, row := range table.Rows {
		t.add(row.Comparisons)
		worst = max(worst, row.Status)
	}
	if a.json {
		err = a.printLiveJSON(&t)
	} else {
		a.printLiveTable(table, &t, lease, rounds)
	}
	if err == nil && out != "" {
		err = a.write(out, replaces, t.csv)
	}
	switch {
	case err == nil && (len(t.differ) > 0 || worst == contract.Differs):
		err = &exitError{exitDiffers, nil}
	case err == nil && worst > contract.Met:
		err = &exitError{exitNoAnswer, nil}
	}
	return err
}

func (a *app) printLiveJSON(t *liveCount) error {
	j := struct {
		Version int        `json:"version"`
		Cells   []liveJSON `json:"cells"`
	}{Version: schema, Cells: []liveJSON{}}
	for _, c := range t.all {
		j.Cells = append(j.Cells, comparisonJSON(c))
	}
	return a.printJSON(j)
}

func (a *app) printLiveTable(table *reality.Table, t *liveCount, lease time.Duration, rounds int) {
	a.Printf("%s\n\n", a.Each(func(lang string) string {
		return text.Say(lang, "live.heading", "version", text.Join(lang, "chart.list", table.Versions), "lease", reports.Span(lease))
	}))
	for _, row := range table.Rows {
		if len(row.Comparisons) == 0 {
			continue
		}
		var n liveCount
		n.add(row.Comparisons)
		a.Wrap(text.Pad(row.Name, 32)+"  ", a.Say("live.row", "agree", fmt.Sprint(n.agree), "disagree", fmt.Sprint(len(n.differ)), "not", fmt.Sprint(len(n.all)-n.agree-len(n.differ))))
	}
	a.Printf("\n")
	for _, row := range table.Rows {
		for _, reason := range row.Reasons {
			a.Wrap("", a.Say("live.unmet", "search", row.Name, "why", a.Message(reason)))
		}
	}
	for _, c := range t.differ {
		a.Printf("%s\n", a.Say(inRounds("live.differs", rounds), "round", fmt.Sprint(c.Round), "lock", c.Strategy, "race", c.Scenario, "lab", spell(c.Lab), "real", spell(c.Real)))
		a.printDifferences(c)
		a.Printf("  locklab live replay %s\n", c.Trace)
	}
	a.Sentence(inRounds("live.sum", rounds), "rounds", fmt.Sprint(rounds), "agree", fmt.Sprint(t.agree), "disagree", fmt.Sprint(len(t.differ)))
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
		a.Wrap("  ", a.Each(func(lang string) string {
			return text.Say(lang, "live.sum.not", "n", fmt.Sprint(n), "why", text.Say(lang, "live.not."+string(why), "command", text.Join(lang, "chart.list", missing)))
		}))
	}
}

// inRounds is the key of a text that tells of rounds, if there are several.
func inRounds(key string, rounds int) string {
	if rounds > 1 {
		return key + ".rounds"
	}
	return key
}

// csv writes one line for each trace.
func (t *liveCount) csv(w io.Writer) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"strategy", "scenario", "lab", "real", "agrees", "differences", "answers", "servers", "not_shown", "trace"}}
	for _, s := range t.all {
		j := comparisonJSON(s)
		agrees := ""
		if j.Agrees != nil {
			agrees = fmt.Sprint(*j.Agrees)
		}
		rows = append(rows, []string{j.Strategy, j.Scenario, spell(j.Lab), spell(j.Real), agrees, fmt.Sprint(len(j.Differences)), fmt.Sprint(j.Answers), fmt.Sprint(j.Servers), j.NotShown, j.Trace})
	}
	return c.WriteAll(rows)
}
