package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"locklab/simulator/effort"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/certificate"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// These tests confirm or refute what the articles claim, and show the defects of the code
// that they print. Each does so by runs, named by lock and race, which can be played
// again with locklab run. They look at the judges' findings and at the history, not at
// the contract.

// TestClaims tests sentences of the articles that a candidate might repeat in an
// interview.
func TestClaims(t *testing.T) {
	effort.Unwatched(t, "one goroutine plays")
	t.Parallel()

	// 000: with a precision of milliseconds the lock is safe. Refuted: finer stamps
	// prevent only that two clients lock in the same second. They do not prevent
	// overwritten stamps, and they do not help against a wrong clock or a pause.
	t.Run("000 milliseconds make time stamps safe", func(t *testing.T) {
		see(t, "getset-retry", "same-second", finds(verdict.Overlap, 3, 2))
		see(t, "getset-retry-ms", "same-second", spares(verdict.Overlap), finds(verdict.WrongDel, 2, 3))
		see(t, "getset-retry-ms", "client-skew", finds(verdict.Overlap, 1, 2))
		see(t, "getset-retry-ms", "gc-pause", finds(verdict.Overlap, 1, 2))
	})

	// 000, and the manual of SETNX: it does no harm that the loser writes its stamp over
	// the winner's. Refuted by the same article's advice to check the stamp before the
	// work: the winner finds a stamp that is not its own, drops the work, and does not
	// delete the key either.
	t.Run("000 the loser's stamp does no harm", func(t *testing.T) {
		see(t, "getset-check", "overwritten-stamp", finds(verdict.WrongDel, 3, 2), shows(verdict.Blocked),
			never("the winner writes", race.Event(history.Write, 2)))
	})

	// 003: the watchdog renews for ever, so that the lock is kept. Refuted three times:
	// by one failed renewal, by a pause of the process, and by a master that is cut off.
	t.Run("003 a watchdog keeps the lock for ever", func(t *testing.T) {
		see(t, "watchdog", "slow-work", holds)
		see(t, "watchdog", "failed-renewal", finds(verdict.Overlap, 1, 2))
		see(t, "watchdog", "gc-pause", finds(verdict.Overlap, 1, 2))
		see(t, "watchdog", "split-renewed", finds(verdict.Overlap, 1, 2))
	})

	// 002, 004: a release by Lua is safe. True of the moment between GET and DEL, and
	// only if the token is unique.
	t.Run("002 004 Lua makes the release safe", func(t *testing.T) {
		see(t, "thread-id", "late-release", finds(verdict.WrongDel, 1, 2))
		see(t, "token", "late-release", holds)
		see(t, "thread-id-lua", "same-thread", finds(verdict.WrongDel, 1, 2), finds(verdict.Overlap, 2, 3))
	})

	// 002: with delifequals nobody else can release the lock unless it has expired. True:
	// no pause, crash or lost message makes a token lock delete another client's key. The
	// search is complete.
	t.Run("002 delifequals deletes nobody else's lock", func(t *testing.T) {
		for _, id := range []string{"token", "delifeq"} {
			see(t, id, "slow-work", shows(verdict.Overlap), spares(verdict.WrongDel))
			for _, budget := range []string{"pause=1", "crash=1", "lose-reply=1", "lose-request=1"} {
				s := search(t, id, budget)
				if _, found := witness(s, verdict.WrongDel); found || !s.Result.Complete {
					t.Errorf("%s under %s deletes another's lock, or nobody knows:\n%s", id, budget, certificate.Of(s, "en"))
				}
			}
		}
	})

	// 003: with ZooKeeper there is no deadlock, and it is the choice where data must be
	// absolutely correct. True if a holder dies, if the work takes long, whatever
	// clients' clocks show, and if waiters leave in order. Refuted by a lost answer, by a
	// pause, and by the end of a session; the queue as the article describes it fails
	// without any fault.
	t.Run("003 a lock on ZooKeeper knows no deadlock and is absolutely correct", func(t *testing.T) {
		see(t, "zk-recheck", "crash-holding", shows(verdict.Blocked), spares(verdict.Deadlock))
		for _, scenario := range []string{"slow-work", "client-skew", "in-line", "waiter-dies", "waiter-leaves"} {
			see(t, "zk-recheck", scenario, holds)
		}
		see(t, "zk-recheck", "lost-create", shows(verdict.Deadlock))
		see(t, "zk-protected", "lost-create", holds)
		for _, scenario := range []string{"gc-pause", "session-pause", "session-ends"} {
			see(t, "zk-protected", scenario, finds(verdict.Overlap, 1, 2))
		}
		see(t, "zk-naive", "waiter-dies", finds(verdict.Overlap, 1, 3))
		see(t, "zk-naive", "waiter-leaves", finds(verdict.Overlap, 1, 3))
	})

	// 002, 003: Redlock survives the failover of one server. It does; but it fails when a
	// server of its majority forgets, by a failover of that server, a restart, or a
	// clock. And it has no fencing token for data that needs one.
	t.Run("002 003 Redlock solves the failover", func(t *testing.T) {
		see(t, "token", "failover", finds(verdict.Overlap, 1, 2))
		see(t, "redlock", "failover", holds)
		see(t, "redlock", "quorum-failover", finds(verdict.Overlap, 1, 2))
		see(t, "redlock", "restart", finds(verdict.Overlap, 1, 2))
		see(t, "redlock", "clock-jump", finds(verdict.Overlap, 1, 2))
		see(t, "redlock", "gc-pause", finds(verdict.StaleWrite, 1, 2))
		unasked(t, "redlock", "gc-pause-fenced")
	})

	// 003: a cluster does not help, since the key lies on one shard. True: all that these
	// locks know of a key is on the server that fails over.
	t.Run("003 a cluster does not help", func(t *testing.T) {
		for _, id := range []string{"setnx", "setnx-expire", "token", "watchdog"} {
			o := see(t, id, "failover", finds(verdict.Overlap, 1, 2))
			if o.History.Nodes != 1 {
				t.Errorf("%s asks %d servers", id, o.History.Nodes)
			}
		}
	})

	// 004: V3 is doubly safe from deadlock. True of the crash between SETNX and EXPIRE,
	// which blocks V2 for ever. That says nothing about exclusion: a wrong clock or an
	// orderly shutdown lets a second client in.
	t.Run("004 V3 is doubly safe from deadlock", func(t *testing.T) {
		see(t, "cron-v2", "crash-before-expire", shows(verdict.Deadlock))
		see(t, "cron-v3", "crash-before-expire", spares(verdict.Deadlock), shows(verdict.Blocked))
		see(t, "cron-v3", "client-skew", finds(verdict.Overlap, 1, 2))
		see(t, "cron-v3", "foreign-shutdown", finds(verdict.Overlap, 1, 3))
	})

	// 001: a counter, +1 and -1, makes a lock reentrant. A counter does; the printed code
	// stores it neither after +1 nor after -1. TestReentrancyAsPrinted shows its six
	// defects one by one.
	t.Run("001 a counter makes a lock reentrant", func(t *testing.T) {
		see(t, "reentrant-counted", "nested", holds)
		see(t, "watchdog", "nested", holds)
		see(t, "reentrant", "nested", finds(verdict.Overlap, 1, 2))
	})
}

