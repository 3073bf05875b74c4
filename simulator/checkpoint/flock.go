//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package checkpoint

import (
	"errors"
	"os"
	"syscall"
)

// keepsOpen says that a file can be renamed while it is open.
const keepsOpen = true

// lockFile keeps other processes from locking f until it is closed, which the end of the
// process does too. A file system without locks is no error.
func lockFile(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errInUse
	}
	return nil
}
