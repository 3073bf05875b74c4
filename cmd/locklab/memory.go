package main

import (
	"fmt"
	"runtime/debug"

	"locklab/reports/text"
)

// checkMemory checks --max-memory.
func (a *app) checkMemory(megabytes int64) error {
	if megabytes < 0 || megabytes > 1<<30 {
		return text.Errorf("error.memory", "value", fmt.Sprint(megabytes))
	}
	return nil
}

// keepWithin has the garbage collector keep the program within --max-memory, and returns
// that in bytes, for searches; 0: no limit. The program's code, of which the collector
// knows nothing, gets a sixteenth.
func keepWithin(megabytes int64) (bytes int64, restore func()) {
	if megabytes == 0 {
		return 0, func() {}
	}
	bytes = megabytes << 20
	before := debug.SetMemoryLimit(bytes - bytes/16)
	return bytes, func() { debug.SetMemoryLimit(before) }
}
