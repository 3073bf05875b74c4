package simulator

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/flate"

	"locklab/reports/text"
	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
)

// golden is a link that must stay readable, and that its trace must continue to give. If
// this test fails, saved links are broken: fix the code, or raise TraceVersion and
// announce it in the release notes.
const golden = "locklab2-Yi3Jz07N40hP1i1ILC1O1SlOTU2xNdBJzslMzSsptjXSKSnJsTU0KNZJLchPzrA1NLcwgANO" +
	"AcYL_EwCzAKM87asZWJRZG1mU2BnquNgVxBgYFBlYPx_9K8IYADLbNw8"

// undatedGolden is the same without a date, as links were written once: their clocks began in 2001.
const undatedGolden = "locklab2-Yi3Jz07N40hP1i1ILC1OlShOTU2xNdBJzslMzSsptjXSKSnJsTU0KOYUYLz" +
	"AzyTALMA4b8taJhZF1mY2BXamOg52BQEGBlUGxv9H_4oABgARENeD"

var goldenTrace = Trace{
	Lock:     "token",
	Race:     "gc-pause",
	Settings: "seed=0,clients=2,ttl=10s",
	Choices: []Choice{
		{Verb: Start, Client: 1},
		{Verb: Pass, D: 500 * time.Microsecond},
		{Verb: Arrive, Client: 1},
		{Verb: Answer, Client: 1},
		{Verb: Pass, D: 1234567 * time.Nanosecond},
		{Verb: Wake, Client: 2, Thread: 1},
		{Verb: GiveUp, Client: 8, Thread: 3},
		{Verb: Resume, Client: 2},
		{Verb: Orphaned, Client: 2, Thread: 126},
		{Verb: Replicate, Node: 7},
		{Verb: FaultVerb, Client: 1},
		{Verb: FaultVerb + 5, Node: 1, D: -11 * time.Second},
	},
}

// A packer that has packed anything else gives the same bytes as a new one, also beside others.
func TestPackedAgain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var plain [][]byte
	for i := range 200 {
		b := make([]byte, random.IntN(1<<random.IntN(18)))
		for j := range b {
			b[j] = byte(random.IntN(1 + i%7*40)) // from all alike to hardly alike
		}
		plain = append(plain, b, append(slices.Clone(b[:len(b)/2]), b...)) // the second begins as the first does
	}
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for i, b := range plain {
				var want bytes.Buffer
				z, err := flate.NewWriter(&want, flate.BestCompression)
				z.Write(b)
				z.Close()
				if got := pack(b); err != nil || !bytes.Equal(got, want.Bytes()) {
					t.Errorf("text %d, of %d bytes: %d bytes, of a new packer %d", i, len(b), len(got), want.Len())
				}
			}
		})
	}
	all.Wait()
}

func TestGoldenLink(t *testing.T) {
	if got := goldenTrace.Link(); got != golden {
		t.Errorf("the trace now gives\n%s\nwant\n%s", got, golden)
	}
	if got, err := ParseLink(golden); err != nil || !reflect.DeepEqual(got, goldenTrace) {
		t.Errorf("the link now reads %+v, %v", got, err)
	}
	was := goldenTrace
	was.Settings += ",epoch=1000000000000"
	if got, err := ParseLink(undatedGolden); err != nil || !reflect.DeepEqual(got, was) {
		t.Errorf("the link without a date now reads %+v, %v", got, err)
	}
	rare := Trace{Choices: []Choice{
		{Verb: Pass, Thread: Pending, D: 5}, {Verb: Pass, D: clock.EndOfTime}, {Verb: Resume, Node: MaxNodes},
		{Verb: Resume, Client: MaxClients, Thread: MaxThreads}, {Verb: Choose, Client: 1, Thread: 1, Node: 15},
		{Verb: Orphaned, Client: 1, Thread: maxOrphans - 1}, {Verb: Replicate, Node: 1, Thread: MaxReplicas - 1},
		{Verb: End}, {Verb: End, Node: 1, Thread: 8}, {Verb: End, Node: 1, Client: 2}, {Verb: FaultVerb + 199, D: 1},
	}}
	for _, trace := range []Trace{was, rare} {
		if got, err := ParseLink(trace.Link()); err != nil || !reflect.DeepEqual(got, trace) {
			t.Errorf("the link of %+v now reads %+v, %v", trace, got, err)
		}
	}
}

