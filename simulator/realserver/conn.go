package realserver

import (
	"bufio"
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/alicebob/miniredis/v2/proto"

	"locklab/simulator/child"
	"locklab/simulator/i18n"
	"locklab/simulator/resp"
)

// A Conn is a connection to a redis-server on which RESP is written and read as it is. It
// is used by one goroutine at a time.
type Conn struct {
	conn net.Conn
	in   *bufio.Reader
}

// patience is the time that a server may take for an answer: far longer than any does.
const patience = 5 * time.Second

// Close hangs up.
func (w *Conn) Close() { w.conn.Close() }

// Name returns what the server calls the connection in CLIENT LIST: its address.
func (w *Conn) Name() string { return w.conn.LocalAddr().String() }

// Send writes commands in one write, each as an array of bulk strings.
func (w *Conn) Send(commands ...[]string) error {
	var raw string
	for _, c := range commands {
		raw += proto.Strings(c...)
	}
	_, err := w.conn.Write([]byte(raw))
	return err
}

// Receive reads n answers as they are.
func (w *Conn) Receive(n int) (raw string, err error) {
	var b strings.Builder
	_, err = w.read(n, &b)
	return b.String(), err
}

// Values reads n answers, as resp.Read returns them.
func (w *Conn) Values(n int) (values []any, err error) { return w.read(n, nil) }

func (w *Conn) read(n int, raw *strings.Builder) (values []any, err error) {
	w.conn.SetReadDeadline(time.Now().Add(patience))
	for range n {
		v, err := resp.Read(w.in, raw)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// Answered reports whether the next answer begins to arrive, for which it waits for d, above 0.
func (w *Conn) Answered(d time.Duration) (bool, error) {
	w.conn.SetReadDeadline(time.Now().Add(d))
	if _, err := w.in.Peek(1); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return false, err
	}
	return w.in.Buffered() > 0, nil
}

// DoAll sends commands in one write and returns their answers. The error may be a resp.Error, the first.
func (w *Conn) DoAll(commands ...[]string) (values []any, err error) {
	if err := w.Send(commands...); err != nil {
		return nil, err
	}
	if values, err = w.Values(len(commands)); err != nil {
		return nil, err
	}
	for _, v := range values {
		if refusal, is := v.(resp.Error); is {
			return nil, refusal
		}
	}
	return values, nil
}

// Do sends one command and returns its answer. The error may be a resp.Error.
func (w *Conn) Do(args ...string) (any, error) {
	values, err := w.DoAll(args)
	if err != nil {
		return nil, err
	}
	return values[0], nil
}

// Info returns the fields of INFO.
func (w *Conn) Info(sections ...string) (map[string]string, error) {
	said, err := w.Do(append([]string{"INFO"}, sections...)...)
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for line := range strings.Lines(fmt.Sprint(said)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	return fields, nil
}

// clockSource is a library that servers load before all others, and that tells them the
// time of day. What a server measures by another clock stays as it is, but for the timer of a process (setitimer).
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
	if c.memory, err = syscall.Mmap(int(f.Fd()), 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED); err != nil {
		return nil, err
	}
	c.Set(at)
	return c, nil
}

// Set lets the clock stand still at an instant.
func (c *Clock) Set(at time.Time) { c.Run(at, at, 0) }

// Run sets the clock, and lets it gain speed seconds in each second of the machine's, until it shows
// the other instant.
func (c *Clock) Run(at, until time.Time, speed float64) {
	words := (*[6]atomic.Int64)(unsafe.Pointer(unsafe.SliceData(c.memory)))
	c.turn += 2
	words[0].Store(c.turn - 1) // an odd turn says that the rest is being written
	for i, w := range []int64{time.Now().UnixNano(), at.UnixNano(), int64(speed * 1e6), until.UnixNano(), int64(c.Ahead)} {
		words[i+1].Store(w)
	}
	words[0].Store(c.turn)
}

// Close ends the use of the clock; a server that runs keeps what it shows.
func (c *Clock) Close() {
	if c != nil {
		syscall.Munmap(c.memory)
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

// waits is the environment of a server with the machine's time of day that waits for its clients by this clock, from its last answer on:
// a time-out of a second or more is over when the clock has passed it.
func (c *Clock) waits() []string {
	if c == nil {
		return nil
	}
	return append(c.env(), "LOCKLAB_WAITS=1")
}
