package redis_test

import (
	"errors"
	"strconv"
	"testing"

	"locklab/algorithms/lock"
)

// Where new Long(…) throws, Acquire returns an error that says why.
func TestGetSetForeignValue(t *testing.T) {
	_, s, a, _ := pair(t, "getset")
	must(s.admins[0].Set(t.Context(), "lock", "binghe", 0).Result())(t)
	_, err := a.Acquire(t.Context(), "lock")
	if !errors.Is(err, strconv.ErrSyntax) || errors.Is(err, lock.ErrNotAcquired) {
		t.Errorf("Acquire: %v, want %v", err, strconv.ErrSyntax)
	}
}
