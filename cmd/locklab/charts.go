package main

import (
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator/i18n"
	"locklab/simulator/lists"
)

// checkCharts refuses files in which there is no chart, or that cannot be written, before anything is played.
func checkCharts(e *env, files []string) error {
	for _, f := range files {
		if chart.Formats[filepath.Ext(f)] == nil {
			return text.Errorf("error.chart.format", "file", f)
		}
	}
	return e.replace("-o", files...)
}

func writeCharts(e *env, c *chart.Chart, files []string, f chart.Format) (failed error) {
	f.Lang = e.Langs()[0]
	for _, name := range files {
		failed = errors.Join(failed, e.write(name, func(w io.Writer) error {
			return chart.Formats[filepath.Ext(name)](w, c, f)
		}))
	}
	return failed
}

// chartOf returns the chart of a result, with the command that runs as its source.
func chartOf(e *env, r chart.Result) *chart.Chart {
	return chart.Of(r, report.Source(commandLine(canonical(e.running, e.running.Flags().Args()))))
}

// drawAgain draws the chart in a file of JSON.
func drawAgain(c *chartFiles) func(*env, []string) error {
	return func(e *env, args []string) error {
		if len(args) == 0 {
			printHelp(e, e.running)
			return nil
		}
		content, err := readFile(args[0], maxTraceFile)
		if err != nil {
			return text.Errorf("error.cause", "of", args[0], "cause", i18n.Bare(err))
		}
		drawn, err := chart.Read(content)
		if err != nil {
			return text.Errorf("error.cause", "of", args[0], "cause", err)
		}
		if err := c.check(e); err != nil {
			return err
		}
		e.show(chart.Kind, drawn, func() { e.Keep(drawn.Text(e.Out, e.look())) })
		return writeCharts(e, drawn, c.files, c.format)
	}
}

// chartFiles are the files of a chart, and how its pictures are laid out. All charts have the same flags for that.
type chartFiles struct {
	files  []string
	format chart.Format
}

// add adds the flags.
func (c *chartFiles) add(f *flags) {
	f.out(&c.files)
	f.add("title", &c.format.Title)
	f.add("notes", &c.format.Notes)
}

// check refuses files that are no charts, or that cannot be written. Every picture gets its CSV beside it.
func (c *chartFiles) check(e *env) error {
	c.files = withNumbers(c.files)
	return checkCharts(e, c.files)
}

// chartFlags choose the locks of a chart.
type chartFlags struct {
	*chartFiles
	locks lockFlags
	next  []string // commands that come next
}

func (c *chartFlags) add(f *flags) { c.locks.addUsual(f, f.e.Say("help.flag.locks.milestones")) }

// A chartFunc computes a chart of locks. An error without a chart is one of wrong use.
type chartFunc func(e *env, entries []lock.Entry) (chart.Result, error)

// run returns what runs a command that draws a chart: of the locks that are chosen, or of the usual ones.
func (c *chartFlags) run(usual func() []lock.Entry, draw chartFunc) func(*env, []string) error {
	return func(e *env, _ []string) error {
		entries, err := c.locks.pick(usual())
		if err := cmp.Or(err, c.check(e)); err != nil {
			return err
		}
		drawn, err := draw(e, entries)
		if drawn == nil {
			return err
		}
		return c.show(e, drawn, err)
	}
}

// noLocks are the usual locks of a chart that needs none.
func noLocks() []lock.Entry { return nil }

// show prints a chart, decides the exit status, and writes the files.
// failed is the error of what it draws; after Ctrl-C no file is written.
func (c *chartFlags) show(e *env, drawn chart.Result, failed error) error {
	stopped := stoppedBy(failed)
	if failed != nil && !stopped {
		return internal(failed)
	}
	kept := chartOf(e, drawn)
	kept.Incomplete = stopped
	e.show(chart.Kind, kept, func() {
		e.chart(drawn)
		e.Next(c.next...)
	})
	if stopped {
		return noAnswer("error.stopped.files")
	}
	return cmp.Or(writeCharts(e, kept, c.files, c.format), conclude(drawn))
}

