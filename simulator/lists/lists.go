// Package lists maps, filters and groups lists. An empty result is nil.
package lists

import "slices"

// Each returns the results of f.
func Each[T, R any](all []T, f func(T) R) (out []R) {
	for _, one := range all {
		out = append(out, f(one))
	}
	return out
}

// Pick returns those of a list that a function wants.
func Pick[T any](all []T, wants func(T) bool) (some []T) {
	for _, one := range all {
		if wants(one) {
			some = append(some, one)
		}
	}
	return some
}

// Indices returns the places of a list.
func Indices[T any](all []T) (places []int) {
	for i := range all {
		places = append(places, i)
	}
	return places
}

// Gather puts together what is the same, in the order of first ones.
func Gather[T any](all []T, same func(a, b T) bool) (groups [][]T) {
	for _, one := range all {
		n := slices.IndexFunc(groups, func(g []T) bool { return same(g[0], one) })
		if n < 0 {
			n, groups = len(groups), append(groups, nil)
		}
		groups[n] = append(groups[n], one)
	}
	return groups
}
