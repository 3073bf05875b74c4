package faults_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"locklab/faults"
	"locklab/reports/text"
	"locklab/simulator"
)

func TestParseBudget(t *testing.T) {
	for text, want := range map[string]faults.Budget{
		"":                      "",
		"crash=1":               "crash=1",
		"crash=1,pause=2@5s":    "crash=1,pause=2@5s",
		" crash=1 , pause=0 ":   "crash=1,pause=0",
		"pause=255@90m":         "pause=255@1h30m0s",
		"node-clock=1@1500ms":   "node-clock=1@1.5s",
		"failover=1,restart=01": "failover=1,restart=1",
	} {
		budget, err := faults.Budget(text).Parse()
		if got := written(budget); err != nil || got != want {
			t.Errorf("%q is read as %q, %v, want %q", text, got, err, want)
		}
	}
}

// Every refusal names the value, where it stands, and what would do.
func TestParseBudgetRefuses(t *testing.T) {
	for given, want := range map[string][]string{
		"crash":            {`budget "crash"`, "write fault=times, for example crash=1"},
		"crash=":           {`budget "crash="`, `"" is no number of times from 0 to 255`},
		"crash=256":        {`budget "crash=256"`, `"256"`, "0 to 255"},
		"crash=-1":         {`"-1"`, "0 to 255"},
		"crash=one":        {`"one"`, "0 to 255"},
		"pause=1@":         {`"" is no length above 0, such as 5s`},
		"pause=1@5":        {`"5" is no length`},
		"pause=1@0s":       {`"0s" is no length above 0`},
		"pause=1@-5s":      {`"-5s" is no length above 0`},
		"pause=1@5s@6s":    {`"5s@6s"`},
		"crash=1,,pause=1": {`budget ""`, "write fault=times"},
		"crash=1,crash=2":  {`budget "crash=2"`, "crash is named twice"},
		"crash=1,cresh=1":  {`budget "cresh=1"`, `unknown fault "cresh"`, "did you mean crash?"},
		"Pause=1":          {`unknown fault "Pause"`, "did you mean pause?"},
		"losereply=1":      {"did you mean lose-reply?"},
		"lose-requests=1":  {"did you mean lose-request?"},
		"xxxxxxxx=1":       {`unknown fault "xxxxxxxx": 'locklab list faults' shows all`},
		"client-rate=1":    {"a search cannot carry client-rate"},
		"node-rate=1":      {"a search cannot carry node-rate"},
		"=1":               {`unknown fault ""`, "locklab list faults"},
	} {
		budget, err := faults.Budget(given).Parse()
		if err == nil || budget != nil {
			t.Errorf("%q is read as %v, %v", given, budget, err)
			continue
		}
		for _, w := range want {
			if !strings.Contains(text.SayError("en", err), w) {
				t.Errorf("%q: %q does not say %q", given, err, w)
			}
		}
	}
}

// FuzzParseBudget: what can be read is written such that it is read as the same.
func FuzzParseBudget(f *testing.F) {
	for _, s := range []string{"crash=1,pause=2@5s", "pause=1@1ns", " restart=7", "crash=1,crash=1",
		"node-clock=255@2562047h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		budget, err := faults.Budget(s).Parse()
		if err != nil {
			return
		}
		text := written(budget)
		back, err := text.Parse()
		if err != nil || !reflect.DeepEqual(back, budget) {
			t.Errorf("%q is written %q and read again as %v, %v", s, text, back, err)
		}
		if again := written(back); again != text {
			t.Errorf("%q is written %q and then %q", s, text, again)
		}
	})
}

// written is a budget as Parse reads it.
func written(budget []simulator.FaultBudget) faults.Budget {
	items := make([]string, len(budget))
	for i, a := range budget {
		items[i] = fmt.Sprintf("%s=%d", a.Fault.Name, a.Times)
		if a.Max > 0 {
			items[i] += "@" + a.Max.String()
		}
	}
	return faults.Budget(strings.Join(items, ","))
}

func TestAllows(t *testing.T) {
	for budget, want := range map[faults.Budget]bool{
		"": false, "none": false, "pause=1": false, "crash=0": false, "crash=1": true, "pause=1,crash=9": true,
	} {
		if budget.Allows(faults.Crash) != want {
			t.Errorf("%q allows a crash: %t, want %t", budget, !want, want)
		}
	}
}
