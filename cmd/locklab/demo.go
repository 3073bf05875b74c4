package main

import (
	"github.com/spf13/cobra"

	"locklab/reports"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
)

// demoLocks are those of the tour: one of each idea, as many as fit on a screen.
var demoLocks = []string{"setnx", "setnx-expire", "getset", "token", "watchdog", "redlock"}

// demoRaces are those of the tour: the ones that are told of these locks. Those
// that search has found would not fit on the screen.
var demoRaces = []string{
	"R01", "R02", "R03", "R04", "R06", "R09", "R14", "R15", "R16", "R18", "R18F", "R21", "R24", "R25", "R32",
}

func (a *app) demo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "a tour of one minute",
		Long:  "One race told step by step, then every lock in every race told, and where to go from there.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			told, err := study.Demo()
			if err != nil {
				return internal(err)
			}
			cast, err := named(demoLocks)
			if err != nil {
				return internal(err)
			}
			races, err := pickRaces(demoRaces)
			if err != nil {
				return internal(err)
			}
			cells, err := study.Matrix(c.Context(), cast, races, 0, nil, nil)
			if err != nil {
				return internal(err)
			}
			flat, _ := flatten(cells)
			if a.json {
				return a.printJSON(struct {
					Version int        `json:"version"`
					Run     runJSON    `json:"run"`
					Cells   []cellJSON `json:"cells"`
				}{schema, outcomeJSON(told), cellsJSON(flat)})
			}
			return a.tour(told, gridOf(cast, races, cells))
		},
	}
}

func (a *app) tour(told *race.Outcome, grid *reports.Grid) error {
	o := a.options()
	o.Brief = true
	a.sentence(
		"This lock lets one in at a time and expires after 10 s, so that a crash blocks nobody. What if its holder sleeps?",
		"这把锁一次只放一个人进来，10 秒后自动过期，崩溃也不会永远挡住别人。可如果持有者只是睡着了呢？")
	a.printf("\n")
	if err := reports.Lanes(a.stdout, told.History, told.Judgement, o); err != nil {
		return internal(err)
	}
	a.printf("\n")
	a.sentence(
		"c1 slept past its lease, c2 got in, c1 woke and overwrote c2's work. Every lock of the articles, in every race told:",
		"c1 睡过了租约，c2 进来了，c1 醒来又覆盖了 c2 的数据。文章里的每一种锁，在人们讲过的每一种竞态里：")
	a.printf("\n")
	if err := grid.Text(a.stdout, o); err != nil {
		return internal(err)
	}
	a.printf("\n%s\n", a.say("Your turn:", "轮到你了："))
	a.printf("  locklab run redlock gc-pause\n  locklab explain R18\n")
	return nil
}
