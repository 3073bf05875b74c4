package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locklab/reports"
	"locklab/reports/page"
	"locklab/reports/text"
	"locklab/simulator/record"
	"locklab/simulator/verdict"
)

// judgeFlags are the flags of "locklab judge".
type judgeFlags struct {
	within   time.Duration
	findings int
	html     string
	schema   bool
}

// judgeCommand judges logs of any system.
func judgeCommand() *command {
	j := &judgeFlags{findings: 3}
	return &command{
		use: "judge FILE...",
		examples: []string{"judge events.jsonl", "judge a.jsonl b.jsonl --within 5ms -o log.html",
			"judge --schema"},
		args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && !c.Flags().Changed("schema") {
				return text.Errorf("error.arguments.log", "command", c.CommandPath(), "example", firstExample(c))
			}
			if len(args) > 0 && c.Flags().Changed("schema") {
				return text.Errorf("error.judge.schema", "file", args[0])
			}
			return nil
		},
		flags: func(f *flags) {
			ranged(f, "within", &j.within, 0, record.MaxWithin)
			ranged(f, "findings", &j.findings, 1, 1000)
			f.outHTML(&j.html, "error.judge.html")
			f.add("schema", &j.schema)
		},
		run: j.run,
	}
}

// maxBad is the number of wrong lines that are named; the others are counted.
const maxBad = 10

// A judgedLog is what came of logs.
type judgedLog struct {
	*record.Result
	reader *record.Reader
	bad    []error
	wrong  int // lines
}

func (j *judgeFlags) run(e *env, args []string) error {
	if j.schema {
		_, err := io.WriteString(e.Out, record.Schema)
		return internal(err)
	}
	sources, size, end, err := openLogs(e, args)
	if err != nil {
		return err
	}
	defer end()
	log := &judgedLog{}
	if err := e.untilStopped(func() error { return log.read(e, j, sources, size) }); err != nil {
		return err
	}
	switch {
	case log.wrong > 0:
		if log.wrong > len(log.bad) {
			return text.Errorf("error.judge.lines.more", "n", log.wrong, "lines", text.Lines(log.bad))
		}
		return text.Errorf("error.judge.lines", "n", log.wrong, "lines", text.Lines(log.bad))
	case log.Lines == 0 && len(log.reader.Truncated) > 0:
		return text.Errorf("error.judge.cut", "place", log.reader.Truncated[0].String())
	case log.Lines == 0:
		return text.Errorf("error.judge.empty")
	}
	e.show("judge", log.json(), func() { log.print(e.console) })
	if j.html != "" && len(log.Findings) == 0 {
		e.inform("judge.html.nothing", "file", j.html)
	} else if err := e.write(j.html,
		func(w io.Writer) error { return page.WriteRuns(w, log.page(e)) }); err != nil {
		return err
	}
	switch {
	case log.Verdicts[0].Broken():
		return &exitError{exitDiffers, nil}
	case log.Verdicts[0] == verdict.Unknown:
		return &exitError{exitNoAnswer, nil}
	}
	return nil
}

// openLogs opens files, of which "-" is standard input. size is that of all, in bytes; 0: it is not known.
func openLogs(e *env, names []string) (sources []record.Source, size int64, end func(), err error) {
	var files []*os.File
	end = func() {
		for _, f := range files {
			f.Close()
		}
	}
	known := true
	twice := func(name string) (_ []record.Source, _ int64, _ func(), err error) {
		end()
		return nil, 0, nil, text.Errorf("error.judge.twice", "file", name)
	}
	var infos []os.FileInfo
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return twice(name)
		}
		if name == "-" {
			known, sources = false, append(sources, record.Source{Name: "-", From: e.stdin})
			continue
		}
		var f *os.File
		if err := e.untilStopped(func() (err error) { f, err = os.Open(name); return err }); err != nil {
			end()
			return nil, 0, nil, err
		}
		files = append(files, f)
		info, err := f.Stat()
		if err == nil && info.IsDir() {
			end()
			return nil, 0, nil, text.Errorf("error.judge.folder", "file", name)
		}
		if slices.ContainsFunc(infos, func(other os.FileInfo) bool { return os.SameFile(other, info) }) {
			return twice(name)
		}
		infos = append(infos, info)
		known = known && err == nil && info.Mode().IsRegular()
		if err == nil {
			size += info.Size()
		}
		sources = append(sources, record.Source{Name: name, From: f})
	}
	if !known {
		size = 0
	}
	return sources, size, end, nil
}

