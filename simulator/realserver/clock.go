package realserver

import (
	"bytes"
	_ "embed"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"locklab/simulator/child"
	"locklab/simulator/i18n"
)

// clockSource is a library that servers load before all others, and that tells them the
// time of day. What a server measures by another clock stays as it is, but for the timer of a process (setitimer).
//
//go:embed clock.c.txt
var clockSource string

// BuildClocks builds the library of clocks in a folder. The error is ErrNoCompiler, or says what the compiler says.
func BuildClocks(folder string) (library string, err error) {
	if runtime.GOOS != "linux" {
		return "", i18n.Errorf("error.live.linux", "system", runtime.GOOS)
	}
	paths, err := FindCompiler()
	if err != nil {
		return "", err
	}
	library = filepath.Join(folder, "clock.so")
	cmd := exec.Command(paths[0], "-x", "c", "-O2", "-shared", "-fPIC", "-o", library, "-")
	var said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(clockSource), &said, &said
	cmd.Env = append(os.Environ(), "TMPDIR="+folder) // a compiler that is killed leaves files behind
	if err := child.Run(cmd); err != nil {
		return "", i18n.Errorf("error.live.clock", "cause", err, "said", said.String())
	}
	return library, nil
}

// A Clock is the time of day of a server. It runs, as fast as it was last told, up to an
// instant at which it stands still. It is used by one goroutine at a time.
type Clock struct {
	// Ahead is by how much it has jumped, which timers do not notice. The next Set or Run takes it over.
	Ahead time.Duration

	library, file string
	memory        []byte // of the file, which the server maps as well
	turn          int64
}

// NewClock makes a clock that stands still.
func NewClock(library, file string, at time.Time) (*Clock, error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	c := &Clock{library: library, file: file}
	if err := f.Truncate(4096); err != nil {
		return nil, err
	}
	if c.memory, err = child.Share(f, 4096); err != nil {
		return nil, err
	}
	c.Set(at)
	return c, nil
}

// Set lets the clock stand still at an instant.
func (c *Clock) Set(at time.Time) { c.Run(at, at, 0) }

// Run sets the clock, and lets it gain speed seconds in each second of the machine's, until it shows the other instant.
func (c *Clock) Run(at, until time.Time, speed float64) {
	words := (*[6]atomic.Int64)(unsafe.Pointer(unsafe.SliceData(c.memory)))
	c.turn += 2
	words[0].Store(c.turn - 1) // an odd turn says that the rest is being written
	line := []int64{time.Now().UnixNano(), at.UnixNano(), int64(speed * 1e6), until.UnixNano(), int64(c.Ahead)}
	for i, w := range line {
		words[i+1].Store(w)
	}
	words[0].Store(c.turn)
}

// Close ends the use of the clock; a server that runs keeps what it shows.
func (c *Clock) Close() {
	if c != nil {
		child.Unshare(c.memory)
		c.memory = nil
	}
}

// env is the environment of a server with this clock; nil: that of the machine.
func (c *Clock) env() []string {
	if c == nil {
		return nil
	}
	return []string{"LD_PRELOAD=" + c.library, "LOCKLAB_CLOCK=" + c.file}
}

// waits is the environment of a server with the machine's time of day that waits for its clients by this clock, from
// its last answer on: a time-out of a second or more is over when the clock has passed it.
func (c *Clock) waits() []string {
	if c == nil {
		return nil
	}
	return append(c.env(), "LOCKLAB_WAITS=1")
}
