// Package child runs programs that end with this one, whatever ends it: a SIGKILL as well, after which nothing is
// deferred.
package child

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// script becomes the program, in a process group of its own, which Ctrl-C does not reach. A shell beside it reads from
// a pipe that only this process writes to: when the other end is gone, it kills the group.
// It holds no file of the program open.
const script = `(exec >&- 2>&-%[2]s; read end <&%[1]d; kill -9 -$$) & exec "$@" %[1]d<&-`

// Run is c.Run of a program that ends with this one, and with it all that it has started.
func Run(c *exec.Cmd) error {
	end, err := Start(c)
	if err != nil {
		return err
	}
	defer end()
	return c.Wait()
}

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
