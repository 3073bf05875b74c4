package contract_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"locklab/reports/text"
	"locklab/scenarios/contract"
	"locklab/scenarios/internal/racetest"
)

// TestSearchBounds: a bound that a section leaves out has its default.
func TestSearchBounds(t *testing.T) {
	for section, want := range map[string][2]string{
		"[search timing=any]": {"clients=2,attempts=2,timing=any,budget=none",
			"locklab explore redlock --timing any --clients 2 --attempts 2 --uses none --budget '' " +
				"--max-states 4000000"},
		"[search]": {"clients=2,attempts=2,budget=none",
			"locklab explore redlock --timing lockstep --clients 2 --attempts 2 --uses none --budget '' " +
				"--max-states 4000000"},
		"[search timing=any uses=check,give-up client-retries=3]": {
			"clients=2,attempts=2,timing=any,uses=check,give-up,client-retries=3,budget=none",
			"locklab explore redlock --timing any --clients 2 --attempts 2 --uses check,give-up --client-retries 3 " +
				"--budget '' --max-states 4000000"},
		"[prove]": {"clients=any,attempts=any,budget=none", "locklab prove redlock --budget 'none'"},
		"[prove attempts=once nodes=3 ttl=18s work=1s budget=crash=any,pause=any@2s]": {
			"clients=any,attempts=once,nodes=3,ttl=18s,work=1s,budget=crash=any,pause=any@2s",
			"locklab prove redlock --nodes 3 --ttl 18s --work 1s --budget 'crash=any,pause=any@2s'"},
		"[search attempts=1 nodes=3 ttl=18s max-states=7 budget=crash=1,pause=1@5s]": {
			"clients=2,attempts=1,nodes=3,ttl=18s,max-states=7,budget=crash=1,pause=1@5s",
			"locklab explore redlock --timing lockstep --clients 2 --attempts 1 --nodes 3 --ttl 18s --uses none " +
				"--budget 'crash=1,pause=1@5s' --max-states 7"},
	} {
		list, err := contract.Parse("c.txt", section+"\nredlock HOLDS\n")
		if err != nil {
			t.Errorf("%s: %v", section, err)
			continue
		}
		if got := [2]string{list[0].Subject(), list[0].Command()}; got != want {
			t.Errorf("%s: %q, want %q", section, got, want)
		}
	}
}

