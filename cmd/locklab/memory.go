package main

import (
	"fmt"
	"runtime/debug"

	"locklab/reports/text"
)

// leastMemory is the MB within which the program can keep: below, it needs more before a
// search begins.
const leastMemory = 50

// checkMemory checks --max-memory.
func checkMemory(megabytes int64) error {
	if megabytes != 0 && megabytes < leastMemory || megabytes > 1<<30 {
		return text.Errorf("error.memory", "value", fmt.Sprint(megabytes), "least", leastMemory)
	}
	return nil
}

// code is about what the program takes of which the garbage collector knows nothing.
const code = 20 << 20

// keepWithin has the garbage collector keep the program within --max-memory, and returns
// the bytes that are for searches; 0: no limit.
func keepWithin(megabytes int64) (bytes int64, restore func()) {
	if megabytes == 0 {
		return 0, func() {}
	}
	bytes = megabytes << 20
	bytes -= min(code, bytes/2)
	before := debug.SetMemoryLimit(bytes)
	return bytes, func() { debug.SetMemoryLimit(before) }
}
