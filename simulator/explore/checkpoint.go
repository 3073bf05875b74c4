package explore

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/s2"

	"locklab/reports/text"
	"locklab/simulator"
	"locklab/simulator/internal/codec"
)

// A search that was stopped, by whatever means, goes on from its checkpoint and then
// comes to the same result, number for number and step for step, as one that was not.
// States consist of numbers of table entries, so the tables are written in order: every
// number then means the same again. The remembered effects of moves are not written.
// They consist of entries that the tables have already, so that computing them again
// adds no numbers.
//
// A checkpoint is a search before one of its layers. A search that is stopped within a
// layer is taken back to the beginning of it (see snapshot): the tables may be ahead of
// the visited states, by an amount that depends on the machine.

// A Checkpoint is a file that keeps a search.
type Checkpoint struct {
	// File is written from time to time, when the search is cut short and when it ends,
	// each time atomically. If it exists and is not empty the search goes on from it. No
	// other process can use it meanwhile, where the system has flock. A search that is
	// killed loses less than a minute, or a tenth of its time, unless one layer or the
	// writing of the file takes longer. "": the search is not kept.
	File string
	// Search says in one line what is searched. A file of another search, or of another
	// build of this program, is refused.
	Search string
	// Now is the wall clock. It paces the writes and measures the time taken; nothing
	// else depends on it. It must be given with File.
	Now func() time.Time
}

// Kept is how a search used its checkpoint.
type Kept struct {
	Finished bool          // the file held the whole search: nothing was searched anew
	Had      int           // states that the file held at the beginning; 0: there was none
	Before   time.Duration // wall-clock time that the search had taken to get there
	Has      int           // states that the file holds now
	Open     bool          // the search was cut short: it can go on from the file
	Failed   string        // why the file could not be written, the last time; "": it could
}

// A CheckpointError is a checkpoint from which this search cannot go on, or that cannot
// be written. Nothing was searched.
type CheckpointError struct {
	File string
	Why  error
}

func (e *CheckpointError) Error() string { return "checkpoint " + e.File + ": " + e.Why.Error() }
func (e *CheckpointError) Unwrap() error { return e.Why }

// A checkpoint is three lines of text (title and version, search, build), then plain
// values compressed by s2, then the checksum of all that. The version is that of the
// lines and the container; the values are read only by the build that wrote them.
const (
	checkpointTitle   = "locklab checkpoint "
	checkpointVersion = "1"
)

// phase is how far a search has come.
type phase uint8

const (
	visiting   phase = iota // in the first pass
	shortening              // in the second
	finished
)

// checkpointer reads and writes the checkpoint of a search. A nil one does nothing.
type checkpointer struct {
	Checkpoint
	build  string
	report Kept
	phase  phase
	first  *Result       // of the first pass, once that is done
	rest   *codec.Reader // the rest of the file, from which a pass is to go on
	off    bool          // the present pass is not to be kept
	cut    bool          // the search was cut short

	path string   // of the file itself, where File is a link
	held *os.File // the file that stands there now, locked

	began time.Time     // this run
	ended time.Time     // the layer before
	layer time.Duration // what that took
	last  save
}

// save is one write of the file.
type save struct {
	at               time.Time // when it was done
	filling, syncing time.Duration
	states           int
}

// cost is how long the next save will take with so many states: filling the file takes
// longer with each of them, waiting for the disk does not.
func (s *save) cost(states int) time.Duration {
	const tables = 1 << 17 // the tables take as long as so many states
	return s.syncing + time.Duration(float64(s.filling)*float64(tables+states)/float64(tables+s.states))
}

// share bounds the cost of saving: one part in so many of the time between two saves,
// unless that would be too long for a search that is killed to lose.
var share time.Duration = 25

// loss is what a search that is killed may lose after it has taken so long.
func loss(taken time.Duration) time.Duration { return max(time.Minute, taken/10) }

