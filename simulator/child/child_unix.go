//go:build !windows

package child

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"locklab/simulator/i18n"
)

// script becomes the program, in its own process group, out of Ctrl-C's reach. A shell beside it reads a pipe that only
// this process writes: once the other end is gone it kills the group. It holds no file of the program open.
const script = `(exec >&- 2>&-%[2]s; read end <&%[1]d; kill -9 -$$) & exec "$@" %[1]d<&-`

// Start is c.Start of such a program. end ends it, and what it has started, if c.Wait has not returned before.
func Start(c *exec.Cmd) (end func(), err error) {
	if c.Err != nil { // there is no such program
		return nil, c.Err
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		return nil, err
	}
	reads, life, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer reads.Close()
	end = func() { life.Close() }
	const first = 3 // of the files beside stdin, stdout and stderr
	closed := ""
	for i := range c.ExtraFiles {
		closed += fmt.Sprintf(" %d>&-", first+i)
	}
	program := fmt.Sprintf(script, first+len(c.ExtraFiles), closed)
	c.Args = append([]string{sh, "-c", program, "sh", c.Path}, c.Args[1:]...)
	c.Path, c.ExtraFiles, c.SysProcAttr = sh, append(c.ExtraFiles, reads), &syscall.SysProcAttr{Setpgid: true}
	if c.Cancel != nil { // it has a context
		c.Cancel = life.Close
	}
	if err := c.Start(); err != nil {
		end()
		return nil, err
	}
	return end, nil
}

// Shell makes a command that runs a shell script in a process group of its own. The script reads a pipe from life.
func Shell(script string, args, env []string) (cmd *exec.Cmd, life io.WriteCloser, err error) {
	cmd = exec.Command("sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), env...)
	life, err = cmd.StdinPipe()
	return cmd, life, err
}

// Share is the memory of the first n bytes of a file, which a program may map as well.
func Share(f *os.File, n int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

// Unshare ends the use of such memory.
func Unshare(memory []byte) { syscall.Munmap(memory) }

// removes makes a folder, and removes it when the pipe closes. What is killed may still write: it retries for a minute.
const removes = `trap "" PIPE; d=$(mktemp -d "$1/locklab-XXXXXX") || exit; echo "$d"; exec >&-; read end
i=0; until rm -rf "$d" || [ $i = 120 ]; do i=$((i + 1)); sleep 0.5; done 2>/dev/null`

// NewFolder makes a folder.
func NewFolder() (*Folder, error) {
	cmd, life, err := Shell(removes, []string{os.TempDir()}, nil)
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	f := &Folder{remove: func() {
		life.Close()
		cmd.Wait() // whatever came of it
	}}
	path, err := io.ReadAll(stdout)
	if f.Path = strings.TrimSpace(string(path)); err != nil || f.Path == "" {
		f.Close()
		return nil, i18n.Errorf("error.live.folder", "folder", os.TempDir())
	}
	return f, nil
}
