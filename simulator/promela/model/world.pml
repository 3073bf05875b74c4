/*
 * The world of clients, servers and messages, its faults, and the judges: written from
 * their definitions, and sharing no code with the simulator and its search. What a
 * client's code does next and what a command does to a server are automata, which
 * automata.c looks up. All that may happen, when time passes and what it does, and which
 * faults strike, is decided here; all verdicts are judged here.
 *
 * Times are milliseconds that are left. What follows is generated: CLIENTS (the probe has the number
 * after them), NODES, THREADS, KEYS, ORPHANS (room for requests without a sender), WAYS (in how many other
 * ways a client may go on), CLOCK (1: the present is part of the state), ENSEMBLE (1: the server is a
 * ZooKeeper ensemble), and the lists CHOICES, GRANTED, LEFT and others, which repeat a macro for each client
 * and server. What ends at an instant - the life of a key, a session - and what else happens at it have no order:
 * at any timing, time may come to that instant with it ended (DO_PASS), or still standing with nothing left
 * (DO_REACH). Then it ends before anything else that happens there, or after it (DO_END; with several servers at
 * all of them at once), and at the latest when time passes on. The other bounds come from the tables: STEP (0: lockstep), LATENCY, LATENESS, TTL (of a key, or of a
 * session), SPARE (how long a key lives after its time), and the budget.
 */

#define PROBE (CLIENTS+1)
#define NEVER 1000000000
#define QUORUM (NODES/2+1)

/* Where a thread is. */
#define IDLE 0
#define UNBORN 1
#define ASLEEP 2
#define ASKING 3
#define ANSWERED 4
#define UNHEARD 5
#define UNSENT 6
#define STRANDED 7

/* What a client observes, as automata.c has it. */
#define STARTED 1
#define REPLIED 2
#define TIMEDOUT 3
#define BROKEN 4
#define SLEPT 5
#define CLOCKREAD 6
#define NOTIFIED 7

/* What an operation is. */
#define OP_NONE 0
#define OP_BEGIN 1
#define OP_REQUEST 2
#define OP_READ 3
#define OP_WRITE 4
#define OP_SLEEP 5
#define OP_REST 6
#define OP_CLOCK 7
#define OP_WATCH 8

/* In place of a reply: the connection is gone. */
#define LOST (-1)

/* What an ensemble does, or what happens to it. */
#define SERVES 0
#define RUNS_LATE 1
#define NOTIFIES 2
#define HEARD 3
#define CUTS 4
#define CONNECTS 5
#define ENDS 6
#define DIES 7
#define SERVES_BESIDE 8

/* What a client notes. */
#define ACQUIRE 1
#define ENTER 2
#define REFUSE 3
#define LEAVE 4
#define RELEASE 5
#define RELEASED 6
#define DONE 7
#define CRASH 8

/* Remarks on a note. */
#define ASKS_AGAIN 1
#define GAVE_UP 2
#define PROBE_REFUSED 4
#define EXCEPTION 8
#define CLAIMS 16
#define OK 32

/* Verdicts. */
#define OVERLAP 0
#define STALE_WRITE 1
#define WRONG_DEL 2
#define LIE 3
#define ORPHAN 4
#define DEADLOCK 5
#define STARVED 6

/* What happens next. */
#define DO_START 1
#define DO_WAKE 2
#define DO_ARRIVE 3
#define DO_ANSWER 4
#define DO_GIVEUP 5
#define DO_RESUME 6
#define DO_ORPHANED 7
#define DO_PASS 8
#define DO_CRASH 9
#define DO_PAUSE 10
#define DO_PAUSE_UNSENT 11
#define DO_LOSE_REPLY 12
#define DO_LOSE_REQUEST 13
#define DO_STUCK 14
#define DO_CONNECT 15
#define DO_DELIVER 16
#define DO_EXPIRE 17
#define DO_REACH 18
#define DO_END 19
#define DO_END_ALL 20
#define DO_CHOOSE 21 /* and its number; the last */

c_decl {
extern int aut_step(int client, int at, int thread, int kind, int value, int field);
extern int aut_op(int op, int field);
extern int aut_serve(int data, int request, int now, const int *left, int field);
extern int aut_drop(int data, int place, int field);
extern int aut_ensemble(int data, int what, int client, int op, int answer, int field);
extern int aut_bound(int which);
extern int aut_alive(int data);
extern int aut_hears(int data, int client, int op);
extern void aut_found(int word, int faults);
extern void aut_room(void);
}

typedef Thread { byte phase; short op; int due; int latest; int reply; byte ways }
typedef Client { int at; bit dead; bit paused; bit cut; int until; Thread th[THREADS] }
typedef Server { int data; byte keys; int left[KEYS]; byte with[KEYS] }
typedef Request { short op; byte from; int latest }
typedef Grant { byte owner; byte lease; bit left; bit forever; int lapse }
typedef Wrote { byte version; byte by; byte lease }

Client client[PROBE];
Server server[NODES];
Request orphan[ORPHANS];
byte orphans;
byte version; /* of the resource */
#if CLOCK
int present;
#else
#define present 0
#endif
byte crashes, pauses, replies, requests, expires, spent;
#if ENSEMBLE
int tree;        /* what the ensemble holds, and what is on its way from it */
int ends[PROBE]; /* how long until a session ends from which nothing is heard */
#endif

/* The judges. Sets of clients have bit c-1 for client c. */
byte acquiring, inside, leaving, releasing, dead;
bit key_changed, answered;
Grant grant[NODES];
byte made[PROBE];
byte readers;
Wrote last, other;
byte asking, decided, had, lacked;
byte met;

/* What follows from the state, for the next choice. */
bit alone, over, urgent, moves, probing, stands, reach;
#if ENSEMBLE
byte alive;       /* the clients with a session */
byte told[PROBE]; /* the threads whose watch has fired */
#endif
int due;

/* The choice: zero between steps. */
byte V, C, T;

/* Bounds, which never change. */
hidden int STEP, LATENCY, LATENESS, TTL, SPARE, CRASHES, EXPIRES, PAUSES, PAUSE, LOST_REPLIES, LOST_REQUESTS;

/* Scratch, which is no part of the state. */
hidden byte cli, cli2, thr, srv, srv2, idx, idx2; /* counters; those with a 2 are the judges' */
hidden byte note, notes, remark, lease;           /* of a client, and under which lease */
hidden byte from;                                 /* who has sent the request that arrives; 0: none does */
hidden byte which, stand, place, obs, rests;
hidden byte act_what, act_client, owner, subject, occupied, held, elsewhere, thr2;
hidden int act_op, act_reply;
hidden byte made_it, exists, forever, touched, ended;
hidden int op_kind, op_arg, op_wait, oper, request, reply, kind, value, into, reading, step, base;
hidden int oldleft[KEYS];
hidden byte oldwith[KEYS];

