package search_test

import (
	"bytes"
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/database"
	"locklab/algorithms/lock"
	"locklab/algorithms/zookeeper"
	"locklab/faults"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/history"
)

// A waitingLock waits for a row: SELECT .. FOR UPDATE without NOWAIT, or GET_LOCK with a time.
type waitingLock struct {
	env  lock.Env
	take string
}

type waitingLease struct{ conn *sql.Conn }

func (s *waitingLock) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	conn, err := s.env.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err = conn.ExecContext(ctx, "BEGIN"); err == nil {
		_, err = conn.ExecContext(ctx, s.take, key)
	}
	if err != nil {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		conn.Close()
		return nil, err
	}
	return waitingLease{conn}, nil
}

func (l waitingLease) Release(ctx context.Context) error {
	defer l.conn.Close()
	_, err := l.conn.ExecContext(ctx, "COMMIT")
	return err
}

func waiting(id string, dialect lock.Dialect, take string) lock.Entry {
	server := lock.InDatabase(dialect)
	server.Rows = true
	return lock.Entry{ID: id, Family: lock.Rows, Year: 2001, Server: server, TTL: 10 * time.Second, Unit: time.Millisecond, Expiry: lock.ExpirySession,
		New: func(env lock.Env) lock.Lock { return &waitingLock{env, take} }}
}

var (
	waitsInMariaDB    = waiting("waits-in-mariadb", lock.MySQL, "SELECT name FROM locks WHERE name = ? FOR UPDATE")
	waitsInPostgreSQL = waiting("waits-in-postgresql", lock.PostgreSQL, "SELECT name FROM locks WHERE name = $1 FOR UPDATE")
)

// TestPlainInDatabase: at any timing, too, the search finds what one finds without any reduction, in at most
// as many states.
func TestPlainInDatabase(t *testing.T) {
	budgets := []string{"", "crash=1"}
	if effort.Exhaustive() {
		budgets = append(budgets, "pause=1", "lose-reply=1", "expire-session=1", "restart=1", "failover=1")
	}
	for _, entry := range append(database.All(), waitsInMariaDB, waitsInPostgreSQL) {
		for _, budget := range budgets {
			if entry.ID == "db-get-lock-pool" || entry.ID == "db-deadline" { // too many states; it looks at its clock: see TestStampsAtAnyTiming
				continue
			}
			b := small(entry, 2, 1, budget)
			b.Timing = search.AnyTiming
			t.Run(fmt.Sprintf("%s/%s", entry.ID, b.Faults()), func(t *testing.T) {
				t.Parallel()
				r := searched(t, entry, b, nil)
				plain := searchedUpTo(t, entry, b, func(o *explore.Options) { o.Plain, o.MaxStates = explore.Plainest, 200_000 })
				if !plain.Complete { // what it has found the search has found, too
					t.Logf("%d states and more without reductions", plain.States)
					for _, found := range plain.Pars() {
						if !slices.Contains(r.Pars(), found) {
							t.Errorf("%s is not found, but %v", found, r.Pars())
						}
					}
					return
				}
				if got, want := listed(prices(r)), listed(prices(plain)); got != want {
					t.Errorf("found are\n%s\nwithout reductions\n%s", got, want)
				}
				if r.States > plain.States {
					t.Errorf("%d states, without reductions %d", r.States, plain.States)
				}
			})
		}
	}
}

// TestWaitsInDatabase: of two clients that wait for a row one gets it when the other's transaction ends, in whatever way; a wait of more than the
// server's time-out is given up.
func TestWaitsInDatabase(t *testing.T) {
	for _, test := range []struct {
		entry  lock.Entry
		budget string
		want   string
	}{
		{waitsInMariaDB, "", ""},
		{waitsInPostgreSQL, "", ""},
		{waitsInMariaDB, "crash=1", "STALE-WRITE@1"},
		{waitsInPostgreSQL, "expire-session=1", "OVERLAP@1 STALE-WRITE@1"},
	} {
		t.Run(test.entry.ID+" "+test.budget, func(t *testing.T) {
			b := small(test.entry, 2, 1, test.budget)
			b.Timing = search.AnyTiming
			r := searched(t, test.entry, b, nil)
			if text := strings.Join(r.Pars(), " "); text != test.want {
				t.Errorf("the search finds %q, want %q", text, test.want)
			}
		})
	}
}

// A countingLock draws two tokens for an attempt, and takes the lock of another client if the first one is the greater text: of c1.9 and c1.10,
// in the fifth attempt.
type countingLock struct{ env lock.Env }

func (s *countingLock) Acquire(ctx context.Context, key string) (lock.Lease, error) {
	first, token := s.env.Tokens.Token(), s.env.Tokens.Token()
	r, err := s.env.DB.ExecContext(ctx, "UPDATE locks SET owner = ? WHERE name = ? AND (owner IS NULL OR ? > ?)", token, key, first, token)
	if err != nil {
		return nil, err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		return nil, lock.ErrNotAcquired
	}
	return &countingLease{s.env, key, token}, nil
}

