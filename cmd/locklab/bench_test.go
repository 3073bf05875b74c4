package main

import (
	"strings"
	"syscall"
	"testing"
)

// BenchmarkCommands measures what users wait for, in seconds, and in seconds of processors: the commands of make
// run and make charts, a table of theorems, and searches of any number of attempts.
func BenchmarkCommands(b *testing.B) {
	for _, line := range []string{
		"list", "demo", "matrix --locks setnx,setnx-expire,getset,token,watchdog,redlock -o DIR", "matrix --all -o DIR",
		"chart theorems", "explore watchdog --attempts any --budget crash=1",
		"explore getset --attempts any --budget crash=1",
		"explore redlock --attempts any --budget crash=1",
	} {
		b.Run(strings.ReplaceAll(line, " ", "_"), func(b *testing.B) {
			for b.Loop() {
				began := processor()
				code, _, errs := call(b, strings.Fields(strings.ReplaceAll(line, "DIR", b.TempDir()))...)
				if code == exitUsage || code == exitInternal {
					b.Fatal(errs)
				}
				b.ReportMetric(processor()-began, "cpu-s")
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s")
			}
		})
	}
}

// processor returns the seconds that processors have worked for this program.
func processor() float64 {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // which knows this process
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}