// due says whether a search with so many states is to be saved before its next layer,
// which is taken to last up to twice as long as the last one.
func (k *checkpointer) due(states int) bool {
	since, cost := k.since(k.last.at), k.last.cost(states)
	late := since+2*k.layer+cost >= loss(k.report.Before+k.since(k.began))
	return since >= share*cost || late && since >= cost // half of the time is enough for saving
}

// openCheckpoint reads the checkpoint, if there is one, up to the tables. The error is a
// *CheckpointError, or ctx's.
func openCheckpoint(ctx context.Context, c Checkpoint) (*checkpointer, error) {
	if c.File == "" {
		return nil, nil
	}
	if c.Now == nil {
		return nil, &CheckpointError{c.File, errors.New("there is no clock to pace it by: give Checkpoint.Now, for example time.Now")}
	}
	build, err := thisBuild()
	if err != nil {
		return nil, err
	}
	k := &checkpointer{Checkpoint: c, build: build, began: c.Now()}
	k.last.at, k.ended = k.began, k.began
	err = k.hold()
	if err == nil {
		err = k.read(ctx, k.held)
	}
	if err != nil {
		k.release()
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, &CheckpointError{c.File, reason(err)}
	}
	return k, nil
}

// hold opens the file and locks it. A file that does not exist is made, empty, so that
// there is something to lock; release removes it if it stays so.
func (k *checkpointer) hold() error {
	for {
		if info, err := os.Stat(k.File); err == nil && !info.Mode().IsRegular() {
			return text.Errorf("error.checkpoint.irregular")
		}
		f, err := os.Open(k.File)
		if errors.Is(err, fs.ErrNotExist) {
			if f, err = os.OpenFile(k.File, os.O_RDONLY|os.O_CREATE, 0o666); err != nil {
				return text.Errorf("error.checkpoint.unwritable", "cause", reason(err))
			}
		}
		if err != nil {
			return text.Errorf("error.checkpoint.open", "cause", reason(err))
		}
		if k.path, err = filepath.EvalSymlinks(k.File); err == nil {
			err = lockFile(f)
		}
		if err != nil {
			f.Close()
			return err
		}
		held, err := f.Stat()
		there, gone := os.Stat(k.path)
		if err == nil && gone == nil && os.SameFile(held, there) {
			k.held = f
			return nil
		}
		f.Close() // its owner has replaced it, or removed it, before it was locked here
	}
}

var errInUse = text.Errorf("error.checkpoint.inuse")

// release ends the use of the file.
func (k *checkpointer) release() {
	if k == nil || k.held == nil {
		return
	}
	if info, err := k.held.Stat(); err == nil && info.Size() == 0 {
		os.Remove(k.path) // while it is locked
	}
	k.held.Close()
	k.held = nil
}

// reading is a file until ctx ends.
type reading struct {
	ctx context.Context
	io.Reader
}

func (r reading) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(b)
}

// read checks that the file is a checkpoint, complete, and of this search. An empty file
// holds nothing yet.
func (k *checkpointer) read(ctx context.Context, f *os.File) error {
	if info, err := f.Stat(); err != nil || info.Size() == 0 {
		return err
	}
	head := make([]byte, len(checkpointTitle))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != checkpointTitle {
		return text.Errorf("error.checkpoint.foreign")
	}
	size, err := whole(ctx, f)
	if err != nil {
		return err
	}
	in := bufio.NewReader(reading{ctx, io.NewSectionReader(f, int64(len(checkpointTitle)), size)})
	for _, line := range []struct{ differs, here string }{
		{"error.checkpoint.format", checkpointVersion}, {"error.checkpoint.search", k.Search}, {"error.checkpoint.program", k.build},
	} {
		there, err := in.ReadString('\n')
		there = strings.TrimSuffix(there, "\n")
		if err == nil && there != line.here {
			err = text.Errorf(line.differs, "there", there, "here", line.here)
		}
		if err != nil {
			return err
		}
	}
	k.rest = codec.NewReader(s2.NewReader(in))
	return k.readResult()
}

