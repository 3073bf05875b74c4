package study

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/search"
	"locklab/scenarios/share"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// A Hazard is a fault that is injected at most once.
type Hazard struct {
	Fault string // name as in package faults
	Sized bool   // the fault has a size, up to which the lock may tolerate it
}

// Hazards are the faults that a tolerance is measured against. The last two have no size: a search cannot say how long
// a replica lags, only that it had not yet received a write when it was made master.
func Hazards() []Hazard {
	return []Hazard{{"pause", true}, {"client-clock", true}, {"node-clock", true}, {"failover", false},
		{"restart", false}}
}

// The sizes that a tolerance looks at: 1 to MaxParts parts of a lease, of which LeaseParts make a whole one.
const (
	LeaseParts = 60
	MaxLeases  = 2
	MaxParts   = MaxLeases * LeaseParts
)

// A Tolerance is how large a single fault may be before a lock lets two clients in at once.
type Tolerance struct {
	Locks   []lock.Entry
	Hazards []Hazard
	Limits  []Limit // by lock, then by hazard
}

// At is the limit of lock l for the n-th hazard.
func (t *Tolerance) At(l, n int) *Limit { return &t.Limits[l*len(t.Hazards)+n] }

// A Limit is the size of a hazard at which one lock falls: at which two clients are inside at once.
type Limit struct {
	Lock   string `json:"lock"`
	Fault  string `json:"fault"`
	Answer Answer `json:"result"`
	// Holds is the largest size that was searched in full without two inside, in leases;
	// 0: not even the smallest did, or there is none. Not all sizes below it were searched.
	Holds float64 `json:"holds_up_to,omitempty"`
	// Falls is the smallest size that let two in, in leases; 0: none was found, or there is none.
	Falls float64 `json:"fails_at,omitempty"`
	// Boundary: a millisecond less than Falls was searched in full without two inside. At Falls itself two events fall
	// on the same instant, at which the second client enters and the first one leaves, or a lease ends.
	Boundary bool `json:"boundary_only,omitempty"`
	// Trace is a link to a run with two clients inside at that size: one way to it, not the shortest.
	Trace string `json:"trace,omitempty"`
	// States is the number of states that the searches have visited.
	States int `json:"-"`
}

// An Answer is a limit in a word or two.
type Answer string

// The answers about a hazard with a size, those about one without, and the answers of a
// search that was given up or not made, and of one that cannot be made.
const (
	Limited   Answer = "limited"
	NoLimit   Answer = "no limit found"
	AnySize   Answer = "fails at any size"
	FallsOnce Answer = "fails"
	HoldsOnce Answer = "holds"
	NoAnswer  Answer = "unknown"
	NotAsked  Answer = "N/A" // the fault has no meaning for the lock, or no number of clients can be one too many
)

// FindTolerance finds, for each lock and each of Hazards, the limit up to which the lock excludes, by bisection. Each
// answer is that of a complete search of all interleavings of two clients and at most one fault.
//
// The two run the same code. Each begins at once, or at any moment at which something is due, as the end of a pause or
// lease, however long the lock makes that last. Refused, it asks again with all retries of explore.RetrySleeps. When it
// has the lock it works for two fifths of a lease and a millisecond, gives it back and is done.
//
// w and ctx are as for Matrix; a limit that was not finished is NoAnswer.
func FindTolerance(ctx context.Context, locks []lock.Entry, w *share.Work) (*Tolerance, error) {
	r, hazards := UsualRivals(), Hazards()
	out := &Tolerance{Locks: locks, Hazards: hazards}
	for _, e := range locks {
		for _, h := range hazards {
			out.Limits = append(out.Limits, Limit{Lock: e.ID, Fault: h.Fault, Answer: NoAnswer})
		}
	}
	limits, err := share.Each(ctx, rising(len(out.Limits)), w, func(ctx context.Context, i int) (Limit, error) {
		return r.Limit(ctx, locks[i/len(hazards)], hazards[i%len(hazards)])
	})
	for i, l := range limits {
		if l != nil {
			out.Limits[i] = *l
		}
	}
	return out, err
}

// ToleranceCells returns the number of tasks of FindTolerance, for progress.
func ToleranceCells(locks int) int { return locks * len(Hazards()) }

// Rivals are the clients of a tolerance: two, and one more where two may be inside.
type Rivals struct {
	TTL time.Duration
	// Code, if it is not nil, puts a user's own code in place of the lock of a search.
	Code func(b *explore.Model)
}