// untilStopped does what may wait forever, such as reading a pipe. Ctrl-C ends the waiting, not the work: what that
// sets must not be used after an error.
func (e *env) untilStopped(work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-e.ctx.Done():
		return noAnswer("error.stopped")
	}
}

// judgeGarbage is the GOGC of a judge: most of what it keeps of a large log has no pointers, and takes the collector
// no time.
const judgeGarbage = 25

// betweenLooks is the number of lines after which it is looked whether the user has stopped the command.
const betweenLooks = 1 << 12

// read reads and judges all lines.
func (l *judgedLog) read(e *env, j *judgeFlags, sources []record.Source, size int64) error {
	total := int(size >> 20)
	done, end := func(int) {}, func() {}
	if total > 0 {
		done, end = e.progress(total+1, "progress.judge")
	}
	defer end()
	defer debug.SetGCPercent(debug.SetGCPercent(judgeGarbage))
	l.reader = record.NewReader(j.within, sources...)
	judge := record.NewJudge(j.findings)
	for n := 1; ; n++ {
		if n%betweenLooks == 0 {
			if e.ctx.Err() != nil {
				return noAnswer("error.stopped")
			}
			done(int(l.reader.Bytes() >> 20))
		}
		line, err := l.reader.Next()
		if err == nil {
			err = judge.Observe(line)
		}
		switch bad := (*record.LineError)(nil); {
		case errors.Is(err, io.EOF):
			l.Result = judge.Finish()
			return nil
		case errors.As(err, &bad):
			if l.wrong++; l.wrong <= maxBad {
				l.bad = append(l.bad, bad)
			}
		case err != nil:
			return err
		}
	}
}

// judgedJSON is a judged log as JSON.
type judgedJSON struct {
	*record.Result
	NotClaimed []verdict.Word    `json:"not_claimed"`
	Truncated  []record.Place    `json:"truncated"`
	Backwards  []record.Backward `json:"backwards"`
}

func (l *judgedLog) json() judgedJSON {
	return judgedJSON{l.Result, record.NotClaimed(), append([]record.Place{}, l.reader.Truncated...),
		append([]record.Backward{}, l.reader.Backwards...)}
}

// when is an instant of a log: a date, or the time since the beginning of a log that does not count from 1970.
func (l *judgedLog) when(i record.Instant) string {
	if l.First.Ns < int64(10*365*24*time.Hour) {
		return reports.Span(time.Duration(i.Ns))
	}
	return time.Unix(0, i.Ns).UTC().Format("2006-01-02T15:04:05.000Z")
}

func (l *judgedLog) print(e *console) {
	e.Sentence("judge.title", "lines", fmt.Sprint(l.Lines), "leases", fmt.Sprint(l.Acquired), "from", l.when(l.First),
		"to", l.when(l.Last))
	for i := range l.Findings {
		l.printFinding(e, &l.Findings[i])
	}
	e.Printf("\n%s%s\n", e.Label("command.verdict"), reports.Words(l.Verdicts))
	for _, w := range append(record.Claimed(), verdict.Unknown) {
		if n := l.Counts[w]; n > 0 {
			e.Wrap("  "+text.Pad(string(w), 13), e.Each(func(lang string) string {
				meaning := reports.Meaning(w, lang)
				if w == verdict.Unknown {
					meaning = text.Say(lang, "judge.unknown")
				}
				key := "judge.count"
				if w == verdict.Overlap && l.AtLeast {
					key = "judge.count.least"
				}
				return text.Say(lang, key, "n", fmt.Sprint(n), "meaning", meaning)
			}))
		}
	}
	l.printMissing(e)
	e.Next("locklab explain judge", "locklab explain "+strings.ToLower(string(l.Verdicts[0])))
}

