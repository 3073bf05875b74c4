package race

import (
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/i18n"
)

// Settings are the numbers of a run.
type Settings struct {
	Seed    uint64         // 0: every message takes exactly Latency; otherwise latencies are random
	TTL     time.Duration  // the lease that clients ask for
	Clients int            // how many
	Retry   time.Duration  // pause of a client after a refusal
	Latency time.Duration  // mean one-way delay of a message
	Timeout time.Duration  // time that a client waits for one answer; 0: 3 s, or 50 ms with several servers
	Idle    time.Duration  // time for which a session of a database may be idle; 0: TTL
	Horizon time.Duration  // true time at which the run ends
	Pause   time.Duration  // length of a pause of a process
	Skew    time.Duration  // how far one client's clock is off
	Jump    time.Duration  // how far a clock jumps
	Lag     time.Duration  // time that a change takes to reach a replica
	Drift   time.Duration  // what a clock that runs at a wrong rate gains or loses in a true second, up to MaxDrift
	Epoch   simulator.Date // when clocks begin
	Budget  faults.Budget  // faults that may be injected; "": those that the race needs
}

// Standard returns the numbers that races share, so that their results can be compared. A lease of ten seconds is the
// example of the Redis documentation; half a millisecond each way is a data centre; a refused client asks again each
// second; six leases are enough to distinguish a lock that recovers from one that does not.
func Standard() Settings {
	return Settings{
		TTL:     10 * time.Second,
		Clients: 2,
		Retry:   time.Second,
		Latency: 500 * time.Microsecond,
		Horizon: 60 * time.Second,
	}
}

// StandardWith returns the standard numbers with a change.
func StandardWith(change func(s *Settings)) Settings {
	s := Standard()
	change(&s)
	return s
}

// Seconds returns a duration of s seconds.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// A setting is a duration of Settings with its name.
type setting struct {
	name string
	get  func(s *Settings) *time.Duration
}

// durations are the settings that are durations, in the order in which they are written.
var durations = []setting{
	{"ttl", func(s *Settings) *time.Duration { return &s.TTL }},
	{"retry", func(s *Settings) *time.Duration { return &s.Retry }},
	{"latency", func(s *Settings) *time.Duration { return &s.Latency }},
	{"timeout", func(s *Settings) *time.Duration { return &s.Timeout }},
	{"idle", func(s *Settings) *time.Duration { return &s.Idle }},
	{"horizon", func(s *Settings) *time.Duration { return &s.Horizon }},
	{"pause", func(s *Settings) *time.Duration { return &s.Pause }},
	{"skew", func(s *Settings) *time.Duration { return &s.Skew }},
	{"jump", func(s *Settings) *time.Duration { return &s.Jump }},
	{"lag", func(s *Settings) *time.Duration { return &s.Lag }},
	{"drift", func(s *Settings) *time.Duration { return &s.Drift }},
}

// SettingNames returns the names that With knows, but for the date, which only links have.
func SettingNames() []string {
	names := []string{"seed", "clients", "budget"}
	for _, d := range durations {
		names = append(names, d.name)
	}
	return names
}

// A Setting is a duration of Settings by its name.
type Setting struct {
	Name   string
	Length time.Duration
}

// Lengths returns the settings that characterize a race: the lease, and the length or size of
// its fault is. Those that the race does not have are left out.
func (s Settings) Lengths() (all []Setting) {
	for _, d := range durations {
		switch length := *d.get(&s); d.name {
		case "ttl", "pause", "skew", "jump", "lag", "drift":
			if length != 0 {
				all = append(all, Setting{d.name, length})
			}
		}
	}
	return all
}

// MaxDrift is the largest Settings.Drift: clocks gain or lose up to half a second in a second.
const MaxDrift = 500 * time.Millisecond

// DriftPPM is Drift in microseconds for each true second.
func (s Settings) DriftPPM() int32 { return int32(s.Drift / time.Microsecond) }

// size returns the length or the size of the named fault in this run; 0: it has none.
func (s Settings) size(fault string) time.Duration {
	switch fault {
	case "pause":
		return s.Pause
	case "client-clock", "node-clock":
		return s.Jump
	}
	return 0
}

// String returns all settings in the form that With reads.
func (s Settings) String() string {
	items := []string{"seed=" + strconv.FormatUint(s.Seed, 10), "clients=" + strconv.Itoa(s.Clients)}
	for _, d := range durations {
		if *d.get(&s) == 0 && (d.name == "drift" || d.name == "idle") { // few runs have it
			continue
		}
		items = append(items, d.name+"="+d.get(&s).String())
	}
	if s.Budget != "" {
		items = append(items, "budget="+strings.ReplaceAll(string(s.Budget), ",", "+"))
	}
	if s.Epoch != 0 {
		items = append(items, simulator.EpochSetting+"="+s.Epoch.String())
	}
	return strings.Join(items, ",")
}

// With returns s changed by items such as "ttl=5s,clients=3,budget=crash=1+pause=2". The error names the item and what
// would be accepted. Whether the numbers make sense together is checked by Race.Check.
func (s Settings) With(items string) (Settings, error) {
	if strings.TrimSpace(items) == "" {
		return s, nil
	}
	base := s
	for _, item := range strings.Split(items, ",") {
		name, value, ok := strings.Cut(item, "=")
		if !ok {
			return base, i18n.Errorf("error.setting", "item", item, "cause", i18n.Errorf("error.setting.form"))
		}
		if err := s.set(&base, strings.TrimSpace(name), strings.TrimSpace(value)); err != nil {
			return base, i18n.Errorf("error.setting", "item", item, "cause", err)
		}
	}
	if !strings.Contains(items, "horizon") && s.TTL < time.Hour/3 { // a longer lease is watched to its end
		s.Horizon = max(s.Horizon, 3*s.TTL)
	}
	return s, nil
}

// set changes one setting; base are the settings before any change.
func (s *Settings) set(base *Settings, name, value string) (err error) {
	switch name {
	case "seed":
		if s.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			return i18n.Errorf("error.setting.seed")
		}
		return nil
	case "clients":
		if s.Clients, err = strconv.Atoi(value); err != nil {
			return i18n.Errorf("error.setting.clients")
		}
		return nil
	case simulator.EpochSetting: // of links
		s.Epoch, err = simulator.ParseDate(value)
		return err
	case "budget":
		s.Budget = faults.Budget(strings.ReplaceAll(value, "+", ","))
		_, err = s.Budget.Parse()
		return err
	}
	for _, d := range durations {
		if d.name == name {
			return d.set(s, base, value)
		}
	}
	names := SettingNames()
	return i18n.Errorf("error.setting.unknown", "name", name, "near", i18n.Near(name, names),
		"names", strings.Join(names, ", "))
}

// set parses a duration. Races whose own value is zero do not have the setting.
func (d setting) set(s, base *Settings, value string) error {
	length, err := time.ParseDuration(value)
	if err != nil {
		return i18n.Errorf("error.setting.length")
	}
	if *d.get(base) == 0 && length != 0 && d.name != "timeout" && d.name != "idle" {
		return i18n.Errorf("error.setting.absent", "name", d.name)
	}
	if d.name == "drift" && length <= 0 { // String leaves 0 out
		return i18n.Errorf("error.setting.drift")
	}
	*d.get(s) = length
	return nil
}

// Stream returns the random stream of a name under a seed. Each use has a name of its
// own, so that one that draws more numbers does not change the others.
func Stream(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
