package main

import (
	"runtime"
	"runtime/debug"

	"locklab/reports/report"
	"locklab/simulator"
)

// versionJSON is the JSON of --version.
type versionJSON struct {
	Version int    `json:"version"` // of the output
	Locklab string `json:"locklab"` // as the Go module system names it
	Go      string `json:"go"`
	Trace   int    `json:"trace"` // version of links
}

func printVersion(e *env) error {
	v := versionJSON{Version: schema, Locklab: "(devel)", Go: runtime.Version(), Trace: simulator.TraceVersion}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v.Locklab = info.Main.Version
	}
	if e.json {
		return e.printJSON(v)
	}
	e.Printf("locklab %s, %s, %s\n", v.Locklab, v.Go, report.Version())
	return nil
}
