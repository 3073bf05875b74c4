package verdict

// Forget drops the verdicts found so far and keeps what the judges need for the
// events to come; Words then lists only what comes after. A search calls it after it
// has reported the verdicts, so that a state reached through harm equals one reached
// without. Do not call it where the resource can refuse: FENCED depends on whether a
// stale write was accepted before.
func (s *Safety) Forget() { s.words = 0 }
