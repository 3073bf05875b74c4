package main

import (
	"cmp"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/chart"
	"locklab/reports/report"
	"locklab/reports/text"
	"locklab/scenarios/search"
	"locklab/simulator/lists"
)

// ofPictures are the flags of how a picture is laid out.
var ofPictures = []string{"notes", "size", "title"}

// source is the command that runs, as pictures and pages of runs name it: it makes them again. Some flags are left out.
func (e *env) source(without ...string) string {
	wanted := func(name string) bool { return name != "out" && !slices.Contains(without, name) }
	return commandLine(wordsOf(e.running), flagsOf(e.running, wanted), e.running.Flags().Args())
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
			return err
		}
		drawn, err := chart.Read(content)
		if err != nil {
			return text.Errorf("error.cause", "of", args[0], "cause", err)
		}
		if err := c.check(e); err != nil {
			return err
		}
		failed := c.write(e, drawn)
		showHere(e, failed, chart.Kind, drawn, func() { e.Keep(drawn.Text(e.Out, e.look())) })
		return failed
	}
}

// computedBy is the command that computed the chart of a file, if that is given.
func computedBy(command string, args []string) string {
	if len(args) == 1 && ending(args[0]) == ".json" {
		content, err := readFile(args[0], maxTraceFile)
		if drawn, wrong := chart.Read(content); cmp.Or(err, wrong) == nil {
			return drawn.Source
		}
	}
	return command
}

// chartFiles are the files of a chart, and how its pictures are laid out. All charts have the same flags for that.
type chartFiles struct {
	files  []string
	format chart.Format
}

// add adds the flags.
func (c *chartFiles) add(f *flags) {
	f.out(&c.files)
	addSize(f, &c.format)
	f.add("notes", &c.format.Notes)
}

// addSize adds the flags of all pictures.
func addSize(f *flags, format *chart.Format) {
	f.add("title", &format.Title)
	f.check("title", func() error { format.Bare = format.Title == ""; return nil })
	parse(f, "size", "", &format.Size, chart.ParseSize)
}

// check refuses files that are no charts or cannot be written, before computing anything. A picture's CSV is beside it.
func (c *chartFiles) check(e *env) error {
	if c.files == nil && c.format != (chart.Format{}) {
		return text.Errorf("error.chart.picture")
	}
	c.files = withNumbers(c.files)
	for _, f := range c.files {
		if !chart.Drawn(ending(f)) {
			return text.Errorf("error.chart.format", "file", f)
		}
	}
	return e.replace("-o", c.files...)
}

// write writes the chart to its files. Its pictures name how they are laid out.
func (c *chartFiles) write(e *env, drawn *chart.Chart) (failed error) {
	f, laid := c.format, *drawn
	f.Lang = e.Langs()[0]
	given := flagsOf(e.running, func(name string) bool { return slices.Contains(ofPictures, name) })
	if strings.Contains(laid.Source, " -o ") { // of a report
		laid.Source += "; " + e.source()
	} else if laid.Source != "" {
		laid.Source += strings.TrimPrefix(commandLine(given), "locklab")
	}
	for _, name := range slices.Concat(lists.Pick(c.files, isPicture), c.files) { // a table of no picture is no use
		of := map[bool]*chart.Chart{false: drawn, true: &laid}[isPicture(name)]
		failed = errors.Join(failed, e.write(name, func(w io.Writer) error { return of.Write(w, ending(name), f) }))
		if errors.As(failed, new(chart.SizeError)) {
			return failed
		}
	}
	if tellLanguage(e.console, c.files); failed == nil && f.Bare {
		showCaption(e, c.files, &laid, f)
	}
	return failed
}

// showCaption prints what bare pictures do not have.
func showCaption(e *env, files []string, drawn chart.Picture, f chart.Format) {
	if !e.json && slices.ContainsFunc(files, isPicture) {
		e.Printf("%s\n", strings.Join(chart.Caption(drawn, f), "\n"))
	}
}

func isPicture(file string) bool { return chart.Pictures[ending(file)] != nil }

// ending is that of a file's name, in small letters.
func ending(file string) string { return strings.ToLower(filepath.Ext(file)) }

// tellLanguage says in which of several languages pictures are.
func tellLanguage(e *console, files []string) {
	if len(e.Langs()) > 1 && slices.ContainsFunc(files, isPicture) {
		e.inform("chart.language")
	}
}

// A figure is one of the charts: its command, and what a report shows of it.
type figure struct {
	*chartFiles
	command *command
	locks   lockFlags
	usual   func() []lock.Entry // the locks that it has if none are chosen; nil: it needs none
	named   []string            // their names, if they are not the milestones
	draw    chartFunc
	next    []string // commands that come next

	// report computes the chart of a report, whose charts show some of its locks; nil: as draw does.
	report     func(e *env, r *report.Report, charted []lock.Entry) (chart.Result, error)
	minutes    bool    // only --all adds it to a report
	once, each float64 // seconds that a processor takes for that of a report, and for each of its locks
}

