package locktest

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
	"locklab/simulator/verdict"
)

var compareAndExpire = redis.NewScript(
	`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) else return 0 end`)

// withRenewal locks with SET NX, a goroutine that renews as it should, and a release that compares and deletes in two
// commands: between them its lease may end.
func withRenewal(c *Client) {
	rdb, token := dial(c), c.Token()
	defer rdb.Close()
	if ok, err := rdb.SetNX(c.Context(), "k", token, ttl).Result(); err != nil || !ok {
		return
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(ttl / 3)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				renewed := compareAndExpire.Run(c.Context(), rdb, []string{"k"}, token, ttl.Milliseconds())
				if n, err := renewed.Int(); err != nil || n == 0 {
					return
				}
			}
		}
	}()
	c.Critical(work)
	close(stop)
	<-stopped
	if rdb.Get(c.Context(), "k").Val() == token {
		rdb.Del(c.Context(), "k")
	}
}

// TestRenewal: one attempt of each process is searched first. It is complete and shows that the release is wrong where
// the search of two attempts, within the template's bounds, is cut short; and what it has not found stays open.
func TestRenewal(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	template := string(racetest.Must(os.ReadFile("template/mylock_test.go"))(t))
	if !strings.Contains(template, `locktest.Bounds{Clients: 2, Budget: "crash=1,pause=1", TTL: ttl}`) {
		t.Error("the template has other bounds")
	}
	p, _ := prepare(t, Bounds{Clients: 2, Budget: "crash=1,pause=1", TTL: ttl, MaxStates: 4000}, withRenewal)
	found := racetest.Must(p.find(t.Context()))(t)
	wrong := found.of(verdict.WrongDel).witness
	if wrong == nil || wrong.Par != 1 {
		t.Fatalf("WRONG-DEL: %+v", wrong)
	}
	if b := racetest.Must(search.ParseBounds(wrong.Trace.Settings))(t); b.Attempts != 1 {
		t.Errorf("with %d attempts: two were cut short before they came to it", b.Attempts)
	}
	if o, err := p.play(wrong.Trace); err != nil || !slices.Contains(o.Verdicts, verdict.WrongDel) {
		t.Errorf("played: %v, %v", o, err)
	}
	if a := found.of(verdict.Deadlock); a.witness != nil || !a.open {
		t.Errorf("DEADLOCK with two attempts: %+v, but these were not searched to the end", a)
	}
	said := found.headline("en")
	for _, want := range []string{
		"Searched, not proved: found OVERLAP, STALE-WRITE; by another search (lockstep, 1 attempt each, ",
		"): WRONG-DEL. The search was cut short",
		"A smaller search is complete. Found within these bounds, " +
			"for 2 clients with 1 attempt each, in lockstep only: OVERLAP, STALE-WRITE, WRONG-DEL can occur",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%s: want %q", said, want)
		}
	}
}
