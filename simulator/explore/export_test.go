package explore

// SaveAlways makes searches save at every layer, until restore is called.
func SaveAlways() (restore func()) {
	before := share
	share = 0
	return func() { share = before }
}

// SetLimits sets lower limits of the numbers that searches give, until restore is called.
func SetLimits(ids, states, choices int) (restore func()) {
	i, s, c := maxIDs, maxStates, maxChoices
	maxIDs, maxStates, maxChoices = ids, states, choices
	return func() { maxIDs, maxStates, maxChoices = i, s, c }
}
