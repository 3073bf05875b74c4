package child

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"locklab/simulator/i18n"
)

// Shell makes a command that runs a script of the shell in a process group of its own. The script reads from a pipe
// whose other end is life.
func Shell(script string, args, env []string) (cmd *exec.Cmd, life io.WriteCloser, err error) {
	cmd = exec.Command("sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(os.Environ(), env...)
	life, err = cmd.StdinPipe()
	return cmd, life, err
}

// A Folder is a temporary folder, which is gone after Close or when this process ends.
type Folder struct {
	Path string
	cmd  *exec.Cmd
	life io.Closer
}

// removes makes a folder, and removes it when the pipe is closed. What is being killed may
// still write: it retries for a minute.
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
	f := &Folder{cmd: cmd, life: life}
	path, err := io.ReadAll(stdout)
	if f.Path = strings.TrimSpace(string(path)); err != nil || f.Path == "" {
		f.Close()
		return nil, i18n.Errorf("error.live.folder", "folder", os.TempDir())
	}
	return f, nil
}

// Close removes the folder.
func (f *Folder) Close() {
	f.life.Close()
	f.cmd.Wait() // whatever came of it
}
