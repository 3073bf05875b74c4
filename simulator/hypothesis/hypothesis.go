// Package hypothesis lists what a search takes for granted of code and servers, so that two states may count as one.
// Each is checked on the code and on the servers, in the packages that execute them; what refutes one ends a pass of
// the search with a *[Refuted], and the next pass begins with a weaker [Set] (counterexample-guided abstraction
// refinement; Clarke, Grumberg, Jha, Lu and Veith 2000). None becomes stronger again.
package hypothesis

import (
	"fmt"
	"time"
)

// An ID is the place of a hypothesis in [All].
type ID uint8

const (
	Alike ID = iota
	Peers
	Merged
	Measures
	Aged
	Counted
	Creations
	Ordered
	Rests
	Drawn
	count
)

// A Set holds what is taken for granted. The zero value is nothing.
type Set struct {
	Symmetric int     // Alike: so many clients, from the first; below 2: none are
	Peers     bool    // needs Merging
	Merging   Merging // Merged
	Measures  bool    // Measures
	Ages      Ages    // Aged; needs Measures
	Counters  int     // Counted: from this on; 0: they are told apart. Needs Merging
	Creations bool    // Creations
	Ordered   bool    // needs Creations
	Rests     bool    // Rests
}

// Usual are those of a new simulator.
var Usual = Set{Rests: true}

// Ages bound the ages of time stamps that code and servers can tell apart (extrapolation; Behrmann, Bouyer, Larsen and
// Pelánek 2004). The zero value does not.
type Ages struct {
	Ancient time.Duration // to a client all stamps are one that were so old when it first read its clock
	Span    time.Duration // no client measures for longer; servers do not distinguish stamps older than both together
	Most    time.Duration // of either, when it is doubled
}

// Merging selects the histories of observations that may be one.
type Merging uint8

const (
	NoMerging      Merging = iota
	MergeOrders            // in which every thread has observed the same, in whatever order of the threads
	MergeHistories         // in which every thread has observed equally much
)

// A Hypothesis is one of the list.
type Hypothesis struct {
	ID         ID
	Identifies string // what it makes one, for a reader of the list
	Checked    string // how, and where
	// Line is the key of what a certificate says of it where it holds; "": nothing, as it does not bear on the lock.
	Line func(s *Set, m Met) string
	// Weaken leaves less of it in a set, after a counterexample.
	Weaken func(s *Set, r *Refuted)
}

// Met has what a search has met on which some hypotheses bear.
type Met struct {
	Measures     bool          // code reads its clock to measure
	Grain        time.Duration // above 0: and writes down what it shows, by whole grains
	Transactions bool          // an ensemble numbers them
}

// All are the hypotheses, in the order in which certificates name them.
var All = [count]Hypothesis{
	{Alike, "clients that run the same code, in each other's places (symmetry reduction)",
		"of each history of a client, on the code of the others (simulator.Symmetry.Client); " +
			"of each effect, on the servers (memo.Effects)",
		func(s *Set, _ Met) string { return when(s.Symmetric > 1, "symmetric") },
		apart},
	{Peers, "the other clients that an answer names, where there are more than two, " +
		"and other attempts of its own (data independence)",
		"of each history of the first client, on its code (simulator.Symmetry.CheckPeers); " +
			"of each effect, with the tokens of other attempts (memo.Effects)",
		nil, apart},
	{Merged, "histories with equal future behaviour (bisimulation)",
		"of each member of a class, on the code, for all that the class observes (process.Process.Merge)",
		func(s *Set, _ Met) string { return [...]string{"", "orders", "histories"}[s.Merging] },
		func(s *Set, r *Refuted) {
			if r.End { // else the process has refined its classes
				s.Merging--
			}
		}},
	{Measures, "times of day, to clients that use their clocks only to measure how long something takes " +
		"(time-translation invariance)",
		"of each history with readings, on the code, at other times of day (process.Process.CheckMeasures); " +
			"of each effect with time stamps (memo.Effects)",
		func(s *Set, m Met) string {
			return when(m.Grain > 0, "stamps") + when(s.Measures && m.Measures && m.Grain == 0, "measures")
		}, func(s *Set, r *Refuted) {
			if r.Command == nil || !older(&s.Ages.Ancient, s.Ages.Most) {
				s.Measures = false
			}
		}},
	{Aged, "time stamps that are older than Ages (extrapolation)",
		"where a request is executed, a reply received or a state entered (simulator.Stamps); " +
			"of code and servers, with stamps that are older still",
		nil, func(s *Set, r *Refuted) {
			age := &s.Ages.Ancient
			if r.Span {
				age = &s.Ages.Span
			}
			if !older(age, s.Ages.Most) {
				s.Measures = false
			}
		}},
	{Counted, "the numbers of a counter from Counters on, as those of fencing tokens",
		"of each effect and of each history of the first client, with higher numbers " +
			"(redisnode, database, simulator.Symmetry.CheckPeers)",
		nil, func(s *Set, _ *Refuted) { s.Counters = map[int]int{CountedFrom: CountedElse}[s.Counters] }},
	{Creations, "transactions that create nothing: an ensemble numbers no others",
		"nowhere: it follows from what requests can ask for; code that opens connections of its own is not assumed to",
		func(s *Set, m Met) string { return when(s.Creations && m.Transactions, "creations") }, nil},
	{Ordered, "numbers that an ensemble counts, and those of clients' tokens, in the same order (data independence)",
		"of each history, on the code, where it is given other numbers (simulator.Symmetry.Recounted, CheckOrder)",
		nil, func(s *Set, _ *Refuted) { s.Ordered = false }},
	{Rests, "what a process at rest has observed, but for the memory of its lock, which is read (dead variables)",
		"of histories evenly drawn, on the code of another process that has made other attempts before " +
			"(simulator.Symmetry.CheckRests)",
		func(s *Set, _ Met) string { return when(s.Rests, "rests") },
		func(s *Set, _ *Refuted) { s.Rests = false }},
	{Drawn, "values that code draws by chance, which names stand for",
		"of each effect, with values as code draws them (memo.Effects); of code, in bubbles (bubble.Drawn)", nil, nil},
}

