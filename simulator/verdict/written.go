package verdict

import (
	"errors"
	"fmt"
	"regexp"

	"locklab/simulator/internal/codec"
)

// codecPath is the path of a field of Safety.
var codecPath = regexp.MustCompile(`^(reading|overlap|staleWrite|fence|wrongDel|lie|met|answered|endless|words)(\.[a-z]\w*|\.\d+)*$`)

// In texts every client has the name that it has in tokens, c1. and the like, so that renaming texts renames the judges.

// setNames are the sets of clients, in their order.
var setNames = [...]string{"acquiring", "inside", "leaving", "releasing", "dead", "asking", "decided", "had", "lacked", "readers", "met", "newest", "outdated", "refused"}

// clientName is client c in texts; none: no client made the key.
func (c client8) name() string {
	if c == nobody {
		return "none"
	}
	return fmt.Sprintf("c%d.", c)
}

// byClient are the fields that have something for each client, and owners those that are a client.
func (s *Safety) byClient() map[string]*[MaxClients]uint8 {
	return map[string]*[MaxClients]uint8{"made": &s.reading.made, "former": &s.reading.former}
}

func (s *Safety) owners() map[string]*client8 {
	all := map[string]*client8{"last.by": &s.staleWrite.last.by, "other.by": &s.staleWrite.other.by}
	for n := range s.reading.grant {
		all[fmt.Sprint("owner.", n)] = &s.reading.grant[n].owner
		for i := range s.reading.copied[n] {
			all[fmt.Sprint("copied.", n, ".", i)] = &s.reading.copied[n][i].owner
		}
	}
	return all
}

// Write returns what the judges know in texts: a set by its members (inside.c1.), a key by its owner (owner.0: c1.), and the rest by
// the paths of its fields; see package codec.
func (s Safety) Write() map[string]string {
	named := map[string]string{}
	for i, set := range s.sets() {
		for ; *set != 0; *set &= *set - 1 {
			named[setNames[i]+"."+set.first().name()] = "true"
		}
	}
	for what, leases := range s.byClient() {
		for c, lease := range leases {
			if lease != 0 {
				named[what+"."+client8(c+1).name()] = fmt.Sprint(lease)
			}
		}
		*leases = [MaxClients]uint8{}
	}
	for what, owner := range s.owners() {
		if *owner != 0 {
			named[what], *owner = owner.name(), 0
		}
	}
	for path, text := range codec.Leaves(s) {
		named[path] = text
	}
	return named
}

// ReadSafety reads what Write has written.
func ReadSafety(written map[string]string) (s Safety, err error) {
	rest := map[string]string{}
	for path, text := range written {
		rest[path] = text
	}
	take := func(path string) string { defer delete(rest, path); return rest[path] }
	if s, err = codec.FromLeaves[Safety](fields(rest)); err != nil {
		return s, err
	}
	for c := client8(1); c <= MaxClients; c++ {
		for i, set := range s.sets() {
			if take(setNames[i]+"."+c.name()) == "true" {
				set.add(c)
			}
		}
		for what, leases := range s.byClient() {
			_, _ = fmt.Sscan(take(what+"."+c.name()), &leases[c-1])
		}
		for what, owner := range s.owners() {
			if rest[what] == c.name() {
				delete(rest, what)
				*owner = c
			}
		}
	}
	for what, owner := range s.owners() {
		if rest[what] == nobody.name() {
			delete(rest, what)
			*owner = nobody
		}
	}
	if len(rest) > 0 {
		err = errors.New("verdict: what judges know is written otherwise")
	}
	return s, err
}

// fields takes those texts out of written that are fields of codec, which begin with the judge.
func fields(written map[string]string) map[string]string {
	all, known := map[string]string{}, codecPath
	for path, text := range written {
		if known.MatchString(path) {
			all[path] = text
			delete(written, path)
		}
	}
	return all
}
