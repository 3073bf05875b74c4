//go:build unix

package explore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/reports/certificate"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/checkpoint"
	"locklab/simulator/effort"
)

// searches are of every kind: with and without symmetry, with and without the time of day
// in the state, and by causes; in lockstep and at any timing.
var searches = []struct {
	lock, bounds string
	causes       bool
}{
	{"token", "clients=2,attempts=2,ttl=9s,budget=crash=1+pause=1", false},
	{"token", "clients=3,attempts=1,ttl=9s,budget=crash=1", false}, // holds
	{"setnx", "clients=3,attempts=1,ttl=9s,budget=crash=1", false},
	{"token", "clients=2,attempts=1,ttl=9s,budget=crash=1+pause=1", true},
	{"getset", "clients=2,attempts=1,ttl=9s,budget=crash=1+pause=1", false},
	{"watchdog", "clients=2,attempts=1,ttl=9s,budget=crash=1+failover=1", false},
	{"reentrant", "clients=2,attempts=1,ttl=9s,budget=crash=1+pause=1", false}, // replies name clients
	{"redlock", "clients=2,attempts=1,nodes=3,ttl=9s,budget=restart=1", false},
	{"zk-reentrant", "clients=2,attempts=1,ttl=9s,budget=crash=1", false},
	{"watchdog", "clients=2,attempts=1,ttl=9s,timing=any,budget=crash=1", false},
	{"zk-recheck", "clients=2,attempts=1,ttl=9s,timing=any,budget=crash=1", false},
}

// saveAfter has searches save always, and within a layer after so many arcs; 0: it does not.
var saveAfter int

func search(t testing.TB, ctx context.Context, id, bounds string, causes bool, file string, max int) *study.Search {
	t.Helper()
	entry, err := race.Strategy(id)
	if err != nil {
		t.Fatal(err)
	}
	b, err := study.ParseBounds(bounds)
	if err != nil {
		t.Fatal(err)
	}
	b.Causes, b.Checkpoint, b.Now, b.MaxStates, b.Plain.SaveAfter = causes, file, time.Now, max, saveAfter
	s, err := study.Explore(ctx, entry, b)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return s
}

// same compares what must not depend on how often a search was stopped. A claim that rests on
// a file says so.
func same(t *testing.T, what string, got, want *study.Search) {
	t.Helper()
	g, w := certificate.Of(got, "en"), certificate.Of(want, "en")
	if got.FromFile() != "" && got.Complete {
		var claim string
		claim, g, _ = strings.Cut(g, "\n")
		_, w, _ = strings.Cut(w, "\n")
		if !strings.Contains(claim, ": From a file") {
			t.Errorf("%s: %s", what, claim)
		}
	}
	if g != w {
		t.Errorf("%s:\n%s\nwant\n%s", what, g, w)
	}
	a, b := *got.Result, *want.Result
	a.Kept, b.Kept = checkpoint.Kept{}, checkpoint.Kept{}
	if !reflect.DeepEqual(a, b) || !reflect.DeepEqual(got.Witnesses, want.Witnesses) {
		t.Errorf("%s: %+v, want %+v", what, a, b)
	}
}

// TestCheckpoint stops searches at many points and continues them, to the end or to the
// next stop: the result is that of a search that was never stopped.
func TestCheckpoint(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	for _, f := range searches {
		t.Run(f.lock+" "+f.bounds, func(t *testing.T) {
			whole := search(t, t.Context(), f.lock, f.bounds, f.causes, "", 0)
			states := whole.Result.States
			dir := t.TempDir()
			relay := filepath.Join(dir, "relay")
			const stops = 8
			resumed := 0
			for i := 1; i < stops; i++ {
				limit := max(1, states*i/stops)
				file := filepath.Join(dir, strconv.Itoa(i))
				cut := search(t, t.Context(), f.lock, f.bounds, f.causes, "", limit)
				same(t, "stopped", search(t, t.Context(), f.lock, f.bounds, f.causes, file, limit), cut)
				same(t, "stopped again", search(t, t.Context(), f.lock, f.bounds, f.causes, file, limit), cut)
				same(t, "gone on from the stop before", search(t, t.Context(), f.lock, f.bounds, f.causes, relay, limit), cut)
				s := search(t, t.Context(), f.lock, f.bounds, f.causes, file, 0)
				same(t, "gone on to the end", s, whole)
				if s.Result.Kept.Had > 1 {
					resumed++
				}
			}
			if resumed < stops-2 {
				t.Errorf("%d searches went on", resumed)
			}
			s := search(t, t.Context(), f.lock, f.bounds, f.causes, relay, 0)
			same(t, "the last of many", s, whole)
			s = search(t, t.Context(), f.lock, f.bounds, f.causes, relay, 0)
			same(t, "finished before", s, whole)
			if !s.Result.Kept.Finished || s.FromFile() != study.FromFile {
				t.Errorf("a finished search was made again: %+v", s.Result.Kept)
			}
		})
	}
}

