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
	"sync"
	"time"

	"github.com/klauspost/compress/flate"

	"locklab/simulator/i18n"
)

// A Trace is a run that can be played again: who played what, with which settings, and every choice that was made.
// Everything else about the run follows from it.
type Trace struct {
	Lock     string
	Race     string
	Settings string // as the race writes and reads them; see EpochSetting
	Choices  []Choice
}

// TraceVersion is the version of this program's links. It changes whenever an old link could mean something else.
const TraceVersion = 2

const tracePrefix = "locklab"

// What can be wrong with a link. All of them are final: nothing of it is played.
var (
	ErrTraceForeign = i18n.Errorf("error.trace.foreign")
	ErrTraceVersion = i18n.Errorf("error.trace.old")
	ErrTraceDamaged = i18n.Errorf("error.trace.damaged")
)

// Link writes the trace as one word that is safe in URLs and shells: "locklab2-" and base64url of the deflated content
// and its CRC-32. The checksum stands outside, since a deflated text has bits that unpacking does not look at.
func (t Trace) Link() string {
	packed := pack(t.plain())
	packed = binary.BigEndian.AppendUint32(packed, crc32.ChecksumIEEE(packed))
	return fmt.Sprintf("%s%d-%s", tracePrefix, TraceVersion, base64.RawURLEncoding.EncodeToString(packed))
}

// plain is the content of the link.
func (t Trace) plain() []byte {
	w := linkForm{}
	t.Settings = inLink(t.Settings)
	w.trace(&t)
	for _, c := range t.Choices {
		w.choice(&c)
	}
	return w.b
}

// pack deflates. Not with the standard library, whose output may change with
// the Go release: the same trace is to give the same link everywhere.
func pack(plain []byte) []byte {
	var b bytes.Buffer
	z := packers.Get().(*flate.Writer)
	defer packers.Put(z)
	z.Reset(&b)
	z.Write(plain) // a bytes.Buffer takes everything
	z.Close()
	return b.Bytes()
}

// packers are kept from link to link: one has tables of a megabyte, which Reset empties.
var packers = sync.Pool{New: func() any {
	z, err := flate.NewWriter(nil, flate.BestCompression)
	if err != nil {
		panic(err) // the level is a constant
	}
	return z
}}

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
		begin := tracePrefix + strconv.Itoa(TraceVersion) + "-"
		return Trace{}, i18n.Errorf("error.trace.begin", "cause", ErrTraceForeign, "begin", begin)
	case version != fmt.Sprint(TraceVersion):
		return Trace{}, i18n.Errorf("error.trace.says",
			"cause", ErrTraceVersion, "version", version, "ours", TraceVersion)
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
	r := linkForm{b: b, reads: true}
	for r.trace(&t); len(r.b) > 0 && !r.failed; {
		var c Choice
		r.choice(&c)
		t.Choices = append(t.Choices, c)
	}
	if r.failed {
		return Trace{}, i18n.Errorf("error.trace.nonsense", "cause", ErrTraceDamaged)
	}
	t.Settings = fromLink(t.Settings)
	return t, nil
}

// linkForm is the content of a link, which is written or read. Each method writes a value behind it, or takes one
// off it, so that the form of a link stands here once.
type linkForm struct {
	b      []byte
	reads  bool
	failed bool // it has ended, or is none: what is read from then on means nothing
}

// trace is all but the choices.
func (l *linkForm) trace(t *Trace) {
	l.text(&t.Lock)
	l.text(&t.Race)
	l.text(&t.Settings)
}

// verbPassPending stands in a link for a Pass with Pending. No Verb has this number.
const verbPassPending = FaultVerb - 1

// choice is a verb, then only the fields that such a verb has.
func (l *linkForm) choice(c *Choice) {
	if c.Verb == Pass && c.Thread == Pending {
		c.Verb = verbPassPending
	}
	l.byte((*byte)(&c.Verb))
	switch c.Verb {
	case verbPassPending:
		c.Verb, c.Thread = Pass, Pending
		l.duration(&c.D)
	case Pass:
		l.duration(&c.D)
	case End:
		l.pair(&c.Client, &c.Node)
		l.place(&c.Thread)
	case Replicate, Heal:
		l.pair(&c.Thread, &c.Node)
	case Start, Arrive, Answer, Wake, GiveUp, Unblock, Deliver, Reconnect:
		l.pair(&c.Client, &c.Thread)
	case Resume: // of a client, or its thread, or of a server
		which := c.Thread + c.Node
		if l.pair(&c.Client, &which); c.Client > 0 {
			c.Thread = which
		} else {
			c.Node = which
		}
	case Choose:
		l.pair(&c.Client, &c.Thread)
		l.place(&c.Node)
	case Orphaned: // there may be more of them than threads
		l.place(&c.Client)
		n := uint64(c.Thread)
		l.number(&n, math.MaxInt8)
		c.Thread = int8(n)
	default:
		l.pair(&c.Client, &c.Thread)
		l.place(&c.Node)
		l.duration(&c.D)
	}
}

// pair is two numbers from 0 to 15.
func (l *linkForm) pair(high, low *int8) {
	b := byte(*high)<<4 | byte(*low)
	l.byte(&b)
	*high, *low = int8(b>>4), int8(b&15)
}

func (l *linkForm) place(n *int8) {
	b := byte(*n)
	l.byte(&b)
	*n = int8(b)
}

func (l *linkForm) byte(b *byte) {
	switch {
	case !l.reads:
		l.b = append(l.b, *b)
	case len(l.b) == 0:
		*b, l.failed = 0, true
	default:
		*b, l.b = l.b[0], l.b[1:]
	}
}

// number is one that is read up to a bound.
func (l *linkForm) number(n *uint64, most uint64) {
	if !l.reads {
		l.b = binary.AppendUvarint(l.b, *n)
		return
	}
	v, size := binary.Uvarint(l.b)
	if size <= 0 || v > most {
		*n, l.failed = 0, true
		return
	}
	*n, l.b = v, l.b[size:]
}

// duration has whole microseconds, as nearly all are, in fewer bytes. It holds 146 years, more than a world lasts.
func (l *linkForm) duration(d *time.Duration) {
	n := int64(*d)*2 + 1
	if *d%time.Microsecond == 0 {
		n = int64(*d/time.Microsecond) * 2
	}
	u := uint64(n)<<1 ^ uint64(n>>63) // as binary.AppendVarint has it
	l.number(&u, math.MaxUint64)
	n = int64(u>>1) ^ -int64(u&1)
	if *d = time.Duration(n >> 1); n&1 == 0 {
		*d *= time.Microsecond
		l.failed = l.failed || *d/time.Microsecond != time.Duration(n>>1)
	}
}

func (l *linkForm) text(s *string) {
	n := uint64(len(*s))
	switch l.number(&n, math.MaxInt32); {
	case !l.reads:
		l.b = append(l.b, *s...)
	case n > uint64(len(l.b)):
		l.failed = true
	default:
		*s, l.b = string(l.b[:n]), l.b[n:]
	}
}
