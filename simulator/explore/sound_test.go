//go:build unix

package explore_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/s2"

	"locklab/faults"
	"locklab/reports/certificate"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/checkpoint"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

// A checkpoint taken apart: its three lines, and the values of its segments, unpacked, one
// after the other.
type unpacked struct {
	head, body []byte
	lengths    []int // of the segments, without the last one
}

const segmentHead = 8 // bytes: the length

// segments are the places in a file where its segments begin, and where the last one ends.
func segments(file []byte) (places []int) {
	at := 0
	for range 3 {
		at += bytes.IndexByte(file[at:], '\n') + 1
	}
	for places = append(places, at); at < len(file); places = append(places, at) {
		at += segmentHead + int(binary.LittleEndian.Uint64(file[at:])) + crc32.Size
	}
	return places
}

func unpack(t testing.TB, file []byte) (u unpacked) {
	t.Helper()
	places := segments(file)
	u.head = file[:places[0]]
	for i, at := range places[:len(places)-1] {
		body, err := io.ReadAll(s2.NewReader(bytes.NewReader(file[at+segmentHead : places[i+1]-crc32.Size])))
		if err != nil {
			t.Fatal(err)
		}
		if u.body = append(u.body, body...); i < len(places)-2 {
			u.lengths = append(u.lengths, len(body))
		}
	}
	return u
}

// pack is the file again, with checksums that fit.
func (u unpacked) pack(t testing.TB, body []byte) []byte {
	t.Helper()
	file := bytes.Clone(u.head)
	sum := crc32.MakeTable(crc32.Castagnoli)
	all := crc32.Checksum(file, sum)
	for _, n := range append(slices.Clone(u.lengths), len(body)) {
		n = min(n, len(body))
		var b bytes.Buffer
		z := s2.NewWriter(&b, s2.WriterConcurrency(1))
		if _, err := z.Write(body[:n]); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		body = body[n:]
		length := binary.LittleEndian.AppendUint64(nil, uint64(b.Len()))
		all = crc32.Update(crc32.Update(all, sum, b.Bytes()), sum, length)
		file = append(append(file, length...), b.Bytes()...)
		file = binary.BigEndian.AppendUint32(file, all)
	}
	return file
}

// goOn searches on from a file with this content.
func goOn(t testing.TB, content []byte, lock, bounds string) (*study.Search, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "search")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return goOnFrom(t, file, lock, bounds)
}

// goOnFrom searches on from a file, or begins it.
func goOnFrom(t testing.TB, file, lock, bounds string) (*study.Search, error) {
	t.Helper()
	entry, err := race.Strategy(lock)
	if err != nil {
		t.Fatal(err)
	}
	b, err := study.ParseBounds(bounds)
	if err != nil {
		t.Fatal(err)
	}
	b.Checkpoint, b.Now, b.MaxStates, b.Plain.SaveAfter = file, time.Now, 10_000, saveAfter
	return study.Explore(t.Context(), entry, b)
}

// A checkpoint that was altered, and given a checksum that fits, is refused, or the
// change does not matter to what is found: it never ends in a panic, or in a claim that was
// not searched. Files are of a search that goes on, and of a finished one.
func TestCheckpointAltered(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	for _, f := range []struct {
		lock, bounds string
		stop         int
	}{
		{"token", "clients=2,attempts=1,ttl=9s,budget=crash=1+pause=1", 300},
		{"redlock", "clients=2,attempts=1,nodes=3,ttl=9s,budget=restart=1", 200},
		{"token", "clients=2,attempts=1,ttl=9s,budget=crash=1", 0},
	} {
		whole := search(t, t.Context(), f.lock, f.bounds, false, "", 0)
		file := filepath.Join(t.TempDir(), "search")
		search(t, t.Context(), f.lock, f.bounds, false, file, f.stop)
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		u := unpack(t, content)
		if s, err := goOn(t, u.pack(t, u.body), f.lock, f.bounds); err != nil || !sameFound(s, whole) {
			t.Fatalf("packed again it is another search: %v", err)
		}
		refused, step := 0, max(1, len(u.body)/120)
		for at := 0; at < len(u.body); at += step {
			body := bytes.Clone(u.body)
			body[at] ^= byte(1 << (at % 8))
			s, err := goOn(t, u.pack(t, body), f.lock, f.bounds)
			unfit := (*checkpoint.Error)(nil)
			switch {
			case errors.As(err, &unfit):
				refused++
			case err != nil:
				t.Errorf("%s, byte %d of %d: %v", f.lock, at, len(body), err)
			case f.stop == 0 && !proves(s): // nothing is claimed
			case !sameFound(s, whole):
				t.Errorf("%s, byte %d of %d: another result:\n%s\nwant\n%s", f.lock, at, len(body), certificate.Of(s, "en"), certificate.Of(whole, "en"))
			}
		}
		t.Logf("%s: %d bytes, every %d altered, %d refused", f.lock, len(u.body), step, refused)
		if f.stop > 0 && refused*step < len(u.body)/2 {
			t.Errorf("%s: of the %d changes only %d were refused", f.lock, len(u.body)/step, refused)
		}
	}
}

