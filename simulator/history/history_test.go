package history_test

import (
	"encoding/json"
	"testing"

	"locklab/simulator/history"
)

// TestKinds: every kind has a unique name, which JSON uses.
func TestKinds(t *testing.T) {
	seen := map[string]history.EventKind{}
	for k := history.Acquire; k <= history.Fault; k++ {
		name := k.String()
		if other, taken := seen[name]; taken || name == "unknown" || name == "" {
			t.Errorf("kind %d is called %q, as %d is", k, name, other)
		}
		seen[name] = k
		text, err := json.Marshal(k)
		var back history.EventKind
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil || back != k {
			t.Errorf("%v becomes %s and then %v, %v", k, text, back, err)
		}
	}
	for _, k := range []history.EventKind{0, history.Return + 1, 255} {
		if got := k.String(); got != "unknown" {
			t.Errorf("kind %d is called %q", k, got)
		}
	}
}