#define P(c) client[(c)-1]
#define TH(c,t) client[(c)-1].th[t]
/* Operations from RESOURCE on go to the resource, and take no time. */
#define RESOURCE 20000
#define IS_REQUEST(o) (o > 0 && o < RESOURCE)
/* The probe's messages take no time: its refusal is not to come from slow ones. */
#define LATENCY_OF(c,o) (IS_REQUEST(o) && c != PROBE -> LATENCY : 0)
#define HAS(s,c) ((s >> ((c)-1)) & 1)
#define ADD(s,c) s = s | (1 << ((c)-1))
#define DEL(s,c) s = s & (255 - (1 << ((c)-1)))
#define WAITING(p) (p == ASKING || p == ANSWERED || p == UNHEARD || p == STRANDED)
#define FOUND(w) c_code { aut_found(w, now.spent); }

/* GRANTED(c,l) counts the servers on which the key is the grant of lease l of c; 0 is any. */
#define GRANT_OF(n,c,l) (grant[n].owner == c && (grant[n].lease == 0 || l == 0 || grant[n].lease == l))
#define LEFT_OF(n,c) (grant[n].owner == c && grant[n].left)
#define HOLDS(c,l) ((!key_changed && HAS(inside,c)) || (key_changed && GRANTED(c,l) >= QUORUM))
#define HOLDERS (inside | leaving | releasing)

/* What may happen. */
#define RUNS(c) (!P(c).dead && !P(c).paused)
#define IMPATIENT(c,t) ((STEP == 0 && TH(c,t).due <= 0) || (STEP > 0 && TH(c,t).due <= LATENESS))
#define CAN_START(c,t) (RUNS(c) && TH(c,t).phase == UNBORN && (c != PROBE || alone) && !AWAITS(c))
#define CAN_WAKE(c,t) (RUNS(c) && TH(c,t).phase == ASLEEP && TH(c,t).due <= 0)
#define CAN_ARRIVE(c,t) (!P(c).dead && TH(c,t).phase == ASKING)
#define CAN_ANSWER(c,t) (RUNS(c) && TH(c,t).phase == ANSWERED)
#define CAN_GIVEUP(c,t) (RUNS(c) && WAITING(TH(c,t).phase) && IMPATIENT(c,t))

#define CHOICES_OF_THREAD(c,t) \
	:: !over && CAN_START(c,t) -> V = DO_START; C = c; T = t \
	:: !over && CAN_WAKE(c,t) -> V = DO_WAKE; C = c; T = t \
	:: !over && CAN_ARRIVE(c,t) -> V = DO_ARRIVE; C = c; T = t \
	:: !over && CAN_ANSWER(c,t) -> V = DO_ANSWER; C = c; T = t \
	:: !over && CAN_GIVEUP(c,t) -> V = DO_GIVEUP; C = c; T = t \
	CHOICE_OF_WATCH(c,t) \
	:: !over && !probing && c != PROBE && replies > 0 && !P(c).dead && TH(c,t).phase == ANSWERED && TH(c,t).reply != LOST -> V = DO_LOSE_REPLY; C = c; T = t \
	:: !over && !probing && c != PROBE && requests > 0 && !P(c).dead && TH(c,t).phase == ASKING -> V = DO_LOSE_REQUEST; C = c; T = t
#define CHOICES_OF_CLIENT(c) \
	:: !over && P(c).paused -> V = DO_RESUME; C = c \
	:: !over && !probing && c != PROBE && crashes > 0 && (P(c).paused || BUSY(c)) -> V = DO_CRASH; C = c \
	:: !over && !probing && c != PROBE && pauses > 0 && RUNS(c) && BUSY(c) -> V = DO_PAUSE; C = c \
	:: !over && !probing && c != PROBE && pauses > 0 && RUNS(c) && JUST_ASKED(c) -> V = DO_PAUSE_UNSENT; C = c \
	CHOICES_OF_SESSION(c)
#define CHOICE_OF_WAY(c,t,w) :: !over && CAN_WAKE(c,t) && TH(c,t).ways >= w -> V = DO_CHOOSE - 1 + w; C = c; T = t
#if ENSEMBLE
#define CHOICE_OF_END(s,i)
#define CHOICE_OF_WATCH(c,t) :: !over && RUNS(c) && HAS(told[(c)-1], t+1) -> V = DO_DELIVER; C = c; T = t
#define CHOICES_OF_SESSION(c) \
	:: !over && CAN_CONNECT(c) -> V = DO_CONNECT; C = c \
	:: !over && ends[(c)-1] == 0 -> V = DO_END; C = c \
	:: !over && !probing && c != PROBE && expires > 0 && HAS(alive, c) && (P(c).paused || (RUNS(c) && BUSY(c))) -> V = DO_EXPIRE; C = c
#else
#define CHOICE_OF_END(s,i) :: !over && NODES == 1 && ENDS_NOW(s,i) -> V = DO_END; C = s+1; T = i
#define CHOICE_OF_WATCH(c,t)
#define CHOICES_OF_SESSION(c)
#endif
/* Keys to which one command has given the same time end together: with is the first of them. */
#define ENDS_NOW(s,i) (i < server[s].keys && server[s].left[i] == 0 && server[s].with[i] == i)
/* What came by the old connection is heard before there is another one. */
#define CAN_CONNECT(c) (RUNS(c) && P(c).cut && !(UNREAD(c)))
#define UNREAD_THREAD(c,t) (TH(c,t).phase == ANSWERED && IS_REQUEST(TH(c,t).op))
#define BUSY_THREAD(c,t) (TH(c,t).phase != IDLE && TH(c,t).phase != UNBORN)
/* The library of a session sends in a thread of its own. */
#define JUST_ASKED_THREAD(c,t) (TH(c,t).phase == ASKING && !(ENSEMBLE && IS_REQUEST(TH(c,t).op)) && (STEP == 0 || TH(c,t).latest == LATENCY_OF(c,TH(c,t).op)))
#define AWAITS_THREAD(c,t) (WAITING(TH(c,t).phase) && IS_REQUEST(TH(c,t).op))
/* A thread waits for a reply, or for a watch. */
#define WAITS_ON_SESSION(c,t) (IS_REQUEST(TH(c,t).op) || (TH(c,t).phase == ASLEEP && TH(c,t).op > 0))
#define CHOICE_OF_ORPHAN(i) :: !over && i < orphans && FIRST_ORPHAN(i) -> V = DO_ORPHANED; T = i
/* Of several requests that are equal one is enough; they are sorted. */
#define FIRST_ORPHAN(i) (i == 0 || orphan[i].op != orphan[i-1].op || orphan[i].from != orphan[i-1].from || orphan[i].latest != orphan[i-1].latest)


