package race

import (
	"cmp"
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// Code is a user's own code that plays in place of a lock of the list: one attempt of
// it locks, works and unlocks. A nil Code stands for the lock that is given.
type Code struct {
	Key      string        // that it locks
	TTL      time.Duration // the lease that it asks for; 0: none
	Fences   bool          // its leases carry fencing tokens
	Contents any           // what the server holds at the start; see simulator.NodeConfig
	// Client makes a client that does what c says, with the settings of the run. Run, Thread and Token of c are empty,
	// except when a profile is observed: then they do not count.
	Client func(s Settings, c ClientSpec) simulator.ClientConfig
}

// Settings returns a race's numbers for a lease of Code.TTL in place of its own. Parts of the lease change with it.
func (code *Code) Settings(sc Race) Settings { return code.settings(sc.Settings) }

func (code *Code) settings(s Settings) Settings {
	if code == nil || code.TTL == 0 {
		return s
	}
	factor := float64(code.TTL) / float64(s.TTL)
	for _, d := range []*time.Duration{&s.TTL, &s.Retry, &s.Horizon, &s.Pause, &s.Skew, &s.Jump, &s.Lag} {
		if *d < longest {
			*d = time.Duration(float64(*d) * factor).Round(time.Microsecond)
		}
	}
	s.TTL = code.TTL
	return s
}

// client makes a client of a race.
func (code *Code) client(entry lock.Entry, s Settings, c ClientSpec, fence bool) simulator.ClientConfig {
	if code == nil {
		return simulator.ClientConfig{Program: Program(entry, s, c, entry.Servers(), fence), Offset: c.Skew, PPM: c.PPM,
			List: cmp.Or(c.List, entry.Shards)}
	}
	if c.Retry == 0 {
		c.Retry = s.Retry
	}
	config := code.Client(s, c)
	config.Offset, config.PPM = c.Skew, c.PPM
	return config
}

// key returns the key that is locked.
func (code *Code) key() string {
	if code == nil {
		return client.Key
	}
	return code.Key
}

// rename gives the code's key in e the name that the patterns of races know.
func (code *Code) rename(e history.Event) history.Event {
	if e.Key == code.Key {
		e.Key = client.Key
	}
	return e
}

// renamed is a history for the patterns of scenarios.
func (code *Code) renamed(h *history.History) *history.History {
	if code == nil {
		return h
	}
	out := *h
	out.Key, out.Events = client.Key, slices.Clone(h.Events)
	for i := range out.Events {
		out.Events[i] = code.rename(out.Events[i])
	}
	return &out
}

// script gives events to a script whose patterns know another key.
func (code *Code) script(do func(s *schedule.Stage, e *history.Event)) func(s *schedule.Stage, e *history.Event) {
	if code == nil {
		return do
	}
	return func(s *schedule.Stage, e *history.Event) {
		renamed := code.rename(*e)
		do(s, &renamed)
	}
}
