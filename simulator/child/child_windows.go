package child

import (
	"io"
	"os"
	"os/exec"
	"runtime"

	"locklab/simulator/i18n"
)

// Start is c.Start. end kills the program alone, not what it has started; both outlive this process if that is killed.
func Start(c *exec.Cmd) (end func(), err error) {
	if err := c.Start(); err != nil {
		return nil, err
	}
	return func() { c.Process.Kill() }, nil
}

// Shell fails: servers are started by scripts of a shell.
func Shell(string, []string, []string) (*exec.Cmd, io.WriteCloser, error) {
	return nil, nil, i18n.Errorf("error.live.linux", "system", runtime.GOOS)
}

// Share fails: only on Linux does a server read memory of ours.
func Share(*os.File, int) ([]byte, error) {
	return nil, i18n.Errorf("error.live.linux", "system", runtime.GOOS)
}

// Unshare does nothing.
func Unshare([]byte) {}

// NewFolder makes a folder, which is left if this process is killed.
func NewFolder() (*Folder, error) {
	path, err := os.MkdirTemp("", "locklab-")
	if err != nil {
		return nil, i18n.Errorf("error.live.folder", "folder", os.TempDir())
	}
	return &Folder{path, func() { os.RemoveAll(path) }}, nil
}
