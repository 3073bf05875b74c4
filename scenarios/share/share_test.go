package share

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestAssign: every task is in one share, the same each time, and the shares cost about the
// same where their tasks are small.
func TestAssign(t *testing.T) {
	var tasks []Task
	for i := range 200 {
		tasks = append(tasks, Task{ID: fmt.Sprint(i), Cost: float64(i%17) / 4})
	}
	tasks[5].Cost = 90
	of := Assign(tasks, 7)
	if !slices.Equal(of, Assign(tasks, 7)) {
		t.Error("another time the shares are others")
	}
	load := make([]float64, 8)
	for i, k := range of {
		load[k] += tasks[i].Cost
	}
	if load[0] != 0 || load[of[5]] != 90 {
		t.Errorf("the share with the long task costs %v", load[of[5]])
	}
	rest := slices.Delete(slices.Clone(load), of[5], of[5]+1)[1:]
	if slices.Max(rest)-slices.Min(rest) > 1 {
		t.Errorf("the shares cost %v", load)
	}
	free := make([]Task, 9) // without any cost they are as many
	count := map[int]int{}
	for _, k := range Assign(free, 3) {
		count[k]++
	}
	if count[1] != 3 || count[2] != 3 || count[3] != 3 {
		t.Errorf("%v", count)
	}
}

// TestRecorded: recorded costs count.
func TestRecorded(t *testing.T) {
	for id, c := range recorded() {
		if (Task{ID: id, Cost: 1e6}).Expected() != c || math.IsNaN(c) {
			t.Errorf("%s costs %v", id, c)
		}
	}
	if c := (Task{ID: "no such task", Cost: 3}).Expected(); c != 3 {
		t.Errorf("a task without a record costs %v", c)
	}
}

func TestHas(t *testing.T) {
	for i := range 100 {
		shares := 0
		for k := 1; k <= 5; k++ {
			if (Part{k, 5}).Has(fmt.Sprint("Test", i)) {
				shares++
			}
		}
		if shares != 1 {
			t.Errorf("Test%d is in %d shares", i, shares)
		}
	}
}

// throughJSON has everything computed here, and read back.
type throughJSON struct{ lose int }

func (c throughJSON) Compute(ctx context.Context, p Plan) (all []json.RawMessage, err error) {
	for i := range p.Tasks {
		r, wrong := p.Do(ctx, i)
		if wrong != nil {
			return all, wrong
		}
		if i == c.lose {
			r, err = nil, context.Canceled
		}
		all = append(all, r)
	}
	return all, err
}

// TestEach: the results are in the order of the tasks, wherever they come from; where one is
// missing it is nil.
func TestEach(t *testing.T) {
	tasks := []Task{{"a", 1}, {"b", 3}, {"c", 2}}
	do := func(_ context.Context, i int) (string, error) { return tasks[i].ID, nil }
	for name, w := range map[string]*Work{"here": nil, "here, waiting": (*Work)(nil).Waiting(), "elsewhere": {Computer: throughJSON{-1}}} {
		got, err := Each(t.Context(), tasks, w, do, nil)
		if err != nil || *got[0]+*got[1]+*got[2] != "abc" {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, _ := Each(t.Context(), tasks, &Work{Computer: throughJSON{1}}, do, nil); got[1] != nil || *got[2] != "c" {
		t.Errorf("%v", got)
	}
	wrong := errors.New("wrong")
	_, err := Each(t.Context(), tasks, nil, func(context.Context, int) (int, error) { return 0, wrong }, nil)
	if !errors.Is(err, wrong) {
		t.Error(err)
	}
}
