package lock

import (
	"fmt"
)

// unknown says that the server may or may not have run command: an error of the
// network or the server, which the network's own words do not tie to a command.
func Unknown(command, key string, err error) error {
	return fmt.Errorf("algorithms: %s %q: %w", command, key, err)
}
