package verdict

// Forget drops what was found so far and keeps what the judges need to judge
// what comes. A search forgets what it has reported, so that a state reached
// through harm is the same state as one reached without. Words then speak of
// what came after. FENCED looks back at an overlap: where a resource fences, do
// not forget.
func (s *Safety) Forget() { s.words = 0 }
