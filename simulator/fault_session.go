package simulator

// HasSession says whether a server has a session of client c.
func (f FaultContext) HasSession(c int) bool {
	return f.s.sessions != nil && f.s.sessions.HasSession(f.s.view(f.w), int8(c))
}

// EndSession has the server end client c's session now, as if it had not heard
// from it, and close its connection.
func (f FaultContext) EndSession(c int8) (why string) {
	if _, why := f.client(c); why != "" {
		return why
	}
	if f.s.sessions == nil {
		return "refused.session"
	}
	return f.s.sessions.EndSession(f.s.view(f.w), c)
}
