// Package child runs programs that end with this one, whatever ends it: a SIGKILL as well, after which nothing is
// deferred. On Windows only what asks them to end does so, and only them: see there.
package child

import "os/exec"

// Run is c.Run of a program that ends with this one, and with it all that it has started.
func Run(c *exec.Cmd) error {
	end, err := Start(c)
	if err != nil {
		return err
	}
	defer end()
	return c.Wait()
}

// A Folder is a temporary folder, which is gone after Close or when this process ends.
type Folder struct {
	Path   string
	remove func()
}

// Close removes the folder.
func (f *Folder) Close() { f.remove() }
