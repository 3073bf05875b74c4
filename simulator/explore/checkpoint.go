package explore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"locklab/simulator"
	"locklab/simulator/i18n"
	"locklab/simulator/internal/codec"
)

// A search that was stopped, by whatever means, goes on from its checkpoint and then
// comes to the same result, number for number and step for step, as one that was not.
// States consist of numbers of table entries, so the tables are written in order: every
// number then means the same again. The remembered effects of moves are not written.
// They consist of entries that the tables have already, so that computing them again
// adds no numbers.
//
// A checkpoint is a search before one of its layers, or within one, when all that follows
// from its first states is entered. A search that is cut short elsewhere is taken back
// there (see snapshot): the tables may be ahead of the visited states, by an amount that
// depends on the machine.
//
// Tables and states only grow. So the file grows too: each save adds what there is more
// than at the save before. Saving then costs the same share of a search of any size.

// A Checkpoint is a file that keeps a search.
type Checkpoint struct {
	// File is written from time to time, when the search is cut short and when it ends,
	// each time atomically. If it exists and is not empty the search goes on from it. No
	// other process can use it meanwhile, where the system has flock. A search that is
	// killed loses less than a minute, or a tenth of its time, unless one write takes half
	// of that. "": the search is not kept.
	File string
	// Search says in one line what is searched. A file of another search, or of another
	// build of this program, is refused.
	Search string
	// Now is the wall clock. It paces the writes and measures the time taken; nothing
	// else depends on it. It must be given with File.
	Now func() time.Time
}

// Kept is how a search used its checkpoint.
//
// A file can be forged, with a checksum that fits. Visited and Sampled say how much of the
// result nobody but the file vouches for; its witnesses are replayed in any case.
type Kept struct {
	Finished bool          // the file held the whole search: nothing was searched anew
	Had      int           // states that the file held at the beginning; 0: there was none
	Visited  bool          // the file held the first pass, finished: which verdicts there are was not searched anew
	Sampled  bool          // it held so many states that only what follows from some was computed again
	Before   time.Duration // wall-clock time that the search had taken to get there
	Has      int           // states that the file holds now
	Open     bool          // the search was cut short: it can go on from the file
	Failed   string        // why the file could not be written, the last time; "": it could
}

// A CheckpointError is a checkpoint from which this search cannot go on, or that cannot
// be written. Nothing was searched.
type CheckpointError struct {
	File   string
	Search string // the search that the file keeps, if it is another one; "": it is not that
	Why    error
}

func (e *CheckpointError) Error() string { return "checkpoint " + e.File + ": " + e.Why.Error() }
func (e *CheckpointError) Unwrap() error { return e.Why }

// phase is how far a search has come.
type phase uint8

const (
	visiting   phase = iota // in the first pass
	shortening              // in the second
	finished
)

// checkpointer reads and writes the checkpoint of a search: a log with what is searched
// and the build as its lines. Its first segment has the phase, and every one how far the
// search had come and what it has more than at the segment before. A nil one does nothing.
type checkpointer struct {
	Checkpoint
	build  string
	report Kept
	phase  phase
	first  *Result       // of the first pass, once that is done
	rest   *codec.Reader // the rest of the first segment, from which a pass is to go on
	off    bool          // the present pass is not to be kept
	cut    bool          // the search was cut short
	other  string        // CheckpointError.Search

	path string    // of the file itself, where File is a link
	held *os.File  // the file that stands there now, locked
	log  *log      // in it; nil: it is empty
	base *snapshot // what it has of the present pass; nil: nothing

	began time.Time     // this run
	last  time.Time     // when the last save was done
	took  time.Duration // how long that took
}

// How often a search is saved: not more than once in a while, and such that saving costs
// one part in share of the time, unless that would be too long for a search that is killed
// to lose.
const (
	every = time.Second
	share = 25
)

// always is for tests: a search is saved wherever it can be.
var always = false

// loss is what a search that is killed may lose after it has taken so long.
func loss(taken time.Duration) time.Duration { return max(time.Minute, taken/10) }

// due says whether a search is to be saved now. It leaves half of what may be lost for the
// saving itself, and half of the time for the search.
func (k *checkpointer) due() bool {
	if k == nil || k.off {
		return false
	}
	first := k.report.Has == 0 && k.report.Failed == ""
	half := loss(k.report.Before+k.since(k.began)) / 2
	return always || first || k.since(k.last) >= max(k.took, min(max(every, share*k.took), half))
}

