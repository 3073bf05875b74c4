package search_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"locklab/algorithms/lock"
	"locklab/reports/certificate"
	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// TestWrittenBeside: what bounds leave open is as it is written beside the lock; what is written for one timing says
// nothing about the other one. Retries are as the faults want them.
func TestWrittenBeside(t *testing.T) {
	const none = "" // bounds that are given
	for _, test := range []struct {
		id            string
		written       lock.Search
		given, settle string
	}{
		{"reentrant", lock.Search{}, none, "any 2 0 reenter"},
		{"reentrant", lock.Search{Once: true, NoUses: true}, none, "any 1 0 none"},
		{"token", lock.Search{Lockstep: true}, none, "lockstep 2 2 none"},
		{"reentrant", lock.Search{Once: true}, "attempts=3", "any 3 0 reenter"},
		{"reentrant", lock.Search{Once: true}, "uses=none", "any 1 0 none"},
		{"reentrant", lock.Search{Once: true, NoUses: true}, "timing=lockstep", "lockstep 2 0 reenter"},
		{"reentrant", lock.Search{}, "timing=lockstep uses=all", "lockstep 2 0 reenter"}, // nobody gives up
		{"token", lock.Search{Once: true}, "retries=1", "lockstep 2 1 none"},
		{"token", lock.Search{}, "ttl=10ms", "lockstep 2 0 none"},            // no room for steps
		{"token", lock.Search{Lockstep: true}, "latency=0s", "any 2 0 none"}, // what is for any timing only
		{"token", lock.Search{}, "timing=lockstep budget=client-clock=1@10s", "lockstep 2 1 none"},
		{"token", lock.Search{}, "timing=lockstep budget=node-clock=1@10s", "lockstep 2 1 none"},
	} {
		entry, b := racetest.Lock(t, test.id), search.OpenBounds()
		entry.Search = test.written
		err := setAll(&b, test.given)
		b = b.Settled(entry)
		got := fmt.Sprint(b.Timing, " ", b.Attempts, " ", b.Retries, " ",
			strings.TrimPrefix(b.Items("uses")[0], "uses="))
		if err = cmp.Or(err, b.Check(entry)); got != test.settle || err != nil {
			t.Errorf("%+v, %s: %s, want %s; %v", test.written, test.given, got, test.settle, err)
		}
	}
}

// twofold is the token lock beside which two searches are written.
func twofold(t *testing.T) lock.Entry {
	entry := racetest.Lock(t, "token")
	entry.Search = lock.Search{Once: true, Beside: &lock.Search{NoFaults: true}}
	return entry
}

// TestSecondSearch: a second search is made where all is left open, and finds what it finds within its own bounds.
func TestSecondSearch(t *testing.T) {
	s, b := completed(t, twofold(t), search.OpenBounds()), search.OpenBounds()
	if s.Bounds.Attempts != 1 || len(s.Beside) != 1 || s.Beside[0].Bounds.Attempts != 2 ||
		s.Beside[0].Bounds.Budget != "" || len(s.Cut) > 0 {
		t.Errorf("%v, beside it %d, cut %d:\n%s", s.Bounds, len(s.Beside), len(s.Cut), certificate.Of(s, "en"))
	}
	b.Timing = search.AnyTiming
	if s = exploring(t, twofold(t), b); s.Bounds.Attempts != 1 || len(s.Beside) > 0 {
		t.Errorf("with a timing that is given: %v", s.Bounds)
	}
}

// TestInterruptedBeside: what is finished when a search is interrupted stays, with what the one
// beside it has found so far.
func TestInterruptedBeside(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	entry, b := twofold(t), search.OpenBounds()
	entry.Search.Beside = &lock.Search{}
	b.Progress = func(r *explore.Result) {
		if r.States > 25_000 { // of two attempts
			cancel()
		}
	}
	s, err := search.Explore(ctx, entry, b)
	if !errors.Is(err, search.ErrBeside) || !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if !s.Complete || s.Bounds.Attempts != 1 || s.Bounds.Timing != search.AnyTiming {
		t.Errorf("%v, complete %t: what was finished is lost", s.Bounds, s.Complete)
	}
	if len(s.Beside) > 0 || len(s.Cut) != 1 || s.Cut[0].Bounds.Attempts != 2 {
		t.Errorf("beside it %d searches are complete, and %d are not", len(s.Beside), len(s.Cut))
	}
	if in := weaker(parsOf(s), parsOf(s.Cut[0])); in != nil {
		t.Errorf("what had been found by then is lost: %v", in)
	}
}

