package main

import (
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/chart"
	"locklab/reports/text"
	"locklab/scenarios/cost"
	"locklab/scenarios/reality"
)

// liveContendCommand puts the load of article 000 on a real server.
func liveContendCommand() *command {
	x := cost.Contention{Clients: 100, Requests: 1000, Load: cost.Load{
		Hold: 2 * time.Millisecond, Inside: 1, Poll: 20 * time.Millisecond, Cap: 200 * time.Millisecond, TTL: time.Second, Patience: 10 * time.Second,
	}}
	var (
		policies []string
		log      logFlag
	)
	c := &chartFlags{numbers: true, next: []string{
		"locklab live contend -o contend.png", "locklab waiting",
	}}
	return &command{
		use: "contend", texts: []string{"contend", "waiting"}, args: noArguments,
		examples: []string{"live contend", "live contend --policies none,fixed --strategies setnx,getset,token -o contend.png", "live contend --clients 10 --requests 200 --hold 1ms --json"},
		flags: func(f *flags) {
			ranged(f, "clients", &x.Clients, 1, 1000, "error.contend.number")
			ranged(f, "requests", &x.Requests, 1, 1_000_000, "error.contend.number")
			f.add("policies", &policies)
			ranged(f, "hold", &x.Load.Hold, 0, 10*time.Second, "error.contend.length")
			ranged(f, "poll", &x.Load.Poll, time.Millisecond, 10*time.Second, "error.contend.length")
			ranged(f, "ttl", &x.Load.TTL, 10*time.Millisecond, time.Minute, "error.contend.length")
			ranged(f, "patience", &x.Load.Patience, time.Millisecond, time.Hour, "error.contend.length")
			log.add(f)
			c.addUsual(f, "token")
		},
		run: c.run(noLocks, func(e *env, locks []lock.Entry) (chart.Result, error) {
			list, err := contenders(policies, locks, x.Load.TTL)
			if err != nil {
				return nil, err
			}
			if err := e.checkOutputs("--record", log.file); err != nil {
				return nil, err
			}
			server, err := reality.NewServer(e.ctx)
			if err != nil && e.ctx.Err() != nil {
				err = noAnswer("error.stopped")
			}
			if err != nil {
				return nil, err // something is missing
			}
			defer server.Close()
			server.Record = log.recorder()
			drawn, err := contend(e, server, x, list)
			if refused := redis.Error(nil); errors.As(err, &refused) {
				return nil, text.Errorf("error.contend.refused", "cause", err)
			}
			return drawn, errors.Join(err, log.write(e))
		}),
	}
}

// contend plays all on the real server and in the simulation. What was finished is returned with
// the error.
func contend(e *env, server *reality.Server, x cost.Contention, list []cost.Contender) (*chart.ContendChart, error) {
	done, end := e.progress(2*len(list), "progress.live")
	defer end()
	drawn := &chart.ContendChart{Contention: x, Version: server.Version}
	service, latency, err := server.Calibrate(e.ctx, x.Clients)
	if err != nil {
		return drawn, err
	}
	x.Load.Service, x.Load.Latency = service, latency
	drawn.Contention = x
	for i, who := range list {
		r := chart.Contended{Policy: who.Policy.ID, Lock: who.Lock.ID}
		if r.Real, err = server.Contend(e.ctx, x, who); err != nil {
			return drawn, err
		}
		done(2*i + 1)
		if r.Lab, err = x.Predict(e.ctx, who); err != nil {
			return drawn, err
		}
		done(2*i + 2)
		drawn.Results = append(drawn.Results, r)
	}
	return drawn, nil
}

// contenders are each way to wait with each lock that is waited for so. Without locks each has its
// own.
func contenders(policies []string, locks []lock.Entry, ttl time.Duration) (all []cost.Contender, err error) {
	chosen, err := pickPolicies(policies)
	if err != nil {
		return nil, err
	}
	for _, e := range locks {
		if e.Database != "" {
			return nil, text.Errorf("error.contend.database", "lock", e.ID)
		}
		if e.Nodes != 1 || e.Replicas > 0 {
			return nil, text.Errorf("error.contend.lock", "lock", e.ID)
		}
		if e.Unit > 0 && ttl%e.Unit != 0 {
			return nil, text.Errorf("error.contend.unit", "lock", e.ID, "value", ttl, "unit", e.Unit)
		}
	}
	for _, p := range chosen {
		own, _ := algorithms.ByName(p.Lock)
		switch {
		case own.Ensemble() && policies != nil:
			return nil, text.Errorf("error.contend.policy", "name", p.ID)
		case own.Ensemble():
		case p.Polls && locks != nil:
			for _, e := range locks {
				all = append(all, cost.Contender{Policy: p, Lock: e})
			}
		case p.Polls || locks == nil || policies != nil || slices.ContainsFunc(locks, func(e lock.Entry) bool { return e.ID == own.ID }):
			all = append(all, cost.Contender{Policy: p, Lock: own})
		}
	}
	return all, nil
}
