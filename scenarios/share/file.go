package share

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"locklab/simulator/i18n"
)

// A Share is what a machine has computed of a command.
type Share struct {
	Format string `json:"format"` // shareFormat
	Build  string `json:"build"`
	// Command is the command line without "locklab", without flags that say how and where
	// results are shown, and without --shard.
	Command []string `json:"command"`
	// Inputs are the files that the command reads, by name, such as a contract.
	Inputs  map[string]string `json:"inputs,omitempty"`
	Part    string            `json:"share,omitempty"` // as Part.String
	Tasks   int               `json:"tasks,omitempty"` // of all shares
	Stopped bool              `json:"stopped,omitempty"`
	Results []Result          `json:"results"`
	Sum     string            `json:"sum"` // SHA-256 of all the rest
}

const shareFormat = "locklab share 1"

// Write writes a share. It fills in Format and Sum.
func (s Share) Write(w io.Writer) error {
	s.Format = shareFormat
	if s.Results == nil {
		s.Results = []Result{}
	}
	sum, err := s.sum()
	if err != nil {
		return err
	}
	s.Sum = sum
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(s)
}

// sum does not depend on white space.
func (s Share) sum() (string, error) {
	s.Sum = ""
	plain, err := json.Marshal(s) // which compacts the results
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(plain)
	return hex.EncodeToString(sum[:]), nil
}

// Read reads a share. name is that of its file, for errors.
func Read(name string, content []byte) (*Share, error) {
	s := &Share{}
	d := json.NewDecoder(bytes.NewReader(content))
	if err := d.Decode(s); err != nil {
		return nil, i18n.Errorf("error.share.damaged", "file", name, "cause", err)
	}
	if s.Format != shareFormat {
		return nil, i18n.Errorf("error.share.foreign", "file", name, "found", s.Format, "want", shareFormat)
	}
	if sum, err := s.sum(); err != nil || sum != s.Sum || len(bytes.TrimSpace(content[d.InputOffset():])) > 0 {
		return nil, i18n.Errorf("error.share.sum", "file", name)
	}
	return s, s.check(name)
}

// check refuses a share that Write has not written, although its checksum fits: with control
// characters in what is printed of it, or with other numbers of tasks. What is in its inputs
// and results is checked where they are read.
func (s *Share) check(name string) error {
	type field struct{ name, value string }
	fields := []field{{"build", s.Build}, {"share", s.Part}}
	for i, arg := range s.Command {
		fields = append(fields, field{fmt.Sprintf("command[%d]", i), arg})
	}
	for _, input := range slices.Sorted(maps.Keys(s.Inputs)) {
		fields = append(fields, field{"inputs", input})
	}
	for i, r := range s.Results {
		fields = append(fields, field{fmt.Sprintf("results[%d].task", i), r.Task})
	}
	for _, f := range fields {
		if i18n.Visible(f.value) != f.value {
			return i18n.Errorf("error.share.strange", "file", name, "field", f.name, "value", i18n.Visible(shortened(f.value)))
		}
	}
	if s.Tasks < 0 || s.Part != "" && s.Tasks < len(s.Results) {
		return i18n.Errorf("error.share.strange", "file", name, "field", "tasks", "value", s.Tasks)
	}
	return nil
}

// Results are the results of all tasks of a command, by ID.
type Results struct {
	Command []string
	Inputs  map[string]string
	known   map[string]json.RawMessage
	from    map[string]string // the file that each is from
	files   []string
	tasks   []int // of all shares, as each file has it
	unfit   error
}

// Merge puts the shares of a command together. files names them, for errors. The error
// names the share that is missing, there twice, stopped before its end, of another build
// or command, or made with other inputs.
func Merge(files []string, shares []*Share) (*Results, error) {
	if len(shares) == 0 {
		return nil, i18n.Errorf("error.share.none")
	}
	build, err := Build()
	if err != nil {
		return nil, err
	}
	first := shares[0]
	all := Part{}
	has := map[int]string{} // K -> file
	r := &Results{Command: first.Command, Inputs: first.Inputs, known: map[string]json.RawMessage{}, from: map[string]string{}, files: files}
	for i, s := range shares {
		name := files[i]
		part, err := ParsePart(s.Part)
		if err != nil {
			return nil, i18n.Errorf("error.share.damaged", "file", name, "cause", err)
		}
		switch {
		case s.Build != build:
			return nil, i18n.Errorf("error.share.build", "file", name, "there", s.Build, "here", build)
		case !slices.Equal(s.Command, first.Command):
			return nil, i18n.Errorf("error.share.command", "file", name, "there", commandLine(s.Command), "other", files[0], "here", commandLine(first.Command))
		case !maps.Equal(s.Inputs, first.Inputs):
			return nil, i18n.Errorf("error.share.inputs", "file", name, "other", files[0], "input", otherInput(s.Inputs, first.Inputs))
		case i > 0 && part.N != all.N:
			return nil, i18n.Errorf("error.share.count", "file", name, "there", s.Part, "other", files[0], "here", first.Part)
		case has[part.K] != "":
			return nil, i18n.Errorf("error.share.twice", "share", s.Part, "file", has[part.K], "other", name)
		case s.Stopped:
			return nil, i18n.Errorf("error.share.stopped", "share", s.Part, "file", name)
		}
		all = part
		has[part.K] = name
		r.tasks = append(r.tasks, s.Tasks)
		for _, result := range s.Results {
			if other := r.from[result.Task]; other != "" {
				return nil, i18n.Errorf("error.share.task.twice", "task", result.Task, "file", name, "other", other)
			}
			r.known[result.Task], r.from[result.Task] = result.Result, name
		}
	}
	var missing []string
	for k := 1; k <= all.N; k++ {
		if has[k] == "" {
			missing = append(missing, Part{k, all.N}.String())
		}
	}
	if missing != nil {
		return nil, i18n.Errorf("error.share.missing", "shares", strings.Join(missing, ", "), "command", "locklab "+commandLine(first.Command))
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

// Compute looks the results up, and checks them. The error is that of Unfit.
func (r *Results) Compute(ctx context.Context, p Plan) ([]json.RawMessage, error) {
	results, planned := make([]json.RawMessage, len(p.Tasks)), map[string]bool{}
	for i, t := range p.Tasks {
		planned[t.ID] = true
		if results[i] = r.known[t.ID]; r.unfit != nil {
			continue
		}
		if results[i] == nil {
			r.unfit = i18n.Errorf("error.share.task.missing", "task", t.ID)
		} else if err := p.Check(i, results[i]); err != nil {
			r.unfit = i18n.Errorf("error.share.value", "file", r.from[t.ID], "cause", err)
		}
		if err := ctx.Err(); err != nil {
			return results, err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.known)) {
		if !planned[id] && r.unfit == nil {
			r.unfit = i18n.Errorf("error.share.task.unknown", "task", id, "file", r.from[id])
		}
	}
	for i, n := range r.tasks {
		if n != len(p.Tasks) && r.unfit == nil {
			r.unfit = i18n.Errorf("error.share.strange", "file", r.files[i], "field", "tasks", "value", n)
		}
	}
	if r.unfit != nil {
		return make([]json.RawMessage, len(p.Tasks)), r.unfit
	}
	return results, nil
}

// Unfit returns an error that names a task without a result, a result without a task, or a
// value that a task cannot give; nil: they fit, or the command has not asked for
// them.
func (r *Results) Unfit() error { return r.unfit }
