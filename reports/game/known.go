package game

import (
	"context"
	"fmt"
)

const (
	knownLevels = 5  // whose first positions are known
	knownOfEach = 70 // so many of each, or a few more
)

// Known returns what a page asks for while its engine loads, by the words of the request: lessons of some names, of all
// locks and of all races, and the first levels up to some positions. A position is answered by its link, under which it
// stands once.
func (t *Table) Known(ctx context.Context, names []string) (map[string]any, error) {
	all := map[string]any{}
	for _, l := range locks() {
		names = append(names, l.ID)
	}
	for _, r := range races() {
		names = append(names, r.ID)
	}
	for _, name := range names {
		answer, err := t.do(ctx, Request{Do: "lesson", Name: name})
		if err != nil {
			return nil, err
		}
		all["lesson|"+name] = answer
	}
	for _, l := range Levels()[:knownLevels] {
		if err := t.knowLevel(ctx, all, &l); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// knowLevel adds the first positions of a level, what is said of each, and where its moves lead.
func (t *Table) knowLevel(ctx context.Context, all map[string]any, l *Level) error {
	ask := func(r Request) (any, string, error) {
		answer, err := t.do(ctx, r)
		if p, ok := answer.(*Position); ok && err == nil {
			return p, p.Link, nil
		}
		return answer, "", err
	}
	first, start, err := ask(Request{Do: "level", Number: l.Number})
	all[fmt.Sprint("level|", l.Number)], all["at|"+start] = start, first
	for open, count := []any{first}, 0; err == nil && len(open) > 0 && count < knownOfEach; open = open[1:] {
		p := open[0].(*Position)
		about := p.Link + "|" + string(l.Harm)
		for _, do := range []string{"doom", "hint", "cannot"} {
			if p.End == nil || do == "doom" {
				if answer, _, err := ask(Request{Do: do, Link: p.Link, Harm: l.Harm}); err == nil { // else the engine says it
					all[do+"|"+about] = answer
				}
			}
		}
		for n := range p.Moves {
			if p.End != nil {
				break
			}
			var next any
			var link string
			if next, link, err = ask(Request{Do: "move", Link: p.Link, Harm: l.Harm, Number: n}); err != nil {
				break
			}
			all[fmt.Sprint("move|", about, "|", n)], all["undo|"+link+"|"+string(l.Harm)] = link, p.Link
			if all["at|"+link] == nil {
				open, count = append(open, next), count+1
				all["at|"+link] = next
			}
		}
	}
	return err
}
