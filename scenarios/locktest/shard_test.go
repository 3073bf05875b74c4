package locktest

import (
	"fmt"
	"testing"

	"locklab/scenarios/share"
)

// A search that is not of the share is skipped before anything of it is done.
func TestShards(t *testing.T) {
	played := 0
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Setenv(shardVariable, "2/3")
			mine := share.Part{K: 2, N: 3}.Has(t.Name())
			t.Cleanup(func() {
				if t.Skipped() == mine {
					t.Errorf("skipped: %t, of the share: %t", t.Skipped(), mine)
				}
			})
			skipOthers(t)
			played++
		})
	}
	if played == 0 || played == 8 {
		t.Errorf("%d of 8 searches were played in one share of three", played)
	}
}
