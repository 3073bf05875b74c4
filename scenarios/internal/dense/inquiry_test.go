package dense

import (
	"context"
	"fmt"
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/contract"
	"locklab/scenarios/search"
	"locklab/scenarios/study"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// An inquiry is what the lab is asked of a lock, and the limits within which runs are to bear the answer out.
type inquiry struct {
	name string
	limits
	any  bool // number of clients: limits are those of few
	asks func(ctx context.Context, e lock.Entry) (*answered, error)
}

// answered is what the lab says cannot happen, and on which conditions.
type answered struct {
	proved []string
	ifs    []string
	once   bool // of one attempt of each client
}

// usual are the limits of a search at any timing.
func usual(e lock.Entry) limits {
	l := limits{entry: e, clients: 2, attempts: 2, nodes: e.Servers(), ttl: ttl, work: 4 * step, idle: 18 * step,
		latency: step, lateness: step, patience: 4 * step, drawn: true}
	if e.Servers() > 1 && e.Shards == 0 {
		l.nodes, l.latency, l.patience = 3, 0, step
	}
	return l
}

// budget reads what faults may strike; false: the runner does not know one of them.
func budget(e lock.Entry, written string, endless bool) (list []allowance, ok bool) {
	list = allowances(written)
	for i := range list {
		if endless {
			list[i].times = 4
		}
		switch list[i].fault {
		case "expire-session", "return", "server-list", "split":
			return nil, false
		case "failover":
			if e.Replicas > 0 {
				return nil, false
			}
		}
	}
	return list, true
}

// within is the inquiry of a row of the contract; false: runs do not have what it is about.
func within(e lock.Entry, r contract.Expectation) (q inquiry, ok bool) {
	b := r.Bounds.Settled(e)
	if e.OnZooKeeper() || e.Database != "" || b.Uses != 0 || b.Fenced || b.Skew != 0 || b.Tokens != 0 ||
		b.ClientRetries != 0 {
		return q, false
	}
	q = inquiry{name: r.Subject(), limits: usual(e), any: r.IsProof()}
	if q.limits.budget, ok = budget(e, string(b.Budget), r.IsProof() && r.Bounds.Endless); !ok {
		return q, false
	}
	q.clients, q.attempts, q.nodes = b.Clients, b.Attempts, b.Nodes
	q.set(b, e)
	if r.IsProof() {
		q.clients, q.attempts = 6, 4
		q.asks = func(ctx context.Context, e lock.Entry) (*answered, error) { return prove(ctx, e, r.Bounds) }
	} else {
		q.asks = func(ctx context.Context, e lock.Entry) (*answered, error) { return asked(ctx, e, r.Bounds) }
	}
	return q, true
}

// set takes over the times of bounds.
func (q *inquiry) set(b search.Bounds, e lock.Entry) {
	q.ttl = b.TTL
	if b.Timing != search.AnyTiming {
		q.lockstep, q.latency, q.lateness, q.work, q.between = true, 0, 0, q.ttl*2/5, q.ttl+q.ttl/10
		q.retries = explore.RetrySleeps(q.ttl, b.Retries)
		if q.patience = q.ttl / 3; b.Nodes > 1 && e.Shards == 0 {
			q.patience = q.ttl / 180
		}
		if q.retries != nil {
			q.work += time.Millisecond
		}
	}
	if b.Work != 0 {
		q.work = b.Work
	}
	if b.Latency != 0 {
		q.latency = max(b.Latency, 0)
		q.patience = max(q.patience, 2*q.latency+step)
	}
	if b.Lateness != 0 {
		q.lateness = max(b.Lateness, 0)
	}
}

// inquiriesOf are those of a lock: the rows of the contract, and proofs, searches and a tolerance besides.
func inquiriesOf(e lock.Entry) (list []inquiry) {
	for _, r := range rowsOf(e) {
		if q, ok := within(e, r); ok {
			list = append(list, q)
		}
	}
	for _, written := range []string{"", "crash=any", "lose-reply=any", "pause=any@2s", "restart=any", "evict=any"} {
		b, endless, err := search.ParseBudget(written)
		if err != nil {
			panic(err)
		}
		q := inquiry{name: "prove " + written, limits: usual(e), any: true}
		q.clients, q.attempts = 6, 4
		q.limits.budget, _ = budget(e, string(b), endless)
		q.asks = func(ctx context.Context, e lock.Entry) (*answered, error) {
			bounds := search.ProofBounds()
			bounds.Budget, bounds.Endless, bounds.Nodes = b, endless, q.nodes
			return prove(ctx, e, bounds)
		}
		list = append(list, q)
	}
	for _, size := range [][2]int{{2, 1}, {2, 2}, {3, 1}, {4, 1}} {
		for _, written := range []string{"", "crash=1", "pause=1@2s", "client-clock=1@10s"} {
			b := search.ProofBounds()
			b.Clients, b.Attempts, b.Nodes = size[0], size[1], usual(e).nodes
			q := inquiry{name: fmt.Sprintf("explore %dx%d %s", b.Clients, b.Attempts, written), limits: usual(e)}
			q.clients, q.attempts = b.Clients, b.Attempts
			q.limits.budget, _ = budget(e, written, false)
			if err := b.Set("budget", written); err != nil {
				panic(err)
			}
			q.asks = func(ctx context.Context, e lock.Entry) (*answered, error) { return asked(ctx, e, b) }
			list = append(list, q)
		}
	}
	rivals := study.UsualRivals()
	for _, h := range study.Hazards() {
		if h.Fault == "failover" && e.Replicas > 0 {
			continue
		}
		q := inquiry{name: "tolerance " + h.Fault, limits: usual(e)}
		b := search.ProofBounds()
		b.Timing, b.Nodes, b.Retries = search.Lockstep, q.nodes, explore.MaxRetries
		q.set(b, e)
		q.attempts = 1
		const parts = 25
		q.limits.budget = []allowance{{h.Fault, 1, 0}}
		if h.Sized {
			q.limits.budget[0].most = rivals.TTL * parts / study.LeaseParts
		}
		q.asks = func(ctx context.Context, e lock.Entry) (*answered, error) {
			s, err := rivals.Search(ctx, e, h, parts)
			if err != nil || !s.Complete || s.Trace != "" || e.Holders > 1 {
				return &answered{}, err
			}
			if s.HasLooked() { // it answers that it is not known
				return &answered{}, nil
			}
			return &answered{proved: []string{"OVERLAP"}, ifs: []string{"instants"}}, nil
		}
		list = append(list, q)
	}
	return list
}

func prove(ctx context.Context, e lock.Entry, b search.Bounds) (*answered, error) {
	b.MaxStates = mostStates(b)
	p, err := search.Prove(ctx, e, b)
	if err != nil {
		return nil, err
	}
	a := &answered{proved: written(p.Proved()), ifs: p.If(), once: !p.Once.IsZero()}
	if p.Search.Scope() == search.ScopeInstants {
		a.ifs = append(a.ifs, search.ScopeInstants)
	}
	return a, nil
}

// mostStates is what the lab may visit for an answer.
func mostStates(b search.Bounds) int {
	if effort.Exhaustive() {
		return min(max(b.MaxStates, 100_000), 400_000)
	}
	return 30_000
}

func asked(ctx context.Context, e lock.Entry, b search.Bounds) (*answered, error) {
	b.MaxStates = mostStates(b)
	s, err := search.Explore(ctx, e, b)
	if err != nil {
		return nil, err
	}
	a := &answered{ifs: s.If()}
	if s.Scope() != search.ScopeAny {
		a.ifs = append(a.ifs, search.ScopeInstants)
	}
	if s.Complete && s.Untriggered() == nil {
		found := append(s.Verdicts(), s.Unjudged()...)
		gone := func(w verdict.Word) bool { return slices.Contains(found, w) }
		a.proved = written(slices.DeleteFunc(s.Looked(), gone))
	}
	return a, nil
}

func written(words []verdict.Word) []string {
	return lists.Each(words, func(w verdict.Word) string { return string(w) })
}
