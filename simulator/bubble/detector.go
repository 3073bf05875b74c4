package bubble

import (
	"cmp"
	"context"
	"runtime"
	"strings"
	"time"

	"locklab/simulator/internal/routine"
)

// The limits of processor time within which a bubble's goroutines come to rest. On a busy machine wall time is longer.
const (
	limit = 3 * time.Second // of code that runs, or is in a system call
	// outsideLimit is that of a goroutine that waits for something outside its bubble, and that nothing in the bubble
	// could wake: it may be a lock that another goroutine of the program holds for a moment.
	outsideLimit = 20 * time.Millisecond
	labLimit     = 10 * limit // what runs is not the code
)

// firstLook is the time, on the machine's clock, that code may run before the first look at its goroutines. Each look
// comes after twice the time of the one before: it stops all goroutines, of which thousands may be parked.
const firstLook = 30 * time.Millisecond

// A detector finds code that does not come to rest. It counts processor time, never time on the machine's clock.
//
// While goroutines of the code run, their share of the processor time of this process counts: others, as those of other
// searches, had the rest of it. A goroutine that waits uses none, and what it waits for may be in another process. So
// the detector works in its place: where processors are shared fairly, what it waits for could have worked as long.
type detector struct {
	client  int
	bubble  string
	count   time.Duration // processor time since the first look, by share
	worked  time.Duration // at the last look; 0: there was none
	blocked string        // the goroutine that waited at the last look, while nothing in the bubble ran; "": none
	since   time.Duration // the count when it was first seen
}

// await waits until the code rests, as reports has it, or the bubble has ended. The error is a *StallError: it is lost.
func (a *agent) await(reports <-chan struct{}) (ended bool, err error) {
	d := detector{client: a.client, bubble: a.bubble}
	look := time.NewTimer(firstLook)
	defer look.Stop()
	for pause := firstLook; ; pause *= 2 {
		select {
		case <-reports:
			return false, nil
		case <-a.ended:
			return true, nil
		case <-look.C:
		}
		stall, runs := d.look(routine.All(), Worked())
		switch {
		case stall != nil:
			a.lost = true
			return false, stall
		case runs:
			look.Reset(pause)
		default:
			go func() {
				work(pause)
				look.Reset(0)
			}()
		}
	}
}

// look counts what processors have worked since the last look, by all goroutines of this process, of which the one that
// looks is one. It returns what keeps the bubble from coming to rest, if the limit of that is over, and reports whether
// something in the bubble runs.
func (d *detector) look(all []routine.Routine, worked time.Duration) (stall *StallError, runs bool) {
	own, others := 0, 0 // goroutines that run
	var busy, blocked *routine.Routine
	for _, g := range all {
		switch inside := g.Bubble() == d.bubble; {
		case !inside && g.Runs():
			others++
		case !inside || g.Durable():
		case strings.Contains(g.Stack, "bubble.(*agent).run"):
			if g.Runs() {
				own++
			}
		case g.Runs():
			own, busy = own+1, &g
		case !g.Waits():
			busy = &g
		case blocked == nil:
			blocked = &g
		}
	}
	if d.worked > 0 {
		part := max(own, 1) // the detector's, if nothing else
		d.count += (worked - d.worked) * time.Duration(part) / time.Duration(max(part+others-1, 1))
	}
	d.worked = worked
	name := ""
	if own == 0 && busy == nil && blocked != nil {
		name = blocked.Name
	}
	if name != d.blocked {
		d.blocked, d.since = name, d.count
	}
	most, count := limit, d.count
	seen := cmp.Or(blocked, busy)
	switch {
	case name != "":
		most, count = outsideLimit, d.count-d.since
	case seen == nil:
		most, seen = labLimit, &routine.Routine{}
	}
	if count < most {
		return nil, own > 0
	}
	return &StallError{Client: d.client, After: most, State: seen.Does(), Stack: seen.Stack}, own > 0
}

// Within returns ctx, which ends with cause context.DeadlineExceeded when processors worked so long; up to 0: never.
func Within(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	if most > 0 {
		end, look := Worked()+most, time.NewTicker(100*time.Millisecond)
		go func() {
			defer look.Stop()
			for Worked() < end {
				select {
				case <-look.C:
				case <-ctx.Done():
					return
				}
			}
			cancel(context.DeadlineExceeded)
		}()
	}
	return ctx, func() { cancel(nil) }
}

// work returns when processors have worked so long for this process.
func work(d time.Duration) {
	for end := Worked() + d; Worked() < end; {
		runtime.Gosched()
	}
}

// stuck returns where code stands that waits for nothing that could come.
func (a *agent) stuck() *StallError {
	e := &StallError{Client: a.client, Stuck: true}
	for _, g := range routine.All() {
		if g.Bubble() == a.bubble && strings.Contains(g.Stack, "bubble.(*Handle).begin") {
			e.Stack = g.Stack
			if e.State, _, _ = strings.Cut(g.State, " ("); strings.Contains(g.Stack, "begin.func1()") {
				break // the program's own
			}
		}
	}
	return e
}
