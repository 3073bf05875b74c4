package contract_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"locklab/faults"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// claims are runs, a line each: lock, race and what it shows, as sees reads it: which clients, in which order, for how
// long. They confirm or refute what the articles claim, and show the defects of the code that they print, whatever the
// contract says. Each is played again by: locklab run LOCK RACE
const claims = `
# 000: with a precision of milliseconds the lock is safe. Refuted: finer stamps prevent only that two clients lock in
# the same second. They do not prevent overwritten stamps, and do not help against a wrong clock or a pause.
getset-retry       same-second          OVERLAP(3,2)
getset-retry-ms    same-second          !OVERLAP WRONG-DEL(2,3)
getset-retry-ms    client-skew          OVERLAP(1,2)
getset-retry-ms    gc-pause             OVERLAP(1,2)
# 000, and the manual of SETNX: it does no harm that the loser writes its stamp over the winner's. Refuted by the same
# article's advice to check the stamp before the work: the winner finds a stamp that is not its own, drops the work, and
# does not delete the key either.
getset-check       overwritten-stamp    WRONG-DEL(3,2) BLOCKED~0.85 !c2.write
# 000: GETSET answers nil, and the class takes that for a refusal: it has created a key of which no client knows that
# it is its own. The orphan stands for one lease.
getset             getset-nil           ORPHAN(2) ORPHAN~1 BLOCKED~1
getset-nil         getset-nil           ORPHAN(2) BLOCKED
# 000: a client that finds an expired stamp deletes it and tries again: the second one deletes the lock of the first.
takeover-del       double-del           WRONG-DEL(3,2) OVERLAP(2,3)
# 000: DEL does not check the owner, and releaseLock returns success although the lock is another client's by now.
getset             slow-work            OVERLAP(1,2) WRONG-DEL(1,2) OVERLAP(2,3) LIE(1)
setnx-expire       slow-work            OVERLAP(1,2) WRONG-DEL(1,2) OVERLAP(2,3)
token              slow-work            OVERLAP(1,2) !OVERLAP(2,3)
# The stamp of a dead client lapses, and is replaced. A check before the work is no lock: newer data is overwritten.
getset             crash-holding        BLOCKED~0.95 c2.replaces
getset-check       check-then-pause     STALE-WRITE(1,2)

# 001: a counter, +1 and -1, makes a lock reentrant. A counter does; the printed code stores it neither after +1, so
# that the inner unlock deletes the key, nor after -1, so that no unlock ever does. Re-entry does not extend the lease.
reentrant-counted  nested               HOLDS !c1.ends;c1.ends
watchdog           nested               HOLDS c1.ends;c1.ends
reentrant          nested               OVERLAP(1,2)
reentrant-increment nested              ORPHAN(1) BLOCKED
# 001: the ThreadLocal is never cleared: when the pool reuses the thread, tryLock returns true without a command to the
# server; so it does after a refusal, for a second key, and when the lease has ended.
reentrant          pooled-thread        OVERLAP(2,1)
reentrant-forget   pooled-thread        HOLDS
reentrant          second-try           OVERLAP(1,2)
spin-reentrant     second-try           OVERLAP(1,2)
reentrant-refused  second-try           HOLDS
reentrant          second-key           OVERLAP(1,2) !c1.enter;c2.sends-SET;c2.sends-SET
reentrant-keyed    second-key           HOLDS
reentrant          late-re-entry        OVERLAP(2,1)
reentrant-asking   late-re-entry        HOLDS
# 001: one ThreadLocal for all keys: a second key overwrites the token of the first, whose release finds another value.
# A release without a token is a NullPointerException, and an error in our code. GET and DEL are two commands.
threadlocal        two-keys             ORPHAN(1) ORPHAN~0.8 c1.released/not_held keeps=1
reentrant-forget   nested               c1.released;c1.released/keeps_no_token c1.released/not_held
threadlocal        late-release         WRONG-DEL(1,2) OVERLAP(2,3)
# 001: the thread that renews every 20 s knows neither the owner of the key nor when to stop.
daemon-20          zombie-daemon        WRONG-DEL(1,2)
daemon-20          zombie-keeps         DEADLOCK in=1,1,0
daemon-20-owned    zombie-keeps         BLOCKED~0.9 in=1,1,1
daemon-20          slow-work            WRONG-DEL c1.released;c1.timer

# 002, 004: a release by Lua is safe. True of the moment between GET and DEL, and only if the token is unique: a
# thread's id is within one process, and sooner or later two processes draw the same number of 32 bits.
token              late-release         HOLDS
thread-id          late-release         WRONG-DEL(1,2)
thread-id          same-thread          WRONG-DEL(1,2) OVERLAP(2,3)
thread-id-lua      same-thread          WRONG-DEL(1,2) OVERLAP(2,3)
daemon-29          same-thread          WRONG-DEL(1,2) OVERLAP(2,3)
token              same-token           WRONG-DEL(1,2) OVERLAP(2,3)
watchdog           same-token           OVERLAP(1,2)
redlock            same-token           WRONG-DEL(2,1)
# A transaction after WATCH does as well: its EXEC is answered nil. WATCH without one hinders nobody.
watch-multi        late-release         c1.MULTI/(nil);c1.released/not_held
watch-del          late-release         WRONG-DEL(1,2) OVERLAP(2,3)
token              release-again        !keeps=1 c1.released/not_held
# 002: no release is in a finally block: after an exception the lock stays, for ever without a TTL, and for the rest of
# the lease with one. A reentrant owner enters again, and one release of two leaves a count of one behind.
setnx              no-finally           DEADLOCK
constant           no-finally           BLOCKED
token              no-finally           BLOCKED
watchdog           no-finally           in=2,0 keeps=1
watchdog           lost-reply           in=1 c1.change/=2};c0.expire/=1}
# Others wait for the rest of a lease after a crash, while the server is down, or when it has lost the release's script.
token              crash-holding        BLOCKED~0.9
token              restart-delayed      BLOCKED~0.7
evalsha            script-cache-lost    BLOCKED~0.7 c1.released/NOSCRIPT
client-expiry      client-behind        in=1 !c1.change
token              late-write           STALE-WRITE(1,2) !OVERLAP
token              late-write-fenced    FENCED(1)
setnx              opposite-order       in=0,0
token              opposite-order       BLOCKED~0.9 OVERLAP(2,1)

# 002, 003: Redlock survives the failover of one server. It does; but it fails when a server of its majority forgets,
# by a failover of that server, a restart, or a clock. And it has no fencing token for data that needs one.
token              failover             OVERLAP(1,2) servers=1
redlock            failover             HOLDS
redlock            quorum-failover      OVERLAP(1,2)
redlock            restart              OVERLAP(1,2) on=c1:123,c2:345
redlock            clock-jump           OVERLAP(1,2) on=c1:123,c2:345
redlock            quorum-restart       on=c1:123,c2:345 !c*.lose-request !c*.timeout
redlock-topup      quorum-restart       on=c1:12345
redlock            gc-pause             STALE-WRITE(1,2)
redlock            gc-pause-fenced      N/A
# All servers said yes, and it took too long: refused. Asked at once, the slowest one counts.
redlock            slow-acquire         c1.creates;c1.creates;c1.creates;c1.creates;c1.creates;c1.refuse
redlock            pause-in-flight      c1.creates;c1.creates;c1.creates;c1.creates;c1.creates;c1.refuse
redlock-parallel   slow-acquire         c1.enter@2.2s-2.3s
redlock            clock-drift          OVERLAP<60ms
redlock            split-vote           in=0,0,0
redlock            split-vote-spread    in=1,1,1
redlock-failfast   split-vote           in=1,1,1
redlock            partial-acquire      BLOCKED~1
token-wait         failover-other       OVERLAP(1,2) c0.replicate;c1.enter
token-wait         replica-gone         in=0,0
token              split-bounded        in=1,1,1 c*.heal;c3.enter
# 003: a cluster does not help, since the key lies on one shard. True: all that these locks know of a key is on the
# server that fails over.
setnx              failover             OVERLAP(1,2) servers=1
setnx-expire       failover             OVERLAP(1,2) servers=1
watchdog           failover             OVERLAP(1,2) servers=1
# 003: the watchdog renews for ever, so that the lock is kept. Refuted three times: by one failed renewal, by a pause of
# the process, and by a master that is cut off, for as long as the first one works.
watchdog           slow-work            HOLDS
watchdog           failed-renewal       OVERLAP(1,2)
watchdog           gc-pause             OVERLAP(1,2)
watchdog           split-renewed        OVERLAP(1,2) OVERLAP~1.45

# 003: with ZooKeeper there is no deadlock, and it is the choice where data must be absolutely correct. True if a holder
# dies, if the work takes long, whatever clients' clocks show, and if waiters leave in order. Refuted by a lost answer,
# by a pause, and by the end of a session; the queue as the article describes it fails without any fault.
zk-recheck         crash-holding        BLOCKED !DEADLOCK
zk-recheck         slow-work            HOLDS
zk-recheck         client-skew          HOLDS
zk-recheck         lost-create          DEADLOCK in=0,0
zk-naive           lost-create          in=1,1
zk-protected       lost-create          HOLDS order=12 !c1.refuse/not_acquired
zk-protected       gc-pause             OVERLAP(1,2)
zk-protected       session-pause        OVERLAP(1,2)
zk-recheck         session-pause        !c1.write
zk-protected       session-ends         OVERLAP(1,2) c1.released/not_held
zk-semaphore       session-ends         order=123
zk-naive           waiter-dies          OVERLAP(1,3)
zk-naive           waiter-leaves        OVERLAP(1,3)
zk-recheck         waiter-dies          HOLDS order=13
zk-recheck         waiter-leaves        HOLDS
zk-recheck         numbers-end          c1.refuse/exists
zk-protected       numbers-end          OVERLAP(2,1)
# Who stands in line waits for one turn and no more. A hand-over wakes one of those who wait, or all.
zk-recheck         in-line              HOLDS order=212
zk-herd            in-line              order=212
queue              overtaken            order=21
token              overtaken            STARVED(1) STARVED~1.35
zk-recheck         watch-herd           order=12345 fire=4
zk-naive           watch-herd           fire=4
zk-herd            watch-herd           fire=14
redisson-lock      herd                 in=1,1,1,1 push=6
naive-wake         herd                 in=1,1,1,1 push=6
naive-wake         missed-wake          in=1,0 push=0 DEADLOCK~5.8
redisson-lock      missed-wake          in=1,1 push=0
redisson-lock      silent-crash         push=0 c2.enter@10s-10.01s

# 004: V3 is doubly safe from deadlock. True of the crash between SETNX and EXPIRE, which blocks V2 for ever. That says
# nothing about exclusion: a wrong clock or an orderly shutdown, whose hook deletes any key, lets a second client in.
# EXPIRE after GETSET is again a second step, and a loser's GETSET takes the time to live away.
cron-v2            crash-before-expire  DEADLOCK
cron-v3            crash-before-expire  !DEADLOCK BLOCKED c2.GETSET;c2.endless;c2.EXPIRE;c2.ends
cron-v3            overwritten-stamp    c2.ends;c3.endless
cron-v3            client-skew          OVERLAP(1,2)
cron-v2            foreign-shutdown     WRONG-DEL(2,1) OVERLAP(1,3)
cron-v3            foreign-shutdown     WRONG-DEL(2,1) OVERLAP(1,3)
cron-v2            no-finally           ORPHAN(1) BLOCKED~0.9
cron-v3            no-finally           ORPHAN(1) BLOCKED
cron-v2            double-run           in=1,1,0
token              double-run           in=1,1
at-least-for       double-run           in=1,0,0
# 004: the daemon renews first after 29 s of 30, then every 20 s for 20 s: the second renewal is due when the lease
# ends, and arrives after the end, with an owner check or without. Without, it shortens the lease of a successor.
daemon-29          dead-business        c1.timer;c0.expire;c1.timer
daemon-29-owned    dead-business        c1.timer;c0.expire;c1.timer
daemon-29          late-renewal         OVERLAP(1,2)
daemon-29-owned    late-renewal         OVERLAP(1,2)
daemon-10          late-renewal         HOLDS
daemon-29          zombie-daemon        WRONG-DEL(1,2) OVERLAP(2,3) !OVERLAP(1,2)
daemon-29-owned    zombie-daemon        HOLDS
`

