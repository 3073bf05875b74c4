package study_test

import (
	"slices"
	"testing"

	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

const (
	takes    = ` return redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) and 1 or 0`
	forces   = ` redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2]) return 1 end`
	givesOwn = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`
)

// TestScriptsAreRead: a script that forces its way in at a token, a counter, or a time to live that no search comes to is no lock. Whatever was
// tried, none of that is proved, and a search says on what condition it claims something. What compares a token, passes a counter on, or
// computes with a time is proved.
func TestScriptsAreRead(t *testing.T) {
	effort.OnlyPushed(t, "it proves for seconds; TestInsight reads the scripts")
	t.Parallel()
	for _, one := range []struct{ name, acquire, says string }{
		{"token-suffix", `if string.sub(ARGV[1], -2) == "17" then` + forces + takes, "looks"},
		{"holder-part", `local h = redis.call("GET", KEYS[1]) if h and string.sub(h, -2) == "17" then` + forces + takes, "looks"},
		{"every-4096th", `if redis.call("INCR", "n") % 4096 == 0 then` + forces + takes, "counts"},
	} {
		if one.says == "counts" && !effort.Exhaustive() {
			continue // as many views as may be, which takes half a minute
		}
		e := byScripts(one.name, one.acquire, givesOwn)
		if p := racetest.Must(study.Prove(t.Context(), e, study.ProofBounds(), false))(t); p.Proved() != nil || p.Refused == nil {
			t.Errorf("%s: proved %v", one.name, p.Proved())
		}
		if s := explored(t, e, small(e, 2, 1, "")); slices.Contains(s.If(), "looks") != (one.says == "looks") {
			t.Errorf("%s: a search claims %v if %v", one.name, s.Looked(), s.If())
		}
	}
	band := byScripts("pttl-band", `local left = redis.call("PTTL", KEYS[1]) if left > 8300 and left < 8900 then`+forces+takes, givesOwn)
	if p := racetest.Must(study.Prove(t.Context(), band, study.ProofBounds(), false))(t); p.Search.Scope() != study.ScopeInstants {
		t.Errorf("pttl-band: proved %v: %s", p.Proved(), p.Search.Scope())
	}
	right := byScripts("right", `if redis.call("GET", KEYS[1]) == ARGV[1] then return 0 end redis.call("INCR", "n") local ms = ARGV[2] / 1000`+takes, givesOwn)
	if p := racetest.Must(study.Prove(t.Context(), right, study.ProofBounds(), false))(t); !slices.Contains(p.Proved(), verdict.Overlap) {
		t.Errorf("right: proved %v, refused: %v", p.Proved(), p.Refused)
	}
}