// conclude returns the error of a chart that leaves something unknown.
func conclude(drawn chart.Result) error {
	if searched, ok := drawn.(interface{ Inconclusive() bool }); ok && searched.Inconclusive() {
		return noAnswer("error.cut.some")
	}
	return nil
}

// withNumbers adds a CSV to every picture, so that its numbers can be checked.
func withNumbers(files []string) (all []string) {
	for _, f := range files {
		all = append(all, f)
		csv := strings.TrimSuffix(f, filepath.Ext(f)) + ".csv"
		if !slices.Contains(files, csv) && !slices.Contains(all, csv) {
			all = append(all, csv)
		}
	}
	return all
}

// The commands of charts that choose locks, and little else.

func parCommand(files *chartFiles) *command {
	c, bounds, budgets := &chartFlags{chartFiles: files}, report.ParBounds(), study.SingleFaults()
	return &command{
		use: "par", texts: []string{"par", "chart"}, args: noArguments,
		examples: []string{"chart par",
			"chart par --locks redlock --budget crash=1,pause=1 --budget node-clock=1@18s",
			"chart par -o par.png -o par.csv"},
		flags: func(f *flags) {
			c.add(f)
			f.each("budget", &budgets)
			f.bounds(&bounds, "clients", "attempts", "max-states")
		},
		run: c.run(algorithms.Milestones, func(e *env, entries []lock.Entry) (chart.Result, error) {
			for i, budget := range budgets {
				budgets[i] = string(faults.Budget(budget).Canonical())
			}
			if err := checkBudgets(entries, bounds, budgets); err != nil {
				return nil, err
			}
			drawn, err := report.Pars(e.ctx, e.work, entries, bounds, budgets)
			c.next = replayFirst(drawn)
			return drawn, err
		}),
	}
}

// checkBudgets returns an error if a lock cannot be searched within b with one of the budgets.
func checkBudgets(entries []lock.Entry, b search.Bounds, budgets []string) error {
	for _, entry := range entries {
		for _, budget := range budgets {
			b.Budget = faults.Budget(budget)
			if err := b.Check(entry); err != nil {
				return err
			}
		}
	}
	return nil
}

func theoremsCommand(files *chartFiles) *command {
	c, budgets := &chartFlags{chartFiles: files, next: []string{"locklab chart theorems -o theorems.png", "locklab prove token",
		"locklab chart par"}}, study.TheoremBudgets()
	return &command{
		use: "theorems", texts: []string{"theorems", "chart"}, args: noArguments,
		examples: []string{"chart theorems", "chart theorems --locks setnx,token --budget crash=any",
			"chart theorems --locks one-step -o theorems.csv"},
		flags: func(f *flags) {
			c.add(f)
			f.each("budget", &budgets)
		},
		run: c.run(algorithms.Milestones, func(e *env, entries []lock.Entry) (chart.Result, error) {
			var read []string
			for i, written := range budgets {
				budget, endless, err := search.ParseBudget(written)
				if err != nil {
					return nil, err
				}
				read = append(read, string(budget.Canonical()))
				if !endless {
					budgets[i] = read[i]
				}
			}
			if err := checkBudgets(entries, search.DefaultBounds(), read); err != nil {
				return nil, err
			}
			return report.Theorems(e.ctx, e.work, entries, budgets)
		}),
	}
}

// replayFirst returns commands to try, first a replay of the first counterexample.
func replayFirst(drawn *chart.Par) (next []string) {
	if first := drawn.First(); first != nil {
		next = append(next, "locklab run "+first.Trace)
	}
	return append(next, "locklab chart par -o par.png", "locklab chart tolerance")
}

func toleranceCommand(files *chartFiles) *command {
	c := &chartFlags{chartFiles: files, next: []string{"locklab chart tolerance -o tolerance.png", "locklab chart par",
		"locklab chart sweep pause/ttl"}}
	return &command{
		use: "tolerance", texts: []string{"tolerance", "chart"}, args: noArguments,
		examples: []string{"chart tolerance",
			"chart tolerance --locks token,redlock -o tolerance.png -o tolerance.csv"},
		flags: func(f *flags) { c.locks.addUsual(f, strings.Join(report.DifferingLocks, ",")) },
		run:   c.run(report.Differing, drawTolerance),
	}
}

