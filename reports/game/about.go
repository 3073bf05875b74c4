package game

import "slices"

// About returns at most a number of questions about some runs: locks in races. Wrong answers may come from other
// runs. Kinds of questions take turns, and so do runs, as far as there are any.
func (z *Quiz) About(cells [][2]string, most int) (all []*Question, err error) {
	fresh := slices.Clone(cells)
	for tried := 0; len(all) < most && tried < len(kinds); {
		kind := kinds[z.number%len(kinds)]
		z.number++
		tried++
		if kind.name == "survivor" { // it is about other locks
			continue
		}
		q, cell, err := z.one(kind.make, fresh)
		if q == nil && err == nil {
			q, cell, err = z.one(kind.make, cells)
		}
		if err != nil {
			return nil, err
		}
		if q == nil {
			continue
		}
		fresh = slices.DeleteFunc(fresh, func(c [2]string) bool { return c == cell })
		tried, q.Kind = 0, kind.name
		z.random.Shuffle(len(q.Answers), func(i, j int) { q.Answers[i], q.Answers[j] = q.Answers[j], q.Answers[i] })
		all = append(all, q)
	}
	return all, nil
}

// one returns a question of a kind that was not asked before, and the run that it is about; nil: there is none.
func (z *Quiz) one(
	ask func(z *Quiz, lock, race string) (*Question, error), cells [][2]string,
) (*Question, [2]string, error) {
	for _, i := range z.random.Perm(len(cells)) {
		q, err := ask(z, cells[i][0], cells[i][1])
		if err != nil || q != nil && !z.asked[q.key()] {
			if q != nil {
				z.asked[q.key()] = true
			}
			return q, cells[i], err
		}
	}
	return nil, [2]string{}, nil
}
