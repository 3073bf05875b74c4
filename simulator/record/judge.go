package record

import (
	"maps"
	"math"
	"slices"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// A Judge judges the lines of a log, in the order in which a Reader returns them. It keeps the
// open leases, and of the keys without any those that were used last.
type Judge struct {
	Result
	keys   recently[*keyJudge]
	open   map[string][]*section // of each client
	widest int64                 // by which an instant was unsure so far, in both directions
	now    int64                 // the latest instant before which nothing can happen any more
	silent silent
}

// NewJudge keeps at most so many findings of each verdict.
func NewJudge(most int) *Judge {
	return &Judge{
		Result: Result{Counts: map[verdict.Word]int{}, Findings: []Finding{}, most: most},
		keys:   newRecently[*keyJudge](maxIdle),
		open:   map[string][]*section{},
		silent: silent{leases: map[silentID]silentLease{}, recent: make([]*section, recentLeases)},
	}
}

// Observe judges the next line. The error is that its seq contradicts the lines before.
func (j *Judge) Observe(l *Entry) error {
	j.Lines++
	if !j.First.Known {
		j.First = l.At
	}
	j.Last = l.At
	j.widest, j.now = max(j.widest, l.stamp.hi-l.stamp.lo), max(j.now, l.stamp.lo)
	if l.Event == Ended {
		j.ended(l)
		return nil
	}
	k, known := j.keys.get(l.Key)
	if !known {
		k = newKeyJudge(j, l.Key)
		j.keys.put(l.Key, k)
		j.keys.forget((*keyJudge).needed)
	}
	if l.Seq > 0 && l.Seq <= k.seq {
		return &LineError{l.Place, i18n.Errorf("error.record.seq", "seq", l.Seq, "other", k.seqAt.String(), "before", k.seq)}
	}
	if l.Seq > 0 {
		k.seq, k.seqAt = l.Seq, l.Place
	}
	k.observe(l)
	return nil
}

// ended ends all sections of a client.
func (j *Judge) ended(l *Entry) {
	for _, s := range slices.SortedFunc(slices.Values(j.open[l.Client]), earlier) {
		s.key.wereOver(l, l.stamp)
		s.key.feed(history.Event{Kind: history.Done, Client: s.slot + 1}, l)
		s.key.out(s, s.endBy(l))
	}
	for more := true; more; {
		_, more = j.silent.take(l.Client, nil)
	}
}

// Finish ends the log.
func (j *Judge) Finish() *Result {
	for _, all := range []map[string]*keyJudge{j.keys.old, j.keys.now} {
		for _, k := range slices.SortedFunc(maps.Values(all), func(a, b *keyJudge) int { return int(a.begun - b.begun) }) {
			k.finish()
		}
	}
	j.Open += j.silent.open
	if j.Acquired > 0 { // what was looked for has a number, also if it is 0
		j.Counts[verdict.Unknown] += j.silent.unsure
	}
	j.settle()
	return &j.Result
}

// A keyJudge judges the lines of one key.
type keyJudge struct {
	judge *Judge
	key   string
	begun int64 // the number of its first line
	seq   uint64
	seqAt Place

	open    map[string]*section // of each client
	fresh   []*section          // the last ones of open, see maxPairs
	used    []*section          // those of open that have read or written, and some that have ended
	closed  []*section          // that a client which is read later may have entered before they ended
	holder  *section            // that acquired last
	entered int                 // leases
	number  uint32              // of the key, once it has had a silent lease
	silent  int                 // leases that are among those of the judge
	since   int64               // when the last of these acquired, at most

	monitor verdict.Monitor
	slots   [verdict.MaxClients]slot
	value   bool // of the key that the monitor is shown: it changes
	crowded bool // there were more clients than slots
	blurred bool // an instant was unsure

	last, other wrote // the last accepted write, and the last before by another lease
	token       uint64
	fenced      *Finding // the first refused late write
	stale       bool     // a stale write was accepted
	unseen      bool     // one may have been

	wait   Wait
	recent [8]*Entry // lines, the last ones; a ring
	lines  int
}

// A slot is a client as the monitor has it.
type slot struct {
	client  string
	lease   int
	section *section // its last one
	used    int64
}

// noSlot is the slot of a section whose slot was given to another client. The monitor gets nothing further of it.
const noSlot = -1

// wrote is an accepted write.
type wrote struct {
	version, base int
	least         int // base of a row of writes under one lease
	slot, lease   int
	client        string
	place         Place
	ok, inside    bool
}

// server is the head of the run for the monitor: eight clients, and a server that it does not see.
var server = verdict.CaseOf(&history.History{Clients: verdict.MaxClients, Nodes: 1, Key: "key"})

func newKeyJudge(j *Judge, key string) *keyJudge {
	k := &keyJudge{judge: j, key: key, begun: int64(j.Lines), open: map[string]*section{}}
	// A server that may be down: the refusals of others have a cause that no log shows.
	k.monitor.Observe(&server, 0, &history.Event{Kind: history.Down, Node: 1}, nil)
	return k
}

// needed reports whether the key must be remembered. If not, it is finished.
func (k *keyJudge) needed() bool {
	if k.had() {
		return true
	}
	k.judge.Forgotten++
	if k.number > 0 {
		k.judge.silent.keys[k.number-1] = nil
	}
	k.finish()
	return false
}

func (k *keyJudge) observe(l *Entry) {
	k.recent[k.lines%len(k.recent)] = l
	k.lines++
	k.blurred = k.blurred || l.stamp.lo != l.stamp.hi && l.Seq == 0
	over := l.stamp
	if l.Event == Released { // the call was made after the sections before it
		over = l.from
	}
	k.wereOver(l, over)
	s := k.open[l.Client]
	if s == nil && k.silent > 0 && l.Event != Refused {
		s = k.wake(l)
	}
	if s != nil {
		s.enter.atMost(l.stamp)
		s.decide()
	}
	switch l.Event {
	case Acquired:
		k.enter(s, l)
	case Refused:
		k.refuse(l)
	case Leaving, Lost, Released:
		k.leave(s, l)
	case Renewed:
		k.renew(s, l)
	case Read, Wrote:
		k.access(s, l)
	}
}

// wereOver notes for all sections of a client that have ended, by a line of it, that they were over by then.
func (k *keyJudge) wereOver(l *Entry, by stamp) {
	for _, s := range k.closed {
		if s.client == l.Client {
			s.wasOver(by)
		}
	}
}

// had reports whether a client has the key, as far as the log shows it.
func (k *keyJudge) had() bool { return len(k.open)+k.silent > 0 }

// slotOf is the slot of a client. If all are taken, the one that was used longest ago, of a client that is
// outside if there is one, is given to it.
func (k *keyJudge) slotOf(l *Entry) int {
	best, first := 0, int64(math.MaxInt64)
	for i := range k.slots {
		s := &k.slots[i]
		if s.client == l.Client {
			s.used = l.stamp.n
			return i
		}
		turn := s.used
		if s.section != nil && s.section.open {
			turn += math.MaxInt64 / 2
		}
		if turn < first {
			best, first = i, turn
		}
	}
	s := &k.slots[best]
	if s.client != "" {
		if !k.crowded {
			k.crowded = true
			k.judge.Crowded++
		}
		k.feed(history.Event{Kind: history.Done, Client: best + 1}, l)
		if s.section != nil {
			s.section.slot = noSlot
		}
	}
	*s = slot{client: l.Client, lease: s.lease%255 + 1, used: l.stamp.n}
	return best
}

// feed shows the monitor an event at the instant of a line, and returns what it finds of the verdicts that a log can show.
func (k *keyJudge) feed(e history.Event, l *Entry) (found []verdict.Finding) {
	if e.Client == 0 {
		return nil // noSlot
	}
	e.At = time.Duration(l.At.Ns)
	k.monitor.Observe(&server, int(l.stamp.n), &e, func(f verdict.Finding) { found = k.keep(found, f) })
	return found
}

// keep adds what a log can show, except for OVERLAP: see pair.
func (k *keyJudge) keep(found []verdict.Finding, f verdict.Finding) []verdict.Finding {
	switch f.Verdict {
	case verdict.StaleWrite, verdict.Lie:
		return append(found, f)
	case verdict.Starved:
		k.starved(f)
	}
	return found
}

// change shows the monitor that the key has another value, of a client, or none.
func (k *keyJudge) change(client, lease int, l *Entry, gone bool) {
	e := history.Event{Kind: history.Change, Client: client + 1, Lease: lease, Node: 1, Key: "key", Before: "a", After: "b", Until: history.Forever}
	if k.value = !k.value; k.value {
		e.Before, e.After = e.After, e.Before
	}
	if gone {
		e.After = ""
	}
	k.feed(e, l)
}

func (k *keyJudge) enter(former *section, l *Entry) {
	if former != nil {
		k.judge.Replaced++
		k.feed(history.Event{Kind: history.Done, Client: former.slot + 1}, l)
		k.out(former, former.endBy(l))
	}
	k.judge.Acquired++
	k.endWait()
	i := k.slotOf(l)
	s := &k.slots[i]
	s.lease = s.lease%255 + 1
	b := &section{client: l.Client, key: k, slot: i, lease: s.lease, asked: l.from, enter: l.stamp, last: l.stamp}
	b.until, b.open, b.acquired, b.place = l.until(), true, l, l.Place
	s.section = b
	k.feed(history.Event{Kind: history.Acquire, Client: i + 1, Lease: s.lease}, l)
	k.change(i, s.lease, l, false)
	k.feed(history.Event{Kind: history.Enter, Client: i + 1, Lease: s.lease}, l)
	k.meet(b)
	k.in(b)
	k.holder = b
	k.judge.silent.entered(b)
}

// in puts a section among those that are open.
func (k *keyJudge) in(s *section) {
	mine := k.judge.open[s.client]
	s.index = len(mine)
	k.open[s.client], k.judge.open[s.client] = s, append(mine, s)
}

// meet makes the pairs of a section that was just entered.
func (k *keyJudge) meet(b *section) {
	k.prune()
	var around []*Entry
	if k.judge.room(verdict.Overlap) || k.judge.room(verdict.Unknown) {
		around = k.lately()
	}
	pairs := make([]pair, 0, len(k.closed)+len(k.fresh)) // one allocation
	b.pairs = make([]*pair, 0, cap(pairs)+maxPairs)
	for _, list := range [][]*section{k.closed, k.fresh} {
		for _, a := range list {
			if a.client == b.client || !a.open && a.end.ended(b.enter) {
				continue
			}
			if a.met++; a.met > maxPairs {
				a.meetMore(b, 1)
				continue
			}
			pairs = append(pairs, pair{a: a, b: b, around: around})
			pairs[len(pairs)-1].begin()
		}
	}
	k.entered++
	k.fresh = append(slices.DeleteFunc(k.fresh, func(a *section) bool { return a.met > maxPairs }), b)
	b.decide()
}

// lately are the last lines.
func (k *keyJudge) lately() []*Entry {
	all := make([]*Entry, 0, len(k.recent))
	for i := max(0, k.lines-len(k.recent)); i < k.lines; i++ {
		all = append(all, k.recent[i%len(k.recent)])
	}
	return all
}

// leave is a section that ends, or the answer to a release after that.
func (k *keyJudge) leave(s *section, l *Entry) {
	i := k.slotOf(l)
	if s == nil {
		k.answer(k.leftBy(l.Client), i, l)
		return
	}
	left := l.stamp
	if l.Event == Released {
		left = l.from
	}
	if l.Event != Released || l.From.Known {
		s.left = left
		s.inside(left, l.Place)
	} else {
		k.judge.NoFrom++
		left = stamp{lo: s.last.lo, hi: l.stamp.hi, by: l.Seq, n: l.stamp.n}
	}
	k.feed(history.Event{Kind: history.Leave, Client: s.slot + 1, Lease: s.lease}, l)
	if l.Event != Lost {
		k.feed(history.Event{Kind: history.Release, Client: s.slot + 1, Lease: s.lease}, l)
	} else {
		k.feed(history.Event{Kind: history.Released, Client: s.slot + 1, Lease: s.lease}, l)
	}
	if k.holder == s {
		k.change(s.slot, s.lease, l, true)
	}
	k.out(s, left)
	if l.Event == Released {
		k.answer(s, i, l)
	}
}

// out takes a section out of those that are open.
func (k *keyJudge) out(s *section, end stamp) {
	s.close(end)
	k.drop(s)
	if k.closed = append(k.closed, s); len(k.closed) > maxClosed {
		k.prune()
	}
}

// drop takes a section out of the lists of those that are open.
func (k *keyJudge) drop(s *section) {
	delete(k.open, s.client)
	k.fresh = slices.DeleteFunc(k.fresh, func(o *section) bool { return o == s })
	mine := k.judge.open[s.client]
	last := len(mine) - 1
	mine[s.index], mine[last].index = mine[last], s.index
	mine[last] = nil
	if k.judge.open[s.client] = mine[:last]; last == 0 {
		delete(k.judge.open, s.client)
	}
	if s.shown {
		k.judge.silent.shown--
	}
}

// Of the sections of a key that have ended these are kept when the next begins: the last few, and up to so many that
// may have ended later than that. If there are more, many are UNKNOWN already. Until then there are maxClosed.
const (
	fewClosed  = 8
	mostClosed = 32
	maxClosed  = 1 << 9
)

// prune forgets sections that ended long ago.
func (k *keyJudge) prune() {
	n := max(0, len(k.closed)-fewClosed)
	for i, s := range k.closed[:n] {
		if s.end.hi >= k.judge.now-k.judge.widest && len(k.closed)-i <= mostClosed {
			n = i
			break
		}
		s.settle()
		s.settleMore()
	}
	k.closed = slices.Delete(k.closed, 0, n)
}

// leftBy is the last section of a client, which is not open; nil: it is not known.
func (k *keyJudge) leftBy(client string) *section {
	for _, s := range slices.Backward(k.closed) {
		if s.client == client {
			return s
		}
	}
	return nil
}

// answer is that of a release.
func (k *keyJudge) answer(s *section, slot int, l *Entry) {
	if s == nil || s.answered || l.Event != Released {
		k.judge.NoEntry++
		return
	}
	s.answered = true
	if l.OK == nil {
		k.judge.NoAnswer++
	}
	claims := l.OK != nil && *l.OK && s.left.n > 0
	for range k.feed(history.Event{Kind: history.Released, Client: slot + 1, Lease: s.lease, OK: claims, Claims: claims}, l) {
		k.contradicted(s, s.left, l)
	}
}

func (k *keyJudge) renew(s *section, l *Entry) {
	if s == nil {
		return
	}
	if *l.OK {
		s.inside(l.stamp, l.Place)
		s.until = l.until()
	}
	k.feed(history.Event{Kind: history.Acquire, Client: s.slot + 1, Lease: s.lease, Note: "renew"}, l)
	answer := history.Event{Kind: history.Refuse, Client: s.slot + 1, Lease: s.lease}
	if *l.OK {
		answer.Kind, answer.OK, answer.Claims = history.Enter, true, true
	}
	for range k.feed(answer, l) {
		k.contradicted(s, l.from, l)
	}
}

// contradicted is a statement of a lock that the monitor finds false: a call was told that the lock is still its
// client's, and another had acquired it since. One of the two is false, and only the server knows which. That it
// is so needs that the other asked for the lock when this client was inside already: an answer may be on its way for long.
func (k *keyJudge) contradicted(s *section, call stamp, l *Entry) {
	b := k.holder
	if !s.enter.before(b.asked) || !b.enter.before(call) {
		return // it is UNKNOWN or OVERLAP already: see pair
	}
	k.doubt(Finding{Verdict: verdict.Lie, Key: k.key, Clients: []string{s.client, b.client}, Lines: []Place{l.Place, b.acquired.Place}, From: l.At, To: l.At}, Either)
}

// finish ends the lines of the key.
func (k *keyJudge) finish() {
	k.monitor.Finish(&server, time.Duration(k.judge.Last.Ns), false, k.judge.Lines, func(f verdict.Finding) { k.keep(nil, f) })
	open := slices.SortedFunc(maps.Values(k.open), earlier)
	for _, s := range open {
		if s.until.n == 0 {
			k.judge.Open++
		}
	}
	for _, list := range [][]*section{k.closed, open} {
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