func TestClaims(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(claims) {
		if words := strings.Fields(line); len(words) > 0 && words[0] != "#" {
			e, sc := racetest.Cell(t, words[0], words[1])
			see(t, play(t, e, sc), words[2:]...)
		}
	}
}

// TestClaimsOfOtherRaces shows what no race of the list does: its settings, its faults or its clients are others.
func TestClaimsOfOtherRaces(t *testing.T) {
	t.Parallel()
	seeIn := func(id string, sc race.Race, sights ...string) {
		t.Helper()
		see(t, racetest.PlayAnyway(t, racetest.Lock(t, id), sc, sc.Settings), sights...)
	}

	// 000: the class reads its clock once, on entry. If its process is paused before it takes over, it writes a stamp
	// that has already expired, and the next client takes over at once. V3 reads its clock for each command.
	late := race.Race{
		ID:       "late-takeover",
		Settings: race.StandardWith(func(s *race.Settings) { s.Clients, s.Pause = 3, race.Seconds(12) }),
		Budget:   race.FixedBudget("crash=1,pause=1"),
		Clients: func(s race.Settings) []race.ClientSpec {
			second := s.TTL + s.Retry*11/10
			third := second + s.Pause + s.Retry/2
			return []race.ClientSpec{{Work: s.Retry}, {Start: second, Work: s.Retry * 3}, {Start: third, Work: s.Retry}}
		},
		Script: func(s race.Settings, _ int) []race.Trigger {
			return []race.Trigger{
				{On: race.CreatesKeyWithoutTTL(1), Do: race.Inject(0, faults.CrashOf(1))},
				{On: race.Applies(2, "GET"), Do: race.Inject(0, faults.PauseOf(2, s.Pause))},
			}
		},
		Triggered: race.Sequence(race.Event(history.Crash, 1), race.Applies(2, "GET"), race.Event(history.Resume, 2),
			race.Applies(2, "GETSET"), race.Event(history.Acquire, 3)),
	}
	seeIn("getset", late, "OVERLAP(2,3)")
	seeIn("cron-v3", late, "!OVERLAP")

	// 000: now == old counts as expired: a client that tries in the very millisecond in which the lease ends takes over
	// while the lease lasts. V3 waits for the next millisecond.
	last := racetest.Race("crash-holding")
	// c2 asks at 0.4 s and every 0.8 s, so at 10 s.
	last.Settings.Retry, last.Settings.Latency = last.Settings.TTL*2/25, 0
	seeIn("getset", last, "c2.enter@10s-10s")
	seeIn("cron-v3", last, "!c2.enter@10s-10s")

	// 001: the token goes into the ThreadLocal before the SET has succeeded: if the holder tries once more and is
	// refused, its release no longer recognises the key as its own.
	refused := racetest.Race("nested")
	refused.Triggered = race.Sequence(race.Event(history.Enter, 1), race.Event(history.Refuse, 1))
	seeIn("threadlocal", refused, "ORPHAN(1)", "c1.released/not_held")

	// 004: EXPIRE 5, where the comment says 50, and a stamp of 5 s as well: a job of some seconds outlives both.
	for _, id := range []string{"cron-v2", "cron-v3"} {
		e, sc := racetest.Cell(t, id, "slow-work")
		if sc.Settings.TTL = e.TTL; e.TTL != race.Seconds(5) {
			t.Errorf("%s has a lease of %v", id, e.TTL)
		}
		seeIn(id, sc, "OVERLAP(1,2)", "c1.EXPIRE;c0.expire")
	}
}

