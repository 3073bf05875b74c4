package cost

import (
	"context"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/share"
)

// A Recovery is the time for which a lock is closed after its holder has crashed, by the work of that holder.
type Recovery struct {
	Lock string        `json:"lock"`
	TTL  time.Duration `json:"ttl_ns"`
	Work time.Duration `json:"work_ns"` // for which the holder is inside, if it does not crash
	Blocked
}

// Blocked is the time after a holder's crash in which no other client can enter. The crash is equally likely at any
// moment of the work. Forever: until an operator deletes the key.
type Blocked struct {
	Mean    time.Duration `json:"blocked_mean_ns"`
	Longest time.Duration `json:"blocked_longest_ns"`
}

// Blocked follows from the lease. After a crash during the part of the work that outlives it, the lock is free.
func (l Lease) Blocked(ttl, work time.Duration) Blocked {
	switch {
	case len(l.Spans) == 0:
		return Blocked{Unmeasured, Unmeasured}
	case l.Endless():
		return Blocked{Forever, Forever}
	case l.Kept:
		left := leases(l.Spans[0].Left, ttl)
		return Blocked{left, left}
	}
	out, total := Blocked{}, 0.0
	l.each(ttl, work, func(from, next, end time.Duration) {
		if to := min(next, work, end); to > from {
			total += (to - from).Seconds() * ((end - from) + (end - to)).Seconds() / 2
		}
		out.Longest = max(out.Longest, end-from)
	})
	out.Mean = time.Duration(total / work.Seconds() * float64(time.Second)).Round(time.Microsecond)
	return out
}

// A RecoveryOrder is the input of FindRecovery.
type RecoveryOrder struct {
	TTL  time.Duration // from a second on
	Work time.Duration // the longest, above 0; 0: two TTL, in which a lease ends that is not renewed
}

// works is the number of lengths of work that are looked at, evenly up to the longest.
const works = 20

// Check returns an error if a lock cannot be used with the TTL.
func (o RecoveryOrder) Check(e lock.Entry) error {
	sc := leaseRace(o.TTL)
	return sc.Check(e, sc.Settings)
}

// FindRecovery finds the Recovery of each lock with each length of work: by lock, then by work. w and ctx are as for
// study.Matrix. What was not finished is left out.
func FindRecovery(ctx context.Context, locks []lock.Entry, o RecoveryOrder, w *share.Work) (all []Recovery, err error) {
	if o.Work == 0 {
		o.Work = 2 * o.TTL
	}
	tasks := make([]share.Task, len(locks))
	for i, e := range locks {
		tasks[i].Cost = 0.2 * float64(e.Servers())
	}
	results, err := share.Each(ctx, tasks, w, func(ctx context.Context, i int) (of []Recovery, err error) {
		l, err := MeasureLease(ctx, locks[i], o.TTL)
		for n := range works {
			work := o.Work * time.Duration(n+1) / works
			of = append(of, Recovery{locks[i].ID, o.TTL, work, l.Blocked(o.TTL, work)})
		}
		return of, err
	})
	for _, of := range results {
		if of != nil {
			all = append(all, *of...)
		}
	}
	return all, err
}
