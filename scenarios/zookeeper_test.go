package scenarios

import (
	"fmt"
	"testing"

	"locklab/algorithms"
)

func TestZooProbe(t *testing.T) {
	for _, sc := range All() {
		line := fmt.Sprintf("%-22s", sc.ID)
		for _, e := range algorithms.OnZooKeeper() {
			o, err := Play(e, sc, sc.Settings)
			switch {
			case err != nil:
				t.Errorf("%s %s: %v", e.ID, sc.ID, err)
				line += " ERROR"
			case o.NotApplicable != (Text{}):
				line += " N/A(" + o.NotApplicable.EN[:min(12, len(o.NotApplicable.EN))] + ")"
			default:
				line += fmt.Sprint(" ", o.Verdicts)
				if len(o.Missed) > 0 {
					line += fmt.Sprint("!", o.Missed)
				}
			}
		}
		t.Log(line)
	}
}
