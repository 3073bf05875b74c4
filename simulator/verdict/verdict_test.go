package verdict_test

import (
	"fmt"
	. "locklab/simulator/verdict"
	"slices"
	"strings"
	"testing"

	"locklab/simulator/history"
)

// A row is a small history, the findings that it must have, and the rule that it tests.
// The lease is 10 ms unless a row says otherwise.
type row struct {
	rule    string
	nodes   int // if more than the text names
	shards  bool
	horizon bool
	noTTL   bool // the lock asked for no lease
	holders []int

	zooKeeper bool
	text      string
	want      string
}

func judge(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		h := tell(t, r.text)
		h.Nodes = max(h.Nodes, r.nodes)
		h.Shards = r.shards
		h.Horizon, h.Holders, h.ZooKeeper = r.horizon, r.holders, r.zooKeeper
		if r.noTTL {
			h.TTL = 0
		}
		if got := short(Judge(h).Findings); got != r.want {
			t.Errorf("%s\n%s\nfound %q\nwant  %q", r.rule, strings.ReplaceAll(r.text, "|", "\n"), got, r.want)
		}
	}
}

// What is no row here TestSecondOpinionOfCharges and TestOverlapTwin find in random histories.

// has is a client that asks at 0, is granted until 10 and enters.
const has = "0 c1 acquire | 0 c1 set a until 10 | 0 c1 enter | "

// together is three clients that enter one after the other, and then leave.
const together = "0 c1 acquire | 0 c1 enter | 1 c2 acquire | 1 c2 enter | 2 c3 acquire | 2 c3 enter | 3 c1 leave | 4 c2 leave | 5 c3 leave"

func TestOverlapOfSharedLocks(t *testing.T) {
	judge(t, []row{
		{rule: "readers are in together", holders: []int{history.AnyNumber, history.AnyNumber, history.AnyNumber}, text: together},
		{rule: "a writer is alone, whether or not it came first", holders: []int{history.AnyNumber, 1, history.AnyNumber}, text: together,
			want: "OVERLAP 1 2 1..3, OVERLAP 1 3 2..3, OVERLAP 2 3 2..4"},
		{rule: "a semaphore of two has room for two: the third is one too many, beside both", holders: []int{2, 2, 2}, text: together,
			want: "OVERLAP 1 3 2..3, OVERLAP 2 3 2..4"},
	})
}

func TestFenced(t *testing.T) {
	const both = has + "10 n1 expire | 11 c2 acquire | 11 c2 set b until 99 | 11 c2 enter | "
	judge(t, []row{
		{rule: "findings stand in the order of their events",
			text: both + "13 c1 write 0 refused | 14 c1 leave | 14 c1 release | 14 c1 released | 15 c1 acquire | 15 c1 enter | 16 c2 leave", want: "OVERLAP 1 2 11..14, FENCED 1 13, OVERLAP 2 1 15..16"},
		{rule: "of a lock that lets several in nothing is late", holders: []int{2, 2}, text: both + "12 c1 write 0 refused"},
	})
}

func TestStaleWrite(t *testing.T) {
	const late = "0 c2 acquire | 0 c2 set b until 10 | 0 c2 enter | 0 c2 read | 10 n1 expire | 11 c1 acquire | 12 c1 crash | " +
		"13 c1 return | 14 c1 acquire | 14 c1 set a until 30 | 14 c1 enter | "
	judge(t, []row{
		{rule: "into a section that has read", text: late + "15 c1 read | 16 c2 write 0 | 17 c2 leave",
			want: "OVERLAP 2 1 14..17, STALE-WRITE 2 1 16"},
		{rule: "a read that a process sent before it died is none of the section after it",
			text: late + "15 c1/1 read | 16 c2 write 0 | 17 c2 leave", want: "OVERLAP 2 1 14..17"},
	})
}

func TestWrongDel(t *testing.T) {
	const stamp = "0 c1 acquire | 0 c1 set a until never | 0 c1 enter | "
	judge(t, []row{
		{rule: "a lock without a lease has none that could lapse", noTTL: true, text: stamp + "99 c2 acquire | 99 c2 set b until never | 99 c2 refuse", want: "WRONG-DEL 2 1 99"},
		{rule: "nor has one on a ZooKeeper: who gets before the first of a line is wrong at any time", zooKeeper: true, text: stamp + "99 c2 acquire | 99 c2 set b until never | 99 c2 refuse", want: "WRONG-DEL 2 1 99"},
	})
}

