package record_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	. "locklab/simulator/record"
	"locklab/simulator/verdict"
)

// Each line that is wrong is named with its number and the reason, and the others are read.
func TestWrongLines(t *testing.T) {
	const good = `{"at":%d,"client":"a","event":"refused","key":"k"}` + "\n"
	for _, c := range [][2]string{
		{``, ""},
		{"   \t\r", ""},
		{`x`, "error.record.object"},
		{`null`, "error.record.missing field=at"},
		{`{"at":1`, "error.record.json"},
		{`{"at":1,"client":"a","event":"refused","key":"k"} {}`, "error.record.trailing"},
		{"{\"at\":150,\"client\":\"\xff\",\"event\":\"refused\",\"key\":\"k\"}", "error.record.utf8"},
		{`{"client":"a","event":"refused","key":"k"}`, "error.record.missing field=at"},
		{`{"at":150,"client":"a","event":"refused"}`, "error.record.missing field=key"},
		{`{"at":150,"client":"a","event":"renewed","key":"k"}`, "error.record.missing field=ok"},
		{`{"at":150,"client":"a","event":"aquired","key":"k"}`, "name=acquired)"},
		{`{"at":150,"client":"a","event":"refused","key":"k","tokn":1}`, "error.record.field field=tokn"},
		{`{"at":150,"client":"a","event":"refused","key":"k","token":1}`,
			"error.record.absent field=token event=refused"},
		{`{"at":150,"client":"a","event":"read","key":"k","base":1}`, "error.record.absent field=base"},
		{`{"at":150,"client":1,"event":"refused","key":"k"}`, "error.record.type field=client value=number"},
		{`{"at":150,"client":"a","event":"acquired","key":"k","token":-1}`, "error.record.type field=token"},
		{`{"at":1.5,"client":"a","event":"refused","key":"k"}`, "error.record.instant"},
		{`{"at":"2026-11-25T09:00:00","client":"a","event":"refused","key":"k"}`, "error.record.instant"},
		{`{"at":"0001-01-01T00:00:00Z","client":"a","event":"refused","key":"k"}`, "error.record.distance"},
		{`{"at":99999999999999999999,"client":"a","event":"refused","key":"k"}`, "error.record.distance"},
		{`{"at":"2116-01-01T00:00:00Z","client":"a","event":"refused","key":"k"}`, "error.record.distance"},
		{`{"at":150,"from":151,"client":"a","event":"refused","key":"k"}`, "error.record.from"},
		{`{"at":150,"within":"-1ms","client":"a","event":"refused","key":"k"}`, "error.record.length"},
		{`{"at":150,"v":2,"client":"a","event":"refused","key":"k"}`, "error.record.version version=2"},
		{`{"at":150,"client":"a","event":"wrote","key":"k","version":1,"base":1}`, "error.record.base"},
		{`{"at":150,"client":"a","event":"read","key":"k","version":-1}`, "error.record.number field=version"},
		{`{"at":150,"client":"a","event":"read","key":"k","version":9999999999}`, "error.record.number field=version"},
		{`{"at":50,"client":"a","event":"refused","key":"k"}`,
			"error.record.backwards client=a by=50ns other=log:1 within=25ns"},
		{`{"at":50,"client":"b","event":"refused","key":"k"}`, "error.record.order by=50ns"},
		{`{"at":50,"within":49,"client":"b","event":"refused","key":"k"}`, "error.record.order by=1ns"},
		{`{"at":150,"client":"` + strings.Repeat("a", MaxLine) + `","event":"refused"}`, "error.record.long"},
		{`{"at":150,"client":"a","event":"refused","key":"k","note":"\u001b[31m","v":1}`, ""},
		{`{"at":150,"client":"a","event":"wrote","key":"k","ok":false,"version":0,"base":5}`, ""},
		{`{"at":"1970-01-01T00:00:00.00000015Z","client":"a","event":"refused","key":"k"}`, ""},
		{`{"at":150,"within":"25h","client":"a","event":"refused","key":"k"}`, "error.record.length"},
		{`{"at":150,"client":"a","client":"b","event":"refused","key":"k"}`, "error.record.again field=client"},
		{`{"at":150,"client":"a","event":"refused","key":"k","\u006bey":"l"}`, "error.record.again field=key"},
		{`{"at":150,"\u0063lient":"a","event":"refused","key":"k"}`, ""},
		{`{"AT":150,"client":"a","event":"refused","key":"k"}`, "error.record.field field=AT near="},
		{`{"at":150,"client":"a","event":"refused","\u212aey":"k"}`, "error.record.field field=\u212aey"},
		{`{"at":150,"client":"\ud800","event":"refused","key":"k"}`, "error.record.half half=\\ud800 text=\"\\ud800\""},
		{`{"at":150,"client":"a","event":"refused","key":"k","note":"\ud83d\ude00\ud83d"}`,
			"error.record.half half=\\ud83d"},
		{`{"at":150,"client":"\ud83d\ude00","event":"refused","key":"\\ud800\ufffd\"\\"}`, ""},
		{"{\"at\":150,\"client\":\"\uFFFD\",\"event\":\"refused\",\"key\":\"k\"}", ""},
		{`{"at":150,"until":149,"client":"a","event":"acquired","key":"k"}`, "error.record.until"},
		{`{"at":150,"until":150,"client":"a","event":"refused","key":"k"}`, "error.record.absent field=until"},
		{`{"at":150,"until":150,"client":"a","event":"renewed","ok":true,"key":"k"}`, ""},
	} {
		line, want := c[0], c[1]
		r := NewReader(0, Source{Name: "log", From: strings.NewReader(fmt.Sprintf(good, 100) + line + "\n" +
			fmt.Sprintf(good, 200))})
		var errs []string
		read := 0
		for {
			_, err := r.Next()
			if err == io.EOF {
				break
			}
			if bad := (*LineError)(nil); errors.As(err, &bad) {
				if bad.Line != 2 || bad.Source != "log" {
					t.Errorf("%.99s: the error is of %v", line, bad.Place)
				}
				errs = append(errs, bad.Err.Error())
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			read++
		}
		if got := strings.Join(errs, " "); want == "" && got != "" || !strings.Contains(got, want) || read < 2 ||
			len(r.Truncated) > 0 {
			t.Errorf("%.99s: %d lines and %q, want %q", line, read, got, want)
		}
	}
}

// A file of another kind is refused with one sentence, and nothing more is read of it.
func TestForeign(t *testing.T) {
	line := `{"at":1,"client":"a","event":"acquired","key":"k"}`
	wide := func(text string, order binary.AppendByteOrder) string {
		var b []byte
		for _, r := range text {
			b = order.AppendUint16(b, uint16(r))
		}
		return string(b)
	}
	two := line + "\n" + line + "\n"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(two))
	z.Close()
	for want, files := range map[string][]string{
		"error.record.mark": {"\ufeff" + two, "\ufeff" + line},
		"error.record.gzip": {packed.String()},
		"error.record.utf16": {wide("\ufeff"+two, binary.LittleEndian), wide("\ufeff"+two, binary.BigEndian),
			wide(two, binary.LittleEndian), wide(two, binary.BigEndian)},
		"error.record.cr": {strings.ReplaceAll(two, "\n", "\r"), line + "\r" + line, strings.Repeat(line+"\r", 2000),
			line + "\r" + line[:9]},
	} {
		for _, text := range files {
			r := NewReader(0, Source{Name: "log", From: strings.NewReader(text)})
			_, err := r.Next()
			bad := (*LineError)(nil)
			if !errors.As(err, &bad) || bad.Line != 1 || bad.Err.Error() != want {
				t.Errorf("%.20q: %v, want %s", text, err, want)
			}
			if _, err := r.Next(); err != io.EOF || len(r.Truncated) > 0 {
				t.Errorf("%.20q: then %v", text, err)
			}
		}
	}
	if r := judged(t, line+"\r\n"+line+"\r\n"); r.Lines != 2 {
		t.Errorf("%d lines of two that end in CR and LF", r.Lines)
	}
	r := NewReader(0, Source{Name: "log", From: strings.NewReader("no\rlog\n" + line)})
	if _, err := r.Next(); err == nil || !strings.Contains(err.Error(), "error.record.object") {
		t.Errorf("a line with CR in it: %v", err)
	}
	if l, err := r.Next(); err != nil || l.Client != "a" {
		t.Errorf("the line after it: %v", err)
	}
}

