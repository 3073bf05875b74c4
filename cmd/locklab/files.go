package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2/maybe"

	"locklab/reports/text"
	"locklab/simulator/i18n"
)

// output is standard output. It keeps the first error and accepts everything after that,
// so that a full disk there does not keep files from being written.
type output struct {
	to  io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	if o.err == nil {
		_, o.err = o.to.Write(b)
	}
	return len(b), nil
}

// The largest files that are read, in bytes. No run and no contract comes near.
const (
	maxTraceFile = 64 << 20
	maxContract  = 4 << 20
)

// read returns the content of a file of at most limit bytes. Ctrl-C ends it, even if the
// file is a pipe without a writer.
func (e *env) read(name string, limit int64) ([]byte, error) {
	var content []byte
	err := e.interruptible(func() (err error) {
		content, err = readAtMost(name, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return content, nil
}

// input returns the content of a file on which results depend. A share of the
// results contains it, so that merging shares does not need the file.
func (e *env) input(name string, limit int64) (string, error) {
	if e.merges {
		content, found := e.inputs[name]
		if !found {
			return "", text.Errorf("error.share.input", "file", name)
		}
		return content, nil
	}
	content, err := e.read(name, limit)
	if err == nil && e.inputs != nil {
		e.inputs[name] = string(content)
	}
	return string(content), err
}

func readAtMost(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	large := text.Errorf("error.large", "file", name, "most", limit>>20)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > limit {
		return nil, large
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = large
	}
	return b, err
}

// interruptible does what may wait forever, such as opening a pipe. Ctrl-C ends the
// waiting, not the work: what that sets must not be used after an error.
func (e *env) interruptible(work func() error) error {
	if e.ctx.Err() != nil {
		return work() // the results so far are being written; another Ctrl-C ends the program
	}
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-e.ctx.Done():
		return noAnswer("error.stopped")
	}
}

// writes says how a file is written.
type writes int

const (
	replaces writes = iota // at once: a reader sees the old file or the new one
	appends
)

// write writes a file; what is no regular file, such as a device or a pipe, gets the
// bytes as they are. Without a name it does nothing. It is called after all results were printed.
func (e *env) write(name string, how writes, fill func(w io.Writer) error) error {
	if name == "" {
		return nil
	}
	var b bytes.Buffer
	if err := fill(&b); err != nil {
		return internal(fmt.Errorf("%s: %w", name, err))
	}
	err := e.put(name, how, b.Bytes())
	if stopped := (*exitError)(nil); errors.As(err, &stopped) {
		return err
	}
	if err != nil {
		return internal(text.Errorf("error.write", "file", name, "cause", i18n.Bare(err)))
	}
	e.inform("command.wrote", "file", name)
	return nil
}

func (e *env) put(name string, how writes, content []byte) error {
	if stream := e.stream(name); stream != nil {
		_, err := stream.Write(content)
		return err
	}
	info, err := os.Stat(name)
	special := err == nil && !info.Mode().IsRegular()
	if !special {
		name = target(name)
	}
	switch {
	case special: // such as a pipe, which may wait for a reader forever
		return e.interruptible(func() error { return writeTo(name, os.O_WRONLY, content) })
	case how == appends:
		return writeTo(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, content)
	}
	return maybe.WriteFile(name, content, 0o644)
}

func writeTo(name string, flags int, content []byte) error {
	f, err := os.OpenFile(name, flags, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

// stream returns standard output or standard error if name is another name of it, as
// /dev/stdout is. Opening that anew would write over what was printed.
func (e *env) stream(name string) io.Writer {
	info, err := os.Stat(name)
	if err != nil {
		return nil
	}
	for _, w := range []io.Writer{e.stdout, e.stderr} {
		to := w
		if o, ok := w.(*output); ok {
			to = o.to
		}
		if f, ok := to.(*os.File); ok {
			if own, err := f.Stat(); err == nil && os.SameFile(own, info) {
				return w
			}
		}
	}
	return nil
}

// maxLinks is more symbolic links in a row than systems follow.
const maxLinks = 40

// target follows the symbolic links at name, also those to a file that does not exist
// yet: the link stays, and what it names is written.
func target(name string) string {
	for range maxLinks {
		to, err := os.Readlink(name)
		if err != nil {
			return name
		}
		if !filepath.IsAbs(to) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(name))
			if err != nil {
				return name
			}
			to = filepath.Join(dir, to)
		}
		name = to
	}
	return name
}

// checkOutputs returns why one of the files cannot be written. It is called before
// anything is played. flag is what names the files, such as -o; an empty name is no file.
func (e *env) checkOutputs(flag string, files ...string) error {
	for _, f := range files {
		if err := e.writable(f); err != nil && f != "" {
			return text.Errorf("error.out", "flag", flag, "file", f, "cause", err)
		}
	}
	return nil
}

func (e *env) writable(file string) error {
	if e.stream(file) != nil {
		return nil
	}
	switch info, err := os.Stat(file); {
	case err == nil && info.IsDir():
		return text.Errorf("error.directory.is")
	case err == nil && !info.Mode().IsRegular():
		return nil // opening a pipe could disturb whoever reads from it
	}
	file = target(file)
	return probe(filepath.Dir(file), filepath.Base(file))
}

// writableDir returns why no file can be written into dir, which is made if its parent is there.
func writableDir(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		dir = filepath.Clean(dir)
		return probe(filepath.Dir(dir), filepath.Base(dir))
	}
	return probe(dir, "locklab")
}

// probe returns why no file of a name can be written into dir. The file is written under a longer name first, as
// renameio does.
func probe(dir, name string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return text.Errorf("error.directory.none", "folder", dir)
	case err != nil:
		return text.Errorf("error.directory", "cause", i18n.Bare(err))
	case !info.IsDir():
		return text.Errorf("error.directory.file", "file", dir)
	}
	probe, err := os.CreateTemp(dir, "."+name+"-")
	if err != nil {
		return text.Errorf("error.directory", "cause", i18n.Bare(err))
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}
