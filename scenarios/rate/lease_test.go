package rate_test

import (
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/scenarios/rate"
)

func TestX(t *testing.T) {
	for _, e := range algorithms.All() {
		start := time.Now()
		l, err := rate.MeasureLease(t.Context(), e)
		if err != nil {
			t.Error(e.ID, err)
			continue
		}
		t.Log(e.ID, l.Spans, time.Since(start).Round(time.Millisecond))
	}
}
