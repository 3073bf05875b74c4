package share

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"

	"locklab/simulator/i18n"
)

// A Share is what a machine has computed of a command.
type Share struct {
	Format string `json:"format"` // shareFormat
	Build  string `json:"build"`
	// Command is the command line without "locklab", flags that say how and where results are shown, and --shard.
	Command []string `json:"command"`
	// Inputs are the files that the command reads, by name, such as a contract.
	Inputs  map[string]string `json:"inputs,omitempty"`
	Part    string            `json:"share,omitempty"` // as Part.String
	Stopped bool              `json:"stopped,omitempty"`
	Results json.RawMessage   `json:"results"` // a list of Result
	Sum     string            `json:"sum"`     // SHA-256 of all the rest
}

// A Result is that of one task.
type Result struct {
	Task   string          `json:"task"`
	Result json.RawMessage `json:"result"`
}

const shareFormat = "locklab share 2"

// Write writes a share with its results. It fills in Format, Results and Sum.
func (s Share) Write(w io.Writer, results []Result) (err error) {
	s.Format = shareFormat
	if s.Results, err = json.Marshal(append([]Result{}, results...)); err != nil {
		return err
	}
	if s.Sum, err = s.sum(); err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(s)
}

// sum is that of the results as they are written, and of all else as this program writes it.
func (s Share) sum() (string, error) {
	results := s.Results
	s.Results, s.Sum = nil, ""
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode(s); err != nil {
		return "", err
	}
	sum.Write(results)
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Read reads a share. It does not look into the results: [Results] reads as many of them as the share has
// tasks. name is that of its file, for errors.
func Read(name string, content []byte) (*Share, error) {
	s := &Share{}
	if err := json.Unmarshal(content, s); err != nil {
		return nil, i18n.Errorf("error.share.damaged", "file", name, "cause", err)
	}
	if s.Format != shareFormat {
		return nil, i18n.Errorf("error.share.foreign", "file", name, "found", s.Format, "want", shareFormat)
	}
	if sum, err := s.sum(); err != nil || sum != s.Sum {
		return nil, i18n.Errorf("error.share.sum", "file", name)
	}
	return s, nil
}
