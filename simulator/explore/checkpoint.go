package explore

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
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
	// each time atomically. If it exists the search goes on from it. "": the search is
	// not kept.
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
	close  func()        // ends rest
	off    bool          // the present pass is not to be kept
	cut    bool          // the search was cut short

	began time.Time // this run
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

// share bounds the cost of saving: one part in so many of the time between two saves. A
// search that is killed loses at most that time.
var share time.Duration = 25

// openCheckpoint reads the checkpoint, if there is one, up to the tables.
func openCheckpoint(c Checkpoint) (*checkpointer, error) {
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
	k.last.at = k.began
	f, err := os.Open(c.File)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return nil, &CheckpointError{c.File, text.Errorf("error.checkpoint.open", "cause", reason(err))}
	}
	if err := k.read(f); err != nil {
		f.Close()
		return nil, &CheckpointError{c.File, reason(err)}
	}
	return k, nil
}

// read checks that the file is a checkpoint, complete, and of this search.
func (k *checkpointer) read(f *os.File) error {
	head := make([]byte, len(checkpointTitle))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != checkpointTitle {
		return text.Errorf("error.checkpoint.foreign")
	}
	size, err := whole(f)
	if err != nil {
		return err
	}
	in := bufio.NewReader(io.NewSectionReader(f, int64(len(checkpointTitle)), size))
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
	k.rest, k.close = codec.NewReader(s2.NewReader(in)), func() { f.Close() }
	return k.readResult()
}

// castagnoli is the checksum for which processors have an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// whole checks that a file ends in the checksum of all that precedes it, and returns
// the size of that without the title.
func whole(f *os.File) (size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	end := info.Size() - crc32.Size
	sum, want := crc32.New(castagnoli), make([]byte, crc32.Size)
	if end > 0 {
		if _, err = io.Copy(sum, io.NewSectionReader(f, 0, end)); err == nil {
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
	if err == nil && k.phase == finished {
		k.report.Finished = true
		k.close()
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
func (k *checkpointer) search(sim *simulator.Simulator, opt *Options) (*search, error) {
	if k == nil || k.rest == nil {
		return newSearch(sim, *opt), nil
	}
	in := k.rest
	k.rest = nil
	defer k.close()
	began := k.Now()
	err := sim.Load(in)
	in.Get(&opt.Symmetric, &opt.asymmetry)
	s := newSearch(sim, *opt)
	if err == nil {
		err = s.load(in)
	}
	if err != nil {
		return nil, &CheckpointError{k.File, unreadable(err)}
	}
	// reading takes about as long as writing
	k.last = save{at: k.Now(), filling: k.since(began), states: s.visited.states.n}
	return s, nil
}

// before is called before s begins a layer. It takes a snapshot, and saves s if that
// costs little of the time since the last save.
func (k *checkpointer) before(s *search) error {
	if k == nil || k.off || s.visited.stopped.Load() { // the last layer may not be whole
		return nil
	}
	s.before = s.snapshot()
	if k.since(k.last.at) < share*k.last.cost(s.visited.states.n) {
		return nil
	}
	k.save(s)
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
	next := k.File + ".new"
	err := k.fill(next, body)
	filled := k.Now()
	if err == nil {
		err = replace(next, k.File)
	}
	k.last = save{k.Now(), filled.Sub(began), k.since(filled), states}
	if err != nil {
		os.Remove(next)
		k.report.Failed = reason(err).Error()
		return
	}
	k.report.Has, k.report.Failed = states, ""
}

// replace renames a file over another one, once its data are on the disk.
func replace(file, name string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(file, name)
}

func (k *checkpointer) fill(name string, body func(w *codec.Writer)) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	sum := crc32.New(castagnoli)
	err = k.fillWith(io.MultiWriter(f, sum), body)
	if err == nil {
		_, err = f.Write(sum.Sum(nil))
	}
	return errors.Join(err, f.Close())
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
