package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"locklab/simulator/i18n"
)

// A Source is one log, with the name under which its lines are named.
type Source struct {
	Name string
	From io.Reader
}

// A Place is a line of a source, from 1.
type Place struct {
	Source string `json:"file"`
	Line   int    `json:"line"`
}

// String is the place as compilers write it.
func (p Place) String() string { return p.Source + ":" + strconv.Itoa(p.Line) }

// A LineError says what is wrong with a line.
type LineError struct {
	Place
	Err error
}

func (e *LineError) Error() string { return e.Message().String() }

// Unwrap returns what is wrong.
func (e *LineError) Unwrap() error { return e.Err }

// Message is the text for users.
func (e *LineError) Message() i18n.Message {
	return i18n.New("error.record.line", "file", e.Source, "line", e.Line, "cause", e.Err)
}

// An Entry is a line as it was read, with its instants as the clocks allow them.
type Entry struct {
	Line
	Place
	at     stamp  // of At
	from   stamp  // of From, or of At if there is none and the event is no call
	inside *Entry // the acquired of the lease in which its client is; nil: it has none
}

// A Reader reads several logs as one, line by line. Lines of one log stay in their order. Of the next lines of all
// logs it takes the one that can have happened first: if the clocks allow any order of the lines, they allow this one.
// (A line must come before another one if it ends before that begins. If the one that begins first had to wait for a
// line that is behind the next one of its log, that line would have to come before this next one, too: no order allows
// it.) Only a seq can make a line wait for one of another log, which is found by reading ahead, see mostAhead. A line
// that comes too late to have happened after those before it, whatever the clocks were, is out of order: an error.
// Blank lines are passed over.
//
// A log whose last line has no end and is no JSON was cut off: that line is left out, and Truncated names it.
type Reader struct {
	Within    time.Duration // how far clocks can be off where a line does not say
	Truncated []Place       // the last lines that were cut off
	Backwards []Backward    // clients whose time runs backwards, by less than their clocks can be off; see maxNamed
	BackCount int           // how many there are

	sources []*source
	clients recently[lastLine] // of each
	reached int64              // the latest instant before which nothing can happen any more
	read    int64              // bytes
	count   int64              // lines
}

// lastLine is the last line of a client.
type lastLine struct {
	at Instant
	lo int64 // of its stamp
	Place
}

// maxNamed is the number of lines of one sort that are named; there may be more.
const maxNamed = 10

// A Backward is a line whose instant is before that of its client's line before.
type Backward struct {
	Place
	Client string        `json:"client"`
	By     time.Duration `json:"by_ns"`
}

// A source is a log with its next lines.
type source struct {
	name  string
	in    *bufio.Reader
	line  int
	ahead []*Entry
	ended bool
}

// mostAhead is the number of lines of a log that are looked through for a lower seq.
const mostAhead = 1 << 12

// NewReader reads logs. The names of the sources should differ.
func NewReader(within time.Duration, sources ...Source) *Reader {
	r := &Reader{Within: within, clients: newRecently(func(lastLine) bool { return false }), reached: math.MinInt64}
	for _, s := range sources {
		r.sources = append(r.sources, &source{name: s.Name, in: bufio.NewReaderSize(s.From, 64<<10)})
	}
	return r
}

// Bytes is the number of bytes read so far.
func (r *Reader) Bytes() int64 { return r.read }

// Next returns the next line. The error is io.EOF at the end, a *LineError for a line that is wrong, after which one
// can go on, or that of a source.
func (r *Reader) Next() (*Entry, error) {
	var first *source
	for _, s := range r.sources {
		if len(s.ahead) == 0 && !s.ended {
			if err := r.advance(s); err != nil {
				return nil, err
			}
		}
		if len(s.ahead) > 0 && (first == nil || s.ahead[0].at.lo < first.ahead[0].at.lo) {
			first = s
		}
	}
	if first == nil {
		return nil, io.EOF
	}
	for n := range r.sources { // no row of logs that wait for another is longer
		if n == 0 && first.ahead[0].Seq == 0 {
			break
		}
		other, err := r.before(first)
		if err != nil {
			return nil, err
		}
		if other == nil {
			break
		}
		first = other
	}
	l := first.ahead[0]
	first.ahead = first.ahead[1:]
	return l, r.place(l)
}