// TestCheckpointLarge stops searches of many states, of several servers and of clients that
// wait in line, at 5,000 states and at random ones: an intact file is not refused, and the
// search goes on from it.
func TestCheckpointLarge(t *testing.T) {
	effort.OnlyExhaustive(t, "it searches for seconds; one goroutine searches")
	random := rand.New(rand.NewPCG(3, 4))
	const enough = 9000
	for _, f := range []struct{ lock, bounds string }{
		{"redlock", "clients=2,attempts=2,nodes=3,ttl=9s,budget=crash=1+pause=1"},
		{"redlock-extend", "clients=2,attempts=2,nodes=3,ttl=9s,budget=crash=1+pause=1"},
		{"redlock-drift", "clients=2,attempts=2,nodes=3,ttl=9s,budget=crash=1+pause=1"},
		{"redisson-wait", "clients=2,attempts=2,ttl=9s,budget=crash=1+pause=1"},
		{"token-wait", "clients=2,attempts=2,ttl=9s,budget=crash=1+pause=1"},
		{"redlock", "clients=2,attempts=1,nodes=5,ttl=9s,timing=any,budget=crash=1"},
		{"redisson-wait", "clients=2,attempts=1,ttl=9s,timing=any,budget=crash=1+pause=1"},
		{"token-wait", "clients=2,attempts=1,ttl=9s,timing=any,budget=crash=1+pause=1"},
	} {
		t.Run(f.lock+" "+f.bounds, func(t *testing.T) {
			whole := search(t, t.Context(), f.lock, f.bounds, false, "", enough)
			for _, stop := range []int{min(5000, whole.Result.States*2/3), 1 + random.IntN(whole.Result.States-1)} {
				file := filepath.Join(t.TempDir(), "search")
				search(t, t.Context(), f.lock, f.bounds, false, file, stop)
				s := search(t, t.Context(), f.lock, f.bounds, false, file, enough)
				same(t, fmt.Sprintf("stopped at %d states and gone on", stop), s, whole)
				if s.Result.Kept.Had == 0 {
					t.Errorf("stopped at %d states: the file was not used", stop)
				}
			}
		})
	}
}

// TestCheckpointOfEveryLock stops a search of every lock early and goes on from its file, which
// is computed again as a whole: what states contain follows from what is written of them.
func TestCheckpointOfEveryLock(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	for _, e := range algorithms.All() {
		t.Run(e.ID, func(t *testing.T) {
			const bounds = "clients=2,attempts=2,ttl=9s,budget=crash=1+pause=1"
			file := filepath.Join(t.TempDir(), "search")
			search(t, t.Context(), e.ID, bounds, false, file, 700)
			s := search(t, t.Context(), e.ID, bounds, false, file, 1400)
			if same(t, "stopped and gone on", s, search(t, t.Context(), e.ID, bounds, false, "", 1400)); s.Result.Kept.Had == 0 {
				t.Error("the file was not used")
			}
		})
	}
}

