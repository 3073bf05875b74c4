package fleet

import (
	"os"
	"testing"

	"locklab/simulator/realserver"
)

// TestLoopbackIsLoopback: other machines do not reach the server of a coordinator's own.
func TestLoopbackIsLoopback(t *testing.T) {
	realserver.OnlyLoopback(t, os.Getpid(), loopback(t).Addr)
}
