package race

import "time"

// standard are the numbers that all scenarios share, so that their results can
// be laid side by side. A lease of ten seconds is the example of the Redis
// documentation; half a millisecond each way is a data centre; a refused client
// asks again each second; six leases are enough to tell a lock that recovers
// from one that does not.
func Standard() Settings {
	return Settings{
		TTL:     10 * time.Second,
		Clients: 2,
		Retry:   time.Second,
		Latency: 500 * time.Microsecond,
		Horizon: 60 * time.Second,
	}
}

// with changes the standard numbers.
func StandardWith(change func(s *Settings)) Settings {
	s := Standard()
	change(&s)
	return s
}

// seconds is for numbers that read better so.
func Seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// quorum is the smallest majority of n servers.
func Quorum(n int) int { return n/2 + 1 }

// always is a budget that does not depend on the number of servers.
func FixedBudget(budget string) func(int) string { return func(int) string { return budget } }
