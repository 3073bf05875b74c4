package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"locklab/simulator/effort"
)

// What a search prints is the same in every call; with --time it also says how long it took.
func TestExploreTime(t *testing.T) {
	args := strings.Fields("explore setnx --timing lockstep --attempts 1 --budget crash=1")
	_, once, _ := call(t, args...)
	_, timed, _ := call(t, append(args, "--time")...)
	speed := regexp.MustCompile(`(?m)^\d+\.\d\d s, .* million transitions/s, \d+ bytes per state\n`)
	if speed.MatchString(once) || !speed.MatchString(timed) || speed.ReplaceAllString(timed, "") != once {
		t.Errorf("without --time:\n%s\nwith it:\n%s", once, timed)
	}
	if _, out, _ := call(t, append(args, "--json", "--time")...); !strings.Contains(out, `"seconds": `) {
		t.Errorf("as JSON: %s", out)
	}
}

// The certificate of a search names what clients do with a lock besides, what their library
// sends again, and what was left out.
func TestCertificateOfUses(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
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
	golden(t, "explore.uses.txt", told.String())
}
