package verdict_test

import (
	"fmt"
	. "locklab/simulator/verdict"
	"slices"
	"strings"
	"testing"
	"time"

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

// has is a client that asks at 0, is granted until 10 and enters.
const has = "0 c1 acquire | 0 c1 set a until 10 | 0 c1 enter | "

func TestOverlap(t *testing.T) {
	judge(t, []row{
		{rule: "from the newcomer's entry to the first one's leaving; the one who was in longer first",
			text: has + "10 n1 expire | 11 c2 acquire | 11 c2 set b until 21 | 11 c2 enter | 15 c1 leave | 16 c1 release | 16 c1 released",
			want: "OVERLAP 1 2 11..15"},
		{rule: "a leave and an enter at one instant follow each other",
			text: has + "5 c1 leave | 5 c1 release | 5 c1 del | 5 c2 acquire | 5 c2 set b until 15 | 5 c2 enter | 5 c1 released"},
		{rule: "a paused client is inside",
			text: has + "1 c1 pause | 10 n1 expire | 11 c2 acquire | 11 c2 set b until 21 | 12 c2 enter | 15 c2 leave | 15 c2 release | 15 c2 del | 15 c2 released | 20 c1 resume",
			want: "OVERLAP 1 2 12..15"},
		{rule: "a dead one is not",
			text: has + "1 c1 crash | 10 n1 expire | 11 c2 acquire | 11 c2 set b until 21 | 12 c2 enter"},
		{rule: "a crash ends an overlap",
			text: has + "10 n1 expire | 11 c2 acquire | 11 c2 set b until 21 | 12 c2 enter | 14 c1 crash | 15 c2 leave",
			want: "OVERLAP 1 2 12..14"},
		{rule: "one finding for each pair, and the end of the run ends those that are open",
			text: "0 c1 acquire | 0 c1 enter | 1 c2 acquire | 1 c2 enter | 2 c3 acquire | 2 c3 enter | 3 c1 leave | 4 c3 sleep",
			want: "OVERLAP 1 2 1..3, OVERLAP 1 3 2..3, OVERLAP 2 3 2..4"},
		{rule: "one finding for each interval",
			text: "0 c1 acquire | 0 c1 enter | 1 c2 acquire | 1 c2 enter | 2 c2 leave | 2 c2 release | 2 c2 released | 3 c2 acquire | 3 c2 enter | 4 c1 leave",
			want: "OVERLAP 1 2 1..2, OVERLAP 1 2 3..4"},
		{rule: "a holder that takes its lock again does not overlap with itself, and giving the second back it stays inside",
			text: "0 c1 acquire | 0 c1 enter | 1 c1 acquire | 1 c1 enter | 2 c1 release | 2 c1 released | 3 c2 acquire | 3 c2 enter | 4 c1 leave",
			want: "OVERLAP 1 2 3..4"},
		{rule: "a client that is done is not inside",
			text: "0 c1 acquire | 0 c1 enter | 1 c2 acquire | 1 c2 enter | 2 c2 done | 3 c1 leave", want: "OVERLAP 1 2 1..2"},
	})
}

// together is three clients that enter one after the other, and then leave.
const together = "0 c1 acquire | 0 c1 enter | 1 c2 acquire | 1 c2 enter | 2 c3 acquire | 2 c3 enter | 3 c1 leave | 4 c2 leave | 5 c3 leave"

func TestOverlapOfSharedLocks(t *testing.T) {
	judge(t, []row{
		{rule: "readers are in together", holders: []int{history.AnyNumber, history.AnyNumber, history.AnyNumber}, text: together},
		{rule: "a writer is alone, whether or not it came first", holders: []int{history.AnyNumber, 1, history.AnyNumber}, text: together,
			want: "OVERLAP 1 2 1..3, OVERLAP 1 3 2..3, OVERLAP 2 3 2..4"},
		{rule: "a semaphore of two has room for two: the third is one too many, beside both", holders: []int{2, 2, 2}, text: together,
			want: "OVERLAP 1 3 2..3, OVERLAP 2 3 2..4"},
		{rule: "a semaphore of three has room for three", holders: []int{3, 3, 3}, text: together},
		{rule: "a client without a number of its own is alone", holders: []int{2, 2}, text: together,
			want: "OVERLAP 1 3 2..3, OVERLAP 2 3 2..4"},
	})
}

func TestStaleWrite(t *testing.T) {
	judge(t, []row{
		{rule: "without a lock it is a lost update, and nothing else: to write while another works is none", holders: free,
			text: together + " | 6 c1 enter | 6 c2 enter | 6 c2 read 0 | 7 c1 write 0 | 8 c2 write 0 | 9 c1 write 2", want: "STALE-WRITE 2 1 8"},
		{rule: "of readers nothing is judged", holders: []int{history.AnyNumber, history.AnyNumber}, text: "1 c1 write 0 | 2 c2 write 0"},
		{rule: "based on a read that somebody else's write has superseded",
			text: "1 c1 write 0 | 2 c2 write 0", want: "STALE-WRITE 2 1 2"},
		{rule: "based on the newest version", text: "1 c1 write 0 | 2 c2 write 1"},
		{rule: "own writes supersede nothing of somebody else's", text: "1 c1 write 0 | 2 c2 write 1 | 3 c2 write 1"},
		{rule: "own writes do not hide somebody else's",
			text: "1 c1 write 0 | 2 c2 write 0 | 3 c2 write 0", want: "STALE-WRITE 2 1 2, STALE-WRITE 2 1 3"},
		{rule: "of several lost updates the latest is named",
			text: "1 c1 write 0 | 2 c3 write 1 | 3 c2 write 0", want: "STALE-WRITE 2 3 3"},
		{rule: "no overlap is needed: a write that was long on its way",
			text: has + "1 c1 leave | 1 c1 release | 1 c1 del | 1 c1 released | 2 c2 acquire | 2 c2 set b until 12 | 2 c2 enter | 3 c2 write 0 | 4 c1 write 0",
			want: "STALE-WRITE 1 2 4"},
	})
}

// free are three clients without a lock.
var free = []int{history.NoLock, history.NoLock, history.NoLock}

func TestFenced(t *testing.T) {
	const both = has + "10 n1 expire | 11 c2 acquire | 11 c2 set b until 99 | 11 c2 enter | "
	judge(t, []row{
		{rule: "the first late write that was refused is named", text: both + "12 c1 write 0 refused | 13 c1 write 0 refused | 14 c1 leave", want: "OVERLAP 1 2 11..14, FENCED 1 12"},
		{rule: "findings stand in the order of their events",
			text: both + "13 c1 write 0 refused | 14 c1 leave | 14 c1 release | 14 c1 released | 15 c1 acquire | 15 c1 enter | 16 c2 leave", want: "OVERLAP 1 2 11..14, FENCED 1 13, OVERLAP 2 1 15..16"},
		{rule: "without a lock every refused write counts", holders: free, text: together + " | 6 c1 write 0 refused", want: "FENCED 1 6"},
		{rule: "but not beside a lost update", holders: free, text: "1 c1 write 0 | 2 c2 write 0 | 3 c3 write 0 refused", want: "STALE-WRITE 2 1 2"},
		{rule: "of a lock that lets several in nothing is late", holders: []int{2, 2}, text: both + "12 c1 write 0 refused"},
	})
}

func TestWrongDel(t *testing.T) {
	const next = has + "10 n1 expire | 10 c1 leave | 10 c1 release | 11 c2 acquire | 11 c2 set b until 21 | "
	const stamp = "0 c1 acquire | 0 c1 set a until never | 0 c1 enter | "
	judge(t, []row{
		{rule: "removing the next holder's key", text: next + "11 c2 enter | 12 c1 del | 12 c1 released", want: "WRONG-DEL 1 2 12"},
		{rule: "removing one's own", text: has + "5 c1 leave | 5 c1 release | 5 c1 del | 5 c1 released"},
		{rule: "an acquirer's grant is live once the server has given it", text: next + "12 c1 del | 12 c1 released | 13 c2 enter", want: "WRONG-DEL 1 2 12"},
		{rule: "shortening or prolonging by a daemon that outlived its lock",
			text: next + "11 c1 released | 11 c2 enter | 12 c1 renew until 15 | 13 c1 renew until 40", want: "WRONG-DEL 1 2 12, WRONG-DEL 1 2 13"},
		{rule: "what is left of a dead client may be cleared away", text: next + "11 c2 enter | 11 c2 crash | 12 c1 del | 12 c1 released"},
		{rule: "so may what is left of a refused attempt, also when its client tries again",
			text: "0 c2 acquire | 0 c2 set b until never | 1 c2 refuse | 2 c2 acquire | 3 c1 acquire | 3 c1 del | 3 c1 set a until 13 | 3 c1 enter | 3 c2 refuse"},
		{rule: "a client that enters on its own leftover has made it live again",
			text: "0 c2 acquire | 0 c2 set b until 10 | 1 c2 refuse timeout | 2 c2 acquire | 2 c2 enter | 3 c1 acquire | 3 c1 del | 3 c1 refuse", want: "WRONG-DEL 1 2 3"},
		{rule: "the token may be the same, the grant is not",
			text: "0 c1 acquire | 0 c1 set t until 10 | 0 c1 enter | 10 n1 expire | 10 c1 leave | 10 c1 release | 11 c2 acquire | 11 c2 set t until 21 | 11 c2 enter | 12 c1 del | 12 c1 released", want: "WRONG-DEL 1 2 12"},
		{rule: "a lapsed stamp may be taken over, at the end of its lease or later", text: stamp + "10 c2 acquire | 10 c2 set b until never | 10 c2 refuse"},
		{rule: "but not before", text: stamp + "9 c2 acquire | 9 c2 set b until never | 9 c2 refuse", want: "WRONG-DEL 2 1 9"},
		{rule: "and deleting it is wrong at any age", text: stamp + "30 c2 acquire | 30 c2 del | 30 c2 refuse", want: "WRONG-DEL 2 1 30"},
		{rule: "a refreshed stamp is a new lease", text: stamp + "8 c1 set a2 until never | 12 c2 acquire | 12 c2 set b until never | 12 c2 refuse", want: "WRONG-DEL 2 1 12"},
		{rule: "the loser of a GETSET race overwrites the winner's fresh stamp; deleting the loser's is the winner's right",
			text: "0 c3 acquire | 0 c3 set t until never | 0 c3 enter | 1 c3 crash | 11 c1 acquire | 11 c2 acquire | 11 c1 set a until never | 11 c2 set b until never | 11 c1 enter | 11 c2 refuse | 12 c1 leave | 12 c1 release | 12 c1 del | 12 c1 released",
			want: "WRONG-DEL 2 1 11"},
		{rule: "a key with a time to live has no stamp: a prolonged one is not taken over",
			text: has + "9 c1 renew until 19 | 15 c2 acquire | 15 c2 set b until never | 15 c2 refuse", want: "WRONG-DEL 2 1 15"},
		{rule: "a contender that renews what it did not get",
			text: has + "1 c2 acquire | 1 c2 renew until 11 | 1 c2 refuse", want: "WRONG-DEL 2 1 1"},
		{rule: "other keys do not count", text: has + "1 c2 acquire | 1 c2 other x | 1 c2 refuse"},
		{rule: "eviction is no client's doing", text: has + "1 - del | 2 c1 leave"},
		{rule: "a failover brings back what the replica had, with its owner",
			text: "0 c1 acquire | 0 c1 set a until 10 | 0 c1 enter | 1 n1 replicate | 2 n1 failover | 2 - set a until 10 | 3 c2 acquire | 3 c2 del | 3 c2 refuse", want: "WRONG-DEL 2 1 3"},
		{rule: "or had not: then the key is nobody's",
			text: has + "2 n1 failover | 2 - del | 2 - set x until 10 | 3 c2 acquire | 3 c2 del | 3 c2 refuse"},
		{rule: "the replica had the former owner's, who is inside no more",
			text: has + "1 n1 replicate | 2 c1 leave | 2 c1 release | 2 c1 del | 2 c1 released | 3 c2 acquire | 3 c2 set b until 13 | 3 c2 enter | 4 n1 failover | 4 - set a until 10 | 5 c3 acquire | 5 c3 del | 5 c3 refuse"},
		{rule: "each replica knows the owner that it has heard of",
			text: has + "1 n1 replicate | 2 c1 leave | 2 c1 release | 2 c1 del | 2 c1 released | 3 c2 acquire | 3 c2 set b until 13 | 3 c2 enter | 3 n1 replicate 1 | 3 c2 renew until 20 | 4 n1 failover 1 | 4 - set b2 until 13 | 5 c3 acquire | 5 c3 del | 5 c3 refuse",
			want: "WRONG-DEL 3 2 5"},
		{rule: "a crash brings back what the disk had, with its owner",
			text: has + "1 n1 sync | 2 c1 leave | 2 c1 release | 2 c1 del | 3 n1 down | 3 - set a until 10 | 3 n1 up | 4 c2 acquire | 4 c2 del | 4 c2 refuse", want: "WRONG-DEL 2 1 4"},
		{rule: "an old master that lives on has what it had, with its owner",
			text: has + "1 n1 split 1 | 1 - del | 2 c1 renew@2 until 12 | 2 c2 acquire | 2 c2 set b until 12 | 2 c2 refuse | 3 c3 acquire | 3 c3 del@2 | 3 c3 refuse", want: "WRONG-DEL 3 1 3"},
		{rule: "one more client that is cut off with it changes nothing",
			text: has + "1 n1 split 1 | 1 - del | 2 c2 acquire | 2 c2 set b until 12 | 2 n1 split 3 | 3 c3 acquire | 3 c3 del@2 | 3 c3 refuse", want: "WRONG-DEL 3 1 3"},
		{rule: "the replica in its place has what it had heard of",
			text: has + "1 n1 replicate | 1 n1 split 1 | 1 - renew until 10 | 2 c2 acquire | 2 c2 del | 2 c2 refuse", want: "WRONG-DEL 2 1 2"},
		{rule: "when the network heals the old master has nothing",
			text: has + "1 n1 split 1 | 1 - del | 2 n1 heal | 2 c1 leave | 3 c2 acquire | 3 c2 set b until 13 | 3 c2 enter | 3 n1 split 1 | 3 - renew until 13 | 4 c3 acquire | 4 c3 del@2 | 4 c3 refuse", want: "WRONG-DEL 3 2 4"},
		{rule: "each node of a quorum lock is judged on its own",
			text: "0 c1 acquire | 0 c1 set@1 a until 10 | 0 c1 set@2 a until 10 | 0 c1 enter | 1 c2 acquire | 1 c2 del@2 | 1 c2 refuse | 1 c2 del@3",
			want: "WRONG-DEL 2 1 1"},
		{rule: "a lock without a lease has none that could lapse", noTTL: true, text: stamp + "99 c2 acquire | 99 c2 set b until never | 99 c2 refuse", want: "WRONG-DEL 2 1 99"},
		{rule: "nor has one on a ZooKeeper: who gets before the first of a line is wrong at any time", zooKeeper: true, text: stamp + "99 c2 acquire | 99 c2 set b until never | 99 c2 refuse", want: "WRONG-DEL 2 1 99"},
		{rule: "a lease that loses its time to live counts from then",
			text: has + "5 c1 renew until never | 14 c2 acquire | 14 c2 set b until never | 14 c2 refuse", want: "WRONG-DEL 2 1 14"},
		{rule: "nobody knows how old the stamp is that a failover brings back",
			text: stamp + "1 n1 replicate | 2 c1 set a2 until never | 3 n1 failover | 3 - set a until never | 4 c2 acquire | 4 c2 set b until never | 4 c2 refuse"},
		{rule: "a client that left, never released and asks again has left its old grant behind",
			text: has + "1 c1 leave | 2 c1 acquire | 3 c2 acquire | 3 c2 del | 3 c2 refuse"},
		{rule: "a release after an exception: it is still its own to give back",
			text: has + "4 c1 leave exception | 4 c1 release | 5 c2 acquire | 5 c2 del | 5 c2 refuse | 6 c1 released", want: "WRONG-DEL 2 1 5"},
	})
}

func TestLie(t *testing.T) {
	judge(t, []row{
		{rule: "own at the first change of the release", text: has + "9 c1 leave | 9 c1 release | 9 c1 del | 11 c1 released ok"},
		{rule: "expired before, and nothing removed", text: has + "10 n1 expire | 11 c1 leave | 11 c1 release | 11 c1 released ok", want: "LIE 1 11"},
		{rule: "expired during the call, and nothing removed: it was not this call that ended it",
			text: has + "9 c1 leave | 9 c1 release | 10 n1 expire | 11 c1 released ok", want: "LIE 1 11"},
		{rule: "nor if the next one has it at the answer",
			text: has + "9 c1 leave | 9 c1 release | 10 n1 expire | 11 c2 acquire | 11 c2 set b until 21 | 12 c1 released ok | 13 c2 enter", want: "LIE 1 12"},
		{rule: "removed by its own call, and another's at the answer",
			text: has + "9 c1 leave | 9 c1 release | 9 c1 del | 11 c2 acquire | 11 c2 set b until 21 | 12 c1 released ok | 13 c2 enter"},
		{rule: "one that keeps the lock for a while does not lie", text: has + "9 c1 leave | 9 c1 release | 9 c1 renew until 20 | 9 c1 released ok | 20 n1 expire"},
		{rule: "a check is about any moment of it", text: has + "9 c1 acquire check | 10 n1 expire | 11 c1 enter check"},
		{rule: "a release that says so does not lie", text: has + "10 n1 expire | 11 c1 leave | 11 c1 release | 11 c1 released no"},
		{rule: "nor does one that says nothing", text: has + "10 n1 expire | 11 c1 leave | 11 c1 release | 11 c1 released"},
		{rule: "GET found its own, DEL hit the next one's: the deletion decides, not the start",
			text: has + "9 c1 leave | 9 c1 release | 10 n1 expire | 11 c2 acquire | 11 c2 set b until 21 | 12 c1 del | 12 c1 released ok | 13 c2 refuse",
			want: "WRONG-DEL 1 2 12, LIE 1 12"},
		{rule: "a renewal in flight decides nothing",
			text: has + "9 c1 leave | 9 c1 release | 9 c1 renew until 10 | 10 n1 expire | 11 c2 acquire | 11 c2 set b until 21 | 12 c1 del | 12 c1 released ok | 13 c2 refuse",
			want: "WRONG-DEL 1 2 12, LIE 1 12"},
		{rule: "a quorum lock deletes its own majority",
			text: "0 c1 acquire | 0 c1 set@1 a until 10 | 0 c1 set@2 a until 10 | 0 c1 set@3 a until 10 | 0 c1 enter | 1 c1 leave | 1 c1 release | 1 c1 del@1 | 1 c1 del@2 | 1 c1 del@3 | 1 c1 released ok"},
		{rule: "of which a minority is not enough",
			text: "0 c1 acquire | 0 c1 set@1 a until 10 | 0 c1 set@2 a until 10 | 0 c1 enter | 1 - del@2 | 1 c1 leave | 1 c1 release | 1 c1 del@1 | 1 c1 released ok", nodes: 3,
			want: "LIE 1 1"},
		{rule: "a lock that does not live on the key is not judged by it", text: "0 c1 acquire | 0 c1 enter | 1 c1 leave | 1 c1 release | 1 c1 released ok"},
		{rule: "once released, the next release is judged afresh",
			text: has + "1 c1 leave | 1 c1 release | 1 c1 del | 1 c1 released ok | 2 c1 acquire | 2 c1 enter | 3 c1 leave | 3 c1 release | 3 c1 released ok", want: "LIE 1 3"},
	})
}

func TestOrphan(t *testing.T) {
	const late = "0 c1 acquire | 1 c1 refuse timeout | 2 c1 set a until 12 | "
	judge(t, []row{
		{rule: "a request that arrives after its client gave up, and keeps another out", text: late + "3 c2 acquire | 3 c2 apply | 3 c2 refuse | 12 n1 expire",
			want: "ORPHAN 1 2..12, BLOCKED 1 2 2..12"},
		{rule: "and if the other waits it out", text: late + "3 c2 acquire | 3 c2 apply | 4 c2 rest | 12 n1 expire | 13 c2 apply | 13 c2 set b until 23 | 13 c2 enter",
			want: "ORPHAN 1 2..12"},
		{rule: "who takes it over without waiting is not refused", text: late + "3 c2 acquire | 3 c2 apply | 3 c2 sleep | 4 c2 apply | 4 c2 set b until 14 | 5 c2 enter"},
		{rule: "nor who waits for something else", text: late + "2 c2 acquire | 3 c2 rest | 4 c2 apply | 4 c2 set b until 14 | 5 c2 enter"},
		{rule: "nor who had met it in an earlier attempt", text: late + "2 c2 acquire | 2 c2 apply | 3 c2 refuse timeout | 4 c2 rest | 5 c2 acquire | 5 c2 rest | 6 c2 set b until 16 | 6 c2 enter", want: "BLOCKED 1 2 2..6"},
		{rule: "if it refuses nobody it does not count", text: late + "3 c2 acquire | 12 n1 expire | 13 c2 refuse"},
		{rule: "a refusal of its own owner does not count", text: late + "3 c1 acquire | 3 c1 apply | 3 c1 refuse | 12 n1 expire", want: "BLOCKED 1 2..12"},
		{rule: "it ends when its owner enters after all", text: late + "3 c2 acquire | 3 c2 apply | 3 c2 refuse | 4 c1 acquire | 4 c1 enter", want: "ORPHAN 1 2..4, BLOCKED 1 2 2..4"},
		{rule: "or another takes it over", text: late + "3 c2 acquire | 3 c2 apply | 3 c2 refuse | 4 c2 acquire | 4 c2 set b until 14 | 5 c2 enter", want: "ORPHAN 1 2..4, BLOCKED 1 2 2..5"},
		{rule: "one that outlasts the run counts", text: late + "4 c2 sleep", want: "ORPHAN 1 2..4"},
		{rule: "and without a time to live it is for ever", text: "0 c1 acquire | 0 c1 apply | 1 c1 refuse | 2 c1 set a until never | 4 c2 sleep", want: "ORPHAN 1 2..4 forever"},
		{rule: "a release that gave up on its answer, whose command arrives",
			text: has + "1 c1 leave | 1 c1 release | 2 c1 released timeout | 3 c1 del | 4 c2 acquire | 4 c2 apply | 4 c2 refuse"},
		{rule: "the key of a dead owner is BLOCKED", text: has + "1 c1 crash | 2 c2 acquire | 2 c2 apply | 2 c2 refuse | 10 n1 expire", want: "BLOCKED 1 2 1..10"},
		{rule: "while the winner works, the loser's stamp keeps others out rightly",
			text: "0 c1 acquire | 0 c2 acquire | 0 c1 set a until never | 0 c1 enter | 0 c2 set b until never | 0 c2 refuse | 1 c3 acquire | 1 c3 apply | 1 c3 refuse | 2 c1 leave | 2 c1 release | 2 c1 del | 2 c1 released",
			want: "WRONG-DEL 2 1 0"},
		{rule: "a minority of a quorum lock is no orphan", nodes: 3, text: "0 c1 acquire | 0 c1 apply | 1 c1 refuse | 2 c1 set@1 a until never | 3 c2 acquire | 3 c2 apply | 3 c2 refuse | 4 c2 sleep"},
		{rule: "of a key on one of three nodes, one is", nodes: 3, shards: true, text: "0 c1 acquire | 0 c1 apply | 1 c1 refuse | 2 c1 set@1 a until never | 3 c2 acquire | 3 c2 apply | 3 c2 refuse | 4 c2 sleep",
			want: "ORPHAN 1 2..4 forever, UNKNOWN 1 2 2..4"},
		{rule: "a majority is", nodes: 3, text: "0 c1 acquire | 0 c1 apply | 1 c1 refuse | 2 c1 set@1 a until never | 2 c1 set@3 a until never | 3 c2 acquire | 3 c2 apply | 3 c2 refuse | 4 c2 sleep",
			want: "ORPHAN 1 2..4 forever, UNKNOWN 1 2 2..4"},
		{rule: "an old key that a failover brings back is its former owner's",
			text: has + "1 n1 replicate | 2 c1 leave | 2 c1 release | 2 c1 del | 2 c1 released | 4 n1 failover | 4 - set a until 10 | 5 c2 acquire | 5 c2 apply | 5 c2 refuse | 10 n1 expire",
			want: "ORPHAN 1 4..10, BLOCKED 1 2 4..10"},
		{rule: "a second one of the same owner is judged afresh",
			text: late + "3 c2 acquire | 3 c2 apply | 3 c2 refuse | 12 n1 expire | 13 c1 set a until 23 | 14 c1 del | 15 c2 acquire | 15 c2 set b until 25 | 15 c2 enter",
			want: "ORPHAN 1 2..12, BLOCKED 1 2 2..15"},
		{rule: "a node on which the owner is asking again is none on which it is idle", nodes: 3,
			text: "0 c1 acquire | 0 c1 apply | 1 c1 refuse | 2 c1 set@1 a until 30 | 2 c1 set@2 a until 30 | 3 c1 acquire | 3 c1 set@1 b until 33 | 4 c2 acquire | 4 c2 apply | 4 c2 refuse | 5 c1 del@1 | 5 c1 refuse | 6 - del@2"},
	})
}

func TestBlocked(t *testing.T) {
	judge(t, []row{
		{rule: "from the crash to the next entry, whichever client is refused in between",
			text: has + "4 c1 crash | 5 c2 acquire | 5 c2 apply | 5 c2 refuse | 6 c3 acquire | 6 c3 apply | 6 c3 refuse | 10 n1 expire | 12 c3 acquire | 12 c3 set b until 22 | 13 c3 enter",
			want: "BLOCKED 1 2 4..13"},
		{rule: "without a refusal nothing is BLOCKED", text: has + "4 c1 crash | 10 n1 expire | 12 c3 acquire | 12 c3 set b until 22 | 13 c3 enter"},
		{rule: "refused for a holder that is gone when the refusal arrives: a hand-over",
			text: has + "4 c2 acquire | 5 c1 leave | 5 c1 release | 5 c1 del | 5 c1 released | 6 c2 refuse | 7 c2 acquire | 7 c2 set b until 17 | 7 c2 enter"},
		{rule: "an exception without a release",
			text: has + "4 c1 leave exception | 5 c2 acquire | 5 c2 apply | 5 c2 refuse | 10 n1 expire | 11 c2 acquire | 11 c2 set b until 21 | 11 c2 enter",
			want: "ORPHAN 1 4..10, BLOCKED 1 2 4..11"},
		{rule: "an exception with one", text: has + "4 c1 leave exception | 4 c1 release | 5 c2 acquire | 5 c2 apply | 5 c2 refuse | 6 c1 del | 6 c1 released | 7 c2 acquire | 7 c2 set b until 17 | 7 c2 enter"},
		{rule: "a holder that hangs is a holder", horizon: true, text: has + "9 c1 renew until 19 | 20 c2 acquire | 20 c2 apply | 20 c2 refuse | 40 c2 acquire | 40 c2 apply | 40 c2 refuse | 60 c2 sleep"},
		{rule: "the refusal of an attempt does not count against the orphan it leaves",
			text: "0 c1 acquire | 0 c1 set a until 10 | 1 c1 refuse | 10 n1 expire | 11 c2 acquire | 11 c2 set b until 21 | 11 c2 enter"},
		{rule: "the stamps of losers do not interrupt it",
			text: "0 c1 acquire | 0 c1 set a until never | 0 c1 enter | 1 c1 crash | 11 c2 acquire | 11 c2 set b until never | 12 c2 refuse | 13 c3 acquire | 13 c3 set c until never | 13 c3 enter",
			want: "BLOCKED 1 2 1..13"},
		{rule: "all in the middle of acquiring: contention", nodes: 3,
			text: "0 c1 acquire | 0 c2 acquire | 0 c1 set@1 a until 10 | 0 c2 set@2 b until 10 | 1 c3 acquire | 1 c3 apply | 1 c3 refuse | 1 c1 del@1 | 1 c2 del@2 | 1 c1 refuse | 1 c2 refuse | 2 c1 acquire | 2 c1 enter"},
		{rule: "two dead clients' halves bar a quorum together", nodes: 3,
			text: "0 c1 acquire | 0 c1 set@1 a until 10 | 0 c1 crash | 1 c2 acquire | 1 c2 set@2 b until 11 | 1 c2 crash | 2 c3 acquire | 2 c3 apply | 2 c3 refuse | 10 n1 expire | 12 c3 acquire | 12 c3 enter",
			want: "BLOCKED 1 2 3 1..12"},
		{rule: "one half does not", nodes: 3, text: "0 c1 acquire | 0 c1 set@1 a until 10 | 0 c1 crash | 2 c3 acquire | 2 c3 apply | 2 c3 refuse | 12 c3 acquire | 12 c3 enter"},
		{rule: "a server that is down bars a lock on one server", text: "1 n1 down | 2 c1 acquire | 2 c1 apply | 2 c1 refuse | 3 n1 up | 4 c1 acquire | 4 c1 enter", want: "BLOCKED 1 1..4"},
		{rule: "but a lock whose key is on one of three", nodes: 3, shards: true, text: "1 n1 down | 2 c1 acquire | 2 c1 apply | 2 c1 refuse | 3 n1 up | 4 c1 acquire | 4 c1 enter",
			want: "BLOCKED 1 1..4"},
		{rule: "but not a quorum lock", nodes: 3, text: "1 n1 down | 2 c1 acquire | 2 c1 apply | 2 c1 refuse | 3 n1 up | 4 c1 acquire | 4 c1 enter"},
		{rule: "a lock that does not live on the key is barred by a crash inside",
			text: "0 c1 acquire | 0 c1 enter | 1 c1 crash | 2 c2 acquire | 2 c2 apply | 2 c2 refuse | 9 c2 acquire | 9 c2 enter", want: "BLOCKED 1 2 1..9"},
		{rule: "and not by one of an idle client", text: "1 c1 crash | 2 c2 acquire | 2 c2 apply | 2 c2 refuse | 9 c2 acquire | 9 c2 enter"},
		{rule: "the leftovers went before the run did: the answer is in", text: has + "4 c1 crash | 5 c2 acquire | 5 c2 apply | 5 c2 refuse | 10 n1 expire | 11 c2 done", want: "BLOCKED 1 2 4..10"},
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
		{rule: "not one that began when it was barred already", text: has + "4 c1 crash | 5 c2 acquire | 10 n1 expire | 11 c2 set b until 21 | 11 c2 enter"},
		{rule: "free, and the waiting client gets no message, for a lease",
			text: has + "2 c2 acquire | 3 c1 leave | 3 c1 release | 3 c1 del | 3 c1 released | 12 c1 done | 13 c3 acquire | 13 c3 set b until 23 | 13 c3 enter", want: "BLOCKED 2 3..13"},
		{rule: "for less than a lease: it may have asked seldom",
			text: has + "2 c2 acquire | 3 c1 leave | 3 c1 release | 3 c1 del | 3 c1 released | 12 c2 set b until 22 | 12 c2 enter"},
		{rule: "a paused client does not count",
			text: has + "2 c2 acquire | 3 c1 leave | 3 c1 release | 3 c1 del | 3 c1 released | 4 c2 pause | 16 c2 resume | 17 c2 set b until 27 | 17 c2 enter"},
		{rule: "but it does from the end of its pause: no message for a lease after it",
			text: has + "2 c2 acquire | 3 c1 leave | 3 c1 release | 3 c1 del | 3 c1 released | 4 c2 pause | 6 c2 resume | 16 c2 set b until 26 | 16 c2 enter", want: "BLOCKED 2 6..16"},
		{rule: "no message at all: a deadlock", horizon: true,
			text: has + "2 c2 acquire | 3 c1 leave | 3 c1 release | 3 c1 del | 3 c1 released | 23 c1 done", want: "DEADLOCK 2 3..23"},
		{rule: "in vain at last, without a horizon", text: has + "2 c2 acquire | 3 c1 leave | 3 c1 release | 3 c1 del | 3 c1 released | 23 c2 refuse", want: "BLOCKED 2 3..23"},
		{rule: "of four nodes, two bar", nodes: 4,
			text: "0 c1 acquire | 0 c1 set@1 a until 10 | 0 c1 set@2 a until 10 | 0 c1 crash | 2 c2 acquire | 2 c2 apply | 2 c2 refuse | 10 n1 expire", want: "BLOCKED 1 2 0..10"},
		{rule: "what an old master keeps bars nobody",
			text: "0 c1 acquire | 0 c1 set a until never | 0 c1 enter | 1 n1 split 1 | 1 - del | 2 c1 crash | 3 c2 acquire | 3 c2 apply | 3 c2 refuse | 4 c2 acquire | 4 c2 set b until never | 4 c2 enter"},
		{rule: "a replica that takes over ends the outage", text: "1 n1 down | 2 n1 failover | 3 c1 acquire | 3 c1 apply | 3 c1 refuse | 4 c1 acquire | 4 c1 enter"},
	})
}

func TestDeadlock(t *testing.T) {
	const dead = "0 c1 acquire | 0 c1 set a until never | 0 c1 crash | 5 c2 acquire | 5 c2 refuse | "
	judge(t, []row{
		{rule: "a key without a time to live, whose owner is dead", horizon: true, text: dead + "15 c2 acquire | 15 c2 apply | 15 c2 refuse | 20 c2 sleep", want: "DEADLOCK 1 2 0..20 forever"},
		{rule: "twice the TTL has not passed: a takeover may yet come", horizon: true, text: dead + "15 c2 acquire | 15 c2 apply | 15 c2 refuse | 19 c2 sleep", want: "UNKNOWN 1 2 0..19"},
		{rule: "one refusal is no pattern", horizon: true, text: dead + "20 c2 sleep", want: "UNKNOWN 1 2 0..20"},
		{rule: "everybody has given up: what would have been is not known", text: dead + "15 c2 acquire | 15 c2 apply | 15 c2 refuse | 20 c2 done", want: "UNKNOWN 1 2 0..20"},
		{rule: "a daemon keeps a dead client's key alive", horizon: true,
			text: has + "1 c1 crash | 9 c2 renew until 29 | 10 c3 acquire | 10 c3 apply | 10 c3 refuse | 20 c3 acquire | 20 c3 apply | 20 c3 refuse | 21 c2 renew until 41 | 25 c3 sleep", want: "DEADLOCK 1 3 1..25 forever"},
		{rule: "until the daemon dies as well: then expiry is left", horizon: true,
			text: has + "1 c1 crash | 9 c2 renew until 29 | 10 c3 acquire | 10 c3 apply | 10 c3 refuse | 20 c3 acquire | 20 c3 apply | 20 c3 refuse | 21 c2 renew until 41 | 22 c2 crash | 25 c3 sleep", want: "DEADLOCK 1 3 1..25"},
		{rule: "after an exception with a live watchdog the key stays forever", horizon: true,
			text: has + "1 c1 leave exception | 9 c1 renew until 19 | 10 c2 acquire | 10 c2 apply | 10 c2 refuse | 18 c1 renew until 28 | 20 c2 acquire | 20 c2 apply | 20 c2 refuse | 25 c2 sleep",
			want: "ORPHAN 1 1..25, DEADLOCK 1 2 1..25 forever"},
		{rule: "one entry and it was a block", horizon: true, text: dead + "15 c2 acquire | 15 c2 set b until never | 15 c2 enter | 40 c2 sleep", want: "BLOCKED 1 2 0..15"},
		{rule: "it is being granted as the run ends", horizon: true,
			text: dead + "15 c2 acquire | 15 c2 apply | 15 c2 refuse | 20 c3 acquire | 20 c3 set c until never | 21 c2 sleep", want: "UNKNOWN 1 2 0..21"},
		{rule: "a server that is down may come back, whatever its key was", horizon: true,
			text: has + "5 c1 renew until 15 | 5 c1 leave | 5 c1 release | 5 c1 del | 5 c1 released | 5 n1 down | 6 c2 acquire | 6 c2 apply | 6 c2 refuse | 15 c2 acquire | 15 c2 apply | 15 c2 refuse | 25 c2 sleep",
			want: "DEADLOCK 2 5..25"},
		{rule: "a prolonging of another key that stood there before is none of this one", horizon: true,
			text: "0 c1 acquire | 0 c1 set a until 10 | 0 c1 renew until 11 | 0 c1 del | 0 c1 refuse | 0 c3 acquire | 0 c3 set c until 99 | 0 c3 crash | 5 c2 acquire | 5 c2 apply | 5 c2 refuse | 15 c2 acquire | 15 c2 apply | 15 c2 refuse | 20 c2 sleep",
			want: "DEADLOCK 3 2 0..20"},
		{rule: "nor is one of another value", horizon: true,
			text: "0 c1 acquire | 0 c1 set a until 10 | 0 c1 renew until 99 | 0 c3 acquire | 0 c1 refuse | 0 c3 set c until 50 | 0 c3 crash | 5 c2 acquire | 5 c2 apply | 5 c2 refuse | 15 c2 acquire | 15 c2 apply | 15 c2 refuse | 20 c2 sleep",
			want: "DEADLOCK 1 2 0..20"},
		{rule: "a shortening prolongs nothing", horizon: true,
			text: "0 c1 acquire | 0 c1 set a until 99 | 0 c1 crash | 0 c2 renew until 50 | 5 c2 acquire | 5 c2 apply | 5 c2 refuse | 15 c2 acquire | 15 c2 apply | 15 c2 refuse | 20 c2 sleep", want: "DEADLOCK 1 2 0..20"},
	})
}

func TestStarved(t *testing.T) {
	round := func(at string) string {
		return strings.ReplaceAll("@ c1 acquire | @ c2 acquire | @ c1 set@1 a until 99 | @ c2 set@2 b until 99 | @ c1 del@1 | @ c1 refuse | @ c2 del@2 | @ c2 refuse | ", "@ ", at+" ")
	}
	four := round("1") + round("2") + round("3") + round("4")
	judge(t, []row{
		{rule: "ten refusals in a row, and nobody had it", nodes: 3, text: four + round("5") + "6 c1 sleep", want: "STARVED 1 2 1..6"},
		{rule: "eight are bad luck", nodes: 3, text: four + "6 c1 sleep"},
		{rule: "an entry begins a new row", nodes: 3,
			text: four + "5 c1 acquire | 5 c1 enter | 5 c1 leave | 5 c1 release | 5 c1 released | " + round("6") + round("7") + "8 c1 sleep"},
		{rule: "a leftover explains the refusals", nodes: 3, text: "0 c3 acquire | 0 c3 set@3 c until 99 | 0 c3 crash | " + four + round("5") + "6 c1 sleep"},
		{rule: "the entry that ends it", nodes: 3, text: four + round("5") + "6 c1 acquire | 7 c1 enter", want: "STARVED 1 2 1..7"},
		{rule: "so does a server that is down", nodes: 3, text: "0 n3 down | " + four + round("5") + "6 c1 sleep"},
		{rule: "and a crash on a lock that does not live on the key",
			text: "0 c3 acquire | 0 c3 enter | 0 c3 crash | " + strings.Repeat("1 c1 acquire | 1 c1 refuse | ", 10) + "2 c1 sleep", want: "UNKNOWN 3 1 0..2"},
		{rule: "without one, nothing does", text: strings.Repeat("1 c1 acquire | 1 c1 refuse | ", 10) + "2 c1 sleep", want: "STARVED 1 1..2"},
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
		{rule: "nine are bad luck", text: turns(0, 9) + "50 " + enters},
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
	equal("safety", broken.Safety(), StaleWrite)
	equal("progress", broken.Progress(), Orphan)
	equal("no safety word", open.Safety())

	equal("no meaning beats all", Settle(broken, true, false), NA)
	equal("broken beats unknown and vacuous", Settle(broken, false, true), StaleWrite, Orphan)
	equal("unknown beats vacuous", Settle(open, false, true), Unknown)
	equal("vacuous beats holds", Settle(quiet, false, true), Vacuous)
	equal("holds", Settle(quiet, true, true), Holds)

	if cap(quiet.Verdicts) != 1 {
		t.Error("the list that all quiet judgements share can be appended to in place")
	}
}

// Findings carry what a reader needs to point at the event.
func TestEvidence(t *testing.T) {
	j := Judge(tell(t, "0 c1 acquire | 0 c1 set@2 a until 10 | 0 c1 enter | 3 c2 acquire | 4 c2 del@2 | 5 c2 enter | 6 c1 leave"))
	if len(j.Findings) != 2 {
		t.Fatalf("found %v", j.Findings)
	}
	wrong, over := j.Findings[0], j.Findings[1]
	if wrong.Event != 4 || wrong.Node != 2 {
		t.Errorf("WRONG-DEL at event %d on node %d, want 4 on 2", wrong.Event, wrong.Node)
	}
	if over.Event != 5 || over.From != 5*time.Millisecond || over.To != 6*time.Millisecond {
		t.Errorf("OVERLAP at event %d, %v to %v, want 5, 5ms to 6ms", over.Event, over.From, over.To)
	}
}