/* ---- The judges ---- */

inline standing() { /* the clients whose orphans exist */
	stand = 0;
	if
	:: HOLDERS == 0 ->
		srv2 = 0;
		do
		:: srv2 < NODES ->
			if
			:: grant[srv2].owner != 0 && !HAS(dead, grant[srv2].owner) && LEFT(grant[srv2].owner) >= QUORUM -> ADD(stand, grant[srv2].owner)
			:: else
			fi;
			srv2++
		:: else -> break
		od
	:: else
	fi
}

inline set_left(c, yes) {
	srv2 = 0;
	do
	:: srv2 < NODES ->
		if
		:: grant[srv2].owner == c -> grant[srv2].left = yes
		:: else
		fi;
		srv2++
	:: else -> break
	od
}

inline make_idle(c) {
	made[c-1] = 0;
	DEL(acquiring, c); DEL(inside, c); DEL(leaving, c); DEL(releasing, c);
	set_left(c, 1)
}

inline clear_grant(n) {
	grant[n].owner = 0; grant[n].lease = 0; grant[n].left = 0; grant[n].forever = 0; grant[n].lapse = 0
}

/* Before every event: the calls that are not decided are looked at once more. */
inline look_again() {
	cli2 = 1;
	do
	:: cli2 <= PROBE ->
		if
		:: HAS((had | lacked), cli2) && !HAS(decided, cli2) ->
			if
			:: HOLDS(cli2, 0) -> DEL(lacked, cli2)
			:: else -> DEL(had, cli2)
			fi
		:: else
		fi;
		cli2++
	:: else -> break
	od
}

inline begin_call(c, l) {
	DEL(had, c); DEL(lacked, c);
	if
	:: HOLDS(c, l) -> ADD(had, c)
	:: else -> ADD(lacked, c)
	fi
}

inline end_call(c) {
	if
	:: (remark & CLAIMS) && key_changed && (remark & OK) && !HAS(asking, c) && !HAS(decided, c) && !HOLDS(c, 0) -> FOUND(LIE)
	:: (remark & CLAIMS) && key_changed && (remark & OK) && (HAS(asking, c) || HAS(decided, c)) && HAS(lacked, c) -> FOUND(LIE)
	:: (remark & CLAIMS) && key_changed && !(remark & OK) && HAS(had, c) -> FOUND(LIE)
	:: else
	fi;
	forget_call(c)
}

inline forget_call(c) { DEL(asking, c); DEL(decided, c); DEL(had, c); DEL(lacked, c) }

/* After every event: orphans that are gone have met nobody. */
inline after_event() {
	if
	:: met != 0 -> standing(); if :: stand == 0 -> met = 0 :: else fi
	:: else
	fi
}

/* A client notes something: note, remark, lease. */
inline judge_note(c) {
	look_again();
	if
	:: note == ACQUIRE ->
		if
		:: remark & ASKS_AGAIN -> begin_call(c, lease); ADD(asking, c)
		:: else
		fi;
		DEL(met, c);
		if
		:: HAS(leaving, c) && !(remark & ASKS_AGAIN) -> make_idle(c)
		:: else
		fi;
		ADD(acquiring, c)
	:: note == ENTER ->
		if
		:: !HAS(inside, c) && inside != 0 -> FOUND(OVERLAP)
		:: else
		fi;
		if
		:: HAS(asking, c) -> end_call(c)
		:: else
		fi;
		DEL(met, c);
		/* It enters on what an earlier attempt has left, unless it has a quorum, or had made the key itself. */
		if
		:: GRANTED(c, lease) >= QUORUM || (lease != 0 && made[c-1] == lease)
		:: else ->
			srv2 = 0;
			do
			:: srv2 < NODES ->
				if
				:: grant[srv2].owner == c -> grant[srv2].lease = lease
				:: else
				fi;
				srv2++
			:: else -> break
			od
		fi;
		made[c-1] = 0;
		DEL(acquiring, c); DEL(leaving, c); ADD(inside, c);
		set_left(c, 0);
		answered = 1
	:: note == REFUSE || note == RELEASED ->
		if
		:: note == REFUSE && (remark & CLAIMS) && HAS(met, c) -> FOUND(ORPHAN)
		:: else
		fi;
		if
		:: note == REFUSE && (remark & PROBE_REFUSED) && c == PROBE -> FOUND(DEADLOCK)
		:: else
		fi;
		if
		:: note == RELEASED || HAS(asking, c) -> end_call(c)
		:: else
		fi;
		if
		:: note == REFUSE -> DEL(met, c)
		:: else
		fi;
		made[c-1] = 0;
		DEL(acquiring, c); DEL(releasing, c);
		if
		:: !HAS(inside, c) -> make_idle(c)
		:: else
		fi;
		if
		:: note == REFUSE -> /* in vain: nothing stands in the way of the lock */
			idx2 = 0; srv2 = 0;
			do
			:: srv2 < NODES -> idx2 = idx2 + grant[srv2].left; srv2++
			:: else -> break
			od;
			if
			:: (remark & GAVE_UP) || HOLDERS != 0 || idx2 > 0 || (!key_changed && dead != 0) -> answered = 1
			:: else
			fi
		:: else
		fi
	:: note == LEAVE ->
		DEL(readers, c);
		DEL(inside, c); ADD(leaving, c);
		if
		:: remark & EXCEPTION -> make_idle(c)
		:: else
		fi
	:: note == RELEASE ->
		begin_call(c, lease);
		DEL(leaving, c); ADD(releasing, c);
		set_left(c, 0)
	:: note == DONE || note == CRASH ->
		DEL(readers, c); DEL(met, c);
		forget_call(c);
		make_idle(c);
		if
		:: note == CRASH -> ADD(dead, c)
		:: else
		fi
	fi;
	after_event()
}

/* A client has begun to wait. If it is not for an answer, it is for the orphan that it has met. */
inline judge_rest(c) {
	idx = 0;
	do
	:: idx < THREADS ->
		if
		:: TH(c,idx).phase == IDLE || TH(c,idx).phase == UNBORN || TH(c,idx).phase == ASLEEP
		:: else -> rests = 0
		fi;
		idx++
	:: else -> break
	od;
	if
	:: rests && reading == THREADS && HAS(met, c) -> FOUND(ORPHAN)
	:: else
	fi
}

