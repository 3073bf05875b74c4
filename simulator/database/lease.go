package database

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
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

// holds reports whether a session has a transaction, or a lock by a name: something that is lost with it.
func holds(s *State, id SessionID) bool {
	p := s.find(id)
	return p != nil && (p.open || slices.ContainsFunc(s.named, func(n namedLock) bool { return n.session == id }))
}

// withoutIdle is a State without sessions that are as if they had just begun, which begin again when they ask for something.
func withoutIdle(s State) State {
	fresh := State{dialect: s.dialect}
	idle := func(p session) bool {
		return !holds(&s, p.id) && reflect.DeepEqual(p, fresh.Connect(p.id).sessions[0])
	}
	s.sessions = none(slices.DeleteFunc(slices.Clone(s.sessions), idle))
	return s
}

// waitOf is the wait of a session; the zero Wait: it does not wait.
func waitOf(s *State, id SessionID) Wait {
	for _, w := range s.Waits() {
		if w.Session == id {
			return w
		}
	}
	return Wait{}
}

// leasesOf are the keys that clients have, in order.
func leasesOf(s *State) (all []lease) {
	for _, t := range s.tables {
		for _, r := range s.Rows(t.def.Name) {
			if l := t.def.lease(r); l.held() {
				all = append(all, l)
			}
		}
	}
	for _, n := range s.Named() {
		all = append(all, lease{key: n.Name.plain(), session: n.Session, until: forever})
	}
	slices.SortStableFunc(all, func(a, b lease) int { return slices.Compare([]string{a.key}, []string{b.key}) })
	return all
}

// lease is that of a row. A deadline on the server's clock ends it; that of a column of numbers is one of clients' clocks, of which the
// server knows nothing.
func (t *Table) lease(r Row) (l lease) {
	now := r.Committed
	if r.Writer != 0 {
		now = r.Written
	}
	if now == nil {
		return lease{}
	}
	l = lease{until: forever}
	var key []string
	for _, v := range t.key(now) {
		key = append(key, v.plain())
	}
	l.key = strings.Join(key, "/")
	if owner := t.column(cmp.Or(t.Owner, "owner")); owner >= 0 {
		l.owner = now[owner].plain()
	}
	if l.owner == "" {
		l.session = r.Holder
		return l
	}
	if until := t.column(cmp.Or(t.Until, "until")); until >= 0 && now[until].Type == Timestamp {
		if l.until = now[until].Int; l.until <= 0 {
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
