package lessons

import (
	"fmt"
	"slices"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/verdict"
)

// Fault prints the page of a fault: what it is, a budget with it, and the races that have it.
func Fault(t *Teacher, f *simulator.Fault) error {
	head(t, f.Name, func(lang string) string { return text.FaultTitle(f.Name, lang) })
	if term, ok := FindTerm(f.Name); ok {
		t.out.Printf("\n")
		if err := t.Glossary(term); err != nil {
			return err
		}
	}
	t.part(t.out.Label("label.budget") + "--budget " + string(ExampleBudget(f)))
	listRaces(t, "label.races", RacesWith(f))
	t.out.Next("locklab list faults", "locklab explain budget")
	return nil
}

// head prints a name with its title.
func head(t *Teacher, name string, title func(lang string) string) {
	t.out.Wrap("", text.Label(t.out.First("explain.head", "text", name))+t.out.Each(title))
}

func listRaces(t *Teacher, label string, races []race.Scenario) {
	if len(races) == 0 {
		return
	}
	t.part(t.out.Say(label))
	for _, sc := range races {
		t.out.Wrap(fmt.Sprintf("  %-20s %-5s ", sc.ID, sc.Race), t.out.Each(func(lang string) string { return Story(lang, sc, "title") }))
	}
}

// ExampleBudget returns a budget with which a search can inject a fault once.
func ExampleBudget(f *simulator.Fault) faults.Budget {
	switch {
	case strings.HasSuffix(f.Name, "-clock"): // jumps by a length
		return faults.Budget(f.Name + "=1@10s")
	case f.Returns:
		return faults.Budget("crash=1," + f.Name + "=1")
	}
	return faults.Budget(f.Name + "=1")
}

// RacesWith returns the races that inject a fault, with one server or with five.
func RacesWith(f *simulator.Fault) (all []race.Scenario) {
	for _, sc := range scenarios.All() {
		if sc.Budget != nil && (faults.Budget(sc.Budget(1)).Allows(f) || faults.Budget(sc.Budget(5)).Allows(f)) {
			all = append(all, sc)
		}
	}
	return all
}

// Article prints the page of an article: its locks, and the races in which one of them fails.
func Article(t *Teacher, number string) error {
	head(t, number, func(lang string) string { return text.Say(lang, "article."+number) })
	locks, races := OfArticle(number)
	t.part(t.out.Say("label.article.locks"))
	for _, e := range locks {
		t.out.Wrap(fmt.Sprintf("  %-19s %-9s ", e.ID, e.Article), t.out.Each(func(lang string) string { return LockTitle(lang, e) }))
	}
	listRaces(t, "label.article.races", races)
	t.out.Next("locklab explain "+locks[0].ID, "locklab matrix --strategies "+locks[0].ID)
	return nil
}

// IsArticle reports whether there is an article of a number, such as 004.
func IsArticle(number string) bool { return slices.Contains(namesBetween("article.", ""), number) }

// OfArticle returns the locks of an article, and the races in which the contract expects one of them to fail.
func OfArticle(number string) (locks []lock.Entry, races []race.Scenario) {
	for _, e := range algorithms.All() {
		if slices.ContainsFunc(e.Names(), func(name string) bool { return strings.HasPrefix(name, number+"-") }) {
			locks = append(locks, e)
		}
	}
	for _, sc := range scenarios.All() {
		if slices.ContainsFunc(locks, func(e lock.Entry) bool { return verdict.Fails(contract.CellOf(e, sc).Words()) }) {
			races = append(races, sc)
		}
	}
	return locks, races
}
