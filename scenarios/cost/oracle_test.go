package cost_test

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"locklab/faults"
	"locklab/scenarios/cost"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/effort"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// overlaps counts how often a client enters while another one is inside.
func overlaps(events []history.Event) (n int) {
	inside := map[int]bool{}
	for _, e := range events {
		switch e.Kind {
		case history.Enter:
			if len(inside) > 0 && !inside[e.Client] {
				n++
			}
			inside[e.Client] = true
		case history.Leave:
			delete(inside, e.Client)
		}
	}
	return n
}

// section is work that waits, or that computes: in parts, each of which begins when its
// process is awake.
func section(c *race.ClientSpec, hold time.Duration, waits bool) {
	const parts = 40
	c.Work = hold
	if waits {
		return
	}
	c.Work = hold / parts
	c.Run = func(a *race.ClientRun) {
		lease := client.Acquire(a.Client, a.Lock, a.Spec.Retry)
		for range parts {
			a.Clock().Sleep(hold / parts)
		}
		a.Record(history.Event{Kind: history.Leave})
		_ = client.Release(a.Client, lease) // what is left of it is not what is counted
	}
}

// TestWindowAgainstRuns: the window is the share of moments of a hold in which a pause does harm, played on the
// simulator: at one random moment in each of n equal parts of the hold.
func TestWindowAgainstRuns(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine counts")
	const n = 16
	all := subjects(t)
	for _, c := range []struct {
		lock        string
		hold, pause time.Duration
		waits       bool
	}{
		{"token", 4 * time.Second, 5800 * time.Millisecond, false},
		{"token", 4 * time.Second, 6300 * time.Millisecond, false},
		{"token", 4 * time.Second, 8 * time.Second, true},
		{"getset", 4 * time.Second, 8 * time.Second, true},
		{"redlock", 4 * time.Second, 6300 * time.Millisecond, false},
		{"watchdog", 20 * time.Second, 8 * time.Second, true},
		{"watchdog", 15 * time.Second, 6500 * time.Millisecond, false},
		{"watchdog", 5 * time.Second, 9 * time.Second, false},
		{"setnx", 4 * time.Second, 25 * time.Second, true},
	} {
		u := cost.Usage{PerSecond: 1, Contended: 1, TTL: 10 * time.Second, Work: c.hold, PauseStopsWork: !c.waits}
		bound := all[c.lock].Bound(u, pauses(t, "1/year", c.pause.String()))
		harmed := 0
		s := race.Standard()
		s.Retry = 50 * time.Millisecond
		sc := race.Race{ID: "window", Settings: s, Budget: race.FixedBudget("pause=1"),
			Clients: func(race.Settings) []race.ClientSpec {
				clients := []race.ClientSpec{{}, {Start: time.Millisecond}}
				section(&clients[0], c.hold, c.waits)
				return clients
			}}
		p := racetest.Must(sc.Prepare(racetest.Lock(t, c.lock), s, nil))(t)
		draw := race.Stream(1, "window")
		for i := range n {
			age := (time.Duration(i)*c.hold + time.Duration(draw.Int64N(int64(c.hold)))) / n
			p.Race.Script = func(race.Settings, int) []race.Trigger {
				return []race.Trigger{{On: race.Event(history.Enter, 1),
					Do: race.Inject(age, faults.PauseOf(1, c.pause))}}
			}
			run := racetest.Must(p.Play(s))(t)
			harmed += min(overlaps(run.Events), 1)
		}
		p.Close()
		if want := n * *bound.Harmful; math.Abs(want-float64(harmed)) > 2.5 {
			t.Errorf("%s, %v in a hold of %v: %d of %d runs overlap, the formula says %.1f: %+v",
				c.lock, c.pause, c.hold, harmed, n, want, bound)
		}
	}
}

// TestFormulaAgainstALongRun: in a deliberately bad environment both machines pause all the time, for hours of
// simulated time. The number of overlaps is what the formula expects, within the 99.9 %
// interval of a Poisson distribution.
func TestFormulaAgainstALongRun(t *testing.T) {
	effort.Unwatched(t, "one goroutine computes")
	const gap = 120 * time.Second // between two pauses of one machine, on average
	horizon := 1500 * time.Second
	if effort.Exhaustive() {
		horizon *= 6
	}
	all := subjects(t)
	for _, c := range []struct {
		lock        string
		hold, pause time.Duration
	}{
		{"token", 4 * time.Second, 9 * time.Second}, {"token", 4 * time.Second, 5 * time.Second},
		{"watchdog", 15 * time.Second, 9 * time.Second},
	} {
		if c.lock != "token" && !effort.Exhaustive() {
			continue
		}
		t.Run(fmt.Sprint(c.lock, c.pause), func(t *testing.T) {
			run := bad(t, all[c.lock], c.hold, c.pause, gap, horizon)
			enters := 0
			for _, e := range run.Events {
				if e.Kind == history.Enter {
					enters++
				}
			}
			u := cost.Usage{PerSecond: float64(enters) / run.End.Seconds(), Contended: 1, TTL: 10 * time.Second,
				Work: c.hold}
			want := *all[c.lock].Bound(u, pauses(t, "1/year", c.pause.String())).AtMost * run.End.Seconds() /
				gap.Seconds()
			got := overlaps(run.Events)
			t.Logf("%d holds, %d overlaps, expected %.1f", enters, got, want)
			poisson := distuv.Poisson{Lambda: want}
			switch {
			case want == 0 && got > 0:
				t.Errorf("%d overlaps, expected is none", got)
			case want > 0 && (poisson.CDF(float64(got)) < 0.0005 || got > 0 && poisson.CDF(float64(got-1)) > 0.9995):
				t.Errorf("%d overlaps, expected are %.1f", got, want)
			}
		})
	}
}

// bad plays two machines that want the lock all the time and pause at random moments.
func bad(t *testing.T, s cost.Subject, hold, pause, gap, horizon time.Duration) *schedule.Run {
	t.Helper()
	settings := race.Standard()
	settings.Retry, settings.Horizon = 250*time.Millisecond, horizon
	forever := func(a *race.ClientRun) {
		for {
			a.AcquireWorkRelease()
			a.Clock().Sleep(10 * time.Millisecond)
		}
	}
	client := race.ClientSpec{Work: hold, Run: forever}
	sc := race.Race{
		ID: "bad", Settings: settings, Budget: race.FixedBudget("pause=255"),
		Clients: func(race.Settings) []race.ClientSpec {
			second := client
			second.Start = time.Millisecond
			return []race.ClientSpec{client, second}
		},
	}
	p := racetest.Must(sc.Prepare(racetest.Lock(t, s.Lock), settings, nil))(t)
	t.Cleanup(p.Close)
	first := func(*history.Event) bool { return true }
	run, err := p.PlayWith(settings, []race.Trigger{{On: first, Do: func(stage *schedule.Stage, _ *history.Event) {
		for c := 1; c <= 2; c++ {
			draw := race.Stream(1, fmt.Sprint("bad", c))
			var next func()
			next = func() {
				stage.After(time.Duration(draw.ExpFloat64()*float64(gap)), func() {
					stage.Inject(0, faults.PauseOf(c, pause))
					next()
				})
			}
			next()
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if slices.IndexFunc(run.Events, func(e history.Event) bool { return e.Kind == history.Pause }) < 0 {
		t.Fatal("no pause was injected")
	}
	return run
}