// see checks what a run shows; with an ! before it, that it does not.
func see(t *testing.T, o *race.Outcome, sights ...string) {
	t.Helper()
	run := "locklab run " + o.Lock.ID + " " + o.Race.ID
	if applies := sights[0] != "N/A"; applies && !o.Triggered || o.NotInjected != nil ||
		applies == (o.NotApplicable != "") {
		t.Errorf("%s is not the race: reached %t, %v, %q", run, o.Triggered, o.NotInjected, o.NotApplicable)
		return
	}
	for _, sight := range sights {
		what, not := strings.CutPrefix(sight, "!")
		if sees(o, what) == not {
			t.Errorf("%s does not show %s, but %v %+v", run, sight, o.Verdicts, o.Judgement.Findings)
		}
	}
}

// sees reports whether a run shows what is written so:
//
//	DEADLOCK        that verdict
//	OVERLAP(1,2)    about these clients, the one at fault first
//	OVERLAP~0.9     for so many leases, within one retry; OVERLAP<60ms: for that at most
//	in=1,0          how often each client enters, from c1 on; order=212: in this order at first, without re-entries
//	keeps=1         a key that c1 has created and not removed
//	servers=1       so many servers; on=c1:12,c2:23: those with the key of the client that enters, at first
//	fire=4, push=4  so many watches, or messages, that reach others than c1 from its release on
//	c1.enter;c2.SET events in this order, with others between them: see step
func sees(o *race.Outcome, what string) bool {
	found := func(word string, is func(f verdict.Finding) bool) bool {
		return slices.ContainsFunc(o.Judgement.Findings, func(f verdict.Finding) bool {
			return string(f.Verdict) == word && is(f)
		})
	}
	if what[0] == 'c' {
		var steps []race.Pattern
		for s := range strings.SplitSeq(what, ";") {
			steps = append(steps, step(s))
		}
		return race.InOrder(o.History, steps...)
	}
	if name, want, ok := strings.Cut(what, "="); ok {
		return counts(o.History, name, want)
	}
	if word, leases, ok := strings.Cut(what, "~"); ok {
		n, err := strconv.ParseFloat(leases, 64)
		return err == nil && found(word, func(f verdict.Finding) bool {
			return (f.To - f.From - time.Duration(n*float64(o.History.TTL))).Abs() < o.Settings.Retry
		})
	}
	if word, most, ok := strings.Cut(what, "<"); ok {
		d, err := time.ParseDuration(most)
		return err == nil && found(word, func(f verdict.Finding) bool { return f.To-f.From <= d })
	}
	if word, clients, ok := strings.Cut(strings.TrimSuffix(what, ")"), "("); ok {
		return found(word, func(f verdict.Finding) bool {
			return fmt.Sprint(f.Clients) == "["+strings.ReplaceAll(clients, ",", " ")+"]"
		})
	}
	return slices.Contains(o.Verdicts, verdict.Word(what))
}

