package record

import (
	"bufio"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// A Recorder writes the lines of one process. Its instants never go backwards, whatever happens to
// the machine's clock. Goroutines may share it.
type Recorder struct {
	began time.Time

	mu  sync.Mutex
	out *bufio.Writer
	to  *json.Encoder
	err error
}

// NewRecorder writes to w. Close writes out what is left.
func NewRecorder(w io.Writer) *Recorder {
	out := bufio.NewWriter(w)
	to := json.NewEncoder(out)
	to.SetEscapeHTML(false)
	return &Recorder{began: time.Now(), out: out, to: to}
}

// Now is the instant of the machine's clock when the recorder was made, and the time since then.
func (r *Recorder) Now() Instant { return InstantOf(r.began.Add(time.Since(r.began))) }

// Record writes a line. One without an instant happens now. The first error is kept for Close.
func (r *Recorder) Record(l Line) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !l.At.Known {
		l.At = r.Now()
	}
	if err := l.check(); err != nil && r.err == nil {
		r.err = err
	}
	if r.err == nil {
		r.err = r.to.Encode(l)
	}
}

// Close writes out what is left, and returns the first error. It does not close what is written to.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.out.Flush(); r.err == nil {
		r.err = err
	}
	return r.err
}