// TestDefects000 are the defects of what article 000 prints.
func TestDefects000(t *testing.T) {
	t.Parallel()

	// GETSET answers nil, and the class takes that for a refusal: it has created a key of
	// which no client knows that it is its own.
	t.Run("nil counts as lost", func(t *testing.T) {
		see(t, "getset", "getset-nil", finds(verdict.Orphan, 2), shows(verdict.Blocked))
		see(t, "getset-nil", "getset-nil", finds(verdict.Orphan, 2), shows(verdict.Blocked))
	})

	// The text says that a client which finds an expired stamp deletes it and tries
	// again: the second such client deletes the lock of the first.
	t.Run("takeover by DEL", func(t *testing.T) {
		see(t, "takeover-del", "double-del", finds(verdict.WrongDel, 3, 2), finds(verdict.Overlap, 2, 3))
	})

	// DEL does not check the owner, and releaseLock returns success although the lock
	// belongs to another client by now.
	t.Run("release of another's lock is reported as one's own", func(t *testing.T) {
		see(t, "getset", "slow-work", finds(verdict.WrongDel, 1, 2), finds(verdict.Lie, 1))
	})

	// The class reads its clock once, on entry. If its process is paused before it takes
	// over, it writes a stamp that has already expired, and the next client takes over at
	// once. V3 reads its clock for each command and writes a valid stamp.
	t.Run("the clock is read once", func(t *testing.T) {
		late := race.Scenario{
			ID:       "late-takeover",
			Settings: race.StandardWith(func(s *race.Settings) { s.Clients, s.Pause = 3, race.Seconds(12) }),
			Budget:   race.FixedBudget("crash=1,pause=1"),
			Clients: func(s race.Settings) []race.ClientSpec {
				start := s.TTL + s.Retry*11/10
				return []race.ClientSpec{{Work: s.Retry}, {Start: start, Work: s.Retry * 3}, {Start: start + s.Pause + s.Retry/2, Work: s.Retry}}
			},
			Script: func(s race.Settings, _ int) []race.Trigger {
				return []race.Trigger{
					{On: race.CreatesKeyWithoutTTL(1), Do: race.Inject(0, faults.CrashOf(1))},
					{On: race.Applies(2, "GET"), Do: race.Inject(0, faults.PauseOf(2, s.Pause))},
				}
			},
			Triggered: func(h *history.History) bool {
				return race.InOrder(h, race.Event(history.Crash, 1), race.Applies(2, "GET"), race.Event(history.Resume, 2), race.Applies(2, "GETSET"), race.Event(history.Acquire, 3))
			},
		}
		seeIn(t, "getset", late, finds(verdict.Overlap, 2, 3))
		seeIn(t, "cron-v3", late, spares(verdict.Overlap))
	})

	// now == old counts as expired: a client that tries in the very millisecond in which
	// the lease ends takes over while the lease lasts. V3 waits for the next millisecond.
	t.Run("the last millisecond of a lease", func(t *testing.T) {
		_, sc := racetest.Cell(t, "getset", "crash-holding")
		sc.Settings.Retry, sc.Settings.Latency = sc.Settings.TTL*2/25, 0 // c2 asks at 0.4 s and every 0.8 s, so at 10 s
		takesOver := func(e *history.Event) bool { return race.Event(history.Enter, 2)(e) && e.At == sc.Settings.TTL }
		seeIn(t, "getset", sc, happens("c2 enters at the end of c1's lease", takesOver))
		seeIn(t, "cron-v3", sc, never("c2 enters at the end of c1's lease", takesOver))
	})
}

