package simulator

import (
	"strconv"
	"strings"
	"time"

	"locklab/simulator/i18n"
)

// A Date is when right clocks begin in a run, in Unix milliseconds; 0: at Epoch.
type Date int64

// datesEnd is later than every Date: those of a run are within the end of time of clocks that begin at Epoch.
const datesEnd = 4_102_444_800_000 // 2100

// ParseDate reads what String wrote. The error says what it would accept.
func ParseDate(written string) (Date, error) {
	ms, err := strconv.ParseInt(written, 10, 64)
	if err != nil || ms <= 0 || ms >= datesEnd {
		return 0, i18n.Errorf("error.want.date")
	}
	return Date(ms), nil
}

func (d Date) String() string { return strconv.FormatInt(int64(d), 10) }

// Ahead is by how much right clocks are ahead of those that begin at Epoch.
func (d Date) Ahead() time.Duration {
	if d == 0 {
		return 0
	}
	return time.UnixMilli(int64(d)).Sub(Epoch)
}

// EpochSetting is the name of the Date among the settings of a trace. Those of a link always have it, and those of a Trace if it is not
// Epoch: a run is played at its own date, also if Epoch is another one by then.
const EpochSetting = "epoch"

// undated is the Date of links that have none.
const undated Date = 1_000_000_000_000

// setting is a Date as one of some settings.
func (d Date) setting() string { return EpochSetting + "=" + d.String() }

func hasDate(settings string) bool { return strings.Contains(","+settings, ","+EpochSetting+"=") }

func withDate(settings string, d Date) string {
	if settings == "" {
		return d.setting()
	}
	return settings + "," + d.setting()
}

// inLink are settings as a link has them.
func inLink(settings string) string {
	if hasDate(settings) {
		return settings
	}
	return withDate(settings, Date(Epoch.UnixMilli()))
}

// fromLink are settings as a Trace has them.
func fromLink(settings string) string {
	usual := Date(Epoch.UnixMilli()).setting()
	switch {
	case !hasDate(settings):
		return withDate(settings, undated)
	case settings == usual:
		return ""
	}
	return strings.TrimSuffix(settings, ","+usual)
}
