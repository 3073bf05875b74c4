package faults

import (
	"time"

	"locklab/simulator"
)

const verbRestart = simulator.FaultVerb + 6

// Restart crashes a server, which comes back with what it keeps on disk (AOF in its
// config): nothing, all, or what it had at its last fsync. A client that waits for
// its answer sees the connection break; so does one that asks while it is down.
type Restart struct{}

func (Restart) Name() string         { return "restart" }
func (Restart) Verb() simulator.Verb { return verbRestart }

// Choices offers coming back after the length that the budget names, or at once
// if it names none: restart=1@10s is a restart delayed by 10 s. With a Timing it may come
// back before, by a Resume.
func (Restart) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for n := 1; n <= f.Nodes(); n++ {
		if !f.World().Down(n) {
			buf = append(buf, RestartAfter(n, f.Max(verbRestart)))
		}
	}
	return buf
}

func (Restart) Inject(f simulator.FaultContext, c simulator.Choice) string {
	return f.Restart(c.Node, c.D)
}

// RestartOf is the choice that restarts server n, from 1, at once.
func RestartOf(n int) simulator.Choice { return RestartAfter(n, 0) }

// RestartAfter is the choice that crashes server n, from 1, for d of true time.
func RestartAfter(n int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbRestart, Node: int8(n), D: d}
}

const restartTexts = `
[en]
title.fault.restart = a server crashes and comes back, at once or later, with what it keeps on disk: mostly nothing
server.down = DOWN{note}
server.up = RESTART {what}
fault.down = {node} goes down.
fault.up = {node} is back, with its data.
fault.up.empty = {node} is back, with nothing in its memory.
fault.up.with-its-last-fsync = {node} is back, with what it had written to disk.
note.empty = empty
note.with-its-last-fsync = with its last fsync
note.with-its-data = with its data
painted.restart = DOWN RESTART

[zh]
title.fault.restart = 服务器宕机后立刻或延迟重启，只剩磁盘上的数据：多半什么都没有
server.down = 宕机{note}
server.up = 重启 {what}
fault.down = {node} 宕机。
fault.up = {node} 恢复，数据都在。
fault.up.empty = {node} 恢复，内存全空。
fault.up.with-its-last-fsync = {node} 恢复，只有已经落盘的数据。
note.empty = 内存全空
note.with-its-last-fsync = 只有已经落盘的数据
note.with-its-data = 数据都在
painted.restart = 宕机 重启
`
