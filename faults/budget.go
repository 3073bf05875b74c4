package faults

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/simulator"
	"locklab/simulator/i18n"
)

// A Budget is how often each fault may be injected, and how long or how large it may be each time, as it is
// written: "crash=1,pause=2@5s". "" and NoFaults are no faults at all. It may be wrong until Parse has read it.
type Budget string

// NoFaults is a budget without faults in a word, where "" would be overlooked.
const NoFaults = "none"

// Canonical returns b as bounds and links have it: "" in place of NoFaults.
func (b Budget) Canonical() Budget {
	if strings.TrimSpace(string(b)) == NoFaults {
		return ""
	}
	return b
}

// Faults returns the faults of a budget that Parse has read before; of a wrong one there are none.
func (b Budget) Faults() []simulator.FaultBudget {
	list, _ := b.Parse()
	return list
}

// Allows reports whether a fault may be injected, as Faults has it.
func (b Budget) Allows(fault *simulator.Fault) bool {
	allowed := func(a simulator.FaultBudget) bool { return a.Times > 0 && a.Fault == fault }
	return slices.ContainsFunc(b.Faults(), allowed)
}

// Parse reads b.
func (b Budget) Parse() (budget []simulator.FaultBudget, err error) {
	if b.Canonical() == "" {
		return nil, nil
	}
	seen := map[string]bool{}
	for _, item := range strings.Split(string(b), ",") {
		a, err := parseItem(strings.TrimSpace(item))
		if err != nil {
			return nil, i18n.Errorf("error.budget", "item", item, "cause", err)
		}
		if seen[a.Fault.Name] {
			twice := i18n.Errorf("error.budget.twice", "fault", a.Fault.Name)
			return nil, i18n.Errorf("error.budget", "item", item, "cause", twice)
		}
		seen[a.Fault.Name] = true
		budget = append(budget, a)
	}
	return budget, nil
}

func parseItem(item string) (a simulator.FaultBudget, err error) {
	name, rest, ok := strings.Cut(item, "=")
	if !ok {
		return a, i18n.Errorf("error.budget.times")
	}
	if name == "client-rate" || name == "node-rate" {
		return a, i18n.Errorf("error.budget.rate", "fault", name)
	}
	if a.Fault, err = ByName(name); err != nil {
		return a, err
	}
	times, size, sized := strings.Cut(rest, "@")
	n, err := strconv.ParseUint(times, 10, 8)
	if err != nil {
		return a, i18n.Errorf("error.budget.number", "times", times)
	}
	if a.Times = int(n); !sized {
		return a, nil
	}
	if a.Max, err = time.ParseDuration(size); err != nil || a.Max <= 0 {
		return a, i18n.Errorf("error.budget.size", "size", size)
	}
	return a, nil
}
