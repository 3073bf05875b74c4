package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"locklab/scenarios/share"
)

// progress shows the progress of long work: a bar on a terminal, a line now and then where
// standard error is another file or a pipe. what is a key. Several goroutines may call done.
func (c *console) progress(total int, what string) (done func(n int), end func()) {
	f, ok := terminal(c.stderr)
	m := &meter{c, what, total, time.Now()}
	switch {
	case f == nil:
		return func(int) {}, func() {}
	case !ok:
		return paced(f, betweenLines, m.line), func() {}
	}
	fmt.Fprint(f, m.bar(0)) // before the first task is done, which may be long
	return paced(f, betweenDraws, m.bar), func() { fmt.Fprint(f, clearLine) }
}

// The least times between two drawings of a bar, and between two lines of progress.
const (
	betweenDraws = 100 * time.Millisecond
	betweenLines = 10 * time.Second
)

// paced returns what writes how much is done, if more is done than before and the time between has gone by.
func paced(w io.Writer, between time.Duration, say func(n int) string) (done func(n int)) {
	var mu sync.Mutex
	last, written := time.Now(), 0
	return func(n int) {
		mu.Lock()
		defer mu.Unlock()
		if n > written && time.Since(last) >= between {
			last, written = time.Now(), n
			fmt.Fprint(w, say(n))
		}
	}
}

// A meter measures work of a known total since it began. Its words have the key what.
type meter struct {
	*console
	what  string
	total int
	began time.Time
}

// clearLine clears the line of a bar.
const clearLine = "\r\x1b[K"

// bar is a bar in one line of a terminal.
func (m *meter) bar(n int) string {
	const cells = 30
	full := cells * n / max(m.total, 1)
	return fmt.Sprintf("\r%s %s%s %d/%d%s\x1b[K", m.Say(m.what), strings.Repeat("█", full),
		strings.Repeat("░", cells-full), n, m.total, m.pace(n))
}

func (m *meter) line(n int) string {
	said := m.say("progress.line", "what", m.Say(m.what), "n", fmt.Sprint(n), "of", fmt.Sprint(m.total))
	return said + m.pace(n) + "\n"
}

// say returns a text about progress, where tasks are no unit that a reader counts one of its own.
func (m *meter) say(key string, pairs ...string) string {
	return m.First(key+map[string]string{"progress.own": ".own", "progress.whole": ".whole"}[m.what], pairs...)
}

// pace returns how many are done in a second, and an estimate of the time left, in words; "": too little is done for
// that, since long tasks come first.
func (m *meter) pace(n int) string {
	if n*20 < m.total || n == 0 || n >= m.total {
		return ""
	}
	rate := float64(n) / time.Since(m.began).Seconds()
	key, left := "part.seconds", math.Ceil(float64(m.total-n)/rate)
	if left > 300 {
		key, left = "part.minutes", math.Ceil(left/60)
	}
	return m.say("progress.left", "rate", fmt.Sprintf("%.3g", rate), "time", m.First(key, "n", fmt.Sprint(left)))
}

// A whole shows one progress for work in several stages.
type whole struct {
	done          func(percent int)
	seconds       float64 // that all stages take
	before, stage float64 // those of the stages that are over, and of the one that runs
}

// begin begins a stage; the one before is over.
func (w *whole) begin(seconds float64) { w.before, w.stage = w.before+w.stage, seconds }

// work returns work whose progress is that of the stage.
func (w *whole) work(tasks int) (*share.Work, func()) {
	from, seconds := w.before, w.stage
	to := func(part float64) { w.done(int(100 * (from + seconds*part) / w.seconds)) }
	return &share.Work{Done: func(n int) { to(float64(n) / float64(tasks)) }}, func() { to(1) }
}
