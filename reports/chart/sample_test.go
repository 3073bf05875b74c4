package chart

import (
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/scenarios/cost"
	"locklab/scenarios/study"
	"locklab/simulator/verdict"
)

const ms = time.Millisecond

// gridSample shows every word there is, with surprises and a cell that was not
// reached.
func gridSample() Grid {
	g := Grid{
		Locks: []Row{
			{ID: "setnx", Article: "003-A"},
			{ID: "setnx-expire", Article: "003-B"},
			{ID: "getset", Article: "000-C"},
			{ID: "watchdog", Article: "003-C"},
			{ID: "token", Article: "002-C"},
			{ID: "redlock", Article: "002-E"},
		},
		Races: []Column{
			{ID: "calm", Code: ""},
			{ID: "crash-holding", Code: "R01"},
			{ID: "crash-between", Code: "R02"},
			{ID: "slow-owner", Code: "R03"},
			{ID: "check-then-del", Code: "R04"},
			{ID: "getset-nil", Code: "R06"},
			{ID: "clock-skew", Code: "R09"},
			{ID: "gc-pause", Code: "R18"},
			{ID: "fenced-pause", Code: "R18"},
			{ID: "failover", Code: "R21"},
			{ID: "restart-empty", Code: "R24"},
			{ID: "split-vote", Code: "R29"},
			{ID: "lost-reply", Code: "R32"},
			{ID: "extend-late", Code: "R34"},
			{ID: "two-keys", Code: "R46"},
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
	for i, s := range g.Locks {
		row := make([]Cell, len(g.Races))
		for j, n := range g.Races {
			row[j] = Cell{Lock: s.ID, Article: s.Article, Race: n.ID, Code: n.Code,
				Verdicts: wordsOf(table[j][i]), Expected: wordsOf(table[j][i]), AsExpected: true, Triggered: true,
				Trace: "traces/" + s.ID + "." + n.ID + ".json"}
			if strings.Contains(table[j][i], "BLOCKED") {
				row[j].Blocked = time.Duration(8+7*i)*time.Second + 40*ms
			}
		}
		g.Cells = append(g.Cells, row)
	}
	g.Cells[4][3].Expected, g.Cells[4][3].AsExpected = wordsOf("HOLDS"), false
	g.Cells[5][6].Expected, g.Cells[5][6].AsExpected = wordsOf("HOLDS"), false
	g.Cells[2][12].Triggered = false
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

// locksOf makes entries of which only the names matter.
func locksOf(ids ...string) (entries []lock.Entry) {
	for _, id := range ids {
		entries = append(entries, lock.Entry{ID: id, Server: lock.OnRedis(1)})
	}
	return entries
}

// sweepSample has six locks: some fall early, some late, one never.
func sweepSample() *Sweep {
	axis, err := study.ParseAxis("pause/ttl")
	if err != nil {
		panic(err)
	}
	s := &Sweep{Sweep: study.Sweep{Order: study.SweepOrder{Axes: []study.Axis{axis}, Runs: 1000}}}
	if err := s.Order.Complete(); err != nil {
		panic(err)
	}
	for i, id := range []string{"setnx", "setnx-expire", "getset", "watchdog", "token", "redlock"} {
		one := study.SweepSeries{Lock: id}
		for n := range 21 {
			x := float64(n) / 10
			k := 0
			if over := x - 0.5 - 0.1*float64(i); i > 0 && over > 0 {
				k = int(1000 * over / (over + 0.1*float64(i)))
			}
			one.Points = append(one.Points, study.SweepPoint{At: []float64{x}, K: k, N: 1000})
		}
		s.Series = append(s.Series, one)
	}
	return s
}

// recoverySample has the locks of a chart of rates, of which one was not measured.
func recoverySample(of *Rate) *RecoveryChart {
	c := &RecoveryChart{}
	for _, s := range of.Subjects {
		for work := time.Second; work <= 20*time.Second; work += time.Second {
			one := cost.Recovery{Lock: s.Lock, TTL: of.TTL, Work: work, Blocked: s.Lease.Blocked(of.TTL, work)}
			c.Recoveries = append(c.Recoveries, one)
		}
	}
	return c
}

// waitingSample has two ways to wait, with two numbers of clients.
func waitingSample() *WaitingChart {
	of := func(policy string, clients int, quick, mean, slow time.Duration) cost.Waiting {
		return cost.Waiting{Policy: policy, Clients: clients, Quick: quick, Handover: mean, Slow: slow, PerEntry: float64(clients)}
	}
	return &WaitingChart{Load: cost.UsualLoad(), Results: []cost.Waiting{
		of("fixed", 2, 400*ms, 500*ms, 900*ms), of("line", 2, 9*ms, 10*ms, 11*ms),
		of("fixed", 9, 40*ms, 50*ms, 90*ms), of("line", 9, ms/2, ms, 2*ms)}}
}
