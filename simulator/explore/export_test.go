package explore

// SaveAlways makes searches save at every layer, and within one after each so many arcs,
// until restore is called.
func SaveAlways(arcs int) (restore func()) {
	before := batchSize
	always, batchSize = true, arcs
	return func() { always, batchSize = false, before }
}

// SetLimits sets lower limits of the numbers that searches give, until restore is called.
func SetLimits(ids, states, choices int) (restore func()) {
	i, s, c := maxIDs, maxStates, maxChoices
	maxIDs, maxStates, maxChoices = ids, states, choices
	return func() { maxIDs, maxStates, maxChoices = i, s, c }
}
