package record

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// A Judge judges the lines of a log, in the order in which a Reader returns them: one sweep, in which each key keeps
// the leases that may still hold it. What two leases have in common is not kept but derived from their stamps, for the
// few that are near each other. It keeps the open leases, and of the keys without any those that were used last.
type Judge struct {
	Result
	keys   recently[*key]
	open   map[string][]*lease // of each client
	widest int64               // by which an instant was unsure so far, in both directions
	now    int64               // the latest instant before which nothing can happen any more
}

// NewJudge keeps at most so many findings of each verdict.
func NewJudge(most int) *Judge {
	return &Judge{
		Result: Result{Counts: map[verdict.Word]int{}, Findings: []Finding{}, most: most},
		keys:   newRecently((*key).needed),
		open:   map[string][]*lease{},
	}
}

// Observe judges the next line. The error is that its seq contradicts the lines before.
func (j *Judge) Observe(l *Entry) error {
	j.Lines++
	if !j.First.Known {
		j.First = l.At
	}
	j.Last = l.At
	j.widest, j.now = max(j.widest, l.at.hi-l.at.lo), max(j.now, l.at.lo)
	if l.Event == Ended {
		j.ended(l)
		return nil
	}
	k, known := j.keys.get(l.Key)
	if !known {
		k = &key{
			judge: j, name: l.Key, begun: j.Lines, open: map[string]*lease{}, users: map[*lease]bool{},
			latest: math.MinInt64, low: math.MaxInt64,
		}
		j.keys.put(l.Key, k)
	}
	if l.Seq > 0 && l.Seq <= k.seq {
		err := i18n.Errorf("error.record.seq", "seq", l.Seq, "other", k.seqAt.String(), "before", k.seq)
		return &LineError{l.Place, err}
	}
	if l.Seq > 0 {
		k.seq, k.seqAt = l.Seq, l.Place
	}
	k.observe(l)
	return nil
}

// ended ends all leases of a client.
func (j *Judge) ended(l *Entry) {
	for _, s := range slices.SortedFunc(slices.Values(j.open[l.Client]), earlier) {
		s.key.wereOver(l, l.at)
		s.key.served(s.key.callerOf(l.Client), l.At)
		s.key.out(s, s.lapse(l))
	}
}

// earlier compares leases by when they were entered.
func earlier(a, b *lease) int { return cmp.Compare(a.enter.n, b.enter.n) }

// Finish ends the log.
func (j *Judge) Finish() *Result {
	for _, all := range []map[string]*key{j.keys.old, j.keys.now} {
		begun := func(a, b *key) int { return cmp.Compare(a.begun, b.begun) }
		for _, k := range slices.SortedFunc(maps.Values(all), begun) {
			k.finish()
		}
	}
	if j.Acquired > 0 { // what was looked for has a number, also if it is 0
		j.Counts[verdict.Unknown] += 0
	}
	j.settle()
	return &j.Result
}

// A key is what the sweep knows of one key.
type key struct {
	judge *Judge
	name  string
	begun int // the number of its first line
	seq   uint64
	seqAt Place

	open    map[string]*lease // of each client
	users   map[*lease]bool   // of these, those that have read or written
	fresh   []*lease          // the last ones of these, which may have later ones near
	closed  []*lease          // that a client which is read later may have entered before they ended
	holder  *lease            // that was entered last
	entered int               // leases
	latest  int64             // when the last of these was entered, at most
	low     int64             // when those were entered, at least, that can be earlier than lines read before them
	lowAt   int               // the number of the last of them

	callers [verdict.MaxClients]caller
	crowded bool // there were more
	blurred bool // an instant was unsure

	last, other wrote // the last accepted write, and the last before by another lease
	token       uint64
	outdated    bool     // a client that had not acquired last has tried to write: refused, or into another's lease
	fenced      *Finding // the first refused late write
	stale       bool     // a stale write was accepted
	unseen      bool     // one may have been

	wait   Wait
	recent []*Entry // lines, the last ones
}

// mostRecent is the number of lines that are shown before the one of a finding.
const mostRecent = 8

// needed reports whether the key must be remembered. If not, it is finished.
func (k *key) needed() bool {
	if k.held() {
		return true
	}
	k.judge.Forgotten++
	k.finish()
	return false
}

// held reports whether a client has the key, as far as the log shows it.
func (k *key) held() bool { return len(k.open) > 0 }

// observe judges a line of the key.
func (k *key) observe(l *Entry) {
	if k.recent = append(k.recent, l); len(k.recent) > mostRecent {
		k.recent = k.recent[1:]
	}
	k.blurred = k.blurred || l.at.lo != l.at.hi && l.Seq == 0
	over := l.at
	if l.Event == Released { // the call was made after the leases before it
		over = l.from
	}
	k.wereOver(l, over)
	s, c := k.open[l.Client], k.callerOf(l.Client)
	if s != nil {
		l.inside = s.acquired
		s.enter.atMost(l.at)
		s.decide()
	}
	switch l.Event {
	case Acquired:
		k.enter(s, c, l)
	case Refused:
		k.refuse(c, l)
	case Leaving, Lost, Released:
		k.leave(s, c, l)
	case Renewed:
		k.renew(s, c, l)
	case Read, Wrote:
		k.access(s, c, l)
	}
}

// wereOver notes for all leases of a client that are not open, by a line of it, that they were over by then.
func (k *key) wereOver(l *Entry, by stamp) {
	for _, s := range k.closed {
		if s.client == l.Client {
			s.wasOver(by)
		}
	}
}

