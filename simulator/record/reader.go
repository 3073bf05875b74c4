package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
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

// A Reader reads several logs as one, line by line. Of the next lines of all of them it takes the
// one with the earliest instant, after those of other logs that come before a lower seq of its key; so lines of one
// log stay in their order, and it keeps one line of each log, or those that clocks can put before another's (see
// mostAhead). A line that comes too late to have happened after those before it, whatever the clocks
// were, is out of order: an error. Blank lines are passed over.
//
// A log whose last line has no end and is no JSON was cut off: that line is left out, and Truncated
// names it.
type Reader struct {
	Within    time.Duration // how far clocks can be off where a line does not say
	Truncated []Place       // the last lines that were cut off
	Backwards []Backward    // clients whose time runs backwards, by less than their clocks can be off; see maxNamed
	BackCount int           // how many there are

	parser  parser
	sources []*source
	clients recently[*clientTime]
	reached int64 // the latest instant before which nothing can happen any more
	read    int64 // bytes
	count   int64
}

// maxNamed is the number of lines of one sort that are named; there may be more.
const maxNamed = 10

// A Backward is a line whose instant is before that of its client's line before.
type Backward struct {
	Place
	Client string
	By     time.Duration
}

// A source is a log with its next lines.
type source struct {
	name  string
	in    *bufio.Reader
	line  int
	ahead []*Entry
	seqs  map[string][]uint64 // of the lines ahead, by key
	ended bool
}

// mostAhead is the number of lines of a log that are looked through for a lower seq.
const mostAhead = 1 << 12

// An Entry is a line as it was read.
type Entry struct {
	Line
	Place
	stamp stamp // of At
	from  stamp // of From, or of At if there is none and the event is no call
}

// NewReader reads logs. The names of the sources should differ.
func NewReader(within time.Duration, sources ...Source) *Reader {
	r := &Reader{Within: within, clients: newRecently[*clientTime](maxIdle), reached: -1 << 63}
	for _, s := range sources {
		in := bufio.NewReaderSize(s.From, 64<<10)
		r.sources = append(r.sources, &source{name: s.Name, in: in, seqs: map[string][]uint64{}})
	}
	return r
}

// Bytes is the number of bytes read so far.
func (r *Reader) Bytes() int64 { return r.read }

