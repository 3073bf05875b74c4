package main

import (
	"time"

	"locklab/reports/text"
	"locklab/scenarios/study"
	"locklab/simulator/explore"
)

// boundFlags are flags of what a search covers. A command declares those that it has.
type boundFlags struct{ study.Bounds }

// add declares flags that set the bounds themselves.
func (b *boundFlags) add(f *flags, names ...string) {
	all := map[string]any{
		"attempts": &b.Attempts, "budget": &b.Budget, "clients": &b.Clients, "client-retries": &b.ClientRetries, "fenced": &b.Fenced,
		"max-states": &b.MaxStates, "nodes": &b.Nodes, "noisy": &b.Noisy, "skew": &b.Skew, "slow": &b.Slow, "ttl": &b.TTL, "work": &b.Work,
	}
	for _, name := range names {
		f.add(name, all[name])
	}
}

// addLate declares the flags of the time that messages and threads may be late.
func (b *boundFlags) addLate(f *flags) {
	for flag, is := range map[string]*time.Duration{"latency": &b.Latency, "lateness": &b.Lateness} {
		parse(f, flag, "auto", is, func(s string) (late time.Duration, err error) {
			if late, err = study.ParseLate(s); err != nil {
				err = text.Errorf("error.late.flag", "flag", "--"+flag, "cause", err)
			}
			return late, err
		})
	}
}

// parseRetries is study.ParseRetries with an error for a user.
func parseRetries(s string) (n int, err error) {
	if n, err = study.ParseRetries(s); err != nil {
		err = text.Errorf("error.retries", "value", s, "most", explore.MaxRetries)
	}
	return n, err
}
