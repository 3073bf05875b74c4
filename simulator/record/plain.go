package record

import (
	"bytes"
	"strconv"
)

// plain reads a line that is written plainly, as almost all are: one flat object, names as they are, text of ASCII without
// escapes, whole numbers. false: it is not, or something is wrong with it, and package json has to read it.
// It takes a fifth of the time.
func plain(b []byte) (l Line, ok bool) {
	s := scanner{b: b}
	if !s.skip('{') {
		return Line{}, false
	}
	for {
		name, isText := s.value()
		if !isText || !s.skip(':') {
			return Line{}, false
		}
		value, isText := s.value()
		if value == nil || !l.set(string(name), value, isText) {
			return Line{}, false
		}
		if s.skip(',') {
			continue
		}
		ok = s.skip('}')
		s.blanks()
		return l, ok && s.i == len(b)
	}
}

// A scanner goes through the text of an object.
type scanner struct {
	b []byte
	i int
}

func (s *scanner) blanks() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t' || s.b[s.i] == '\r' || s.b[s.i] == '\n') {
		s.i++
	}
}

// skip passes over blanks and one character, if it is there.
func (s *scanner) skip(c byte) bool {
	s.blanks()
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// value is a text without its quotes, or the letters and digits of another value; nil: it is not plain.
func (s *scanner) value() (v []byte, isText bool) {
	if s.skip('"') {
		end := bytes.IndexByte(s.b[s.i:], '"')
		if end < 0 {
			return nil, false
		}
		v = s.b[s.i : s.i+end : s.i+end]
		s.i += end + 1
		for _, c := range v {
			if c < ' ' || c >= 0x7f || c == '\\' {
				return nil, false
			}
		}
		return v, true
	}
	from := s.i
	for s.i < len(s.b) && (s.b[s.i] >= '0' && s.b[s.i] <= '9' || s.b[s.i] >= 'a' && s.b[s.i] <= 'z' || s.b[s.i] == '-') {
		s.i++
	}
	if s.i == from {
		return nil, false
	}
	return s.b[from:s.i:s.i], false
}

// set sets a field; false: it is another one, or its value is not plain.
func (l *Line) set(name string, value []byte, isText bool) bool {
	switch name {
	case "client":
		l.Client = string(value)
	case "key":
		l.Key = string(value)
	case "note":
		l.Note = string(value)
	case "event":
		l.Event = known(value)
		return isText && l.Event != ""
	case "at", "from":
		return l.setInstant(name, value, isText)
	case "ok":
		l.OK = new(string(value) == "true")
		return !isText && (*l.OK || string(value) == "false")
	default:
		return !isText && l.setNumber(name, value)
	}
	return isText
}

// known is an event of that name; "": there is none.
func known(name []byte) Event {
	for _, e := range allEvents {
		if string(e) == string(name) {
			return e
		}
	}
	return ""
}

func (l *Line) setInstant(name string, value []byte, isText bool) bool {
	to := &l.At
	if name == "from" {
		to = &l.From
	}
	if !isText {
		n, ok := whole(value)
		*to = Instant{n, true}
		return ok && n < maxNs && n > -maxNs
	}
	return to.parse(string(value)) == nil
}

func (l *Line) setNumber(name string, value []byte) bool {
	n, ok := whole(value)
	if !ok || n < 0 || name != "seq" && name != "token" && n > maxVersion {
		return false
	}
	switch name {
	case "seq":
		l.Seq = uint64(n)
	case "token":
		l.Token = uint64(n)
	case "version":
		l.Version = new(int(n))
	case "base":
		l.Base = new(int(n))
	case "v":
		l.V = int(n)
	case "within":
		l.Uncert = new(Length(n))
	default:
		return false
	}
	return true
}

// whole reads a whole number as JSON has it.
func whole(b []byte) (int64, bool) {
	digits := bytes.TrimPrefix(b, []byte("-"))
	if len(digits) == 0 || len(digits) > 1 && digits[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	return n, err == nil
}
