package zookeeper

// Reconnect is reconnect with the highest zxid that the client has seen in a reply, as in the protocol.
func (s State) Reconnect(id SessionID, seen int64, watches []Watch) (State, Code, []Event) {
	return s.reconnect(id, watches, since(seen))
}
