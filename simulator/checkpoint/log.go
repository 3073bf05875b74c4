package checkpoint

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/s2"

	"locklab/simulator/i18n"
	"locklab/simulator/internal/codec"
)

// A log is a file that only grows: lines of text, then segments. A segment is the length
// of its body, the body (plain values, compressed by s2), and a checksum of the whole file
// up to there; the length is written last. A log is as good as its segments are whole:
// what a kill or a power failure has left of one, and whatever follows, counts as not
// written.
type log struct {
	*os.File
	bodies []*io.SectionReader // of the segments
	end    int64               // of the last of them
	sum    uint32              // the checksum there
}

const (
	logTitle   = "locklab checkpoint "
	logVersion = "2" // of the lines and the segments; what is in them is read only by the build that wrote it
	maxHead    = 1 << 16
	lengthSize = 8
)

// castagnoli is the checksum for which processors have an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// newLog begins a log in an empty file. lines are those after the title.
func newLog(f *os.File, lines ...string) (*log, error) {
	head := logTitle + logVersion + "\n" + strings.Join(lines, "\n") + "\n"
	_, err := io.WriteString(f, head)
	return &log{File: f, end: int64(len(head)), sum: crc32.Checksum([]byte(head), castagnoli)}, err
}

// openLog reads the lines of a log, so many after the title, and finds its segments. It
// checks all sums. The error says why the file cannot be used.
func openLog(ctx context.Context, f *os.File, n int) (l *log, lines []string, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	in := bufio.NewReader(io.NewSectionReader(f, 0, min(info.Size(), maxHead)))
	l = &log{File: f}
	line := func() string {
		s, missing := in.ReadString('\n')
		if missing != nil && err == nil {
			err = errDamaged
		}
		l.end += int64(len(s))
		l.sum = crc32.Update(l.sum, castagnoli, []byte(s))
		return strings.TrimSuffix(s, "\n")
	}
	if title, _ := in.Peek(len(logTitle)); string(title) != logTitle {
		return nil, nil, i18n.Errorf("error.checkpoint.foreign")
	}
	if version := strings.TrimPrefix(line(), logTitle); err == nil && version != logVersion {
		return nil, nil, i18n.Errorf("error.checkpoint.format", "there", version, "here", logVersion)
	}
	for range n {
		lines = append(lines, line())
	}
	for more := true; more && err == nil; {
		more, err = l.next(ctx, info.Size())
	}
	if err == nil && l.bodies == nil {
		err = errDamaged
	}
	return l, lines, err
}

var errDamaged = i18n.Errorf("error.checkpoint.damaged")

// next takes in one more segment; false: there is none that is whole. The checksum finds damage. Who
// changes the file on purpose can make it fit: a search checks what it reads.
func (l *log) next(ctx context.Context, size int64) (more bool, err error) {
	var length [lengthSize]byte
	var want [crc32.Size]byte
	room := size - l.end - int64(len(length)+len(want))
	if room < 0 {
		return false, nil
	}
	if _, err := l.ReadAt(length[:], l.end); err != nil {
		return false, err
	}
	n := int64(binary.LittleEndian.Uint64(length[:]))
	if n <= 0 || n > room {
		return false, nil
	}
	body := io.NewSectionReader(l, l.end+lengthSize, n)
	sum := &summed{l.sum}
	if _, err := io.Copy(sum, reading{ctx, io.NewSectionReader(l, l.end+lengthSize, n)}); err != nil {
		return false, err
	}
	sum.Write(length[:])
	if _, err := l.ReadAt(want[:], l.end+lengthSize+n); err != nil {
		return false, err
	}
	if sum.sum != binary.BigEndian.Uint32(want[:]) {
		return false, nil
	}
	l.bodies = append(l.bodies, body)
	l.end, l.sum = l.end+lengthSize+n+crc32.Size, sum.sum
	return true, nil
}

// values are those of a segment.
func values(ctx context.Context, body *io.SectionReader) *codec.Reader {
	return codec.NewReader(s2.NewReader(bufio.NewReader(reading{ctx, body})))
}

// add writes a segment. After an error the log is as it was before.
func (l *log) add(body func(w *codec.Writer)) (err error) {
	defer func() {
		if err != nil {
			l.Truncate(l.end) // if even that fails: what follows is not whole
		}
	}()
	if err := l.Truncate(l.end); err != nil { // of what a kill has left
		return err
	}
	if _, err := l.Seek(l.end+lengthSize, io.SeekStart); err != nil {
		return err
	}
	sum := &summed{l.sum}
	z := s2.NewWriter(io.MultiWriter(l, sum)) // on all cores: the search stands still meanwhile
	w := codec.NewWriter(z)
	body(w)
	if err := errors.Join(w.Flush(), z.Close()); err != nil {
		return err
	}
	end, err := l.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	length := binary.LittleEndian.AppendUint64(nil, uint64(end-l.end-lengthSize))
	sum.Write(length)
	if _, err := l.Write(binary.BigEndian.AppendUint32(nil, sum.sum)); err != nil {
		return err
	}
	if _, err := l.WriteAt(length, l.end); err != nil {
		return err
	}
	if err := l.Sync(); err != nil {
		return err
	}
	l.end, l.sum = end+crc32.Size, sum.sum
	return nil
}

// summed is the checksum of what is written to it.
type summed struct{ sum uint32 }

func (s *summed) Write(b []byte) (int, error) {
	s.sum = crc32.Update(s.sum, castagnoli, b)
	return len(b), nil
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