// TestDefects001 are the defects of what article 001 prints.
func TestDefects001(t *testing.T) {
	t.Parallel()

	// The token goes into the ThreadLocal before the SET has succeeded: if the holder
	// tries once more and is refused, its release no longer recognises the key as its
	// own.
	t.Run("a refused try forgets the token of a held lock", func(t *testing.T) {
		refused := racetest.Scenario("nested")
		refused.Triggered = func(h *history.History) bool {
			return race.InOrder(h, race.Event(history.Enter, 1), race.Event(history.Refuse, 1), race.Event(history.Release, 1))
		}
		seeIn(t, "threadlocal", refused, finds(verdict.Orphan, 1), happens("c1's release finds another value", notHeld(1)))
	})

	// One ThreadLocal for all keys: a second key overwrites the token of the first.
	t.Run("one token for all keys", func(t *testing.T) {
		see(t, "threadlocal", "two-keys", finds(verdict.Orphan, 1), happens("c1's release finds another value", notHeld(1)))
	})

	// A release without a token in the thread is a NullPointerException: the inner unlock
	// has removed the token, and the outer one finds none. Our code returns an error.
	t.Run("release without a token", func(t *testing.T) {
		see(t, "reentrant-forget", "nested", happens("c1's second release fails",
			race.Event(history.Released, 1), func(e *history.Event) bool {
				return notHeld(1)(e) && strings.Contains(e.Note, "keeps no token")
			}))
	})

	// GET and DEL are two commands.
	t.Run("GET, then DEL", func(t *testing.T) {
		see(t, "threadlocal", "late-release", finds(verdict.WrongDel, 1, 2), finds(verdict.Overlap, 2, 3))
	})

	// set(count++) stores the old count: the inner unlock deletes the key.
	t.Run("the counter never goes up", func(t *testing.T) {
		see(t, "reentrant", "nested", finds(verdict.Overlap, 1, 2))
		see(t, "reentrant-counted", "nested", holds)
	})

	// --count is not stored: where the count goes up (the defect above is fixed), no
	// unlock ever deletes the key.
	t.Run("the counter never comes down", func(t *testing.T) {
		see(t, "reentrant-increment", "nested", finds(verdict.Orphan, 1), shows(verdict.Blocked))
	})

	// The ThreadLocal is never cleared: when the pool reuses the thread, tryLock returns
	// true without a command to the server.
	t.Run("the token outlives the lock", func(t *testing.T) {
		see(t, "reentrant", "pooled-thread", finds(verdict.Overlap, 2, 1))
		see(t, "reentrant-forget", "pooled-thread", holds)
	})

	// It is not cleared after a refusal either: the second try returns true, and a
	// spinning client always tries a second time.
	t.Run("a refused try leaves its token", func(t *testing.T) {
		see(t, "reentrant", "second-try", finds(verdict.Overlap, 1, 2))
		see(t, "spin-reentrant", "second-try", finds(verdict.Overlap, 1, 2))
		see(t, "reentrant-refused", "second-try", holds)
	})

	// tryLock of a second key returns true as well, since there is a token.
	t.Run("a second key is taken for locked", func(t *testing.T) {
		see(t, "reentrant", "second-key", finds(verdict.Overlap, 1, 2),
			never("c2 asks for the second key", race.Event(history.Enter, 1), race.Sends(2, "SET"), race.Sends(2, "SET")))
		see(t, "reentrant-keyed", "second-key", holds)
	})

	// Re-entry neither extends the lease nor checks whether it still exists.
	t.Run("re-entry asks nobody", func(t *testing.T) {
		see(t, "reentrant", "late-re-entry", finds(verdict.Overlap, 2, 1))
		see(t, "reentrant-asking", "late-re-entry", holds)
		see(t, "reentrant-counted", "nested", never("c1 sets the end of its lease a second time", setsEnd(1), setsEnd(1)))
		see(t, "watchdog", "nested", happens("c1 sets the end of its lease a second time", setsEnd(1), setsEnd(1)))
	})

	// The thread that renews every 20 s knows neither the owner of the key nor when to
	// stop.
	t.Run("the renewal has no owner and no end", func(t *testing.T) {
		see(t, "daemon-20", "zombie-daemon", finds(verdict.WrongDel, 1, 2))
		see(t, "daemon-20", "zombie-keeps", shows(verdict.Deadlock))
		see(t, "daemon-20", "slow-work", shows(verdict.WrongDel),
			happens("it renews after its release", race.Event(history.Released, 1), race.SendsFromTimer(1)))
	})
}