// castagnoli is the checksum for which processors have an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// whole checks that a file ends in the checksum of all that precedes it, and returns
// the size of that without the title. The checksum finds damage. Who changes the file on
// purpose can make it fit: see sound.go.
func whole(ctx context.Context, f *os.File) (size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	end := info.Size() - crc32.Size
	sum, want := crc32.New(castagnoli), make([]byte, crc32.Size)
	if end > 0 {
		if _, err = io.Copy(sum, reading{ctx, io.NewSectionReader(f, 0, end)}); err == nil {
			_, err = f.ReadAt(want, end)
		}
	}
	if err != nil {
		return 0, err
	}
	if !bytes.Equal(sum.Sum(nil), want) {
		return 0, text.Errorf("error.checkpoint.damaged")
	}
	return end - int64(len(checkpointTitle)), nil
}

// readResult reads how far the search had come, and what had come out.
func (k *checkpointer) readResult() error {
	k.rest.Get(&k.phase, &k.report.Before, &k.report.Had)
	if k.phase != visiting {
		k.first = &Result{}
		k.rest.Get(k.first)
	}
	k.report.Has = k.report.Had
	err := k.rest.Err()
	if err == nil {
		err = k.checkResult()
	}
	if err == nil && k.phase == finished {
		k.report.Finished = true
		k.rest = nil
	}
	return unreadable(err)
}

// unreadable is an error in a file whose checksum fits.
func unreadable(err error) error {
	if err == nil {
		return nil
	}
	return text.Errorf("error.checkpoint.unreadable", "cause", err)
}

// reason is an error without the name of the file, which the CheckpointError has.
func reason(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return e.Err
	}
	if e := (*os.LinkError)(nil); errors.As(err, &e) {
		return e.Err
	}
	return err
}

// thisBuild identifies the program exactly, because any change of it may change what an
// entry of a table means.
var thisBuild = sync.OnceValues(func() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return "build " + hex.EncodeToString(sum.Sum(nil)[:8]) + ", " + runtime.Version(), nil
})

func (k *checkpointer) since(t time.Time) time.Duration { return k.Now().Sub(t) }

// known is the result of the first pass, if the checkpoint has it.
func (k *checkpointer) known() *Result {
	if k == nil {
		return nil
	}
	return k.first
}

// done says whether the checkpoint has the final result.
func (k *checkpointer) done() bool { return k != nil && k.report.Finished }

// search is the search of the next pass: the one that was kept, or a new one.
func (k *checkpointer) search(ctx context.Context, sim *simulator.Simulator, opt *Options) (*search, error) {
	if k == nil || k.rest == nil {
		return newSearch(sim, *opt), nil
	}
	in := k.rest
	k.rest = nil
	began := k.Now()
	symmetric, start := opt.Symmetric, sim.NewWorld() // which empties the tables
	err := sim.Load(in)
	in.Get(&opt.Symmetric, &opt.asymmetry)
	if err == nil && opt.Symmetric != 0 && opt.Symmetric != symmetric {
		err = errUnsound
	}
	var s *search
	if err == nil {
		s = newSearch(sim, *opt)
		err = s.load(in)
	}
	// reading takes about as long as writing
	k.last = save{at: k.Now(), filling: k.since(began)}
	if err == nil {
		k.last.states = s.visited.states.n
		err = s.check(ctx, start)
	}
	k.ended = k.Now()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &CheckpointError{k.File, unreadable(err)}
	}
	return s, nil
}

