package bubble

import (
	"syscall"
	"time"
)

// Worked returns the time that processors have worked for this process: other work on the machine does not count.
func Worked() time.Duration {
	var began, ended, kernel, user syscall.Filetime
	self, _ := syscall.GetCurrentProcess() // which never fails
	if err := syscall.GetProcessTimes(self, &began, &ended, &kernel, &user); err != nil {
		panic(err) // the arguments are right
	}
	ticks := func(t syscall.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) } // of 100 ns
	return time.Duration(100 * (ticks(kernel) + ticks(user)))
}
