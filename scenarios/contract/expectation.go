package contract

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locklab/algorithms/lock"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// An Expectation is the result that a lock must have in a race, within a search's bounds, or for any number of clients.
type Expectation struct {
	File   string // the contract, as the user named the file; "": made by hand
	Line   int    // of File; where the expectation is derived, the line that it follows from
	Lock   lock.Entry
	Race   race.Race // with an empty ID: Bounds are to be searched
	Bounds search.Bounds
	// Attempts is "any" or once, of any number of clients: a proof within Bounds, in place of the search; "": none.
	Attempts string
	Expected []ExpectedVerdict // all that must come about; anything else must not. nil: the contract says nothing
	Instants bool              // the code compares times: what it comes to is known of the instants searched only
	// Why is the reason that the line gives: a key of the catalogues of texts (there with the prefix "why."), in a
	// user's contract also free words. It is empty where the line gives none, and where the expectation is derived.
	Why race.Reason
	// Derived: no line says it. N/A: the race does not apply to a lock with its profile under [locks]; HOLDS: it does.
	Derived bool
}

// An ExpectedVerdict is a verdict that must come about, or has come about.
type ExpectedVerdict struct {
	Verdict verdict.Word
	Par     int // of a search: the fewest faults with which it comes about; below 0: played races and HOLDS have none
}

// noPar is the Par of verdicts that have none.
const noPar = -1

// String is "OVERLAP@1", or "HOLDS" where there is no par.
func (v ExpectedVerdict) String() string {
	if v.Par < 0 {
		return string(v.Verdict)
	}
	return string(v.Verdict) + "@" + strconv.Itoa(v.Par)
}

// instants stands after the verdicts of a row that is about the instants searched.
const instants = "instants"

// FormatVerdicts writes verdicts as a contract has them.
func FormatVerdicts(list []ExpectedVerdict, atInstants bool) string {
	s := lists.Each(list, ExpectedVerdict.String)
	if atInstants && s != nil {
		s = append(s, instants)
	}
	return strings.Join(s, " ")
}

// IsRace reports whether the expectation is about a race.
func (e *Expectation) IsRace() bool { return e.Race.ID != "" }

// IsProof reports whether the expectation is about any number of clients.
func (e *Expectation) IsProof() bool { return e.Attempts != "" }

// IsSearch reports whether the expectation is about a search, and neither about a race nor about a proof.
func (e *Expectation) IsSearch() bool { return !e.IsRace() && !e.IsProof() }

// Words are the expected verdicts without their par, in the order of the line; nil: the contract says nothing.
func (e Expectation) Words() []verdict.Word { return wordsOf(e.Expected) }

func wordsOf(list []ExpectedVerdict) []verdict.Word {
	return lists.Each(list, func(v ExpectedVerdict) verdict.Word { return v.Verdict })
}

// find returns what is expected of a verdict; nil: it must not come about.
func (e *Expectation) find(w verdict.Word) *ExpectedVerdict {
	if i := slices.Index(wordsOf(e.Expected), w); i >= 0 {
		return &e.Expected[i]
	}
	return nil
}

// Subject is the ID of the race, or the bounds of the search without those that have their usual values. It contains
// neither spaces nor slashes: it can be part of the name of a test.
func (e *Expectation) Subject() string {
	if e.IsRace() {
		return e.Race.ID
	}
	first, usual := e.Bounds.Items("clients", "attempts"), UsualBounds()
	if e.IsProof() {
		first, usual = []string{"clients=any", "attempts=" + e.Attempts}, search.ProofBounds()
	}
	return strings.Join(slices.Concat(first, e.unusual(usual), []string{"budget=" + e.Bounds.Faults()}), ",")
}

// unusual are the bounds that are not as in usual, but for those that are always named.
func (e *Expectation) unusual(usual search.Bounds) []string {
	b := e.Bounds
	usual.Clients, usual.Attempts, usual.Budget, usual.Endless = b.Clients, b.Attempts, b.Budget, b.Endless
	return b.Unlike(usual)
}

// Name is "lock/subject". No two expectations of a contract have the same.
func (e *Expectation) Name() string { return e.Lock.ID + "/" + e.Subject() }

// Command is the command line that plays the race, or does the search, again.
func (e *Expectation) Command() string {
	switch {
	case e.IsProof():
		return "locklab prove " + e.Lock.ID + " " + search.AsFlags(
			append(e.unusual(search.ProofBounds()), "budget="+e.Bounds.Faults())...)
	case e.IsRace():
		want := lists.Each(e.Expected, func(v ExpectedVerdict) string { return strings.ToLower(v.String()) })
		return fmt.Sprintf("locklab run %s %s --expect %s", e.Lock.ID, e.Race.ID, strings.Join(want, ","))
	}
	return "locklab explore " + e.Lock.ID + " " + e.Bounds.Flags()
}

// UsualBounds are values of bounds that a [search] section leaves out. The limit keeps a search to some 200 MB.
func UsualBounds() search.Bounds {
	b := search.DefaultBounds()
	b.Budget, b.MaxStates = "", 4_000_000
	return b
}

// sameWords compares verdicts in whatever order.
func sameWords(a, b []verdict.Word) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
