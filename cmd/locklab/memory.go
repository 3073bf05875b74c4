package main

import (
	"runtime/debug"

	"locklab/reports/text"
)

// leastMemory is the MB within which the program can keep: below, it needs more before a
// search begins.
const leastMemory = 50

// addMemory declares --max-memory, in MB; 0: no limit.
func addMemory(f *flags, megabytes *int64) {
	f.add("max-memory", megabytes)
	f.check("max-memory", func() error {
		if *megabytes != 0 && *megabytes < leastMemory || *megabytes > 1<<30 {
			return text.Errorf("error.memory", "value", *megabytes, "least", leastMemory)
		}
		return nil
	})
}

// code is about what the program takes of which the garbage collector knows nothing.
const code = 24 << 20

// garbage is the GOGC of a search: half of the usual one, since most of what a search keeps has no pointers and takes
// the collector no time.
const garbage = 50

// keepWithin has the garbage collector keep the program within --max-memory, and returns
// the bytes that are for searches; 0: no limit. A GOGC of the environment stays.
func keepWithin(megabytes int64) (bytes int64, restore func()) {
	percent, limit := debug.SetGCPercent(garbage), debug.SetMemoryLimit(-1)
	if percent != 100 {
		debug.SetGCPercent(percent)
	}
	if megabytes > 0 {
		bytes = megabytes << 20
		bytes -= min(code, bytes/2)
		debug.SetMemoryLimit(bytes)
	}
	return bytes, func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
