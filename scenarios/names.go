package scenarios

import (
	"fmt"
	"strings"

	"locklab/faults"
	"locklab/scenarios/race"
)

// ByName finds a scenario by its ID or its race, in any case of letters. The
// error names the nearest.
func ByName(name string) (race.Scenario, error) {
	var names []string
	for _, sc := range All() {
		if strings.EqualFold(name, sc.ID) || strings.EqualFold(name, sc.Race) {
			return sc, nil
		}
		names = append(names, sc.ID, sc.Race)
	}
	return race.Scenario{}, fmt.Errorf("there is no scenario %q:%s 'locklab list scenarios' shows all", name, faults.DidYouMean(name, names))
}
