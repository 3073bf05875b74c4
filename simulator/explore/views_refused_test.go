package explore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/faults"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

// incr raises a counter beside the key.
func (f *asking) incr(name string) (int64, error) { return f.node.Incr(f.ctx, f.key+name).Result() }

// besides takes the lock as usual, and then does something else.
func besides(also func(f *asking, taken bool) error) func(f *asking) (bool, error) {
	return func(f *asking) (bool, error) {
		taken, err := f.set()
		if err == nil {
			err = also(f, taken)
		}
		return taken, err
	}
}

// TestViewsOfCode: code that compares other clients with each other, passes on what it has read of one, looks into its
// own token, or does something else when a counter has counted far, is refused with the reason: views do not tell these
// apart. Code that does not is not refused. What a lock remembers leaves a proof of one attempt.
func TestViewsOfCode(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for _, c := range []struct {
		name, refused, once string // keys of the reasons
		budget              faults.Budget
		acquire             func(f *asking) (bool, error)
	}{
		// Names.
		{"asks whether it is its own", "", "", "crash=1",
			refused(func(f *asking) (bool, error) { return f.holds(f.token) })},
		{"enters when the owner changes", "prove.names", "", "crash=1", refused(func(f *asking) (bool, error) {
			first, err := f.owner()
			if err != nil {
				return false, err
			}
			second, err := f.owner()
			return first != "" && second != "" && first != second, err
		})},
		{"deletes in the name of the owner", "prove.names", "", "crash=1", refused(func(f *asking) (bool, error) {
			who, err := f.owner()
			if who != "" && err == nil {
				err = f.node.Eval(f.ctx, deleteOwn, []string{f.key}, who).Err()
			}
			return false, err
		})},
		{"fears one of them", "prove.names", "", "crash=1", refused(func(f *asking) (bool, error) {
			who, err := f.owner()
			return strings.HasPrefix(who, "c2."), err
		})},
		{"the owner's token is of the same process", "prove.names", "", "lose-reply=1",
			refused(func(f *asking) (bool, error) {
				mine, _, _ := strings.Cut(f.token, ".")
				who, err := f.owner()
				return strings.HasPrefix(who, mine+"."), err
			})},
		{"token ends in 3, for a script", "prove.names", "", "",
			refused(byScript(`return string.sub(ARGV[1], -1) == '3' and 1 or 0`))},
		{"three names in disorder", "prove.names", "", "",
			refused(byScript(`redis.call('RPUSH', KEYS[1]..':line', ARGV[1])
			local l = redis.call('LRANGE', KEYS[1]..':line', 0, -1)
			return #l == 3 and l[1] < l[3] and l[3] < l[2] and 1 or 0`))},
		{"how many keys there are", "prove.names", "", "", refused(byScript(
			`redis.call('SET', KEYS[1]..redis.call('DBSIZE'), 1) return redis.call('DBSIZE') >= 4 and 1 or 0`))},
		{"token in JSON", "", "", "", func(f *asking) (bool, error) {
			f.token = `{"id":"` + f.token + `","n":1}`
			return f.set()
		}},
		{"two tokens after an underscore", "", "", "", func(f *asking) (bool, error) {
			f.token = "owner_" + f.token + ":" + f.env.Tokens.Token()
			return f.set()
		}},

		// Later attempts of a process.
		{"token ends in 3", "prove.rest", "", "", func(f *asking) (bool, error) {
			if strings.HasSuffix(f.token, "3") {
				return true, nil
			}
			return f.set()
		}},
		{"a map was made", "", "prove.once.memory", "", func(f *asking) (bool, error) {
			was := f.marks != nil
			if f.marks = map[string]bool{}; was {
				return true, nil
			}
			return f.set()
		}},
		{"a global variable counts", "prove.rest", "", "", func(f *asking) (bool, error) {
			n, _ := beside.LoadOrStore(f.falling, new(int))
			if *n.(*int)++; *n.(*int) > 1 {
				return true, nil
			}
			return f.set()
		}},

		// Counters.
		{"counts and does nothing with it", "", "", "crash=1", besides(func(f *asking, taken bool) error {
			_, err := f.incr(fmt.Sprint(":", taken))
			return err
		})},
		{"counts owners for a time", "", "", "", besides(func(f *asking, taken bool) error {
			if err := f.node.Expire(f.ctx, f.key+":n", f.env.TTL).Err(); !taken || err != nil {
				return err
			}
			_, err := f.incr(":n")
			return err
		})},
		{"the hundredth enters", "prove.counter", "", "crash=1", refused(func(f *asking) (bool, error) {
			n, err := f.incr(":n")
			return n >= 100, err
		})},
		{"a script deletes the key at the hundredth", "prove.counter", "", "crash=1",
			refused(func(f *asking) (bool, error) {
				const script = "if redis.call('INCR', KEYS[2]) >= 100 then redis.call('DEL', KEYS[1]) end return 0"
				return false, f.node.Eval(f.ctx, script, []string{f.key, f.key + ":n"}).Err()
			})},
		{"a counter that saturates", "prove.names", "", "",
			refused(byScript(`local n = redis.call('GET', KEYS[1]..':n') or '0'
			if tonumber(n) < 3 then redis.call('INCR', KEYS[1]..':n') end return n == '3' and 1 or 0`))},
		{"enters when another one has counted meanwhile", "prove.counter", "", "crash=1",
			refused(func(f *asking) (bool, error) {
				first, err := f.incr(":n")
				if err != nil {
					return false, err
				}
				second, err := f.incr(":n")
				return second > first+1, err
			})},
		{"passes the number on", "prove.counter", "", "crash=1", refused(func(f *asking) (bool, error) {
			n, err := f.incr(":n")
			if err == nil {
				err = f.node.Set(f.ctx, f.key+":last", n, 0).Err()
			}
			return false, err
		})},
		{"counts down again", "prove.counter", "", "crash=1", besides(func(f *asking, _ bool) error {
			if n, err := f.incr(":n"); err != nil || n > 5 {
				return err
			}
			return f.node.Decr(f.ctx, f.key+":n").Err()
		})},
	} {
		if c.refused == "prove.counter" && !effort.Pushed() {
			continue // it takes seconds
		}
		b := viewBounds(c.budget)
		proof, refused := proofOf(t, fallingEntry(c.name, code{acquire: c.acquire}), b, c.budget != "", 20_000)
		if refused != c.refused || proof.Once.Key != c.once && refused == "" {
			t.Errorf("%s: closed %t, once %v, %v", c.name, proof.Closed, proof.Once, proof.Refused)
		}
	}
}

