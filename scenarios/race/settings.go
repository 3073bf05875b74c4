package race

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"locklab/faults"
)

// Settings are the numbers of a run.
type Settings struct {
	Seed    uint64        // 0: the story as written, every message takes exactly Latency
	TTL     time.Duration // lease to ask for
	Clients int           // how many
	Retry   time.Duration // pause of a client after a refusal
	Latency time.Duration // mean one-way delay of a message
	Timeout time.Duration // a client's patience for one answer; 0: 3 s, and 50 ms where there are several servers
	Horizon time.Duration // true time at which the run ends
	Pause   time.Duration // length of the pause
	Skew    time.Duration // what the second client's clock is ahead
	Jump    time.Duration // how far a clock jumps
	Lag     time.Duration // how long a replica takes to hear of a change; 0: it hears at once
	Budget  string        // faults that may strike; "": what the scenario needs
}

// A setting is one of them by name.
type setting struct {
	name string
	get  func(s *Settings) *time.Duration // a length; nil for the others
}

// settingNames in the order in which settings are written. seed, clients and
// budget are no lengths and stand apart.
var settingNames = []setting{
	{"ttl", func(s *Settings) *time.Duration { return &s.TTL }},
	{"retry", func(s *Settings) *time.Duration { return &s.Retry }},
	{"latency", func(s *Settings) *time.Duration { return &s.Latency }},
	{"timeout", func(s *Settings) *time.Duration { return &s.Timeout }},
	{"horizon", func(s *Settings) *time.Duration { return &s.Horizon }},
	{"pause", func(s *Settings) *time.Duration { return &s.Pause }},
	{"skew", func(s *Settings) *time.Duration { return &s.Skew }},
	{"jump", func(s *Settings) *time.Duration { return &s.Jump }},
	{"lag", func(s *Settings) *time.Duration { return &s.Lag }},
}

// size is how long or how large a strike of the named fault is; 0: it has no size.
func (s Settings) size(fault string) time.Duration {
	switch fault {
	case "pause":
		return s.Pause
	case "client-clock", "node-clock":
		return s.Jump
	}
	return 0
}

// String writes all settings, as With reads them.
func (s Settings) String() string {
	items := []string{"seed=" + strconv.FormatUint(s.Seed, 10), "clients=" + strconv.Itoa(s.Clients)}
	for _, n := range settingNames {
		items = append(items, n.name+"="+n.get(&s).String())
	}
	if s.Budget != "" {
		items = append(items, "budget="+strings.ReplaceAll(s.Budget, ",", "+"))
	}
	return strings.Join(items, ",")
}

// With is s changed by text such as "ttl=5s,clients=3,budget=crash=1+pause=2".
// The error names the item and says what would do. Whether the numbers make
// sense together is Scenario.Check's matter.
func (s Settings) With(text string) (Settings, error) {
	if strings.TrimSpace(text) == "" {
		return s, nil
	}
	base := s
	for _, item := range strings.Split(text, ",") {
		name, value, ok := strings.Cut(item, "=")
		if !ok {
			return base, fmt.Errorf("setting %q: write name=value, for example ttl=5s", item)
		}
		if err := s.set(&base, strings.TrimSpace(name), strings.TrimSpace(value)); err != nil {
			return base, fmt.Errorf("setting %q: %w", item, err)
		}
	}
	return s, nil
}

func (s *Settings) set(base *Settings, name, value string) (err error) {
	switch name {
	case "seed":
		if s.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			return errors.New("a seed is a whole number from 0")
		}
		return nil
	case "clients":
		if s.Clients, err = strconv.Atoi(value); err != nil {
			return errors.New("clients is a whole number, such as 3")
		}
		return nil
	case "budget":
		s.Budget = strings.ReplaceAll(value, "+", ",")
		_, err = faults.ParseBudget(s.Budget)
		return err
	}
	for _, n := range settingNames {
		if n.name != name {
			continue
		}
		d, err := time.ParseDuration(value)
		if err != nil {
			return errors.New("a length needs a number and a unit, such as 1500ms, 10s or 2m")
		}
		if *n.get(base) == 0 && d != 0 && name != "timeout" {
			return fmt.Errorf("this scenario has no %s", name)
		}
		*n.get(s) = d
		return nil
	}
	names := []string{"seed", "clients", "budget"}
	for _, n := range settingNames {
		names = append(names, n.name)
	}
	return fmt.Errorf("there is no setting %q:%s all are %s", name, faults.DidYouMean(name, names), strings.Join(names, ", "))
}
