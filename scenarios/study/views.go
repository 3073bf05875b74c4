package study

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// Views is the certificate of a proof for any number of clients: a set of views, with the lock, its bounds, and the verdicts that
// it proves impossible. CheckViews checks it.
type Views struct {
	Format   string         `json:"format"`
	Version  int            `json:"version"`
	Strategy string         `json:"strategy"`
	Budget   string         `json:"budget"`
	Lease    string         `json:"lease"`
	Work     string         `json:"work"`
	Nodes    int            `json:"nodes"`
	Attempts string         `json:"attempts"` // any, or once: each client takes the lock once
	Absent   []verdict.Word `json:"absent"`
	*explore.Invariant
}

// ViewsFormat and ViewsVersion are those of the files that this program writes and reads.
const (
	ViewsFormat  = "locklab views"
	ViewsVersion = 1
)

// maxViewsFile bounds a file with views, in bytes.
const maxViewsFile = 1 << 28

// Certificate returns the certificate of what views of one client prove with that budget; nil: they prove nothing.
func (p *Proof) Certificate(budget string) *Views {
	absent := slices.DeleteFunc(p.Proved(), func(w verdict.Word) bool { return slices.Contains(p.Paired, w) })
	if len(absent) == 0 || p.Invariant == nil {
		return nil
	}
	b, attempts := p.Search.Bounds, AnyTimes
	if !p.Once.IsZero() {
		attempts = "once"
	}
	return &Views{ViewsFormat, ViewsVersion, p.Search.Strategy.ID, budget, b.TTL.String(), b.Work.String(), b.Nodes, attempts, absent, p.Invariant}
}

// Write writes the certificate, one view a line.
func (v *Views) Write(w io.Writer) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	lines := bytes.ReplaceAll(b.Bytes(), []byte(`},{"`), []byte("},\n{\""))
	_, err := w.Write(lines)
	return err
}

// ReadViews reads a certificate. Whether it proves anything is CheckViews's to say. The error names what is wrong.
func ReadViews(r io.Reader) (*Views, error) {
	limited := &io.LimitedReader{R: r, N: maxViewsFile + 1}
	d := json.NewDecoder(limited)
	d.DisallowUnknownFields()
	v := &Views{Invariant: &explore.Invariant{}}
	err := d.Decode(v)
	var more json.RawMessage
	switch {
	case limited.N <= 0:
		return nil, i18n.Errorf("error.views.long", "most", maxViewsFile>>20)
	case err == nil && d.Decode(&more) != io.EOF:
		return nil, i18n.Errorf("error.views.more")
	case err != nil:
		return nil, i18n.Errorf("error.views.json", "cause", err)
	case v.Format != ViewsFormat:
		return nil, i18n.Errorf("error.views.format", "format", v.Format, "ours", ViewsFormat)
	case v.Version != ViewsVersion:
		return nil, i18n.Errorf("error.views.version", "version", v.Version, "ours", ViewsVersion)
	case len(v.Invariant.Views) > usualLimits.views:
		return nil, i18n.Errorf("error.views.many", "views", len(v.Invariant.Views), "most", usualLimits.views)
	}
	return v, v.check()
}

// check returns an error if a field says what none can.
func (v *Views) check() error {
	wrong := func(field string, value any) error {
		return i18n.Errorf("error.views.field", "field", field, "value", value)
	}
	for _, w := range v.Absent {
		if !slices.Contains(explore.Provable, w) {
			return wrong("absent", w)
		}
	}
	switch {
	case len(v.Absent) == 0:
		return wrong("absent", "[]")
	case v.Attempts != AnyTimes && v.Attempts != "once":
		return wrong("attempts", v.Attempts)
	}
	return nil
}

// bounds are those of the proof.
func (v *Views) bounds() (b Bounds, endless bool, err error) {
	b = DefaultBounds()
	b.Nodes = v.Nodes
	for _, length := range []struct {
		name, written string
		d             *time.Duration
	}{{"lease", v.Lease, &b.TTL}, {"work", v.Work, &b.Work}} {
		if *length.d, err = time.ParseDuration(length.written); err != nil {
			return b, false, i18n.Errorf("error.views.field", "field", length.name, "value", length.written)
		}
	}
	b.Budget, endless, err = EndlessBudget(v.Budget)
	return b.forProof(), endless, err
}

// forProof is b with the numbers that a proof for any number of clients has.
func (b Bounds) forProof() Bounds {
	b.Timing, b.Attempts, b.Retries, b.Uses, b.Clients = AnyTiming, 2, 0, 0, 2+explore.Outsiders
	return b
}

// CheckViews checks a certificate of entry, which has its name. The error is an *explore.InvariantError if it does not prove what it says.
func CheckViews(ctx context.Context, entry lock.Entry, v *Views) (*explore.Checked, error) {
	b, endless, err := v.bounds()
	if err != nil {
		return nil, err
	}
	if err := b.Check(entry); err != nil {
		return nil, err
	}
	if entry.Ensemble() {
		return nil, &explore.InvariantError{Why: i18n.New("prove.ensemble")}
	}
	m, err := b.Model(entry)
	if err != nil {
		return nil, err
	}
	return explore.CheckInvariant(ctx, m, v.Invariant, explore.Claim{Absent: v.Absent, Once: v.Attempts == "once", Endless: endless})
}
