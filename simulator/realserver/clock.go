package realserver

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"locklab/simulator/i18n"
)

// clockSource is a library that servers load before all others, and that tells them the
// time of day. A server's timers, which go by another clock, stay as they are.
//
//go:embed clock.c.txt
var clockSource string

// ErrNoCompiler is that servers cannot be given a clock here.
var ErrNoCompiler = i18n.Errorf("error.live.compiler")

// FindCompiler returns the path of a C compiler; without one the error is ErrNoCompiler.
func FindCompiler() (path string, err error) {
	if path, err = exec.LookPath("cc"); err != nil {
		return "", ErrNoCompiler
	}
	return path, nil
}

// BuildClocks builds the library of clocks in a folder. The error is ErrNoCompiler, or says what
// the compiler says.
func BuildClocks(folder string) (library string, err error) {
	if runtime.GOOS != "linux" {
		return "", i18n.Errorf("error.live.linux", "system", runtime.GOOS)
	}
	compiler, err := FindCompiler()
	if err != nil {
		return "", err
	}
	library = filepath.Join(folder, "clock.so")
	cmd := exec.Command(compiler, "-x", "c", "-O2", "-shared", "-fPIC", "-o", library, "-")
	cmd.Stdin = strings.NewReader(clockSource)
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", i18n.Errorf("error.live.clock", "cause", err, "said", string(said))
	}
	return library, nil
}

// A Clock is the time of day of servers. It runs, as fast as it was last told, up to an
// instant at which it stands still. It is used by one goroutine at a time.
type Clock struct {
	library string
	file    *os.File
	turn    int64
}

// NewClock makes a clock that stands still. The file keeps what the servers map.
func NewClock(library, file string, at time.Time) (*Clock, error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	c := &Clock{library: library, file: f}
	if err := errors.Join(f.Truncate(4096), c.Set(at)); err != nil {
		f.Close()
		return nil, err
	}
	return c, nil
}

// Set lets the clock stand still at an instant.
func (c *Clock) Set(at time.Time) error { return c.Run(at, at, 0) }

// Run sets the clock, and lets it gain speed seconds in each second of the machine's, until it shows
// the other instant.
func (c *Clock) Run(at, until time.Time, speed float64) error {
	c.turn += 2
	words := []int64{time.Now().UnixNano(), at.UnixNano(), int64(speed * 1e6), until.UnixNano()}
	var b []byte
	for _, w := range words {
		b = binary.NativeEndian.AppendUint64(b, uint64(w))
	}
	// An odd turn says that the rest is being written.
	return errors.Join(c.writeTurn(c.turn-1), c.write(b, 8), c.writeTurn(c.turn))
}

func (c *Clock) writeTurn(turn int64) error {
	return c.write(binary.NativeEndian.AppendUint64(nil, uint64(turn)), 0)
}

func (c *Clock) write(b []byte, at int64) error {
	_, err := c.file.WriteAt(b, at)
	return err
}

// Close closes the file; servers that run keep what it holds.
func (c *Clock) Close() { c.file.Close() }

// env is the environment of a server with this clock; nil: that of the machine.
func (c *Clock) env() []string {
	if c == nil {
		return nil
	}
	return []string{"LD_PRELOAD=" + c.library, "LOCKLAB_CLOCK=" + c.file.Name()}
}
