package algorithms

import (
	"embed"
	"io/fs"
)

// sources are the files of the packages lock, redis and zookeeper. The patterns
// leave out the names that end in "st.go", which are those of the tests.
//
//go:embed lock/*[^t].go redis/*[^t].go redis/*[^s]t.go zookeeper/*[^t].go
var sources embed.FS

// Sources returns the files of the packages lock, redis and zookeeper as they were
// compiled, without the tests. Reports show the code of a lock beside its run.
func Sources() fs.FS { return sources }
