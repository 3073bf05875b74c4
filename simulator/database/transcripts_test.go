package database_test

import (
	. "locklab/simulator/database"
)

var transcripts = []transcript{
	{MariaDB, "a deadlock that had another way out is found when that is gone", `
		A: BEGIN => 0
		A: INSERT INTO locks (name, owner, n) VALUES ('m', 'y', 1) => error 1062
		C: BEGIN => 0
		C: INSERT INTO locks (name, owner, n) VALUES ('m', 'y', 1) => error 1062
		B: UPDATE locks SET n = n + 1 WHERE name = 'm' => waits A C
		A: DELETE FROM locks WHERE name = 'm' => waits B C
		C: COMMIT => 0, B error 1213, A 1
	`},
	{MariaDB, "a row that another transaction has updated is waited for, and read as it is then", `
		A: BEGIN => 0
		A: UPDATE locks SET owner = 'a' WHERE name = 'm' => 1
		B: UPDATE locks SET owner = 'b' WHERE name = 'm' AND owner = 'x' => waits A
		A: COMMIT => 0, B 0
		A: SELECT owner FROM locks WHERE name = 'm' => [['a']]
	`},
	{MariaDB, "an update that changes nothing affects nothing", `
		A: UPDATE locks SET owner = 'x' WHERE name = 'm' => 0
		A: INSERT INTO locks (name, owner) VALUES ('m', 'x') ON DUPLICATE KEY UPDATE owner = VALUES(owner) => 0
		A: INSERT INTO locks (name, owner) VALUES ('m', 'a') ON DUPLICATE KEY UPDATE owner = VALUES(owner) => 2
		A: INSERT INTO locks (name, owner) VALUES ('k', 'a') ON DUPLICATE KEY UPDATE owner = VALUES(owner) => 1
	`},
	{MariaDB, "assignments see those before them", `
		A: UPDATE locks SET n = n + 1, owner = IF(n = 8, 'eight', owner) WHERE name = 'm' => 1
		A: SELECT owner, n FROM locks WHERE name = 'm' => [['eight' 8]]
	`},
	{PostgreSQL, "assignments see the old row", `
		A: UPDATE locks SET n = n + 1, owner = NULL WHERE name = 'm' AND n = 7 RETURNING n => [[8]]
		A: SELECT owner, n FROM locks WHERE name = 'm' => [[NULL 8]]
	`},
	{MariaDB, "an insert waits for an uncommitted one, and is a duplicate", `
		A: BEGIN => 0
		A: INSERT INTO locks (name, owner) VALUES ('k', 'a') => 1
		B: INSERT INTO locks (name, owner) VALUES ('k', 'b') => waits A
		C: INSERT IGNORE INTO locks (name, owner) VALUES ('k', 'c') => waits A
		A: COMMIT => 0, B error 1062, C 0
	`},
	{MariaDB, "two inserts that waited for a delete meet in a deadlock", `
		A: BEGIN => 0
		A: DELETE FROM locks WHERE name = 'm' => 1
		B: INSERT INTO locks (name, owner) VALUES ('m', 'b') => waits A
		C: INSERT INTO locks (name, owner) VALUES ('m', 'c') => waits A
		A: COMMIT => 0, C error 1213, B 1
	`},
	{MariaDB, "the lighter transaction is the victim", `
		A: BEGIN => 0
		A: INSERT INTO locks (name, owner) VALUES ('m', 'a') => error 1062
		B: BEGIN => 0
		B: UPDATE locks SET owner = 'b' WHERE name = 'm' => waits A
		A: UPDATE locks SET owner = 'a' WHERE name = 'm' => 1, B error 1213
		B: COMMIT => 0
	`},
	{MariaDB, "two that lock a row that is not there and insert it meet in a deadlock", `
		A: BEGIN => 0
		B: BEGIN => 0
		A: SELECT n FROM locks WHERE name = 'k' FOR UPDATE => []
		B: SELECT n FROM locks WHERE name = 'k' FOR UPDATE => []
		A: INSERT INTO locks (name) VALUES ('k') => waits B
		B: INSERT INTO locks (name) VALUES ('k') => error 1213, A 1
	`},
	{MariaDB, "a wait that times out undoes the statement, and not the transaction", `
		A: BEGIN => 0
		A: UPDATE locks SET owner = 'a' WHERE name = 'm' => 1
		B: SET SESSION innodb_lock_wait_timeout = 1 => 0
		B: BEGIN => 0
		B: INSERT INTO locks (name) VALUES ('b') => 1
		B: DELETE FROM locks WHERE name = 'm' => waits A
		B: (times out) => B error 1205
		C: INSERT INTO locks (name) VALUES ('b') => waits B
		B: COMMIT => 0, C error 1062
	`},
	{MariaDB, "SKIP LOCKED that skips a row locks the gap behind it", `
		A: BEGIN => 0
		A: SELECT n FROM locks WHERE name = 'm' FOR UPDATE => [[7]]
		B: BEGIN => 0
		B: SELECT n FROM locks WHERE name = 'm' FOR UPDATE SKIP LOCKED => []
		A: INSERT INTO locks (name) VALUES ('p') => waits B
		B: COMMIT => 0, A 1
	`},
	{MariaDB, "BEGIN commits", `
		A: BEGIN => 0
		A: DELETE FROM locks WHERE name = 'm' => 1
		A: BEGIN => 0
		A: ROLLBACK => 0
		B: SELECT n FROM locks WHERE name = 'm' => []
	`},
	{MariaDB, "named locks are counted, and outlive transactions", `
		A: BEGIN => 0
		A: SELECT GET_LOCK('g', 10) => [[1]]
		A: SELECT GET_LOCK('g', 10) => [[1]]
		A: ROLLBACK => 0
		B: SELECT GET_LOCK('g', 0) => [[0]]
		B: SELECT RELEASE_LOCK('g') => [[0]]
		B: SELECT RELEASE_LOCK('h') => [[NULL]]
		A: SELECT RELEASE_LOCK('g') => [[1]]
		B: SELECT IS_FREE_LOCK('g') => [[0]]
		B: SELECT GET_LOCK('g', 10) => waits A
		C: SELECT GET_LOCK('g', 1) => waits A B
		A: SELECT RELEASE_LOCK('g') => [[1]], B [[1]]
		C: (times out) => C [[0]]
	`},
	{MariaDB, "a cycle of a row and a named lock is not found", `
		A: BEGIN => 0
		A: DELETE FROM locks WHERE name = 'm' => 1
		B: SELECT GET_LOCK('b', 1) => [[1]]
		A: SELECT GET_LOCK('b', 1) => waits B
		B: DELETE FROM locks WHERE name = 'm' => waits A
		A: (times out) => A [[0]]
		A: COMMIT => 0, B 0
	`},
	{MariaDB, "NOW is that of the beginning of the statement, also after a wait", `
		A: UPDATE locks SET expires = NOW(3) + INTERVAL 10 SECOND WHERE name = 'm' => 1
		A: BEGIN => 0
		A: SELECT n FROM locks WHERE name = 'm' FOR UPDATE => [[7]]
		B: UPDATE locks SET owner = 'b' WHERE name = 'm' AND expires < NOW(3) => waits A
		(11000 ms) => 0
		A: COMMIT => 0, B 0
		B: UPDATE locks SET owner = 'b' WHERE name = 'm' AND expires < NOW(3) => 1
	`},
	{MySQL, "as the manual has it, a deadlock of named locks is 3058, their names are the same in capitals, " +
		"and NOWAIT is 3572", `
		A: SELECT GET_LOCK('a', 10) => [[1]]
		B: SELECT GET_LOCK('b', 10) => [[1]]
		A: SELECT GET_LOCK('B', 10) => waits B
		B: SELECT GET_LOCK('A', 10) => error 3058
		B: SELECT RELEASE_LOCK('B') => [[1]], A [[1]]
		A: BEGIN => 0
		A: SELECT n FROM locks WHERE name = 'm' FOR UPDATE => [[7]]
		B: SELECT n FROM locks WHERE name = 'm' FOR UPDATE NOWAIT => error 3572
	`},
	{PostgreSQL, "a row that another transaction has updated is waited for, and the condition is evaluated again", `
		A: BEGIN => 0
		A: UPDATE locks SET owner = 'a' WHERE name = 'm' => 1
		B: UPDATE locks SET owner = 'b' WHERE name = 'm' AND owner = 'x' => waits A
		A: COMMIT => 0, B 0
		A: SELECT owner FROM locks WHERE name = 'm' => [['a']]
	`},
	{PostgreSQL, "an insert that is not committed is not seen, but waited for by an insert", `
		A: BEGIN => 0
		A: INSERT INTO locks (name, owner) VALUES ('k', 'a') => 1
		B: UPDATE locks SET owner = 'b' WHERE name = 'k' => 0
		B: INSERT INTO locks (name, owner) VALUES ('k', 'b') ON CONFLICT DO NOTHING => waits A
		C: INSERT INTO locks (name, owner) VALUES ('k', 'c') => waits A
		A: COMMIT => 0, B 0, C error 23505
	`},
	{PostgreSQL, "ON CONFLICT DO UPDATE locks the row also if its condition is false", `
		A: BEGIN => 0
		A: INSERT INTO locks (name, owner) VALUES ('m', 'a') ON CONFLICT (name) ` +
		`DO UPDATE SET owner = EXCLUDED.owner WHERE locks.owner = 'y' RETURNING owner => []
		B: DELETE FROM locks WHERE name = 'm' => waits A
		A: COMMIT => 0, B 1
	`},
	{PostgreSQL, "a row that is deleted and inserted anew is another row", `
		A: BEGIN => 0
		A: DELETE FROM locks WHERE name = 'm' => 1
		A: INSERT INTO locks (name, owner) VALUES ('m', 'a') => 1
		B: UPDATE locks SET owner = 'b' WHERE name = 'm' => waits A
		A: COMMIT => 0, B 0
		B: UPDATE locks SET owner = 'b' WHERE name = 'm' => 1
	`},
	{PostgreSQL, "an error undoes a transaction, which is open until it is ended", `
		A: BEGIN => 0
		A: UPDATE locks SET n = 8 WHERE name = 'm' => 1
		A: INSERT INTO locks (name) VALUES ('m') => error 23505
		A: SELECT 1 => error 25P02
		B: DELETE FROM locks WHERE name = 'm' AND n = 7 => 1
		A: COMMIT => ROLLBACK
	`},
	{PostgreSQL, "a wait that times out undoes the transaction", `
		A: BEGIN => 0
		A: SELECT n FROM locks WHERE name = 'm' FOR UPDATE => [[7]]
		B: BEGIN => 0
		B: SET LOCAL lock_timeout = '700ms' => 0
		B: INSERT INTO locks (name) VALUES ('b') => 1
		B: DELETE FROM locks WHERE name = 'm' => waits A
		C: INSERT INTO locks (name) VALUES ('b') => waits B
		B: (times out) => B error 55P03, C 1
		B: COMMIT => ROLLBACK
	`},
	{PostgreSQL, "a deadlock ends when one looks for it", `
		A: INSERT INTO locks (name) VALUES ('k') => 1
		A: BEGIN => 0
		B: BEGIN => 0
		A: UPDATE locks SET n = 1 WHERE name = 'm' => 1
		B: UPDATE locks SET n = 2 WHERE name = 'k' => 1
		A: UPDATE locks SET n = 1 WHERE name = 'k' => waits B
		B: UPDATE locks SET n = 2 WHERE name = 'm' => waits A
		A: (looks for a deadlock) => A error 40P01, B 1
		B: COMMIT => 0
		A: ROLLBACK => 0
	`},
	{PostgreSQL, "NOWAIT is an error, and SKIP LOCKED goes to the next row", `
		A: INSERT INTO locks (name, n) VALUES ('k', 3) => 1
		A: BEGIN => 0
		A: SELECT name FROM locks ORDER BY name LIMIT 1 FOR UPDATE SKIP LOCKED => [['k']]
		B: SELECT name FROM locks WHERE n > 1 ORDER BY name LIMIT 1 FOR UPDATE SKIP LOCKED => [['m']]
		B: SELECT n FROM locks WHERE name = 'k' FOR UPDATE NOWAIT => error 55P03
	`},
	{PostgreSQL, "advisory locks of sessions are counted and outlive transactions", `
		A: BEGIN => 0
		A: SELECT pg_advisory_lock(1) => [['']]
		A: SELECT pg_advisory_xact_lock(hashtext('t')) => [['']]
		A: ROLLBACK => 0
		B: SELECT pg_try_advisory_xact_lock(hashtext('t')) => [[true]]
		B: SELECT pg_try_advisory_lock(1) => [[false]]
		B: SELECT pg_advisory_unlock(1) => [[false]]
		B: SELECT pg_advisory_lock(1) => waits A
		C: SELECT pg_advisory_lock(1) => waits A B
		A: SELECT pg_advisory_unlock(1) => [[true]], B [['']]
		B: (closes) => C [['']]
	`},
	{PostgreSQL, "now is that of the transaction, and clock_timestamp that of its evaluation", `
		A: UPDATE locks SET expires = now() + interval '10 seconds' WHERE name = 'm' => 1
		B: BEGIN => 0
		(11000 ms) => 0
		B: UPDATE locks SET owner = 'b' WHERE name = 'm' AND expires < now() => 0
		B: UPDATE locks SET owner = 'c' WHERE name = 'm' AND expires < clock_timestamp() => 1
	`},
	{PostgreSQL, "clock_timestamp is read again only if the row was changed", `
		A: UPDATE locks SET expires = now() + interval '10 seconds' WHERE name = 'm' => 1
		A: BEGIN => 0
		A: SELECT n FROM locks WHERE name = 'm' FOR UPDATE => [[7]]
		B: UPDATE locks SET owner = 'b' WHERE name = 'm' AND expires > clock_timestamp() => waits A
		(11000 ms) => 0
		A: COMMIT => 0, B 1
	`},
}
