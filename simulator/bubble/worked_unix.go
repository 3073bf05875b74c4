//go:build !windows

package bubble

import (
	"syscall"
	"time"
)

// Worked returns the time that processors have worked for this process: other work on the machine does not count.
func Worked() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // the arguments are right
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
