package game

import (
	"cmp"
	"context"
	"fmt"

	"locklab/algorithms"
	"locklab/simulator/lists"
)

const knownLevels, knownOfEach = 5, 70 // the levels whose first positions are known, and about how many of each

// Known returns what a page asks for while its engine loads, by the words of the request: lessons of some names, of the
// locks of articles and of all races, some runs, and the first levels up to some positions, once each by its link.
func (t *Table) Known(ctx context.Context, names []string, runs []Cell) (all map[string]any, err error) {
	all = map[string]any{}
	know := func(r Request, key ...any) (p *Position, isNew bool) {
		answer, failed := t.do(ctx, r)
		if err = cmp.Or(err, failed); failed != nil {
			return nil, false
		}
		if p, _ = answer.(*Position); p != nil {
			answer, isNew = p.Link, all["at|"+p.Link] == nil
			all["at|"+p.Link] = p
		}
		all[fmt.Sprint(key...)] = answer
		return p, isNew
	}
	for _, e := range algorithms.All() {
		if e.Article != "" {
			names = append(names, e.ID)
		}
	}
	names = append(names, lists.Each(races(), func(r Named) string { return r.ID })...)
	for _, name := range names {
		know(Request{Do: "lesson", Name: name}, "lesson|", name)
	}
	for _, c := range runs {
		know(Request{Do: "race", Lock: c.Lock, Race: c.Race}, "race|", c.Lock, "|", c.Race)
	}
	for _, l := range Levels()[:knownLevels] {
		first, _ := know(Request{Do: "level", Number: l.Number}, "level|", l.Number)
		for open, count := []*Position{first}, 0; err == nil && len(open) > 0 && count < knownOfEach; open = open[1:] {
			r := Request{Link: open[0].Link, Harm: l.Harm}
			about := r.Link + "|" + string(r.Harm)
			ask := func(do string) { r.Do = do; know(r, do+"|", about) }
			if ask("lost"); open[0].End != nil {
				continue
			}
			ask("cannot")
			r.Do = "hint"
			if hint, none := t.do(ctx, r); none == nil { // else no way leads on
				all["hint|"+about] = hint
			}
			for r.Do, r.Number = "move", 0; r.Number < len(open[0].Moves); r.Number++ {
				next, isNew := know(r, "move|", about, "|", r.Number)
				if err == nil && isNew {
					open, count = append(open, next), count+1
					all["undo|"+next.Link+"|"+string(r.Harm)] = r.Link
				}
			}
		}
	}
	return all, err
}