func TestOrphan(t *testing.T) {
	const late = "0 c1 acquire | 1 c1 refuse timeout | 2 c1 set a until 12 | "
	judge(t, []row{
		{rule: "a request that arrives after its client gave up, and keeps another out", text: late + "3 c2 acquire | 3 c2 apply | 3 c2 refuse | 12 n1 expire",
			want: "ORPHAN 1 2..12, BLOCKED 1 2 2..12"},
		{rule: "while the winner works, the loser's stamp keeps others out rightly",
			text: "0 c1 acquire | 0 c2 acquire | 0 c1 set a until never | 0 c1 enter | 0 c2 set b until never | 0 c2 refuse | 1 c3 acquire | 1 c3 apply | 1 c3 refuse | 2 c1 leave | 2 c1 release | 2 c1 del | 2 c1 released",
			want: "WRONG-DEL 2 1 0"},
		{rule: "of a key on one of three nodes, one is", nodes: 3, shards: true, text: "0 c1 acquire | 0 c1 apply | 1 c1 refuse | 2 c1 set@1 a until never | 3 c2 acquire | 3 c2 apply | 3 c2 refuse | 4 c2 sleep",
			want: "ORPHAN 1 2..4 forever, UNKNOWN 1 2 2..4"},
		{rule: "an old key that a failover brings back is its former owner's",
			text: has + "1 n1 replicate | 2 c1 leave | 2 c1 release | 2 c1 del | 2 c1 released | 4 n1 failover | 4 - set a until 10 | 5 c2 acquire | 5 c2 apply | 5 c2 refuse | 10 n1 expire",
			want: "ORPHAN 1 4..10, BLOCKED 1 2 4..10"},
		{rule: "a second one of the same owner is judged afresh",
			text: late + "3 c2 acquire | 3 c2 apply | 3 c2 refuse | 12 n1 expire | 13 c1 set a until 23 | 14 c1 del | 15 c2 acquire | 15 c2 set b until 25 | 15 c2 enter",
			want: "ORPHAN 1 2..12, BLOCKED 1 2 2..15"},
	})
}