// Counters stand still at the first of these or, where that is refuted, as by a lock whose value is "1", at the second.
const CountedFrom, CountedElse = 1, 3

// apart tells clients apart. Where they are, what is refuted depends on more than which is which.
func apart(s *Set, _ *Refuted) {
	s.Ordered = s.Ordered && s.Symmetric > 0
	s.Symmetric = 0
}

func when(is bool, key string) string {
	if is {
		return key
	}
	return ""
}

// older doubles an age, up to most; false: it is 0, or was most.
func older(age *time.Duration, most time.Duration) bool {
	if *age == 0 || *age >= most {
		return false
	}
	*age = min(2**age, most)
	return true
}

// Lines are the keys of what a certificate says of a set.
func (s *Set) Lines(m Met) (keys []string) {
	for _, h := range All {
		if h.Line != nil {
			if key := h.Line(s, m); key != "" {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// A Refuted is the error that a hypothesis fails: code, or a server, does something else where it should do the same.
type Refuted struct {
	Of      ID
	Command []string      // of a server that does: at this command
	Reply   string        // of code that does: after this reply
	Client  int           // of code, from 1; 0: of any
	Was, Is string        // what code does, and what it does elsewhere; "": not known
	By      time.Duration // Measures, Aged: with all readings and stamps so much later, or earlier
	Span    bool          // Aged: it measures for too long; else a stamp is too old
	Session bool          // Alike: an ensemble knows clients by the numbers of their sessions
	End     bool          // Merged: there are too many histories to compare, or too many that differ
}

func (r *Refuted) Error() string { return "simulator: " + r.text() }

func (r *Refuted) text() string {
	switch {
	case r.Of == Alike && r.Command != nil, r.Of == Peers && r.Command != nil:
		return fmt.Sprintf("what a server does at %q depends on which client is which, "+
			"so clients cannot change places", r.Command)
	case r.Of == Alike && r.Was != "":
		return fmt.Sprintf("one client asks for %s, another in its place does not, "+
			"so clients cannot change places", r.Was)
	case r.Of == Alike && r.Session:
		return "a server knows clients by their sessions, so they cannot change places"
	case r.Of == Alike, r.Of == Peers:
		return fmt.Sprintf("the reply %s names a client, so clients cannot change places", r.Reply)
	case r.Of == Merged && r.Was == "":
		return fmt.Sprintf("too many histories of c%d are to be compared", r.Client)
	case r.Of == Merged:
		return fmt.Sprintf("what c%d does depends on what it has observed before: %s, or %s", r.Client, r.Was, r.Is)
	case r.Of == Measures && r.Command != nil:
		return fmt.Sprintf("what a server does at %q depends on the time of day", r.Command)
	case r.Was != "" && (r.Of == Measures || r.Of == Aged):
		return fmt.Sprintf("what c%d does depends on the time of day: %s, and %v later %s", r.Client, r.Was, r.By, r.Is)
	case r.Of == Aged && r.Command == nil:
		return "servers hold two different time stamps that are older than what is assumed"
	case r.Of == Aged:
		return fmt.Sprintf("%q has, or receives, a time stamp that is older than what is assumed", r.Command)
	case r.Of == Counted && r.Command == nil:
		return fmt.Sprintf("what the code does after the reply %s depends on how far a counter has counted", r.Reply)
	case r.Of == Counted:
		return fmt.Sprintf("what a server does at %q depends on how far a counter has counted", r.Command)
	case r.Of == Ordered:
		return fmt.Sprintf("the code does %s, and %s after other numbers in the same order", r.Was, r.Is)
	case r.Of == Rests:
		return fmt.Sprintf("after a rest the code does %s, and %s if its process is the same", r.Was, r.Is)
	}
	return fmt.Sprintf("what a server does at %q depends on what the values in it are "+
		"that the code draws by chance", r.Command)
}
