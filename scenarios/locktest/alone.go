package locktest

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"locklab/reports/text"
	"locklab/simulator/bubble"
	"locklab/simulator/history"
	"locklab/simulator/lists"
	"locklab/simulator/process"
	"locklab/simulator/zookeeper"
)

// alone plays one client without any fault, on a Redis, or on a ZooKeeper if its code speaks to that. It must enter;
// the key that it writes is the lock's.
func (p *plan) alone() error {
	f := &firstRun{
		database: p.bounds.Database != nil, named: p.bounds.Key, holder: p.entry.Holder,
		written: map[string]bool{}, gone: map[string]bool{}, lease: map[string]time.Duration{},
	}
	err := p.run.untilKnown(func() error { return f.play(p) })
	if other := (*process.ProtocolError)(nil); errors.As(err, &other) && other.ZooKeeper && !p.Ensemble {
		if err := p.onZooKeeper(); err != nil {
			return err
		}
		return p.alone()
	}
	missed := !f.entered && p.missed.Load() != nil
	if missed && errors.As(err, new(*process.NondeterministicError)) {
		err = nil // while the dials of a library fail, its goroutines fail requests in any order
	}
	switch {
	case f.began && !p.dialed.Load() && !errs(err):
		file, line := placeOf(p.run.code)
		return text.Errorf("locktest.alone.undialed", "line", fmt.Sprintf("%s:%d", filepath.Base(file), line))
	case err != nil:
		return err
	case missed:
		return text.Errorf("locktest.alone.missed", "address", *p.missed.Load())
	case !f.entered:
		return text.Errorf("locktest.alone.nobody")
	}
	if p.bounds.Key, err = f.key(p.bounds.Key, p.Ensemble); err != nil {
		return err
	}
	p.fences = p.fences || f.fences
	if p.lease = f.lease[p.bounds.Key]; p.Ensemble {
		p.lease, p.contents = f.asked, f.left
	}
	return nil
}

// held reports whether a lock is held, by the value of a key.
func (f *firstRun) held(key, value string) bool {
	record := f.holder != nil && (f.named == "" || f.named == key)
	return value != "" && (!record || f.holder(value) != "")
}

// errs reports whether the error of code that has made no connection of the lab's is about something else than that.
func errs(err error) bool {
	stall := (*bubble.StallError)(nil)
	return errors.As(err, new(*bubble.PanicError)) ||
		errors.As(err, &stall) && !strings.Contains(stall.Stack, "internal/poll.")
}

// A firstRun is what one client alone does, until it is done.
type firstRun struct {
	database bool
	named    string                    // Bounds.Key
	holder   func(value string) string // Bounds.Holder
	began    bool
	entered  bool
	fences   bool                     // with a fencing token
	keys     []string                 // created before it enters, in order
	written  map[string]bool          // keys, before it enters
	gone     map[string]bool          // deleted keys; true: after it has entered
	lease    map[string]time.Duration // of keys, when it enters; 0: without an end
	asked    time.Duration            // time-out of the session with a ZooKeeper
	left     zookeeper.Contents       // what it has left on that
}

// maxAlone bounds the steps of one client alone.
const maxAlone = 600

// play plays one client without any fault.
func (f *firstRun) play(p *plan) error {
	return p.simulate(p.study, true, func(s *simulation) error {
		f.began = true
		defer func() {
			if k, ok := s.Simulator.Kind().(*zookeeper.Kind); ok {
				f.left.Znodes = k.Znodes(s.Simulator.Server(s.run.World(), 1)).Alone()
				for _, l := range k.Asked() {
					f.asked = l.D
				}
			}
		}()
		for range maxAlone {
			choices := s.Simulator.Enabled(s.run.World(), nil)
			if len(choices) == 0 {
				return nil
			}
			events, err := s.step(choices[0])
			if err != nil {
				return err
			}
			for i := range events {
				if f.note(&events[i]); events[i].Kind == history.Done {
					return nil
				}
			}
		}
		return text.Errorf("locktest.alone.endless", "steps", maxAlone, "time", s.run.World().Now())
	})
}

// note notes what an event says of the lock's key.
func (f *firstRun) note(e *history.Event) {
	switch {
	case e.Kind == history.Enter:
		f.entered, f.fences = true, f.fences || e.Token > 0
	case e.Kind != history.Change || e.Client == 0:
	case !f.held(e.Key, e.After):
		if f.gone[e.Key] = f.entered; !f.entered {
			f.written[e.Key] = true
		}
	case !f.entered:
		f.written[e.Key] = true
		if !f.held(e.Key, e.Before) && !slices.Contains(f.keys, e.Key) {
			f.keys = append(f.keys, e.Key)
		}
		f.lease[e.Key] = 0
		if e.Until != history.Forever {
			f.lease[e.Key] = (e.Until - e.At - time.Millisecond).Round(time.Millisecond) // it lives through the last
			if f.database {
				f.lease[e.Key] += time.Millisecond
			}
		}
	}
}

// key returns the key of the lock, which the bounds may name.
func (f *firstRun) key(named string, ensemble bool) (string, error) {
	keys := f.keys
	if len(keys) > 1 { // the lock is what is deleted when it is released; counters stay
		if deleted := lists.Pick(keys, func(k string) bool { return f.gone[k] }); len(deleted) == 1 {
			keys = deleted
		}
	}
	switch {
	case named != "" && !f.written[named]:
		return named, text.Errorf("locktest.alone.otherkey", "key", fmt.Sprintf("%q", named),
			"keys", fmt.Sprintf("%q", slices.Sorted(maps.Keys(f.written))))
	case named != "":
		return named, nil
	case len(keys) == 1:
		return keys[0], nil
	case len(keys) == 0 && ensemble:
		return "", text.Errorf("locktest.alone.noznode")
	case len(keys) == 0:
		return "", text.Errorf("locktest.alone.nokey")
	}
	return "", text.Errorf("locktest.alone.keys", "keys", fmt.Sprintf("%q", keys))
}

// checkLease compares the lease that the code has got with the one of the bounds.
func (p *plan) checkLease() error {
	if p.Ensemble && p.lease != p.bounds.TTL {
		return text.Errorf("locktest.bounds.ttl.session", "ttl", p.bounds.TTL, "session", p.lease)
	}
	if p.lease > 0 && p.lease != p.bounds.TTL {
		return text.Errorf("locktest.bounds.ttl.lease", "ttl", p.bounds.TTL,
			"key", fmt.Sprintf("%q", p.bounds.Key), "lease", p.lease)
	}
	return nil
}
