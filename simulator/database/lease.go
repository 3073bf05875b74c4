package database

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A lease is a key that a client has: by a row of a table (see [Table]), or by a lock that the server keeps for a
// session, of a row that has no owner or by a name.
type lease struct {
	key     string
	owner   string    // of a row
	session SessionID // whose lock it is; 0: it is a row
	until   int64     // milliseconds of the server's clock, from now; forever: without end
}

const forever = math.MaxInt64

// held reports whether there is a lease.
func (l lease) held() bool { return l.owner != "" || l.session != 0 }

// SessionText is the session of a client's connection as histories have it: as the value of the key that it has locked.
func SessionText(client, slot int8) string { return fmt.Sprintf("c%d.session%d", client, slot) }

// text is the owner as histories have it: as the value of the key.
func (l lease) text() string {
	if l.session != 0 {
		return SessionText(clientOf(l.session), slotOf(l.session))
	}
	return l.owner
}

// leases are the keys that clients have, in order.
func (s *State) leases() (all []lease) {
	for ti, t := range s.tables {
		for _, r := range t.rows {
			version := r.old
			if r.writer != 0 {
				version = r.new
			}
			if l := t.def.lease(version, s.holder(ti, r)); l.held() {
				all = append(all, l)
			}
		}
	}
	for _, l := range s.locks {
		if l.table == names {
			all = append(all, lease{key: l.key[0].plain(), session: l.session, until: forever})
		}
	}
	slices.SortStableFunc(all, func(a, b lease) int { return cmp.Compare(a.key, b.key) })
	return all
}

// holder is the session whose transaction has a row exclusively; 0: none.
func (s *State) holder(ti int, r row) (id SessionID) {
	id = r.writer
	for _, l := range s.locks {
		if l.mode == exclusive && l.of(ti, r.key) {
			id = l.session
		}
	}
	return id
}

// lease is that of a row with a holder, or of none. A deadline on the server's clock ends it; that of a column of
// numbers is one of clients' clocks, of which the server knows nothing.
func (t *Table) lease(row []Value, holder SessionID) (l lease) {
	if row == nil {
		return lease{}
	}
	l = lease{until: forever}
	var key []string
	for _, v := range t.key(row) {
		key = append(key, v.plain())
	}
	l.key = strings.Join(key, "/")
	if owner := t.column(cmp.Or(t.Owner, "owner")); owner >= 0 {
		l.owner = row[owner].plain()
	}
	if l.owner == "" {
		l.session = holder
		return l
	}
	if until := t.column(cmp.Or(t.Until, "until")); until >= 0 && row[until].Type == Timestamp {
		if l.until = row[until].Int; l.until <= 0 {
			return lease{}
		}
	}
	return l
}

// leaseChange is a lease that has another owner, or another end.
type leaseChange struct {
	before, after lease
}

// leaseChanges lists what becomes of the leases, in the order of their keys, after some milliseconds.
func leaseChanges(from, to []lease, after int64) (changes []leaseChange) {
	var keys []string
	for _, l := range slices.Concat(from, to) {
		keys = append(keys, l.key)
	}
	slices.Sort(keys)
	of := func(list []lease, key string) lease {
		if i := slices.IndexFunc(list, func(l lease) bool { return l.key == key }); i >= 0 {
			return list[i]
		}
		return lease{key: key}
	}
	for _, key := range slices.Compact(keys) {
		a, b := of(from, key), of(to, key)
		if a.until != forever && a.held() {
			a.until -= after
		}
		if a != b {
			changes = append(changes, leaseChange{a, b})
		}
	}
	return changes
}
