package faults

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"locklab/simulator"
	"locklab/simulator/i18n"
)

// NoFaults is a budget without faults in a word, where "" would be overlooked.
const NoFaults = "none"

// Canonical returns a budget as bounds and links have it: "" in place of NoFaults.
func Canonical(budget string) string {
	if strings.TrimSpace(budget) == NoFaults {
		return ""
	}
	return budget
}

// ParseBudget reads "crash=1,pause=2@5s": how often each fault may be injected, and
// how long or how large it may be each time. "" and NoFaults are no faults at all.
func ParseBudget(s string) (budget []simulator.FaultBudget, err error) {
	if Canonical(s) == "" {
		return nil, nil
	}
	seen := map[string]bool{}
	for _, item := range strings.Split(s, ",") {
		a, err := parseItem(strings.TrimSpace(item))
		if err != nil {
			return nil, i18n.Errorf("error.budget", "item", item, "cause", err)
		}
		if seen[a.Fault.Name] {
			return nil, i18n.Errorf("error.budget", "item", item, "cause", i18n.Errorf("error.budget.twice", "fault", a.Fault.Name))
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

// FormatBudget writes a budget as ParseBudget reads it.
func FormatBudget(budget []simulator.FaultBudget) string {
	items := make([]string, len(budget))
	for i, a := range budget {
		items[i] = fmt.Sprintf("%s=%d", a.Fault.Name, a.Times)
		if a.Max > 0 {
			items[i] += "@" + a.Max.String()
		}
	}
	return strings.Join(items, ",")
}
