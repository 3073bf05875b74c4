package record

// Parse reads a line. The error says what is wrong with it.
func Parse(b []byte) (Line, error) { return new(parser).parse(b) }