func TestBlocked(t *testing.T) {
	judge(t, []row{
		{rule: "half of a quorum bars nobody", nodes: 3,
			text: "0 c1 acquire | 0 c1 set@1 a until 10 | 0 c1 crash | 2 c3 acquire | 2 c3 apply | 2 c3 refuse | 12 c3 acquire | 12 c3 enter"},
		{rule: "a server that is down bars a lock on one server", text: "1 n1 down | 2 c1 acquire | 2 c1 apply | 2 c1 refuse | 3 n1 up | 4 c1 acquire | 4 c1 enter", want: "BLOCKED 1 1..4"},
		{rule: "but a lock whose key is on one of three", nodes: 3, shards: true, text: "1 n1 down | 2 c1 acquire | 2 c1 apply | 2 c1 refuse | 3 n1 up | 4 c1 acquire | 4 c1 enter",
			want: "BLOCKED 1 1..4"},
		{rule: "a lock that does not live on the key is barred by a crash inside",
			text: "0 c1 acquire | 0 c1 enter | 1 c1 crash | 2 c2 acquire | 2 c2 apply | 2 c2 refuse | 9 c2 acquire | 9 c2 enter", want: "BLOCKED 1 2 1..9"},
		{rule: "a leftover that nobody ran into does not count for the next",
			text: has + "4 c1 crash | 10 n1 expire | 20 c2 acquire | 20 c2 set b until 30 | 20 c2 crash | 21 c3 acquire | 21 c3 apply | 21 c3 refuse | 30 n1 expire", want: "BLOCKED 2 3 20..30"},
		{rule: "one leftover after another, with refusals: one block",
			text: has + "4 c1 crash | 5 c2 acquire | 5 c2 apply | 5 c2 refuse | 10 n1 expire | 11 c3 acquire | 11 c3 set c until 21 | 11 c3 crash | 12 c2 done", want: "UNKNOWN 1 2 4..12"},
		{rule: "a client that asks while its own old key is left has not been granted anything",
			text: "0 c1 acquire | 0 c1 apply | 1 c1 refuse | 2 c1 set a until 12 | 3 c1 acquire | 3 c2 acquire | 3 c2 apply | 3 c2 refuse | 4 c1 refuse | 12 n1 expire",
			want: "ORPHAN 1 2..12, BLOCKED 1 2 2..12"},
		{rule: "a client that is done without a release has left its key",
			text: has + "1 c1 leave | 2 c1 done | 3 c2 acquire | 3 c2 apply | 3 c2 refuse | 10 n1 expire", want: "ORPHAN 1 2..10, BLOCKED 1 2 2..10"},
		{rule: "an attempt that lasts all that time was refused all that time",
			text: has + "3 c2 acquire | 4 c1 crash | 10 n1 expire | 11 c2 set b until 21 | 11 c2 enter", want: "BLOCKED 1 2 4..11"},
		{rule: "free, and the waiting client gets no message, for a lease",
			text: has + "2 c2 acquire | 3 c1 leave | 3 c1 release | 3 c1 del | 3 c1 released | 12 c1 done | 13 c3 acquire | 13 c3 set b until 23 | 13 c3 enter", want: "BLOCKED 2 3..13"},
		{rule: "a paused client does not count",
			text: has + "2 c2 acquire | 3 c1 leave | 3 c1 release | 3 c1 del | 3 c1 released | 4 c2 pause | 16 c2 resume | 17 c2 set b until 27 | 17 c2 enter"},
		{rule: "but it does from the end of its pause: no message for a lease after it",
			text: has + "2 c2 acquire | 3 c1 leave | 3 c1 release | 3 c1 del | 3 c1 released | 4 c2 pause | 6 c2 resume | 16 c2 set b until 26 | 16 c2 enter", want: "BLOCKED 2 6..16"},
		{rule: "no message at all: a deadlock", horizon: true,
			text: has + "2 c2 acquire | 3 c1 leave | 3 c1 release | 3 c1 del | 3 c1 released | 23 c1 done", want: "DEADLOCK 2 3..23"},
		{rule: "what an old master keeps bars nobody",
			text: "0 c1 acquire | 0 c1 set a until never | 0 c1 enter | 1 n1 split 1 | 1 - del | 2 c1 crash | 3 c2 acquire | 3 c2 apply | 3 c2 refuse | 4 c2 acquire | 4 c2 set b until never | 4 c2 enter"},
		{rule: "a replica that takes over ends the outage", text: "1 n1 down | 2 n1 failover | 3 c1 acquire | 3 c1 apply | 3 c1 refuse | 4 c1 acquire | 4 c1 enter"},
	})
}

