package redisnode

import "locklab/simulator/resp"

// Real is real servers that execute whatever the servers of a Kind execute, request by
// request. What they answer is what the clients hear; what the lab answers is only
// compared. An answer is in RESP. Errors of the connection to them are their own
// business: they return the lab's answer then.
type Real interface {
	// Execute has a server execute a request. lab is the lab's answer, which has as many
	// values as the real one.
	Execute(r Request, lab string) (answer string)
	// Wait sends a WAIT, whose answer comes later.
	Wait(r Request)
	// Waited is the answer to the WAIT that was sent as message msg.
	Waited(msg uint32, lab string) (answer string)
}

// A Request is what reaches a server.
type Request struct {
	Client int8   // from 1; 0: no client sent it
	Server int    // as histories number it
	Msg    uint32 // its number in the history
	// Conn is the name of the connection on which it comes, if the server keeps something of
	// that; "": any connection of the client that is free.
	Conn     string
	Commands [][]string // what was written at once; nil: the client reads what the server has sent
	behind   copySet    // of a WAIT: the replicas that lack something
}

// ReplicaBehind reports whether a replica, from 0, lacks something when a WAIT begins.
func (r *Request) ReplicaBehind(replica int) bool { return r.behind>>replica&1 != 0 }

// execute is the answer of the real server to batch b, if there is one; else the lab's.
func (k *Kind) execute(client int8, server int, msg, b, lab uint32) (answer uint32) {
	if k.Real == nil {
		return lab
	}
	return k.Executor.internReply(k.Real.Execute(k.realRequest(client, server, msg, b), k.Executor.replies.At(lab).resp))
}

func (k *Kind) realRequest(client int8, server int, msg, b uint32) Request {
	r := Request{Client: client, Server: server, Msg: msg, Conn: k.Executor.batches.At(b).on.name, Commands: k.Executor.batches.At(b).commands}
	if len(r.Commands) == 1 && r.Commands[0][0] == takeCommand {
		r.Commands = nil
	}
	return r
}

// Values returns the number of RESP values of an answer.
func Values(answer string) int {
	values, _ := resp.All(answer)
	return len(values)
}
