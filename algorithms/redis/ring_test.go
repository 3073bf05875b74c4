package redis

import (
	"strconv"
	"testing"
)

// Values that other implementations of MurmurHash64A publish in their tests and
// documentation: hash64A of the module mrmr, and mmhash2, both for Python.
func TestMurmur64A(t *testing.T) {
	for _, c := range []struct {
		text       string
		seed, want uint64
	}{
		{"fransisco", 1, 0x83fdaf4a6d0d3d9},
		{"aaaa", 0x9747b28c, 0x41da53fdabaf04c8},
		{"zhenhao", 0x1234, 16299279845682521441},
		{"", 0, 0},
	} {
		if got := murmur64A([]byte(c.text), c.seed); got != c.want {
			t.Errorf("%q, seed %#x: %#x, want %#x", c.text, c.seed, got, c.want)
		}
	}
}

// ShardedJedisTest of Jedis 2.9.0 expects of two shards that "a" is on the second and "b" on
// the first; and of three, that each has 300 to 400 of the keys 0 to 999.
func TestRingIsThatOfJedis(t *testing.T) {
	two := newRing(2)
	if a, b := two.place("a"), two.place("b"); a != 1 || b != 0 {
		t.Errorf("of two servers, a is on that at place %d and b at %d, want 1 and 0", a, b)
	}
	three, keys := newRing(3), [3]int{}
	for i := range 1000 {
		keys[three.place(strconv.Itoa(i))]++
	}
	for place, n := range keys {
		if n <= 300 || n >= 400 {
			t.Errorf("the server at place %d has %d of 1000 keys, want 300 to 400", place, n)
		}
	}
}

// The races of the lab rely on where its key is: on the first of two servers, and on a third
// that joins. The article's key moves only when a fifth server joins.
func TestRingPlaces(t *testing.T) {
	for key, want := range map[string][]int{"lock": {0, 0, 2}, "other": {0, 0, 2},
		"CLOSE_ORDER_TASK_LOCK": {0, 0, 0, 0, 4}} {
		for i, place := range want {
			if got := newRing(i + 1).place(key); got != place {
				t.Errorf("%s on a list of %d: place %d, want %d", key, i+1, got, place)
			}
		}
	}
}
