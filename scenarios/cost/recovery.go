package cost

import (
	"context"
	"encoding/json"
	"sort"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/scenarios/share"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/history"
)

// A Recovery is the time after a client's crash in which no other client can enter. The crash is
// equally likely at any moment from the client's request for the lock to the end of its release.
// It is exact: a crash has the same effect at any moment between two events of a run, so that a
// few runs cover all moments.
type Recovery struct {
	Lock   string        `json:"lock"`
	TTL    time.Duration `json:"ttl_ns"`
	Hold   time.Duration `json:"hold_ns"` // the time for which the client is inside
	Pieces []Piece       `json:"pieces"`  // in order, without gaps
	// Handover is that of Price, without a crash.
	Handover        time.Duration `json:"handover_mean_ns"`
	LongestHandover time.Duration `json:"handover_longest_ns"`
}

// A Piece is a part of a run between two events. A crash at From blocks the lock for First,
// one at To for Last, and one between them for what lies on the line between them.
type Piece struct {
	From  time.Duration `json:"from_ns"` // since the client began, true time
	To    time.Duration `json:"to_ns"`
	First time.Duration `json:"first_ns"` // Forever: no client can enter any more
	Last  time.Duration `json:"last_ns"`  // Forever if First is
}

// share is the part of the piece in which a crash blocks the lock for more than d.
func (p Piece) share(d time.Duration) float64 {
	low, high := min(p.First, p.Last), max(p.First, p.Last)
	switch {
	case low > d:
		return 1
	case high <= d:
		return 0
	}
	return float64(high-d) / float64(high-low)
}

// LongerThan is the share of all moments at which a crash blocks the lock for more than d.
func (r Recovery) LongerThan(d time.Duration) float64 {
	var shares, weights []float64
	for _, p := range r.Pieces {
		shares, weights = append(shares, p.share(d)), append(weights, float64(p.To-p.From))
	}
	return mean(shares, weights)
}

// Ever is the share of moments at which a crash blocks the lock for ever.
func (r Recovery) Ever() float64 { return r.LongerThan(Forever - 1) }

// Mean is the mean over all moments; Forever if at some of them the lock does not come back.
func (r Recovery) Mean() time.Duration {
	var middles, weights []float64
	for _, p := range r.Pieces {
		if p.First == Forever {
			return Forever
		}
		middles, weights = append(middles, (p.First+p.Last).Seconds()/2), append(weights, float64(p.To-p.From))
	}
	return time.Duration(mean(middles, weights) * float64(time.Second)).Round(time.Microsecond)
}

// Longest is the longest that ends.
func (r Recovery) Longest() (d time.Duration) {
	for _, p := range r.Pieces {
		if p.First != Forever {
			d = max(d, p.First, p.Last)
		}
	}
	return d
}

// Quantile is the time that a share p, from 0 to 1, of all crashes does not exceed.
func (r Recovery) Quantile(p float64) time.Duration {
	if r.Ever() > 1-p {
		return Forever
	}
	n := sort.Search(int(r.Longest()/time.Microsecond)+1, func(n int) bool {
		return r.LongerThan(time.Duration(n)*time.Microsecond) <= 1-p
	})
	return time.Duration(n) * time.Microsecond
}

// MarshalJSON adds the figures of the distribution, in seconds; null: for ever.
func (r Recovery) MarshalJSON() ([]byte, error) {
	type recovery Recovery
	out := struct {
		recovery
		Ever    float64             `json:"share_forever"`
		Mean    *float64            `json:"blocked_mean_s"`
		Longest float64             `json:"blocked_longest_s"`
		Q       map[string]*float64 `json:"blocked_quantiles_s"`
	}{recovery: recovery(r), Ever: r.Ever(), Mean: Finite(r.Mean()), Longest: r.Longest().Seconds(), Q: map[string]*float64{}}
	for name, p := range map[string]float64{"p50": 0.5, "p90": 0.9, "p99": 0.99} {
		out.Q[name] = Finite(r.Quantile(p))
	}
	return json.Marshal(out)
}

// Finite is a duration in seconds; nil: it has no end.
func Finite(d time.Duration) *float64 {
	if d == Forever {
		return nil
	}
	return new(d.Seconds())
}

// A RecoveryOrder is the input of FindRecovery.
type RecoveryOrder struct {
	TTLs []time.Duration // rising
	Hold time.Duration   // time for which the client works; 0: study.UsualWork
}

func (o RecoveryOrder) hold(ttl time.Duration) time.Duration {
	if o.Hold > 0 {
		return o.Hold
	}
	return study.UsualWork(ttl)
}

// Check returns an error if a lock cannot be used with the TTLs.
func (o RecoveryOrder) Check(e lock.Entry) error {
	for _, ttl := range o.TTLs {
		sc := recoveryRace(ttl, o.hold(ttl))
		if err := sc.Check(e, sc.Settings); err != nil {
			return err
		}
	}
	return nil
}