// before is called before s begins a layer. It takes a snapshot, and saves s if that
// costs little of the time since the last save.
func (k *checkpointer) before(s *search) error {
	if k == nil || k.off || s.visited.stopped.Load() { // the last layer may not be whole
		return nil
	}
	s.before = s.snapshot()
	k.layer = k.since(k.ended)
	if k.due(s.visited.states.n) {
		k.save(s)
	}
	k.ended = k.Now()
	if k.report.Failed != "" && k.report.Has == 0 { // nothing is lost yet
		return &CheckpointError{k.File, text.Errorf("error.checkpoint.unwritable", "cause", k.report.Failed)}
	}
	return nil
}

// after is called when s has ended.
func (k *checkpointer) after(s *search) {
	if k == nil || k.off || s.visited.ended() {
		return
	}
	k.cut = true
	if s.before != nil {
		s.visited.rewind(s.before)
		k.save(s)
	}
}

// passed is called with the result of the first pass. If that pass was cut short the
// file keeps it, and not the second.
func (k *checkpointer) passed(r *Result) {
	if k == nil {
		return
	}
	if k.cut {
		k.off = true
		return
	}
	k.phase, k.first = shortening, r
}

// finish is called with the result of the whole search.
func (k *checkpointer) finish(r *Result, err error) {
	if k == nil || r == nil {
		return
	}
	if err == nil && !k.cut && !k.report.Finished {
		k.write(func(w *codec.Writer) {
			w.Put(finished, k.report.Before+k.since(k.began), r.States, *r)
		}, r.States)
	}
	r.Kept = k.report
	r.Kept.Open = k.cut && r.Limit.IsZero() // a limit would only be exceeded again
}

func (k *checkpointer) save(s *search) {
	k.write(func(w *codec.Writer) {
		w.Put(k.phase, k.report.Before+k.since(k.began), s.visited.states.n)
		if k.phase == shortening {
			w.Put(*k.first)
		}
		s.sim.Save(w, s.before.sim)
		w.Put(s.symmetric, s.opt.asymmetry)
		s.save(w, s.before)
	}, s.visited.states.n)
	s.visited.checkpoint = k.report
}

// write replaces the checkpoint.
func (k *checkpointer) write(body func(w *codec.Writer), states int) {
	began := k.Now()
	filled := began
	next, err := os.CreateTemp(filepath.Dir(k.path), "."+filepath.Base(k.path)+".*")
	if err == nil {
		err = k.fill(next, body)
		filled = k.Now()
		if err == nil {
			err = k.replace(next)
		}
		if err != nil {
			next.Close()
			os.Remove(next.Name())
		}
	}
	k.last = save{k.Now(), filled.Sub(began), k.since(filled), states}
	if err != nil {
		k.report.Failed = reason(err).Error()
		return
	}
	k.report.Has, k.report.Failed = states, ""
}

// replace renames a file over the checkpoint, once its data are on the disk, and holds it
// from then on. It is locked before, so that nobody else gets hold of it in between.
func (k *checkpointer) replace(next *os.File) error {
	if info, err := k.held.Stat(); err == nil {
		if err := next.Chmod(info.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := errors.Join(next.Sync(), lockFile(next)); err != nil {
		return err
	}
	if !keepsOpen { // this system renames no file that is open
		k.held.Close()
		next.Close()
	}
	if err := os.Rename(next.Name(), k.path); err != nil {
		return err
	}
	k.held.Close()
	k.held = next
	return nil
}

func (k *checkpointer) fill(f *os.File, body func(w *codec.Writer)) error {
	sum := crc32.New(castagnoli)
	err := k.fillWith(io.MultiWriter(f, sum), body)
	if err == nil {
		_, err = f.Write(sum.Sum(nil))
	}
	return err
}

func (k *checkpointer) fillWith(out io.Writer, body func(w *codec.Writer)) error {
	if _, err := fmt.Fprintf(out, "%s%s\n%s\n%s\n", checkpointTitle, checkpointVersion, k.Search, k.build); err != nil {
		return err
	}
	z := s2.NewWriter(out) // on all cores: the search stands still meanwhile
	w := codec.NewWriter(z)
	body(w)
	return errors.Join(w.Flush(), z.Close())
}
