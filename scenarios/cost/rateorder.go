package cost

import (
	"math"
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

// AddFault adds a fault to an environment, which it makes if there is none of this name.
func (o *RateOrder) AddFault(environment, fault, value string) error {
	c, err := parseCause(fault, value)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(o.Environments, func(e Environment) bool { return e.ID == environment })
	if i < 0 {
		o.Environments = append(o.Environments, Environment{ID: environment, Quality: Given, Causes: []Cause{c}})
		return nil
	}
	o.Environments[i].Causes = append(o.Environments[i].Causes, c)
	return nil
}

// Set changes one of Settings.
func (o *RateOrder) Set(key, value string) (err error) {
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
		if o.Hold, err = ParseLengths(value); err != nil {
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
		panic("rate: there is no setting " + key)
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

// Check returns an error if there are fewer machines than locks held.
func (o *RateOrder) Check() error {
	if held := o.Holds().Lo; held > float64(o.Machines) {
		return i18n.Errorf("error.rate.busy", "machines", o.Machines, "acquisitions", o.PerSecond, "hold", o.Hold, "held", math.Round(held))
	}
	return nil
}

// Shipped are the IDs of Environments.
func Shipped() []string {
	return lists.Each(Environments(), func(e Environment) string { return e.ID })
}