// proves says whether a search claims that nothing else can occur.
func proves(s *study.Search) bool {
	claim := certificate.Of(s, "en")
	return strings.Contains(claim, "Proved within") || strings.Contains(claim, "Found within")
}

// A checkpoint under the name of another search, with a checksum that fits, proves nothing
// that was not searched: not one of a search that is done or as good as done, and not one
// that looks for the shortest ways.
func TestCheckpointRelabelled(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	const nothing = "clients=2,attempts=1,ttl=9s,budget="
	const crash = "clients=2,attempts=1,ttl=9s,budget=crash=1"
	const pause = "clients=2,attempts=1,ttl=9s,budget=pause=1"
	for _, f := range []struct{ lock, bounds, as, like string }{
		{"token", nothing, "token", crash},
		{"token", nothing, "token", pause},
		{"token", crash, "token", pause},
		{"token", crash, "token", strings.Replace(crash, "crash=1", "crash=2", 1)},
		{"token", crash, "token", strings.Replace(crash, "attempts=1", "attempts=2", 1)},
		{"token", crash, "token", strings.Replace(crash, "clients=2", "clients=3", 1)},
		{"token", crash, "token", strings.Replace(crash, "ttl=9s", "ttl=10s", 1)},
		{"token", crash, "setnx", crash},
		{"token", crash, "token", strings.Replace(crash, "ttl=9s", "ttl=9s,timing=any", 1)},
		{"setnx", nothing, "setnx", crash},
		{"setnx", nothing, "token", nothing},
		{"redlock", "clients=2,attempts=1,nodes=3,ttl=9s,budget=", "redlock", "clients=2,attempts=1,nodes=3,ttl=9s,budget=restart=1"},
	} {
		t.Run(f.lock+" "+f.bounds+" as "+f.as+" "+f.like, func(t *testing.T) {
			whole := search(t, t.Context(), f.as, f.like, false, "", 0)
			w := &watcher{Context: t.Context(), t: t, file: filepath.Join(t.TempDir(), "search")}
			saveAfter = 64
			search(t, w, f.lock, f.bounds, false, w.file, 0)
			saveAfter = 0
			var files [][]byte
			for _, log := range w.logs { // of the passes, complete
				content, err := io.ReadAll(log)
				log.Close()
				if err != nil {
					t.Fatal(err)
				}
				files = append(files, content)
			}
			done, err := os.ReadFile(w.file)
			if err != nil {
				t.Fatal(err)
			}
			name := nameOf(t, f.as, f.like)
			for i, file := range append(files, done) {
				u := unpack(t, file)
				lines := bytes.SplitAfter(u.head, []byte("\n"))
				lines[1] = []byte(name + "\n")
				u.head = slices.Concat(lines...)
				s, err := goOn(t, u.pack(t, u.body), f.as, f.like)
				unfit := (*checkpoint.Error)(nil)
				switch {
				case errors.As(err, &unfit):
				case err != nil:
					t.Errorf("file %d: %v", i, err)
				case proves(s) && !sameFound(s, whole):
					t.Errorf("file %d:\n%s\nwhen it is searched:\n%s", i, certificate.Of(s, "en"), certificate.Of(whole, "en"))
				}
			}
		})
	}
}

// A checkpoint that fits together, but in which no fault was injected anywhere, proves nothing.
func TestCheckpointForged(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for _, f := range []struct{ lock, bounds string }{
		{"token", "clients=2,attempts=1,ttl=9s,budget=crash=1"},
		{"setnx-expire", "clients=2,attempts=1,ttl=9s,budget=crash=1"},
	} {
		entry, err := race.Strategy(f.lock)
		if err != nil {
			t.Fatal(err)
		}
		b, err := study.ParseBounds(f.bounds)
		if err != nil {
			t.Fatal(err)
		}
		b.Checkpoint, b.Now = filepath.Join(t.TempDir(), "search"), time.Now
		bounds, err := b.Model(entry)
		if err != nil {
			t.Fatal(err)
		}
		if err := explore.Forge(t.Context(), bounds, simulator.Choice{Verb: faults.Crash.Verb, Client: 1}); err != nil {
			t.Fatal(err)
		}
		unfit := (*checkpoint.Error)(nil)
		if s, err := study.Explore(t.Context(), entry, b); !errors.As(err, &unfit) {
			t.Errorf("%s: %v\n%s", f.lock, err, certificate.Of(s, "en"))
		}
	}
}

// nameOf returns what a checkpoint says that it is of.
func nameOf(t *testing.T, lock, bounds string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "search")
	search(t, t.Context(), lock, bounds, false, file, 2)
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(content), "\n")[1]
}

// sameFound says whether two searches come to the same verdicts.
func sameFound(a, b *study.Search) bool {
	if a.Result.Complete != b.Result.Complete || a.Result.States != b.Result.States || len(a.Witnesses) != len(b.Witnesses) {
		return false
	}
	for i := range a.Witnesses {
		x, y := &a.Witnesses[i], &b.Witnesses[i]
		if x.Verdict != y.Verdict || x.Par != y.Par || x.Steps != y.Steps {
			return false
		}
	}
	return true
}
