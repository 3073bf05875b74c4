package study

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// UsualWork is the time for which a client works inside, in all charts, if nothing else is said: two fifths of a lease.
func UsualWork(ttl time.Duration) time.Duration { return ttl * 2 / 5 }

// work is the time that every client is inside.
func (s Situation) work() time.Duration {
	switch {
	case s.WholeLease:
		return s.TTL
	case s.Work > 0:
		return s.Work
	case s.Renewal > 0:
		return 3 * s.TTL
	}
	return UsualWork(s.TTL)
}

// built holds what the simulator of a situation depends on.
func (s Situation) built() Situation {
	some := func(d time.Duration) time.Duration { return min(max(d, 0), 1) }
	s.Pause, s.Delay, s.Lag = 0, some(s.Delay), 0
	s.Loss, s.Crashes = min(s.Loss*1e12, 1), min(s.Crashes*1e12, 1)
	return s
}

// settings are those of a run; deep: it goes on until it shows what lasts.
func (s Situation) settings(deep bool) race.Settings {
	out := race.Standard()
	out.TTL, out.Retry, out.Clients, out.Lag = s.TTL, s.Retry, s.Clients, s.Lag
	out.Horizon = 3 * s.TTL
	if deep {
		out.Horizon = 6 * s.TTL
	}
	out.Horizon += s.Pause + s.Delay + time.Duration(s.Clients)*(s.work()+s.Retry)
	return out
}

// race has the clients, but not what goes wrong in a run.
func (s Situation) race() race.Race {
	work, sc := s.work(), race.Race{ID: "sweep", Settings: s.settings(false), NodePPM: s.NodePPM}
	var budget []string
	add := func(does bool, fault string) {
		if does {
			budget = append(budget, fault)
		}
	}
	add(true, "pause=1")
	add(s.Delay > 0, "delay=1")
	add(s.Failover, "failover=1")
	add(s.Loss > 0, "lose-request=255,lose-reply=255")
	add(s.Crashes > 0, "crash=1")
	sc.Budget = race.FixedBudget(strings.Join(budget, ","))
	if s.Failover {
		sc.Replicas = 1
	}
	sc.Clients = func(race.Settings) (clients []race.ClientSpec) {
		for i := range s.Clients {
			c := race.ClientSpec{Work: work / 2, Tail: work - work/2}
			run := (*race.ClientRun).AcquireWorkRelease
			if s.Renewal > 0 {
				run = func(a *race.ClientRun) { a.AcquireRenewRelease(work, s.Renewal) }
			}
			if i == 0 {
				c.Skew, c.PPM = -s.Skew, s.ClientPPM
				if s.WholeLease {
					run = func(a *race.ClientRun) { a.StayForLease(s.TTL) }
				}
			}
			c.Run = func(a *race.ClientRun) {
				run(a)
				if s.Delay > 0 { // a run ends with its clients, and the message may come after that
					a.Clock().Sleep(longest * time.Second)
				}
			}
			clients = append(clients, c)
		}
		return clients
	}
	return sc
}

// play counts the runs of a task, by point. All its points share a simulator.
func (o *SweepOrder) play(ctx context.Context, entry lock.Entry, t sweepTask) ([]int, error) {
	counts := make([]int, len(t.points))
	s := o.Situation(t.points[0])
	p, err := s.race().Prepare(entry, s.settings(o.deep()), nil)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	m := sweepMeter{order: o, prepared: p, work: s.work()}
	for run := t.from; run < t.to; run++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.draw(uint64(run+1), s)
		for i, at := range t.points {
			counted, err := m.play(o.Situation(at))
			if err != nil {
				return nil, err
			}
			if counted {
				counts[i]++
			}
		}
	}
	return counts, nil
}

// A sweepMeter plays the runs of one simulator.
type sweepMeter struct {
	order    *SweepOrder
	prepared *race.Prepared
	work     time.Duration
	seed     uint64
	begin    time.Duration // of c1's pause, or of the failover, after c1 has entered
	message  float64       // which of c1's messages is late, from 0 to 1 of all
	messages int           // that c1 exchanges where none is late
	crash    float64       // when c1 crashes, in mean times between crashes
}

// draw draws the random numbers of a run.
func (m *sweepMeter) draw(seed uint64, s Situation) {
	m.seed, m.messages = seed, -1
	draw := race.Stream(seed, "pause sweep")
	m.begin = time.Duration(draw.Int64N(int64(m.work))).Truncate(time.Microsecond)
	for i := range m.prepared.Clients[1:] {
		m.prepared.Clients[i+1].Start = time.Duration(draw.Int64N(int64(s.Retry))).Truncate(time.Microsecond)
	}
	m.message = race.Stream(seed, "delay sweep").Float64()
	m.crash = race.Stream(seed, "crash sweep").ExpFloat64()
}

