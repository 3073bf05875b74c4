package study

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"locklab/algorithms/lock"
	"locklab/scenarios/share"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
)

// MaxSplit is the largest number of sub-searches that ExploreSplit can be asked for.
const MaxSplit = 100_000

// ExploreSplit is Explore as at least n searches, each of which begins after other first
// choices and is a task of package share. The result is their union: verdicts, par and
// steps are those of one search. A state that several of them visit is counted in each, and
// so are moves and histories. With MaxStates and MaxBytes each of them is bounded.
//
// Its searches are of one timing, AutoUses are none, they are not kept in a checkpoint, and
// do not tell causes apart. done and ctx are as for Matrix. A search that is smaller than n
// is not split.
// Package explore says what splitting costs, and when another way would pay.
func ExploreSplit(ctx context.Context, entry lock.Entry, b Bounds, n int, done func(n, of int)) (*Search, error) {
	if err := b.CheckSplit(entry, n); err != nil {
		return nil, err
	}
	if b.Uses == AutoUses { // one search cannot take another's place
		b.Uses = 0
	}
	head, err := exploreHead(ctx, entry, &b, n)
	if err != nil {
		return nil, err
	}
	if head.Complete || len(head.Frontier) == 0 {
		return head, nil
	}
	var tasks []share.Task
	for i := range head.Frontier {
		tasks = append(tasks, share.Task{ID: fmt.Sprintf("explore %s/%s,part=%d/%d", entry.ID, head.Bounds, i+1, len(head.Frontier)), Cost: 1})
	}
	var told func(int)
	if done != nil {
		told = func(k int) { done(k, len(tasks)) }
	}
	parts, err := share.Each(ctx, tasks, told, func(ctx context.Context, i int) (Search, error) {
		s, err := b.explorePart(ctx, entry, explore.Bounds{From: head.Frontier[i]})
		if errors.Is(err, explore.ErrReadsClock) {
			err = i18n.Errorf("error.split.clock", "lock", entry.ID)
		}
		if err != nil {
			return Search{}, err
		}
		return *s, nil
	}, func(_ int, s *Search, v *share.Values) { s.CheckValues(entry, b, "", v) })
	head.Complete, head.Open, head.Parts = true, 0, len(parts)
	for _, p := range parts {
		if p == nil {
			head.Complete = false
			continue
		}
		p.SetStrategy(entry)
		head.add(p)
	}
	slices.SortStableFunc(head.Witnesses, func(a, b Witness) int {
		return cmp.Compare(slices.Index(explore.Words(), a.Verdict), slices.Index(explore.Words(), b.Verdict))
	})
	head.Found = nil
	for _, w := range head.Witnesses {
		head.Found = append(head.Found, w.Witness)
	}
	slices.Sort(head.Triggered)
	head.Frontier = nil
	return head, err
}

// CheckSplit is Check for a search that is split into n searches or more.
func (b Bounds) CheckSplit(entry lock.Entry, n int) error {
	switch {
	case n < 2 || n > MaxSplit:
		return i18n.Errorf("error.split", "value", n, "most", MaxSplit)
	case b.Timing == AutoTiming:
		return i18n.Errorf("error.split.auto")
	case b.Causes:
		return i18n.Errorf("error.split.with", "flag", "--all")
	case b.Checkpoint != "":
		return i18n.Errorf("error.split.with", "flag", "--checkpoint")
	}
	return b.Check(entry)
}

// exploreHead searches until n states wait. Where a clock is read it sets b.Idle, as
// Explore does.
func exploreHead(ctx context.Context, entry lock.Entry, b *Bounds, n int) (*Search, error) {
	s, err := b.explorePart(ctx, entry, explore.Bounds{Head: n})
	if errors.Is(err, explore.ErrReadsClock) && !b.Idle {
		b.Idle = true
		return exploreHead(ctx, entry, b, n)
	}
	if err == nil {
		s.Result.States -= s.Open // the parts count them
	}
	return s, err
}

// explorePart searches a part of everything.
func (b Bounds) explorePart(ctx context.Context, entry lock.Entry, part explore.Bounds) (*Search, error) {
	search, err := b.Of(entry)
	if err != nil {
		return nil, err
	}
	search.From, search.Head = part.From, part.Head
	result, err := explore.Search(ctx, search)
	if err != nil {
		if errors.Is(err, ctx.Err()) || errors.Is(err, explore.ErrReadsClock) {
			return nil, err
		}
		return nil, i18n.Errorf("error.cause", "of", entry.ID, "cause", err)
	}
	s := &Search{Strategy: entry, Bounds: b.Settled(entry), Result: result}
	for _, w := range result.Found {
		s.Witnesses = append(s.Witnesses, Witness{w, s.Bounds.trace(entry, w.Choices)})
	}
	return s, nil
}

// add adds what a part has covered and found. Of equal witnesses the first stays.
func (s *Search) add(p *Search) {
	r := s.Result
	r.Complete, r.Repeated = r.Complete && p.Complete, r.Repeated && p.Repeated
	r.States, r.Transitions, r.Open, r.Histories = r.States+p.States, r.Transitions+p.Transitions, r.Open+p.Open, r.Histories+p.Histories
	r.Lengths = addLengths(r.Lengths, p.Lengths)
	r.Depth, r.Bytes = max(r.Depth, p.Depth), max(r.Bytes, p.Bytes)
	r.ReadsClock, r.Measures, r.OutOfMemory = r.ReadsClock || p.ReadsClock, r.Measures || p.Measures, r.OutOfMemory || p.OutOfMemory
	if r.Limit.IsZero() {
		r.Limit = p.Limit
	}
	if r.Symmetry && !p.Symmetry {
		r.Symmetry, r.Asymmetry = false, p.Asymmetry
	}
	for _, v := range p.Triggered {
		if !slices.Contains(r.Triggered, v) {
			r.Triggered = append(r.Triggered, v)
		}
	}
	for _, w := range p.Witnesses {
		i := slices.IndexFunc(s.Witnesses, func(o Witness) bool { return o.Verdict == w.Verdict })
		switch {
		case i < 0:
			s.Witnesses = append(s.Witnesses, w)
		case w.Par < s.Witnesses[i].Par || w.Par == s.Witnesses[i].Par && w.Steps < s.Witnesses[i].Steps:
			s.Witnesses[i] = w
		}
	}
}
