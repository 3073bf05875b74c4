package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"locklab/reports/text"
	"locklab/simulator/i18n"
)

// The largest files that are read, in bytes. No run and no contract comes near.
const (
	maxTraceFile = 64 << 20
	maxContract  = 4 << 20
)

// readFile returns the content of a regular file of at most limit bytes.
func readFile(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, unreadable(name, err)
	case !info.Mode().IsRegular():
		return nil, text.Errorf("error.regular", "file", name)
	case info.Size() > limit:
		return nil, text.Errorf("error.large", "file", name, "most", limit>>20)
	}
	content, err := os.ReadFile(name)
	return content, unreadable(name, err)
}

// unreadable returns the error that a file cannot be read; nil: it can.
func unreadable(name string, err error) error {
	if err == nil {
		return nil
	}
	return text.Errorf("error.read", "file", name, "cause", i18n.Bare(err))
}

// outputs are the files that a command writes, by the names that they were given. All are opened before its work, so
// that nothing is computed for a file that cannot be written.
type outputs struct {
	files  map[string]*outFile
	folder string // that was made for them; "": it was there, or there is none
}

// An outFile is written when the work is done. Until then what it had stays, and a temporary file is beside it.
type outFile struct {
	*os.File        // the temporary file, or the file itself, to which is added
	to       string // what the temporary file becomes; "": this is the file itself
	written  bool
}

// replace opens files whose content is to be replaced, all at once. flag names them in errors; an empty name is no
// file. What is neither a regular file nor absent is refused.
func (o *outputs) replace(flag string, names ...string) error {
	for _, name := range names {
		if err := o.open(flag, name, false); err != nil {
			return err
		}
	}
	return nil
}

// open opens a file to be replaced, or one to whose end something is to be added.
func (o *outputs) open(flag, name string, adds bool) (err error) {
	if name == "" || o.files[name] != nil {
		return nil
	}
	f := &outFile{}
	if err := f.open(name, adds); err != nil {
		return text.Errorf("error.out", "flag", flag, "file", name, "cause", err)
	}
	if o.files == nil {
		o.files = map[string]*outFile{}
	}
	o.files[name] = f
	return nil
}

func (f *outFile) open(name string, adds bool) error {
	to := name
	if link, err := filepath.EvalSymlinks(name); err == nil {
		to = link // which stays
	}
	info, err := os.Lstat(to)
	if err == nil && !info.Mode().IsRegular() {
		return text.Errorf("error.directory", "cause", text.Errorf("error.regular.not"))
	}
	if err != nil {
		if err := isFolder(filepath.Dir(to)); err != nil {
			return err
		}
	}
	if adds {
		f.File, err = os.OpenFile(to, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	} else {
		f.to = to
		f.File, err = os.CreateTemp(filepath.Dir(to), "."+filepath.Base(to)+"-")
	}
	if err != nil {
		return text.Errorf("error.directory", "cause", i18n.Bare(err))
	}
	return nil
}

// isFolder returns why there is no folder of a name.
func isFolder(dir string) error {
	switch info, err := os.Stat(dir); {
	case os.IsNotExist(err):
		return text.Errorf("error.directory.none", "folder", dir)
	case err != nil:
		return text.Errorf("error.directory", "cause", i18n.Bare(err))
	case !info.IsDir():
		return text.Errorf("error.directory.file", "file", dir)
	}
	return nil
}

// makeFolder makes the folder of -o, if its parent is there and it is not.
func (o *outputs) makeFolder(dir string) error {
	err := isFolder(filepath.Dir(filepath.Clean(dir)))
	if _, absent := os.Stat(dir); os.IsNotExist(absent) && err == nil {
		if err = os.Mkdir(dir, 0o755); err != nil {
			err = text.Errorf("error.directory", "cause", i18n.Bare(err))
		} else {
			o.folder = dir
		}
	}
	if err = cmp.Or(err, isFolder(dir)); err != nil {
		return text.Errorf("error.out", "flag", "-o", "file", dir, "cause", err)
	}
	probe := filepath.Join(dir, "report.html")
	err = o.replace("-o", probe)
	o.drop(probe)
	return err
}

// drop forgets a file. What it had stays.
func (o *outputs) drop(name string) {
	f := o.files[name]
	if f == nil || f.written {
		return
	}
	f.Close()
	if f.to != "" {
		os.Remove(f.Name())
	}
	delete(o.files, name)
}

// dropAll forgets the files that were not written, and removes a folder that was made for nothing.
func (o *outputs) dropAll() {
	for name := range o.files {
		o.drop(name)
	}
	if o.folder != "" {
		os.Remove(o.folder) // fails where there are files
	}
}

// write writes a file that was opened before. Without a name it does nothing, and once it is written neither.
func (e *env) write(name string, fill func(w io.Writer) error) error {
	f := e.outputs.files[name]
	if name == "" || f.written {
		return nil
	}
	var b bytes.Buffer
	if err := fill(&b); err != nil {
		return internal(fmt.Errorf("%s: %w", name, err))
	}
	if err := f.put(b.Bytes()); err != nil {
		return internal(text.Errorf("error.write", "file", name, "cause", i18n.Bare(err)))
	}
	e.inform("command.wrote", "file", name)
	return nil
}

// copyOf fills a file with what was printed before.
func copyOf(b *bytes.Buffer) func(w io.Writer) error {
	return func(w io.Writer) error {
		_, err := b.WriteTo(w)
		return err
	}
}

// put writes all of a file. A file that was there keeps its mode.
func (f *outFile) put(content []byte) error {
	mode := os.FileMode(0o644)
	if info, err := os.Stat(f.to); err == nil {
		mode = info.Mode()
	}
	_, err := f.Write(content)
	err = cmp.Or(err, f.Sync())
	if f.to != "" {
		err = cmp.Or(err, f.Chmod(mode))
	}
	if err = cmp.Or(err, f.Close()); err != nil {
		return err
	}
	if f.to != "" {
		err = os.Rename(f.Name(), f.to)
	}
	f.written = err == nil
	return err
}
