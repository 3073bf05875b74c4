package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"

	"locklab/reports/report"
	"locklab/scenarios/share"
)

// progress shows the progress of long work: a bar on a terminal, a line now and then where
// standard error is another file or a pipe. what is a key.
func (e *env) progress(total int, what string) (done func(n int), end func()) {
	f, ok := terminal(e.stderr)
	if f == nil {
		return func(int) {}, func() {}
	}
	began := time.Now()
	if !ok {
		tick := time.NewTicker(betweenLines)
		lines, last := e.progressLines(f, total, what, began, tick.C)
		return lines, func() { tick.Stop(); last() }
	}
	bar := progressbar.NewOptions(total,
		progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(e.Say(what)),
		progressbar.OptionShowIts(), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(false),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	_ = bar.RenderBlank() // before the first task is done, which may be long
	return func(n int) {
		bar.Describe(e.Say(what) + e.left(n, total, time.Since(began)))
		_ = bar.Set(n)
	}, func() { _ = bar.Finish() }
}

// work returns the way to compute the tasks of the command, with their progress shown.
func (e *env) work(total int, what string) (w *share.Work, end func()) {
	done, end := e.progress(total, what)
	return &share.Work{Computer: e.computer, Done: done}, end
}

// inStages returns work that shows one progress for all of its stages, in their order, and what ends that.
func inStages(e *env, stages []report.Stage) (work report.Worker, end func()) {
	total := 0.0
	for _, s := range stages {
		total += s.Seconds
	}
	const steps = 100
	done, end := e.progress(steps, "progress.whole")
	next, before := 0, 0.0
	return func(tasks int, what string) (*share.Work, func()) {
		for next < len(stages) && stages[next].What != what { // it was left out
			before += stages[next].Seconds
			next++
		}
		from, seconds := before, 0.0
		if next < len(stages) {
			seconds = stages[next].Seconds
		}
		to := func(share float64) { done(int(steps * (from + seconds*share) / total)) }
		return &share.Work{Done: func(n int) { to(float64(n) / float64(tasks)) }}, func() { to(1) }
	}, end
}

// betweenLines is the time between two lines of progress.
const betweenLines = 10 * time.Second

// progressLines prints a line at each tick, if more is done than at the one before.
func (e *env) progressLines(w io.Writer, total int, what string, began time.Time, ticks <-chan time.Time) (done func(n int), end func()) {
	var finished atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		last := 0
		for {
			select {
			case <-stop:
				return
			case <-ticks:
				if n := int(finished.Load()); n > last {
					last = n
					fmt.Fprintf(w, "%s %d/%d%s\n", e.Say(what), n, total, e.left(n, total, time.Since(began)))
				}
			}
		}
	}()
	return func(n int) { finished.Store(int64(n)) }, sync.OnceFunc(func() { close(stop); <-stopped })
}

// left returns an estimate of the time left, in words; "": too little is done for one, since
// long tasks come first.
func (e *env) left(n, total int, elapsed time.Duration) string {
	if n*20 < total || n == 0 || n >= total {
		return ""
	}
	rest := time.Duration(float64(elapsed) * float64(total-n) / float64(n))
	return e.First("progress.left", "time", rest.Round(time.Second).String())
}
