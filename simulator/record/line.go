// Package record judges the log of a lock: of any system in any language, from its own clients.
//
// A log is lines of JSON, one [Line] each; format.json is their schema, and "locklab explain judge" a page about them.
// A [Recorder] writes them in Go, [Wrap] records what a lock's user sees, and [Of] writes a run of the lab. A [Reader]
// reads several machines' logs as one, and a [Judge] judges it in memory that depends on open leases, not on the log.
//
// The verdicts are those of package verdict, as far as a log shows them: it has no server, so it is not known
// whether a key existed. What follows, verdict by verdict, is at [Claimed].
//
// Clocks of several machines differ, so an instant is an interval ([stamp]). A verdict is claimed if it holds for every
// choice of instants within the intervals; what is possible and not certain is UNKNOWN, with the two lines.
package record

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"locklab/simulator/i18n"
	"locklab/simulator/lists"
)

// Version is the version of the format. A line without one has this version.
const Version = 1

// Schema is the JSON schema of a line.
//
//go:embed format.json
var Schema string

// What to write: an example of a log, in which two clients are inside, and how other languages record theirs.
var (
	//go:embed example.jsonl
	Example string
	//go:embed recorder.py
	Python string
	//go:embed Recorder.java
	Java string
)

// MaxLine is the number of bytes that no line exceeds.
const MaxLine = 64 << 10

// An Event is what a line says.
type Event string

// The events. What a client does with one key comes in this order: acquired, then any number of renewed, read and
// wrote, then leaving and released, or lost; or refused. A lock taken again by its holder is the business of its
// holder: only the outermost acquire and release are lines.
const (
	Acquired Event = "acquired" // the lock was given: the client is inside from now on
	Refused  Event = "refused"  // the lock was not given
	Leaving  Event = "leaving"  // the client's work is done: it is outside from now on, and releases next
	Released Event = "released" // the release has returned; OK: the lock was still its own
	Renewed  Event = "renewed"  // a renewal or a check has returned; OK: the lock is still its own
	Lost     Event = "lost"     // the client has noticed that it no longer has the lock, and is outside from now on
	Wrote    Event = "wrote"    // a write to what the lock protects has returned; OK false: it was refused
	Read     Event = "read"     // a read of it has returned
	Ended    Event = "ended"    // the client's process has ended, on all keys: by exit, kill or crash
)

var allEvents = []Event{Acquired, Refused, Leaving, Released, Renewed, Lost, Wrote, Read, Ended}

// A Line is one line of a log.
type Line struct {
	At     Instant `json:"at"`               // when it happened, or when the call returned, on the client's clock
	From   Instant `json:"from,omitzero"`    // when the call was made; zero: not known
	Client string  `json:"client"`           // one thread of one process: it has one lease of a key at a time
	Event  Event   `json:"event"`            //
	Until  Instant `json:"until,omitzero"`   // when the lease ends by itself; zero: not known
	Key    string  `json:"key,omitempty"`    // of the lock; none for Ended
	OK     *bool   `json:"ok,omitempty"`     // what Released and Renewed say of the lock; whether Wrote was accepted
	Token  uint64  `json:"token,omitempty"`  // the fencing token of Acquired, Wrote and Read; 0: there is none
	Seq    uint64  `json:"seq,omitempty"`    // counts events of all clients, drawn at the event itself; 0: not known
	Uncert *Length `json:"within,omitempty"` // how far the clock can be off, both ways; nil: as the reader is told
	// Version is the resource's version, which counts accepted writes from 1: what Read saw, or what Wrote has
	// made. Base is the version that the writer had read. Nil: not known.
	Version *int   `json:"version,omitempty"`
	Base    *int   `json:"base,omitempty"`
	Note    string `json:"note,omitempty"` // for people: no judge reads it
	V       int    `json:"v,omitempty"`    // version of the format; 0: Version
}

// accepted reports whether a write was not refused.
func (l *Line) accepted() bool { return l.OK == nil || *l.OK }