// TestDefects002 are the defects of what article 002 prints.
func TestDefects002(t *testing.T) {
	t.Parallel()

	// random.nextint() has 32 bits and each process has its own seed: sooner or later two
	// clients draw the same token, and the comparison cannot tell them apart.
	t.Run("a small random number", func(t *testing.T) {
		see(t, "token", "same-token", finds(verdict.WrongDel, 1, 2), finds(verdict.Overlap, 2, 3))
	})

	// No release is in a finally block: after an exception the lock stays, for ever
	// without a TTL, and for the rest of the lease with one.
	t.Run("DEL is in no finally", func(t *testing.T) {
		see(t, "setnx", "no-finally", shows(verdict.Deadlock))
		see(t, "constant", "no-finally", shows(verdict.Blocked))
		see(t, "token", "no-finally", shows(verdict.Blocked))
	})
}

// TestDefects003 are the defects of what article 003 prints.
func TestDefects003(t *testing.T) {
	t.Parallel()

	// The client does not have to die between SETNX and EXPIRE: a failed EXPIRE is
	// enough.
	t.Run("EXPIRE fails", func(t *testing.T) {
		w, found := witness(search(t, "setnx-expire", "fail-call=1"), verdict.Deadlock)
		if !found {
			t.Fatal("a call that fails stops nobody")
		}
		o, err := study.Replay(w.Trace)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc([]int{1, 2}, func(c int) bool {
			return race.InOrder(o.History, endless(c), race.Sends(c, "EXPIRE"), race.Event(history.Reject, c), race.Event(history.Refuse, c))
		}) {
			t.Errorf("it is not the EXPIRE that fails: locklab run %s", w.Trace.Link())
		}
	})
}

