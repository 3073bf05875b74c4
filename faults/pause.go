package faults

import (
	"time"

	"locklab/simulator"
)

const verbPause = simulator.FaultVerb + 1

// Pause stops a whole client process: its threads, its timers and with them its
// watchdog. The world goes on, and so does the process's clock. A client that was in
// the critical section still is.
type Pause struct{}

func (Pause) Name() string         { return "pause" }
func (Pause) Verb() simulator.Verb { return verbPause }

// Clientside implements simulator.Clientside.
func (Pause) Clientside() {}

// Choices offers pauses without a fixed end: they last until a Resume is chosen, but no
// longer than the budget allows. A client that has just made a request may stop before or
// after it is sent.
func (Pause) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for c := 1; c <= f.Clients(); c++ {
		if f.Running(c) && !f.ThreadStopped(c) {
			buf = append(buf, simulator.Choice{Verb: verbPause, Client: int8(c)})
			if f.Unsent(c) {
				buf = append(buf, PauseUnsentOf(c))
			}
		}
	}
	return buf
}

func (Pause) Inject(f simulator.FaultContext, c simulator.Choice) string {
	if c.Thread == beforeSending {
		return f.PauseUnsent(c.Client, c.D, f.Max(verbPause))
	}
	return f.Pause(c.Client, c.D, f.Max(verbPause))
}

// beforeSending as the Thread of a pause: the requests that the client has just made
// leave it only when it goes on.
const beforeSending = 1

// PauseOf is the choice that stops client c, from 1, for d of true time.
func PauseOf(c int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbPause, Client: int8(c), D: d}
}

const pauseTexts = `
[en]
title.fault.pause = a whole client process stands still: garbage collection, SIGSTOP, a moving virtual machine
lane.pause = PAUSE {span}{note}
lane.pause.open = PAUSE{note}
lane.resume = wakes
fault.pause = {client} stands still for {time}, and knows nothing of it.
fault.pause.open = {client} stands still from now on, and knows nothing of it.
fault.resume = {client} wakes and goes on where it stopped.
fault.resume.inside = {client} wakes and goes on as if no time had passed.
painted.pause = PAUSE

[zh]
title.fault.pause = 整个客户端进程停顿：GC、SIGSTOP、虚拟机迁移
lane.pause = 暂停 {span}{note}
lane.pause.open = 暂停{note}
lane.resume = 恢复运行
fault.pause = {client} 停顿 {time}，自己毫不知情。
fault.pause.open = {client} 从此刻起停住了，自己毫不知情。
fault.resume = {client} 恢复运行，从停下的地方继续。
fault.resume.inside = {client} 恢复运行，继续执行，仿佛时间没有流逝。
painted.pause = 暂停
`

// PauseUnsentOf is the choice that stops client c, from 1, before the requests are sent that
// it has just made, until a Resume is chosen.
func PauseUnsentOf(c int) simulator.Choice {
	return simulator.Choice{Verb: verbPause, Client: int8(c), Thread: beforeSending}
}
