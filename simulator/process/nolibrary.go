package process

// NoLibrary is the Library of a server whose client keeps nothing.
type NoLibrary struct{}

func (NoLibrary) Start()         {}
func (NoLibrary) Stop()          {}
func (NoLibrary) Memory() uint32 { return 0 }
func (NoLibrary) Close()         {}