type countingLease struct {
	env        lock.Env
	key, token string
}

func (l *countingLease) Release(ctx context.Context) error {
	_, err := l.env.DB.ExecContext(ctx, "UPDATE locks SET owner = NULL WHERE name = ? AND owner = ?", l.key, l.token)
	return err
}

// TestTokensInDatabase: of a lock whose statement does something else with the tokens of the fifth attempt nothing is proved for any number
// of attempts, though two attempts hold.
func TestTokensInDatabase(t *testing.T) {
	server := lock.InDatabase(lock.MySQL)
	server.Rows = true
	counting := lock.Entry{ID: "counting", Family: lock.Rows, Year: 2006, Server: server, Expiry: lock.ExpiryNone,
		New: func(env lock.Env) lock.Lock { return &countingLock{env} }}
	if r := searched(t, counting, small(counting, 2, 2, ""), nil); len(r.Found) > 0 {
		t.Errorf("two attempts find %v", r.Pars())
	}
	b := search.ProofBounds()
	b.Budget = ""
	p := racetest.Must(search.Prove(t.Context(), counting, b))(t)
	if p.Proof.Refused == nil {
		t.Error("views prove it")
	}
	again := search.DefaultBounds()
	again.Attempts, again.Budget = search.AnyAttempts, ""
	if r, err := search.Explore(t.Context(), counting, again); err == nil && r.Complete && len(r.Found) == 0 {
		t.Error("a search of any number of attempts proves it")
	}
}

// atStep injects a fault into c2 some time after it has sent its n-th request: c1 is
// inside, c2 waits behind it, and c3 behind c2.
func atStep(n int, after time.Duration, fault string, c simulator.Choice) race.Race {
	return race.Race{
		ID:       "step",
		Settings: racetest.Race("waiter-dies").Settings,
		Budget:   race.FixedBudget(fault),
		Clients:  racetest.Race("waiter-dies").Clients,
		Script: func(race.Settings, int) []race.Trigger {
			sent := 0
			return []race.Trigger{{Each: true, On: func(e *history.Event) bool {
				if race.Event(history.Send, 2)(e) {
					sent++
					return sent == n
				}
				return false
			}, Do: race.Inject(after, c)}}
		},
	}
}

var update = flag.Bool("update", false, "write the golden files anew")

// TestEveryStep ends the session of a waiter at each of its steps, and loses the answer
// to each of its requests, for each lock. It compares the outcome with
// testdata/steps.golden.
func TestEveryStep(t *testing.T) {
	t.Parallel()
	half := racetest.Race("waiter-dies").Settings.Latency / 2
	ends, loses := faults.ExpireSessionOf(2), faults.LoseReplyTo(2, 0)
	var b bytes.Buffer
	for _, line := range []string{
		"c1 is inside, c2 stands in line behind it, and c3 behind c2. A line is a request of c2's.",
		"Its session ends while the request is on the way; while the answer is; a fifth of a",
		"second later; or that answer is lost. A dot is HOLDS.",
	} {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	for _, e := range zookeeper.All() {
		fmt.Fprintf(&b, "\n%-62s | %-23s | %-23s | %-23s | %s\n", e.ID, "on the way", "answer on the way", "later", "answer lost")
		play := func(sc race.Race) *race.Outcome {
			o := racetest.PlayAnyway(t, e, sc, sc.Settings)
			if o.NotInjected != nil {
				t.Fatal(e.ID, o.NotInjected)
			}
			return o
		}
		n := 0
		for _, r := range play(atStep(0, 0, "", ends)).History.Events {
			if !race.Event(history.Send, 2)(&r) {
				continue
			}
			n++
			cells := []string{strings.Join(r.Cmd, " ")}
			for _, after := range []time.Duration{0, 3 * half, 200 * time.Millisecond} {
				cells = append(cells, brief(play(atStep(n, after, "expire-session=1", ends))))
			}
			if r.Node == history.Resource {
				cells[0] = "(the resource)"
				cells = append(cells, "-")
			} else {
				cells = append(cells, brief(play(atStep(n, 3*half, "lose-reply=1", loses))))
			}
			fmt.Fprintf(&b, "%-62s | %-23s | %-23s | %-23s | %s\n", cells[0], cells[1], cells[2], cells[3], cells[4])
		}
	}
	const file = "testdata/steps.golden"
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := racetest.Must(os.ReadFile(file))(t)
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s is no longer what the program says; if it should not be, write it anew with: go test ./scenarios/search -run EveryStep -update\n%s", file, b.Bytes())
	}
}

// brief writes the verdicts of a cell.
func brief(o *race.Outcome) string {
	var words []string
	for _, w := range o.Verdicts {
		words = append(words, strings.ReplaceAll(string(w), "HOLDS", "."))
	}
	return strings.Join(words, " ")
}
