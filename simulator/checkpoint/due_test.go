package checkpoint

import (
	"testing"
	"time"
)

// A search that is killed loses less than a minute, or a tenth of the time that it took,
// unless one write takes half of that; and at most half of the time is spent on saving.
func TestSavesOftenEnough(t *testing.T) {
	for _, cost := range []time.Duration{0, time.Second, 8 * time.Second, 25 * time.Second, 2 * time.Minute} {
		now := time.Unix(0, 0)
		f := &File{Config: Config{Now: func() time.Time { return now }}, began: now, last: now}
		const batch = 4 * time.Second
		safe, saving := now, time.Duration(0) // since when work would be lost
		for now.Sub(f.began) < 6*time.Hour {
			if f.Due() {
				now = now.Add(cost)
				saving += cost
				if lost, most := now.Sub(safe), loss(now.Sub(f.began)); lost > max(most, 2*cost+batch) {
					t.Fatalf("saving takes %v: after %v a kill loses %v", cost, now.Sub(f.began), lost)
				}
				safe, f.last, f.took, f.Kept.Has = now, now, cost, 1 // it stood still meanwhile
			}
			now = now.Add(batch)
		}
		if all := now.Sub(f.began); saving > all/2 {
			t.Errorf("saving takes %v: %v of %v were spent on it", cost, saving, all)
		}
	}
}
