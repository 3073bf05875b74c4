package main

import (
	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/reports"
	"locklab/scenarios"
)

func (a *app) demo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "a tour of one minute",
		Long:  "One race told step by step, then every lock in every race, and where to go from there.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			told, err := scenarios.Demo()
			if err != nil {
				return internal(err)
			}
			cells, err := scenarios.Matrix(c.Context(), algorithms.All(), scenarios.All(), 0, nil)
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
			return a.tour(told, gridOf(algorithms.All(), scenarios.All(), cells))
		},
	}
}

func (a *app) tour(told *scenarios.Outcome, grid *reports.Grid) error {
	a.wrap("", a.say(
		"A lock lets one in at a time. This one expires after 10 s, so that a crash blocks nobody for ever. What if its holder merely sleeps?",
		"锁一次只让一个人进来。这把锁 10 秒后自动过期，这样崩溃就不会永远挡住别人。可如果持有者只是睡着了呢？"))
	a.printf("\n")
	if err := reports.Lanes(a.stdout, told.History, told.Judgement, a.options()); err != nil {
		return internal(err)
	}
	a.printf("\n")
	a.wrap("", a.say(
		"c1 slept through the end of its lease, c2 got in, and c1's late write destroyed c2's. Every lock that people have tried since, in every race:",
		"c1 睡过了租约，c2 进来了，c1 醒来后迟到的写入毁掉了 c2 的数据。人们先后用过的锁，在各种竞态里的结局："))
	a.printf("\n")
	if err := grid.Text(a.stdout, a.options()); err != nil {
		return internal(err)
	}
	a.printf("\n%s\n", a.say("Your turn:", "轮到你了："))
	a.printf("  locklab run redlock gc-pause      locklab explain R18      locklab matrix -o out\n")
	return nil
}