// A line without seq is between those of its client that have one: logs are merged so that each seq of a key comes
// after the lower ones, and what that shows is certain.
func TestSomeSeq(t *testing.T) {
	first := `{"at":20,"client":"x","event":"acquired","key":"k","seq":11}
{"at":70,"client":"x","event":"released","key":"k","from":68}
{"at":73,"client":"x","event":"acquired","key":"k","seq":12}
{"at":74,"client":"x","event":"leaving","key":"k","seq":13}
`
	second := `{"at":69,"client":"y","event":"acquired","key":"k","seq":14}
`
	other := `{"at":67,"client":"z","event":"acquired","key":"l","seq":9}
{"at":68,"client":"z","event":"leaving","key":"l"}
{"at":71,"client":"z","event":"acquired","key":"k","seq":15}
`
	for _, logs := range [][]string{{first, second}, {second, first}, {other, second, first}, {second, first, other}} {
		r, err := triedBy(NewJudge(9), 10, logs...)
		if err != nil {
			t.Fatal(err)
		}
		if want := verdict.Holds; len(logs) == 2 && (r.Verdicts[0] != want || r.Acquired != 3) {
			t.Errorf("%d logs: %v of %d leases", len(logs), r.Verdicts, r.Acquired)
		}
		if len(logs) == 3 && (r.Counts[verdict.Unknown] != 1 || r.Findings[0].Clients[0] != "y" ||
			r.Findings[0].Clients[1] != "z") {
			t.Errorf("%d logs: %+v", len(logs), r.Findings)
		}
	}
	// Each log waits for the other: one of the two lines is named.
	_, err := triedBy(NewJudge(9), 10, `{"at":20,"client":"x","event":"refused","key":"k","seq":3}
{"at":21,"client":"x","event":"refused","key":"l","seq":1}
`, `{"at":20,"client":"y","event":"refused","key":"l","seq":2}
{"at":21,"client":"y","event":"refused","key":"k","seq":2}
`)
	if bad := (*LineError)(nil); !errors.As(err, &bad) || !strings.Contains(err.Error(), "error.record.seq") {
		t.Error(err)
	}
}

