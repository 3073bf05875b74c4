package verdict

// Forget drops what was found so far and keeps what the judges need to judge
// what comes. A search forgets what it has reported, so that a state reached
// through harm is the same state as one reached without. Words then speak of
// what came after; FENCED, which looks back at an overlap, cannot be told.
func (s *Safety) Forget() { s.words = 0 }