// FindRecovery finds the Recovery of each lock with each TTL: by lock, then by TTL. w and
// ctx are as for study.Matrix. What was not finished is left out.
func FindRecovery(ctx context.Context, locks []lock.Entry, o RecoveryOrder, w *share.Work) (all []Recovery, err error) {
	var tasks []share.Task
	for _, e := range locks {
		for range o.TTLs {
			tasks = append(tasks, share.Task{Cost: 0.2 * float64(e.Servers())})
		}
	}
	type found struct {
		Pieces            []Piece
		Handover, Longest time.Duration
	}
	results, err := share.Each(ctx, tasks, w, func(ctx context.Context, i int) (found, error) {
		e, ttl := locks[i/len(o.TTLs)], o.TTLs[i%len(o.TTLs)]
		pieces, err := crashPieces(ctx, e, ttl, o.hold(ttl))
		if err != nil {
			return found{}, err
		}
		p, err := Count(e)
		return found{pieces, p.Handover, p.LongestHandover}, err
	})
	for i, r := range results {
		if r != nil {
			ttl := o.TTLs[i%len(o.TTLs)]
			all = append(all, Recovery{locks[i/len(o.TTLs)].ID, ttl, o.hold(ttl), r.Pieces, r.Handover, r.Longest})
		}
	}
	return all, err
}

// recoveryRace is c1, which crashes, and c2, which asks once.
func recoveryRace(ttl, hold time.Duration) race.Race {
	s := race.Standard()
	s.TTL, s.Horizon = ttl, 6*ttl+hold
	return crashRace(s, race.ClientSpec{Work: hold / 2, Tail: hold - hold/2})
}

// crashPieces divides a run of c1 at its events, and finds for each piece the time for which a
// crash blocks the lock.
func crashPieces(ctx context.Context, e lock.Entry, ttl, hold time.Duration) (pieces []Piece, err error) {
	m, err := newCrashMeter(e, recoveryRace(ttl, hold))
	if err != nil {
		return nil, err
	}
	defer m.close()
	times, err := m.events()
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(times); i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		piece := Piece{From: times[i-1], To: times[i]}
		inside := min((piece.To-piece.From)/4, 10*time.Microsecond) // off the events themselves
		for _, end := range []struct {
			crash, at time.Duration
			blocked   *time.Duration
		}{{piece.From + inside, piece.From, &piece.First}, {piece.To - inside, piece.To, &piece.Last}} {
			free, err := m.free(end.crash)
			if err != nil {
				return nil, err
			}
			switch *end.blocked = free; free {
			case Forever:
			case end.crash: // at once
				*end.blocked = 0
			default:
				*end.blocked = max(0, free-end.at)
			}
		}
		if piece.First == Forever || piece.Last == Forever { // of one of two ends: what is worse
			piece.First, piece.Last = Forever, Forever
		}
		pieces = append(pieces, piece)
	}
	return pieces, nil
}

// events returns the moments of a run without a crash, from c1's first to its last.
func (m *crashMeter) events() (times []time.Duration, err error) {
	alone, err := m.play(simulator.Never, m.settings.Horizon)
	if err != nil {
		return nil, err
	}
	for _, e := range alone {
		if e.Client == 1 && (len(times) == 0 || e.At > times[len(times)-1]) {
			times = append(times, e.At)
		}
		if e.Client == 1 && e.Kind == history.Released {
			break
		}
	}
	return times, nil
}

// freePrecision is that of the end of a lease.
const freePrecision = 50 * time.Microsecond

// free returns when c2 is inside first, if c1 crashes at a time; the time of the crash if it
// gets in at once.
func (m *crashMeter) free(crash time.Duration) (time.Duration, error) {
	first, last := crash+time.Microsecond, crash+5*m.settings.TTL
	switch in, err := m.asks(crash, first); {
	case err != nil:
		return 0, err
	case in > 0 && in-first < m.settings.TTL/10:
		return crash, nil
	}
	if in, err := m.asks(crash, last); err != nil || in == 0 {
		return Forever, err
	}
	inside := last
	_, err := bisect(first, last, freePrecision, func(at time.Duration) (bool, error) {
		in, err := m.asks(crash, at)
		if in > 0 {
			inside = min(inside, in)
		}
		return in > 0, err
	})
	return inside, err
}

// asks returns when c2 enters if it asks at a time; 0: it is refused.
func (m *crashMeter) asks(crash, at time.Duration) (time.Duration, error) {
	first := func(*history.Event) bool { return true } // a trigger fires once
	crashes := race.Trigger{On: first, Do: race.Inject(crash, faults.CrashOf(1))}
	events, err := m.play(at, at+m.settings.TTL/2+time.Second, crashes)
	return entered(events, 2), err
}
