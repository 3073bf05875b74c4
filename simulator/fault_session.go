package simulator

// HasSession says whether a ZooKeeper has a session of client c.
func (f FaultContext) HasSession(c int) bool {
	return f.s.ensemble != nil && f.s.ensemble.HasSession(f.w.ensemble[:], int8(c))
}

// EndSession has the ensemble end client c's session now, as if it had not heard
// from it, and close its connection.
func (f FaultContext) EndSession(c int8) (why string) {
	if _, why := f.client(c); why != "" {
		return why
	}
	if f.s.ensemble == nil {
		return "refused.session"
	}
	return f.s.ensemble.EndSession(f.s.view(f.w), f.w.ensemble[:], c)
}
