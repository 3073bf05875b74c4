package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/reality"
	"locklab/simulator/verdict"
)

type sentinelJSON struct {
	Version   int              `json:"version"`
	Server    string           `json:"redis_version"`
	Strategy  string           `json:"strategy"`
	Fault     string           `json:"fault"`
	DownAfter time.Duration    `json:"down_after_ns"`
	Failover  time.Duration    `json:"failover_timeout_ns"`
	TTL       time.Duration    `json:"ttl_ns"`
	Nobody    time.Duration    `json:"nobody_ns"`
	Two       time.Duration    `json:"two_ns"`
	Demoted   time.Duration    `json:"demoted_ns,omitempty"` // absent: the old master is gone
	Verdicts  []verdict.Word   `json:"verdicts"`
	Moments   []reality.Moment `json:"moments"`
}

// liveSentinelCommand plays a failover by redis-sentinel, as long as it takes.
func liveSentinelCommand() *command {
	d := &reality.SentinelDemo{Fault: reality.Partitioned, DownAfter: reality.DownAfter, TTL: 10 * time.Second}
	log := &logFlag{}
	return &command{
		use: "sentinel [STRATEGY]", args: atMost(1), complete: aLock,
		examples: []string{"live sentinel", "live sentinel watchdog --fault kill", "live sentinel --down-after 1s --periods 100ms --ttl 2s"},
		flags: func(f *flags) {
			log.add(f)
			f.add("fault", &d.Fault)
			inMillis(f, "down-after", &d.DownAfter, 100*time.Millisecond, 5*time.Minute)
			inMillis(f, "ttl", &d.TTL, 100*time.Millisecond, time.Minute)
			inMillis(f, "periods", &d.Periods, 10*time.Millisecond, 10*time.Second)
		},
		run: func(e *env, args []string) error { return runSentinel(e, d, log, args) },
	}
}

func runSentinel(e *env, d *reality.SentinelDemo, log *logFlag, args []string) (err error) {
	name := "token"
	if len(args) > 0 {
		name = args[0]
	}
	if d.Lock, err = race.Strategy(name); err != nil {
		return err
	}
	if err := checkSentinel(*d); err != nil {
		return err
	}
	if err := e.checkOutputs("--record", log.file); err != nil {
		return err
	}
	d.Record = log.recorder()
	done, end := e.progress(int((d.DownAfter+15*time.Second)/time.Second), "progress.live.sentinel")
	run, err := d.Play(e.ctx, func(ran time.Duration) {
		done(min(int(ran/time.Second), int((d.DownAfter+14*time.Second)/time.Second)))
	})
	end()
	switch late := (reality.AwaitedError{}); {
	case errors.As(err, &late) && e.ctx.Err() == nil:
		return &exitError{exitNoAnswer, err}
	case err != nil:
		return liveError(e.ctx, err)
	}
	e.show(sentinelToJSON(*d, run), func() { printSentinel(e, *d, run) })
	return log.write(e)
}

// inMillis declares a time of whole milliseconds; 0 is what it is if it is not given.
func inMillis(f *flags, name string, is *time.Duration, least, most time.Duration) {
	usual := *is
	f.add(name, is)
	f.check(name, func() error {
		if (*is < least || *is > most || *is%time.Millisecond != 0) && (*is != 0 || usual != 0) {
			return text.Errorf("error.contend.length", "flag", "--"+name, "value", *is, "least", least, "most", most)
		}
		return nil
	})
}

func checkSentinel(d reality.SentinelDemo) error {
	if d.Lock.Nodes != 1 || d.Lock.Replicas > 0 {
		return text.Errorf("error.sentinel.lock", "lock", d.Lock.ID)
	}
	if !slices.Contains(reality.SentinelFaults(), d.Fault) {
		return text.Errorf("error.sentinel.fault", "value", d.Fault, "all", strings.Join(reality.SentinelFaults(), ", "))
	}
	if d.Lock.Unit > 0 && d.TTL%d.Lock.Unit != 0 {
		return text.Errorf("error.contend.unit", "lock", d.Lock.ID, "value", d.TTL, "unit", d.Lock.Unit)
	}
	return nil
}

func sentinelToJSON(d reality.SentinelDemo, run *reality.SentinelRun) sentinelJSON {
	return sentinelJSON{
		schema, run.Version, d.Lock.ID, d.Fault, d.DownAfter, reality.FailoverTimeout, d.TTL,
		run.Waited, run.Two, run.Demoted, run.Verdicts, append([]reality.Moment{}, run.Moments...),
	}
}

func printSentinel(e *env, d reality.SentinelDemo, run *reality.SentinelRun) {
	tenth := func(d time.Duration) string { return reports.Span(d.Round(100 * time.Millisecond)) }
	e.Printf("%s\n\n", e.Say("sentinel.title", "lock", d.Lock.Heading()))
	periods := func(lang string) string {
		if d.Periods > 0 {
			return text.Say(lang, "sentinel.periods", "periods", reports.Span(d.Periods))
		}
		return text.Say(lang, "sentinel.periods.own")
	}
	e.Wrap("", e.Each(func(lang string) string {
		return text.Say(lang, "sentinel.settings", "version", run.Version, "down", reports.Span(d.DownAfter), "failover", reports.Span(reality.FailoverTimeout), "ttl", reports.Span(d.TTL), "periods", periods(lang))
	}))
	e.Printf("\n")
	for _, m := range run.Moments {
		said := m.What
		if m.Who != "sentinel" {
			said = e.Say("sentinel.moment." + m.What)
		}
		e.Printf("%7.1f s  %-8s  %s\n", m.At.Seconds(), m.Who, strings.TrimSpace(said+" "+text.Visible(m.Note)))
	}
	e.Printf("\n")
	e.Wrap("", e.Say("sentinel.nobody", "span", tenth(run.Waited)))
	if run.Demoted > 0 {
		e.Wrap("", e.Say("sentinel.two."+d.Fault, "span", tenth(run.Two), "back", tenth(run.Demoted-run.Waited)))
	} else {
		e.Wrap("", e.Say("sentinel.two."+d.Fault, "span", tenth(run.Two)))
	}
	e.Wrap("", e.Say("sentinel.verdicts", "verdicts", fmt.Sprint(reports.Words(run.Verdicts))))
	e.Next("locklab live run "+d.Lock.ID+" split-brain", "locklab live run "+d.Lock.ID+" failover", "locklab explain failover")
}
