package locktest

import (
	"cmp"
	"math"
	"strings"
	"time"

	"locklab/faults"
	"locklab/reports/text"
	"locklab/simulator/database"
)

// Bounds say what is searched.
type Bounds struct {
	Clients  int    // processes that run the code, 1 to 6, or Any
	Attempts int    // how often each runs it, 1 to 9; 0: 2; with Any 1
	Budget   string // faults that may happen, as in "crash=1,pause=1"; "": none; with Any also "crash=any"
	Servers  int    // Redis servers: 1, or 3 to 7; 0: 1
	// Database is the server of code on database/sql, with the tables that there are when it begins; nil: a Redis or
	// a ZooKeeper. See the package.
	Database *database.Contents
	TTL      time.Duration // the lease that the code asks for, a multiple of 10ms
	// Key is the key that the code locks, whose value is the holder for the judges; "": the only one that it writes.
	Key string
	// Holder returns the owner that a value of Key, or of a row's column Table.Owner, names, "" if it says the lock is
	// free: of a record that is overwritten and not deleted. It must treat all owners alike. nil: a key that exists is
	// held, by whoever wrote its value.
	Holder func(value string) (owner string)
	// AnyTiming has Check search all timings to the end: clients come and work at will, messages and timers take up to
	// a twelfth or tenth of TTL (messages of several servers none). false: lockstep, and every timing up to Beside.
	AnyTiming bool
	// Latency is a steady condition beside the budget: in lockstep every message to and from a Redis takes so long.
	// With AnyTiming it takes that at most, a whole number of these parts of TTL.
	Latency time.Duration
	Fenced  bool // the resource refuses fencing tokens below the highest it has seen
	// Slow has Check look for SLOW: an attempt that lasts longer until Client.Critical, or its return without that;
	// pauses of its process do not count. Noisy has it look for NOISY: a client that sends more requests within one
	// second while it waits. Noisy is for lockstep; neither is for Any. 0: it looks for neither.
	Slow      time.Duration
	Noisy     int
	MaxStates int // ends a search; 0: 5 million
	Beside    int // ends the search at any timing beside one in lockstep, in states; 0: 500,000; below 0: there is none
	// MaxTime ends searches for which processors have worked so long together; 0: as -locklab.time says, a minute;
	// below 0: they have no end. With Clients: Any it plays no part.
	MaxTime time.Duration
	// MaxBytes ends a search before its program uses so much more memory; 0: 1 GB (1 << 30), below 0: any amount.
	MaxBytes int64
}

func (b Bounds) filled() Bounds {
	b.Attempts = cmp.Or(b.Attempts, 2)
	b.Servers = cmp.Or(b.Servers, 1)
	b.MaxStates = cmp.Or(b.MaxStates, 5_000_000)
	b.Beside = cmp.Or(b.Beside, 500_000)
	b.MaxTime, b.MaxBytes = cmp.Or(b.MaxTime, *timeFlag), cmp.Or(b.MaxBytes, 1<<30)
	return b
}

// Any as Bounds.Clients has Check prove the code for any number of processes, as locklab prove does a lock of the lab.
const Any = math.MinInt32

// check returns what is wrong with the bounds.
func (p *plan) check() error {
	b := &p.bounds
	switch {
	case p.run.code == nil:
		return text.Errorf("locktest.bounds.nil")
	case b.Clients == 0:
		return text.Errorf("locktest.bounds.clients")
	case b.MaxStates < 0:
		return text.Errorf("locktest.bounds.states", "n", b.MaxStates)
	case b.TTL <= 0:
		return text.Errorf("locktest.bounds.ttl", "ttl", b.TTL)
	case b.TTL%(10*time.Millisecond) != 0:
		return text.Errorf("locktest.bounds.ttl.grain", "ttl", b.TTL)
	}
	if err := checkBudget(faults.Budget(b.Budget)); err != nil {
		return text.Errorf("locktest.bounds.budget", "cause", err)
	}
	if b.Servers > 1 && b.Servers < 3 {
		return text.Errorf("locktest.bounds.servers", "n", b.Servers)
	}
	return p.study.Check(p.entry)
}

// checkBudget refuses faults that cannot befall code in a bubble.
func checkBudget(written faults.Budget) error {
	refused := [][2]string{{"client-rate", "rate"}, {"node-rate", "rate"}, {faults.ClientClock.Name, "clock"}}
	for _, one := range refused {
		if strings.Contains(string(written), one[0]+"=") {
			return text.Errorf("locktest.bounds."+one[1], "budget", written, "fault", one[0])
		}
	}
	_, err := written.Parse()
	return err
}
