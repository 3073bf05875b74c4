package simulator

import (
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// measure has clients that read their clocks use them only to measure how long something takes:
// the clock of each is set to zero, but for what it shows below a millisecond, when it is read
// for the first time since its process has begun or rested. The time of day
// is no part of a world then, and Traits.ReadsClock stays false unless a server's clock is
// read too. CheckMeasures tries whether the code does nothing else with its clock.
//
// It does not apply to clocks with a rate of their own. Worlds of before mean nothing any more.
func (s *Simulator) measure(on bool) {
	on = on && !s.readsClock
	if s.measures == on {
		return
	}
	s.measures, s.measured, s.stamps.seen = on, false, 0
	s.stamps.move(0, s.assumed.Ages)
	for _, p := range s.clients.procs {
		p.Clear()
	}
}

// Repeat runs the code of every client once more in each history in which it has run only once, on so many cores at most;
// see process.Process.Repeat. Code that does something else then is a
// *process.NondeterministicError.
func (s *Simulator) Repeat(cores int) error {
	for i, p := range s.clients.procs {
		if err := p.Repeat(twinsOf(s, i, cores-1)); err != nil {
			return err
		}
	}
	return nil
}

// twinsOf returns twins of a client's process, so many at most: none if its code does not run on coroutines, if its client library does more
// than read where it does what it has done before, or if there are time stamps, which are moved then.
func twinsOf(s *Simulator, client, most int) process.Twins {
	p, config := s.clients.procs[client], &s.config.Clients[client]
	if _, rereads := p.Code().Library().(process.Rereader); !rereads || config.Host != nil || s.stamps.seen > 0 || s.stamps.grain > 0 {
		return process.Twins{}
	}
	for len(s.clients.twins) <= client {
		s.clients.twins = append(s.clients.twins, nil)
	}
	twins := &s.clients.twins[client]
	for len(*twins) < most {
		*twins = append(*twins, s.newProcess(client+1, config))
	}
	return process.Twins{List: (*twins)[:max(most, 0)], ReadOnly: func(on bool) {
		if on {
			s.stamps.see()
		}
		s.room.ReadOnly = on
	}}
}

// Tried returns the number of histories whose orders were tried in one way; see process.Tried.
func Tried(s *Simulator) (n int) {
	for _, p := range s.clients.procs {
		n += process.Tried(p)
	}
	return n
}

// CheckMeasures tries the code that has read a clock to measure at other times of day, on so many cores at most; see
// process.Process.CheckMeasures. Where it does something else, the error is a
// *process.TimeOfDayError.
func (s *Simulator) CheckMeasures(cores int) error {
	if !s.measured {
		return nil
	}
	for i, p := range s.clients.procs {
		if err := p.CheckMeasures(s.symmetry.represents(i+1), twinsOf(s, i, cores-1)); err != nil {
			return err
		}
	}
	return nil
}

// readClock notes that client p reads its clock.
func (v *view) readClock(p *node.ClientProcess) {
	switch {
	case !v.s.measures:
		v.s.readsClock = true
	case !p.Clock.Measures:
		v.s.measured = true
		v.s.stamps.zero(&p.Clock, v.w.now)
	}
}