// An Instant is nanoseconds since a beginning that all clients share, such as 1970. JSON has a
// whole number of nanoseconds, or a date and time of RFC 3339. The zero Instant is none.
type Instant struct {
	Ns    int64
	Known bool
}

// InstantOf is an instant of a clock.
func InstantOf(t time.Time) Instant { return Instant{t.UnixNano(), true} }

// IsZero reports whether there is no instant.
func (i Instant) IsZero() bool { return !i.Known }

// MarshalJSON writes nanoseconds.
func (i Instant) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, i.Ns, 10), nil }

// maxNs is far from where sums overflow: the year 2116, or as long before 1970.
const maxNs = 1 << 62

// UnmarshalJSON reads either form.
func (i *Instant) UnmarshalJSON(b []byte) (err error) {
	near := false
	if text, ok := unquoted(b); ok {
		var t time.Time
		t, err = time.Parse(time.RFC3339Nano, text)
		*i, near = InstantOf(t), t.Year() >= 1824 && t.Year() <= 2115
	} else {
		i.Ns, err = strconv.ParseInt(text, 10, 64)
		i.Known, near = true, -maxNs < i.Ns && i.Ns < maxNs
	}
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && !near:
		return i18n.Errorf("error.record.distance")
	case err != nil:
		return i18n.Errorf("error.record.instant")
	}
	return nil
}

// unquoted is a value of JSON, without its quotes if it is a text.
func unquoted(b []byte) (text string, ok bool) {
	if len(b) > 1 && b[0] == '"' {
		return string(b[1 : len(b)-1]), true
	}
	return string(b), false
}

// A Length is a length of time. JSON has a whole number of nanoseconds, or a number and a unit, "5ms".
type Length time.Duration

// MarshalJSON writes nanoseconds.
func (l Length) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, int64(l), 10), nil }

// MaxWithin bounds how far a clock can be off.
const MaxWithin = 24 * time.Hour

// UnmarshalJSON reads either form.
func (l *Length) UnmarshalJSON(b []byte) error {
	text, ok := unquoted(b)
	d, err := time.ParseDuration(text)
	if !ok {
		var n int64
		n, err = strconv.ParseInt(text, 10, 64)
		d = time.Duration(n)
	}
	if err != nil || d < 0 || d > MaxWithin {
		return i18n.Errorf("error.record.length")
	}
	*l = Length(d)
	return nil
}

// fieldNames are the names of a line's fields, in the order in which errors list them.
var fieldNames = []string{
	"v", "at", "from", "until", "within", "client", "event", "key", "ok", "token", "seq", "version", "base", "note",
}

// parse reads a line. The error says what is wrong with it.
func parse(b []byte) (l Line, err error) {
	if err := json.Unmarshal(b, &l); err != nil {
		return Line{}, parseError(json.NewDecoder(bytes.NewReader(b)).Decode(&Line{}), b)
	}
	if !utf8.Valid(b) {
		return Line{}, i18n.Errorf("error.record.utf8")
	}
	if err := exact(b); err != nil {
		return Line{}, err
	}
	return l, l.check()
}

// parseError says in our words what the decoder has found in a line that is no Line; nil: nothing in its first value.
func parseError(err error, b []byte) error {
	wrong := (*json.UnmarshalTypeError)(nil)
	switch own := i18n.Error(nil); {
	case err == nil:
		return i18n.Errorf("error.record.trailing")
	case errors.As(err, &own):
		return err
	case errors.As(err, &wrong) && wrong.Field != "":
		return i18n.Errorf("error.record.type", "field", wrong.Field, "value", wrong.Value)
	case wrong != nil || !bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")):
		return i18n.Errorf("error.record.object")
	}
	return i18n.Errorf("error.record.json", "cause", err.Error())
}

