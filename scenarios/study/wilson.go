package study

import "math"

// z95 is the two-sided 95% quantile of the normal distribution.
const z95 = 1.959963984540054

// Wilson is the 95% score interval for a share of which k of n were seen
// (E. B. Wilson, 1927). Unlike the textbook interval it says something sensible
// about 0 of n: at most hi. With n <= 0 nothing is known: 0, 1. A k outside
// 0..n counts as the nearest of the two.
func Wilson(k, n int) (lo, hi float64) {
	if n <= 0 {
		return 0, 1
	}
	k = min(max(k, 0), n)
	share, size := float64(k)/float64(n), float64(n)
	scale := 1 + z95*z95/size
	middle := (share + z95*z95/(2*size)) / scale
	reach := z95 / scale * math.Sqrt(share*(1-share)/size+z95*z95/(4*size*size))
	lo, hi = max(0, middle-reach), min(1, middle+reach)
	if k == 0 {
		lo = 0 // exactly, whatever rounding made of it
	}
	if k == n {
		hi = 1
	}
	return lo, hi
}
