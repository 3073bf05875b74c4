package database_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	. "locklab/simulator/database"
	"locklab/simulator/effort"
	"locklab/simulator/internal/codec"
)

// TestInvariants runs random programs of three sessions: a State never changes, its value is its key, no two sessions
// hold a row, those who wait wait for others, and what is left when all sessions have ended is what is committed.
func TestInvariants(t *testing.T) {
	effort.OnlyPushed(t, "it runs random programs for seconds")
	effort.Cases(t, 300, 3000)
	for _, d := range []Dialect{MariaDB, MySQL, PostgreSQL} {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			most := 0
			rapid.Check(t, func(rt *rapid.T) {
				state := newState(d)
				for _, m := range slices.Concat(moves.Draw(rt, "moves")...) {
					line := m.line(d)
					if m.owner%7 == 0 {
						line = "(" + fmt.Sprint(m.key*1000) + " ms)"
					}
					before, key := state, codec.Key(state)
					state, _ = do(t, state, line)
					if codec.Key(before) != key {
						rt.Fatalf("%s changes a State", line)
					}
					again, _ := do(t, before, line)
					if codec.Key(again) != codec.Key(state) {
						rt.Fatalf("%s leads to two States", line)
					}
					check(rt, state)
					most = max(most, len(state.Waiting()))
				}
				for len(state.Waiting()) > 0 { // otherwise some would still go on
					state, _ = state.GiveUp(state.Waiting()[0], Cancelled)
				}
				if codec.Key(closed(state)) != codec.Key(state.Committed()) {
					rt.Fatalf("all sessions have ended: %+v, committed was %+v", closed(state), state.Committed())
				}
			})
			if most < 2 {
				t.Errorf("never two sessions waited: the programs are too tame")
			}
		})
	}
}

func closed(s State) State {
	for id := SessionID(3); id >= 1; id-- {
		s, _ = s.Close(id)
	}
	return s
}

func check(t *rapid.T, s State) {
	if id := s.Usurped(); id != 0 {
		t.Fatalf("%d has written a row that another one holds", id)
	}
	if !s.Exclusive() {
		t.Fatalf("two hold a row or a name, one of them exclusively: %+v", s)
	}
	for _, id := range s.Waiting() {
		if all := s.For(id); len(all) == 0 || slices.Contains(all, id) {
			t.Fatalf("%d waits for %v", id, all)
		}
	}
	if s.Dialect() != PostgreSQL && s.InCycle() != 0 {
		t.Fatalf("a deadlock of %d is left", s.InCycle())
	}
}

// TestTime: what lies in the past of every statement is one value, so that States recur.
func TestTime(t *testing.T) {
	s := newState(MariaDB)
	s, _ = do(t, s, "A: UPDATE locks SET expires = NOW(3) + INTERVAL 10 SECOND WHERE name = 'm'")
	s = s.Shift(10_001).Shift(3_600_000)
	later := s.Shift(1)
	if codec.Key(s) != codec.Key(later.Shift(1_000_000)) {
		t.Errorf("a time in the past goes on: %+v", later)
	}
	if back := s.Shift(-10); codec.Key(s) != codec.Key(back) {
		t.Errorf("a time before the horizon comes back: %+v", back)
	}
	s, _ = do(t, s, "A: BEGIN")
	s, got := do(t, s, "A: SELECT n FROM locks WHERE name = 'm' AND expires < NOW(3) - INTERVAL 1 HOUR FOR UPDATE")
	if got != "[[7]]" {
		t.Errorf("as far back as the horizon: %s", got)
	}
	_, got = do(t, s, "A: DELETE FROM locks WHERE name = 'm' AND expires < NOW(3) - INTERVAL 2 HOUR")
	if !strings.HasPrefix(got, "not carried: a time of more") {
		t.Errorf("beyond the horizon: %s", got)
	}
}

