// Package database is a relational database server as a value, as far as locks use one: MariaDB and MySQL with InnoDB
// at REPEATABLE READ, and PostgreSQL at READ COMMITTED, their defaults. Other isolation levels are refused.
//
// A [State] is what a server holds: tables, what transactions have written and locked, named locks, and the statements
// that wait. State.Apply runs a [Statement] of a session, and returns the next State, the [Reply], and the answers of
// those that had waited ([Woken]). It has no clock, no socket and no thread: its caller lets time pass (State.Shift),
// ends waits whose time is over (State.GiveUp), has PostgreSQL look for deadlocks (State.CheckDeadlock), and ends
// sessions (State.Close). State.Wait names these times.
//
// # Time
//
// A State has no date. Times are milliseconds from the server's present, which is 0, and MySQL's NOW(3) and
// DATETIME(3), PostgreSQL's now() and TIMESTAMPTZ(3) are those of a clock that stands still within a millisecond; NOW()
// of whole seconds is refused, since a State does not know where a second begins. NOW(3) is the time at which the
// statement began, also after a wait; now() that at which the transaction began; clock_timestamp() that at which it is
// evaluated, which happens again after a wait only if the row has been changed. A State without an open statement or
// transaction keeps nothing older than Options.Horizon.
//
// # The behaviour of a State
//
// It is that of the MySQL Reference Manual, "InnoDB Locking", "Locks Set by Different SQL Statements in InnoDB" and
// "Locking Functions", and of the PostgreSQL documentation, "Read Committed Isolation Level", "Explicit Locking" and
// "INSERT". Where these are silent it is that of the servers MariaDB 10.11 and PostgreSQL 15, with which tests compare
// it: replies, affected rows, errors, and who waits for whom. What is tested is marked (t).
//
//	InnoDB
//	(t) a row is locked by its primary key, whether it meets the condition or not
//	(t) a key that is not there locks the gap up to the next key; an insert into it waits
//	(t) SKIP LOCKED that skips the row locks the gap behind it
//	(t) a duplicate leaves a shared lock; with ON DUPLICATE KEY UPDATE an exclusive one
//	(t) a row that is removed leaves its locks, and those waited for, on the gap
//	(t) a deadlock is found when its last wait begins; the transaction of the least weight is rolled back, of several
//	    that of this wait. Weight: rows written, and locks, those of one kind in one table counted once.
//	(t) 1205 and 1317 undo the statement and not the transaction; NOWAIT is 1205 (MySQL: 3572)
//	(t) GET_LOCK: counted, outlives transactions; a deadlock of named locks is 1213, which rolls nothing back (MySQL:
//	    3058); one of a row and a named lock is not found; names of MariaDB are distinguished by their case, those of
//	    MySQL are not
//	PostgreSQL
//	(t) a row is locked if its committed version meets the condition; after a wait the condition is evaluated on the
//	    new version, which stays locked either way
//	(t) a row that is not committed is not seen, and waited for by an INSERT with its key, as is one that is updated
//	(t) an error rolls the transaction back, and 25P02 is the answer until it is ended
//	(t) advisory locks of sessions and of transactions
//
// Where a State differs from a server, and why:
//
//	deleted rows are removed at once        InnoDB's purge runs a little later; until then the locks of the gap are
//	                                        locks of the row, and two transactions that would share the gap wait
//	order of those that go on together      the servers' threads race; here it is that in which they began to wait
//	weight of a transaction                 insert intentions that were granted are not counted, nor pages
//	MySQL 8's order of grants               it prefers transactions that block many; here all are in line
//	victim of named locks on MariaDB        a session that was one before may be spared later; here it is always the
//	                                        one that closes the cycle
//	victim on PostgreSQL                    who waits in line within a deadlock of others may look first, and fails as
//	                                        well: the caller decides who looks when
//	hashtext                                of two texts it is never the same
//	texts                                   compared byte by byte, as by the collation of Table.Create; blanks at the
//	                                        end count, lengths have no limit
//	integers                                sums of more than 47 bits are refused
//	names of columns in replies             of expressions always ?column?, as PostgreSQL has it
//	OldGetLock, MySQL                       from the manual; not compared
//
// Left out, and refused by name: whatever Parse does not know (joins, IN, functions of time but these, CREATE,
// two-argument advisory locks, FOR SHARE, savepoints); conditions without the whole primary key, since a scan locks
// what it meets, but for SKIP LOCKED in PostgreSQL and for reads in the order of the key; a plain SELECT in a
// transaction of InnoDB, which reads a snapshot; other unique keys; defaults of columns; a change of a primary key; a
// time in a reply, or copied from one column to another once it is beyond the horizon.
package database
