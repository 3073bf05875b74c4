package dense

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/scenarios/study"
)

var (
	runsFlag = flag.Int("runs", 200, "")
	lockFlag = flag.String("lock", "token", "")
	budFlag  = flag.String("budget", "pause=1@5s", "")
	attFlag  = flag.Int("attempts", 2, "")
)

func TestTry(t *testing.T) {
	q := question{*lockFlag, 2, *attFlag, *budFlag}
	entry, ok := algorithms.ByName(q.lock)
	if !ok {
		t.Fatal(q.lock)
	}
	b := study.Bounds{Clients: 2, Attempts: q.attempts, Budget: q.budget, Nodes: max(1, min(3, entry.Nodes)), TTL: ttl, Timing: study.AnyTiming}
	l := q.limits(t, entry, b)
	bed := newBed(t, 2, l.nodes)
	met := map[string]string{}
	began := time.Now()
	events := 0
	for n := range uint64(*runsFlag) {
		w := bed.play(l, 1, n, nil)
		events += len(w.events)
		for word, paid := range l.verdicts(w.events, w.paid) {
			k := fmt.Sprintf("%s@%d", word, paid)
			if met[k] == "" {
				met[k] = fmt.Sprint(n)
			}
		}
		if w.barred {
			met["DEADLOCK"] = fmt.Sprint(n)
		}
	}
	t.Logf("%v: %d events, %.0f runs/s", time.Since(began), events / *runsFlag, float64(*runsFlag)/time.Since(began).Seconds())
	t.Log(met)
	var told []string
	bed.play(l, 1, 0, &told)
	for _, s := range told {
		t.Log(s)
	}
}
