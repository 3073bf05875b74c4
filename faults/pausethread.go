package faults

import (
	"time"

	"locklab/simulator"
	"locklab/simulator/history"
)

const verbPauseThread = simulator.FaultVerb + 16

// PauseThread stops one thread of a client process, and the others go on: the one that
// renews the lease alone, or the one that works alone. A process has one pause at a time, of
// all of it or of one thread. Threads of code that is not on coroutines are not known, and so
// are not stopped.
type PauseThread struct{}

func (PauseThread) Name() string         { return "pause-thread" }
func (PauseThread) Verb() simulator.Verb { return verbPauseThread }

// Clientside implements simulator.Clientside.
func (PauseThread) Clientside() {}

// Choices offers pauses without a fixed end, as Pause does. A thread that waits for its
// timer is one, too.
func (PauseThread) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for c := 1; c <= f.Clients(); c++ {
		if f.ThreadStopped(c) {
			continue
		}
		for t := range simulator.MaxThreads {
			if !f.ThreadRuns(c, t) {
				continue
			}
			buf = append(buf, PauseThreadOf(c, t, 0))
			if f.ThreadUnsent(c, t) {
				buf = append(buf, PauseThreadUnsentOf(c, t))
			}
		}
	}
	return buf
}

func (PauseThread) Inject(f simulator.FaultContext, c simulator.Choice) string {
	unsent := c.Thread >= simulator.MaxThreads
	if unsent {
		c.Thread -= simulator.MaxThreads
	}
	e := history.Event{Client: int(c.Client), Thread: int(c.Thread), D: c.D}
	if c.Thread > 0 {
		e.Note = "another"
	}
	f.Tell(e)
	return f.PauseThread(c.Client, c.Thread, c.D, f.Max(verbPauseThread), unsent)
}

// PauseThreadOf is the choice that stops a thread (0 is the main one) of client c, from 1,
// for d of true time; 0: until a Resume is chosen.
func PauseThreadOf(c, thread int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbPauseThread, Client: int8(c), Thread: int8(thread), D: d}
}

// PauseThreadUnsentOf is the choice that stops a thread of client c, from 1, before the
// request is sent that it has just made, until a Resume is chosen.
func PauseThreadUnsentOf(c, thread int) simulator.Choice {
	return PauseThreadOf(c, simulator.MaxThreads+thread, 0)
}

const pauseThreadTexts = `
[en]
title.fault.pause-thread = one thread of a client stands still, the one that works or one that renews, and the others go on
lane.pause-thread = PAUSE of its worker {span}
lane.pause-thread.open = PAUSE of its worker
lane.pause-thread.another = PAUSE of a timer {span}
lane.pause-thread.another-open = PAUSE of a timer
lane.wake.from-its-pause = goes on
fault.pause-thread = The thread of {client} that works stands still for {time}; its other threads go on.
fault.pause-thread.open = The thread of {client} that works stands still from now on; its other threads go on.
fault.pause-thread.another = A thread of {client} beside the one that works stands still for {time}; the others go on.
fault.pause-thread.another-open = A thread of {client} beside the one that works stands still from now on; the others go on.
fault.wake.from-its-pause = The thread of {client} that stood still goes on where it stopped.
painted.pause-thread = PAUSE

[zh]
title.fault.pause-thread = 客户端的一个线程停顿（工作线程或续期线程），其他线程照常运行
lane.pause-thread = 工作线程暂停 {span}
lane.pause-thread.open = 工作线程暂停
lane.pause-thread.another = 定时线程暂停 {span}
lane.pause-thread.another-open = 定时线程暂停
lane.wake.from-its-pause = 线程恢复运行
fault.pause-thread = {client} 的工作线程停顿 {time}，其他线程照常运行。
fault.pause-thread.open = {client} 的工作线程从此刻起停住了，其他线程照常运行。
fault.pause-thread.another = {client} 工作线程以外的一个线程停顿 {time}，其他线程照常运行。
fault.pause-thread.another-open = {client} 工作线程以外的一个线程从此刻起停住了，其他线程照常运行。
fault.wake.from-its-pause = {client} 停住的线程恢复运行，从停下的地方继续。
painted.pause-thread = 暂停
`