func counts(h *history.History, name, want string) bool {
	in, order, holders, kept, woken := "", "", "", 0, 0
	on, released := make([]int, h.Nodes+1), false
	for i := range h.Events {
		e := &h.Events[i]
		who := fmt.Sprint(e.Client)
		released = released || race.Event(history.Release, 1)(e)
		switch {
		case e.Kind == history.Enter:
			in += who
			if e.Note == "" {
				order += who
			}
			holders += "c" + who + ":"
			for n, c := range on {
				if c == e.Client {
					holders += fmt.Sprint(n)
				}
			}
			holders += ","
		case (e.Kind == history.Change || e.Kind == history.Expire) && e.Key == h.Key:
			if on[e.Node] = e.Client; e.After == "" {
				on[e.Node] = 0
			}
			if who == want && e.Before == "" {
				kept++
			}
			if who == want && e.After == "" {
				kept--
			}
		case released && e.Kind.String() == name && e.Client != 1:
			woken++
		}
	}
	switch name {
	case "in":
		for i, n := range strings.Split(want, ",") {
			if fmt.Sprint(strings.Count(in, fmt.Sprint(i+1))) != n {
				return false
			}
		}
		return true
	case "order":
		return strings.HasPrefix(order, want)
	case "on":
		return strings.HasPrefix(holders, want)
	case "keeps":
		return kept > 0
	case "servers":
		return fmt.Sprint(h.Nodes) == want
	}
	return fmt.Sprint(woken) == want
}

