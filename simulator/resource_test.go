package simulator_test

import (
	"math/rand/v2"
	"testing"

	locks "locklab/algorithms/database"
	"locklab/simulator"
	"locklab/simulator/database"
	"locklab/simulator/history"
)

// TestGuardsAreStatements: the resource takes and refuses what the statements of package algorithms/database do on a row.
func TestGuardsAreStatements(t *testing.T) {
	number := func(n int) database.Value { return database.IntegerValue(int64(n)) }
	columns := func(names ...string) (all []database.Column) {
		for _, n := range names {
			all = append(all, database.Column{Name: n, Type: database.Integer})
		}
		return all
	}
	tables := []database.Table{
		{Name: "accounts", Key: []string{"id"}, Columns: columns("id", "balance", "version", "token"), Rows: [][]database.Value{{number(1), number(0), number(0), number(0)}}},
		{Name: "payments", Key: []string{"id"}, Columns: columns("id", "amount")},
	}
	for _, test := range []struct {
		guard       history.Guard
		dialect     database.Dialect
		read, write string
		args        func(amount, base, token int) []database.Value // of write
	}{
		{history.CompareAndSet, database.MariaDB, "", locks.WriteByVersion, func(a, b, _ int) []database.Value { return []database.Value{number(a), number(1), number(b)} }},
		{history.Once, database.MariaDB, "", locks.WriteOnce, func(a, _, _ int) []database.Value { return []database.Value{number(1), number(a)} }},
		{history.Fenced, database.PostgreSQL, locks.SeeToken, locks.WriteByToken, func(a, _, token int) []database.Value { return []database.Value{number(a), number(token), number(1)} }},
	} {
		random, taken := rand.New(rand.NewPCG(1, 2)), [2]int{}
		for range 200 {
			state := database.New(test.dialect, tables, database.Options{}).Connect(1)
			execute := func(text string, args ...database.Value) bool {
				st, err := database.Parse(test.dialect, text)
				if err != nil {
					t.Fatal(err)
				}
				var r database.Reply
				state, r, _ = state.Apply(1, st, args)
				if r.Code != 0 {
					t.Fatalf("%s: %+v", text, r)
				}
				return r.Affected > 0
			}
			s := newStage(t, simulator.Config{Guard: test.guard, Clients: []simulator.ClientConfig{{Program: func(c *simulator.Client) {
				for i := range 8 {
					base, token := random.IntN(4), random.IntN(4)
					if random.IntN(3) == 0 {
						_, _ = c.Read(uint64(token))
						if test.read != "" {
							execute(test.read, number(token), number(1))
						}
						continue
					}
					took, changed := c.Write(base, uint64(token)) == nil, execute(test.write, test.args(i+1, base, token)...)
					if took != changed {
						t.Errorf("%q, write based on %d with token %d: taken %v, the statement changes a row: %v", test.guard, base, token, took, changed)
					}
					taken[map[bool]int{true: 1}[took]]++
				}
			}}}})
			s.settle(sec)
		}
		if taken[0] == 0 || taken[1] == 0 {
			t.Errorf("%q: %v refused and taken", test.guard, taken)
		}
	}
}