// exact returns what the decoder passes over in an object that it takes: an unknown field or one in another case, a
// field for the second time, and half a character, in place of which it puts a mark that stands for any.
func exact(b []byte) error {
	seen := 0
	for i := 0; i < len(b); i++ {
		if b[i] != '"' {
			continue
		}
		begin := i
		for i++; b[i] != '"'; i++ {
			if b[i] == '\\' {
				i++
			}
		}
		text := b[begin : i+1]
		if err := wholeCharacters(text); err != nil {
			return err
		}
		if bytes.TrimLeft(b[i+1:], " \t\r\n")[0] != ':' {
			continue
		}
		name := string(text[1 : len(text)-1])
		if strings.Contains(name, `\`) {
			if err := json.Unmarshal(text, &name); err != nil {
				return err
			}
		}
		n := slices.Index(fieldNames, name)
		switch {
		case n < 0:
			near := i18n.Near(name, fieldNames)
			fields := strings.Join(fieldNames, ", ")
			return i18n.Errorf("error.record.field", "field", name, "near", near, "fields", fields)
		case seen&(1<<n) != 0:
			return i18n.Errorf("error.record.again", "field", name)
		}
		seen |= 1 << n
	}
	return nil
}

// escapes are those of a JSON string. The group is half a character: a surrogate alone.
var escapes = regexp.MustCompile(`\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..)|\\.`)

// wholeCharacters returns the first half of a character in a string of JSON.
func wholeCharacters(text []byte) error {
	if !bytes.Contains(text, []byte(`\u`)) {
		return nil
	}
	for _, escape := range escapes.FindAllSubmatch(text, -1) {
		if half := escape[1]; half != nil {
			return i18n.Errorf("error.record.half", "half", string(half), "text", string(text))
		}
	}
	return nil
}

// maxVersion is the highest version of a resource.
const maxVersion = 1<<31 - 1

// check returns what a line lacks or has too much.
func (l *Line) check() error {
	missing := func(field string) error { return i18n.Errorf("error.record.missing", "field", field) }
	switch {
	case l.V != 0 && l.V != Version:
		return i18n.Errorf("error.record.version", "version", l.V, "known", Version)
	case !l.At.Known:
		return missing("at")
	case l.Client == "":
		return missing("client")
	case !utf8.ValidString(l.Client) || !utf8.ValidString(l.Key):
		return i18n.Errorf("error.record.utf8")
	case l.Event == "":
		return missing("event")
	case !slices.Contains(allEvents, l.Event):
		names := lists.Each(allEvents, func(e Event) string { return string(e) })
		name, near := string(l.Event), i18n.Near(string(l.Event), names)
		return i18n.Errorf("error.record.event", "name", name, "near", near, "events", strings.Join(names, ", "))
	case l.Key == "" && l.Event != Ended:
		return missing("key")
	}
	for _, f := range []struct {
		name  string
		there bool
		of    []Event
	}{
		{"from", l.From.Known, []Event{Acquired, Refused, Released, Renewed, Wrote, Read}},
		{"until", l.Until.Known, []Event{Acquired, Renewed}},
		{"ok", l.OK != nil, []Event{Released, Renewed, Wrote}},
		{"token", l.Token != 0, []Event{Acquired, Wrote, Read}},
		{"version", l.Version != nil, []Event{Wrote, Read}},
		{"base", l.Base != nil, []Event{Wrote}},
	} {
		if f.there && !slices.Contains(f.of, l.Event) {
			return i18n.Errorf("error.record.absent", "field", f.name, "event", string(l.Event))
		}
	}
	unversioned := func(v *int) bool { return v != nil && (*v < 0 || *v > maxVersion) }
	accepted := l.Event == Wrote && l.accepted()
	switch {
	case l.From.Known && l.From.Ns > l.At.Ns:
		return i18n.Errorf("error.record.from")
	case l.Until.Known && l.Until.Ns < l.At.Ns:
		return i18n.Errorf("error.record.until")
	case l.OK == nil && l.Event == Renewed:
		return missing("ok")
	case unversioned(l.Version):
		return i18n.Errorf("error.record.number", "field", "version", "value", *l.Version)
	case unversioned(l.Base):
		return i18n.Errorf("error.record.number", "field", "base", "value", *l.Base)
	case accepted && l.Version != nil && (*l.Version == 0 || l.Base != nil && *l.Base >= *l.Version):
		return i18n.Errorf("error.record.base")
	}
	return nil
}
