package share

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"runtime"
	"slices"
	"strings"

	"locklab/simulator/i18n"
)

// Results are the results of all tasks of a command, from its shares. Their values are trusted, but for one task in
// a hundred, which is computed again.
type Results struct {
	Command  []string
	Inputs   map[string]string
	Progress func(done, of int) // of the tasks that are computed again; called from several goroutines; may be nil

	shares []*Share // by K
	files  []string // of the shares
	unfit  error
}

// Merge puts the shares of a command together. files names them, for errors. The error names the share that is missing,
// there twice, stopped before its end, of another build or command, or made with other inputs.
func Merge(files []string, shares []*Share) (*Results, error) {
	if len(shares) == 0 {
		return nil, i18n.Errorf("error.share.none")
	}
	build, err := Build()
	if err != nil {
		return nil, err
	}
	first := shares[0]
	r := &Results{Command: first.Command, Inputs: first.Inputs}
	for i, s := range shares {
		name := files[i]
		part, err := ParsePart(s.Part)
		if err != nil {
			return nil, i18n.Errorf("error.share.damaged", "file", name, "cause", err)
		}
		if i == 0 {
			r.shares, r.files = make([]*Share, part.N), make([]string, part.N)
		}
		switch {
		case s.Build != build:
			return nil, i18n.Errorf("error.share.build", "file", name, "there", s.Build, "here", build)
		case !slices.Equal(s.Command, first.Command):
			return nil, i18n.Errorf("error.share.command", "file", name, "there", commandLine(s.Command),
				"other", files[0], "here", commandLine(first.Command))
		case !maps.Equal(s.Inputs, first.Inputs):
			return nil, i18n.Errorf("error.share.inputs", "file", name, "other", files[0],
				"input", otherInput(s.Inputs, first.Inputs))
		case part.N != len(r.shares):
			return nil, i18n.Errorf("error.share.count", "file", name, "there", s.Part,
				"other", files[0], "here", first.Part)
		case r.shares[part.K-1] != nil:
			return nil, i18n.Errorf("error.share.twice", "share", s.Part, "file", r.files[part.K-1], "other", name)
		case s.Stopped:
			return nil, i18n.Errorf("error.share.stopped", "share", s.Part, "file", name)
		}
		r.shares[part.K-1], r.files[part.K-1] = s, name
	}
	var missing []string
	for k, s := range r.shares {
		if s == nil {
			missing = append(missing, Part{k + 1, len(r.shares)}.String())
		}
	}
	if missing != nil {
		return nil, i18n.Errorf("error.share.missing", "shares", strings.Join(missing, ", "),
			"command", "locklab "+commandLine(first.Command))
	}
	return r, nil
}

func commandLine(args []string) string { return strings.Join(args, " ") }

// otherInput returns the first input in which two shares differ.
func otherInput(a, b map[string]string) string {
	names := append(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b))...)
	slices.Sort(names)
	for _, name := range names {
		one, hasOne := a[name]
		if two, hasTwo := b[name]; hasOne != hasTwo || one != two {
			return name
		}
	}
	return ""
}

// Compute takes the results from the shares, after it has computed a sample of them again. Its error is that of Unfit,
// ctx's, or the first of a task.
func (r *Results) Compute(ctx context.Context, p Plan) error {
	of := Assign(p.Tasks, len(r.shares))
	results := make([]json.RawMessage, len(p.Tasks))
	for k := range r.shares {
		if r.unfit = r.read(p.Tasks, of, k, results); r.unfit != nil {
			return r.unfit
		}
	}
	differs, err := r.again(ctx, p, results)
	if err != nil {
		return err
	}
	if differs >= 0 {
		k := of[differs] - 1
		r.unfit = &DifferError{p.Tasks[differs].ID, r.files[k], r.shares[k].Part}
		return r.unfit
	}
	for i, result := range results {
		if err := p.Take(i, result); err != nil {
			r.unfit = i18n.Errorf("error.share.value", "file", r.files[of[i]-1], "task", p.Tasks[i].ID, "cause", err)
			return r.unfit
		}
	}
	return nil
}

// read reads the results of the share at k: exactly those of its tasks, in their order.
func (r *Results) read(tasks []Task, of []int, k int, results []json.RawMessage) error {
	file, part := r.files[k], r.shares[k].Part
	d := json.NewDecoder(bytes.NewReader(r.shares[k].Results))
	if begin, err := d.Token(); err != nil || begin != json.Delim('[') {
		return i18n.Errorf("error.share.damaged", "file", file, "cause", "results")
	}
	n := 0
	for i, t := range tasks {
		if of[i] != k+1 {
			continue
		}
		result := Result{}
		if d.More() {
			if err := d.Decode(&result); err != nil {
				return i18n.Errorf("error.share.damaged", "file", file, "cause", err)
			}
		}
		if result.Task != t.ID {
			return i18n.Errorf("error.share.task", "file", file, "share", part, "task", t.ID)
		}
		results[i] = result.Result
		n++
	}
	if d.More() {
		return i18n.Errorf("error.share.long", "file", file, "share", part, "tasks", n)
	}
	return nil
}

// sampleOf tasks have one that is computed again.
const sampleOf = 100

// again computes some tasks again and returns the first with another result; -1: none. The error is ctx's or a task's.
func (r *Results) again(ctx context.Context, p Plan, results []json.RawMessage) (differs int, err error) {
	chosen := r.sample(p.Tasks)
	differ := make([]bool, len(p.Tasks))
	err = InParallel(ctx, runtime.GOMAXPROCS(0), len(chosen), func(n int) {
		if r.Progress != nil {
			r.Progress(n, len(chosen))
		}
	}, func(ctx context.Context, n int) error {
		i := chosen[n]
		result, err := p.Do(ctx, i)
		differ[i] = !bytes.Equal(result, results[i])
		return err
	})
	return slices.Index(differ, true), err
}

// sample chooses one task in sampleOf, rounded up, by hashes of all results: a result cannot be written so that its
// task is left out without regard to all others.
func (r *Results) sample(tasks []Task) []int {
	all := ""
	for _, s := range r.shares {
		all += s.Sum
	}
	chosen, rank := make([]int, len(tasks)), make([]string, len(tasks))
	for i, t := range tasks {
		sum := sha256.Sum256([]byte(all + t.ID))
		chosen[i], rank[i] = i, string(sum[:])
	}
	slices.SortFunc(chosen, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
	return chosen[:(len(tasks)+sampleOf-1)/sampleOf]
}

// A DifferError is a result that another computation of the task did not come to.
type DifferError struct {
	Task  string
	File  string // of the share that has the result
	Share string // as Part.String
}

func (e *DifferError) Error() string { return e.Message().String() }

// Message implements i18n.Error.
func (e *DifferError) Message() i18n.Message {
	return i18n.New("error.share.differs", "task", e.Task, "file", e.File, "share", e.Share)
}

// Unfit returns an error that names a task whose result is missing, cannot be read or differs from what was computed
// here, or a share with too many; nil: they fit, or the command has not asked for them.
func (r *Results) Unfit() error { return r.unfit }