// rateRaces are the races in which a clock runs at a wrong rate: a client's, and servers'.
var rateRaces = []string{"clock-drift", "server-drift"}

func drawTolerance(e *env, entries []lock.Entry) (chart.Result, error) {
	drawn, err := report.Tolerance(e.ctx, e.work, entries)
	if err != nil {
		return drawn, err
	}
	races, err := pickRaces(rateRaces)
	if err != nil {
		return drawn, err
	}
	drawn.Rates, err = study.FindRates(e.ctx, entries, races)
	return drawn, err
}

func recoveryCommand(files *chartFiles) *command {
	order := report.UsualRecovery
	c := &chartFlags{chartFiles: files, next: []string{
		"locklab chart recovery -o recovery.png", "locklab chart rate", "locklab run token crash-holding",
	}}
	return &command{
		use: "recovery", args: noArguments,
		examples: []string{"chart recovery",
			"chart recovery --ttl 15s --work 1m --locks token,watchdog -o recovery.png"},
		flags: func(f *flags) {
			c.add(f)
			ranged(f, "ttl", &order.TTL, time.Second, time.Hour)
			ranged(f, "work", &order.Work, 0, time.Hour)
		},
		run: c.run(algorithms.Milestones, func(e *env, entries []lock.Entry) (chart.Result, error) {
			for _, entry := range entries {
				if err := order.Check(entry); err != nil {
					return nil, text.Errorf("error.cause", "of", "--ttl", "cause", err)
				}
			}
			return report.Recovery(e.ctx, e.work, entries, order)
		}),
	}
}

func waitingCommand(files *chartFiles) *command {
	var (
		sizes    []int
		policies []string
		load     = cost.UsualLoad()
		c        = &chartFlags{chartFiles: files}
	)
	c.next = []string{"locklab chart waiting -o waiting.png", "locklab chart rate", "locklab explain redisson-lock"}
	return &command{
		use: "waiting", args: noArguments,
		examples: []string{"chart waiting",
			"chart waiting --clients 2,100 --policies fixed,backoff,pubsub,line --poll 20ms -o waiting.png"},
		flags: func(f *flags) {
			parse(f, "clients", "2,10,50,200", &sizes, parseSizes)
			f.add("policies", &policies)
			ranged(f, "work", &load.Work, time.Microsecond, time.Second)
			ranged(f, "poll", &load.Poll, time.Microsecond, time.Second)
		},
		run: c.run(noLocks, func(e *env, _ []lock.Entry) (chart.Result, error) {
			chosen, err := pickPolicies(policies)
			if err != nil {
				return nil, err
			}
			drawn := &chart.WaitingChart{Load: load}
			work, end := e.work(len(chosen)*len(sizes), "progress.runs")
			drawn.Results, err = cost.FindWaiting(e.ctx, chosen, sizes, load, work)
			end()
			return drawn, err
		}),
	}
}

// parseSizes reads rising numbers of clients.
func parseSizes(arg string) (sizes []int, err error) {
	for _, item := range strings.Split(arg, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(item))
		switch {
		case err != nil || n < 2 || n > cost.MaxClients:
			return nil, text.Errorf("error.waiting.clients", "value", item, "most", cost.MaxClients)
		case len(sizes) > 0 && n <= sizes[len(sizes)-1]:
			return nil, text.Errorf("error.sweep.rising", "value", item, "before", sizes[len(sizes)-1])
		}
		sizes = append(sizes, n)
	}
	return sizes, nil
}

// pickPolicies returns those that are named; without names all.
func pickPolicies(names []string) (chosen []cost.Policy, err error) {
	all := cost.Policies()
	if names == nil {
		return all, nil
	}
	for _, n := range names {
		i, err := choose("error.waiting.policy", n, lists.Each(all, func(p cost.Policy) string { return p.ID }))
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}
