package study

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/i18n"
)

// A Situation is what goes on in the runs of a sweep. Every client acquires the lock, works
// and releases. c1 begins at once, the others at a random moment of the first Retry. Faults
// that are 0 do not happen.
type Situation struct {
	TTL     time.Duration // the lease that clients ask for
	Retry   time.Duration // pause of a client after a refusal, on its clock
	Clients int
	// Work is the time that every client is inside, on its clock; 0: UsualWork; with Renewal, three TTL.
	Work time.Duration
	// WholeLease has c1 stay for a lease in place of Work: on its clock, from before it asked,
	// or until a check of the lease fails.
	WholeLease bool
	Renewal    time.Duration // every client renews its lease so often, on its clock; 0: it does not
	// Pause is that of c1's process: once, from a random moment of its Work on, true time.
	Pause time.Duration
	// Waits: the Work goes on during a pause, as that of a database which the client waits for; and so
	// does that of WholeLease. Else the client computes, and does the rest after the pause.
	Waits bool
	// Delay is that of one message from or to c1, each equally likely, true time.
	Delay time.Duration
	Skew  time.Duration // how far c1's clock is behind true time; below 0: ahead
	// ClientPPM and NodePPM are microseconds that c1's clock, and those of all servers, gain in
	// a true second.
	ClientPPM, NodePPM int32
	// Failover has the first server replaced by its replica once, at a random moment of c1's
	// Work; Lag is how long a change takes to reach a replica, true time.
	Failover bool
	Lag      time.Duration
	Loss     float64 // share of all requests to servers, and of all replies, that is lost
	Crashes  float64 // of each client's process in an hour of true time; it does not come back
}

// UsualSituation has the standard numbers and no fault.
func UsualSituation() Situation {
	s := race.Standard()
	return Situation{TTL: s.TTL, Retry: s.Retry, Clients: s.Clients}
}

// A Unit is what the values of a setting are.
type Unit int

// The units, with that of a value.
const (
	Length  Unit = iota // seconds
	Drift               // microseconds in a second
	Portion             // from 0 to 1
	PerHour
	Number // whole
)

// A Setting is a number of a Situation that can be swept.
type Setting struct {
	Name   string
	Unit   Unit
	Fault  bool // it makes something go wrong
	Usual  string
	PerTTL bool // Usual is in leases
	least  float64
	most   float64
	put    func(s *Situation, v float64)
	words  []string // what a sweep counts, unless it is told
}

func seconds(v float64) time.Duration {
	return time.Duration(math.Round(v*1e6)) * time.Microsecond
}

// longestSetting is the longest setting, in seconds.
const longestSetting = 3600

// settings are all of them, in the order in which help lists them.
var settings = []Setting{
	{Name: "pause", Fault: true, Usual: "0:2:0.1", PerTTL: true, most: longestSetting, put: func(s *Situation, v float64) { s.Pause = seconds(v) }},
	{Name: "delay", Fault: true, Usual: "0:2:0.1", PerTTL: true, most: longestSetting, put: func(s *Situation, v float64) { s.Delay = seconds(v) }, words: []string{"OVERLAP", "STALE-WRITE"}},
	{Name: "skew", Fault: true, Usual: "-1:1:0.1", PerTTL: true, least: -longestSetting, most: longestSetting, put: func(s *Situation, v float64) { s.Skew = seconds(v) }},
	{Name: "client-rate", Unit: Drift, Fault: true, Usual: "-20%:20%:2%", least: -500_000, most: 500_000, put: func(s *Situation, v float64) { s.ClientPPM = int32(math.Round(v)) }},
	{Name: "node-rate", Unit: Drift, Fault: true, Usual: "-20%:20%:2%", least: -500_000, most: 500_000, put: func(s *Situation, v float64) { s.NodePPM = int32(math.Round(v)) }},
	{Name: "lag", Fault: true, Usual: "0:1:0.05", PerTTL: true, most: longestSetting, put: func(s *Situation, v float64) { s.Failover, s.Lag = true, seconds(v) }},
	{Name: "loss", Unit: Portion, Fault: true, Usual: "0%:30%:2%", most: 1, put: func(s *Situation, v float64) { s.Loss = v }, words: []string{"ORPHAN", "DEADLOCK"}},
	{Name: "crash", Unit: PerHour, Fault: true, Usual: "0:600:30", most: 1e6, put: func(s *Situation, v float64) { s.Crashes = v }, words: []string{"DEADLOCK", "BLOCKED"}},
	{Name: "ttl", Usual: "2s:20s:1s", least: 0.001, most: longestSetting, put: func(s *Situation, v float64) { s.TTL = seconds(v) }},
	{Name: "renewal", Usual: "0.1:0.95:0.05", PerTTL: true, least: 0.001, most: longestSetting, put: func(s *Situation, v float64) { s.Renewal = seconds(v) }},
	{Name: "clients", Unit: Number, Usual: "2:8:1", least: 2, most: simulator.MaxClients, put: func(s *Situation, v float64) { s.Clients = int(v) }},
	{Name: "work", Usual: "0.1:2:0.1", PerTTL: true, least: 0.001, most: longestSetting, put: func(s *Situation, v float64) { s.Work = seconds(v) }},
	{Name: "retry", Usual: "100ms:2s:100ms", least: 0.001, most: longestSetting, put: func(s *Situation, v float64) { s.Retry = seconds(v) }},
}