// TestViewsOfLocks: what views do not do for is named before minutes are spent. A lock that draws fencing tokens is
// proved although its counter has no end; other locks have no counter.
func TestViewsOfLocks(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for id, want := range map[string]string{
		"getset": "prove.views", "client-expiry": "prove.clock", "redislock-fence": "", "constant": "", "setnx": "",
	} {
		proof, refused := proofOf(t, lockOf(t, id), viewBounds("crash=1"), true, 5_000)
		if refused != want {
			t.Errorf("%s: %v, closed %t", id, proof.Refused, proof.Closed)
		}
		counts := id == "redislock-fence"
		if proof.Closed && ((proof.Covered.Assumed.Counters != 0) != counts ||
			slices.Contains(proof.Harms, verdict.Overlap)) {
			t.Errorf("%s: %v, %+v", id, proof.Harms, proof.Covered.Assumed)
		}
	}
}

// TestViewsOfStamps: a time stamp in a key grows older without end, and views close all the same. Of code that compares
// its age with more than four leases there is no proof, and two old stamps are never taken for one.
func TestViewsOfStamps(t *testing.T) {
	effort.OnlyExhaustive(t, "it closes views for seconds; one goroutine searches")
	proof, _ := proofOf(t, lockOf(t, "cron-v2"), viewBounds("crash=1"), true, 5_000)
	if !proof.Closed || proof.Covered.Assumed.Ages.Ancient == 0 ||
		!slices.Equal(proof.Harms, []verdict.Word{verdict.Deadlock}) {
		t.Errorf("cron-v2: closed %t, %+v, two clients come to %v; %v",
			proof.Closed, proof.Covered.Assumed.Ages, proof.Harms, proof.Refused)
	}
	// held takes the key with these times as its value, or returns how old the last of them is,
	// and whether they differ.
	held := func(f *asking, later ...time.Duration) (taken bool, age time.Duration, differ bool, err error) {
		var times []any
		now := f.env.Clock.Now()
		for _, d := range later {
			times = append(times, now.Add(d).UnixMilli())
		}
		f.token = fmt.Sprintln(times...)
		if taken, err = f.node.SetNX(f.ctx, f.key, f.token, 0).Result(); err != nil || taken {
			return taken, 0, false, err
		}
		who, err := f.owner()
		var first, last int64
		switch n, _ := fmt.Sscan(who, &first, &last); n {
		case 0:
			return false, 0, false, err
		case 1:
			last = first
		}
		return false, now.Sub(time.UnixMilli(last)), first != last, err
	}
	patient := fallingEntry("enters beside a holder of thirty leases", code{acquire: func(f *asking) (bool, error) {
		taken, age, _, err := held(f, 0)
		return taken || age > 30*f.env.TTL, err
	}})
	if proof, refused := proofOf(t, patient, viewBounds("crash=1"), true, 20_000); refused != "prove.clock" {
		t.Errorf("compares with 30 leases: closed %t, %+v, %v", proof.Closed, proof.Covered.Assumed.Ages, proof.Refused)
	}
	register := fallingEntry("enters where two times differ", code{acquire: func(f *asking) (bool, error) {
		taken, age, differ, err := held(f, 0, time.Second)
		return taken || differ && age > f.env.TTL/2, err
	}})
	if proof, _ = proofOf(t, register, viewBounds("crash=1"), true, 5_000); !slices.Contains(proof.Harms,
		verdict.Overlap) {
		t.Errorf("compares two old stamps: closed %t, %+v, %v; %v",
			proof.Closed, proof.Covered.Assumed.Ages, proof.Harms, proof.Refused)
	}
}
