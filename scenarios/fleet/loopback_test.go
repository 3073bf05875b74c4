package fleet

import (
	"os"
	"testing"

	"locklab/simulator/realserver/servertest"
)

// TestLoopbackIsLoopback: other machines do not reach the server of a coordinator's own.
func TestLoopbackIsLoopback(t *testing.T) {
	servertest.OnlyLoopback(t, os.Getpid(), loopback(t).Addr)
}
