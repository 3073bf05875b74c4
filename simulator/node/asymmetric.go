package node

import "fmt"

// AsymmetricError says that clients cannot change places: something can tell which is
// which. Exactly one of its fields is set.
type AsymmetricError struct {
	Command []string // a server treats clients otherwise that differ in their names only
	Reply   string   // a reply names one of more than two clients, so that who reads it knows which is which
	Does    string   // what one client does and another one in its place would not do
	Session bool     // an ensemble knows clients by the numbers of their sessions
}

func (e *AsymmetricError) Error() string {
	switch {
	case e.Command != nil:
		return fmt.Sprintf("simulator: what a server does at %q depends on which client is which, so clients cannot change places", e.Command)
	case e.Reply != "":
		return fmt.Sprintf("simulator: the reply %s names a client, so clients cannot change places", e.Reply)
	case e.Does != "":
		return fmt.Sprintf("simulator: one client asks for %s, another in its place does not, so clients cannot change places", e.Does)
	}
	return "simulator: a server knows clients by their sessions, so they cannot change places"
}

// StampError says that what a server does at a command depends on the time of day, by the time stamps in its data
// and in the command.
type StampError struct{ Command []string }

func (e *StampError) Error() string {
	return fmt.Sprintf("simulator: what a server does at %q depends on the time of day", e.Command)
}

// CountError says that what a server does at a command, or code after a reply, depends on how far a counter has counted.
type CountError struct {
	Command []string // nil: of code
	Reply   string
}

func (e *CountError) Error() string {
	if e.Command == nil {
		return fmt.Sprintf("simulator: what the code does after the reply %s depends on how far a counter has counted", e.Reply)
	}
	return fmt.Sprintf("simulator: what a server does at %q depends on how far a counter has counted", e.Command)
}

// DrawnError says that what a server does at a command depends on what values are that code draws by chance, and not only on which of them are
// equal.
type DrawnError struct{ Command []string }

func (e *DrawnError) Error() string {
	return fmt.Sprintf("simulator: what a server does at %q depends on what the values in it are that the code draws by chance", e.Command)
}