// Of more states than are computed again, the claim says that they are from a file.
func TestCheckpointSampled(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	const lock, bounds = "watchdog", "clients=2,attempts=2,ttl=9s,budget=crash=1+pause=1"
	whole := search(t, t.Context(), lock, bounds, false, "", 0)
	for stop, from := range map[int]string{2000: "", 10_000: study.FromFileInPart} {
		file := filepath.Join(t.TempDir(), "search")
		search(t, t.Context(), lock, bounds, false, file, stop)
		s := search(t, t.Context(), lock, bounds, false, file, 0)
		same(t, fmt.Sprintf("stopped at %d states and gone on", stop), s, whole)
		if s.FromFile() != from {
			t.Errorf("stopped at %d states: %q is from a file, want %q", stop, s.FromFile(), from)
		}
	}
}

// watcher is a context that keeps the logs of a search, one a pass, open.
type watcher struct {
	context.Context
	t    *testing.T
	file string
	logs []*os.File
}

func (w *watcher) Err() error {
	there, err := os.Stat(w.file)
	if err != nil {
		w.t.Error(err)
		return nil
	}
	if n := len(w.logs); n > 0 {
		if held, err := w.logs[n-1].Stat(); err == nil && os.SameFile(there, held) {
			return nil
		}
	}
	if there.Size() > 0 {
		f, err := os.Open(w.file)
		if err != nil {
			w.t.Error(err)
			return nil
		}
		w.logs = append(w.logs, f)
	}
	return nil
}

// TestCheckpointKilled continues from what a search leaves that is killed at any moment:
// between layers, within one, and while it writes the file. A log only grows, so that is
// its first bytes.
func TestCheckpointKilled(t *testing.T) {
	effort.OnlyExhaustive(t, "it searches for seconds; one goroutine searches")
	random, within := rand.New(rand.NewPCG(1, 2)), 0
	for _, f := range searches {
		t.Run(f.lock+" "+f.bounds, func(t *testing.T) {
			whole := search(t, t.Context(), f.lock, f.bounds, f.causes, "", 0)
			w := &watcher{Context: t.Context(), t: t, file: filepath.Join(t.TempDir(), "search")}
			saveAfter = max(16, whole.Result.Transitions/(4*whole.Result.Depth))
			same(t, "saved all the time", search(t, w, f.lock, f.bounds, f.causes, w.file, 0), whole)
			saveAfter = 0
			for pass, log := range w.logs {
				content, err := io.ReadAll(log)
				log.Close()
				if err != nil {
					t.Fatal(err)
				}
				places := segments(content)
				if faults := 2; len(places) > (faults+1)*(whole.Result.Depth+1) { // more saves than layers
					within++
				}
				for _, zeros := range []int{0, 50} { // the size of a file may come to the disk before its content
					cut := places[1] + random.IntN(len(content)-places[1]+1)
					file := filepath.Join(t.TempDir(), "search")
					if err := os.WriteFile(file, append(content[:cut:cut], make([]byte, zeros)...), 0o600); err != nil {
						t.Fatal(err)
					}
					s := search(t, t.Context(), f.lock, f.bounds, f.causes, file, 0)
					same(t, fmt.Sprintf("pass %d, killed when %d of %d bytes were written", pass, cut, len(content)), s, whole)
					if s.Result.Kept.Had == 0 {
						t.Error("the file was not used")
					}
				}
			}
		})
	}
	if within < len(searches)/2 {
		t.Errorf("%d searches were saved within layers", within)
	}
}