// UsualRivals are those of FindTolerance.
func UsualRivals() Rivals { return Rivals{TTL: 9 * time.Second} }

// Limit bisects.
func (r Rivals) Limit(ctx context.Context, entry lock.Entry, h Hazard) (Limit, error) {
	out := Limit{Lock: entry.ID, Fault: h.Fault, Answer: NoAnswer}
	if search.Enough(entry, verdict.Overlap) == 0 {
		out.Answer = NotAsked
		return out, nil
	}
	low, most := 0, MaxParts // low holds
	if !h.Sized {
		most = 1 // the fault as it is
	}
	high := most + 1 // high falls
	for size := most; high-low > 1; size = (low + high) / 2 {
		s, err := r.Search(ctx, entry, h, size)
		if err != nil {
			return out, err
		}
		out.States += s.Result.States
		switch {
		case s.Trace != "":
			high, out.Trace = size, s.Trace
		case s.Result.Complete && !s.HasLooked():
			low = size
		default:
			return out, nil
		}
	}
	if h.Sized && high <= most {
		s, err := r.search(ctx, entry, h.budget(r.size(high)-time.Millisecond))
		if err != nil {
			return out, err
		}
		out.States += s.Result.States
		out.Boundary = s.Result.Complete && s.Trace == ""
	}
	switch {
	case !h.Sized && high > most:
		out.Answer = HoldsOnce
	case !h.Sized:
		out.Answer = FallsOnce
	case high > most:
		out.Answer, out.Holds = NoLimit, inLeases(low)
	case low == 0:
		out.Answer, out.Falls = AnySize, inLeases(high)
	default:
		out.Answer, out.Holds, out.Falls = Limited, inLeases(low), inLeases(high)
	}
	return out, nil
}

// inLeases is the size of so many parts of a lease.
func inLeases(parts int) float64 { return float64(parts) / LeaseParts }

// toleranceStates is the number of states at which a search is given up: it needs some hundred megabytes.
const toleranceStates = 3_000_000

// A RivalSearch is a search for two clients inside at once.
type RivalSearch struct {
	*explore.Result
	Trace string // link to a run that has them; "": none was found
}

// budget is one fault, of a size if it has one.
func (h Hazard) budget(size time.Duration) faults.Budget {
	if !h.Sized {
		return faults.Budget(h.Fault + "=1")
	}
	return faults.Budget(fmt.Sprintf("%s=1@%v", h.Fault, size))
}

// size is that of so many parts of a lease.
func (r Rivals) size(parts int) time.Duration { return r.TTL * time.Duration(parts) / LeaseParts }

// Search searches for two clients inside at once, with one fault of so many parts of a
// lease if it has a size. It ends when it has found them.
func (r Rivals) Search(ctx context.Context, entry lock.Entry, h Hazard, parts int) (*RivalSearch, error) {
	return r.search(ctx, entry, h.budget(r.size(parts)))
}

func (r Rivals) search(ctx context.Context, entry lock.Entry, budget faults.Budget) (*RivalSearch, error) {
	b := search.Bounds{Retries: explore.MaxRetries, Late: true, Budget: budget, Scope: explore.Scope{
		Clients: search.Enough(entry, verdict.Overlap), Attempts: 1, Nodes: search.FewServers(entry), TTL: r.TTL}}
	if err := b.Check(entry); err != nil {
		return nil, err
	}
	m, err := b.Model(entry)
	if err != nil {
		return nil, err
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	found := atomic.Bool{}
	m.NoProbe, m.MaxStates = true, toleranceStates
	m.Progress = func(r *explore.Result) {
		if overlap(r) != nil {
			found.Store(true)
			cancel()
		}
	}
	if r.Code != nil {
		r.Code(m)
	}
	sim, err := m.Simulator()
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	result, err := explore.Exhaust(inner, sim, m.Options())
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && !(found.Load() && errors.Is(err, context.Canceled)):
		return nil, i18n.Errorf("error.cause", "of", entry.ID, "cause", err)
	}
	out := &RivalSearch{Result: result}
	if way := overlap(result); way != nil {
		out.Trace = b.Trace(entry, way.Choices).Link()
	}
	return out, nil
}

func overlap(r *explore.Result) *explore.Witness {
	for i := range r.Found {
		if r.Found[i].Verdict == verdict.Overlap {
			return &r.Found[i]
		}
	}
	return nil
}
