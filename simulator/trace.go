package simulator

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"

	"locklab/simulator/i18n"
)

// A Trace is a run that can be played again: who played what, with which
// settings, and every choice that was made. Everything else about the run
// follows from it.
type Trace struct {
	Strategy string
	Scenario string
	Settings string // as the scenario writes and reads them
	Choices  []Choice
}

// TraceVersion is the version of links that this program writes and reads. It
// changes whenever an old link could mean something else.
const TraceVersion = 2

const tracePrefix = "locklab"

// What can be wrong with a link. All of them are final: nothing of it is played.
var (
	ErrTraceForeign = i18n.Errorf("error.trace.foreign")
	ErrTraceVersion = i18n.Errorf("error.trace.old")
	ErrTraceDamaged = i18n.Errorf("error.trace.damaged")
)

// Link writes the trace as one word that is safe in URLs and shells:
// "locklab2-" and base64url of the deflated content and its CRC-32. The checksum
// stands outside, since a deflated text has bits that unpacking does not look at.
func (t Trace) Link() string {
	packed := pack(t.plain())
	packed = binary.BigEndian.AppendUint32(packed, crc32.ChecksumIEEE(packed))
	return fmt.Sprintf("%s%d-%s", tracePrefix, TraceVersion, base64.RawURLEncoding.EncodeToString(packed))
}

// plain is the content of the link.
func (t Trace) plain() (plain []byte) {
	for _, s := range []string{t.Strategy, t.Scenario, t.Settings} {
		plain = binary.AppendUvarint(plain, uint64(len(s)))
		plain = append(plain, s...)
	}
	for _, c := range t.Choices {
		plain = appendChoice(plain, c)
	}
	return plain
}

// pack deflates. Not with the standard library, whose output may change with
// the Go release: the same trace is to give the same link everywhere.
func pack(plain []byte) []byte {
	var b bytes.Buffer
	z, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		panic(err) // the level is a constant
	}
	z.Write(plain) // a bytes.Buffer takes everything
	z.Close()
	return b.Bytes()
}

// maxTrace bounds what a link may unpack to, in bytes; no run comes near.
const maxTrace = 1 << 24

// ParseLink reads what Link wrote. White space around it does not matter. The
// error wraps one of ErrTraceForeign, ErrTraceVersion, ErrTraceDamaged.
func ParseLink(link string) (Trace, error) {
	link = strings.TrimSpace(link)
	head, body, ok := strings.Cut(link, "-")
	version, known := strings.CutPrefix(head, tracePrefix)
	switch {
	case !ok || !known || strings.Trim(version, "0123456789") != "" || version == "":
		return Trace{}, i18n.Errorf("error.trace.begin", "cause", ErrTraceForeign, "begin", tracePrefix+strconv.Itoa(TraceVersion)+"-")
	case version != fmt.Sprint(TraceVersion):
		return Trace{}, i18n.Errorf("error.trace.says", "cause", ErrTraceVersion, "version", version, "ours", TraceVersion)
	}
	packed, err := base64.RawURLEncoding.Strict().DecodeString(body)
	if err != nil {
		var at base64.CorruptInputError // it has no other
		errors.As(err, &at)
		return Trace{}, i18n.Errorf("error.trace.changed", "cause", ErrTraceDamaged, "n", int(at)+1)
	}
	end := len(packed) - 4
	if end < 0 || binary.BigEndian.Uint32(packed[end:]) != crc32.ChecksumIEEE(packed[:end]) {
		return Trace{}, i18n.Errorf("error.trace.checksum", "cause", ErrTraceDamaged)
	}
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed[:end])), maxTrace+1))
	switch {
	case err != nil:
		return Trace{}, i18n.Errorf("error.trace.packed", "cause", ErrTraceDamaged, "why", err)
	case len(plain) > maxTrace:
		return Trace{}, i18n.Errorf("error.trace.long", "cause", ErrTraceDamaged)
	}
	return parseTrace(plain)
}

func parseTrace(b []byte) (t Trace, err error) {
	r := reader{b: b}
	for _, s := range []*string{&t.Strategy, &t.Scenario, &t.Settings} {
		*s = r.text()
	}
	for len(r.b) > 0 && !r.failed {
		t.Choices = append(t.Choices, r.choice())
	}
	if r.failed {
		return Trace{}, i18n.Errorf("error.trace.nonsense", "cause", ErrTraceDamaged)
	}
	return t, nil
}

