//go:build !race

package racetest

// Watched says whether the race detector watches. Runs then take ten times as long, and
// whatever plays pairs of all kinds plays a part of them that has each lock and each race.
const Watched = false
