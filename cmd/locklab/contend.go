package main

import (
	"context"
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

// The bounds of a contention.
const (
	maxContenders = 1000
	maxRequests   = 1_000_000
)

// contendFlags are the flags of "locklab live contend".
type contendFlags struct {
	cost.Contention
	policies []string
	chart    chartFlags
}

// liveContendCommand puts the load of article 000 on a real server.
func liveContendCommand() *command {
	c := &contendFlags{chart: chartFlags{numbers: true}, Contention: cost.Contention{Clients: 100, Requests: 1000, Load: cost.Load{
		Hold: 2 * time.Millisecond, Inside: 1, Poll: 20 * time.Millisecond, Cap: 200 * time.Millisecond, TTL: time.Second, Patience: 10 * time.Second,
	}}}
	return &command{
		use: "contend", texts: []string{"contend", "waiting"}, args: noArguments, flags: c.add, run: c.run,
		examples: []string{"live contend", "live contend --policies none,fixed --strategies setnx,getset,token -o contend.png", "live contend --clients 10 --requests 200 --hold 1ms --json"},
	}
}

func (c *contendFlags) add(f *flags) {
	f.add("clients", &c.Clients)
	f.add("requests", &c.Requests)
	f.add("policies", &c.policies)
	f.add("hold", &c.Load.Hold)
	f.add("poll", &c.Load.Poll)
	f.add("ttl", &c.Load.TTL)
	f.add("patience", &c.Load.Patience)
	c.chart.addUsual(f, "token")
}

func (c *contendFlags) run(e *env, _ []string) error {
	locks, err := c.chart.pick(e, nil)
	if err != nil {
		return err
	}
	list, err := contenders(c.policies, locks, c.Load.TTL)
	if err != nil {
		return err
	}
	if err := checkContention(c.Contention); err != nil {
		return err
	}
	server, err := reality.NewServer(e.ctx)
	if err != nil && e.ctx.Err() == nil {
		return err // something is missing
	} else if err != nil {
		return liveError(e.ctx, err)
	}
	defer server.Close()
	done, end := e.progress(2*len(list), "progress.live")
	drawn, err := contend(e.ctx, server, c.Contention, list, done)
	end()
	if refused := redis.Error(nil); errors.As(err, &refused) {
		return text.Errorf("error.contend.refused", "cause", err)
	}
	return c.chart.show(e, drawn, err, "locklab live contend -o contend.png", "locklab waiting", "locklab waiting --clients 10 --policies none --article")
}

// contend plays all on the real server and in the simulation. What was finished is returned with
// the error.
func contend(ctx context.Context, server *reality.Server, x cost.Contention, list []cost.Contender, done func(n int)) (*chart.ContendChart, error) {
	drawn := &chart.ContendChart{Contention: x, Version: server.Version}
	service, latency, err := server.Calibrate(ctx, x.Clients)
	if err != nil {
		return drawn, err
	}
	x.Load.Service, x.Load.Latency = service, latency
	drawn.Contention = x
	if done == nil {
		done = func(int) {}
	}
	for i, who := range list {
		r := chart.Contended{Policy: who.Policy.ID, Lock: who.Lock.ID}
		if r.Real, err = server.Contend(ctx, x, who); err != nil {
			return drawn, err
		}
		done(2*i + 1)
		if r.Lab, err = x.Predict(ctx, who); err != nil {
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
		if e.OnZooKeeper() || e.Nodes != 1 || e.Replicas > 0 {
			return nil, text.Errorf("error.contend.lock", "lock", e.ID)
		}
		if e.Unit > 0 && ttl%e.Unit != 0 {
			return nil, text.Errorf("error.contend.unit", "lock", e.ID, "value", ttl, "unit", e.Unit)
		}
	}
	for _, p := range chosen {
		own, _ := algorithms.ByName(p.Lock)
		switch {
		case own.OnZooKeeper() && policies != nil:
			return nil, text.Errorf("error.contend.policy", "name", p.ID)
		case own.OnZooKeeper():
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

func checkContention(x cost.Contention) error {
	for _, n := range []struct {
		flag      string
		is, limit int
	}{{"--clients", x.Clients, maxContenders}, {"--requests", x.Requests, maxRequests}} {
		if n.is < 1 || n.is > n.limit {
			return text.Errorf("error.contend.number", "flag", n.flag, "value", n.is, "most", n.limit)
		}
	}
	for _, d := range []struct {
		flag        string
		is          time.Duration
		least, most time.Duration
	}{
		{"--hold", x.Load.Hold, 0, 10 * time.Second}, {"--poll", x.Load.Poll, time.Millisecond, 10 * time.Second},
		{"--ttl", x.Load.TTL, 10 * time.Millisecond, time.Minute}, {"--patience", x.Load.Patience, time.Millisecond, time.Hour},
	} {
		if d.is < d.least || d.is > d.most {
			return text.Errorf("error.contend.length", "flag", d.flag, "value", d.is, "least", d.least, "most", d.most)
		}
	}
	return nil
}
