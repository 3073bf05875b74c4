package faults

import (
	"time"

	"locklab/simulator"
)

const verbClientClock = simulator.FaultVerb + 4

// ClientClock makes a client's clock jump: an operator sets it, or NTP steps it.
// Sleeps and timers that run are not affected, they count elapsed time.
//
// The two other ways in which a clock is wrong last from the start of a run and are
// settings: an offset, and a rate (simulator.ClientConfig).
type ClientClock struct{}

func (ClientClock) Name() string         { return "client-clock" }
func (ClientClock) Verb() simulator.Verb { return verbClientClock }

// Clientside implements simulator.Clientside.
func (ClientClock) Clientside() {}

// Punctual implements simulator.Punctual.
func (ClientClock) Punctual() {}

// Choices offers the jumps of FaultContext.Jumps.
func (ClientClock) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for c := 1; c <= f.Clients(); c++ {
		if f.World().Alive(c) {
			for d := range f.Jumps(verbClientClock) {
				buf = append(buf, ClientClockOf(c, d))
			}
		}
	}
	return buf
}

func (ClientClock) Inject(f simulator.FaultContext, c simulator.Choice) string {
	return f.StepClock(c.Client, c.D)
}

// ClientClockOf is the choice that moves the clock of client c, from 1, by d.
func ClientClockOf(c int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbClientClock, Client: int8(c), D: d}
}

const clientClockTexts = `
[en]
title.fault.client-clock = a client's clock jumps
lane.clock-step = CLOCK {step}
fault.clock-step = The clock of {client} jumps by {jump}.
painted.client-clock = CLOCK

[zh]
title.fault.client-clock = 客户端的时钟跳变
lane.clock-step = 时钟跳变 {step}
fault.clock-step = {client} 的时钟跳变 {jump}。
painted.client-clock = 跳变
`