// TestDate: the clocks of clients and servers begin at the date of the config, and are right then.
func TestDate(t *testing.T) {
	config := Config{Epoch: undated, Nodes: []NodeConfig{{}},
		Clients: []ClientConfig{{Offset: time.Second, Program: func(c *Client) {
			server, _ := c.Redis(1).Time(context.Background()).Result()
			c.Record(history.Event{Kind: history.Acquire, Note: c.Clock().Now().Format(time.DateTime) +
				server.UTC().Format(" 2006")})
		}}}}
	sim, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	w, seen := sim.NewWorld(), ""
	for _, verb := range []Verb{Start, Arrive, Answer} {
		events, err := sim.Step(&w, Choice{Verb: verb, Client: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Client > 0 && e.Kind != history.Apply && e.Skew != time.Second {
				t.Errorf("%v: its clock is ahead by %v", e.Kind, e.Skew)
			}
			if e.Kind == history.Acquire {
				seen = e.Note
			}
		}
	}
	if seen != "2001-09-09 01:46:41 2001" {
		t.Errorf("it reads %q", seen)
	}
	config.Epoch = -1
	if _, err := New(config); err == nil {
		t.Error("a date before 1970 is accepted")
	}
}

// content makes an undamaged link with this content.
func content(plain []byte) string {
	packed := pack(plain)
	packed = binary.BigEndian.AppendUint32(packed, crc32.ChecksumIEEE(packed))
	return fmt.Sprintf("%s%d-%s", tracePrefix, TraceVersion, base64.RawURLEncoding.EncodeToString(packed))
}

func TestLinkRefuses(t *testing.T) {
	beyond := append([]byte{0, 0, 0, byte(Pass), 0xfc}, bytes.Repeat([]byte{255}, 8)...) // a length beyond all time
	beyond = append(beyond, 1)
	for _, test := range []struct {
		link string
		want error
		text string // that the error has, so that it says what to do
	}{
		{"", ErrTraceForeign, "does not begin with locklab2-"},
		{"locklab-abc", ErrTraceForeign, ""},
		{strings.Replace(golden, "locklab2", "locklab0", 1), ErrTraceVersion, "play the race again"},
		{strings.Replace(golden, "locklab2", "locklab1", 1), ErrTraceVersion, `it says "1", this program reads 2`},
		{"locklab2-????", ErrTraceDamaged, "cut off or changed"},
		{golden[:len(golden)-1], ErrTraceDamaged, "cut off or changed"},
		{strings.Replace(golden, "hP1i", "hP1j", 1), ErrTraceDamaged, "cut off or changed"},
		{content([]byte{200, 1, 'x'}), ErrTraceDamaged, "makes no sense"},           // a text longer than all
		{content([]byte{0, 0, 0, byte(Arrive)}), ErrTraceDamaged, "makes no sense"}, // ends in a choice
		{content([]byte{0, 0, 0, byte(Pass)}), ErrTraceDamaged, "makes no sense"},   // ends before a length
		{content(beyond), ErrTraceDamaged, "makes no sense"},
		{content(make([]byte, maxTrace+1)), ErrTraceDamaged, "longer than any run"},
	} {
		got, err := ParseLink(test.link)
		if !errors.Is(err, test.want) || !strings.Contains(text.SayError("en", err), test.text) {
			t.Errorf("%.40q: %v, want %v with %q", test.link, err, test.want, test.text)
		}
		if !reflect.DeepEqual(got, Trace{}) {
			t.Errorf("%.40q is refused and gives %+v", test.link, got)
		}
	}
}

// FuzzParseLink: no link causes a panic, and a trace that was read can be written and
// read again.
func FuzzParseLink(f *testing.F) {
	f.Add([]byte(nil), golden)
	f.Add([]byte{0, 0, 0, byte(Pass), 2, byte(FaultVerb), 0x11, 255, 1}, "")
	f.Add([]byte{1, 'a', 0, 0, 0, 0, 0, 0, byte(Orphaned), 0xff}, "locklab2-")
	f.Fuzz(func(t *testing.T, plain []byte, link string) {
		if _, err := ParseLink(link); err != nil {
			link = content(plain)
		}
		got, err := ParseLink(link)
		if err != nil {
			if !errors.Is(err, ErrTraceDamaged) {
				t.Errorf("%q: %v", link, err)
			}
			return
		}
		if back, err := ParseLink(got.Link()); err != nil || !reflect.DeepEqual(back, got) {
			t.Errorf("%+v is written and read again as %+v, %v", got, back, err)
		}
	})
}