/* A server executes a request of a client. */
inline judge_apply(s, c) {
	look_again();
	if
	:: grant[s].left && grant[s].owner != c && HAS(acquiring, c) && !HAS(asking, c) ->
		standing();
		DEL(stand, c);
		if
		:: stand != 0 -> ADD(met, c)
		:: else
		fi
	:: else
	fi;
	after_event()
}

/* The key changes on a server, by a request of c under lease. exists, made_it (its value
   changed) and forever say how. */
inline judge_change(s, c) {
	look_again();
	/* WRONG-DEL: it was the live grant of another lease, and no stamp that has lapsed (an ensemble has none). */
	if
	:: grant[s].owner != 0 && !grant[s].left && !GRANT_OF(s, c, lease) && !(!ENSEMBLE && exists && made_it && grant[s].forever && grant[s].lapse <= 0) -> FOUND(WRONG_DEL)
	:: else
	fi;
	/* LIE: a part of the lock is lost in a call; the first change of the key decides a call. */
	if
	:: grant[s].owner != 0 && grant[s].owner != c && made_it && HAS(decided, grant[s].owner) -> DEL(had, grant[s].owner)
	:: else
	fi;
	if
	:: !HAS(decided, c) && (HAS(asking, c) || (HAS(releasing, c) && made_it)) -> begin_call(c, lease); ADD(decided, c)
	:: else
	fi;
	key_changed = 1;
	if
	:: !exists -> clear_grant(s)
	:: else ->
		if
		:: made_it ->
			if
			:: grant[s].owner == c && grant[s].lease != lease -> grant[s].lease = 0
			:: else -> grant[s].lease = lease
			fi;
			grant[s].owner = c;
			grant[s].left = !HAS((HOLDERS | acquiring), c);
			if
			:: HAS(acquiring, c) -> made[c-1] = lease
			:: else
			fi
		:: else
		fi;
		if
		:: !forever -> grant[s].lapse = 0
		:: forever && (made_it || !grant[s].forever) -> grant[s].lapse = (ENSEMBLE -> 0 : TTL)
		:: else
		fi;
		grant[s].forever = forever
	fi;
	after_event()
}

/* The key expires on a server. */
inline judge_expire(s) {
	look_again();
	if
	:: grant[s].owner != 0 && HAS(decided, grant[s].owner) -> DEL(had, grant[s].owner)
	:: else
	fi;
	clear_grant(s);
	after_event()
}

/* The resource accepts a write of c under lease that builds on version base; version is what it has become. */
inline judge_write(c) {
	look_again();
	which = readers;
	DEL(which, c);
	if
	:: last.by == c && last.lease == lease -> value = other.version
	:: else -> value = last.version
	fi;
	if
	:: value > base || (!HOLDS(c, lease) && (which != 0 || (HAS(readers, c) && key_changed && HOLDS(c, 0)))) -> FOUND(STALE_WRITE)
	:: else ->
		if
		:: last.by != c || last.lease != lease -> other.version = last.version; other.by = last.by; other.lease = last.lease
		:: else
		fi;
		last.version = version; last.by = c; last.lease = lease
	fi;
	after_event()
}

inline judge_read(c) {
	look_again();
	if
	:: HAS(inside, c) -> ADD(readers, c)
	:: else
	fi;
	after_event()
}

/* ---- What happens ---- */

/* A request whose sender does not wait any more. They are sorted. */
inline add_orphan(o, c, l) {
	if
	:: orphans >= ORPHANS -> c_code { aut_room(); }
	:: else
	fi;
	idx = orphans;
	do
	:: idx > 0 && (orphan[idx-1].op > o || (orphan[idx-1].op == o && (orphan[idx-1].from > c || (orphan[idx-1].from == c && orphan[idx-1].latest > l)))) ->
		orphan[idx].op = orphan[idx-1].op; orphan[idx].from = orphan[idx-1].from; orphan[idx].latest = orphan[idx-1].latest;
		idx--
	:: else -> break
	od;
	orphan[idx].op = o; orphan[idx].from = c; orphan[idx].latest = l;
	orphans++
}

inline remove_orphan(at) {
	idx = at;
	do
	:: idx + 1 < orphans ->
		orphan[idx].op = orphan[idx+1].op; orphan[idx].from = orphan[idx+1].from; orphan[idx].latest = orphan[idx+1].latest;
		idx++
	:: else -> break
	od;
	orphan[idx].op = 0; orphan[idx].from = 0; orphan[idx].latest = 0;
	orphans--
}

#define CLEAR(th) th.phase = IDLE; th.op = 0; th.due = 0; th.latest = 0; th.reply = 0; th.ways = 0

/* ---- An ensemble, and the sessions and connections of its clients ---- */

#if ENSEMBLE
/* The ensemble does something, or something happens to it, */
inline quietly(eWhat, eClient, eOp, eReply) {
	act_what = eWhat; act_client = eClient; act_op = eOp; act_reply = eReply;
	c_code {
		into = aut_ensemble(now.tree, act_what, act_client, act_op, act_reply, 0);
		reply = aut_ensemble(now.tree, act_what, act_client, act_op, act_reply, 1);
		touched = aut_ensemble(now.tree, act_what, act_client, act_op, act_reply, 2);
		occupied = aut_ensemble(now.tree, act_what, act_client, act_op, act_reply, 3);
		made_it = aut_ensemble(now.tree, act_what, act_client, act_op, act_reply, 4);
		owner = aut_ensemble(now.tree, act_what, act_client, act_op, act_reply, 5);
		elsewhere = aut_ensemble(now.tree, act_what, act_client, act_op, act_reply, 6);
		now.tree = into;
	}
}

/* and that may move the line: the first has the lock. The lab's judges look once more at a change
   of another line, behind it in the order of paths. They look before all that they judge, so this
   decides nothing; but states say whether they have. */
inline ensemble(eWhat, eClient, eOp) {
	quietly(eWhat, eClient, eOp, 0);
	held = made_it;
	obs = touched;
	if
	:: obs && act_what == ENDS -> judge_expire(0); obs = 0
	:: else
	fi;
	do
	:: obs || occupied ->
		if
		:: obs -> subject = act_client; exists = 0; made_it = 1; forever = 0
		:: else -> subject = owner; exists = 1; made_it = held; forever = 1; occupied = 0
		fi;
		lease = 0;
		judge_change(0, subject);
		obs = 0
	:: else -> break
	od;
	if
	:: elsewhere -> look_again()
	:: else
	fi
}

inline look_alive() { c_code { now.alive = aut_alive(now.tree); } }

/* The ensemble hears nothing any more from c, whose session ends if that lasts. */
inline silence(c) {
	look_alive();
	if
	:: HAS(alive, c) && ends[c-1] == NEVER -> ends[c-1] = TTL
	:: else
	fi
}

