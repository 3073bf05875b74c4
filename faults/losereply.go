package faults

import "locklab/simulator"

const verbLoseReply = simulator.FaultVerb + 2

// LoseReply loses a server's answer on its way: the command has been executed, and
// its sender waits until it gives up.
type LoseReply struct{}

func (LoseReply) Name() string         { return "lose-reply" }
func (LoseReply) Verb() simulator.Verb { return verbLoseReply }

// Clientside implements simulator.Clientside.
func (LoseReply) Clientside() {}

func (LoseReply) Choices(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
	for m := range f.Replies {
		buf = append(buf, LoseReplyTo(int(m.Client), int(m.Thread)))
	}
	return buf
}

func (LoseReply) Inject(f simulator.FaultContext, c simulator.Choice) string {
	return f.LoseReply(c.Client, c.Thread)
}

// LoseReplyTo is the choice that loses the reply on its way to a thread (0 is
// the main one) of client c, from 1.
func LoseReplyTo(c, thread int) simulator.Choice {
	return simulator.Choice{Verb: verbLoseReply, Client: int8(c), Thread: int8(thread)}
}

const loseReplyTexts = `
[en]
title.fault.lose-reply = a command is executed and its sender never hears of it
lane.lose-reply = {command} reply LOST
fault.lose-reply = {client} sends {command}; the server runs it, but the reply is lost.
painted.lose-reply = LOST

[zh]
title.fault.lose-reply = 命令已执行，发送方始终收不到应答
lane.lose-reply = {command} 应答丢失
fault.lose-reply = {client} 发送 {command}，服务器已执行，但应答丢失。
painted.lose-reply = 丢失
`
