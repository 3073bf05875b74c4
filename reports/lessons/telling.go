package lessons

import (
	"slices"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// telling are the known races that need nothing which only later slides explain, such as fencing tokens: first those in
// which the fewest milestones fail, which tell these from the others.
func telling() []race.Race {
	all := lists.Pick(scenarios.Known(), func(sc race.Race) bool { return sc.Guard == history.Naive })
	slices.SortStableFunc(all, func(a, b race.Race) int { return common(a) - common(b) })
	return all
}

// common is the number of milestones that fail in a race.
func common(sc race.Race) int {
	return len(lists.Pick(algorithms.Milestones(), func(e lock.Entry) bool {
		return verdict.Fails(contract.CellOf(e, sc).Words())
	}))
}

// debated reports whether the debate tells of a run.
func debated(o *race.Outcome) bool {
	return slices.ContainsFunc(text.In("en").Keys("debate."), func(key string) bool {
		return o.Lock.Family == lock.Majority && text.Say("en", key) == o.Lock.ID+" "+o.Race.ID
	})
}

// playedIn plays a lock in those of some races that apply to it.
func (d *deckMaker) playedIn(e lock.Entry, races []race.Race) []*race.Outcome {
	played := lists.Each(races, func(sc race.Race) *race.Outcome { return d.named(e.ID, sc.ID) })
	return lists.Pick(played, func(o *race.Outcome) bool { return o.History != nil })
}

// chosen returns runs of a lock in the races that are named. If it fails in none of them it adds some in which it fails:
// in the most telling race, in that which tells the lock after it from most others, since it survives, and in others by
// rank. next is the run of the lock after it in the first of these races that it survives, or else in the first at all.
func (d *deckMaker) chosen(e, after lock.Entry, most int) (all []*race.Outcome, next *race.Outcome) {
	if all = d.playedIn(e, d.Races); !slices.ContainsFunc(all, fails) {
		left := lists.Pick(d.playedIn(e, telling()), func(o *race.Outcome) bool { return fails(o) && !debated(o) })
		mended := lists.Pick(left, func(o *race.Outcome) bool { return holds(d.named(after.ID, o.Race.ID)) })
		slices.SortStableFunc(mended, func(a, b *race.Outcome) int { return common(b.Race) - common(a.Race) })
		own := unique(slices.Concat(left[:min(1, len(left))], mended[:min(1, len(mended))]))
		for len(own) < min(most, len(left)) {
			seen := append(d.shown(), own...)
			rest := lists.Pick(left, func(o *race.Outcome) bool { return !slices.Contains(own, o) })
			own = append(own, slices.MinFunc(rest, func(a, b *race.Outcome) int { return rank(a, seen) - rank(b, seen) }))
		}
		all = append(all, own[:min(most, len(own))]...)
	}
	again := lists.Each(all, func(o *race.Outcome) *race.Outcome { return d.named(after.ID, o.Race.ID) })
	again = lists.Pick(again, func(o *race.Outcome) bool { return o.History != nil })
	if i := slices.IndexFunc(again, holds); again != nil {
		next = again[max(i, 0)]
	}
	return all, next
}

// rank puts runs first that break exclusion, and of these such as are of a group of which nothing was seen.
func rank(o *race.Outcome, seen []*race.Outcome) (n int) {
	if !slices.ContainsFunc(o.Verdicts, verdict.Word.Safety) {
		n = 2
	}
	if slices.ContainsFunc(seen, func(s *race.Outcome) bool { return s.Race.Group == o.Race.Group }) {
		n++
	}
	return n
}
