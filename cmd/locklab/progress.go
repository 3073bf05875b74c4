package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"locklab/scenarios/share"
)

// progress shows the progress of long work: a bar on a terminal, a line now and then where
// standard error is another file or a pipe. what is a key.
func (c *console) progress(total int, what string) (done func(n int), end func()) {
	f, ok := terminal(c.stderr)
	if f == nil {
		return func(int) {}, func() {}
	}
	m := &meter{c, what, total, time.Now()}
	if !ok {
		tick := time.NewTicker(betweenLines)
		lines, last := m.lines(f, tick.C)
		return lines, func() { tick.Stop(); last() }
	}
	return m.bar(f)
}

// A meter measures work of a known total since it began. Its words have the key what.
type meter struct {
	*console
	what  string
	total int
	began time.Time
}

// betweenDraws is the least time between two drawings of a bar.
const betweenDraws = 100 * time.Millisecond

// bar draws a bar in one line of a terminal, and clears it at the end. Several goroutines may call done.
func (m *meter) bar(w io.Writer) (done func(n int), end func()) {
	const cells = 30
	var mu sync.Mutex
	var drawn time.Time
	draw := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(drawn) < betweenDraws {
			return
		}
		drawn = time.Now()
		full := cells * n / max(m.total, 1)
		fmt.Fprintf(w, "\r%s %s%s %d/%d%s\x1b[K", m.Say(m.what), strings.Repeat("█", full), strings.Repeat("░", cells-full),
			n, m.total, m.pace(n))
	}
	draw(0) // before the first task is done, which may be long
	return draw, func() { fmt.Fprint(w, "\r\x1b[K") }
}

// betweenLines is the time between two lines of progress.
const betweenLines = 10 * time.Second

// lines prints a line at each tick, if more is done than at the one before.
func (m *meter) lines(w io.Writer, ticks <-chan time.Time) (done func(n int), end func()) {
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
					fmt.Fprintf(w, "%s %d/%d%s\n", m.Say(m.what), n, m.total, m.pace(n))
				}
			}
		}
	}()
	return func(n int) { finished.Store(int64(n)) }, sync.OnceFunc(func() { close(stop); <-stopped })
}

// pace returns how many are done in a second, and an estimate of the time left, in words; "": too little is done for
// that, since long tasks come first.
func (m *meter) pace(n int) string {
	if n*20 < m.total || n == 0 || n >= m.total {
		return ""
	}
	rate := float64(n) / time.Since(m.began).Seconds()
	rest := time.Duration(float64(m.total-n) / rate * float64(time.Second))
	return m.First("progress.left", "rate", fmt.Sprintf("%.3g", rate), "time", rest.Round(time.Second).String())
}

// A whole shows one progress for work in several stages.
type whole struct {
	done          func(percent int)
	seconds       float64 // that all stages take
	before, stage float64 // those of the stages that are over, and of the one that runs
}

// inStages begins a whole of stages that take so many seconds; end ends its progress.
func (c *console) inStages(seconds float64) (w *whole, end func()) {
	w = &whole{seconds: seconds}
	w.done, end = c.progress(100, "progress.whole")
	return w, end
}

// begin begins a stage; the one before is over.
func (w *whole) begin(seconds float64) { w.before, w.stage = w.before+w.stage, seconds }

// work returns work whose progress is that of the stage.
func (w *whole) work(tasks int) (*share.Work, func()) {
	from, seconds := w.before, w.stage
	to := func(part float64) { w.done(int(100 * (from + seconds*part) / w.seconds)) }
	return &share.Work{Done: func(n int) { to(float64(n) / float64(tasks)) }}, func() { to(1) }
}