// A checkpoint from which a search cannot continue is refused and left unchanged.
func TestCheckpointRefused(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	const lock, bounds = "token", "clients=2,attempts=1,ttl=9s,budget=crash=1"
	file := filepath.Join(t.TempDir(), "search")
	search(t, t.Context(), lock, bounds, false, file, 40)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	u, first := unpack(t, good), segments(good)[1]
	flipped := bytes.Clone(good)
	flipped[first/2] ^= 1
	sealed := func(from, to string) []byte { // with checksums that fit
		return unpacked{bytes.Replace(u.head, []byte(from), []byte(to), 1), u.body, u.lengths}.pack(t, u.body)
	}
	for _, f := range []struct {
		what string
		text []byte
		want string
	}{
		{"something else", []byte("a diary, years of it, that must not be written over"), "this is no checkpoint of locklab"},
		{"the title alone", good[:len("locklab checkpoint 2\n")], "it was cut off or changed"},
		{"half of its first segment", good[:first/2], "it was cut off or changed"},
		{"all but the last byte of it", good[:first-1], "it was cut off or changed"},
		{"one bit changed", flipped, "it was cut off or changed"},
		{"another format", sealed("checkpoint 2", "checkpoint 1"), `it is of the format "1", and this is "2"`},
		{"another search", sealed("token clients=2", "setnx clients=3"), `it is of the search "setnx clients=3`},
		{"another program", sealed("build ", "build 0"), `it is of the program "build 0`},
		{"less than there should be", u.pack(t, u.body[:len(u.body)-20]), "it cannot be read"},
	} {
		if err := os.WriteFile(file, f.text, 0o600); err != nil {
			t.Fatal(err)
		}
		entry, _ := race.Strategy(lock)
		b, _ := study.ParseBounds(bounds)
		b.Checkpoint, b.Now = file, time.Now
		_, err := study.Explore(t.Context(), entry, b)
		unfit := (*checkpoint.Error)(nil)
		if !errors.As(err, &unfit) || !strings.Contains(text.SayError("en", err), file+": "+f.want) {
			t.Errorf("%s: %v, want %q", f.what, err, f.want)
		}
		if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, f.text) {
			t.Errorf("%s: the file was changed (%v)", f.what, err)
		}
	}
}

// A checkpoint that cannot be written is refused before the search begins.
func TestCheckpointUnwritable(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	entry, _ := race.Strategy("token")
	b := study.DefaultBounds()
	b.Checkpoint = filepath.Join(t.TempDir(), "missing", "search")
	b.Now = time.Now
	_, err := study.Explore(t.Context(), entry, b)
	if err == nil || !strings.Contains(text.SayError("en", err), "it cannot be written") {
		t.Error(err)
	}
}

// attempt is a context that, when the search asks whether it is to stop, once tries
// something, as soon as there is a checkpoint.
type attempt struct {
	context.Context
	file string
	try  func()
	made bool
}

func (a *attempt) Err() error {
	if info, err := os.Stat(a.file); err == nil && info.Size() > 0 && !a.made {
		a.made = true
		a.try()
	}
	return nil
}

// A checkpoint is used by one search at a time; what has a similar name is left alone,
// and nothing else remains.
func TestCheckpointInUse(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	dir := t.TempDir()
	file, link, other := filepath.Join(dir, "search"), filepath.Join(dir, "link"), filepath.Join(dir, "search.new")
	if err := os.WriteFile(other, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("search", link); err != nil {
		t.Fatal(err)
	}
	const lock, bounds = "token", "clients=2,attempts=1,ttl=9s,budget=crash=1"
	saveAfter = 64
	defer func() { saveAfter = 0 }()
	a := &attempt{Context: t.Context(), file: file}
	a.try = func() {
		_, err := goOnFrom(t, link, lock, bounds)
		if unfit := (*checkpoint.Error)(nil); !errors.As(err, &unfit) || !strings.Contains(text.SayError("en", err), link+": another process is searching with it") {
			t.Errorf("a second search: %v", err)
		}
	}
	whole := search(t, a, lock, bounds, false, link, 0)
	if !a.made {
		t.Fatal("nothing was tried")
	}
	same(t, "afterwards", search(t, t.Context(), lock, bounds, false, file, 0), whole)
	if text, err := os.ReadFile(other); err != nil || string(text) != "mine" {
		t.Errorf("%s: %q, %v", other, text, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 3 {
		t.Errorf("%v remain", entries)
	}
}

// An empty file holds nothing to go on from and nothing to lose; what is no regular file
// is refused, without waiting for it; and a search that fails leaves no file behind.
func TestCheckpointPlaces(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	const lock, bounds = "token", "clients=2,attempts=1,ttl=9s,budget=crash=1"
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s := search(t, t.Context(), lock, bounds, false, empty, 0); s.Result.Kept.Has == 0 {
		t.Error("the empty file was not written")
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{pipe, os.DevNull, dir} {
		if _, err := goOnFrom(t, file, lock, bounds); err == nil || !strings.Contains(text.SayError("en", err), "it is no regular file") {
			t.Errorf("%s: %v", file, err)
		}
	}
}