func TestDeadlock(t *testing.T) {
	judge(t, []row{
		{rule: "a daemon keeps a dead client's key alive", horizon: true,
			text: has + "1 c1 crash | 9 c2 renew until 29 | 10 c3 acquire | 10 c3 apply | 10 c3 refuse | 20 c3 acquire | 20 c3 apply | 20 c3 refuse | 21 c2 renew until 41 | 25 c3 sleep", want: "DEADLOCK 1 3 1..25 forever"},
		{rule: "until the daemon dies as well: then expiry is left", horizon: true,
			text: has + "1 c1 crash | 9 c2 renew until 29 | 10 c3 acquire | 10 c3 apply | 10 c3 refuse | 20 c3 acquire | 20 c3 apply | 20 c3 refuse | 21 c2 renew until 41 | 22 c2 crash | 25 c3 sleep", want: "DEADLOCK 1 3 1..25"},
		{rule: "after an exception with a live watchdog the key stays forever", horizon: true,
			text: has + "1 c1 leave exception | 9 c1 renew until 19 | 10 c2 acquire | 10 c2 apply | 10 c2 refuse | 18 c1 renew until 28 | 20 c2 acquire | 20 c2 apply | 20 c2 refuse | 25 c2 sleep",
			want: "ORPHAN 1 1..25, DEADLOCK 1 2 1..25 forever"},
		{rule: "a server that is down may come back, whatever its key was", horizon: true,
			text: has + "5 c1 renew until 15 | 5 c1 leave | 5 c1 release | 5 c1 del | 5 c1 released | 5 n1 down | 6 c2 acquire | 6 c2 apply | 6 c2 refuse | 15 c2 acquire | 15 c2 apply | 15 c2 refuse | 25 c2 sleep",
			want: "DEADLOCK 2 5..25"},
		{rule: "nor is what a daemon has prolonged that has died and come back", horizon: true,
			text: has + "1 c1 crash | 9 c2 renew until 29 | 10 c3 acquire | 10 c3 apply | 10 c3 refuse | " +
				"20 c3 acquire | 20 c3 apply | 20 c3 refuse | 21 c2 renew until 41 | 22 c2 crash | 23 c2 return | 25 c3 sleep",
			want: "DEADLOCK 1 3 1..25"},
		{rule: "to give a key the time to live that it has prolongs nothing", horizon: true,
			text: "0 c3 acquire | 0 c3 set c until 50 | 0 c3 crash | 1 c1 renew until 50 | 5 c2 acquire | 5 c2 apply | 5 c2 refuse | " +
				"15 c2 acquire | 15 c2 apply | 15 c2 refuse | 20 c2 sleep",
			want: "DEADLOCK 3 2 0..20"},
		{rule: "nor is one of another value", horizon: true,
			text: "0 c1 acquire | 0 c1 set a until 10 | 0 c1 renew until 99 | 0 c3 acquire | 0 c1 refuse | 0 c3 set c until 50 | 0 c3 crash | 5 c2 acquire | 5 c2 apply | 5 c2 refuse | 15 c2 acquire | 15 c2 apply | 15 c2 refuse | 20 c2 sleep",
			want: "DEADLOCK 1 2 0..20"},
	})
}

func TestStarved(t *testing.T) {
	round := func(at string) string {
		return strings.ReplaceAll("@ c1 acquire | @ c2 acquire | @ c1 set@1 a until 99 | @ c2 set@2 b until 99 | @ c1 del@1 | @ c1 refuse | @ c2 del@2 | @ c2 refuse | ", "@ ", at+" ")
	}
	four := round("1") + round("2") + round("3") + round("4")
	judge(t, []row{
		{rule: "ten refusals in a row, and nobody had it", nodes: 3, text: four + round("5") + "6 c1 sleep", want: "STARVED 1 2 1..6"},
		{rule: "an entry begins a new row", nodes: 3,
			text: four + "5 c1 acquire | 5 c1 enter | 5 c1 leave | 5 c1 release | 5 c1 released | " + round("6") + round("7") + "8 c1 sleep"},
		{rule: "a leftover explains the refusals", nodes: 3, text: "0 c3 acquire | 0 c3 set@3 c until 99 | 0 c3 crash | " + four + round("5") + "6 c1 sleep"},
		{rule: "the entry that ends it", nodes: 3, text: four + round("5") + "6 c1 acquire | 7 c1 enter", want: "STARVED 1 2 1..7"},
		{rule: "a client that gives up by itself was not refused", nodes: 3,
			text: four + strings.Repeat("5 c1 acquire | 5 c1 refuse "+history.GaveUp+" | ", 2) + "6 c1 sleep"},
		{rule: "a crash explains them on a lock that does not live on the key",
			text: "0 c3 acquire | 0 c3 enter | 0 c3 crash | " + strings.Repeat("1 c1 acquire | 1 c1 refuse | ", 10) + "2 c1 sleep", want: "UNKNOWN 3 1 0..2"},
	})
}

