package study_test

import (
	"strings"
	"testing"

	"locklab/reports/certificate"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/study"
	"locklab/simulator/client"
	"locklab/simulator/explore"
)

// Every use of the bounds stands under what may happen, and every other that the lock
// offers under what was assumed; so do retries of the library.
func TestCertificateNamesUses(t *testing.T) {
	entry := racetest.Lock(t, "redisson-lease")
	for _, u := range []client.Uses{0, client.Renew, client.Renew | client.Reenter | client.GiveUp} {
		s := &study.Search{Strategy: entry, Bounds: study.Bounds{Scope: explore.Scope{Clients: 2, Attempts: 1, TTL: study.DefaultBounds().TTL, Uses: u, ClientRetries: 3}, Timing: study.AnyTiming}.Settled(entry), Result: &explore.Result{}}
		may, assumed := strings.Join(certificate.MayHappen(s, "en"), "\n"), strings.Join(certificate.Assumed(s, "en"), "\n")
		for use, phrase := range map[client.Uses]string{client.Renew: "renews its lease", client.Reenter: "acquires the lock once more", client.GiveUp: "deadline of its own"} {
			if got := strings.Contains(may, phrase); got != u.Has(use) {
				t.Errorf("uses %v: may happen, %s: %t\n%s", u.Names(), phrase, got, may)
			}
			out, _, _ := strings.Cut(assumed[strings.Index(assumed, "a client acquires"):], "\n")
			if got := strings.Contains(out, strings.Join(use.Names(), "")); got == u.Has(use) {
				t.Errorf("uses %v: assumed, without %v: %t\n%s", u.Names(), use.Names(), got, out)
			}
		}
		if !strings.Contains(may, "up to 3 times") || strings.Contains(assumed, "does not send again") {
			t.Errorf("the library's retries are not named:\n%s\n%s", may, assumed)
		}
	}
	s := &study.Search{Strategy: entry, Bounds: study.DefaultBounds().Settled(entry), Result: &explore.Result{}}
	if assumed := strings.Join(certificate.Assumed(s, "en"), "\n"); !strings.Contains(assumed, "does not send again") {
		t.Errorf("that the library does not send again is not named:\n%s", assumed)
	}
}

// What a lock does not offer is refused by name, and left out of AllUses.
func TestUsesOffered(t *testing.T) {
	for id, want := range map[string]string{
		"token": "give-up", "daemon-10-owned": "renew give-up", "watchdog": "renew reenter give-up", "naive-wake": "wait give-up",
		"redlock-extend": "renew check give-up", "zk-naive": "check wait give-up", "reentrant": "reenter give-up",
	} {
		entry := racetest.Lock(t, id)
		offered, err := study.Offered(entry)
		if got := strings.Join(offered.Names(), " "); err != nil || got != want {
			t.Errorf("%s offers %s, %v, want %s", id, got, err, want)
		}
		b := everyTiming(entry, 2, 1, "")
		b.Uses = client.AllUses
		if settled := b.Settled(entry); settled.Uses != offered || b.Check(entry) != nil {
			t.Errorf("%s: all uses are %v, %v", id, settled.Uses.Names(), b.Check(entry))
		}
		for _, name := range client.UseNames() {
			b.Uses, _ = client.UseOf(name)
			if err := b.Check(entry); (err == nil) != offered.Has(b.Uses) {
				t.Errorf("%s: uses=%s: %v", id, name, err)
			}
		}
	}
}

// Bounds are read as they are written, with whatever uses.
func TestUsesAreRead(t *testing.T) {
	for u := range client.AllUses + 1 {
		b := study.DefaultBounds()
		b.Uses, b.ClientRetries, b.Work = u, int(u)%4, study.DefaultBounds().TTL
		if got, err := study.ParseBounds(b.String()); err != nil || got.String() != b.String() || got.Uses != u {
			t.Errorf("%s is read as %s, %v", b, got, err)
		}
	}
	for _, wrong := range []string{"renw", "", "renew,", "none,renew"} {
		if _, err := study.ParseUses(wrong); err == nil {
			t.Errorf("uses=%s is read", wrong)
		}
	}
}
