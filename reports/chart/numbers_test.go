package chart

import (
	"math"
	"testing"
	"time"

	"locklab/scenarios/cost"
)

// Numbers have three digits that count, and so have durations that were measured. Lengths that were chosen are in
// milliseconds.
func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 0.6667: "0.667", 66.67: "66.7", 999: "999", 1234: "1,234",
		31536000: "31,536,000", 1e-6: "1.0e-06", math.Inf(1): "∞"} {
		if got := number(x); got != want {
			t.Errorf("%g is %q, want %q", x, got, want)
		}
	}
	for d, want := range map[time.Duration][2]string{
		0: {"0 s", "0 s"}, 461_234: {"461.234 µs", "461 µs"}, 12_456_000: {"12.456 ms", "12.5 ms"},
		999_960_000: {"999.96 ms", "1 s"}, 8_610_555_000: {"8.611 s", "8.61 s"}, time.Minute: {"1 min", "1 min"},
		2 * time.Hour: {"120 min", "120 min"}, -30 * ms: {"-30 ms", "-30 ms"}, 95 * time.Second: {"95 s", "95 s"},
		cost.Forever: {"∞", "∞"}} {
		if got := [2]string{length(d), nanoseconds(float64(d))}; got != want {
			t.Errorf("%d is %q, want %q", d, got, want)
		}
	}
}
