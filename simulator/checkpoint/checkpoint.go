// Package checkpoint keeps a search in a file, from which it goes on after it was stopped, by
// whatever means. Of a search it knows only segments of plain values, which the search writes and
// reads itself; each segment adds to those before it. So the file only grows, and saving costs
// the same share of a search of any size.
package checkpoint

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

	"locklab/simulator/i18n"
	"locklab/simulator/internal/codec"
)

// A Config says where a search is kept.
type Config struct {
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
// result rests on the file alone; its witnesses are replayed in any case.
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

// An Error is a checkpoint from which a search cannot go on, or that cannot be written. Nothing
// was searched.
type Error struct {
	File   string
	Search string // the search that the file keeps, if it is another one; "": it is not that
	Why    error
}

func (e *Error) Error() string { return "checkpoint " + e.File + ": " + e.Why.Error() }
func (e *Error) Unwrap() error { return e.Why }

// A File is the checkpoint of a search, which no other process uses meanwhile: a log with the
// search and the build as its lines. Every segment begins with the time and the number of states
// to which the search had come.
type File struct {
	Config
	Kept  Kept
	build string

	path string   // of the file itself, where Config.File is a link
	held *os.File // the file that stands there now, locked
	log  *log     // in it; nil: it is empty

	began time.Time     // this run
	last  time.Time     // when the last save was done
	took  time.Duration // how long that took
}

// Open reads the lines of a checkpoint, if there is one, and checks its sums. The error is an
// *Error, or ctx's.
func Open(ctx context.Context, c Config) (*File, error) {
	if c.Now == nil {
		return nil, &Error{File: c.File, Why: errors.New("there is no clock to pace it by: give Config.Now, for example time.Now")}
	}
	build, err := Build()
	if err != nil {
		return nil, err
	}
	f := &File{Config: c, build: build, began: c.Now()}
	f.last = f.began
	other := ""
	if err = f.hold(); err == nil {
		other, err = f.read(ctx)
	}
	if err != nil {
		f.Release()
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, &Error{File: c.File, Search: other, Why: i18n.Bare(err)}
	}
	return f, nil
}

// hold opens the file and locks it. A file that does not exist is made, empty, so that
// there is something to lock; Release removes it if it stays so.
func (f *File) hold() error {
	for {
		if info, err := os.Stat(f.File); err == nil && !info.Mode().IsRegular() {
			return i18n.Errorf("error.checkpoint.irregular")
		}
		file, err := os.OpenFile(f.File, os.O_RDWR, 0)
		if errors.Is(err, fs.ErrNotExist) {
			if file, err = os.OpenFile(f.File, os.O_RDWR|os.O_CREATE, 0o666); err != nil {
				return unwritable(i18n.Bare(err))
			}
		}
		if err != nil {
			file, err = os.Open(f.File) // that of a finished search need not be written
		}
		if err != nil {
			return i18n.Errorf("error.checkpoint.open", "cause", i18n.Bare(err))
		}
		if f.path, err = filepath.EvalSymlinks(f.File); err == nil {
			err = lockFile(file)
		}
		if err != nil {
			file.Close()
			return err
		}
		if f.held = file; f.stands(0) {
			return nil
		}
		f.held = nil
		file.Close() // its owner has replaced it, or removed it, before it was locked here
	}
}

var errInUse = i18n.Errorf("error.checkpoint.inuse")

// stands reports whether the file is still there, with so many bytes at least.
func (f *File) stands(size int64) bool {
	held, err := f.held.Stat()
	there, gone := os.Stat(f.path)
	return err == nil && gone == nil && os.SameFile(held, there) && held.Size() >= size
}

// Release ends the use of the file.
func (f *File) Release() {
	if f.held == nil {
		return
	}
	if info, err := f.held.Stat(); err == nil && info.Size() == 0 {
		os.Remove(f.path) // while it is locked
	}
	f.held.Close()
	f.held = nil
}

// Empty gives up what the file keeps, of a search that cannot end. What takes its place
// is another search.
func (f *File) Empty() error {
	if err := f.held.Truncate(0); err != nil {
		return f.refuse(unwritable(i18n.Bare(err)))
	}
	return nil
}

// read checks that the file is a checkpoint, and of this search; if not, other is the search that
// it is of. An empty file holds nothing yet.
func (f *File) read(ctx context.Context) (other string, err error) {
	if info, err := f.held.Stat(); err != nil || info.Size() == 0 {
		return "", err
	}
	l, lines, err := openLog(ctx, f.held, 2)
	if err != nil {
		return "", err
	}
	if lines[0] != f.Search {
		return lines[0], i18n.Errorf("error.checkpoint.search", "there", lines[0], "here", f.Search)
	}
	if lines[1] != f.build {
		return "", i18n.Errorf("error.checkpoint.program", "there", lines[1], "here", f.build)
	}
	f.log = l
	return "", nil
}

// Segments is the number of segments in the file.
func (f *File) Segments() int {
	if f.log == nil {
		return 0
	}
	return len(f.log.bodies)
}

// Segment reads a segment. They are read in their order.
func (f *File) Segment(ctx context.Context, n int) *codec.Reader {
	in := values(ctx, f.log.bodies[n])
	in.Get(&f.Kept.Before, &f.Kept.Had)
	f.Kept.Has = f.Kept.Had
	return in
}

// Loaded is called when the search has read all segments, which takes a while.
func (f *File) Loaded() { f.last = f.Now() }

// Unreadable is the Error of a file whose checksum fits, and from which a search cannot go on all
// the same.
func (f *File) Unreadable(err error) error {
	return f.refuse(i18n.Errorf("error.checkpoint.unreadable", "cause", err))
}

func (f *File) refuse(why error) error { return &Error{File: f.File, Why: why} }

func unwritable(cause any) error { return i18n.Errorf("error.checkpoint.unwritable", "cause", cause) }

// How often a search is saved: not more than once in a while, and such that saving costs
// one part in share of the time, unless that would be too long for a search that is killed
// to lose.
const (
	every = time.Second
	share = 25
)

// loss returns the time of work that a search may lose if it is killed after it has taken so long.
func loss(taken time.Duration) time.Duration { return max(time.Minute, taken/10) }

// Due reports whether a search is to be saved now. It leaves half of what may be lost for the
// saving itself, and half of the time for the search.
func (f *File) Due() bool {
	if f.Kept.Has == 0 && f.Kept.Failed == "" {
		return true
	}
	half := loss(f.taken()) / 2
	return f.Now().Sub(f.last) >= max(f.took, min(max(every, share*f.took), half))
}

// taken is the time that the search has taken.
func (f *File) taken() time.Duration { return f.Kept.Before + f.Now().Sub(f.began) }

// Grows reports whether a segment can be added: the file is still there, as it was left.
func (f *File) Grows() bool { return f.log != nil && f.stands(f.log.end) }

// Save writes a segment of a search that has come to so many states: with anew, in place of all
// that the file holds. Kept.Failed is why it could not be written.
func (f *File) Save(states int, anew bool, segment func(w *codec.Writer)) (saved bool) {
	began, taken := f.Now(), f.taken()
	body := func(w *codec.Writer) {
		w.Put(taken, states)
		segment(w)
	}
	var err error
	if anew {
		err = f.replace(body)
	} else {
		err = f.log.add(body)
	}
	f.last = f.Now()
	f.took = f.last.Sub(began)
	if err != nil {
		f.Kept.Failed = i18n.Bare(err).Error()
		return false
	}
	f.Kept.Has, f.Kept.Failed = states, ""
	return true
}

// Lost is the Error of a file that could not be written at all; nil: it could, or was not yet.
func (f *File) Lost() error {
	if f.Kept.Failed == "" || f.Kept.Has > 0 {
		return nil
	}
	return f.refuse(unwritable(f.Kept.Failed))
}

// replace replaces the checkpoint by one of one segment.
func (f *File) replace(body func(w *codec.Writer)) error {
	next, err := os.CreateTemp(filepath.Dir(f.path), "."+filepath.Base(f.path)+".*")
	if err != nil {
		return err
	}
	l, err := newLog(next, f.Search, f.build)
	if err == nil {
		err = l.add(body)
	}
	if err == nil {
		err = f.rename(l)
	}
	if err != nil {
		next.Close()
		os.Remove(next.Name())
	}
	return err
}

// rename renames a log over the checkpoint, and holds it from then on. It is locked
// before, so that no other process gets hold of it in between.
func (f *File) rename(l *log) error {
	if info, err := f.held.Stat(); err == nil {
		if err := l.Chmod(info.Mode().Perm()); err != nil {
			return err
		}
	}
	if err := lockFile(l.File); err != nil {
		return err
	}
	if !keepsOpen { // this system renames no file that is open
		f.held.Close()
		l.Close()
	}
	if err := os.Rename(l.Name(), f.path); err != nil {
		return err
	}
	if !keepsOpen {
		file, err := os.OpenFile(f.path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		l.File = file
	}
	f.held.Close()
	f.held, f.log = l.File, l
	return nil
}

// Build identifies the program exactly, because any change of it may change what a value in a
// segment means.
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
