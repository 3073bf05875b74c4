package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"locklab/simulator/effort"
)

// A search of every timing of a lock that reads a clock begins anew: with clients that wait for
// so long at most, if it looks at the time of day; if it only measures, with what it has read
// kept apart. So does its file, which then goes on as any other.
func TestCheckpointOfClockReader(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for _, lock := range []string{"getset --budget pause=0", "redlock --nodes 3 --budget pause=1"} {
		file := filepath.Join(t.TempDir(), "clock.search")
		explore := func(states, says string, args ...string) string {
			t.Helper()
			code, out, errs := call(t, append(strings.Fields("explore "+lock+" --uses none --timing any --attempts 1 --max-states "+states), args...)...)
			if code != exitNoAnswer || !strings.Contains(errs, says) {
				t.Fatalf("%s, %s states: exit status %d, want %d; %q, want %q", lock, states, code, exitNoAnswer, errs, says)
			}
			return out
		}
		explore("1000", "the same command continues from there", "--checkpoint", file)
		if whole, got := explore("3000", ""), explore("3000", "continued from "+file, "--checkpoint", file); got != whole {
			t.Errorf("%s, cut short and gone on:\n%s\nundisturbed:\n%s", lock, got, whole)
		}
	}
}

// A search that was cut short goes on from its file, prints what an undisturbed
// one prints, and says on standard error what the file had to do with it.
func TestExploreCheckpoint(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	file := filepath.Join(t.TempDir(), "token.search")
	explore := func(status int, says string, args ...string) string {
		t.Helper()
		code, out, errs := call(t, append(strings.Fields("explore token --timing lockstep --attempts 1"), args...)...)
		if code != status || !strings.Contains(errs, says) {
			t.Errorf("%v: exit status %d, want %d; %q, want %q", args, code, status, errs, says)
		}
		return out
	}
	whole := explore(exitOK, "")
	explore(exitNoAnswer, "the same command continues from there", "--checkpoint", file, "--max-states", "200")
	explore(exitUsage, `it is of the search "token clients=2,`, "--checkpoint", file, "--clients", "3")
	if got := explore(exitOK, "continued from "+file, "--checkpoint", file); got != whole {
		t.Errorf("cut short and gone on:\n%s\nundisturbed:\n%s", got, whole)
	}
	got := explore(exitNoAnswer, file+" contains this search, finished", "--checkpoint", file)
	const bounds = "\n  bounds " // behind the claim, of a line or two
	head, rest, _ := strings.Cut(got, bounds)
	if _, undisturbed, _ := strings.Cut(whole, bounds); rest != undisturbed || !strings.Contains(head, ": From a file, not searched here, and so not proved: ") {
		t.Errorf("out of the file:\n%s\nundisturbed:\n%s", got, whole)
	}
	if got := explore(exitNoAnswer, "delete the file to search", "--checkpoint", file, "--json"); !strings.Contains(got, `"from_file": "all"`) {
		t.Errorf("as JSON: %s", got)
	}
	explore(exitUsage, "token.search is a file", "--checkpoint", filepath.Join(file, "below"))
	explore(exitUsage, "it cannot be written (no such file or directory): name another file", "--checkpoint", filepath.Join(t.TempDir(), "missing", "file"))
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	explore(exitUsage, "--checkpoint "+file+": this is no checkpoint of locklab", "--checkpoint", file)
}

// What a search prints is the same in every call; with --time it also says how long it took.
func TestExploreTime(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
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