// Next returns the next line. The error is io.EOF at the end, a *LineError for a line that is wrong, after which one can
// go on, or that of a source.
func (r *Reader) Next() (*Entry, error) {
	var first *source
	for _, s := range r.sources {
		if len(s.ahead) == 0 && !s.ended {
			if err := r.advance(s); err != nil {
				return nil, err
			}
		}
		if len(s.ahead) > 0 && (first == nil || s.ahead[0].sooner(first.ahead[0])) {
			first = s
		}
	}
	if first == nil {
		return nil, io.EOF
	}
	for range r.sources { // no row of logs that wait for another is longer
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
	first.ahead = slices.Delete(first.ahead, 0, 1)
	if l.Seq > 0 {
		first.seqs[l.Key] = first.seqs[l.Key][1:]
		if len(first.seqs[l.Key]) == 0 {
			delete(first.seqs, l.Key)
		}
	}
	return l, r.place(l)
}

// before is another log with a line that comes before the next one of a log, by seq, and can have done so by the
// clocks, or by the clocks alone where seq has put that one before a line that is sooner; nil: there is none.
func (r *Reader) before(first *source) (*source, error) {
	l := first.ahead[0]
	from, to := l.At.Ns-r.off(l), l.At.Ns+r.off(l)
	for _, s := range r.sources {
		passed := len(s.ahead) > 0 && s.ahead[0].At.Ns < l.At.Ns
		if l.Seq == 0 && !passed || s == first {
			continue
		}
		for (passed || len(s.seqs[l.Key]) == 0) && !s.ended && len(s.ahead) < mostAhead {
			if n := len(s.ahead); n > 0 && s.ahead[n-1].At.Ns-r.off(s.ahead[n-1]) > to {
				break
			}
			if err := r.advance(s); err != nil {
				return nil, err
			}
		}
		earlier := func(o *Entry) bool { return o.At.Ns+r.off(o) < from }
		if q := s.seqs[l.Key]; len(q) > 0 && q[0] < l.Seq || passed && slices.ContainsFunc(s.ahead, earlier) {
			return s, nil
		}
	}
	return nil, nil
}

// off is by how much the clock of a line can be off.
func (r *Reader) off(l *Entry) int64 {
	if l.Uncert != nil {
		return int64(*l.Uncert)
	}
	return int64(r.Within)
}

// sooner reports whether l is to be read before o, of another source.
func (l *Entry) sooner(o *Entry) bool {
	if l.Seq > 0 && o.Seq > 0 && l.Key == o.Key {
		return l.Seq < o.Seq
	}
	return l.At.Ns < o.At.Ns
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
	for {
		b, ended, err := r.line(s)
		s.ended = err != nil || ended
		if err != nil || ended && len(bytes.TrimSpace(b)) == 0 {
			return err
		}
		s.line++
		for _, f := range foreign {
			if s.line == 1 && bytes.HasPrefix(b, []byte(f.begins)) {
				s.ended = true
				return &LineError{Place{s.name, 1}, i18n.Errorf(f.key)}
			}
		}
		if len(bytes.TrimSpace(b)) == 0 {
			continue
		}
		place := Place{s.name, s.line}
		l, err := Line{}, i18n.Errorf("error.record.long", "most", MaxLine)
		if len(b) <= MaxLine {
			l, err = r.parser.parse(b)
		}
		switch {
		case err == nil:
			s.ahead = append(s.ahead, &Entry{Line: l, Place: place})
			if l.Seq > 0 {
				s.seqs[l.Key] = append(s.seqs[l.Key], l.Seq)
			}
			return nil
		case endsInCR(b):
			s.ended = true
			err = i18n.Errorf("error.record.cr")
		case ended && len(b) <= MaxLine && !json.Valid(b):
			r.Truncated = append(r.Truncated, place)
			return nil
		}
		return &LineError{place, err}
	}
}

// endsInCR reports whether what was read as one line is several.
func endsInCR(b []byte) bool {
	first, _, more := bytes.Cut(bytes.TrimSpace(b), []byte("\r"))
	return more && json.Valid(first)
}

// line reads up to the end of a line, of which it returns little more than MaxLine. ended: the log ends in it.
func (r *Reader) line(s *source) (b []byte, ended bool, err error) {
	for {
		part, err := s.in.ReadSlice('\n')
		r.read += int64(len(part))
		if len(b) <= MaxLine {
			b = append(b, part...)
		}
		switch {
		case err == nil:
			return b, false, nil
		case errors.Is(err, io.EOF):
			return b, true, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, true, err
		}
	}
}

// clientTime is how far the lines of a client have come.
type clientTime struct {
	last stamp
	at   int64
	Place
}

// place gives a line its stamps. The error says that it is out of order.
func (r *Reader) place(l *Entry) error {
	within := r.off(l)
	r.count++
	l.stamp = stamp{lo: l.At.Ns - within, hi: l.At.Ns + within, since: l.Seq, by: l.Seq, n: r.count}
	c, known := r.clients.get(l.Client)
	back := time.Duration(0)
	if known {
		back = time.Duration(c.at - l.At.Ns)
	}
	switch {
	case known && l.stamp.hi < c.last.lo:
		return &LineError{l.Place, i18n.Errorf("error.record.backwards", "client", l.Client, "by", back, "other", c.Place.String(), "within", (back+1)/2)}
	case l.stamp.hi < r.reached:
		return &LineError{l.Place, i18n.Errorf("error.record.order", "by", time.Duration(r.reached-l.stamp.hi))}
	case back > 0:
		if r.BackCount++; r.BackCount <= maxNamed {
			r.Backwards = append(r.Backwards, Backward{l.Place, l.Client, back})
		}
	}
	if !known {
		c = &clientTime{}
		r.clients.put(l.Client, c)
		r.clients.forget(func(*clientTime) bool { return false })
	} else {
		l.stamp.lo = max(l.stamp.lo, c.last.lo)
	}
	c.last, c.at, c.Place = l.stamp, l.At.Ns, l.Place
	r.reached = max(r.reached, l.stamp.lo)
	l.from = stamp{lo: -1 << 63, hi: l.stamp.hi, by: l.Seq, n: l.stamp.n}
	if l.From.Known {
		l.from.lo, l.from.hi = l.From.Ns-within, min(l.From.Ns+within, l.stamp.hi)
	}
	return nil
}
