package record

// A stamp is when something happened: an instant between lo and hi, both included, in nanoseconds.
// since and by, if they are not 0, are its place in the order of the key's events that have a seq: they are equal for
// one of these, and else it comes after since and before by. n counts the lines that were read.
type stamp struct {
	lo, hi    int64
	since, by uint64
	n         int64
}

// before reports whether a happened before b for every choice of instants.
func (a stamp) before(b stamp) bool {
	return a.counted(b) || a.hi < b.lo && !b.counted(a)
}

// counted reports whether a happened before b as seq has it, whatever the clocks say.
func (a stamp) counted(b stamp) bool {
	return a.by > 0 && (a.by < b.since || a.by == b.since && (a.since < a.by || b.since < b.by || b.by == 0))
}

// ended reports whether what lasts until a shares no time with what begins at b, for every choice of instants. What ends at
// the instant at which the other begins shares none with it.
func (a stamp) ended(b stamp) bool {
	return a.before(b) || a.hi == b.lo && !b.counted(a)
}

// atMost notes that a did not happen after b, a later line of its client.
func (a *stamp) atMost(b stamp) {
	a.hi = min(a.hi, b.hi)
	if a.by == 0 {
		a.by = b.by
	}
}

// A recently keeps what was used recently, by name: at least the last of so many names, and at most twice as
// many, beside those that must be kept.
type recently[T any] struct {
	most     int // names in now, or more if more must be kept
	now, old map[string]T
}

// maxIdle is the number of clients, and of keys without an open lease, that are remembered.
const maxIdle = 1 << 14

func newRecently[T any](most int) recently[T] {
	return recently[T]{most, map[string]T{}, map[string]T{}}
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

func (r *recently[T]) put(name string, v T) { r.now[name] = v }

// forget makes room if there are too many names. What must not be forgotten, as keep says, stays.
func (r *recently[T]) forget(keep func(T) bool) {
	if len(r.now) < r.most {
		return
	}
	kept := map[string]T{}
	for name, v := range r.old {
		if keep(v) {
			kept[name] = v
		}
	}
	r.old, r.now = r.now, kept
	r.most = max(r.most, 2*len(kept))
}
