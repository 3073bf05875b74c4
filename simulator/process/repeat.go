package process

// Code that is not a function of what it observes, but of a random source, a variable of its
// package or the machine, shows when it runs a second time. Where its histories are found one
// after the other that happens by the way: to continue one of them, its beginning is repeated.
// The ends of histories are not repeated so.

// Repeat runs the code once more in every history in which it has run only once. Where it does
// something else the error is a *NondeterministicError. It runs the longest histories only: the
// shorter ones begin them. A Host runs each history twice by itself; with Merge, histories that their class
// does not follow go on in one way; see orders.
func (p *Process) Repeat(twins Twins) error {
	switch {
	case p.host != nil && p.merged != nil:
		return p.merged.try()
	case p.host != nil || p.noMemo:
		return nil
	}
	var trials []trial
	for _, at := range Longest(p) {
		if !p.checked.hasRepeated(at) {
			trials = append(trials, trial{at: at})
		}
	}
	return tryAll(p, trials, twins)
}

// Again runs the code once more in a history, in which it has observed something. Where it does something else the error is a
// *NondeterministicError.
func Again(p *Process, at uint32) error {
	if p.host != nil {
		defer p.stop() // nothing goes on from the end of a history as this host may have begun it: bubble.Host.OtherDates
	}
	did, err := p.rerun(at)
	if err != nil {
		return err
	}
	e := &p.entries[at]
	if did.inherit(&p.entries[e.Parent]); !did.sameOutcome(e) {
		return different(p, e, &did)
	}
	return nil
}

// ByChance executes a history of a Host's code, after which that has done something else at another time, elsewhere or for another client,
// again and again as it was. The error is a *NondeterministicError if it does something else then as well, or goes on in several ways: so that
// was not the reason.
func ByChance(p *Process, at uint32) error {
	if p.host == nil {
		return nil
	}
	if e := &p.entries[at]; e.Branching() >= 0 {
		return ByBranch(p, at, "what it does in one way only")
	}
	at = lastRun(p, at)
	for range runsByChance {
		if err := Again(p, at); err != nil {
			return err
		}
	}
	return nil
}

// runsByChance is the number of executions after which something that half of them do would have shown itself.
const runsByChance = 10

// Longest are the entries that no other one is known to follow from, but for roots.
func Longest(p *Process) (all []uint32) {
	for at := range uint32(len(p.entries)) {
		if e := &p.entries[at]; e.to == 0 && e.Parent != at {
			if ran := lastRun(p, at); ran == at || p.entries[ran].to == at && p.entries[ran].Parent != ran {
				all = append(all, ran)
			}
		}
	}
	return all
}

func (c *checked) hasRepeated(at uint32) bool {
	return int(at) < len(c.repeated) && c.repeated[at]
}

// noteRepeated notes that the code has run again in a history, and in those that begin it.
func (c *checked) noteRepeated(p *Process, at uint32) {
	for len(c.repeated) < len(p.entries) {
		c.repeated = append(c.repeated, false)
	}
	for ; p.entries[at].Parent != at && !c.repeated[at]; at = p.entries[at].Parent {
		c.repeated[at] = true
	}
}
