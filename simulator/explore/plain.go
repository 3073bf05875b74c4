package explore

// Plain says what a search does without. The zero value is the search that users make; without
// any reduction it is that of engine.go alone, with which tests compare.
type Plain struct {
	Symmetry     bool // every client is told apart from those that run the same code
	Transactions bool // an ensemble numbers every transaction, as a real one does, and not only creations
	Histories    bool // clients keep all that they have observed since they rested; so in lockstep
	Rests        bool // clients keep what they have observed when they rest and when they have ended, too
	Parts        bool // a state keeps what nothing that follows depends on, see drop; so in lockstep
	Clocks       bool // a state has the time of day wherever a clock was read, also if it only measures
	Faces        bool // each view is in a world with every other, and makes all moves in each; see faces.go
	Workers      bool // one goroutine computes what follows from the states; see lookahead.go
	Effects      bool // every eighth effect that is remembered is computed again, and is the same

	// For tests, which cannot wait for billions of states; 0: as many as there can be.
	IDs, States, Choices int
}

// Plainest does without all reductions of a search.
var Plainest = Plain{Symmetry: true, Transactions: true, Histories: true, Rests: true, Parts: true, Clocks: true, Workers: true}
