package algorithms

import (
	"embed"
	"io/fs"
)

// sources are all files of this package but its tests: the patterns together
// leave out just those names that end in _test.go.
//
//go:embed *[^t].go *[^s]t.go *[^e]st.go
var sources embed.FS

// Sources are this package's files as they were compiled, without the tests, for
// those who show a lock's code beside what it did.
func Sources() fs.FS { return sources }
