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
const code = 20 << 20

// garbage is how much of it, in percent of what lives, the collector lets stand during a search. Most of what lives
// then has no pointers, so that half as much as usual costs nothing that could be measured.
const garbage = 50

// keepWithin has the garbage collector keep the program within --max-memory, and returns
// the bytes that are for searches; 0: no limit.
func keepWithin(megabytes int64) (bytes int64, restore func()) {
	percent := debug.SetGCPercent(garbage)
	if percent != 100 { // GOGC says otherwise
		debug.SetGCPercent(percent)
	}
	if megabytes == 0 {
		return 0, func() { debug.SetGCPercent(percent) }
	}
	bytes = megabytes << 20
	bytes -= min(code, bytes/2)
	before := debug.SetMemoryLimit(bytes)
	return bytes, func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(before)
	}
}
