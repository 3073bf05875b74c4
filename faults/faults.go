// Package faults is what goes wrong. Each fault is one file: a small value with a
// verb of its own that adds choices to a world while its budget lasts, and acts on
// the world through a simulator.FaultContext when one of them is made.
//
// A fault that is not in a run's budget cannot happen in it. That goes for delays
// beyond the ordinary, too (Pause, Delay): without a bound on them every lock with a
// time to live would fall to an endless sleep, and nothing would be learned.
package faults

import (
	"locklab/reports/text"
	"locklab/simulator"
)

// The verbs stand in saved traces: a number is never given to another fault.
const (
	verbCrash = simulator.FaultVerb + iota
	verbPause
	verbLoseReply
	verbLoseRequest
	verbClientClock
	verbNodeClock
	verbRestart
	verbFailover
	verbSplit
	verbHang
	verbDelay
	verbFailCall
	verbEvict
	verbFlush
	verbDelete
	verbExpireSession
)

// An Entry is a fault's place in the list.
type Entry struct {
	simulator.Fault
	Title, TitleZH string // one line, in English and in Chinese
}

// All is every fault, in the order in which the docs tell them.
func All() []Entry {
	return []Entry{
		{Crash{}, "a client process is killed, before or after its request took effect", "客户端进程被杀，请求可能尚未生效，也可能已经生效"},
		{Pause{}, "a whole client process stands still: garbage collection, SIGSTOP, a moving virtual machine", "整个客户端进程停顿：GC、SIGSTOP、虚拟机迁移"},
		{LoseReply{}, "a command is executed and its sender never hears of it", "命令已执行，发送方始终收不到应答"},
		{LoseRequest{}, "a command is lost on the way and never executed", "命令在途中丢失，没有执行"},
		{ClientClock{}, "a client's clock jumps", "客户端的时钟跳变"},
		{NodeClock{}, "a server's clock jumps, and with it the end of every lease it keeps", "服务器的时钟跳变，它上面所有租约的到期时刻随之改变"},
		{Restart{}, "a server crashes and comes back, at once or later, with what it keeps on disk: mostly nothing", "服务器宕机后立刻或延迟重启，只剩磁盘上的数据：多半什么都没有"},
		{Failover{}, "a server is replaced by its replica, which may lag behind", "主从切换：从库接替主库，数据可能落后"},
		{Split{}, "a server is cut off with some clients and lives on, while its replica serves the others", "脑裂：主库与部分客户端一起被隔离，仍在运行，从库为其余客户端服务"},
		{Hang{}, "a server stands still: what reaches it meanwhile is executed afterwards", "服务器卡住：其间到达的命令之后才执行"},
		{Delay{}, "one message is held up in the network, until its sender may have given up", "一条消息滞留在网络里，到达时发送方可能早已放弃"},
		{FailCall{}, "a server answers one request with an error and does not execute it", "服务器对一次请求返回错误，命令没有执行"},
		{Evict{}, "memory is short, and a key that has a time to live goes before its time", "内存不足，带过期时间的 key 被提前淘汰"},
		{Flush{}, "somebody empties a server", "有人清空了服务器（FLUSHALL）"},
		{Delete{}, "somebody deletes a key that is not theirs", "有人删了不属于自己的 key"},
		{ExpireSession{}, "a ZooKeeper ends a client's session before its time", "ZooKeeper 提前结束了客户端的会话"},
	}
}

// ByName finds a fault. The error names the one that was probably meant.
func ByName(name string) (Entry, error) {
	var names []string
	for _, e := range All() {
		if e.Name() == name {
			return e, nil
		}
		names = append(names, e.Name())
	}
	return Entry{}, text.Errorf("error.fault", "name", name, "near", text.Near(name, names))
}
