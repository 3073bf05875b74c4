package redis

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"
	"sync"
)

// A ring is consistent hashing as Jedis has it (redis.clients.util.Sharded of 2.0.0, May 2011; the idea is of Karger
// and others, 1997): each server of a list stands at 160 points of a circle of 64-bit numbers, and the server of a key
// is that of the first point at or after the key's own number. A server that joins a list takes about its share of the
// keys from the others, and each other key stays where it is; with hash modulo n nearly all would move.
//
// As in Jedis for shards without a name and of weight 1, the points of a server are named by its place in the list,
// SHARD-0-NODE-0 to SHARD-0-NODE-159 for the first. So a server that leaves from the middle of a list gives all servers
// behind it new names, and moves their keys too.
type ring []point

type point struct {
	at    int64
	place int // of the server in its list, from 0
}

const pointsPerServer = 160

// rings has the rings that were made, by number of servers: a ring depends on nothing else.
var rings sync.Map

// ringOf returns newRing(servers), made once.
func ringOf(servers int) ring {
	r, ok := rings.Load(servers)
	if !ok {
		r, _ = rings.LoadOrStore(servers, newRing(servers))
	}
	return r.(ring)
}

// newRing returns the ring of a list of so many servers, at least one.
func newRing(servers int) ring {
	r := make(ring, 0, servers*pointsPerServer)
	for i := range servers {
		for n := range pointsPerServer {
			r = append(r, point{murmur("SHARD-" + strconv.Itoa(i) + "-NODE-" + strconv.Itoa(n)), i})
		}
	}
	slices.SortFunc(r, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	return r
}

// place returns the place in the list of the server of a key.
func (r ring) place(key string) int {
	i, _ := slices.BinarySearchFunc(r, murmur(key), func(p point, at int64) int { return cmp.Compare(p.at, at) })
	return r[i%len(r)].place
}

// murmur is Jedis's hash of a key: MurmurHash64A (Appleby, 2008) with Jedis's seed, as a
// signed number, in whose order Jedis's TreeMap has the points.
func murmur(key string) int64 { return int64(murmur64A([]byte(key), 0x1234ABCD)) }

func murmur64A(data []byte, seed uint64) uint64 {
	const m, r = 0xc6a4a7935bd1e995, 47
	h := seed ^ uint64(len(data))*m
	for ; len(data) >= 8; data = data[8:] {
		k := binary.LittleEndian.Uint64(data) * m
		h = (h ^ (k^k>>r)*m) * m
	}
	if len(data) > 0 {
		var last [8]byte
		copy(last[:], data)
		h = (h ^ binary.LittleEndian.Uint64(last[:])) * m
	}
	h = (h ^ h>>r) * m
	return h ^ h>>r
}