// step is an event of a client, c0: of none, c*: of any: of the kind of that name; a command that is executed, or sent,
// written sends-SET; a request from a timer; or what becomes of the lock's key: creates, replaces, ends (it has an
// expiry from then on), endless. What stands behind / is in its note, reply or value, and behind @ its time.
func step(s string) race.Pattern {
	s, times, _ := strings.Cut(s, "@")
	s, note, _ := strings.Cut(s, "/")
	who, name, _ := strings.Cut(strings.TrimPrefix(s, "c"), ".")
	c, err := strconv.Atoi(who)
	is := race.Pattern(nil)
	changes := func(e *history.Event) bool {
		return race.Event(history.Change, c)(e) && e.Key == client.Key && e.After != ""
	}
	switch command, sends := strings.CutPrefix(name, "sends-"); {
	case sends:
		is = race.Sends(c, command)
	case name == strings.ToUpper(name):
		is = race.Applies(c, name)
	case name == "timer":
		is = race.SendsBeside(c)
	case name == "creates":
		is = race.CreatesKey(c)
	case name == "change":
		is = changes
	case name == "replaces":
		is = func(e *history.Event) bool { return changes(e) && e.Before != "" && e.After != e.Before }
	case name == "ends":
		is = func(e *history.Event) bool { return changes(e) && e.Until != history.Forever }
	case name == "endless":
		is = func(e *history.Event) bool { return changes(e) && e.Until == history.Forever }
	default:
		var kind history.EventKind
		if err := kind.UnmarshalText([]byte(name)); err != nil {
			panic(err)
		}
		if is = race.Event(kind, c); err != nil {
			is = race.AnyEvent(kind)
		}
	}
	from, to, timed := strings.Cut(times, "-")
	after, _ := time.ParseDuration(from)
	before, _ := time.ParseDuration(to)
	return func(e *history.Event) bool {
		said := fmt.Sprint(e.Note, " ", e.Before, " ", e.After, " ", e.Reply)
		told := strings.Contains(said, strings.ReplaceAll(note, "_", " "))
		return is(e) && told && (!timed || e.At >= after && e.At <= before)
	}
}
