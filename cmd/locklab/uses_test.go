package main

import (
	"encoding/json"
	"strings"
	"testing"

	"locklab/simulator/effort"
)

// The certificate of a search names what clients do with a lock besides, what their library
// sends again, and what was left out.
func TestCertificateOfUses(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	var told strings.Builder
	for _, line := range []string{
		"explore naive-wake --timing lockstep --attempts 2 --budget delay=1@2s --uses wait",
		"explore takeover-del --attempts 1 --budget= --timing lockstep --skew 6s",
		"explore token --attempts 1 --budget crash=1 --tokens prefix --skew 750ms",
		"explore redisson-lease --timing any --attempts 1 --budget lose-reply=1 --uses renew,give-up --client-retries 3 --work 4500ms",
		"explore redisson-lease --timing any --clients 1 --attempts 1 --budget crash=1,return=1 --uses none --tokens thread",
	} {
		var search exploreJSON
		code, out, errs := call(t, strings.Fields(line+" --json")...)
		if err := json.Unmarshal([]byte(out), &search); code != 0 && search.Unjudged == nil || err != nil {
			t.Fatalf("%s: exit status %d, %v: %s", line, code, err, errs)
		}
		for _, item := range search.MayHappen {
			if !strings.Contains(search.Certificate, item) {
				t.Errorf("%s: %q is not in the certificate", line, item)
			}
		}
		told.WriteString("$ locklab " + line + "\nuses " + strings.Join(search.Uses, ", ") + "\n" + search.Certificate + "\n\n")
	}
	golden(t, "explore.uses.txt", []byte(told.String()))
}