/* The connection of c breaks. A request under way may still be run, in a session that lives. */
inline cut_off(c) {
	if
	:: !P(c).cut ->
		P(c).cut = 1;
		quietly(CUTS, c, 0, 0);
		silence(c);
		thr2 = 0;
		do
		:: thr2 < THREADS ->
			if
			:: IS_REQUEST(TH(c,thr2).op) && TH(c,thr2).phase == ASKING && HAS(alive, c) -> act_op = TH(c,thr2).op; act_reply = TH(c,thr2).latest; act_client = c; add_orphan(act_op, act_client, act_reply)
			:: else
			fi;
			if
			:: IS_REQUEST(TH(c,thr2).op) && (TH(c,thr2).phase == ASKING || TH(c,thr2).phase == UNHEARD) -> TH(c,thr2).phase = ANSWERED; TH(c,thr2).reply = LOST; TH(c,thr2).latest = LATENCY_OF(c,TH(c,thr2).op)
			:: else
			fi;
			thr2++
		:: else -> break
		od
	:: else
	fi
}

inline end_session(c) { ends[c-1] = NEVER; ensemble(ENDS, c, 0) }

/* c connects again, by the same session or a new one, and sends what has waited for that. What
   has not been run by then never is. */
inline connect(c) {
	quietly(CONNECTS, c, 0, 0);
	ends[c-1] = NEVER; P(c).cut = 0;
	thr2 = 0;
	do
	:: thr2 < THREADS ->
		if
		:: TH(c,thr2).phase == STRANDED -> TH(c,thr2).phase = ASKING; TH(c,thr2).latest = LATENCY_OF(c,TH(c,thr2).op)
		:: else
		fi;
		thr2++
	:: else -> break
	od;
	idx2 = 0;
	do
	:: idx2 < orphans && orphan[idx2].from == c && IS_REQUEST(orphan[idx2].op) -> remove_orphan(idx2)
	:: idx2 < orphans && !(orphan[idx2].from == c && IS_REQUEST(orphan[idx2].op)) -> idx2++
	:: else -> break
	od
}

/* Request oper of client from reaches the ensemble. Any request is a sign of life. Where several threads
   of a client wait, events do not come with the reply to one of them: its library hands each thread
   what is meant for it, and the threads hear of it in no order. */
inline ask_ensemble() {
	look_alive();
	if
	:: !HAS(alive, from) ->
		if
		:: V == DO_ARRIVE -> cut_off(from)
		:: else
		fi;
		reply = LOST
	:: else ->
		judge_apply(0, from);
		which = (V == DO_ARRIVE -> SERVES : RUNS_LATE);
		thr2 = 0;
		do
		:: thr2 < THREADS ->
			if
			:: V == DO_ARRIVE && thr2 != T && WAITS_ON_SESSION(from,thr2) -> which = SERVES_BESIDE
			:: else
			fi;
			thr2++
		:: else -> break
		od;
		ensemble(which, from, oper);
		if
		:: ends[from-1] != NEVER ->
			ends[from-1] = NEVER;
			if
			:: P(from).dead || P(from).paused || P(from).cut || V == DO_ORPHANED -> silence(from)
			:: else
			fi
		:: else
		fi
	fi
}

/* c goes on after a pause. A request that is on its way holds up the pings behind it. */
inline ping(c) {
	look_alive();
	obs = 0;
	thr2 = 0;
	do
	:: thr2 < THREADS ->
		if
		:: TH(c,thr2).phase == ASKING && IS_REQUEST(TH(c,thr2).op) && TH(c,thr2).latest > 0 -> obs = 1
		:: else
		fi;
		thr2++
	:: else -> break
	od;
	if
	:: P(c).cut
	:: !P(c).cut && !HAS(alive, c) -> cut_off(c)
	:: !P(c).cut && HAS(alive, c) && !obs -> ends[c-1] = NEVER
	:: else
	fi
}
#endif

/* What operation oper is. */
inline describe() {
	c_code { op_kind = aut_op(oper, 0); op_arg = aut_op(oper, 1); op_wait = aut_op(oper, 2); }
}

/* Operation oper is under way on a thread. */
inline send(c, t) {
	TH(c,t).phase = ASKING; TH(c,t).op = oper; TH(c,t).reply = 0;
	describe();
	TH(c,t).due = op_wait + (STEP > 0 -> LATENESS : 0);
	TH(c,t).latest = LATENCY_OF(c,oper);
	if
	:: P(c).cut && IS_REQUEST(oper) -> TH(c,t).phase = STRANDED; TH(c,t).latest = 0
	:: else
	fi
}

/* What a client does after it has observed something, and what it waits for then. The
   reading of a clock is answered on the spot. */
inline observe(c) {
	obs = (kind != 0 || V == DO_CRASH);
	do
	:: obs && V == DO_CRASH ->
		note = CRASH; remark = 0; lease = 0;
		judge_note(c);
		obs = 0
	:: obs && V != DO_CRASH ->
		c_code { into = aut_step(now.C, now.client[now.C-1].at, thr, kind, value, 0); };
		c_code { which = aut_step(now.C, now.client[now.C-1].at, thr, kind, value, 1); };
		c_code { notes = aut_step(now.C, now.client[now.C-1].at, thr, kind, value, 2); };
		idx = 0;
		do
		:: idx < notes ->
			c_code { note = aut_step(now.C, now.client[now.C-1].at, thr, kind, value, 100 + 3 * idx); };
			c_code { remark = aut_step(now.C, now.client[now.C-1].at, thr, kind, value, 101 + 3 * idx); };
			c_code { lease = aut_step(now.C, now.client[now.C-1].at, thr, kind, value, 102 + 3 * idx); };
			judge_note(c);
			idx++
		:: else -> break
		od;
		reading = THREADS; rests = 0;
		idx = 0;
		do
		:: idx < THREADS ->
			c_code { oper = aut_step(now.C, now.client[now.C-1].at, thr, kind, value, 3 + idx); };
			describe();
			if
			:: (which >> idx) & 1 ->
				CLEAR(TH(c,idx));
				rests = rests || op_kind == OP_SLEEP || op_kind == OP_WATCH;
				if
				:: op_kind == OP_NONE
				:: op_kind == OP_BEGIN -> TH(c,idx).phase = UNBORN; TH(c,idx).latest = (STEP > 0 -> op_arg : 0)
				:: op_kind == OP_CLOCK -> reading = idx
				:: op_kind == OP_SLEEP -> TH(c,idx).phase = ASLEEP; TH(c,idx).due = op_arg; TH(c,idx).latest = (STEP > 0 -> TH(c,idx).due + LATENESS : 0)
				:: op_kind == OP_WATCH -> TH(c,idx).phase = ASLEEP; TH(c,idx).op = oper; TH(c,idx).due = op_arg; TH(c,idx).latest = (STEP > 0 && op_arg != NEVER -> op_arg + LATENESS : (STEP > 0 -> NEVER : 0))
				:: op_kind == OP_REST -> /* for as long as it likes */
					TH(c,idx).phase = ASLEEP;
					c_code { into = aut_op(oper, 5); };
					TH(c,idx).ways = into;
					c_code { into = aut_step(now.C, now.client[now.C-1].at, thr, kind, value, 0); };
					if
					:: STEP > 0 -> TH(c,idx).latest = op_arg
					:: else -> TH(c,idx).due = op_arg
					fi
				:: else -> send(c, idx)
				fi
			:: else ->
				if
				:: op_kind == OP_CLOCK -> reading = idx
				:: else
				fi
			fi;
			idx++
		:: else -> break
		od;
		judge_rest(c);
		P(c).at = into;
		if
		:: reading < THREADS -> thr = reading; kind = CLOCKREAD; value = present
		:: else -> obs = 0
		fi
	:: !obs -> break
	od
}

