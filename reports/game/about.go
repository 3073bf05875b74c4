package game

// About returns at most a number of questions about some runs: locks in races. Wrong answers may come from other
// runs. Question n has another kind than question n-1, as far as there are any.
func (z *Quiz) About(cells [][2]string, most int) (all []*Question, err error) {
	for tried := 0; len(all) < most && tried < len(kinds); {
		kind := kinds[z.number%len(kinds)]
		z.number++
		q, err := (*Question)(nil), error(nil)
		if kind.name != "survivor" { // it is about other locks
			q, err = z.one(kind.make, cells)
		}
		if err != nil {
			return nil, err
		}
		if tried++; q == nil {
			continue
		}
		tried, q.Kind = 0, kind.name
		z.random.Shuffle(len(q.Answers), func(i, j int) { q.Answers[i], q.Answers[j] = q.Answers[j], q.Answers[i] })
		all = append(all, q)
	}
	return all, nil
}

// one returns a question of a kind that was not asked before; nil: there is none.
func (z *Quiz) one(ask func(z *Quiz, lock, race string) (*Question, error), cells [][2]string) (*Question, error) {
	for _, i := range z.random.Perm(len(cells)) {
		q, err := ask(z, cells[i][0], cells[i][1])
		if err != nil {
			return nil, err
		}
		if q != nil && !z.asked[q.key()] {
			z.asked[q.key()] = true
			return q, nil
		}
	}
	return nil, nil
}
