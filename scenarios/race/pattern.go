package race

import (
	"slices"
	"strings"

	"locklab/simulator/client"
	"locklab/simulator/history"
)

// A Pattern reports whether an event matches. Clients and servers count from 1.
type Pattern func(e *history.Event) bool

// and returns the pattern of events that match both.
func (p Pattern) and(q Pattern) Pattern { return func(e *history.Event) bool { return p(e) && q(e) } }

// AnyEvent matches events of one kind of any client.
func AnyEvent(k history.EventKind) Pattern { return func(e *history.Event) bool { return e.Kind == k } }

// Event matches events of one kind of one client.
func Event(k history.EventKind, client int) Pattern {
	return func(e *history.Event) bool { return e.Kind == k && e.Client == client }
}

// EventOfOther matches events of one kind of all others than the client.
func EventOfOther(k history.EventKind, client int) Pattern {
	return func(e *history.Event) bool { return e.Kind == k && e.Client != client }
}

// Sends matches a client's requests with one of the commands, when they leave.
func Sends(client int, commands ...string) Pattern {
	return Event(history.Send, client).and(commandIn(commands))
}

// Applies matches a client's requests with one of the commands, when a server executes them.
func Applies(client int, commands ...string) Pattern {
	return Event(history.Apply, client).and(commandIn(commands))
}

func commandIn(commands []string) Pattern {
	return func(e *history.Event) bool {
		isIt := func(c string) bool { return strings.EqualFold(e.Cmd[0], c) }
		return len(e.Cmd) > 0 && slices.ContainsFunc(commands, isIt)
	}
}

// SendsBeside matches requests of other threads of the client's process than its main one: of a timer or a daemon, such
// as renewals, and those that it sends in parallel.
func SendsBeside(client int) Pattern {
	return Event(history.Send, client).and(func(e *history.Event) bool { return e.Thread > 0 })
}

// OthersSend matches requests of all others than the client to a lock server.
func OthersSend(client int) Pattern {
	return EventOfOther(history.Send, client).and(func(e *history.Event) bool { return e.Node != history.Resource })
}

// Decides matches the end of a client's attempt: it has the lock, or is refused.
func Decides(client int) Pattern {
	return func(e *history.Event) bool {
		return e.Client == client && (e.Kind == history.Enter || e.Kind == history.Refuse)
	}
}

// Throws matches the exception that ends a client's work (ClientSpec.Fails).
func Throws(client int) Pattern {
	return Event(history.Leave, client).and(func(e *history.Event) bool { return e.Note == history.Exception })
}

// changesKey matches the events by which a command of the client changes the lock's key.
func changesKey(c int) Pattern {
	return Event(history.Change, c).and(func(e *history.Event) bool { return e.Key == client.Key })
}

// CreatesKey matches the event by which a command of the client creates the lock's key.
func CreatesKey(c int) Pattern {
	return changesKey(c).and(func(e *history.Event) bool { return e.Before == "" })
}

// CreatesKeyOn is CreatesKey on one server.
func CreatesKeyOn(c, node int) Pattern {
	return CreatesKey(c).and(func(e *history.Event) bool { return e.Node == node })
}

// CreatesKeyWithoutTTL is CreatesKey of a key that does not expire.
func CreatesKeyWithoutTTL(c int) Pattern {
	return CreatesKey(c).and(func(e *history.Event) bool { return e.Until == history.Forever })
}

// DeletesKey matches the event by which a command of the client deletes the lock's key.
func DeletesKey(c int) Pattern {
	return changesKey(c).and(func(e *history.Event) bool { return e.After == "" })
}

// LosesKey matches a server's loss of the lock's key through no client: by failover, restart or deletion from outside.
func LosesKey(e *history.Event) bool { return DeletesKey(0)(e) }

// JoinsQueue matches the event by which a client gets a znode in a ZooKeeper queue.
func JoinsQueue(client int) Pattern {
	return Applies(client, "CREATE").and(func(e *history.Event) bool {
		return slices.Contains(e.Cmd, "EPHEMERAL_SEQUENTIAL") && !strings.HasPrefix(e.Reply, "(error)")
	})
}

// GivesUpOn matches the moment at which a client stops waiting for a lost message, because of its timeout or a broken
// connection. Kind is history.LoseRequest or history.LoseReply. The pattern keeps state and must see all events.
func GivesUpOn(k history.EventKind, client int) Pattern {
	lost := map[int]bool{}
	return func(e *history.Event) bool {
		if Event(k, client)(e) {
			lost[e.Msg] = true
		}
		return (Event(history.Timeout, client)(e) || Event(history.Broken, client)(e)) && lost[e.Msg]
	}
}

// InOrder reports whether a history has events that match the patterns in this order, with others between them.
func InOrder(h *history.History, patterns ...Pattern) bool {
	return InOrderWithout(h, func(*history.Event) bool { return false }, patterns...)
}

// InOrderWithout is InOrder where no event between the first match and the last matches without, which starts it anew.
func InOrderWithout(h *history.History, without Pattern, patterns ...Pattern) bool {
	left := patterns
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case len(left) == 0:
			return true
		case left[0](e):
			left = left[1:]
		case without(e):
			left = patterns
		}
	}
	return len(left) == 0
}

// Sequence returns a Race.Triggered that is InOrder. The patterns must not keep state.
func Sequence(patterns ...Pattern) func(*history.History) bool {
	return func(h *history.History) bool { return InOrder(h, patterns...) }
}

// SequenceWithout returns a Race.Triggered that is InOrderWithout. The patterns must not keep state.
func SequenceWithout(without Pattern, patterns ...Pattern) func(*history.History) bool {
	return func(h *history.History) bool { return InOrderWithout(h, without, patterns...) }
}
