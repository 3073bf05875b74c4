package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

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
		use:      "judge FILE... | --schema",
		examples: []string{"judge events.jsonl", "judge a.jsonl b.jsonl --within 5ms -o log.html", "judge --schema"},
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
	switch {
	case j.schema && len(args) > 0:
		return text.Errorf("error.judge.schema", "file", args[0])
	case !j.schema && len(args) == 0:
		return between(1, 1, "log")(e.running, args)
	case j.schema:
		_, err := io.WriteString(e.Out, record.Schema)
		return internal(err)
	}
	from, log := &logs{}, &judgedLog{}
	defer from.close()
	for _, name := range args {
		if err := from.open(e, name); err != nil {
			return err
		}
	}
	if err := e.untilStopped(func() error { return log.read(e, j, from) }); err != nil {
		return err
	}
	switch {
	case log.wrong > 0:
		return text.Errorf("error.judge.lines", "n", log.wrong, "lines", text.Lines(log.bad))
	case log.Lines == 0 && len(log.reader.Truncated) > 0:
		return text.Errorf("error.judge.cut", "place", log.reader.Truncated[0].String())
	case log.Lines == 0:
		return text.Errorf("error.judge.empty", "files", strings.Join(args, ", "))
	}
	e.show("judge", judgedJSON{log.Result, record.NotClaimed(), append([]record.Place{}, log.reader.Truncated...),
		append([]record.Backward{}, log.reader.Backwards...)}, func() { log.print(e.console) })
	if j.html != "" && len(log.Findings) == 0 {
		e.inform("judge.html.nothing", "file", j.html)
	} else if err := e.write(j.html, func(w io.Writer) error { return page.WriteRuns(w, log.page(e)) }); err != nil {
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

// logs are files that are open, of which "-" is standard input.
type logs struct {
	sources []record.Source
	files   []*os.File
	infos   []os.FileInfo
}

func (l *logs) open(e *env, name string) (err error) {
	from := record.Source{Name: name, From: e.stdin}
	if name != "-" {
		var f *os.File
		open := func() (err error) { f, err = os.Open(name); return unreadable(name, err) }
		if err := e.untilStopped(open); err != nil {
			return err
		}
		info, err := f.Stat()
		if err != nil || info.IsDir() {
			f.Close()
			return cmp.Or(err, text.Errorf("error.judge.folder", "file", name))
		}
		from.From, l.files = f, append(l.files, f)
		if slices.ContainsFunc(l.infos, func(other os.FileInfo) bool { return os.SameFile(other, info) }) {
			return text.Errorf("error.judge.twice", "file", name)
		}
		l.infos = append(l.infos, info)
	} else if len(l.infos) < len(l.sources) {
		return text.Errorf("error.judge.twice", "file", name)
	}
	l.sources = append(l.sources, from)
	return nil
}

func (l *logs) close() {
	for _, f := range l.files {
		f.Close()
	}
}

// size is that of all, in bytes; 0: it is not known.
func (l *logs) size() (bytes int64) {
	irregular := func(info os.FileInfo) bool { return !info.Mode().IsRegular() }
	if len(l.infos) < len(l.sources) || slices.ContainsFunc(l.infos, irregular) {
		return 0
	}
	for _, info := range l.infos {
		bytes += info.Size()
	}
	return bytes
}

// judgeGarbage is a judge's GOGC: most of what it keeps of a large log has no pointers and takes the collector no time.
const judgeGarbage = 25

// betweenLooks is the number of lines after which it is looked whether the user has stopped the command.
const betweenLooks = 1 << 12

// read reads and judges all lines.
func (l *judgedLog) read(e *env, j *judgeFlags, from *logs) error {
	done := func(int) {}
	if total := int(from.size() >> 20); total > 0 {
		show, end := e.progress(total+1, "progress.judge")
		defer end()
		done = show
	}
	defer debug.SetGCPercent(debug.SetGCPercent(judgeGarbage))
	l.reader = record.NewReader(j.within, from.sources...)
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
			key, meaning := "judge.count", func(lang string) string { return reports.Meaning(w, lang) }
			switch {
			case w == verdict.Unknown:
				meaning = func(lang string) string { return text.Say(lang, "judge.unknown") }
			case w == verdict.Overlap && l.AtLeast:
				key = "judge.count.least"
			}
			e.Wrap("  "+text.Pad(string(w), 13), e.Each(func(lang string) string {
				return text.Say(lang, key, "n", fmt.Sprint(n), "meaning", meaning(lang))
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
	p := page.Runs{Lang: e.Lang, Title: e.First("judge.page"), Command: e.remake(),
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
