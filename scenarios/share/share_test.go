package share

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
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
	if got := Assign([]Task{{"a", 1}, {"b", 1}, {"c", 5}, {"d", 1}}, 3); !slices.Equal(got, []int{2, 3, 1, 2}) {
		t.Errorf("tasks that cost the same are not given out in the order of the shares: %v", got)
	}
	if got := Assign(make([]Task, 6), 3); !slices.Equal(got, []int{1, 2, 3, 1, 2, 3}) {
		t.Errorf("without any cost: %v", got)
	}
}

// throughJSON has everything computed here, and read back.
type throughJSON struct{ lose int }

func (c throughJSON) Compute(ctx context.Context, p Plan) (err error) {
	for i := range p.Tasks {
		r, wrong := p.Do(ctx, i)
		if wrong == nil && i != c.lose {
			wrong = p.Take(i, r)
		}
		if wrong != nil {
			return wrong
		}
		if i == c.lose {
			err = context.Canceled
		}
	}
	return err
}

// TestEach: the results are in the order of the tasks, wherever they come from; where one is
// missing it is nil.
func TestEach(t *testing.T) {
	tasks := []Task{{"a", 1}, {"b", 3}, {"c", 2}}
	do := func(_ context.Context, i int) (string, error) { return tasks[i].ID, nil }
	for name, w := range map[string]*Work{"here": nil, "here, waiting": &Work{Waits: true},
		"elsewhere": {Computer: throughJSON{-1}}} {
		got, err := Each(t.Context(), tasks, w, do)
		if err != nil || *got[0]+*got[1]+*got[2] != "abc" {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	got, err := Each(t.Context(), tasks, &Work{Computer: throughJSON{1}}, do)
	if !errors.Is(err, context.Canceled) || got[1] != nil || *got[2] != "c" {
		t.Errorf("%v, %v", got, err)
	}
	wrong, counted := errors.New("wrong"), 0
	fails := func(context.Context, int) (int, error) { return 0, wrong }
	if _, err = Each(t.Context(), tasks, &Work{Done: func(int) { counted++ }}, fails); !errors.Is(err, wrong) ||
		counted > 0 {
		t.Errorf("%v, and %d are counted as done", err, counted)
	}
}

// TestAgain: of 101 tasks two are computed again. A result that was changed is found if it is one of
// theirs, and is believed otherwise if it can be read.
func TestAgain(t *testing.T) {
	var tasks []Task
	for i := range 101 {
		tasks = append(tasks, Task{ID: fmt.Sprint("task ", i), Cost: float64(i % 7)})
	}
	computed := atomic.Int64{}
	do := func(_ context.Context, i int) (int, error) {
		computed.Add(1)
		return i, nil
	}
	build, err := Build()
	if err != nil {
		t.Fatal(err)
	}
	written := func(part Part, change int, to string) *Share {
		p := &Partial{Part: part}
		_, err := Each(t.Context(), tasks, &Work{Computer: p}, do)
		for i := range p.Results {
			if p.Results[i].Task == tasks[change].ID {
				p.Results[i].Result = json.RawMessage(to)
			}
		}
		var b bytes.Buffer
		wrong := (Share{Build: build, Part: part.String()}).Write(&b, p.Results)
		s, unread := Read("", b.Bytes())
		if !errors.Is(err, ErrPartial) || wrong != nil || unread != nil {
			t.Fatal(err, wrong, unread)
		}
		return s
	}
	merge := func(change int, to string) (*Results, []*int, error) {
		r, err := Merge([]string{"1.json", "2.json"},
			[]*Share{written(Part{1, 2}, change, to), written(Part{2, 2}, change, to)})
		if err != nil {
			t.Fatal(err)
		}
		computed.Store(0)
		got, err := Each(t.Context(), tasks, &Work{Computer: r}, do)
		if n := computed.Load(); n != 2 {
			t.Errorf("%d tasks were computed again", n)
		}
		return r, got, err
	}
	found := 0
	for try := range 6 * len(tasks) {
		change, to := try%len(tasks), -1-try/len(tasks)
		r, got, err := merge(change, fmt.Sprint(to))
		differs, again := (*DifferError)(nil), slices.Contains(r.sample(tasks), change)
		switch {
		case errors.As(err, &differs):
			found++
			if differs.Task != tasks[change].ID || r.Unfit() != err || !again || got[0] != nil {
				t.Errorf("task %d: %+v, %v", change, differs, got[0])
			}
		case err != nil || *got[change] != to || again:
			t.Errorf("task %d: %v", change, err)
		}
	}
	if found == 0 {
		t.Error("no change is found: try more of them")
	}
	if r, _, err := merge(7, `"x"`); err == nil || r.Unfit() != err {
		t.Errorf("a text in place of a number: %v, %v", err, r.Unfit())
	}
}