// TestDefects004 are the defects of what article 004 prints.
func TestDefects004(t *testing.T) {
	t.Parallel()

	// A thread's id is unique only within one process.
	t.Run("two threads of one id", func(t *testing.T) {
		for _, id := range []string{"thread-id", "thread-id-lua", "daemon-29"} {
			see(t, id, "same-thread", finds(verdict.WrongDel, 1, 2), finds(verdict.Overlap, 2, 3))
		}
	})

	// It renews first after 29 s of 30, then every 20 s for 20 s: the second renewal is
	// due when the lease ends, and arrives after the end. The same schedule with an owner
	// check fails too.
	t.Run("29, 20 and 20 leave no margin", func(t *testing.T) {
		for _, id := range []string{"daemon-29", "daemon-29-owned"} {
			see(t, id, "dead-business", happens("its key ends between two of its renewals",
				race.SendsFromTimer(1), func(e *history.Event) bool { return e.Kind == history.Expire && e.Key == client.Key }, race.SendsFromTimer(1)))
			see(t, id, "late-renewal", finds(verdict.Overlap, 1, 2))
		}
		see(t, "daemon-10", "late-renewal", holds)
	})

	// Its EXPIRE does not check the owner: it shortens the lease of a successor.
	t.Run("the daemon has no owner", func(t *testing.T) {
		see(t, "daemon-29", "zombie-daemon", finds(verdict.WrongDel, 1, 2), finds(verdict.Overlap, 2, 3))
		see(t, "daemon-29-owned", "zombie-daemon", holds)
	})

	// EXPIRE 5, where the comment says 50, and a stamp of 5 s as well: a job of some
	// seconds outlives both.
	t.Run("five seconds", func(t *testing.T) {
		for _, id := range []string{"cron-v2", "cron-v3"} {
			e, sc := racetest.Cell(t, id, "slow-work")
			sc.Settings.TTL = e.TTL
			o := seeIn(t, id, sc, finds(verdict.Overlap, 1, 2))
			if e.TTL != race.Seconds(5) || !race.InOrder(o.History, race.Applies(1, "EXPIRE"), func(e *history.Event) bool { return e.Kind == history.Expire }) {
				t.Errorf("%s has a lease of %v", id, e.TTL)
			}
		}
	})

	// There is no try and no finally.
	t.Run("an exception leaves the lock", func(t *testing.T) {
		see(t, "cron-v2", "no-finally", finds(verdict.Orphan, 1), shows(verdict.Blocked))
		see(t, "cron-v3", "no-finally", finds(verdict.Orphan, 1), shows(verdict.Blocked))
	})

	// @PreDestroy deletes the key whoever owns it, at each orderly restart of an
	// instance.
	t.Run("@PreDestroy", func(t *testing.T) {
		see(t, "cron-v2", "foreign-shutdown", finds(verdict.WrongDel, 2, 1), finds(verdict.Overlap, 1, 3))
		see(t, "cron-v3", "foreign-shutdown", finds(verdict.WrongDel, 2, 1), finds(verdict.Overlap, 1, 3))
	})

	// A loser's GETSET removes the winner's TTL: of the two defences only the stamp is
	// left.
	t.Run("a loser's GETSET takes the time to live away", func(t *testing.T) {
		see(t, "cron-v3", "overwritten-stamp", happens("c2's key has an end, and then c3 takes it away", setsEnd(2), endless(3)))
	})

	// EXPIRE after GETSET is again a second step.
	t.Run("GETSET, then EXPIRE", func(t *testing.T) {
		see(t, "cron-v3", "crash-before-expire", happens("c2 has taken over, and its key has no end until the next command",
			race.Applies(2, "GETSET"), endless(2), race.Applies(2, "EXPIRE"), setsEnd(2)))
	})
}

// A sight is a check of what a run shows.
type sight struct {
	what string
	is   func(o *race.Outcome) bool
}