// TestUsesOffered: what a lock does not offer is refused by name, and left out of AllUses. What it offers and a search
// has not stands under what was assumed.
func TestUsesOffered(t *testing.T) {
	for id, want := range map[string]string{
		"token": "give-up", "daemon-10-owned": "renew give-up", "watchdog": "renew reenter give-up",
		"naive-wake":     "wait give-up",
		"redlock-extend": "renew check give-up", "zk-naive": "check wait give-up", "reentrant": "reenter give-up",
	} {
		entry := racetest.Lock(t, id)
		offered, err := search.Offered(entry)
		if got := strings.Join(offered.Names(), " "); err != nil || got != want {
			t.Errorf("%s offers %s, %v, want %s", id, got, err, want)
		}
		b := everyTiming(entry, 2, 1, "")
		b.Uses = client.AllUses
		if settled := b.Settled(entry); settled.Uses != offered || b.Check(entry) != nil {
			t.Errorf("%s: all uses are %v, %v", id, settled.Uses.Names(), b.Check(entry))
		}
		b.Uses = 0
		s := &search.Search{Lock: entry, Bounds: b.Settled(entry), Result: &explore.Result{}}
		if assumed := certificate.Assumed(s, "en"); !strings.Contains(strings.Join(assumed, "\n"),
			strings.Join(offered.Names(), ", ")) {
			t.Errorf("%s: assumed is %q", id, assumed)
		}
		for _, name := range client.UseNames() {
			b.Uses, _ = client.UseOf(name)
			if err := b.Check(entry); (err == nil) != offered.Has(b.Uses) {
				t.Errorf("%s: uses=%s: %v", id, name, err)
			}
		}
	}
}

// TestTokens: tokens that are not unique undo the check of the owner: its release is a bare DEL again.
func TestTokens(t *testing.T) {
	prefixed := byScripts("prefixed", takes, `local v = redis.call('GET', KEYS[1])
		if v and string.sub(v, 1, #ARGV[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`)
	for _, test := range []struct {
		entry    lock.Entry
		tokens   client.Tokens
		wrongDel bool
		symmetry bool
	}{
		{racetest.Lock(t, "token"), client.Unique, false, true},
		{racetest.Lock(t, "token"), client.Thread, true, true},
		{racetest.Lock(t, "token"), client.Prefix, false, false},
		{racetest.Lock(t, "token"), client.Constant, true, true},
		{racetest.Lock(t, "token"), client.TimeOfDay, false, true}, // whoever gets the lock later draws another
		{racetest.Lock(t, "thread-id-lua"), client.Thread, true, true},
		{prefixed, client.Unique, false, true},
		{prefixed, client.Prefix, true, false},
	} {
		b := small(test.entry, 2, 1, "pause=1")
		b.Tokens, b.Retries = test.tokens, 2
		s := completed(t, test.entry, b)
		if par, found := parsOf(s)[verdict.WrongDel]; found != test.wrongDel || found && par != 1 ||
			s.Symmetry != test.symmetry {
			t.Errorf("%s with tokens %s: WRONG-DEL@%d %t, symmetry %t",
				test.entry.ID, test.tokens, par, found, s.Symmetry)
		}
	}
}