// TestNotCarried: what is understood but not simulated is refused by name, and changes nothing.
func TestNotCarried(t *testing.T) {
	for _, c := range []struct {
		dialect    Dialect
		text, want string
	}{
		{MariaDB, "DELETE FROM locks WHERE expires < NOW(3)", "without the whole primary key"},
		{MariaDB, "SELECT n FROM locks WHERE name = 'm'", "reads a snapshot"},
		{PostgreSQL, "UPDATE locks SET n = 1 WHERE name = 'm' OR name = 'k'", "without the whole primary key"},
		{PostgreSQL, "UPDATE locks SET name = 'l' WHERE name = 'm'", "another primary key"},
		{PostgreSQL, "SELECT now() FROM locks WHERE name = 'm'", "a time in a reply"},
		{PostgreSQL, "SELECT n FROM others WHERE name = 'm'", "does not exist"},
		{PostgreSQL, "UPDATE locks SET n = 'x' WHERE name = 'm'", "a text in column n"},
		{PostgreSQL, "SET lock_timeout = 5", "SET LOCAL"},
		{MariaDB, "SELECT GET_LOCK('', 1)", "1 to 64"},
	} {
		s, _ := do(t, newState(c.dialect), "A: BEGIN")
		next, got := do(t, s, "A: "+c.text)
		if !strings.Contains(got, "not carried: ") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %q", c.text, got, c.want)
		}
		if codec.Key(next) != codec.Key(s) {
			t.Errorf("%s changes the State", c.text)
		}
	}
}

// TestWaits: how long a statement waits at most is what has been set.
func TestWaits(t *testing.T) {
	wait := func(d Dialect, lines ...string) Wait {
		s := newState(d)
		for _, line := range lines {
			s, _ = do(t, s, line)
		}
		w, waits := s.Wait(2)
		if !waits || len(s.Waiting()) != 1 || !slices.Equal(s.For(2), []SessionID{1}) {
			t.Fatalf("%v: %+v", lines, w)
		}
		return w
	}
	lock, other := "A: DELETE FROM locks WHERE name = 'm'", "B: DELETE FROM locks WHERE name = 'm'"
	for _, c := range []struct {
		got            Wait
		timeout, check int64
	}{
		{wait(MariaDB, "A: BEGIN", lock, other), 50_000, 0},
		{wait(MariaDB, "A: BEGIN", lock, "B: SET innodb_lock_wait_timeout = 3", other), 3000, 0},
		{wait(MariaDB, "A: SELECT GET_LOCK('g', 1)", "B: SELECT GET_LOCK('g', 7)"), 7000, 0},
		{wait(PostgreSQL, "A: BEGIN", lock, other), 0, 1000},
		{wait(PostgreSQL, "A: BEGIN", lock, "B: SET lock_timeout = '2s'", other), 2000, 1000},
		{wait(PostgreSQL, "A: BEGIN", lock, "B: BEGIN", "B: SET LOCAL lock_timeout = 5", other), 5, 1000},
	} {
		if c.got.Timeout != c.timeout || c.got.Check != c.check {
			t.Errorf("%+v, want %d and %d", c.got, c.timeout, c.check)
		}
	}
}

// TestRenamed: names of clients may be replaced; rows are in order again.
func TestRenamed(t *testing.T) {
	s, _ := do(t, newState(PostgreSQL), "A: INSERT INTO locks (name, owner) VALUES ('k', 'a')")
	want, _ := do(t, newState(PostgreSQL), "A: INSERT INTO locks (name, owner) VALUES ('z', 'a')")
	got := codec.Replace(s, func(text string) string {
		if text == "k" {
			return "z"
		}
		return text
	}).Sorted()
	if codec.Key(got) != codec.Key(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestOldGetLock: before MySQL 5.7.5 a session had one named lock, and taking another one released it.
func TestOldGetLock(t *testing.T) {
	s := New(MySQL, []Table{locksTable}, Options{OldGetLock: true}).Connect(1).Connect(2)
	for _, c := range [][2]string{
		{"A: SELECT GET_LOCK('a', 1)", "[[1]]"}, {"B: SELECT GET_LOCK('a', 1)", "waits A"},
		{"A: SELECT GET_LOCK('b', 1)", "[[1]], B [[1]]"},
	} {
		var got string
		if s, got = do(t, s, c[0]); got != c[1] {
			t.Errorf("%s => %s, want %s", c[0], got, c[1])
		}
	}
}