// saying is the key of the sentence about a finding, with its values.
func (l *judgedLog) saying(e *console, f *record.Finding) (key string, pairs []string) {
	word := f.Verdict
	key = "judge.finding"
	if f.Verdict == verdict.Unknown {
		word, key = f.May, "judge.unknown."+string(f.Why)
	}
	var clients []string
	for i, c := range f.Clients {
		clients = append(clients, e.First("judge.client", "client", text.Visible(c),
			"line", text.Visible(f.Lines[min(i, len(f.Lines)-1)].String())))
	}
	return key, []string{
		"word", string(word), "key", text.Visible(f.Key), "when", l.when(f.From), "first", clients[0],
		"second", clients[len(clients)-1],
		"clients", text.Join(e.Langs()[0], "chart.list", clients),
	}
}

// legend says who the clients of a picture are.
func legend(names []string) string {
	var all []string
	for i, name := range names {
		all = append(all, fmt.Sprintf("c%d = %s", i+1, text.Visible(name)))
	}
	return strings.Join(all, ", ")
}

// printFinding prints a finding with the lines around it.
func (l *judgedLog) printFinding(e *console, f *record.Finding) {
	e.Printf("\n")
	key, pairs := l.saying(e, f)
	e.Wrap("", e.Say(key, pairs...))
	h, j, names, start := f.Window()
	e.Wrap("", e.Say("judge.window", "clients", legend(names), "start", l.when(start)))
	look := e.look()
	look.Brief = true
	e.Keep(reports.Lanes(e.Out, h, j, look))
}

// printMissing says what the log does not show, and what is not claimed for that.
func (l *judgedLog) printMissing(e *console) {
	e.Printf("\n")
	e.Wrap("", e.Say("judge.notclaimed", "verdicts", reports.Words(record.NotClaimed())))
	if w := l.Wait; w != nil {
		e.Wrap("- ", e.Say("judge.wait", "n", fmt.Sprint(w.Refused),
			"span", reports.Span(time.Duration(w.Until.Ns-w.Since.Ns)), "key", text.Visible(w.Key),
			"from", text.Visible(w.From.String()), "to", text.Visible(w.To.String())))
	}
	for _, m := range []struct {
		key string
		n   int
	}{
		{"version", l.NoVersion}, {"from", l.NoFrom}, {"ok", l.NoAnswer}, {"entry", l.NoEntry}, {"twice", l.Replaced},
		{"open", l.Open}, {"crowded", l.Crowded}, {"forgotten", l.Forgotten},
	} {
		if m.n > 0 {
			e.Wrap("- ", e.Say("judge.missing."+m.key, "n", fmt.Sprint(m.n)))
		}
	}
	for _, p := range l.reader.Truncated {
		e.Wrap("- ", e.Say("judge.truncated", "line", text.Visible(p.String())))
	}
	for _, b := range l.reader.Backwards {
		e.Wrap("- ", e.Say("judge.backwards", "line", text.Visible(b.String()), "client", text.Visible(b.Client),
			"by", reports.Span(b.By)))
	}
	if more := l.reader.BackCount - len(l.reader.Backwards); more > 0 {
		e.Wrap("- ", e.Say("judge.backwards.more", "n", fmt.Sprint(more)))
	}
}

// page is the page of the findings.
func (l *judgedLog) page(e *env) page.Runs {
	p := page.Runs{Lang: e.Lang, Title: e.First("judge.page"), Command: e.command,
		Notes: []string{e.First("judge.notclaimed", "verdicts", reports.Words(record.NotClaimed()))}}
	for i := range l.Findings {
		f := &l.Findings[i]
		h, j, names, start := f.Window()
		h.Lock = f.Key
		key, pairs := l.saying(e.console, f)
		run, _ := reports.RunOf(h, j, j.Verdicts, e.Langs(), false)
		p.Parts = append(p.Parts, page.Part{
			Title: fmt.Sprintf("%d %s", i+1, f.Verdict), Run: run,
			Text: e.First(key, pairs...) + " " + e.First("judge.window", "clients", legend(names),
				"start", l.when(start)),
		})
	}
	return p
}
