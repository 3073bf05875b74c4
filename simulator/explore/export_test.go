package explore

// SaveAlways has searches save at every layer, until restore is called.
func SaveAlways() (restore func()) {
	before := share
	share = 0
	return func() { share = before }
}
