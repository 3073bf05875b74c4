package main

import (
	"cmp"
	"runtime"
	"runtime/debug"

	"locklab/reports/report"
	"locklab/simulator"
)

// versionJSON is the JSON of --version.
type versionJSON struct {
	Version int    `json:"version"` // of the output
	Locklab string `json:"locklab"` // as the Go module system names it
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
	Trace   int    `json:"trace"` // version of links
}

func printVersion(e *env) {
	v := versionJSON{Version: schema, Locklab: "(devel)", Go: runtime.Version(), Trace: simulator.TraceVersion}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.Locklab = cmp.Or(info.Main.Version, v.Locklab)
		v.Commit = commitOf(info.Settings)
	}
	e.show(v, func() {
		built := v.Locklab
		if v.Commit != "" {
			built += ", " + e.Say("version.commit", "commit", v.Commit)
		}
		e.Printf("locklab %s, %s, %s\n", built, v.Go, report.Version())
	})
}

// modulePath is the path of the lab's module, which go.mod alone knows: see make rename.
func modulePath() string {
	info, _ := debug.ReadBuildInfo() // a program that was built from a module has it
	return info.Main.Path
}

// commitOf returns the first digits of the commit that the program was built from, with "+dirty" if files
// had changed since. "": it was built without (go build -buildvcs=false, go run, a test).
func commitOf(settings []debug.BuildSetting) string {
	of := map[string]string{}
	for _, s := range settings {
		of[s.Key] = s.Value
	}
	commit := of["vcs.revision"]
	commit = commit[:min(len(commit), 12)]
	if commit != "" && of["vcs.modified"] == "true" {
		commit += "+dirty"
	}
	return commit
}