// A chartFunc computes a chart of locks. An error without a chart is one of wrong use.
type chartFunc func(e *env, entries []lock.Entry) (chart.Result, error)

// figures returns all charts, in the order in which help lists them and reports show them.
func figures(files *chartFiles) []*figure {
	all := []*figure{parChart(), theoremsChart(), toleranceChart(), rateChart(), recoveryChart(), waitingChart(),
		sweepChart()}
	for _, d := range all {
		own := d.command.flags
		if d.named != nil {
			d.usual = func() []lock.Entry { entries, _ := locksNamed(d.named); return entries }
		}
		d.chartFiles, d.command.flags = files, func(f *flags) {
			if d.usual != nil {
				d.locks.add(f, cmp.Or(strings.Join(d.named, ","), f.e.Say("help.flag.locks.milestones")))
			}
			own(f)
		}
		if d.report == nil {
			d.report = func(e *env, _ *report.Report, of []lock.Entry) (chart.Result, error) { return d.draw(e, of) }
		}
		if d.command.run == nil {
			d.command.args, d.command.run = noArguments, d.run
		}
	}
	return all
}

// run computes the chart of the locks that are chosen, or of the usual ones, and shows it.
func (d *figure) run(e *env, _ []string) error {
	var entries []lock.Entry
	var err error
	if d.usual != nil {
		entries, err = d.locks.pick(d.usual())
	}
	if err := cmp.Or(err, d.check(e)); err != nil {
		return err
	}
	drawn, err := d.draw(e, entries)
	if drawn == nil {
		return err
	}
	return d.show(e, drawn, err)
}

// show prints a chart, decides the exit status, and writes the files.
// failed is the error of what it draws; after Ctrl-C no file is written.
func (d *figure) show(e *env, drawn chart.Result, failed error) error {
	stopped := stoppedBy(failed)
	if failed != nil && !stopped {
		return internal(failed)
	}
	kept := chart.Of(drawn, report.Source(e.source(ofPictures...)))
	if stopped {
		kept.Stop(int(e.done.Load()), e.total)
	}
	if failed = noAnswer("error.stopped.files"); !stopped {
		failed = d.write(e, kept)
	}
	if errors.As(failed, new(chart.SizeError)) { // it may have taken minutes
		name := strings.TrimSuffix(d.files[0], filepath.Ext(d.files[0])) + ".json"
		told := text.Errorf("error.chart.kept", "file", name)
		failed = errors.Join(failed, e.replace("-o", name), e.write(name, kept.JSON), told)
	}
	showHere(e, failed, chart.Kind, kept, func() {
		shown := *kept
		shown.Source = ""
		e.Keep(shown.Text(e.Out, e.look()))
		e.Next(d.next...)
		e.onPage("lesson", e.running.Name())
	})
	return cmp.Or(failed, conclude(drawn))
}

// reported returns the charts of a report: all, or those that take seconds.
func reported(all bool) []*figure {
	return slices.DeleteFunc(figures(&chartFiles{}), func(d *figure) bool { return d.minutes && !all })
}

// seconds is about how long a processor takes for the chart of a report that has so many locks in its charts.
func (d *figure) seconds(locks int) float64 { return d.once + d.each*float64(locks) }

// figureSeconds returns about how many seconds a processor takes for all charts of a report of locks.
func figureSeconds(entries []lock.Entry, all bool) (seconds float64) {
	for _, d := range reported(all) {
		seconds += d.seconds(len(report.Charted(entries)))
	}
	return seconds
}

// reportFiles makes the charts of a report, each in its stage of the whole, and returns its files.
func reportFiles(e *env, r *report.Report, all bool) ([]report.File, error) {
	var drawn []chart.Result
	entries := report.Charted(r.Locks)
	for _, d := range reported(all) {
		e.whole.begin(d.seconds(len(entries)))
		one, err := d.report(e, r, entries)
		if err != nil {
			return nil, err
		}
		if one != nil { // the report has this chart
			drawn = append(drawn, one)
		}
	}
	return r.Files(drawn), nil
}

// conclude returns the error of a chart that leaves something unknown.
func conclude(drawn chart.Result) error {
	if searched, ok := drawn.(interface{ Inconclusive() bool }); ok && searched.Inconclusive() {
		return noAnswer("error.cut.some")
	}
	return nil
}

// withNumbers adds a CSV to every file, so that its numbers can be checked: env.write writes each name once.
func withNumbers(files []string) (all []string) {
	for _, f := range files {
		all = append(all, f, strings.TrimSuffix(f, filepath.Ext(f))+".csv")
	}
	return all
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