// verbPassStanding stands in a link for a Pass with Standing. No Verb has this number.
const verbPassStanding = FaultVerb - 1

// appendChoice writes a choice: its verb, then only the fields that such a verb has.
func appendChoice(b []byte, c Choice) []byte {
	b = append(b, byte(c.Verb))
	switch c.Verb {
	case Pass:
		if c.Thread == Pending {
			b[len(b)-1] = byte(verbPassStanding)
		}
		return appendDuration(b, c.D)
	case End:
		return append(b, byte(c.Client)<<4|byte(c.Node), byte(c.Thread))
	case Replicate, Heal:
		return append(b, byte(c.Thread)<<4|byte(c.Node))
	case Start, Arrive, Answer, Wake, GiveUp, Unblock, Deliver, Reconnect:
		return append(b, byte(c.Client)<<4|byte(c.Thread))
	case Resume: // of a client, or its thread, or of a server
		if c.Client > 0 {
			return append(b, byte(c.Client)<<4|byte(c.Thread))
		}
		return append(b, byte(c.Node))
	case Choose:
		return append(b, byte(c.Client)<<4|byte(c.Thread), byte(c.Node))
	case Orphaned: // there may be more of them than threads
		return binary.AppendUvarint(append(b, byte(c.Client)), uint64(c.Thread))
	}
	b = append(b, byte(c.Client)<<4|byte(c.Thread), byte(c.Node))
	return appendDuration(b, c.D)
}

// appendDuration writes whole microseconds, which is what nearly all are, in
// fewer bytes. It has room for 146 years, more than a world lasts.
func appendDuration(b []byte, d time.Duration) []byte {
	if d%time.Microsecond == 0 {
		return binary.AppendVarint(b, int64(d/time.Microsecond)*2)
	}
	return binary.AppendVarint(b, int64(d)*2+1)
}

// reader takes a trace's content apart; after a failure it answers with zeros.
type reader struct {
	b      []byte
	failed bool
}

func (r *reader) choice() (c Choice) {
	c.Verb = Verb(r.byte())
	switch c.Verb {
	case Pass:
		c.D = r.duration()
	case verbPassStanding:
		c.Verb, c.Thread, c.D = Pass, Pending, r.duration()
	case End:
		b := r.byte()
		c.Client, c.Node, c.Thread = int8(b>>4), int8(b&15), int8(r.byte())
	case Replicate, Heal:
		b := r.byte()
		c.Thread, c.Node = int8(b>>4), int8(b&15)
	case Start, Arrive, Answer, Wake, GiveUp, Unblock, Deliver, Reconnect:
		r.who(&c)
	case Resume:
		b := r.byte()
		if c.Client = int8(b >> 4); c.Client > 0 {
			c.Thread = int8(b & 15)
		} else {
			c.Node = int8(b)
		}
	case Choose:
		r.who(&c)
		c.Node = int8(r.byte())
	case Orphaned:
		c.Client, c.Thread = int8(r.byte()), r.place()
	default:
		r.who(&c)
		c.Node = int8(r.byte())
		c.D = r.duration()
	}
	return c
}

func (r *reader) who(c *Choice) {
	b := r.byte()
	c.Client, c.Thread = int8(b>>4), int8(b&15)
}

// place is one that a Choice has room for.
func (r *reader) place() int8 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > math.MaxInt8 {
		r.failed = true
		return 0
	}
	r.b = r.b[n:]
	return int8(v)
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.failed = true
		return 0
	}
	b := r.b[0]
	r.b = r.b[1:]
	return b
}

func (r *reader) duration() time.Duration {
	v, n := binary.Varint(r.b)
	if n <= 0 || v&1 == 0 && time.Duration(v>>1)*time.Microsecond/time.Microsecond != time.Duration(v>>1) {
		r.failed = true
		return 0
	}
	r.b = r.b[n:]
	if v&1 == 1 {
		return time.Duration(v >> 1)
	}
	return time.Duration(v>>1) * time.Microsecond
}

func (r *reader) text() string {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > math.MaxInt32 || int(v) > len(r.b)-n {
		r.failed = true
		return ""
	}
	s := string(r.b[n : n+int(v)])
	r.b = r.b[n+int(v):]
	return s
}
