package record

// Parse reads a line. The error says what is wrong with it.
func Parse(b []byte) (Line, error) { return new(parser).parse(b) }

// Keep has a judge keep so many leases whole.
func (j *Judge) Keep(leases int) { j.silent.recent = make([]*section, leases) }
