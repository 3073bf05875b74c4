// The test of a lock, as a module of its own: put your lock in place of the one in mylock_test.go, and go test.
module example.com/mylock

go 1.26.0

// math/rand can be seeded: client libraries draw how long they wait.
godebug randseednop=0

require (
	github.com/redis/go-redis/v9 v9.22.0
	locklab v0.0.0
)

require (
	github.com/agnivade/levenshtein v1.2.2 // indirect
	github.com/alicebob/miniredis/v2 v2.40.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/clipperhouse/uax29/v2 v2.2.0 // indirect
	github.com/go-zookeeper/zk v1.0.4 // indirect
	github.com/jonboulle/clockwork v0.5.0 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/mattn/go-runewidth v0.0.31 // indirect
	github.com/yuin/gopher-lua v1.1.1 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)

// Until the lab has a public path: name the folder of your clone here.
replace locklab => ../../..
