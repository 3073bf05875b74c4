package race_test

import (
	"strings"
	"testing"

	"locklab/scenarios/race"
	"locklab/simulator/i18n"
)

// The locks that are named in place of a product are listed.
func TestProducts(t *testing.T) {
	for _, product := range []string{"Redisson", "zookeeper", "zk", "curator", "redis", "redsync", "mysql",
		"postgresql"} {
		_, err := race.Lock(product)
		said, ok := err.(i18n.Error)
		if !ok || said.Message().Key != "error.lock.product" {
			t.Errorf("%s: %v", product, err)
			continue
		}
		for _, name := range strings.Split(said.Message().Pairs[3].(string), ", ") {
			if _, err := race.Lock(name); err != nil {
				t.Errorf("%s: %v", product, err)
			}
		}
	}
}