/* Which keys end together, numbered by the first of them. */
inline regroup(s) {
	idx = 0;
	do
	:: idx < server[s].keys -> oldwith[idx] = server[s].with[idx]; idx++
	:: else -> break
	od;
	idx = 0;
	do
	:: idx < server[s].keys ->
		idx2 = 0;
		do
		:: oldwith[idx2] != oldwith[idx] || server[s].left[idx2] != server[s].left[idx] -> idx2++
		:: else -> break
		od;
		server[s].with[idx] = (STEP > 0 -> idx2 : 0);
		idx++
	:: else -> break
	od
}

/* Request oper of client from reaches its server. reply is the answer. */
inline serve() {
	c_code { srv = aut_op(oper, 3); };
	c_code { request = aut_op(oper, 1); };
	c_code { lease = aut_op(oper, 4); };
	judge_apply(srv, from);
	idx = 0;
	do
	:: idx < KEYS -> oldleft[idx] = (idx < server[srv].keys -> server[srv].left[idx] : 0); oldwith[idx] = server[srv].with[idx]; idx++
	:: else -> break
	od;
	base = server[srv].data;
#if CLOCK
	value = present;
#else
	value = 0;
#endif
	c_code { into = aut_serve(base, request, value, oldleft, 0); };
	c_code { reply = aut_serve(base, request, value, oldleft, 1); };
	c_code { place = aut_serve(base, request, value, oldleft, 2); };
	server[srv].keys = place;
	idx = 0;
	do
	:: idx < KEYS ->
		c_code { place = aut_serve(base, request, value, oldleft, 10 + 2 * idx); };
		if
		:: idx >= server[srv].keys -> server[srv].left[idx] = 0; server[srv].with[idx] = 0
		:: idx < server[srv].keys && place < KEYS -> server[srv].left[idx] = oldleft[place]; server[srv].with[idx] = oldwith[place]
		:: else -> server[srv].with[idx] = KEYS; c_code { step = aut_serve(base, request, value, oldleft, 11 + 2 * idx); }; server[srv].left[idx] = step + SPARE
		fi;
		idx++
	:: else -> break
	od;
	regroup(srv);
	server[srv].data = into;
	c_code { touched = aut_serve(base, request, value, oldleft, 3); };
	if
	:: touched ->
		c_code { exists = aut_serve(base, request, value, oldleft, 5); };
		c_code { made_it = aut_serve(base, request, value, oldleft, 6); };
		c_code { place = aut_serve(base, request, value, oldleft, 7); }; /* of its time to live before; KEYS: none */
		c_code { idx = aut_serve(base, request, value, oldleft, 8); };   /* and after */
		forever = exists && idx >= KEYS;
		if
		:: !made_it && place < KEYS && idx < KEYS && oldleft[place] == server[srv].left[idx] /* nothing has changed */
		:: else -> judge_change(srv, from)
		fi
	:: else
	fi
}

/* Operation oper of client from reaches the resource. */
inline access() {
	describe();
	c_code { lease = aut_op(oper, 4); };
	if
	:: op_kind == OP_READ -> judge_read(from); reply = version
	:: else -> version++; base = op_arg; judge_write(from); reply = 1
	fi
}

inline arrive() {
	if
#if ENSEMBLE
	:: IS_REQUEST(oper) -> ask_ensemble()
#else
	:: IS_REQUEST(oper) -> serve()
#endif
	:: else -> access()
	fi
}

/* The key whose time is at place expires. */
inline expire_one(s) {
	base = server[s].data;
	c_code { into = aut_drop(base, place, 0); };
	c_code { touched = aut_drop(base, place, 1); };
	server[s].data = into;
	idx = place;
	do
	:: idx + 1 < server[s].keys -> server[s].left[idx] = server[s].left[idx+1]; server[s].with[idx] = server[s].with[idx+1]; idx++
	:: else -> break
	od;
	server[s].left[idx] = 0; server[s].with[idx] = 0;
	server[s].keys = server[s].keys - 1;
	regroup(s);
	if
	:: touched -> judge_expire(s)
	:: else
	fi
}

/* Keys whose time is over. */
inline expire(s) {
	do
	:: server[s].keys > 0 ->
		place = 0; idx = 1;
		do
		:: idx < server[s].keys ->
			if
			:: server[s].left[idx] < server[s].left[place] -> place = idx
			:: else
			fi;
			idx++
		:: else -> break
		od;
		if
		:: server[s].left[place] > 0 -> break
		:: else -> expire_one(s)
		fi
	:: else -> break
	od
}

#define SOONER(what) if :: (what) < due -> due = what :: else fi
#define LESS(what) if :: what != NEVER -> what = (what > step -> what - step : 0) :: else fi

#if ENSEMBLE
/* Sessions from which nothing was heard for so long. */
inline end_sessions() {
	cli = 1;
	do
	:: cli <= PROBE ->
		if
		:: ends[cli-1] == 0 -> end_session(cli)
		:: else
		fi;
		cli++
	:: else -> break
	od
}
#endif

