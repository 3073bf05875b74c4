package record

// Parse reads a line. The error says what is wrong with it.
func Parse(b []byte) (Line, error) { return parse(b) }

// Events are all events.
func Events() []Event { return allEvents }
