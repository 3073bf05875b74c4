package client

import (
	"context"
	"errors"
	"slices"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/history"
)

// Uses is a set of what users of locks do besides acquiring, working and releasing. Whether
// a client does it, and when, is up to the scheduler; each at most once a lease.
type Uses uint8

const (
	Renew   Uses = 1 << iota // a holder renews its lease, and then works for as long again
	Check                    // a holder checks whether it still holds the lock before it writes
	Reenter                  // a holder acquires the lock once more, and releases it
	Wait                     // a client waits in line for its turn, without end
	GiveUp                   // an attempt has a deadline, which may come whenever it waits
)

// AllUses is every use.
const AllUses = Renew | Check | Reenter | Wait | GiveUp

var useNames = []string{"renew", "check", "reenter", "wait", "give-up"}

// UseNames are the names of all uses, in the order of the constants.
func UseNames() []string { return slices.Clone(useNames) }

// Names are the names of the uses in u.
func (u Uses) Names() (names []string) {
	for i, name := range useNames {
		if u.Has(1 << i) {
			names = append(names, name)
		}
	}
	return names
}

// UseOf is the use of this name; false: there is none.
func UseOf(name string) (Uses, bool) {
	i := slices.Index(useNames, name)
	return 1 << max(i, 0), i >= 0
}

// Has reports whether u has all uses of o.
func (u Uses) Has(o Uses) bool { return u&o == o }

// each lists the uses in u, one by one.
func (u Uses) each() (list []Uses) {
	for i := range useNames {
		if one := u & (1 << i); one != 0 {
			list = append(list, one)
		}
	}
	return list
}

// subsets lists all sets of uses in u, the empty one first.
func (u Uses) subsets() (list []Uses) {
	list = []Uses{0}
	for _, one := range u.each() {
		for _, set := range slices.Clone(list) {
			list = append(list, set|one)
		}
	}
	return list
}

// A Line is a lock with a line, in which a client waits or not.
type Line struct {
	lock.Queuer
	waits bool
}

// Acquire implements lock.Lock.
func (l *Line) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	if l.waits {
		return l.Await(ctx, key, lock.Forever)
	}
	return l.Queuer.Acquire(ctx, key)
}

// Attempt is Try by a client with these uses for a lock: the scheduler decides if it
// waits in line, which may be nil, and whether the attempt has a deadline.
func Attempt(c *simulator.Client, l lock.Lock, line *Line, uses Uses) (lock.Lease, error) {
	may := uses & GiveUp
	if line != nil {
		may |= uses & Wait
	}
	sets := may.subsets()
	if len(sets) == 1 {
		return Try(c, l)
	}
	how := sets[c.Clock().Idle(0, len(sets)-1)]
	if how.Has(Wait) {
		line.waits = true
		defer func() { line.waits = false }()
	}
	if !how.Has(GiveUp) {
		return Try(c, l)
	}
	ctx, stop := c.WithDeadline()
	defer stop()
	return try(ctx, c, l)
}

// work does what a client does between its read and its write. It reports whether the client goes on to write: only if
// no answer says that it does not hold the lock, and an answer that it asked for says that it does.
func (s *Section) work(c *simulator.Client, lease lock.Lease) bool {
	if s.Uses == 0 && !s.Idle {
		c.Clock().Sleep(s.Work)
		return true
	}
	left := s.Work
	if s.Uses.Has(Reenter) {
		left /= 2
		if c.Clock().Idle(left, 1) == 1 {
			inner, err := Try(c, s.Lock)
			if err != nil {
				return false
			}
			_ = Release(c, inner) // recorded, and the holder goes on
			left /= 2
		}
	}
	renewer, renews := lock.As[lock.Renewer](lease)
	checker, checks := lock.As[lock.Checker](lease)
	may := Uses(0)
	if renews {
		may |= s.Uses & Renew
	}
	if checks {
		may |= s.Uses & Check
	}
	for {
		ways := may.each()
		way := c.Clock().Idle(left, len(ways))
		if way == 0 {
			return true
		}
		if ways[way-1] == Check {
			return Ask(c, Checking, checker.Check)
		}
		if !Ask(c, Renewing, renewer.Renew) {
			return false
		}
		may &^= Renew
		left = s.Work
	}
}

// Ask calls a method of the lease by which its holder learns whether it still has the
// lock. It records an attempt with the note what, and its success or refusal.
func Ask(c *simulator.Client, what string, call func(context.Context) error) bool {
	c.Record(history.Event{Kind: history.Acquire, Note: what})
	if err := call(context.Background()); err != nil {
		c.Record(history.Event{Kind: history.Refuse, Claims: errors.Is(err, lock.ErrNotHeld), Note: Note(err)})
		return false
	}
	c.Record(history.Event{Kind: history.Enter, Claims: true, OK: true, Note: what})
	return true
}
