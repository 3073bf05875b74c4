//go:build !race

package effort

// Watched reports whether the race detector is on. Runs then take ten times as long.
const Watched = false