// TestTokensThatAreRefused: tokens that make no difference to a lock are refused.
func TestTokensThatAreRefused(t *testing.T) {
	for id, takes := range map[string][]client.Tokens{
		"token": {client.Thread, client.Prefix, client.Constant, client.TimeOfDay}, "setnx": nil, "zk-naive": nil,
		"thread-id":    {client.Thread, client.Constant},
		"zk-protected": {client.Thread, client.Prefix, client.Constant, client.TimeOfDay},
	} {
		entry, b := racetest.Lock(t, id), search.DefaultBounds()
		for b.Tokens = client.Unique; b.Tokens <= client.TimeOfDay; b.Tokens++ {
			if err := b.Check(entry); (err == nil) != (b.Tokens == client.Unique || slices.Contains(takes, b.Tokens)) {
				t.Errorf("%s, tokens=%s: %v", id, b.Tokens, err)
			}
		}
	}
}

// TestReturn: a new process may take the lock for its own that the one before it has left, if it has the same thread
// id: what that one still has under way then strikes it. Alone, it is the only client that could. With a token of its
// own it waits for the end of the lease.
func TestReturn(t *testing.T) {
	for question, want := range map[string]string{
		"redisson-lease":               "",
		"redisson-lease tokens=thread": "STALE-WRITE@2 WRONG-DEL@2 LIE@2",
		"token":                        "",
		"token tokens=thread":          "", // no lock for its own owner
		"thread-id-lua tokens=thread":  "",
		"setnx":                        "DEADLOCK@1",
	} {
		id, bounds, _ := strings.Cut(question, " ")
		entry := racetest.Lock(t, id)
		s := completed(t, entry, within(t, entry, "clients=1 timing=any budget=crash=1+return=1 "+bounds))
		replays(t, s)
		if got := strings.Join(s.AllPars(), " "); got != want || s.Untriggered() != nil {
			t.Errorf("%s: found %q, want %q; not injected %v", question, got, want, s.Untriggered())
		}
	}
}

// bounds are values of each bound: those that are read as they are written, those that are not read, and those that no
// search has.
var bounds = map[string]struct{ read, refused, outside string }{
	"clients":        {"1 6", "two any 1.5", "0 7"},
	"attempts":       {"1 9 auto any", "some -1 -2 0", "10"},
	"timing":         {"any lockstep auto", "anytime -", ""},
	"retries":        {"0 5 auto", "-1 x any", "6"},
	"nodes":          {"0 5", "x", "-1 99"},
	"ttl":            {"2ms 9s 8760h0m0s", "soon 9", "0s 1ms 9000h"},
	"fenced":         {"true false", "yes", ""},
	"work":           {"0s 3.6s", "x", "-1s 9000h"},
	"latency":        {"auto 0s 750ms", "-1s soon 5", "9000h"},
	"lateness":       {"auto 0s 750ms", "-1s soon", "9000h"},
	"uses":           {"none all auto renew check renew,check,give-up", "renw renew, none,renew", ""},
	"client-retries": {"0 5", "x", "-1 6"},
	"skew":           {"0s 3s", "x", "-1s"},
	"tokens":         {"unique thread prefix constant clock", "uniqe", ""},
	"slow":           {"0s 5s", "5", "-1s 9000h"},
	"noisy":          {"0 5", "x", "-1 10001"},
	"idle":           {"true false", "2", ""},
	"late":           {"true false", "2", ""},
	"epoch":          {"1780000000000", "x", ""},
	"budget": {"crash=1 crash=1,pause=2@5s crash=any,pause=any@2s",
		"crash=any,pause=1 crash=1,pause=any@2s", ""},
	"max-states": {"0 7", "many", "-1"},
}