func TestOvertaken(t *testing.T) {
	turn := "@ c2 acquire | @ c2 enter | @ c1 acquire | @ c1 refuse | @ c2 leave | @ c2 release | @ c2 released | "
	turns := func(from, to int) (s string) {
		for at := from; at <= to; at++ {
			s += strings.ReplaceAll(turn, "@ ", fmt.Sprint(at, " "))
		}
		return s
	}
	const enters = "c1 acquire | 50 c1 enter"
	judge(t, []row{
		{rule: "ten rounds, and then its turn", text: turns(0, 10) + "50 " + enters, want: "STARVED 1 0..50"},
		{rule: "the end of the run", text: turns(0, 10) + "40 c2 sleep", want: "STARVED 1 0..40"},
		{rule: "its death", text: turns(0, 10) + "20 c1 crash | 40 c2 sleep", want: "STARVED 1 0..20"},
		{rule: "a turn of its own begins a new row", text: turns(0, 5) + "6 c1 acquire | 6 c1 enter | 6 c1 leave | 6 c1 release | 6 c1 released | " + turns(7, 13) + "50 " + enters},
		{rule: "a client that asks once is overtaken once", text: "0 c1 acquire | 0 c1 refuse | " + strings.Repeat("1 c2 acquire | 1 c2 enter | 1 c2 leave | 1 c2 release | 1 c2 released | ", 20) + "2 c1 acquire | 2 c1 refuse | 50 " + enters},
		{rule: "a lock taken again by its holder overtakes nobody", text: "0 c2 acquire | 0 c2 enter | " + strings.Repeat("1 c1 acquire | 1 c1 refuse | 1 c2 acquire | 1 c2 enter | 1 c2 release | 1 c2 released | ", 20) + "2 c2 leave | 2 c2 release | 2 c2 released | 50 " + enters},
	})
}

func TestContended(t *testing.T) {
	for _, r := range []struct {
		rule string
		text string
		want bool
	}{
		{"one after the other", has + "1 c1 leave | 1 c1 release | 1 c1 del | 1 c1 released | 2 c2 acquire", false},
		{"while another is inside", has + "1 c2 acquire | 2 c2 refuse", true},
		{"while another, inside, has lost it without knowing", has + "10 n1 expire | 11 c2 acquire", true},
		{"while another is asking", "0 c1 acquire | 0 c2 acquire", true},
		{"while another gives it back", has + "1 c1 leave | 1 c1 release | 1 c1 del | 1 c2 acquire", true},
		{"while a dead one's key stands", has + "1 c1 crash | 2 c2 acquire", true},
		{"alone with its own leftover", has + "1 c1 leave exception | 2 c1 acquire", false},
	} {
		if got := Judge(tell(t, r.text)).Contended; got != r.want {
			t.Errorf("%s: contended %t, want %t", r.rule, got, r.want)
		}
	}
}

func TestWords(t *testing.T) {
	quiet := Judge(tell(t, has+"1 c1 leave"))
	broken := Judge(tell(t, "0 c1 acquire | 0 c1 apply | 1 c1 refuse | 1 c1 set a until never | 2 c2 acquire | 2 c2 apply | 2 c2 refuse | 3 c2 write 0 | 4 c1 write 0"))
	open := Judge(tell(t, has+"1 c1 crash | 2 c2 acquire | 2 c2 apply | 2 c2 refuse"))
	equal := func(what string, got []Word, want ...Word) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	equal("nothing found", quiet.Verdicts, Holds)
	equal("no order of time", broken.Verdicts, StaleWrite, Orphan, Unknown)

	equal("broken beats unknown and vacuous", Settle(broken, false), StaleWrite, Orphan)
	equal("unknown beats vacuous", Settle(open, false), Unknown)
	equal("vacuous beats holds", Settle(quiet, false), Vacuous)
	equal("holds", Settle(quiet, true), Holds)

	if cap(quiet.Verdicts) != 1 {
		t.Error("the list that all quiet judgements share can be appended to in place")
	}
}

// Nothing found, nothing allocated.
func TestNoAllocations(t *testing.T) {
	h := tell(t, has+"0 c1 send | 0 c1 apply | 1 c2 acquire | 1 c2 refuse | 1 c1 read | 1 c1 sleep | "+
		"2 c1 wake | 2 c1 write 0 | 3 c1 leave | 3 c1 release | 3 c1 del | 3 c1 released ok")
	if n := testing.AllocsPerRun(100, func() { Judge(h) }); n != 0 || Judge(h).Verdicts[0] != Holds {
		t.Errorf("%v allocations to judge a quiet run: %v", n, Judge(h).Verdicts)
	}
}
