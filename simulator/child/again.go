package child

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// variable names the folder of the question that a process is there to answer.
const variable = "LOCKLAB_HISTORY"

// question and answer are its files. Gob keeps texts that are no UTF-8, as JSON does not.
const question, answer = "question", "answer"

// ErrSlow is the error of a process that takes more processor time than it may.
var ErrSlow = errors.New("child: it takes more processor time than it may")

// Again runs the program of this test once more, from TestMain on, in a process of its own and for one test by its
// -test.run, which reads what is asked by Asked and ends it by Answer. said is what the process has printed. With more
// than limit of processor time the error is ErrSlow.
func Again(ctx context.Context, pattern string, asked, answered any, limit time.Duration) (said string, err error) {
	folder, err := os.MkdirTemp("", "locktest")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	program, failed := os.Executable()
	if err := errors.Join(failed, writeGob(filepath.Join(folder, question), asked)); err != nil {
		return "", err
	}
	patient, cancel := context.WithTimeout(ctx, 5*time.Minute) // one that waits for something does not work
	defer cancel()
	c := exec.CommandContext(patient, "sh", "-c", `ulimit -t "$1"; shift; exec "$@"`, "sh",
		fmt.Sprint(int(limit.Seconds())), program, "-test.run="+pattern, "-test.count=1")
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") && !strings.HasPrefix(f.Name, "locklab.") {
			c.Args = append(c.Args, "-"+f.Name+"="+f.Value.String())
		}
	})
	c.Env = append(os.Environ(), variable+"="+folder)
	out := &bytes.Buffer{}
	c.Stdout, c.Stderr = out, out
	err = Run(c)
	if p := c.ProcessState; p != nil && p.ExitCode() < 0 && p.UserTime()+p.SystemTime() > limit/2 {
		return out.String(), ErrSlow // it was killed for it: the kernel counts in ticks, on a busy machine too many
	}
	if readGob(filepath.Join(folder, answer), answered) == nil {
		return out.String(), nil
	}
	return out.String(), fmt.Errorf("%v", err)
}

// IsAgain reports whether this process is one that Again has started.
func IsAgain() bool { return os.Getenv(variable) != "" }

// Asked reads what such a process is asked.
func Asked(asked any) error { return readGob(filepath.Join(os.Getenv(variable), question), asked) }

// Answer writes what it answers.
func Answer(answered any) error {
	return writeGob(filepath.Join(os.Getenv(variable), answer), answered)
}

func writeGob(file string, v any) error {
	content := &bytes.Buffer{}
	err := gob.NewEncoder(content).Encode(v)
	return errors.Join(err, os.WriteFile(file, content.Bytes(), 0o600))
}

func readGob(file string, v any) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return gob.NewDecoder(bytes.NewReader(content)).Decode(v)
}
