package certificate

import (
	"slices"

	"locklab/reports/text"
	"locklab/scenarios/study"
)

// AnyNumber says what may happen in a proof for any number of clients, and what it takes for granted, a sentence each.
func AnyNumber(p *study.Proof, lang string) []string {
	s := p.Search
	list := slices.Concat(MayHappen(s, lang), Assumed(s, lang))
	assumed := sentencesOf(lang, "certificate.assumed.")
	list = slices.DeleteFunc(list, func(line string) bool { return line == assumed("probe") || line == assumed("fresh") })
	if p.Once.IsZero() {
		list = append(list, text.Say(lang, "prove.assumed.attempts"))
	} else {
		list = append(list, text.Say(lang, "prove.assumed.once", "why", text.SayMessage(lang, p.Once)))
	}
	for _, key := range []string{"names", "resource", "urgent"} {
		list = append(list, text.Say(lang, "prove.assumed."+key))
	}
	return list
}