// TestParse: every form of a line is parsed, with its reason and its position.
func TestParse(t *testing.T) {
	list, err := contract.Parse("c.txt", `
# a comment
[gc-pause]
token watchdog  OVERLAP STALE-WRITE | it slept | too long # and more
setnx           HOLDS
[search budget=pause=1]
token redlock   OVERLAP@1 STALE-WRITE@2 | it slept
[prove budget=crash=any]
setnx           DEADLOCK@1 | never removed
watchdog        HOLDS instants
`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		line := e.Name() + " " + contract.FormatVerdicts(e.Expected, e.Instants)
		if e.Why != "" {
			line += " | " + string(e.Why)
		}
		got = append(got, line)
		if e.Derived || e.File != "c.txt" {
			t.Errorf("%s: derived %t, file %s", line, e.Derived, e.File)
		}
	}
	want := []string{
		"token/gc-pause OVERLAP STALE-WRITE | it slept | too long",
		"watchdog/gc-pause OVERLAP STALE-WRITE | it slept | too long",
		"setnx/gc-pause HOLDS",
		"token/clients=2,attempts=2,budget=pause=1 OVERLAP@1 STALE-WRITE@2 | it slept",
		"redlock/clients=2,attempts=2,budget=pause=1 OVERLAP@1 STALE-WRITE@2 | it slept",
		"setnx/clients=any,attempts=any,budget=crash=any DEADLOCK@1 | never removed",
		"watchdog/clients=any,attempts=any,budget=crash=any HOLDS instants",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if list[0].Line != 4 || list[1].Line != 4 || list[4].Line != 7 {
		t.Errorf("lines %d, %d, %d", list[0].Line, list[1].Line, list[4].Line)
	}
}

// TestDerive: if a section does not mention a lock of [locks], its cell follows from the profile
// there: N/A with the reason of the race, or HOLDS. Nothing follows for other locks, or
// for races without a section.
func TestDerive(t *testing.T) {
	list, err := contract.Parse("c.txt", `[gc-pause]
token   OVERLAP STALE-WRITE
[locks]
token   ChecksOwner Excludes
redlock Nodes=5 Excludes
[gc-pause-fenced]
`)
	if err != nil {
		t.Fatal(err)
	}
	type cell struct {
		name, verdicts string
		line           int
		derived        bool
	}
	var got []cell
	for _, e := range list {
		got = append(got, cell{e.Name(), contract.FormatVerdicts(e.Expected, e.Instants), e.Line, e.Derived})
		if e.Why != "" {
			t.Errorf("%s: reason %q", e.Name(), e.Why)
		}
	}
	want := []cell{
		{"token/gc-pause", "OVERLAP STALE-WRITE", 2, false},
		{"redlock/gc-pause", "HOLDS", 1, true},
		{"token/gc-pause-fenced", "HOLDS", 6, true},
		{"redlock/gc-pause-fenced", "N/A", 5, true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// TestParseRefuses: every mistake is named with its file and line.
func TestParseRefuses(t *testing.T) {
	for _, f := range []struct{ rule, text, want string }{
		{"nothing", "# nothing\n", "c.txt: it contains no expectation"},
		{"a line before a section", "\ntoken HOLDS\n", "c.txt:2: a line before the first [race]"},
		{"an open section", "[gc-pause\n",
			`c.txt:1: "[gc-pause": write [race], [search BOUNDS], [prove BOUNDS] or [locks] on a line of its own`},
		{"something after a section", "[gc-pause] token HOLDS\n",
			`c.txt:1: "[gc-pause] token HOLDS": write [race], [search BOUNDS], [prove BOUNDS] or [locks] ` +
				"on a line of its own"},
		{"an unknown race", "# the first line\n[gc-pausw]\n",
			`c.txt:2: there is no race "gc-pausw": did you mean gc-pause?`},

		{"an unknown lock", "[gc-pause]\ntokn OVERLAP\n", `c.txt:2: there is no lock "tokn": did you mean token?`},
		{"no lock", "[gc-pause]\nOVERLAP\n", `c.txt:2: "OVERLAP" names no lock`},
		{"no verdict", "[gc-pause]\ntoken # HOLDS\n", `c.txt:2: "token" has no verdict`},
		{"an unknown verdict", "[gc-pause]\n\ntoken OVERLOP\n",
			`c.txt:3: "OVERLOP" is no verdict that can be promised`},
		{"the same verdict twice", "[gc-pause]\ntoken OVERLAP OVERLAP\n", "c.txt:2: OVERLAP is given twice"},
		{"an empty reason", "[gc-pause]\ntoken OVERLAP |\n", `c.txt:2: "token OVERLAP |": say why: | a few words`},
		{"the same cell twice", "[gc-pause]\ntoken HOLDS\n[gc-pause]\ntoken HOLDS\n",
			"c.txt:4: token in gc-pause is on line 2 already"},

		{"an unknown bound", "[search clents=3]\n",
			`c.txt:1: bound "clents=3": there is no such bound; bounds are clients, attempts, timing`},
		{"a bound twice", "[search clients=3 clients=2]\n", `c.txt:1: bound "clients=2": clients is given twice`},
		{"clients out of range", "[search clients=9]\ntoken HOLDS\n", "c.txt:1: clients=9: give 1 to 6"},
		{"servers for a lock of one", "[search nodes=3]\n\ntoken HOLDS\n",
			"c.txt:3: nodes=3: token locks on one server"},
		{"an unknown fault", "[search budget=crush=1]\ntoken HOLDS\n",
			`c.txt:1: budget "crush=1": unknown fault "crush": did you mean crash?`},
		{"a jump of no length", "[search budget=client-clock=1]\ntoken HOLDS\n",
			"c.txt:1: budget \"client-clock=1\": a clock jumps by some length: write client-clock=1@10s"},
		{"a verdict without par", "[search]\ntoken OVERLAP\n", `c.txt:2: "OVERLAP": write OVERLAP@1`},
		{"a par that is none", "[search]\ntoken OVERLAP@-1\n", `c.txt:2: "OVERLAP@-1": write OVERLAP@1`},
		{"what is not searched for", "[search]\ntoken BLOCKED@1\n", `c.txt:2: a search does not look for "BLOCKED@1"`},
		{"HOLDS and more", "[search]\ntoken HOLDS OVERLAP@1\n", "c.txt:2: HOLDS must stand alone"},
		{"the same search twice", "[search]\ntoken HOLDS\n[search clients=2]\ntoken HOLDS\n",
			"c.txt:4: token in clients=2,attempts=2,budget=none is on line 2 already"},

		{"attempts by number", "[prove attempts=2]\ntoken HOLDS\n",
			`c.txt:1: bound "attempts=2": write any or once; bounds are`},
		{"some faults without end", "[prove budget=crash=any,pause=1]\ntoken HOLDS\n",
			`c.txt:1: bound "budget=crash=any,pause=1": "pause=1": either all faults strike any number of times, ` +
				`or none; write any in each; bounds are`},
		{"a search without number", "[search budget=crash=any]\ntoken HOLDS\n", `c.txt:1: --budget crash=any`},
		{"a verdict that no proof excludes", "[prove]\ntoken STARVED@0\n",
			`c.txt:2: a proof does not look for "STARVED@0": write HOLDS, or some of`},
		{"the same proof twice", "[prove budget=none]\ntoken HOLDS\n[prove attempts=any]\ntoken HOLDS\n",
			"c.txt:4: token in clients=any,attempts=any,budget=none is on line 2 already"},
		{"a race without rows", "[gc-pause]\n[split-vote]\ntoken HOLDS\n", "c.txt:1: [gc-pause] has no line under it"},
		{"instants before a verdict", "[search timing=any]\ntoken instants OVERLAP@1\n", `c.txt:2: `},

		{"an unknown lock of a profile", "[locks]\ntokn Expires\n",
			`c.txt:2: there is no lock "tokn": did you mean token?`},
		{"two profiles of a lock", "[locks]\ntoken Expires\ntoken\n", "c.txt:3: token is on line 2 already"},
		{"no field of a profile", "[locks]\ntoken Expirs\n",
			`c.txt:2: "Expirs" is not part of a profile: did you mean Expires?`},
		{"a field twice", "[locks]\ntoken Expires Expires\n", "c.txt:2: Expires is given twice"},
		{"one server", "[locks]\nredlock Nodes=1\n", `c.txt:2: "Nodes=1": give a number of servers`},
	} {
		list, err := contract.Parse("c.txt", f.text)
		if err == nil || !strings.Contains(text.SayError("en", err), f.want) {
			t.Errorf("%s: error %v, want it to say %s", f.rule, err, f.want)
		}
		if list != nil {
			t.Errorf("%s: expectations came with the error", f.rule)
		}
	}
}

// TestNames: names are test names: unique, and in the form that go test -run selects.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range contract.Own() {
		if seen[e.Name()] {
			t.Errorf("%s: twice", e.Name())
		}
		seen[e.Name()] = true
		if strings.ContainsAny(e.Subject(), " /+*?()[]") {
			t.Errorf("%s cannot be typed as a test's name", e.Subject())
		}
	}
}

// FuzzContract reads any text as a contract. Every expectation that comes out is of a line
// of it.
func FuzzContract(f *testing.F) {
	for _, name := range []string{"contract.txt", "proofs.txt"} {
		own := racetest.Must(os.ReadFile(name))(f)
		for section := range strings.SplitSeq(string(own), "\n[") {
			if len(section) < 4<<10 {
				f.Add("[" + strings.TrimPrefix(section, "["))
			}
		}
	}
	f.Add("[locks]\ntoken Expires\n[gc-pause]\n")
	f.Add("[search clients=3 budget=crash=1,pause=1@5s max-states=20]\ntoken OVERLAP@1 STALE-WRITE@1 | why\n")
	f.Add("[prove attempts=once nodes=3 budget=crash=any,pause=any@2s]\nredlock HOLDS\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := contract.Parse("c.txt", text)
		if err != nil {
			return
		}
		if len(list) == 0 {
			t.Errorf("%q: accepted, and nothing is expected", text)
		}
		for _, e := range list {
			if e.Line < 1 || e.Line > strings.Count(text, "\n")+1 || len(e.Expected) == 0 {
				t.Errorf("%q: %+v", text, e)
			}
		}
	})
}
