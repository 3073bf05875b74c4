package record

import (
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
}

// NewJudge keeps at most so many findings of each verdict.
func NewJudge(most int) *Judge {
	return &Judge{Result: Result{Counts: map[verdict.Word]int{}, Findings: []Finding{}, most: most}, keys: newRecently[*keyJudge](maxIdle), open: map[string][]*section{}}
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
	for _, s := range slices.Clone(j.open[l.Client]) {
		s.key.feed(history.Event{Kind: history.Done, Client: s.slot + 1}, l)
		s.key.out(s, stamp{lo: s.last.lo, hi: l.stamp.hi, n: l.stamp.n})
	}
}

// Finish ends the log.
func (j *Judge) Finish() *Result {
	for _, all := range []map[string]*keyJudge{j.keys.old, j.keys.now} {
		for _, k := range sorted(all) {
			k.finish()
		}
	}
	j.settle()
	return &j.Result
}

// sorted are the values of a map in the order of their first lines.
func sorted(all map[string]*keyJudge) (list []*keyJudge) {
	for _, k := range all {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b *keyJudge) int { return int(a.begun - b.begun) })
	return list
}

// A keyJudge judges the lines of one key.
type keyJudge struct {
	judge *Judge
	key   string
	begun int64 // the number of its first line
	seq   uint64
	seqAt Place

	open   []*section
	closed []*section // that a client which is read later may have entered before they ended
	holder *section   // that acquired last

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
	k := &keyJudge{judge: j, key: key, begun: int64(j.Lines)}
	// A server that may be down: the refusals of others have a cause that no log shows.
	k.monitor.Observe(&server, 0, &history.Event{Kind: history.Down, Node: 1}, nil)
	return k
}

// needed reports whether the key must be remembered. If not, it is finished.
func (k *keyJudge) needed() bool {
	if len(k.open) > 0 {
		return true
	}
	k.judge.Forgotten++
	k.finish()
	return false
}

func (k *keyJudge) observe(l *Entry) {
	k.recent[k.lines%len(k.recent)] = l
	k.lines++
	k.blurred = k.blurred || l.stamp.lo != l.stamp.hi && l.Seq == 0
	for _, s := range k.closed {
		if s.client == l.Client {
			s.over(l.stamp)
		}
	}
	s := k.sectionOf(l.Client)
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

// sectionOf is the open section of a client; nil: there is none.
func (k *keyJudge) sectionOf(client string) *section {
	for _, s := range k.open {
		if s.client == client {
			return s
		}
	}
	return nil
}

// slotOf is the slot of a client. If all are taken, the one that was used longest ago, of a client that is
// outside if there is one, is given to it.
func (k *keyJudge) slotOf(l *Entry) int {
	best := -1
	for i := range k.slots {
		s := &k.slots[i]
		if s.client == l.Client {
			s.used = l.stamp.n
			return i
		}
		inside := s.section != nil && s.section.open
		if best < 0 || less(inside, s.used, k.slots[best].section != nil && k.slots[best].section.open, k.slots[best].used) {
			best = i
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

func less(a bool, x int64, b bool, y int64) bool {
	if a != b {
		return b
	}
	return x < y
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
		k.out(former, stamp{lo: former.last.lo, hi: l.stamp.hi, n: l.stamp.n})
	}
	k.judge.Acquired++
	k.endWait()
	i := k.slotOf(l)
	s := &k.slots[i]
	s.lease = s.lease%255 + 1
	b := &section{client: l.Client, key: k, slot: i, lease: s.lease, asked: l.from, enter: l.stamp, last: l.stamp, open: true, acquired: l, place: l.Place}
	s.section = b
	k.feed(history.Event{Kind: history.Acquire, Client: i + 1, Lease: s.lease}, l)
	k.change(i, s.lease, l, false)
	k.feed(history.Event{Kind: history.Enter, Client: i + 1, Lease: s.lease}, l)
	k.meet(b)
	k.open = append(k.open, b)
	k.judge.open[l.Client] = append(k.judge.open[l.Client], b)
	k.holder = b
}

// meet makes the pairs of a section that was just entered.
func (k *keyJudge) meet(b *section) {
	k.prune()
	for _, list := range [][]*section{k.closed, k.open} {
		for _, a := range list {
			p := &pair{a: a, b: b}
			if a.client == b.client || !p.possible() {
				continue
			}
			if len(a.pairs) >= maxPairs {
				a.more++
				a.after = b.enter
				continue
			}
			if k.judge.room(verdict.Overlap) || k.judge.room(verdict.Unknown) {
				p.around = k.lately(a.acquired)
			}
			a.pairs, b.pairs = append(a.pairs, p), append(b.pairs, p)
		}
	}
	b.decide()
}

// lately are the last lines, after one that may be older.
func (k *keyJudge) lately(first *Entry) (all []*Entry) {
	for i := max(0, k.lines-len(k.recent)); i < k.lines; i++ {
		all = append(all, k.recent[i%len(k.recent)])
	}
	if first != nil && !slices.Contains(all, first) {
		all = append([]*Entry{first}, all...)
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
		left = stamp{lo: s.last.lo, hi: l.stamp.hi, seq: l.Seq, n: l.stamp.n}
	}
	k.feed(history.Event{Kind: history.Leave, Client: s.slot + 1, Lease: s.lease}, l)
	if l.Event != Lost {
		k.feed(history.Event{Kind: history.Release, Client: s.slot + 1, Lease: s.lease}, l)
		if k.holder == s {
			k.change(s.slot, s.lease, l, true)
		}
	} else {
		k.feed(history.Event{Kind: history.Released, Client: s.slot + 1, Lease: s.lease}, l)
	}
	k.out(s, left)
	if l.Event == Released {
		k.answer(s, i, l)
	}
}

// out takes a section out of those that are open.
func (k *keyJudge) out(s *section, end stamp) {
	k.open = slices.DeleteFunc(k.open, func(o *section) bool { return o == s })
	mine := slices.DeleteFunc(k.judge.open[s.client], func(o *section) bool { return o == s })
	if k.judge.open[s.client] = mine; len(mine) == 0 {
		delete(k.judge.open, s.client)
	}
	s.close(end)
	k.closed = append(k.closed, s)
}

// Of the sections of a key that have ended these are kept: the last few, and up to so many that may have ended later than
// the next begins. If there are more, many are UNKNOWN already.
const (
	fewClosed  = 8
	mostClosed = 32
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
	if b == nil || b == s || !s.enter.before(b.asked) || !b.enter.before(call) {
		return // it is UNKNOWN or OVERLAP already: see pair
	}
	k.doubt(Finding{Verdict: verdict.Lie, Key: k.key, Clients: []string{s.client, b.client}, Lines: []Place{l.Place, b.acquired.Place}, From: l.At, To: l.At}, Either)
}

// finish ends the lines of the key.
func (k *keyJudge) finish() {
	k.judge.Open += len(k.open)
	k.monitor.Finish(&server, time.Duration(k.judge.Last.Ns), false, k.judge.Lines, func(f verdict.Finding) { k.keep(nil, f) })
	for _, s := range slices.Concat(k.closed, k.open) {
		s.settle()
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
