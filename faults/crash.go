package faults

import "locklab/simulator"

const verbCrash = simulator.FaultVerb + 0

// Crash kills a client process with all its threads: the watchdog dies with its
// owner. It can happen between any two operations; a request that has left may still
// arrive, so the command can take effect before or after.
type Crash struct{}

func (Crash) Name() string         { return "crash" }
func (Crash) Verb() simulator.Verb { return verbCrash }

// Clientside implements simulator.Clientside.
func (Crash) Clientside() {}

// Punctual implements simulator.Punctual.
func (Crash) Punctual() {}

func (Crash) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for c := 1; c <= f.Clients(); c++ {
		if f.World().Paused(c) || f.Running(c) {
			buf = append(buf, simulator.Choice{Verb: verbCrash, Client: int8(c)})
		}
	}
	return buf
}

func (Crash) Inject(f simulator.FaultContext, c simulator.Choice) string { return f.Crash(c.Client) }

// CrashOf is the choice that kills client c, from 1.
func CrashOf(c int) simulator.Choice { return simulator.Choice{Verb: verbCrash, Client: int8(c)} }

const crashTexts = `
[en]
title.fault.crash = a client process is killed, before or after its request took effect
lane.crash = CRASH{note}
fault.crash = {client} dies.
painted.crash = CRASH

[zh]
title.fault.crash = 客户端进程被杀，请求可能尚未生效，也可能已经生效
lane.crash = 崩溃{note}
fault.crash = {client} 崩溃。
painted.crash = 崩溃
`
