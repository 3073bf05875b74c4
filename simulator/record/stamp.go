package record

// A stamp is when something happened: an instant between lo and hi, both included, in nanoseconds. since and by, if
// they are not 0, are its place in the order of the key's events that have a seq: they are equal for one of these, and
// else it comes after since and before by. n counts the lines that were read; 0: it is not known when it happened.
type stamp struct {
	lo, hi    int64
	since, by uint64
	n         int64
}

// before reports whether a happened before b for every choice of instants.
func (a stamp) before(b stamp) bool { return a.counted(b) || a.hi < b.lo && !b.counted(a) }

// counted reports whether a happened before b as seq has it, whatever the clocks say.
func (a stamp) counted(b stamp) bool {
	return a.by > 0 && a.by < b.since // of two clients: no two lines have one seq
}

// ended reports whether what lasts until a shares no time with what begins at b, for every choice of instants. What
// ends at the instant at which the other begins shares none with it.
func (a stamp) ended(b stamp) bool { return a.before(b) || a.hi == b.lo && !b.counted(a) }

// atMost notes that a did not happen after b, a later line of its client.
func (a *stamp) atMost(b stamp) {
	a.hi = min(a.hi, b.hi)
	if a.by == 0 {
		a.by = b.by
	}
}

// A recently keeps what was used, by name: the last maxIdle names to twice as many, beside those that must be kept.
type recently[T any] struct {
	most     int          // names in now, or more if more must be kept
	keep     func(T) bool // reports whether something must be kept, and is asked before it is forgotten
	now, old map[string]T
}

// maxIdle is the number of clients, and of keys without an open lease, that are remembered.
const maxIdle = 1 << 14

func newRecently[T any](keep func(T) bool) recently[T] {
	return recently[T]{maxIdle, keep, map[string]T{}, map[string]T{}}
}

// get returns what was put under a name.
func (r *recently[T]) get(name string) (v T, ok bool) {
	if v, ok = r.now[name]; ok {
		return v, true
	}
	if v, ok = r.old[name]; ok {
		delete(r.old, name)
		r.now[name] = v
	}
	return v, ok
}

// put puts something under a name, and forgets what was not used for the longest time if there are too many names.
func (r *recently[T]) put(name string, v T) {
	r.now[name] = v
	if len(r.now) < r.most {
		return
	}
	kept := map[string]T{}
	for name, v := range r.old {
		if r.keep(v) {
			kept[name] = v
		}
	}
	r.old, r.now = r.now, kept
	r.most = max(maxIdle, 2*len(kept))
}
