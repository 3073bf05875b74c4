package servertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locklab/simulator/effort"
	"locklab/simulator/realserver"
)

// TestGivesMemoryBack: a PostgreSQL that is ended leaves no memory behind that the system has for it beside its
// processes.
func TestGivesMemoryBack(t *testing.T) {
	_, err := realserver.FindPostgreSQL()
	Need(t, err)
	dir := folder(t)
	p, err := realserver.StartPostgreSQL(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	written, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	const segment = 6 // the line with the key and the number of the segment
	number := strings.Fields(strings.Split(string(written), "\n")[segment])[1]
	if !hasSegment(t, number) {
		t.Fatalf("the system has no segment %s", number)
	}
	if p.Kill(); hasSegment(t, number) {
		t.Errorf("segment %s is left", number)
	}
}

// hasSegment reports whether the system has a segment of shared memory.
func hasSegment(t *testing.T, number string) bool {
	t.Helper()
	all, err := os.ReadFile("/proc/sysvipc/shm")
	effort.Need(t, err) // only Linux has /proc
	for line := range strings.Lines(string(all)) {
		if f := strings.Fields(line); len(f) > 1 && f[1] == number {
			return true
		}
	}
	return false
}
