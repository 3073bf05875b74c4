package chart

import (
	"math"
	"testing"
	"time"

	"locklab/scenarios/cost"
)

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 0.6667: "0.667", 66.67: "66.7", 1234: "1,234", 31536000: "31,536,000", 1e-6: "1.0e-06", math.Inf(1): "∞"} {
		if got := number(x); got != want {
			t.Errorf("%g is %q, want %q", x, got, want)
		}
	}
	for d, want := range map[time.Duration]string{90 * time.Second: "1m30s", time.Minute: "1m", 2 * time.Hour: "2h", 9500 * time.Millisecond: "9.5s", cost.Forever: "∞"} {
		if got := length(d); got != want {
			t.Errorf("%d is %q, want %q", d, got, want)
		}
	}
}

// TestNanoseconds: a duration has three digits that count.
func TestNanoseconds(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", 461_234: "461µs", 12_456_000: "12.5ms", 999_960_000: "1s",
		8_610_555_000: "8.61s", 95 * time.Second: "1m35s", cost.Forever: "∞"} {
		if got := nanoseconds(float64(d)); got != want {
			t.Errorf("%d is %q, want %q", d, got, want)
		}
	}
}
