package racetest

import "os"

// Exhaustive says whether tests are to do all that they can do, which takes minutes:
// make check sets LOCKLAB_EXHAUSTIVE=1. Otherwise they leave out the largest searches.
func Exhaustive() bool { return os.Getenv("LOCKLAB_EXHAUSTIVE") != "" }
