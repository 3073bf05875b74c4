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

// A server that joins at the end of the list takes about its share of the keys, and no key moves
// between the others. With hash modulo n, (n-1) of n keys would move.
func TestRingMovesFewKeys(t *testing.T) {
	const keys = 4000
	for n := 1; n < 6; n++ {
		before, after, moved := newRing(n), newRing(n+1), 0
		for i := range keys {
			key := "key" + strconv.Itoa(i)
			if to := after.place(key); to != before.place(key) {
				moved++
				if to != n {
					t.Fatalf("%s moves from place %d to %d, want to the new server's, %d", key, before.place(key), to, n)
				}
			}
		}
		if share := float64(moved) * float64(n+1) / keys; share < 0.75 || share > 1.25 {
			t.Errorf("the server number %d takes %d of %d keys: %.2f of its share", n+1, moved, keys, share)
		}
	}
}

// The points of a server are those of its place: where the first of three leaves, about five keys in six move.
func TestRingNamesServersByPlace(t *testing.T) {
	const keys = 6000
	two, three, left := newRing(2), newRing(3), 0
	for i := range keys {
		key := "key" + strconv.Itoa(i)
		if two.place(key)+1 != three.place(key) {
			left++
		}
	}
	if left < keys*8/10 || left > keys*87/100 {
		t.Errorf("%d of %d keys move when the first of three servers leaves, want about five in six", left, keys)
	}
}

// The races of the lab rely on where its key is: on the first of two servers, and on a third
// that joins. The article's key moves only when a fifth server joins.
func TestRingPlaces(t *testing.T) {
	for key, want := range map[string][]int{"lock": {0, 0, 2}, "other": {0, 0, 2}, "CLOSE_ORDER_TASK_LOCK": {0, 0, 0, 0, 4}} {
		for i, place := range want {
			if got := newRing(i + 1).place(key); got != place {
				t.Errorf("%s on a list of %d: place %d, want %d", key, i+1, got, place)
			}
		}
	}
}
