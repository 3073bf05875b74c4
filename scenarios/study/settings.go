package study

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/i18n"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A Situation is what goes on in the runs of a sweep. Every client acquires the lock, works and releases. c1 begins at
// once, the others at a random moment of the first Retry. Faults that are 0 do not happen.
type Situation struct {
	TTL     time.Duration // the lease that clients ask for
	Retry   time.Duration // pause of a client after a refusal, on its clock
	Clients int
	// Work is the time that every client is inside, on its clock; 0: UsualWork; with Renewal, three TTL.
	Work time.Duration
	// WholeLease has c1 stay for a lease in place of Work: on its clock, from before it asked, or until a check fails.
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
	// ClientPPM and NodePPM are microseconds that c1's clock, and those of all servers, gain in a true second.
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

// A unit is what numbers are, by the key of its texts. A number is written with one of the suffixes, each of which
// has its factor; that without suffixes is a length of time, in seconds.
type unit struct {
	key, symbol string
	suffixes    []suffix // the first one is written
	whole       bool
}

type suffix struct {
	text   string
	factor float64
}

var (
	seconds = &unit{key: "length", symbol: "s"}
	leases  = &unit{key: "ttl", symbol: "TTL", suffixes: []suffix{{"", 1}}}
	drift   = &unit{key: "drift", symbol: "ppm", suffixes: []suffix{{"%", 1e4}, {"ppm", 1}}, whole: true}
	portion = &unit{key: "portion", symbol: "1", suffixes: []suffix{{"%", 0.01}, {"", 1}}}
	perHour = &unit{key: "perhour", symbol: "1/h", suffixes: []suffix{{"/h", 1}, {"", 1}}}
	number  = &unit{key: "number", symbol: "1", suffixes: []suffix{{"", 1}}}
)

// parse reads a number; false: it is none.
func (u *unit) parse(written string) (float64, bool) {
	if written == "0" {
		return 0, true
	}
	for _, s := range u.suffixes {
		if cut, ok := strings.CutSuffix(written, s.text); ok {
			v, err := strconv.ParseFloat(cut, 64)
			if v *= s.factor; u.whole {
				v = math.Round(v)
			}
			return v, err == nil
		}
	}
	d, err := time.ParseDuration(written)
	return d.Seconds(), err == nil && u.suffixes == nil
}

// format writes what parse reads.
func (u *unit) format(v float64) string {
	if u.suffixes == nil {
		return ofSeconds(v).String()
	}
	s := u.suffixes[0]
	if u == drift && math.Abs(v) < 1000 && v != 0 {
		s = u.suffixes[1]
	}
	return strconv.FormatFloat(v/s.factor, 'g', 6, 64) + s.text
}

// ofSeconds is a length in whole microseconds.
func ofSeconds(v float64) time.Duration { return time.Duration(math.Round(v*1e6)) * time.Microsecond }

// A Setting is a number of a Situation that can be swept.
type Setting struct {
	Name        string
	Fault       bool // it makes something go wrong
	unit        *unit
	usual       string // the values of an axis that has none
	perTTL      bool   // usual is in leases
	least, most float64
	put         func(s *Situation, v float64)
	words       []verdict.Word // what a sweep counts, unless it is told
}

// A setting is of lengths up to an hour, in seconds; and one in leases up to a thousand of them.
const (
	longest    = 3600
	mostLeases = 1000
)

// settings are all of them, in the order in which help lists them.
var settings = []Setting{
	length("pause", "0:2:0.1", func(s *Situation) *time.Duration { return &s.Pause }).fault(0),
	length("delay", "0:2:0.1", func(s *Situation) *time.Duration { return &s.Delay }).fault(0, verdict.Overlap,
		verdict.StaleWrite),
	length("skew", "-1:1:0.1", func(s *Situation) *time.Duration { return &s.Skew }).fault(-longest),
	{Name: "client-rate", unit: drift, usual: "-20%:20%:2%", least: -500_000, most: 500_000, Fault: true,
		put: func(s *Situation, v float64) { s.ClientPPM = int32(v) }},
	{Name: "node-rate", unit: drift, usual: "-20%:20%:2%", least: -500_000, most: 500_000, Fault: true,
		put: func(s *Situation, v float64) { s.NodePPM = int32(v) }},
	{Name: "lag", unit: seconds, usual: "0:1:0.05", perTTL: true, most: longest, Fault: true,
		put: func(s *Situation, v float64) { s.Failover, s.Lag = true, ofSeconds(v) }},
	{Name: "loss", unit: portion, usual: "0%:30%:2%", most: 1, Fault: true,
		words: []verdict.Word{verdict.Orphan, verdict.Deadlock},
		put:   func(s *Situation, v float64) { s.Loss = v }},
	{Name: "crash", unit: perHour, usual: "0:600:30", most: 1e6, Fault: true,
		words: []verdict.Word{verdict.Deadlock, verdict.Blocked},
		put:   func(s *Situation, v float64) { s.Crashes = v }},
	length("ttl", "2s:20s:1s", func(s *Situation) *time.Duration { return &s.TTL }),
	length("renewal", "0.1:0.95:0.05", func(s *Situation) *time.Duration { return &s.Renewal }),
	{Name: "clients", unit: number, usual: "2:8:1", least: 2, most: simulator.MaxClients,
		put: func(s *Situation, v float64) { s.Clients = int(v) }},
	length("work", "0.1:2:0.1", func(s *Situation) *time.Duration { return &s.Work }),
	length("retry", "100ms:2s:100ms", func(s *Situation) *time.Duration { return &s.Retry }),
}

// length is a setting that is a length of time, above 0.
func length(name, usual string, of func(*Situation) *time.Duration) Setting {
	return Setting{Name: name, unit: seconds, usual: usual, perTTL: !strings.Contains(usual, "s"), least: 0.001,
		most: longest,
		put:  func(s *Situation, v float64) { *of(s) = ofSeconds(v) }}
}

// fault is the setting as one that makes something go wrong, from a value on.
func (s Setting) fault(least float64, words ...verdict.Word) Setting {
	s.Fault, s.least, s.words = true, least, words
	return s
}

// An Axis is a setting with the values at which it is looked at, rising.
type Axis struct {
	Setting Setting
	PerTTL  bool // Values are in leases
	Values  []float64
}

// Name is "pause/ttl" or "pause".
func (a Axis) Name() string {
	if a.PerTTL {
		return a.Setting.Name + "/ttl"
	}
	return a.Setting.Name
}

// String is "pause/ttl=1.2", of an axis of one value.
func (a Axis) String() string { return a.Name() + "=" + a.Format(a.Values[0]) }

// Format writes a value of the axis.
func (a Axis) Format(v float64) string { return a.unit().format(v) }

// Unit returns the unit of the values of the axis, as the head of a column has it.
func (a Axis) Unit() string { return a.unit().symbol }

func (a Axis) unit() *unit {
	if a.PerTTL {
		return leases
	}
	return a.Setting.unit
}

// with is the situation with the values of some axes of one value. A TTL counts first: other values may be parts of it.
func (s Situation) with(values []Axis) Situation {
	for _, first := range []bool{true, false} {
		for _, a := range values {
			if (a.Setting.Name == "ttl") != first {
				continue
			}
			v := a.Values[0]
			if a.PerTTL {
				v *= s.TTL.Seconds()
			}
			a.Setting.put(&s, v)
		}
	}
	return s
}

// MaxValues is the largest number of values of an axis.
const MaxValues = 1001

// ParseAxis reads "pause", "pause/ttl=0:2:0.1" or "clients=2,3,8". Without values it has the usual ones.
func ParseAxis(arg string) (a Axis, err error) {
	name, values, given := strings.Cut(arg, "=")
	name, a.PerTTL = strings.CutSuffix(strings.TrimSpace(name), "/ttl")
	i := slices.IndexFunc(settings, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		names := lists.Each(settings, func(s Setting) string { return s.Name })
		return a, i18n.Errorf("error.sweep", "name", name, "near", i18n.Near(name, names), "names",
			strings.Join(names, ", "))
	}
	a.Setting = settings[i]
	switch usual := (Axis{Setting: a.Setting, PerTTL: a.Setting.perTTL}); {
	case a.PerTTL && (a.Setting.unit != seconds || name == "ttl"):
		return a, i18n.Errorf("error.sweep.perttl", "name", name)
	case !given && a.PerTTL != usual.PerTTL:
		return a, i18n.Errorf("error.sweep.unusual", "name", a.Name(), "usual", usual.Name(), "range", a.Setting.usual)
	case !given:
		values = a.Setting.usual
	}
	if parts := strings.Split(values, ":"); len(parts) > 1 {
		return a.steps(values, parts)
	}
	for _, item := range strings.Split(values, ",") {
		v, err := a.parse(strings.TrimSpace(item), false)
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

// steps has the values of a range: from, to and step.
func (a Axis) steps(values string, parts []string) (Axis, error) {
	if len(parts) != 3 {
		return a, i18n.Errorf("error.sweep.range", "value", values)
	}
	var v [3]float64
	for i, p := range parts {
		var err error
		if v[i], err = a.parse(p, i == 2); err != nil {
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

// parse reads a value, or a step between two, which may be smaller. In leases smaller ones may mean nothing; see check.
func (a Axis) parse(written string, step bool) (float64, error) {
	least, most := a.Setting.least, a.Setting.most
	if a.PerTTL {
		most = mostLeases
		if least > 0 {
			least = 0
		} else if least < 0 {
			least = -mostLeases
		}
	}
	if step {
		least = min(0, least)
	}
	v, ok := a.unit().parse(written)
	if !ok || !(v >= least && v <= most) || a.Setting.unit == number && v != math.Trunc(v) {
		return 0, i18n.Errorf("error.sweep.value."+a.unit().key, "value", written, "setting", a.Setting.Name,
			"least", a.Format(least), "most", a.Format(most))
	}
	return v, nil
}

// check says which of the values means nothing.
func (a Axis) check() error {
	if a.PerTTL && a.Setting.least > 0 && a.Values[0] <= 0 {
		return i18n.Errorf("error.sweep.zero", "setting", a.Name(), "value", a.Format(a.Values[0]))
	}
	return nil
}

// ParseValues reads "pause/ttl=1.2,retry=500ms,work=lease" into axes of one value. lease: c1 works for a whole lease.
func ParseValues(items string) (values []Axis, lease bool, err error) {
	if strings.TrimSpace(items) == "" {
		return nil, false, nil
	}
	for _, item := range strings.Split(items, ",") {
		if strings.TrimSpace(item) == "work=lease" {
			lease = true
			continue
		}
		if !strings.Contains(item, "=") {
			return nil, false, i18n.Errorf("error.sweep.form", "value", item)
		}
		a, err := ParseAxis(item)
		switch {
		case err != nil:
			return nil, false, err
		case len(a.Values) != 1:
			return nil, false, i18n.Errorf("error.sweep.form", "value", item)
		case slices.ContainsFunc(values, func(o Axis) bool { return o.Setting.Name == a.Setting.Name }):
			return nil, false, i18n.Errorf("error.sweep.twice", "name", a.Setting.Name)
		}
		values = append(values, a)
	}
	return values, lease, nil
}