// enter begins a lease.
func (k *key) enter(former *lease, c *caller, l *Entry) {
	j := k.judge
	if former != nil {
		former.acquired.inside = nil // a line does not keep all those before it
		j.Replaced++
		k.served(c, l.At)
		k.out(former, former.lapse(l))
	}
	j.Acquired++
	k.endWait()
	k.overtakes(c, l)
	k.prune()
	b := &lease{key: k, client: l.Client, acquired: l, last: l.Place, enter: l.at, seen: l.at, until: l.until()}
	b.around, b.near = slices.Clone(k.recent), make([]*lease, 0, 2*maxNear)
	k.latest = max(k.latest, b.enter.hi)
	for _, a := range k.closed {
		if a.client != b.client && !a.end.ended(b.enter) {
			a.meet(b)
		}
	}
	for _, a := range k.fresh {
		a.meet(b)
	}
	k.entered++
	k.holder, b.nth, b.counted, b.moreFrom = b, k.entered, k.entered+maxNear, math.MaxInt64
	if b.enter.lo < j.now {
		k.low, k.lowAt = min(k.low, b.enter.lo), b.nth
	}
	b.open, k.open[b.client], j.open[b.client], c.lease = true, b, append(j.open[b.client], b), b
	b.decide()
	if k.fresh = append(k.fresh, b); k.entered-k.fresh[0].nth > maxNear {
		k.fresh = k.fresh[1:]
	}
}

// until returns the latest end of the lease of a line.
func (l *Entry) until() (end stamp) {
	if l.Until.Known {
		end = stamp{lo: l.at.lo, hi: l.Until.Ns + l.at.hi - l.At.Ns, n: l.at.n}
	}
	return end
}

// leave is a lease that ends, or the answer to a release after that.
func (k *key) leave(s *lease, c *caller, l *Entry) {
	if s == nil {
		k.answer(k.lastOf(c, l), l)
		return
	}
	end := l.at
	switch {
	case l.Event == Released && !l.From.Known:
		k.judge.NoFrom++
		end = s.lapse(l)
	case l.Event == Released:
		end = l.from
		fallthrough
	default:
		s.left = end
		s.shows(end, l.Place)
	}
	k.out(s, end)
	if l.Event == Released {
		k.answer(s, l)
	}
}

// out takes a lease out of those that are open.
func (k *key) out(s *lease, end stamp) {
	s.close(end)
	k.drop(s)
	if k.closed = append(k.closed, s); len(k.closed) > maxClosed {
		k.prune()
	}
}

// drop takes a lease out of the lists of those that are open.
func (k *key) drop(s *lease) {
	j, is := k.judge, func(o *lease) bool { return o == s }
	delete(k.open, s.client)
	delete(k.users, s)
	k.fresh = slices.DeleteFunc(k.fresh, is)
	if j.open[s.client] = slices.DeleteFunc(j.open[s.client], is); len(j.open[s.client]) == 0 {
		delete(j.open, s.client)
	}
}

// Of the leases of a key that have ended these are kept when the next begins: the last few, and up to so many that
// may have ended later than that. If there are more, many are UNKNOWN already. Until then there are maxClosed.
const (
	fewClosed  = 8
	mostClosed = 32
	maxClosed  = 1 << 9
)

// prune forgets leases that ended long ago.
func (k *key) prune() {
	settled := k.judge.now - k.judge.widest
	for n := len(k.closed); n > mostClosed || n > fewClosed && k.closed[0].end.hi < settled; n-- {
		k.closed[0].settle()
		k.closed[0].settleMore()
		k.closed = slices.Delete(k.closed, 0, 1)
	}
}

// answer is that of a release.
func (k *key) answer(s *lease, l *Entry) {
	if s == nil || s.open || s.answered || l.Event != Released {
		k.judge.NoEntry++
		return
	}
	s.answered = true
	if l.OK == nil {
		k.judge.NoAnswer++
	} else if *l.OK && s.left.n > 0 {
		k.contradicted(s, s.left, l)
	}
}

// renew is a renewal or a check.
func (k *key) renew(s *lease, c *caller, l *Entry) {
	switch {
	case s == nil:
	case *l.OK:
		s.shows(l.at, l.Place)
		s.until = l.until()
		k.served(c, l.At)
		k.contradicted(s, l.from, l)
	default:
		c.refused(l)
	}
}

// contradicted is the statement of a lock that a client had it at a call. If another had acquired it since, one of the
// two statements is false, and only the server knows which. That it is so needs that the other asked for the lock when
// this client was inside already: an answer may be on its way for long.
func (k *key) contradicted(s *lease, call stamp, l *Entry) {
	// If not, it is UNKNOWN or OVERLAP already.
	if b := k.holder; b != s && s.enter.before(b.acquired.from) && b.enter.before(call) {
		k.doubt(k.finding(verdict.Lie, l, l, b.acquired), Either)
	}
}

// finish ends the lines of the key.
func (k *key) finish() {
	for i := range k.callers {
		k.served(&k.callers[i], k.judge.Last)
	}
	open := slices.SortedFunc(maps.Values(k.open), earlier)
	for _, s := range open {
		if s.until.n == 0 {
			k.judge.Open++
		}
	}
	for _, list := range [][]*lease{k.closed, open} {
		for _, s := range list {
			s.settled = s.open
		}
		for _, s := range list {
			s.settle()
		}
	}
	for _, s := range slices.Concat(k.closed, open) {
		s.settleMore()
	}
	switch {
	case k.fenced == nil || k.stale:
	case k.unseen:
		k.doubt(*k.fenced, Unseen)
	default:
		k.claim(*k.fenced)
	}
	k.endWait()
}

// endWait ends a row of refusals, and keeps the longest.
func (k *key) endWait() {
	w, most := k.wait, k.judge.Wait
	k.wait = Wait{}
	if w.Refused > 1 && (most == nil || w.Until.Ns-w.Since.Ns > most.Until.Ns-most.Since.Ns) {
		k.judge.Wait = &w
	}
}