/* Time passes by step. What still stands ends before. */
inline pass() {
#if ENSEMBLE
	end_sessions();
#endif
	cli = 1;
	do
	:: cli <= PROBE ->
		if
		:: P(cli).paused -> LESS(P(cli).until)
		:: else
		fi;
		thr = 0;
		do
		:: thr < THREADS -> LESS(TH(cli,thr).due); LESS(TH(cli,thr).latest); thr++
		:: else -> break
		od;
		cli++
	:: else -> break
	od;
	idx = 0;
	do
	:: idx < orphans -> LESS(orphan[idx].latest); idx++
	:: else -> break
	od;
#if CLOCK
	present = present + step;
#endif
	srv = 0;
	do
	:: srv < NODES ->
		if
		:: grant[srv].owner != 0 && HAS(dead, grant[srv].owner) -> grant[srv].lapse = 0
		:: else -> LESS(grant[srv].lapse)
		fi;
#if !ENSEMBLE
		expire(srv);
		idx = 0;
		do
		:: idx < server[srv].keys -> server[srv].left[idx] = server[srv].left[idx] - step; idx++
		:: else -> break
		od;
		if
		:: V == DO_PASS -> expire(srv)
		:: else
		fi;
#endif
		srv++
	:: else -> break
	od;
#if ENSEMBLE
	cli = 1;
	do
	:: cli <= PROBE -> LESS(ends[cli-1]); cli++
	:: else -> break
	od;
	if
	:: V == DO_PASS -> end_sessions()
	:: else
	fi
#endif
}

/* What follows from the state: whether something has to happen before time passes, and how
   long it is until something is due. */
inline look() {
#if ENSEMBLE
	look_alive();
#endif
	urgent = 0; moves = (orphans > 0); due = NEVER; stands = 0;
	ended = 1; /* all but the probe */
	cli = 1;
	do
	:: cli <= CLIENTS ->
		if
		:: P(cli).dead || (!P(cli).paused && TH(cli,0).phase == IDLE)
		:: else -> ended = 0
		fi;
		cli++
	:: else -> break
	od;
	alone = ended && orphans == 0;
	probing = (P(PROBE).at != 0);
	over = (alone && TH(PROBE,0).phase == IDLE) || (probing && !ended);
	cli = 1;
	do
	:: cli <= PROBE ->
		obs = 0; /* waits for a server */
		thr = 0;
		do
		:: thr < THREADS ->
			if
			:: AWAITS_THREAD(cli,thr) -> obs = 1
			:: else
			fi;
			thr++
		:: else -> break
		od;
#if ENSEMBLE
		if
		:: ends[cli-1] == 0 -> moves = 1
		:: else -> SOONER(ends[cli-1])
		fi;
		told[cli-1] = 0;
		if
		:: CAN_CONNECT(cli) -> moves = 1; urgent = 1
		:: else
		fi;
		thr = 0;
		do
		:: thr < THREADS && RUNS(cli) ->
			if
			:: TH(cli,thr).phase == ASLEEP && TH(cli,thr).op > 0 ->
				c_code { place = aut_hears(now.tree, cli, now.client[cli-1].th[thr].op); };
				if
				:: place -> moves = 1; urgent = 1; ADD(told[cli-1], thr+1)
				:: else
				fi
			:: else
			fi;
			thr++
		:: else -> break
		od;
#endif
		if
		:: P(cli).dead
		:: P(cli).paused -> moves = 1; SOONER(P(cli).until)
		:: else
		fi;
		thr = 0;
		do
		:: thr < THREADS && !P(cli).dead ->
			if
			:: RUNS(cli) && TH(cli,thr).phase == UNBORN && (cli != PROBE || alone) && !obs ->
				moves = 1;
				if
				:: STEP == 0 || P(cli).at == 0 -> urgent = 1
				:: else
				fi
			:: CAN_WAKE(cli,thr) || CAN_ANSWER(cli,thr) || CAN_ARRIVE(cli,thr) -> moves = 1; if :: STEP == 0 -> urgent = 1 :: else fi
			:: else
			fi;
			if
			:: CAN_GIVEUP(cli,thr) -> moves = 1; if :: STEP == 0 -> urgent = 1 :: else fi
			:: else
			fi;
			if
			:: P(cli).paused
			:: RUNS(cli) && TH(cli,thr).phase == UNBORN -> if :: STEP > 0 -> SOONER(TH(cli,thr).latest) :: else fi
			:: RUNS(cli) && TH(cli,thr).phase == ASLEEP -> if :: STEP == 0 || TH(cli,thr).due > 0 -> SOONER(TH(cli,thr).due) :: else -> SOONER(TH(cli,thr).latest) fi
			:: RUNS(cli) && WAITING(TH(cli,thr).phase) -> if :: STEP > 0 && TH(cli,thr).due > LATENESS -> SOONER(TH(cli,thr).due - LATENESS) :: else -> SOONER(TH(cli,thr).due) fi
			:: else
			fi;
			if
			:: STEP > 0 && (TH(cli,thr).phase == ASKING || (TH(cli,thr).phase == ANSWERED && !P(cli).paused)) -> SOONER(TH(cli,thr).latest)
			:: else
			fi;
			thr++
		:: else -> break
		od;
		cli++
	:: else -> break
	od;
	idx = 0;
	do
	:: idx < orphans -> if :: STEP > 0 -> SOONER(orphan[idx].latest) :: else -> urgent = 1 fi; idx++
	:: else -> break
	od;
	srv = 0;
	do
	:: srv < NODES ->
		idx = 0;
		do
		:: idx < server[srv].keys ->
			if
			:: server[srv].left[idx] == 0 -> moves = 1; stands = 1
			:: else -> SOONER(server[srv].left[idx])
			fi;
			idx++
		:: else -> break
		od;
		srv++
	:: else -> break
	od;
	look_ahead()
}

/* Whether something ends at a server at the instant to which time passes next. */
inline look_ahead() {
	reach = 0;
	step = (STEP < due -> STEP : due);
	srv = 0;
	do
	:: srv < NODES && STEP > 0 ->
		idx = 0;
		do
		:: idx < server[srv].keys -> reach = reach || server[srv].left[idx] == step; idx++
		:: else -> break
		od;
		srv++
	:: else -> break
	od;
#if ENSEMBLE
	cli = 1;
	do
	:: cli <= PROBE && STEP > 0 -> reach = reach || ends[cli-1] == step; cli++
	:: else -> break
	od
#endif
}

inline strike(left) { left = left - 1; spent++ }

