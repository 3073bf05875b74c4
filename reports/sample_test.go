package reports

import (
	"strings"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A script writes a history by hand, in the order in which things happen.
type script struct {
	h   *history.History
	now time.Duration
	msg int
}

func newScript(strategy, scenario string, clients, nodes int, ttl time.Duration) *script {
	return &script{h: &history.History{
		Strategy: strategy, Scenario: scenario, Clients: clients, Nodes: nodes, Key: "lock", TTL: ttl,
	}}
}

func (s *script) at(t time.Duration) *script { s.now = t; return s }

func (s *script) add(e history.Event) *script {
	e.At = s.now
	s.h.Events = append(s.h.Events, e)
	s.h.End = s.now
	return s
}

func (s *script) client(c int, kinds ...history.Kind) *script {
	for _, k := range kinds {
		s.add(history.Event{Kind: k, Client: c})
	}
	return s
}

// value is a change of the key: from one value to another, gone at until.
type value struct {
	before, after string
	until         time.Duration
}

// apply sends a command to a node that runs it at once.
func (s *script) apply(c, node int, command, reply string, changes ...value) []string {
	s.msg++
	cmd := strings.Fields(command)
	s.add(history.Event{Kind: history.Send, Client: c, Node: node, Msg: s.msg, Cmd: cmd})
	s.add(history.Event{Kind: history.Apply, Client: c, Node: node, Msg: s.msg, Cmd: cmd, Reply: reply})
	for _, v := range changes {
		s.add(history.Event{Kind: history.Change, Client: c, Node: node, Msg: s.msg, Key: "lock",
			Before: v.before, After: v.after, Until: v.until})
	}
	return cmd
}

// command is a command that is run and answered at once.
func (s *script) command(c, node int, command, reply string, changes ...value) *script {
	cmd := s.apply(c, node, command, reply, changes...)
	return s.add(history.Event{Kind: history.Answer, Client: c, Node: node, Msg: s.msg, Cmd: cmd, Reply: reply})
}

func (s *script) expire(node int, before string) *script {
	return s.add(history.Event{Kind: history.Expire, Node: node, Key: "lock", Before: before})
}

func (s *script) read(c, version int) *script {
	return s.add(history.Event{Kind: history.Read, Client: c, Node: history.Resource, Version: version})
}

func (s *script) write(c, base, version int) *script {
	return s.add(history.Event{Kind: history.Write, Client: c, Node: history.Resource, Base: base, Version: version, OK: true})
}

// last is the index of the newest event.
func (s *script) last() int { return len(s.h.Events) - 1 }

const ms = time.Millisecond

const unlock = "EVALSHA 3f2a9c01d4e5b6a7988899aabbccddeeff001122 1 lock "

// gcPause is a token lock whose owner stands still for longer than its lease.
func gcPause() (*history.History, verdict.Judgement) {
	s := newScript("token", "gc-pause", 2, 1, 10*time.Second)
	var findings []verdict.Finding
	s.client(1, history.Acquire)
	s.command(1, 1, "SET lock c1-1 NX PX 10000", "OK", value{"", "c1-1", 10 * time.Second})
	s.client(1, history.Enter).read(1, 0)
	for t := 200 * ms; t < 2*time.Second; t += 200 * ms {
		s.at(t).client(2, history.Acquire).command(2, 1, "SET lock c2-1 NX PX 10000", "(nil)").client(2, history.Refuse)
	}
	s.at(2 * time.Second).add(history.Event{Kind: history.Pause, Client: 1, D: 12 * time.Second, Note: "GC"})
	s.at(9900*ms).client(2, history.Acquire).command(2, 1, "SET lock c2-1 NX PX 10000", "(nil)").client(2, history.Refuse)
	s.at(10*time.Second).expire(1, "c1-1")
	s.at(10200*ms).client(2, history.Acquire)
	s.command(2, 1, "SET lock c2-2 NX PX 10000", "OK", value{"", "c2-2", 20200 * ms}).client(2, history.Enter)
	overlap := s.last()
	s.read(2, 0)
	s.at(12*time.Second).write(2, 0, 1)
	s.at(14*time.Second).client(1, history.Resume).write(1, 0, 2)
	findings = append(findings,
		verdict.Finding{Verdict: verdict.Overlap, Clients: []int{1, 2}, From: 10200 * ms, To: 14001 * ms, Event: overlap},
		verdict.Finding{Verdict: verdict.StaleWrite, Clients: []int{1, 2}, From: s.now, To: s.now, Event: s.last()})
	s.at(14001*ms).client(1, history.Leave, history.Release).command(1, 1, unlock+"c1-1", "0").client(1, history.Released, history.Done)
	s.at(15*time.Second).client(2, history.Leave, history.Release)
	s.command(2, 1, unlock+"c2-2", "1", value{"c2-2", "", 0}).client(2, history.Released, history.Done)
	return s.h, verdict.Judgement{
		Verdicts: []verdict.Word{verdict.Overlap, verdict.StaleWrite}, Findings: findings, Contended: true}
}

// wrongDel is a lock with a constant value, whose late owner deletes the next
// one's lock. Its second client's clock is 5 s ahead, it has a timer, and a
// third client finds the door open.
func wrongDel() (*history.History, verdict.Judgement) {
	s := newScript("set-nx-ex", "slow-owner", 3, 1, 5*time.Second)
	skewed := func(e history.Event) history.Event { e.Client, e.Skew = 2, 5*time.Second; return e }
	s.client(1, history.Acquire).command(1, 1, "SET lock true EX 5 NX", "OK", value{"", "true", 5 * time.Second})
	s.client(1, history.Enter)
	s.at(5*time.Second).expire(1, "true")
	s.at(5100*ms).client(2, history.Acquire)
	s.apply(2, 1, "SET lock true EX 5 NX", "OK", value{"", "true", 10100 * ms})
	s.at(5100*ms + 500*time.Microsecond)
	s.add(skewed(history.Event{Kind: history.Answer, Node: 1, Msg: s.msg, Cmd: []string{"SET", "lock", "true", "EX", "5", "NX"}, Reply: "OK"}))
	s.add(skewed(history.Event{Kind: history.Enter}))
	findings := []verdict.Finding{{Verdict: verdict.Overlap, Clients: []int{1, 2}, From: s.now, To: 7 * time.Second, Event: s.last()}}
	for t := 5500 * ms; t < 7*time.Second; t += 500 * ms {
		s.at(t).command(2, 1, "EXPIRE lock 5", "1", value{"true", "true", t + 5*time.Second})
		s.h.Events[s.last()].Thread = 1
	}
	s.at(7*time.Second).client(1, history.Leave, history.Release)
	s.apply(1, 1, "DEL lock", "1", value{"true", "", 0})
	findings = append(findings, verdict.Finding{Verdict: verdict.WrongDel, Clients: []int{1, 2}, From: s.now, To: s.now, Event: s.last()})
	s.add(history.Event{Kind: history.Answer, Client: 1, Node: 1, Msg: s.msg, Cmd: []string{"DEL", "lock"}, Reply: "1"})
	s.client(1, history.Released)
	s.at(7100*ms).client(3, history.Acquire).command(3, 1, "SET lock true EX 5 NX", "OK", value{"", "true", 12100 * ms})
	s.client(3, history.Enter)
	findings = append(findings, verdict.Finding{Verdict: verdict.Overlap, Clients: []int{3, 2}, From: s.now, To: 7500 * ms, Event: s.last()})
	s.at(7500 * ms).add(history.Event{Kind: history.Crash, Client: 2})
	s.at(8*time.Second).client(3, history.Leave, history.Release)
	s.apply(3, 1, "DEL lock", "1", value{"true", "", 0})
	s.at(8200 * ms).add(history.Event{Kind: history.LoseReply, Client: 3, Node: 1, Msg: s.msg, Cmd: []string{"DEL", "lock"}})
	s.at(9 * time.Second).add(history.Event{Kind: history.Timeout, Client: 3, Node: 1, Msg: s.msg, Cmd: []string{"DEL", "lock"}})
	return s.h, verdict.Judgement{
		Verdicts: []verdict.Word{verdict.Overlap, verdict.WrongDel}, Findings: findings, Contended: true}
}

// quorum is a Redlock on three nodes, one of which comes back empty.
func quorum() (*history.History, verdict.Judgement) {
	s := newScript("redlock", "node-restart", 2, 3, 10*time.Second)
	take := func(c int, node int, reply string) {
		command := "SET lock c" + string(rune('0'+c)) + " NX PX 10000"
		if reply == "OK" {
			s.command(c, node, command, reply, value{"", "c" + string(rune('0'+c)), s.now + 10*time.Second})
			return
		}
		s.command(c, node, command, reply)
	}
	s.client(1, history.Acquire)
	take(1, 1, "OK")
	s.at(2 * ms)
	take(1, 2, "OK")
	s.at(4*ms).apply(1, 3, "SET lock c1 NX PX 10000", "OK", value{"", "c1", s.now + 10*time.Second})
	s.at(4 * ms).add(history.Event{Kind: history.LoseReply, Client: 1, Node: 3, Msg: s.msg, Cmd: []string{"SET", "lock", "c1", "NX", "PX", "10000"}})
	s.at(54 * ms).add(history.Event{Kind: history.Timeout, Client: 1, Node: 3, Msg: s.msg, Cmd: []string{"SET", "lock", "c1", "NX", "PX", "10000"}})
	s.client(1, history.Enter)
	s.at(1000 * ms).add(history.Event{Kind: history.Down, Node: 2})
	s.at(1500 * ms).add(history.Event{Kind: history.Up, Node: 2, Note: "empty"})
	s.at(1700*ms).add(history.Event{Kind: history.ClockStep, Node: 3, D: 10 * time.Second}).expire(3, "c1")
	s.at(2000*ms).client(2, history.Acquire)
	take(2, 1, "(nil)")
	take(2, 2, "OK")
	take(2, 3, "OK")
	s.client(2, history.Enter)
	f := verdict.Finding{Verdict: verdict.Overlap, Clients: []int{1, 2}, From: s.now, To: s.now, Forever: true, Event: s.last()}
	return s.h, verdict.Judgement{Verdicts: []verdict.Word{verdict.Overlap}, Findings: []verdict.Finding{f}, Contended: true}
}

// samples are the runs that every text is tried on.
var samples = []struct {
	name string
	make func() (*history.History, verdict.Judgement)
}{
	{"gc-pause", gcPause},
	{"wrong-del", wrongDel},
	{"quorum", quorum},
}

// gridSample shows every word there is, with surprises and a cell that was not
// reached.
func gridSample() Grid {
	g := Grid{
		Strategies: []Row{
			{ID: "setnx", Article: "003-A", Title: Text{"SETNX without a time to live", "SETNX，没有过期时间"}},
			{ID: "setnx-expire", Article: "003-B", Title: Text{"SETNX, then EXPIRE", "先 SETNX 再 EXPIRE"}},
			{ID: "getset", Article: "000-C", Title: Text{"SETNX with a timestamp, GETSET takes over", "SETNX 存时间戳，GETSET 接管"}},
			{ID: "watchdog", Article: "003-C", Title: Text{"A reentrant hash, renewed by a watchdog", "可重入的 hash，看门狗续期"}},
			{ID: "token", Article: "002-C", Title: Text{"SET NX PX with a token, released by a script", "SET NX PX 加令牌，脚本释放"}},
			{ID: "redlock", Article: "002-E", Title: Text{"A quorum of independent servers", "多个独立节点过半"}},
		},
		Scenarios: []Column{
			{"calm", "", Text{"Two clients, nothing goes wrong", "两个客户端，一切正常"}},
			{"crash-holding", "R01", Text{"The owner dies inside", "持锁者死在里面"}},
			{"crash-between", "R02", Text{"Death between SETNX and EXPIRE", "死在 SETNX 与 EXPIRE 之间"}},
			{"slow-owner", "R03", Text{"The work takes longer than the lease", "业务比租约久"}},
			{"check-then-del", "R04", Text{"The lease ends between GET and DEL", "租约在 GET 与 DEL 之间到期"}},
			{"getset-nil", "R06", Text{"GETSET finds nothing", "GETSET 返回 nil"}},
			{"clock-skew", "R09", Text{"A client's clock runs ahead", "一个客户端的时钟快"}},
			{"gc-pause", "R18", Text{"A pause longer than the lease", "停顿超过租约"}},
			{"fenced-pause", "R18", Text{"The same before a resource that checks tokens", "同样的停顿，资源检查令牌"}},
			{"failover", "R21", Text{"The replica had not heard of the lock", "从库不知道这把锁"}},
			{"restart-empty", "R24", Text{"A node forgets", "节点失忆"}},
			{"split-vote", "R29", Text{"Three clients, five nodes, equal delays", "三个客户端，五个节点，同样的间隔"}},
			{"lost-reply", "R32", Text{"The answer to SET is lost", "SET 的应答丢失"}},
			{"extend-late", "R34", Text{"Extend after the lease has ended", "租约到期之后续期"}},
			{"two-keys", "R46", Text{"Two keys in opposite order", "两个 key，顺序相反"}},
		},
	}
	table := [][]string{
		{"HOLDS", "HOLDS", "HOLDS", "HOLDS", "HOLDS", "HOLDS"},
		{"DEADLOCK", "BLOCKED", "BLOCKED", "BLOCKED", "BLOCKED", "BLOCKED"},
		{"N/A", "DEADLOCK", "N/A", "N/A", "N/A", "N/A"},
		{"HOLDS", "OVERLAP WRONG-DEL STALE-WRITE", "OVERLAP WRONG-DEL", "OVERLAP STALE-WRITE WRONG-DEL", "OVERLAP", "OVERLAP"},
		{"N/A", "N/A", "N/A", "N/A", "HOLDS", "HOLDS"},
		{"N/A", "N/A", "ORPHAN BLOCKED", "N/A", "N/A", "N/A"},
		{"HOLDS", "HOLDS", "OVERLAP STALE-WRITE", "HOLDS", "HOLDS", "STALE-WRITE WRONG-DEL"},
		{"HOLDS", "OVERLAP STALE-WRITE", "OVERLAP STALE-WRITE", "OVERLAP STALE-WRITE", "OVERLAP STALE-WRITE", "OVERLAP STALE-WRITE"},
		{"HOLDS", "FENCED", "FENCED", "FENCED", "FENCED", "FENCED"},
		{"OVERLAP", "OVERLAP", "OVERLAP", "OVERLAP", "OVERLAP", "HOLDS"},
		{"UNKNOWN", "N/A", "N/A", "N/A", "N/A", "OVERLAP"},
		{"N/A", "N/A", "N/A", "N/A", "N/A", "STARVED"},
		{"DEADLOCK", "WRONG-DEL", "HOLDS", "ORPHAN", "ORPHAN", "VACUOUS"},
		{"N/A", "LIE", "LIE WRONG-DEL", "N/A", "HOLDS", "HOLDS"},
		{"DEADLOCK", "BLOCKED", "BLOCKED", "BLOCKED", "BLOCKED", "BLOCKED"},
	}
	for i, s := range g.Strategies {
		row := make([]Cell, len(g.Scenarios))
		for j, n := range g.Scenarios {
			row[j] = Cell{Strategy: s.ID, Article: s.Article, Scenario: n.ID, Race: n.Race,
				Verdicts: wordsOf(table[j][i]), Expected: wordsOf(table[j][i]), AsExpected: true, Reached: true,
				Trace: "traces/" + s.ID + "." + n.ID + ".json"}
			if strings.Contains(table[j][i], "BLOCKED") {
				row[j].Blocked = time.Duration(8+7*i)*time.Second + 40*ms
			}
		}
		g.Cells = append(g.Cells, row)
	}
	g.Cells[4][3].Expected, g.Cells[4][3].AsExpected = wordsOf("HOLDS"), false
	g.Cells[5][6].Expected, g.Cells[5][6].AsExpected = wordsOf("HOLDS"), false
	g.Cells[2][12].Reached = false
	g.Cells[4][7].Overlap = 3801 * ms
	return g
}

func wordsOf(text string) []verdict.Word {
	var out []verdict.Word
	for _, w := range strings.Fields(text) {
		out = append(out, verdict.Word(w))
	}
	return out
}

// sensitivitySample has six locks: some fall early, some late, one never.
func sensitivitySample() Sensitivity {
	s := Sensitivity{
		XLabel: "pause / TTL", YLabel: "an overlap was seen",
		Runs: 1000,
	}
	for i, id := range []string{"setnx", "setnx-expire", "getset", "watchdog", "token", "redlock"} {
		one := Series{Strategy: id}
		for n := range 21 {
			x := float64(n) / 10
			k := 0
			if over := x - 0.5 - 0.1*float64(i); i > 0 && over > 0 {
				k = int(1000 * over / (over + 0.1*float64(i)))
			}
			one.Points = append(one.Points, Point{x, k, 1000})
		}
		s.Series = append(s.Series, one)
	}
	return s
}