// A last line that was cut off is named, and left out; one that is whole needs no end.
func TestTruncated(t *testing.T) {
	whole := `{"at":100,"client":"a","event":"acquired","key":"k"}`
	for n := range len(whole) + 1 {
		r, j := NewReader(0, Source{Name: "a", From: strings.NewReader(whole + "\n" + whole[:n])}), NewJudge(9)
		if err := observe(r, j, func() {}); err != nil {
			t.Fatal(err)
		}
		cut, lines := n > 0 && n < len(whole), 1+n/len(whole)
		if got := j.Finish(); int(got.Lines) != lines || cut != (len(r.Truncated) == 1) || cut &&
			r.Truncated[0] != (Place{"a", 2}) {
			t.Errorf("%d bytes: %d lines, cut off are %v", n, got.Lines, r.Truncated)
		}
	}
	wrong := NewReader(0, Source{Name: "a", From: strings.NewReader(strings.Replace(whole, "acquired", "aquired", 1))})
	if _, err := wrong.Next(); err == nil || err == io.EOF || len(wrong.Truncated) > 0 {
		t.Errorf("a wrong last line that is whole: %v, cut off are %v", err, wrong.Truncated)
	}
}

// Several logs are read as one: by instant, and where both have a number for the key, by that. The verdicts do not
// depend on how the lines are divided.
func TestSeveralLogs(t *testing.T) {
	a, b := strings.Split(strings.TrimSpace(Example), "\n"), []string{}
	var mine []string
	for _, l := range a {
		if strings.Contains(l, `"b-9-1"`) {
			b = append(b, l)
		} else {
			mine = append(mine, l)
		}
	}
	one, two := judged(t, Example), judged(t, strings.Join(mine, "\n"), strings.Join(b, "\n"))
	if !reflect.DeepEqual(one.Counts, two.Counts) || one.Counts[verdict.Overlap] != 1 ||
		one.Counts[verdict.StaleWrite] != 1 {
		t.Errorf("%v and %v", one.Counts, two.Counts)
	}
	// Lines that run backwards within their bounds leave room for those of another log between them.
	back := `{"at":100,"within":50,"client":"a","event":"refused","key":"k"}
{"at":60,"within":20,"client":"a","event":"acquired","key":"k"}
`
	between := `{"at":90,"client":"b","event":"acquired","key":"k"}`
	for _, logs := range [][]string{{back, between}, {between, back}} {
		if r := judged(t, logs...); r.Lines != 3 || r.Counts[verdict.Unknown] != 1 {
			t.Errorf("%d lines, %v", r.Lines, r.Counts)
		}
	}
}

// The schema has the fields of a line. FuzzParse reads and writes the example.
func TestFormat(t *testing.T) {
	var schema struct {
		Properties map[string]struct {
			Enum []Event
		}
	}
	if err := json.Unmarshal([]byte(Schema), &schema); err != nil {
		t.Fatal(err)
	}
	line := reflect.TypeFor[Line]()
	for i := range line.NumField() {
		name, _, _ := strings.Cut(line.Field(i).Tag.Get("json"), ",")
		if _, ok := schema.Properties[name]; !ok {
			t.Errorf("the schema has no %s", name)
		}
	}
	if len(schema.Properties) != line.NumField() || !reflect.DeepEqual(schema.Properties["event"].Enum, Events()) {
		t.Errorf("the schema has %d fields and the events %v", len(schema.Properties), schema.Properties["event"].Enum)
	}
}

// FuzzParse: a line is refused with a reason, or is what its JSON says again; and no log makes the judges panic.
func FuzzParse(f *testing.F) {
	for line := range strings.Lines(Example) {
		f.Add(line)
	}
	f.Add(Example)
	f.Add(`{"at":-1,"within":"24h","client":"a","event":"wrote","key":"k","version":1,"base":0,"token":1,"seq":2}`)
	f.Fuzz(func(t *testing.T, text string) {
		l, err := Parse([]byte(text))
		if err == nil {
			again, err := json.Marshal(l)
			if err != nil {
				t.Fatal(err)
			}
			back, err := Parse(again)
			if err != nil || !reflect.DeepEqual(back, l) {
				t.Fatalf("%q becomes %s: %v", text, again, err)
			}
		}
		r, j := NewReader(time.Millisecond, Source{Name: "a", From: strings.NewReader(text)},
			Source{Name: "b", From: strings.NewReader(text)}), NewJudge(3)
		for {
			l, err := r.Next()
			if err == io.EOF {
				break
			}
			if err == nil {
				err = j.Observe(l)
			}
			if bad := (*LineError)(nil); err != nil && !errors.As(err, &bad) {
				t.Fatal(err)
			}
		}
		for _, f := range j.Finish().Findings {
			f.Window()
		}
	})
}
