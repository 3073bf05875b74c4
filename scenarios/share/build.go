package share

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
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
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return "build " + hex.EncodeToString(sum.Sum(nil)[:8]) + ", " + runtime.Version(), nil
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