// openCheckpoint reads the checkpoint, if there is one, up to the tables. The error is a
// *CheckpointError, or ctx's.
func openCheckpoint(ctx context.Context, c Checkpoint) (*checkpointer, error) {
	if c.File == "" {
		return nil, nil
	}
	if c.Now == nil {
		return nil, &CheckpointError{File: c.File, Why: errors.New("there is no clock to pace it by: give Checkpoint.Now, for example time.Now")}
	}
	build, err := Build()
	if err != nil {
		return nil, err
	}
	k := &checkpointer{Checkpoint: c, build: build, began: c.Now()}
	k.last = k.began
	err = k.hold()
	if err == nil {
		err = k.read(ctx, k.held)
	}
	if err != nil {
		k.release()
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, &CheckpointError{File: c.File, Search: k.other, Why: reason(err)}
	}
	return k, nil
}

// hold opens the file and locks it. A file that does not exist is made, empty, so that
// there is something to lock; release removes it if it stays so.
func (k *checkpointer) hold() error {
	for {
		if info, err := os.Stat(k.File); err == nil && !info.Mode().IsRegular() {
			return i18n.Errorf("error.checkpoint.irregular")
		}
		f, err := os.OpenFile(k.File, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			if f, err = os.OpenFile(k.File, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
				return i18n.Errorf("error.checkpoint.unwritable", "cause", reason(err))
			}
		}
		if err != nil {
			f, err = os.Open(k.File) // that of a finished search need not be written
		}
		if err != nil {
			return i18n.Errorf("error.checkpoint.open", "cause", reason(err))
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

var errInUse = i18n.Errorf("error.checkpoint.inuse")

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

// empty gives up what the file keeps, of a search that cannot end. What takes its place
// is another search.
func (k *checkpointer) empty() error {
	if k == nil {
		return nil
	}
	if err := k.held.Truncate(0); err != nil {
		return &CheckpointError{File: k.File, Why: i18n.Errorf("error.checkpoint.unwritable", "cause", reason(err))}
	}
	return nil
}

// read checks that the file is a checkpoint, and of this search. An empty file holds
// nothing yet.
func (k *checkpointer) read(ctx context.Context, f *os.File) error {
	if info, err := f.Stat(); err != nil || info.Size() == 0 {
		return err
	}
	l, lines, err := openLog(ctx, f, 2)
	if err != nil {
		return err
	}
	if lines[0] != k.Search {
		k.other = lines[0]
	}
	for i, line := range []struct{ differs, here string }{{"error.checkpoint.search", k.Search}, {"error.checkpoint.program", k.build}} {
		if lines[i] != line.here {
			return i18n.Errorf(line.differs, "there", lines[i], "here", line.here)
		}
	}
	k.log = l
	k.rest = values(ctx, l.bodies[0])
	return k.readResult()
}

// readResult reads how far the search had come, and what had come out.
func (k *checkpointer) readResult() error {
	k.rest.Get(&k.phase)
	k.readProgress(k.rest)
	if k.phase != visiting {
		k.report.Visited, k.first = true, &Result{}
		k.rest.Get(k.first)
	}
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

func (k *checkpointer) readProgress(in *codec.Reader) {
	in.Get(&k.report.Before, &k.report.Had)
	k.report.Has = k.report.Had
}

// unreadable is an error in a file whose checksum fits.
func unreadable(err error) error {
	if err == nil {
		return nil
	}
	return i18n.Errorf("error.checkpoint.unreadable", "cause", err)
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

// Build identifies the program exactly, because any change of it may change what an
// entry of a table means.
var Build = sync.OnceValues(func() (string, error) {
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
func (k *checkpointer) search(ctx context.Context, sim *simulator.Simulator, opt *Options, wanted []Witness) (s *search, err error) {
	switch {
	case k == nil:
		return newPass(sim, opt, wanted), nil
	case k.rest == nil:
		k.base = nil
		s = newPass(sim, opt, wanted)
	default:
		if s, err = k.load(ctx, sim, opt, wanted); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, &CheckpointError{File: k.File, Why: unreadable(err)}
		}
		k.last = k.Now()
	}
	s.visited.kept = !k.off
	return s, nil
}

// load reads the search of a pass, segment by segment, and checks it. base is what the file
// has, and not what the check may add to the tables.
func (k *checkpointer) load(ctx context.Context, sim *simulator.Simulator, opt *Options, wanted []Witness) (s *search, err error) {
	in := k.rest
	k.rest = nil
	symmetric, start := opt.Symmetric, sim.NewWorld() // which empties the tables
	in.Get(&opt.Symmetric, &opt.asymmetry, &opt.merging)
	sim.Merge(opt.merging, opt.Symmetric)
	if opt.Symmetric != 0 && opt.Symmetric != symmetric {
		return nil, errUnsound
	}
	k.base = &snapshot{}
	for i, body := range k.log.bodies {
		if i > 0 {
			in = values(ctx, body)
			k.readProgress(in)
		}
		if err := sim.Load(in); err != nil {
			return nil, err
		}
		if s == nil {
			s = newPass(sim, opt, wanted)
			k.base.clients = make([]int, len(s.clientTab))
		}
		if err := s.load(in, k.base); err != nil {
			return nil, err
		}
		k.base = s.snapshot()
	}
	whole, err := s.check(ctx, start)
	k.report.Sampled = !whole
	return s, err
}

// at is called where s can be saved: before a layer, or within one when all that follows
// from the states up to v.place is entered. It takes a snapshot, and saves s if that is
// due.
func (k *checkpointer) at(s *search) error {
	if k == nil || k.off || s.visited.stopped.Load() { // what was entered last may not be whole
		return nil
	}
	s.last = s.snapshot()
	if k.due() {
		k.save(s)
	}
	if k.report.Failed != "" && k.report.Has == 0 { // nothing is lost yet
		return &CheckpointError{File: k.File, Why: i18n.Errorf("error.checkpoint.unwritable", "cause", k.report.Failed)}
	}
	return nil
}

// after is called when s has ended.
func (k *checkpointer) after(s *search) {
	if k == nil || k.off || s.visited.ended() {
		return
	}
	k.cut = true
	if s.last != nil {
		s.visited.rewind(s.last)
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
		k.note(r.States, k.writeNew(func(w *codec.Writer) {
			w.Put(finished, k.report.Before+k.since(k.began), r.States, *r)
		}))
	}
	r.Kept = k.report
	r.Kept.Open = k.cut && r.Limit.IsZero() // a limit would only be exceeded again
}

// save writes s as of its last snapshot: what the file has not yet, or a new file.
func (k *checkpointer) save(s *search) {
	began, to := k.Now(), s.last
	taken := k.report.Before + began.Sub(k.began)
	var err error
	if k.base != nil && k.stands() {
		err = k.log.add(func(w *codec.Writer) {
			w.Put(taken, to.states)
			s.save(w, k.base, to)
		})
	} else {
		err = k.writeNew(func(w *codec.Writer) {
			w.Put(k.phase, taken, to.states)
			if k.phase == shortening {
				w.Put(*k.first)
			}
			w.Put(s.symmetric, s.opt.asymmetry, s.opt.merging)
			s.save(w, &snapshot{clients: make([]int, len(to.clients))}, to)
		})
	}
	if err == nil {
		k.base = to
		s.visited.saved(to)
	}
	k.note(to.states, err)
	k.last = k.Now()
	k.took = k.last.Sub(began)
	s.visited.checkpoint = k.report
}

// note keeps what came out of writing the file.
func (k *checkpointer) note(states int, err error) {
	if err != nil {
		k.report.Failed = reason(err).Error()
		return
	}
	k.report.Has, k.report.Failed = states, ""
}

// stands says whether the file is still there, as it was left.
func (k *checkpointer) stands() bool {
	held, err := k.held.Stat()
	there, gone := os.Stat(k.path)
	return err == nil && gone == nil && os.SameFile(held, there) && held.Size() >= k.log.end
}

// writeNew replaces the checkpoint by one of one segment.
func (k *checkpointer) writeNew(body func(w *codec.Writer)) error {
	next, err := os.CreateTemp(filepath.Dir(k.path), "."+filepath.Base(k.path)+".*")
	if err != nil {
		return err
	}
	l, err := newLog(next, k.Search, k.build)
	if err == nil {
		err = l.add(body)
	}
	if err == nil {
		err = k.replace(l)
	}
	if err != nil {
		next.Close()
		os.Remove(next.Name())
	}
	return err
}

// replace renames a log over the checkpoint, and holds it from then on. It is locked
// before, so that nobody else gets hold of it in between.
func (k *checkpointer) replace(l *log) error {
	if info, err := k.held.Stat(); err == nil {
		if err := l.Chmod(info.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := lockFile(l.File); err != nil {
		return err
	}
	if !keepsOpen { // this system renames no file that is open
		k.held.Close()
		l.Close()
	}
	if err := os.Rename(l.Name(), k.path); err != nil {
		return err
	}
	if !keepsOpen {
		f, err := os.OpenFile(k.path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		l.File = f
	}
	k.held.Close()
	k.held, k.log = l.File, l
	return nil
}
