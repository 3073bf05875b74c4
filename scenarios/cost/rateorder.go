package cost

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/scenarios/study"
	"locklab/simulator/i18n"
	"locklab/simulator/lists"
)

// A RateOrder is what is to be computed.
type RateOrder struct {
	Usage
	TTLs         []time.Duration // of the curves, rising; two at least
	Environments []Environment
}

// UsualRateOrder is the default: of a thousand machines each holds a contended lease of ten
// seconds for a tenth of the time.
func UsualRateOrder() RateOrder {
	o := RateOrder{
		Usage:        Usage{Machines: 1000, PerSecond: 100, Hold: Always(time.Second), Contended: 1, TTL: 10 * time.Second},
		Environments: Environments(),
	}
	for _, s := range []time.Duration{1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120} {
		o.TTLs = append(o.TTLs, s*time.Second)
	}
	return o
}

// Read changes the order by what a file says. The error names the file and the line. read
// returns the content of a file of lengths that is named in it.
//
// A line is a setting (machines, acquisitions, hold, work, contended, ttl, ttls), the name of an
// environment in brackets, or a fault of that environment. An environment without faults
// is one of Environments. If the file names any, only those are computed.
func (o *RateOrder) Read(name, content string, read func(name string) ([]byte, error)) error {
	named := false
	for n, line := range strings.Split(content, "\n") {
		text, _, _ := strings.Cut(line, "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if err := o.line(text, &named, read); err != nil {
			return i18n.Errorf("error.rate.line", "file", name, "line", n+1, "text", text, "cause", err)
		}
	}
	return nil
}

// line reads one line; named: an environment has been named before it.
func (o *RateOrder) line(line string, named *bool, read func(name string) ([]byte, error)) error {
	if id, ok := strings.CutPrefix(line, "["); ok {
		id, closed := strings.CutSuffix(id, "]")
		switch {
		case !closed || !plainName.MatchString(id):
			return i18n.Errorf("error.rate.section")
		case !*named:
			*named, o.Environments = true, nil
		case withID(o.Environments, id) != nil:
			return i18n.Errorf("error.rate.twice", "name", id)
		}
		e := Environment{ID: id, Quality: Given}
		if shipped := withID(Environments(), id); shipped != nil {
			e = *shipped
		}
		o.Environments = append(o.Environments, e)
		return nil
	}
	key, value, ok := strings.Cut(line, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	switch {
	case !ok:
		return i18n.Errorf("error.rate.form")
	case *named:
		return o.AddFault(o.Environments[len(o.Environments)-1].ID, key, value, read)
	}
	return o.Set(key, value, read)
}

var plainName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)

// withID finds an environment; nil: there is none.
func withID(all []Environment, id string) *Environment {
	if i := slices.IndexFunc(all, func(e Environment) bool { return e.ID == id }); i >= 0 {
		return &all[i]
	}
	return nil
}

// AddFault adds a fault to an environment, which it makes if there is none of this name.
// The first fault that is added to one of Environments replaces those that it had.
func (o *RateOrder) AddFault(environment, fault, value string, read func(name string) ([]byte, error)) error {
	c, err := parseCause(fault, value, read)
	if err != nil {
		return err
	}
	switch e := withID(o.Environments, environment); {
	case e == nil:
		o.Environments = append(o.Environments, Environment{ID: environment, Quality: Given, Causes: []Cause{c}})
	case e.Quality != Given:
		return i18n.Errorf("error.rate.shipped", "name", environment)
	default:
		e.Causes = append(e.Causes, c)
	}
	return nil
}

// Set changes a setting.
func (o *RateOrder) Set(key, value string, read func(name string) ([]byte, error)) (err error) {
	switch key {
	case "machines":
		n, bad := strconv.Atoi(value)
		if bad != nil || n < 1 || n > 1e9 {
			return i18n.Errorf("error.rate.machines", "value", value)
		}
		o.Machines = n
	case "acquisitions":
		o.PerSecond, err = strconv.ParseFloat(value, 64)
		if err != nil || !(o.PerSecond > 0 && o.PerSecond <= 1e9) {
			return i18n.Errorf("error.rate.acquisitions", "value", value)
		}
	case "contended":
		o.Contended, err = strconv.ParseFloat(value, 64)
		if err != nil || !(o.Contended >= 0 && o.Contended <= 1) {
			return i18n.Errorf("error.rate.contended", "value", value)
		}
	case "hold":
		if o.Hold, err = lengthsOrFile(value, read); err != nil {
			return err
		}
		if !o.Hold.Bounded() {
			return i18n.Errorf("error.rate.hold", "value", value)
		}
	case "work":
		o.Waits, err = study.ParseWork(value)
		return err
	case "ttl":
		o.TTL, err = parseTTL(value)
		return err
	case "ttls":
		return o.setTTLs(value)
	default:
		return i18n.Errorf("error.rate.setting", "name", key, "near", i18n.Near(key, Settings), "names", strings.Join(Settings, ", "))
	}
	return nil
}

// Settings are the names that Set knows.
var Settings = []string{"machines", "acquisitions", "hold", "work", "contended", "ttl", "ttls"}

func (o *RateOrder) setTTLs(value string) error {
	items := strings.Split(value, ",")
	if len(items) < 2 {
		return i18n.Errorf("error.rate.ttls.one", "value", value)
	}
	o.TTLs = nil
	for i, item := range items {
		d, err := parseTTL(strings.TrimSpace(item))
		if err != nil {
			return err
		}
		if i > 0 && d <= o.TTLs[i-1] {
			return i18n.Errorf("error.rate.ttls.order", "value", item, "before", o.TTLs[i-1])
		}
		o.TTLs = append(o.TTLs, d)
	}
	return nil
}

func parseTTL(value string) (time.Duration, error) {
	d, err := time.ParseDuration(value)
	if err != nil || d < time.Millisecond || d > 1000*time.Hour {
		return 0, i18n.Errorf("error.rate.ttl", "value", value)
	}
	return d, nil
}

// Check returns an error if parts of the order contradict each other.
func (o *RateOrder) Check() error {
	if held := o.Holds().Lo; held > float64(o.Machines) {
		return i18n.Errorf("error.rate.busy", "machines", o.Machines, "acquisitions", o.PerSecond, "hold", o.Hold, "held", math.Round(held))
	}
	for _, e := range o.Environments {
		if e.Quality == Given && len(e.Causes) == 0 {
			return i18n.Errorf("error.rate.empty", "name", e.ID, "near", i18n.Near(e.ID, Shipped()))
		}
	}
	return nil
}

// Shipped are the IDs of Environments.
func Shipped() []string {
	return lists.Each(Environments(), func(e Environment) string { return e.ID })
}