func settingOf(name string) (Setting, error) {
	var names []string
	for _, s := range settings {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Setting{}, i18n.Errorf("error.sweep", "name", name, "near", i18n.Near(name, names), "names", strings.Join(names, ", "))
}

// parse reads a value; perTTL: in leases, but for a unit that is no length.
func (s Setting) parse(value string, perTTL bool) (float64, error) {
	least, most := s.bounds(perTTL)
	wrong := func() error {
		return i18n.Errorf("error.sweep.value."+s.Unit.key(perTTL), "value", value, "setting", s.Name, "least", s.Format(least, perTTL), "most", s.Format(most, perTTL))
	}
	v := 0.0
	var err error
	switch cut, unit := value, 1.0; {
	case perTTL:
		v, err = strconv.ParseFloat(value, 64)
	case s.Unit == Length:
		var d time.Duration
		if d, err = time.ParseDuration(value); value == "0" {
			err = nil
		}
		v = d.Seconds()
	case s.Unit == Drift || s.Unit == Portion:
		if c, ok := strings.CutSuffix(value, "%"); ok {
			cut, unit = c, 0.01
		} else if c, ok := strings.CutSuffix(value, "ppm"); ok && s.Unit == Drift {
			cut, unit = c, 1e-6
		} else if s.Unit == Drift && value != "0" {
			return 0, wrong()
		}
		v, err = strconv.ParseFloat(cut, 64)
		if v *= unit; s.Unit == Drift {
			v = math.Round(v * 1e6)
		}
	case s.Unit == Number:
		var n int
		n, err = strconv.Atoi(value)
		v = float64(n)
	default:
		v, err = strconv.ParseFloat(strings.TrimSuffix(value, "/h"), 64)
	}
	if err != nil || !(v >= least && v <= most) {
		return 0, wrong()
	}
	return v, nil
}

// bounds are the least value and the largest. In leases there may be smaller ones that mean
// nothing; see Axis.check.
func (s Setting) bounds(perTTL bool) (least, most float64) {
	switch {
	case !perTTL:
		return s.least, s.most
	case s.least < 0:
		return -mostLeases, mostLeases
	}
	return 0, mostLeases
}

// mostLeases is the largest value in leases.
const mostLeases = 1000

// key is the unit in the keys of texts.
func (u Unit) key(perTTL bool) string {
	if perTTL {
		return "ttl"
	}
	return [...]string{Length: "length", Drift: "drift", Portion: "portion", PerHour: "perhour", Number: "number"}[u]
}

// Format writes a value as parse reads it.
func (s Setting) Format(v float64, perTTL bool) string {
	short := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	switch {
	case perTTL:
		return short(v)
	case s.Unit == Length:
		return seconds(v).String()
	case s.Unit == Drift && math.Abs(v) < 1000 && v != 0:
		return short(v) + "ppm"
	case s.Unit == Drift:
		return short(v/1e4) + "%"
	case s.Unit == Portion:
		return short(v*100) + "%"
	case s.Unit == PerHour:
		return short(v) + "/h"
	}
	return short(v)
}

// A Value is one of a setting.
type Value struct {
	Setting Setting
	PerTTL  bool // V is in leases
	V       float64
}

// String is "pause/ttl=1.2".
func (v Value) String() string { return v.Name() + "=" + v.Setting.Format(v.V, v.PerTTL) }

// Name is "pause/ttl" or "pause".
func (v Value) Name() string {
	if v.PerTTL {
		return v.Setting.Name + "/ttl"
	}
	return v.Setting.Name
}

// parseName splits the name of a setting from its "/ttl".
func parseName(name string) (s Setting, perTTL bool, err error) {
	name, perTTL = strings.CutSuffix(strings.TrimSpace(name), "/ttl")
	if s, err = settingOf(name); err != nil {
		return s, perTTL, err
	}
	if perTTL && (s.Unit != Length || s.Name == "ttl") {
		return s, perTTL, i18n.Errorf("error.sweep.perttl", "name", name)
	}
	return s, perTTL, nil
}

// with is the situation with some values. A TTL counts first: other values may be parts of
// it.
func (s Situation) with(values []Value) Situation {
	values = slices.Clone(values)
	slices.SortStableFunc(values, func(a, b Value) int { return cmp.Compare(ttlFirst(a), ttlFirst(b)) })
	for _, v := range values {
		n := v.V
		if v.PerTTL {
			n *= s.TTL.Seconds()
		}
		v.Setting.put(&s, n)
	}
	return s
}

func ttlFirst(v Value) int {
	if v.Setting.Name == "ttl" {
		return 0
	}
	return 1
}

// An Axis is a setting with the values at which it is looked at, rising.
type Axis struct {
	Setting Setting
	PerTTL  bool
	Values  []float64
}

// Name is "pause/ttl" or "pause".
func (a Axis) Name() string { return a.at(0).Name() }

func (a Axis) at(v float64) Value { return Value{a.Setting, a.PerTTL, v} }

// Format writes a value of the axis.
func (a Axis) Format(v float64) string { return a.Setting.Format(v, a.PerTTL) }

// Unit returns the unit of the values of the axis.
func (a Axis) Unit() string {
	if a.PerTTL {
		return "TTL"
	}
	return [...]string{Length: "s", Drift: "ppm", Portion: "1", PerHour: "1/h", Number: "1"}[a.Setting.Unit]
}

// MaxValues is the largest number of values of an axis.
const MaxValues = 1001

// ParseAxis reads "pause", "pause/ttl=0:2:0.1" or "clients=2,3,8". Without values it has
// the usual ones.
func ParseAxis(arg string) (Axis, error) {
	name, values, given := strings.Cut(arg, "=")
	s, perTTL, err := parseName(name)
	if err != nil {
		return Axis{}, err
	}
	a := Axis{Setting: s, PerTTL: perTTL}
	if !given {
		if perTTL != s.PerTTL {
			return a, i18n.Errorf("error.sweep.unusual", "name", a.Name(), "usual", Axis{Setting: s, PerTTL: s.PerTTL}.Name(), "range", s.Usual)
		}
		values = s.Usual
	}
	parts := strings.Split(values, ":")
	if len(parts) == 1 {
		for _, item := range strings.Split(values, ",") {
			v, err := s.parse(strings.TrimSpace(item), perTTL)
			if err != nil {
				return a, err
			}
			if n := len(a.Values); n > 0 && v <= a.Values[n-1] {
				return a, i18n.Errorf("error.sweep.rising", "value", item, "before", a.Format(a.Values[n-1]))
			}
			a.Values = append(a.Values, v)
		}
		return a, a.check()
	}
	if len(parts) != 3 {
		return a, i18n.Errorf("error.sweep.range", "value", values)
	}
	var v [3]float64
	for i, p := range parts {
		free := s
		if i == 2 { // a step may be smaller than the least value
			free.least = min(0, free.least)
		}
		if v[i], err = free.parse(p, perTTL); err != nil {
			return a, err
		}
	}
	from, to, step := v[0], v[1], v[2]
	if step <= 0 || to < from || (to-from)/step > MaxValues-1 {
		return a, i18n.Errorf("error.sweep.order", "value", values, "most", MaxValues-1)
	}
	for i := 0; from+float64(i)*step <= to+step/1e6; i++ {
		x, _ := strconv.ParseFloat(strconv.FormatFloat(from+float64(i)*step, 'f', 9, 64), 64)
		a.Values = append(a.Values, x)
	}
	return a, a.check()
}

// check says which of the values means nothing.
func (a Axis) check() error {
	for _, v := range a.Values {
		if a.PerTTL && a.Setting.least > 0 && v <= 0 {
			return i18n.Errorf("error.sweep.zero", "setting", a.Name(), "value", a.Format(v))
		}
	}
	return nil
}

// ParseWork reads "computes" or "waits", as Situation.Waits.
func ParseWork(written string) (waits bool, err error) {
	if written != "computes" && written != "waits" {
		return false, i18n.Errorf("error.work", "value", written)
	}
	return written == "waits", nil
}

// ParseValues reads "pause/ttl=1.2,retry=500ms,work=lease" into values. lease: c1 works for
// a whole lease.
func ParseValues(items string) (values []Value, lease bool, err error) {
	if strings.TrimSpace(items) == "" {
		return nil, false, nil
	}
	for _, item := range strings.Split(items, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(item), "=")
		if !ok {
			return nil, false, i18n.Errorf("error.sweep.form", "value", item)
		}
		if name == "work" && value == "lease" {
			lease = true
			continue
		}
		a, err := ParseAxis(name + "=" + value)
		if err != nil {
			return nil, false, err
		}
		if len(a.Values) != 1 {
			return nil, false, i18n.Errorf("error.sweep.form", "value", item)
		}
		v := a.at(a.Values[0])
		if slices.ContainsFunc(values, func(o Value) bool { return o.Setting.Name == v.Setting.Name }) {
			return nil, false, i18n.Errorf("error.sweep.twice", "name", v.Setting.Name)
		}
		values = append(values, v)
	}
	return values, lease, nil
}
