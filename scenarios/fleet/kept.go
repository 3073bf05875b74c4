package fleet

import (
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2/maybe"
)

// Kept are results as files in a directory. A nil one keeps nothing.
type Kept struct{ Dir string }

// Clean removes what is older than retention.
func (k *Kept) Clean(retention time.Duration) {
	entries, err := os.ReadDir(k.Dir)
	if err != nil {
		return // there is nothing
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && filepath.Ext(e.Name()) == ".json" && time.Since(info.ModTime()) > retention {
			os.Remove(filepath.Join(k.Dir, e.Name()))
		}
	}
}

func (k *Kept) file(id string) string { return filepath.Join(k.Dir, id+".json") }

// get is the result of a chunk; nil: there is none.
func (k *Kept) get(id string) []byte {
	if k == nil {
		return nil
	}
	content, err := os.ReadFile(k.file(id))
	if err != nil {
		return nil
	}
	return content
}

func (k *Kept) put(id string, content []byte) error {
	if k == nil {
		return nil
	}
	if err := os.MkdirAll(k.Dir, 0o755); err != nil {
		return err
	}
	return maybe.WriteFile(k.file(id), content, 0o644)
}

func (k *Kept) remove(id string) {
	if k != nil {
		os.Remove(k.file(id))
	}
}