// play plays a run and reports whether it counts.
func (m *sweepMeter) play(s Situation) (bool, error) {
	settings := s.settings(m.order.deep())
	settings.Seed = m.seed
	if s.Delay > 0 && m.messages < 0 {
		if err := m.countMessages(s, settings); err != nil {
			return false, err
		}
	}
	p := m.prepared
	run, err := p.PlayWith(settings, m.triggers(s))
	if err != nil {
		return false, err
	}
	if s.Loss > 0 && len(run.NotInjected) > 0 {
		return false, ErrLosses
	}
	counts := func(w verdict.Word) bool { return slices.Contains(m.order.Words, w) }
	if m.order.deep() {
		return slices.ContainsFunc(verdict.Judge(p.History(run, settings)).Verdicts, counts), nil
	}
	var judge verdict.Safety
	h := client.History(p.Entry, len(p.Clients), s.TTL)
	c := verdict.CaseOf(&h)
	for i := range run.Events {
		judge.Observe(&c, i, &run.Events[i], nil)
	}
	return slices.ContainsFunc(judge.Words(), counts), nil
}

// countMessages plays the run without the delay.
func (m *sweepMeter) countMessages(s Situation, settings race.Settings) error {
	s.Delay = 0
	run, err := m.prepared.PlayWith(settings, m.triggers(s))
	if err != nil {
		return err
	}
	m.messages = 0
	for i := range run.Events {
		if isMessage(&run.Events[i]) {
			m.messages++
		}
	}
	return nil
}

// isMessage matches a message from c1, and one that a server sends to it in answer.
func isMessage(e *history.Event) bool {
	kinds := []history.EventKind{history.Send, history.Apply, history.Read, history.Write}
	return e.Client == 1 && slices.Contains(kinds, e.Kind)
}

// pause is c1's pause. A stay for a whole lease ends by c1's clock, which goes on.
func (s Situation) pause() simulator.Choice {
	if s.Waits || s.WholeLease {
		return faults.PauseOf(1, s.Pause)
	}
	return faults.PauseComputingOf(1, s.Pause)
}

// triggers returns the faults of a run, with their occasions.
func (m *sweepMeter) triggers(s Situation) (all []race.Trigger) {
	each := func(on race.Pattern, do race.Action) { all = append(all, race.Trigger{On: on, Do: do, Each: true}) }
	threads := map[int]int{} // by message
	if s.Delay > 0 || s.Loss > 0 {
		each(func(e *history.Event) bool { return e.Kind == history.Send },
			func(_ *schedule.Stage, e *history.Event) { threads[e.Msg] = e.Thread })
	}
	if s.Pause > 0 {
		all = append(all, race.Trigger{On: race.Event(history.Enter, 1), Do: race.Inject(m.begin, s.pause())})
	}
	if s.Failover {
		entered := false
		each(func(e *history.Event) bool { return !entered && race.Event(history.Enter, 1)(e) },
			func(st *schedule.Stage, _ *history.Event) {
				entered = true
				st.Inject(m.begin, faults.FailoverOf(1))
			})
	}
	if s.Delay > 0 {
		late, n := int(m.message*float64(m.messages)), 0
		each(isMessage, func(st *schedule.Stage, e *history.Event) {
			if n == late {
				st.Inject(0, faults.DelayOf(1, threads[e.Msg], s.Delay))
			}
			n++
		})
	}
	if s.Loss > 0 {
		draws := map[int]*rand.Rand{}
		lost := func(client int) bool {
			if draws[client] == nil {
				draws[client] = race.Stream(m.seed, "loss sweep c"+string(rune('0'+client)))
			}
			return draws[client].Float64() < s.Loss
		}
		toServer := func(e *history.Event) bool { return e.Node != history.Resource }
		each(func(e *history.Event) bool { return e.Kind == history.Send && toServer(e) && lost(e.Client) },
			func(st *schedule.Stage, e *history.Event) { st.Inject(0, faults.LoseRequestOf(e.Client, e.Thread)) })
		each(func(e *history.Event) bool { return e.Kind == history.Apply && e.Client > 0 && lost(e.Client) },
			func(st *schedule.Stage, e *history.Event) { st.Inject(0, faults.LoseReplyTo(e.Client, threads[e.Msg])) })
	}
	if s.Crashes > 0 {
		begun := false
		each(func(*history.Event) bool { return !begun }, func(st *schedule.Stage, _ *history.Event) {
			begun = true
			if at := m.crash / s.Crashes * time.Hour.Seconds(); at < 1e6 {
				st.Inject(ofSeconds(at), faults.CrashOf(1))
			}
		})
	}
	return all
}

// z95 is the two-sided 95% quantile of the normal distribution.
const z95 = 1.959963984540054

// Wilson is the 95% score interval for a share of which k of n were seen (E. B. Wilson, 1927). Unlike the textbook
// interval it says something sensible about 0 of n: at most hi. With n <= 0 nothing is known: 0, 1. A k outside 0..n
// counts as the nearest of the two.
func Wilson(k, n int) (lo, hi float64) {
	if n <= 0 {
		return 0, 1
	}
	k = min(max(k, 0), n)
	share, size := float64(k)/float64(n), float64(n)
	scale := 1 + z95*z95/size
	middle := (share + z95*z95/(2*size)) / scale
	reach := z95 / scale * math.Sqrt(share*(1-share)/size+z95*z95/(4*size*size))
	lo, hi = max(0, middle-reach), min(1, middle+reach)
	if k == 0 {
		lo = 0 // exactly, whatever rounding made of it
	}
	if k == n {
		hi = 1
	}
	return lo, hi
}
