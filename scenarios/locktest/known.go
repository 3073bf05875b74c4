package locktest

import (
	cryptorand "crypto/rand"
	"errors"
	"io"
	"math/rand"
	"testing"
	"testing/cryptotest"

	"locklab/simulator/bubble"
	"locklab/simulator/hypothesis"
	"locklab/simulator/process"
)

// known is what is known so far of code, by which it is executed. Another process gets it with what it is to repeat.
type known struct {
	Timed        bool             // the code gets the time with every observation
	Dated        bool             // at any timing: and the time of day is part of the state
	Ensemble     bool             // the server is a ZooKeeper: the code speaks its protocol
	Turns        bool             // executions take turns: a variable of the code's package keeps what one has made
	Crypto, Math bool             // it draws from the generator: that is seeded whenever the code runs on
	Drawing      int              // each execution draws as that one did; 0: as none but itself
	Drawn        *bubble.Drawn    // what it draws and sends to Redis servers
	Branches     process.Branches // where it goes on in several ways
}

// isDrawn reports whether servers do something else with values as code draws them.
func isDrawn(err error) bool {
	r := (*hypothesis.Refuted)(nil)
	return errors.As(err, &r) && r.Of == hypothesis.Drawn
}

// random makes what code takes for random a function of its history, if it is more than tokens: as long as that does
// not show, each execution draws others. Seeding costs as much as running the code does, so it begins when the code
// has drawn a number: until then the generators of the process stand where their copies stand.
type random struct {
	*known
	last       int    // the execution that began last
	noticed    bool   // Crypto or Math has become true: what ran before was not seeded
	process    uint64 // of which executions draw other values than those of another one; 0: the one that searches
	cryptoCopy io.Reader
	mathCopy   *rand.Rand
}

// newRandom takes the generators of the process for t.
func newRandom(t *testing.T, k *known) *random {
	r := &random{known: k, mathCopy: rand.New(rand.NewSource(1))}
	cryptotest.SetGlobalRandom(t, 0)
	r.cryptoCopy = cryptorand.Reader
	cryptotest.SetGlobalRandom(t, 0)
	seedMath(1) // it counts where the test says //go:debug randseednop=0
	r.look()
	r.noticed = false
	return r
}

func seedMath(n uint64) {
	//lint:ignore SA1019 this is about the generator of the whole process, which libraries use
	rand.Seed(int64(n))
}

// look finds out whether the code has drawn.
func (r *random) look() {
	if !r.Crypto {
		var got, want [16]byte
		io.ReadFull(cryptorand.Reader, got[:])
		io.ReadFull(r.cryptoCopy, want[:])
		if got != want {
			r.Crypto, r.noticed = true, true
		}
	}
	if !r.Math && rand.Int63() != r.mathCopy.Int63() {
		r.Math, r.noticed = true, true
	}
}

// seed is called before the code of a bubble, whose test is t, runs on, in an execution.
func (r *random) seed(t *testing.T, n uint64, execution int) {
	r.look()
	if r.last = execution; r.Drawing > 0 {
		execution = r.Drawing
	} else {
		n += r.process * goldenRatio
	}
	n += uint64(execution) << 40
	if r.Crypto {
		cryptotest.SetGlobalRandom(t, n)
	}
	if r.Math {
		seedMath(n)
	}
}

// goldenRatio is that of 2^64: its multiples are far apart.
const goldenRatio = 0x9e3779b97f4a7c15

// begins reports whether code has turned out to draw since the last call. What it did until then may depend on that.
func (r *random) begins() bool {
	r.look()
	defer func() { r.noticed = false }()
	return r.noticed
}
