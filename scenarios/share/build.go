package share

import (
	"runtime"
	"runtime/debug"
	"sync"

	"locklab/simulator/checkpoint"
)

// Build identifies this program: by the revision of its source where it was built from
// nothing else, and otherwise by its bytes. Results of the same build are the same
// everywhere.
var Build = sync.OnceValues(func() (string, error) {
	if info, ok := debug.ReadBuildInfo(); ok {
		if revision := clean(info); revision != "" {
			return "revision " + revision + ", " + runtime.Version(), nil
		}
	}
	return checkpoint.Build()
})

// clean is the revision that a program was built from without changes; "": it is unknown,
// or there were some.
func clean(info *debug.BuildInfo) string {
	revision, modified := "", "true"
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			modified = s.Value
		}
	}
	if modified != "false" {
		return ""
	}
	return revision
}