// TestTable: each bound is written as it was read, by itself and in a link; what it cannot be is refused with what to
// write, by its own error or by Check; and none of the words of one stands for another value.
func TestTable(t *testing.T) {
	token := racetest.Lock(t, "token")
	for _, one := range search.Table {
		values, ok := bounds[one.Name]
		if !ok {
			t.Errorf("%s: write the line\n\t%q: {\"1 2\", \"x\", \"-1\"},\nin bounds, "+
				"with values that are read, that are not, and that no search has", one.Name, one.Name)
		}
		for value := range strings.FieldsSeq(values.read) {
			b := search.DefaultBounds()
			if err := b.Set(one.Name, value); err != nil || one.Format(b) != value {
				t.Errorf("%s=%s is read as %s, %v", one.Name, value, one.Format(b), err)
			}
			linked, err := search.ParseBounds(b.String())
			if in := one.In != search.InCommands; err != nil || in && one.Format(linked) != value ||
				linked.String() != b.String() {
				t.Errorf("%s is read as %s, %v", b, linked, err)
			}
		}
		for value := range strings.FieldsSeq(values.refused) {
			b := search.DefaultBounds()
			err := b.Set(one.Name, value)
			if err == nil || !strings.Contains(text.SayError("en", err), one.Name+"="+value) {
				t.Errorf("%s=%s is read: %v", one.Name, value, err)
			} else if b.String() != search.DefaultBounds().String() && one.Name != "budget" {
				t.Errorf("%s=%s is refused, and changes %s", one.Name, value, b)
			}
		}
		for value := range strings.FieldsSeq(values.outside) {
			b := search.DefaultBounds()
			err := b.Set(one.Name, value)
			if err == nil {
				err = b.Check(token)
			}
			if err == nil || !strings.Contains(text.SayError("en", err), one.Name+"=") ||
				!strings.Contains(text.SayError("en", err), "give ") {
				t.Errorf("%s=%s: %v", one.Name, value, err)
			}
		}
		if named := slices.Contains(search.Names(), one.Name); named == (one.In == search.InLinks) {
			t.Errorf("%s has no place", one.Name)
		}
	}
	none, plain := search.DefaultBounds(), search.DefaultBounds()
	for value, b := range map[string]*search.Bounds{"none": &none, "": &plain} {
		err := b.Set("budget", value)
		if err != nil || b.Budget != "" || b.Check(token) != nil || b.Faults() != "none" {
			t.Errorf("budget=%s is read as %s, %v", value, b, err)
		}
	}
}

// TestBadBounds: bounds that a world cannot carry are refused, each with a sentence of its own.
func TestBadBounds(t *testing.T) {
	for question, want := range map[string]string{
		"token ttl=876000h":         "ttl=876000h",
		"token ttl=11ms timing=any": "ttl=11ms", "token ttl=11ms latency=0s": "ttl=11ms",
		"token budget=crash=1+node-clock=2@490000h": "490000h", "token budget=pause=255@8000h": "pause=255",
		"token retries=1 timing=any": "retries=1", "token retries=1 latency=0s": "retries=1",
		"token asks=2":                "no such bound",
		"token timing=any latency=1s": "latency=1s", "token timing=any lateness=10s": "lateness=10s",
		"token timing=lockstep lateness=0s": "lateness=0s", "token skew=1s": "skew=1s", "token skew=1ns": "skew=1ns",
		"token skew=45750ms": "skew=45.75s", "token skew=45s": "", "token noisy=3 timing=any": "noisy=3",
		"token noisy=3":                         "noisy=3",
		"token slow=1s attempts=any timing=any": "slow", "token slow=1s timing=lockstep": "",
		"token slow=1s timing=any": "", "token noisy=3 timing=lockstep": "",
		// What attempts leave in sessions may pile up where faults are never used up.
		"zk-naive attempts=any budget=crash=any": "", "zk-naive attempts=any budget=expire-session=any": "",
		"zk-naive attempts=any budget=lose-reply=1":        "",
		"zk-naive attempts=any budget=lose-reply=any":      "lose-reply=any",
		"zk-naive attempts=any budget=crash=any+pause=any": "crash=any,pause=any",
		"redlock attempts=any":                             "servers",
		"db-row attempts=any tokens=constant":              "--tokens constant",
	} {
		id, bounds, _ := strings.Cut(question, " ")
		entry, b := racetest.Lock(t, id), search.OpenBounds()
		err := setAll(&b, bounds)
		if err == nil {
			err = search.CheckSearch(entry, b)
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(text.SayError("en", err), want) {
			t.Errorf("%s: %v, want %q", question, err, want)
		}
	}
}