// see plays a lock in a race, with the race's own numbers, and checks the sights.
func see(t *testing.T, id, scenario string, sights ...sight) *race.Outcome {
	t.Helper()
	_, sc := racetest.Cell(t, id, scenario)
	if o := racetest.Play(t, racetest.Lock(t, id), sc, sc.Settings); o.History == nil {
		t.Fatalf("locklab run %s %s has no meaning: %s", id, scenario, o.NotApplicable)
	}
	return seeIn(t, id, sc, sights...)
}

// seeIn is see for a race that is in no list, or that does not apply to this lock.
func seeIn(t *testing.T, id string, sc race.Scenario, sights ...sight) *race.Outcome {
	t.Helper()
	o := racetest.PlayAnyway(t, racetest.Lock(t, id), sc, sc.Settings)
	if !o.Reached || o.NotInjected != nil {
		t.Errorf("locklab run %s %s is not the race: reached %t, %v", id, sc.ID, o.Reached, o.NotInjected)
	}
	for _, s := range sights {
		if !s.is(o) {
			t.Errorf("locklab run %s %s does not show: %s. It shows %v %+v", id, sc.ID, s.what, o.Verdicts, o.Judgement.Findings)
		}
	}
	return o
}

// unasked checks that a race does not apply to a lock.
func unasked(t *testing.T, id, scenario string) {
	t.Helper()
	e, sc := racetest.Cell(t, id, scenario)
	if o := racetest.Play(t, e, sc, sc.Settings); o.NotApplicable == "" {
		t.Errorf("locklab run %s %s: %v, and the question is to have no meaning", id, scenario, o.Verdicts)
	}
}

var holds = sight{"it holds", func(o *race.Outcome) bool { return slices.Equal(o.Verdicts, []verdict.Word{verdict.Holds}) }}

func shows(w verdict.Word) sight {
	return sight{string(w), func(o *race.Outcome) bool { return slices.Contains(o.Verdicts, w) }}
}

func spares(w verdict.Word) sight {
	return sight{"no " + string(w), func(o *race.Outcome) bool { return !slices.Contains(o.Verdicts, w) }}
}

// finds is a verdict about these clients, the one at fault first.
func finds(w verdict.Word, clients ...int) sight {
	return sight{fmt.Sprint(w, clients), func(o *race.Outcome) bool {
		return slices.ContainsFunc(o.Judgement.Findings, func(f verdict.Finding) bool {
			return f.Verdict == w && slices.Equal(f.Clients, clients)
		})
	}}
}

// happens is a sequence of events; others may come between them.
func happens(what string, steps ...race.Pattern) sight {
	return sight{what, func(o *race.Outcome) bool { return race.InOrder(o.History, steps...) }}
}

func never(what string, steps ...race.Pattern) sight {
	return sight{"never: " + what, func(o *race.Outcome) bool { return !race.InOrder(o.History, steps...) }}
}

// notHeld matches a release that found that the lock is not held by the client.
func notHeld(client int) func(*history.Event) bool {
	return func(e *history.Event) bool {
		return race.Event(history.Released, client)(e) && !e.OK && strings.Contains(e.Note, lock.ErrNotHeld.Error())
	}
}

// setsEnd matches events in which a client gives the key an expiry, endless those in
// which it leaves the key without one.
func setsEnd(c int) func(*history.Event) bool {
	return func(e *history.Event) bool {
		return race.Event(history.Change, c)(e) && e.Key == client.Key && e.After != "" && e.Until != history.Forever
	}
}

func endless(c int) func(*history.Event) bool {
	return func(e *history.Event) bool {
		return race.Event(history.Change, c)(e) && e.Key == client.Key && e.After != "" && e.Until == history.Forever
	}
}

// search explores a lock under a budget, within the usual bounds.
func search(t *testing.T, id, budget string) *study.Search {
	t.Helper()
	b := study.DefaultBounds()
	b.Budget = faults.Budget(budget)
	s, err := study.Explore(t.Context(), racetest.Lock(t, id), b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// witness is the search's shortest counterexample for a verdict.
func witness(s *study.Search, w verdict.Word) (study.Witness, bool) {
	i := slices.IndexFunc(s.Witnesses, func(found study.Witness) bool { return found.Verdict == w })
	if i < 0 {
		return study.Witness{}, false
	}
	return s.Witnesses[i], true
}
