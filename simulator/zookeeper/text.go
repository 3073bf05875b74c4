package zookeeper

import (
	"fmt"
	"strings"
)

// requestText is a request as histories show it, in the words of the API.
func requestText(r Request) []string {
	text := []string{map[Op]string{
		Ping: "PING", Create: "CREATE", Delete: "DELETE", Exists: "EXISTS", GetData: "GETDATA",
		SetData: "SETDATA", GetChildren: "GETCHILDREN", Sync: "SYNC",
		opConnect: "CONNECT", opSetWatches: "SETWATCHES", opClose: "CLOSE", opHangUp: "DISCONNECT", opListen: "LISTEN",
	}[r.Op]}
	if r.Path != "" {
		text = append(text, r.Path)
	}
	if r.Data != "" || r.Op == SetData {
		text = append(text, r.Data)
	}
	switch r.Mode {
	case Ephemeral:
		text = append(text, "EPHEMERAL")
	case Sequential:
		text = append(text, "PERSISTENT_SEQUENTIAL")
	case Ephemeral | Sequential:
		text = append(text, "EPHEMERAL_SEQUENTIAL")
	}
	if versioned := r.Op == Delete || r.Op == SetData; versioned && r.Version != AnyVersion {
		text = append(text, "VERSION", fmt.Sprint(r.Version))
	}
	if r.Watch {
		text = append(text, "WATCH")
	}
	return text
}

// replyText is the reply to a request as histories show it.
func replyText(r Request, reply Reply) string {
	if reply.Code != OK {
		return "(error) " + codes[reply.Code].name
	}
	switch r.Op {
	case Create:
		return reply.Path
	case Exists:
		return fmt.Sprintf("czxid %d", reply.Stat.Czxid)
	case GetData:
		return fmt.Sprintf("%q", reply.Data)
	case GetChildren:
		return "[" + strings.Join(reply.Children, ", ") + "]"
	}
	return "OK"
}

func eventText(e EventType) string {
	return [...]string{
		NodeCreated: "created", NodeDeleted: "deleted",
		NodeDataChanged: "its data changed", NodeChildrenChanged: "a child came or went",
	}[e]
}
