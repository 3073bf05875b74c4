package record

import (
	"slices"

	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// overlaps reports a pair that is certain.
func (k *keyJudge) overlaps(p *pair) {
	k.judge.AtLeast = k.judge.AtLeast || p.a.unsure || p.a.more > 0 || p.b.more > 0
	p.a.unsure = false
	f := Finding{Verdict: verdict.Overlap, Key: k.key, Clients: []string{p.a.client, p.b.client}, Lines: []Place{p.a.acquired.Place, p.b.acquired.Place}, From: p.b.acquired.At, To: k.judge.Last}
	k.place(&f, p.lines(), p.b.acquired)
	k.judge.add(f)
	p.done, p.around = true, nil
}

// mayOverlap reports a pair that is possible: once for a lease whose end the log does not show.
func (k *keyJudge) mayOverlap(p *pair) {
	why, first := p.why()
	if s := p.endless(first); s != nil && s.doubted {
		return
	} else if s != nil {
		s.doubted = true
	}
	second := p.b
	if first == p.b {
		second = p.a
	}
	f := Finding{Verdict: verdict.Unknown, May: verdict.Overlap, Why: why, Key: k.key, Clients: []string{first.client, second.client}, Lines: []Place{first.acquired.Place, second.acquired.Place}, From: p.b.acquired.At, To: p.b.acquired.At}
	if why == Silent {
		f.Lines[0] = first.place // the last one
	}
	k.place(&f, p.lines(), p.b.acquired)
	k.judge.add(f)
}

// claim reports a finding.
func (k *keyJudge) claim(f Finding) {
	k.stale = k.stale || f.Verdict == verdict.StaleWrite
	k.place(&f, nil, nil)
	k.judge.add(f)
}

// doubt reports that something may be a finding.
func (k *keyJudge) doubt(f Finding, why Why) {
	k.unseen = k.unseen || f.Verdict == verdict.StaleWrite
	f.Verdict, f.May, f.Why = verdict.Unknown, f.Verdict, why
	k.place(&f, nil, nil)
	k.judge.add(f)
}

// place gives a finding the lines around it, those known before and the last ones, if it will be kept. at is the line that completes it;
// nil: the last.
func (k *keyJudge) place(f *Finding, before []*Entry, at *Entry) {
	if f.Around != nil || !k.judge.room(f.Verdict) {
		return
	}
	f.Around = slices.Clone(before)
	for _, l := range k.lately() {
		if !slices.Contains(f.Around, l) {
			f.Around = append(f.Around, l)
		}
	}
	f.Event = len(f.Around) - 1
	if i := slices.Index(f.Around, at); i >= 0 {
		f.Event = i
	}
}

// access is a read or a write of what the lock protects.
func (k *keyJudge) access(s *section, l *Entry) {
	i := k.slotOf(l)
	if s != nil {
		s.inside(l.stamp, l.Place)
	}
	ord := ordinal(l)
	if s != nil && ord > 0 {
		if s.first == 0 || ord < s.first {
			s.first = ord
		}
		if l.Event == Read && (s.read == 0 || ord < s.read) {
			s.read = ord
		}
		s.latest = max(s.latest, ord)
		s.decide()
		k.use(s)
	}
	switch {
	case l.Event == Read:
		k.readLate(s, l)
		k.feed(history.Event{Kind: history.Read, Client: i + 1, Node: history.Resource}, l)
	case l.OK != nil && !*l.OK:
		k.refused(i, l)
	case l.Version == nil || l.Base == nil:
		k.judge.NoVersion++
		k.unseen = true
	default:
		k.write(i, l)
	}
	if l.Event != Wrote || l.OK == nil || *l.OK {
		k.token = max(k.token, l.Token)
	}
}

// readLate is a read of a section that was logged after a later version had been written: by a client outside, that may
// have fallen into this section.
func (k *keyJudge) readLate(s *section, l *Entry) {
	if s == nil || l.Version == nil || !k.last.ok || k.last.version <= *l.Version || k.last.client == l.Client || k.last.inside {
		return
	}
	k.doubt(Finding{Verdict: verdict.StaleWrite, Key: k.key, Clients: []string{k.last.client, l.Client}, Lines: []Place{k.last.place, l.Place}, From: l.At, To: l.At}, Clocks)
}

// late reports whether the client of a slot no longer had the lock, for certain, when it made a call: it had left its
// section, or the resource has seen a higher token.
func (k *keyJudge) late(i int, l *Entry) bool {
	s := k.slots[i].section
	return l.Token > 0 && l.Token < k.token || s != nil && !s.open && s.left.n > 0 && s.left.before(l.from)
}

// refused is a write that the resource has refused: FENCED, if its client no longer had the lock.
func (k *keyJudge) refused(i int, l *Entry) {
	before := slices.Contains(k.monitor.Words(), verdict.Fenced)
	k.feed(history.Event{Kind: history.Write, Client: i + 1, Lease: k.slots[i].lease, Node: history.Resource}, l)
	candidate := !before && slices.Contains(k.monitor.Words(), verdict.Fenced)
	f := Finding{Verdict: verdict.Fenced, Key: k.key, Clients: []string{l.Client}, Lines: []Place{l.Place}, From: l.At, To: l.At}
	switch {
	case k.fenced != nil:
	case k.late(i, l):
		k.place(&f, nil, nil)
		k.fenced = &f
	case candidate:
		k.doubt(f, Either)
	}
}

// write is an accepted write. Writes are judged in the order of versions; one that was logged later than its successor is
// compared with that.
func (k *keyJudge) write(i int, l *Entry) {
	w := wrote{*l.Version, *l.Base, *l.Base, i, k.slots[i].lease, l.Client, l.Place, true, k.open[l.Client] != nil}
	if k.last.ok && w.version < k.last.version {
		k.writeLate(w, l)
		return
	}
	lost := k.last
	if lost.ok && lost.slot == w.slot && lost.lease == w.lease {
		lost = k.other
	}
	e := history.Event{Kind: history.Write, Client: i + 1, Lease: w.lease, Node: history.Resource, Version: w.version, Base: w.base, OK: true}
	found := k.feed(e, l)
	if lost.ok && lost.version > w.base {
		k.claim(k.overwrites(w, lost, l))
		return // it is stale, and hides nothing
	}
	if len(found) > 0 && k.fallsInto(found[0], i, l) {
		return
	}
	if len(found) == 0 {
		k.mayFall(l)
	}
	if k.last.slot != w.slot || k.last.lease != w.lease {
		k.other = k.last
	} else if k.last.ok {
		w.least = min(w.least, k.last.least)
	}
	k.last = w
}

// writeLate is an accepted write that was logged later than the write of a later version.
func (k *keyJudge) writeLate(w wrote, l *Entry) {
	for _, o := range []wrote{k.last, k.other} {
		switch {
		case !o.ok || o.slot == w.slot && o.lease == w.lease:
		case o.version > w.version && o.base < w.version:
			k.claim(k.overwrites(o, w, l))
			return
		case o.version < w.version && o.version > w.base:
			k.claim(k.overwrites(w, o, l))
			return
		case o.version > w.version && o.least < w.version: // an earlier one of its writes may have
			k.doubt(k.overwrites(o, w, l), Clocks)
			return
		}
	}
	k.mayFall(l)
}

// overwrites is the finding that a write has lost another.
func (k *keyJudge) overwrites(w, lost wrote, l *Entry) Finding {
	return Finding{Verdict: verdict.StaleWrite, Key: k.key, Clients: []string{w.client, lost.client}, Lines: []Place{w.place, lost.place}, From: l.At, To: l.At}
}

// fallsInto is a write that fell into the section of another after that one's first read. It reports whether it is
// stale if that one was still inside: whether the writer no longer had the lock. Else it may be the other that had it no longer.
func (k *keyJudge) fallsInto(f verdict.Finding, i int, l *Entry) bool {
	v := k.slots[f.Clients[1]-1].section
	if v == nil {
		return false
	}
	found := Finding{Verdict: verdict.StaleWrite, Key: k.key, Clients: []string{l.Client, v.client}, Lines: []Place{l.Place, v.acquired.Place}, From: l.At, To: l.At}
	if !k.late(i, l) || v.read == 0 || v.read > ordinal(l) {
		k.doubt(found, Either)
		return false
	}
	k.place(&found, nil, nil)
	v.stale = append(v.stale, &late{l.stamp, found})
	return true
}

// mayFall is a write that the monitor does not find stale. If its client is outside it may have fallen into a section after
// its first read: one that has ended, or by versions.
func (k *keyJudge) mayFall(l *Entry) {
	if k.open[l.Client] != nil {
		return
	}
	fell := func(v *section) bool {
		return v.client != l.Client && v.first > 0 && v.first < ordinal(l) && (v.open || !v.end.ended(l.from))
	}
	i, list := slices.IndexFunc(k.closed, fell), k.closed
	if i < 0 {
		i, list = slices.IndexFunc(k.used, func(v *section) bool { return v.open && fell(v) }), k.used
	}
	if i >= 0 {
		f := Finding{Verdict: verdict.StaleWrite, Key: k.key, Clients: []string{l.Client, list[i].client}, From: l.At, To: l.At}
		f.Lines = []Place{l.Place, list[i].acquired.Place}
		k.doubt(f, Clocks)
	}
}

// use puts a section among those that have read or written, which it clears of those that have ended when these are
// the most.
func (k *keyJudge) use(s *section) {
	if s.used {
		return
	}
	s.used = true
	if len(k.used) > 2*len(k.open)+8 {
		k.used = slices.DeleteFunc(k.used, func(s *section) bool { return !s.open })
	}
	k.used = append(k.used, s)
}

// starved is a client that was overtaken too often.
func (k *keyJudge) starved(f verdict.Finding) {
	if k.crowded {
		return
	}
	s := &k.slots[f.Clients[0]-1]
	last := k.recent[(k.lines-1)%len(k.recent)]
	found := Finding{Verdict: verdict.Starved, Key: k.key, Clients: []string{s.client}, Lines: []Place{last.Place}, From: Instant{int64(f.From), true}, To: Instant{int64(f.To), true}}
	if k.blurred {
		k.doubt(found, Clocks)
		return
	}
	k.claim(found)
}

// refuse is a refusal.
func (k *keyJudge) refuse(l *Entry) {
	i := k.slotOf(l)
	k.feed(history.Event{Kind: history.Acquire, Client: i + 1, Lease: k.slots[i].lease}, l)
	k.feed(history.Event{Kind: history.Refuse, Client: i + 1, Lease: k.slots[i].lease, Claims: true}, l)
	if k.had() {
		k.endWait()
		return
	}
	if k.wait.Refused == 0 {
		k.wait = Wait{Key: k.key, Since: l.At, From: l.Place}
	}
	k.wait.Refused++
	k.wait.Until, k.wait.To = l.At, l.Place
}

// endWait ends a row of refusals, and keeps the longest.
func (k *keyJudge) endWait() {
	w, most := k.wait, k.judge.Wait
	k.wait = Wait{}
	if w.Refused > 1 && (most == nil || w.Until.Ns-w.Since.Ns > most.Until.Ns-most.Since.Ns) {
		k.judge.Wait = &w
	}
}