/* What was chosen happens, as far as no request arrives and no client observes anything. */
inline act() {
	kind = 0; thr = T; value = 0; from = 0;
	if
	:: V == DO_START || V == DO_STUCK ->
		kind = STARTED;
		if
		:: V == DO_STUCK -> FOUND(DEADLOCK)
		:: V == DO_START && C == PROBE && spent == 0 && !answered -> FOUND(STARVED)
		:: else
		fi
	:: V == DO_WAKE -> kind = SLEPT
	:: V >= DO_CHOOSE -> kind = SLEPT; value = V - DO_CHOOSE + 1
	:: V == DO_ANSWER ->
		kind = REPLIED; value = TH(C,T).reply;
#if ENSEMBLE
		if
		:: IS_REQUEST(TH(C,T).op) && value == LOST -> kind = BROKEN; value = 0
		:: IS_REQUEST(TH(C,T).op) && value != LOST -> quietly(HEARD, C, TH(C,T).op, value)
		:: else
		fi
	:: V == DO_CONNECT -> connect(C)
	:: V == DO_DELIVER -> quietly(NOTIFIES, C, 0, 0); kind = NOTIFIED; value = reply
	:: V == DO_EXPIRE ->
		strike(expires);
		end_session(C);
		if
		:: !P(C).paused -> cut_off(C)
		:: else
		fi
#endif
	:: V == DO_GIVEUP ->
#if ENSEMBLE
		if
		:: IS_REQUEST(TH(C,T).op) -> cut_off(C)
		:: else
		fi;
#endif
		kind = TIMEDOUT;
		oper = TH(C,T).op; step = TH(C,T).latest;
		if
		:: TH(C,T).phase == ASKING -> add_orphan(oper, C, step)
		:: else
		fi
	:: V == DO_ARRIVE ->
		oper = TH(C,T).op; from = C
	:: V == DO_ORPHANED ->
		oper = orphan[T].op; from = orphan[T].from;
		remove_orphan(T)
	:: V == DO_END ->
#if ENSEMBLE
		end_session(C)
#else
		srv = server[C-1].keys;
		do
		:: srv > T -> /* what goes moves those behind it */
			srv--;
			if
			:: server[C-1].with[srv] == T -> place = srv; expire_one(C-1)
			:: else
			fi
		:: else -> break
		od
#endif
	:: V == DO_END_ALL ->
		srv = 0;
		do
		:: srv < NODES -> expire(srv); srv++
		:: else -> break
		od
	:: V == DO_PASS || V == DO_REACH ->
		step = due;
		if
		:: STEP > 0 && STEP < due -> step = STEP
		:: else
		fi;
		pass()
	:: V == DO_CRASH ->
		strike(crashes);
#if ENSEMBLE
		cut_off(C);
		quietly(DIES, C, 0, 0);
#endif
		thr = 0;
		do
		:: thr < THREADS ->
			oper = TH(C,thr).op; step = TH(C,thr).latest;
			if
			:: TH(C,thr).phase == ASKING -> add_orphan(oper, C, step)
			:: else
			fi;
			CLEAR(TH(C,thr));
			thr++
		:: else -> break
		od;
		P(C).at = 0; P(C).dead = 1; P(C).paused = 0; P(C).cut = 0; P(C).until = 0
	:: V == DO_PAUSE || V == DO_PAUSE_UNSENT ->
		strike(pauses);
		P(C).paused = 1; P(C).until = PAUSE;
		thr = 0;
		do
		:: thr < THREADS ->
			if
			:: V == DO_PAUSE_UNSENT && JUST_ASKED_THREAD(C,thr) -> TH(C,thr).phase = UNSENT; TH(C,thr).due = 0; TH(C,thr).latest = 0
			:: else
			fi;
			thr++
		:: else -> break
		od;
#if ENSEMBLE
		silence(C)
#endif
	:: V == DO_RESUME ->
		P(C).paused = 0; P(C).until = 0;
		thr = 0;
		do
		:: thr < THREADS ->
			oper = TH(C,thr).op;
			if
			:: TH(C,thr).phase == UNSENT -> send(C, thr)
			:: TH(C,thr).phase == ASLEEP || TH(C,thr).phase == ANSWERED || TH(C,thr).phase == UNBORN ->
				if
				:: STEP > 0 && TH(C,thr).latest < LATENESS -> TH(C,thr).latest = LATENESS
				:: else
				fi
			:: else
			fi;
			thr++
		:: else -> break
		od;
#if ENSEMBLE
		ping(C)
#endif
	:: V == DO_LOSE_REPLY || V == DO_LOSE_REQUEST ->
		if
		:: V == DO_LOSE_REPLY -> strike(replies)
		:: else -> strike(requests)
		fi;
		TH(C,T).phase = UNHEARD; TH(C,T).reply = 0; TH(C,T).latest = 0;
#if ENSEMBLE
		if
		:: IS_REQUEST(TH(C,T).op) -> cut_off(C); TH(C,T).phase = ANSWERED; TH(C,T).reply = LOST; TH(C,T).latest = LATENCY_OF(C,TH(C,T).op)
		:: else
		fi
#endif
	fi
}

init {
	d_step {
		c_code {
			STEP = aut_bound(0);
			LATENCY = aut_bound(1);
			LATENESS = aut_bound(2);
			TTL = aut_bound(3);
			SPARE = aut_bound(4);
			CRASHES = aut_bound(5);
			EXPIRES = aut_bound(6);
			PAUSES = aut_bound(7);
			PAUSE = aut_bound(8);
			LOST_REPLIES = aut_bound(9);
			LOST_REQUESTS = aut_bound(10);
		};
		cli = 1;
		do
		:: cli <= PROBE -> TH(cli,0).phase = UNBORN; TH(cli,0).latest = (STEP > 0 -> NEVER : 0); cli++
		:: else -> break
		od;
#if ENSEMBLE
		cli = 1;
		do
		:: cli <= PROBE -> ends[cli-1] = NEVER; cli++
		:: else -> break
		od;
#endif
		crashes = CRASHES; expires = EXPIRES; pauses = PAUSES; replies = LOST_REPLIES; requests = LOST_REQUESTS;
		look();
		skip
	}
	do
	:: atomic {
		if
		CHOICES
		:: !over && !urgent && due > 0 && due < NEVER -> V = DO_PASS
		:: !over && !urgent && due > 0 && due < NEVER && reach -> V = DO_REACH
		:: !over && NODES > 1 && stands -> V = DO_END_ALL
		:: !over && !moves && !probing && orphans == 0 && (due == 0 || due == NEVER) -> V = DO_STUCK; C = PROBE
		fi;
		d_step { act(); skip };
		d_step {
			if
			:: from != 0 ->
				arrive();
				if
				:: V == DO_ARRIVE -> TH(C,T).phase = ANSWERED; TH(C,T).reply = reply; TH(C,T).latest = LATENCY_OF(C,TH(C,T).op)
				:: else
				fi
			:: else
			fi;
			skip
		};
		d_step { observe(C); skip };
		d_step { look(); V = 0; C = 0; T = 0 }
	}
	od
}