// before is another log with a line that comes before the next one of a log, by seq or by the clocks; nil: none.
func (r *Reader) before(first *source) (*source, error) {
	l := first.ahead[0]
	for _, s := range r.sources {
		if s == first {
			continue
		}
		for !s.ended && len(s.ahead) < mostAhead && (len(s.ahead) == 0 || s.ahead[len(s.ahead)-1].at.lo <= l.at.hi) {
			if err := r.advance(s); err != nil {
				return nil, err
			}
		}
		if slices.ContainsFunc(s.ahead, func(o *Entry) bool {
			return o.at.hi < l.at.lo || o.Key == l.Key && 0 < o.Seq && o.Seq < l.Seq
		}) {
			return s, nil
		}
	}
	return nil, nil
}

// foreign are the beginnings of files that are not read, with the sentence about each.
var foreign = []struct{ begins, key string }{
	{"\x1f\x8b", "error.record.gzip"},
	{"\xef\xbb\xbf", "error.record.mark"},
	{"\xff\xfe", "error.record.utf16"},
	{"\xfe\xff", "error.record.utf16"},
	{"{\x00", "error.record.utf16"},
	{"\x00{", "error.record.utf16"},
}

// advance reads the next line of a source.
func (r *Reader) advance(s *source) error {
	for !s.ended {
		b, err := r.line(s)
		if err != nil {
			return err
		}
		if s.line++; len(bytes.TrimSpace(b)) == 0 {
			continue
		}
		for _, f := range foreign {
			if s.line == 1 && bytes.HasPrefix(b, []byte(f.begins)) {
				s.ended = true
				return &LineError{Place{s.name, 1}, i18n.Errorf(f.key)}
			}
		}
		l, err := Line{}, i18n.Errorf("error.record.long", "most", MaxLine)
		if len(b) <= MaxLine {
			l, err = parse(b)
		}
		switch {
		case err == nil:
			s.ahead = append(s.ahead, r.entry(l, Place{s.name, s.line}))
			return nil
		case endsInCR(b):
			s.ended = true
			err = i18n.Errorf("error.record.cr")
		case s.ended && len(b) <= MaxLine && !json.Valid(b):
			r.Truncated = append(r.Truncated, Place{s.name, s.line})
			return nil
		}
		return &LineError{Place{s.name, s.line}, err}
	}
	return nil
}

// endsInCR reports whether what was read as one line is several.
func endsInCR(b []byte) bool {
	first, _, more := bytes.Cut(bytes.TrimSpace(b), []byte("\r"))
	return more && json.Valid(first)
}

// line reads up to the end of a line, of which it returns little more than MaxLine, and notes if the log ends in it.
func (r *Reader) line(s *source) (b []byte, err error) {
	for {
		part, err := s.in.ReadSlice('\n')
		r.read += int64(len(part))
		if len(b) <= MaxLine {
			b = append(b, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if s.ended = err != nil; errors.Is(err, io.EOF) {
			err = nil
		}
		return b, err
	}
}

// entry gives a line its stamps.
func (r *Reader) entry(l Line, place Place) *Entry {
	off := int64(r.Within)
	if l.Uncert != nil {
		off = int64(*l.Uncert)
	}
	e := &Entry{Line: l, Place: place, at: stamp{lo: l.At.Ns - off, hi: l.At.Ns + off, since: l.Seq, by: l.Seq}}
	e.from = stamp{lo: math.MinInt64, hi: e.at.hi, by: l.Seq}
	if l.From.Known {
		e.from.lo, e.from.hi = l.From.Ns-off, min(l.From.Ns+off, e.at.hi)
	}
	return e
}

// place numbers a line, and narrows its stamp by the line of its client before. The error says that it is out of order.
func (r *Reader) place(l *Entry) error {
	r.count++
	l.at.n, l.from.n = r.count, r.count
	last, known := r.clients.get(l.Client)
	back := time.Duration(0)
	if known {
		back = time.Duration(last.at.Ns - l.At.Ns)
	}
	switch {
	case known && l.at.hi < last.lo:
		return &LineError{l.Place, i18n.Errorf("error.record.backwards",
			"client", l.Client, "by", back, "other", last.Place.String(), "within", (back+1)/2)}
	case l.at.hi < r.reached:
		return &LineError{l.Place, i18n.Errorf("error.record.order", "by", time.Duration(r.reached-l.at.hi))}
	case back > 0:
		if r.BackCount++; r.BackCount <= maxNamed {
			r.Backwards = append(r.Backwards, Backward{l.Place, l.Client, back})
		}
	}
	if known {
		l.at.lo = max(l.at.lo, last.lo)
	}
	r.clients.put(l.Client, lastLine{l.At, l.at.lo, l.Place})
	r.reached = max(r.reached, l.at.lo)
	return nil
}
