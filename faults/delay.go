package faults

import (
	"time"

	"locklab/simulator"
)

const verbDelay = simulator.FaultVerb + 10

// Delay holds up one message in the network, on its way to a server or the resource
// or back, while all others pass: Kleppmann (2016) reports packets that were 90 s
// late. The sender may have given up, or released its lock, when its request
// arrives.
type Delay struct{}

func (Delay) Name() string         { return "delay" }
func (Delay) Verb() simulator.Verb { return verbDelay }

// Clientside implements simulator.Clientside.
func (Delay) Clientside() {}

// Choices offers the longest delay that the budget allows; a budget without a
// length offers none, since every length would be as good. With a Timing the message may
// arrive before.
func (Delay) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	d := f.Max(verbDelay)
	if d == 0 {
		return buf
	}
	for m := range f.Requests {
		if !m.Held {
			buf = append(buf, DelayOf(int(m.Client), int(m.Thread), d))
		}
	}
	for m := range f.Replies {
		if !m.Held {
			buf = append(buf, DelayOf(int(m.Client), int(m.Thread), d))
		}
	}
	return buf
}

func (Delay) Inject(f simulator.FaultContext, c simulator.Choice) string {
	return f.Delay(c.Client, c.Thread, c.D)
}

// DelayOf is the choice that holds up the message that a thread (0 is the main
// one) of client c, from 1, waits for, for d of true time.
func DelayOf(c, thread int, d time.Duration) simulator.Choice {
	return simulator.Choice{Verb: verbDelay, Client: int8(c), Thread: int8(thread), D: d}
}

const delayTexts = `
[en]
title.fault.delay = one message is held up in the network, until its sender may have given up
lane.delay = {command} HELD UP {span}
lane.delay.open = {command} HELD UP
lane.delay.reply = {command} reply HELD UP {span}
lane.delay.reply-open = {command} reply HELD UP
fault.delay = {client} sends {command}, and the request is held up for {time}.
fault.delay.open = {client} sends {command}, and the request is held up.
fault.delay.reply = The answer to {command} of {client} is held up for {time}.
fault.delay.reply-open = The answer to {command} of {client} is held up.

[zh]
title.fault.delay = 一条消息滞留在网络里，到达时发送方可能早已放弃
lane.delay = {command} 延误 {span}
lane.delay.open = {command} 延误
lane.delay.reply = {command} 应答延误 {span}
lane.delay.reply-open = {command} 应答延误
fault.delay = {client} 发送 {command}，请求在途中被延误 {time}。
fault.delay.open = {client} 发送 {command}，请求在途中被延误。
fault.delay.reply = {client} 的 {command} 的应答在途中被延误 {time}。
fault.delay.reply-open = {client} 的 {command} 的应答在途中被延误。
`
