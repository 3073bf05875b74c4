package algorithms

import (
	"embed"
	"io/fs"
)

// sources holds the files of the packages lock, redis and zookeeper. The patterns
// leave out the names that end in "st.go": those of the tests.
//
//go:embed database/*.go lock/*[^t].go redis/*[^t].go redis/*[^s]t.go zookeeper/*[^t].go
var sources embed.FS

// Sources returns the files of the packages lock, redis and zookeeper as they were compiled, without the tests. Paths
// are relative to this package: redis/token.go. Reports show the code of a lock next to its run.
func Sources() fs.FS { return sources }
