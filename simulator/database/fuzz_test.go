package database_test

import (
	"strings"
	"testing"

	. "locklab/simulator/database"
)

// FuzzParse: the parser never panics, and what it accepts is a statement that a State carries or refuses.
func FuzzParse(f *testing.F) {
	for d, all := range programs {
		for _, text := range all {
			f.Add(uint8(d), strings.NewReplacer("%k", "'k'", "%o", "'it''s'").Replace(text))
		}
	}
	for _, text := range []string{
		"START TRANSACTION", "SET SESSION innodb_lock_wait_timeout = 3",
		"SELECT 1 FROM `locks` WHERE name = ? AND NOT (n = -1) LIMIT 1 FOR UPDATE",
		"UPDATE locks SET expires = DATE_ADD(NOW(3), INTERVAL ? * 1000 MICROSECOND) WHERE name = ? AND n IS NOT NULL;",
	} {
		f.Add(uint8(MariaDB), text)
	}
	for _, text := range []string{
		"SET LOCAL lock_timeout = '3s'", "BEGIN ISOLATION LEVEL READ COMMITTED",
		`UPDATE "locks" SET expires = now() + $2 * interval '1 millisecond' WHERE name = $1::text`,
		"SELECT pg_try_advisory_lock($1::bigint) AS ok",
		"UPDATE locks SET expires = now() + '10 seconds'::interval WHERE name = $1",
	} {
		f.Add(uint8(PostgreSQL), text)
	}
	f.Fuzz(func(t *testing.T, dialect uint8, text string) {
		d := Dialect(dialect%3) + 1
		st, err := Parse(d, text)
		if err != nil {
			return
		}
		args := make([]Value, st.Params)
		for i := range args {
			args[i] = TextValue("m")
		}
		s := newState(d)
		next, r, woken := s.Apply(1, st, args)
		if r.Waits || woken != nil {
			t.Fatalf("%q waits alone", text)
		}
		if next, _, _ = next.Apply(1, Statement{Dialect: d, Verb: Rollback}, nil); next.Waiting() != nil {
			t.Fatal("a wait is left")
		}
	})
}

// TestParseRefuses: what is not understood is named.
func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		dialect    Dialect
		text, want string
	}{
		{MariaDB, "SELECT * FROM locks", `"*"`},
		{MariaDB, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED", `"TRANSACTION"`},
		{MariaDB, "UPDATE locks SET expires = NOW() WHERE name = 'm'", "whole milliseconds"},
		{MariaDB, "REPLACE INTO locks (name) VALUES ('m')", `"REPLACE"`},
		{MariaDB, "INSERT INTO locks (name) VALUES ('a'), ('b')", `","`},
		{MariaDB, "SELECT n FROM locks WHERE name = 'm' LOCK IN SHARE MODE", `"LOCK"`},
		{PostgreSQL, "BEGIN ISOLATION LEVEL SERIALIZABLE", `"SERIALIZABLE"`},
		{PostgreSQL, "SELECT n FROM locks WHERE name = ?", `"?"`},
		{PostgreSQL, "SELECT n FROM locks WHERE name IN ($1)", `"IN"`},
		{PostgreSQL, "SELECT version()", `"version"`},
		{PostgreSQL, "INSERT INTO locks (name) VALUES ('a') ON CONFLICT DO UPDATE SET n = 1",
			"ON CONFLICT (columns) DO UPDATE"},
		{PostgreSQL, "LISTEN x", `"LISTEN"`},
	} {
		if _, err := Parse(c.dialect, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}
