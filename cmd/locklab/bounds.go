package main

import (
	"locklab/reports/text"
	"locklab/scenarios/study"
	"locklab/simulator/explore"
)

// boundFlags are flags of what a search covers. A command declares those that it has.
type boundFlags struct {
	study.Bounds
	words map[string]*string // by flag: values that are neither numbers nor lengths of time
}

// add declares flags that set the bounds themselves.
func (b *boundFlags) add(f *flags, names ...string) {
	all := map[string]any{
		"attempts": &b.Attempts, "budget": &b.Budget, "clients": &b.Clients, "client-retries": &b.ClientRetries, "fenced": &b.Fenced,
		"max-states": &b.MaxStates, "nodes": &b.Nodes, "skew": &b.Skew, "ttl": &b.TTL, "work": &b.Work,
	}
	for _, name := range names {
		f.add(name, all[name])
	}
}

// addWords declares a flag whose value read reads.
func (b *boundFlags) addWords(f *flags, name, usual string) {
	if b.words == nil {
		b.words = map[string]*string{}
	}
	b.words[name] = &usual
	f.add(name, &usual)
}

// read reads the values of flags that addWords has declared into the bounds.
func (b *boundFlags) read(names ...string) error {
	for _, name := range names {
		if err := b.readOne(name, *b.words[name]); err != nil {
			return err
		}
	}
	return nil
}

func (b *boundFlags) readOne(name, value string) (err error) {
	switch name {
	case "attempts":
		b.Attempts, err = study.ParseAttempts(value)
	case "retries":
		if b.Retries, err = study.ParseRetries(value); err != nil {
			err = text.Errorf("error.retries", "value", value, "most", explore.MaxRetries)
		}
	case "timing":
		b.Timing, err = study.ParseTiming(value)
	case "latency":
		if b.Latency, err = study.ParseLate(value); err != nil {
			err = text.Errorf("error.late.flag", "flag", "--latency", "cause", err)
		}
	case "lateness":
		if b.Lateness, err = study.ParseLate(value); err != nil {
			err = text.Errorf("error.late.flag", "flag", "--lateness", "cause", err)
		}
	case "uses":
		b.Uses, err = study.ParseUses(value)
	case "tokens":
		b.Tokens, err = study.ParseTokens(value)
	}
	return err
}
