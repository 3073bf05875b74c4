package race

import (
	"hash/fnv"
	"math/rand/v2"
)

// Stream returns the random stream of a name under a seed. Each use has a name of its
// own, so that one that draws more numbers does not change the others.
func Stream(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
