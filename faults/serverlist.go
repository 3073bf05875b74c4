package faults

import (
	"locklab/simulator"
	"locklab/simulator/history"
)

const verbServerList = simulator.FaultVerb + 18

// ServerList adds a server to a client's list, or removes one from it: a new configuration that has reached this
// client, and no other yet. It strikes clients whose lock chooses the server of a key from a list. A server that leaves
// a list runs on, and keeps its keys. A process that is started in place of one that has died has the list of that.
var ServerList = &simulator.Fault{
	Name: "server-list", Verb: verbServerList, Living: true, Clientside: true, Punctual: true,
	// Choices offers each server of each client alive, so also before a first attempt. The last server of a list stays.
	Choices: func(f simulator.FaultContext, buf []simulator.Choice) []simulator.Choice {
		for c := range f.Clients {
			for n := range f.Servers {
				if _, may := c.Lists(n.ID); may {
					buf = append(buf, ServerListOf(c.ID, n.ID))
				}
			}
		}
		return buf
	},
	Inject: func(f simulator.FaultContext, c simulator.Choice) error {
		client := f.Client(c.Client)
		e := history.Event{Client: int(c.Client), Node: int(c.Node), Note: "added"}
		if on, _ := client.Lists(int(c.Node)); on {
			e.Note = "removed"
		}
		f.Record(e)
		return client.Relist(int(c.Node))
	},
}

// ServerListOf is the choice that adds server n, from 1, to the list of client c, from 1, or removes it.
func ServerListOf(c, n int) simulator.Choice {
	return simulator.Choice{Verb: verbServerList, Client: int8(c), Node: int8(n)}
}
