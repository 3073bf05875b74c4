package scenarios

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"locklab/algorithms"
	"locklab/simulator/verdict"
)

//go:embed contract.txt
var contractText string

// Contract is what every lock does in every scenario: strategy and scenario to
// verdicts, in the verdicts' own order.
type Contract map[[2]string][]verdict.Word

// ParseContract reads a contract. Errors name the file and the line.
//
//	# a comment
//	[gc-pause]
//	setnx   HOLDS
//	token   OVERLAP STALE-WRITE
func ParseContract(file, text string) (Contract, error) {
	c := Contract{}
	scenario := ""
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		var err error
		if strings.HasPrefix(fields[0], "[") {
			scenario, err = section(strings.TrimSpace(line))
		} else {
			err = c.add(scenario, fields)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
	}
	if err := c.complete(file); err != nil {
		return nil, err
	}
	return c, nil
}

// section reads "[scenario]" and gives the scenario's ID.
func section(line string) (string, error) {
	name, closed := strings.CutSuffix(line, "]")
	if !closed {
		return "", fmt.Errorf("%q: write [scenario] on a line of its own", line)
	}
	sc, err := ByName(name[1:])
	return sc.ID, err
}

func (c Contract) add(scenario string, fields []string) error {
	if scenario == "" {
		return fmt.Errorf("a line before the first [scenario]")
	}
	entry, err := Strategy(fields[0])
	if err != nil {
		return err
	}
	cell := [2]string{entry.ID, scenario}
	if c[cell] != nil {
		return fmt.Errorf("%s in %s stands here for the second time", fields[0], scenario)
	}
	for _, f := range fields[1:] {
		w := verdict.Word(f)
		if !slices.Contains(contractWords, w) {
			return fmt.Errorf("%q is no verdict that can be promised: write one of %v", f, contractWords)
		}
		if slices.Contains(c[cell], w) {
			return fmt.Errorf("%s stands here twice", w)
		}
		c[cell] = append(c[cell], w)
	}
	if c[cell] == nil {
		return fmt.Errorf("%s in %s has no verdict", fields[0], scenario)
	}
	return nil
}

// contractWords can be promised; UNKNOWN and VACUOUS are never an answer.
var contractWords = []verdict.Word{
	verdict.Overlap, verdict.StaleWrite, verdict.Fenced, verdict.WrongDel, verdict.Lie,
	verdict.Phantom, verdict.Stall, verdict.Blocked, verdict.Starved, verdict.Holds, verdict.NA,
}

func (c Contract) complete(file string) error {
	for _, sc := range All() {
		for _, e := range algorithms.All() {
			if c[[2]string{e.ID, sc.ID}] == nil {
				return fmt.Errorf("%s: nothing is said of %s in %s: add a line under [%s]", file, e.ID, sc.ID, sc.ID)
			}
		}
	}
	return nil
}

// contract is the lab's own. It is part of the program: a mistake in it is one
// of ours, and the tests find it.
var contract = sync.OnceValue(func() Contract {
	c, err := ParseContract("scenarios/contract.txt", contractText)
	if err != nil {
		panic(err)
	}
	return c
})

// expected is what the contract says, if the settings are the scenario's own.
func (sc Scenario) expected(entry algorithms.Entry, s Settings) []verdict.Word {
	s.Seed = sc.Settings.Seed
	if _, err := ByName(sc.ID); err != nil || s != sc.Settings {
		return nil
	}
	return contract()[[2]string{entry.ID, sc.ID}]
}

// sameWords compares verdicts in whatever order.
func sameWords(a, b []verdict.Word) bool {
	if len(a) != len(b) {
		return false
	}
	for _, w := range a {
		if !slices.Contains(b, w) {
			return false
		}
	}
	return true
}
