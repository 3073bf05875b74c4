package study

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"locklab/algorithms/lock"
	"locklab/scenarios/share"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// CheckValues refuses what a proof of a lock within the bounds asked for cannot come to, as Search.CheckValues does. That its views
// are closed cannot be checked without them.
func (p *Proof) CheckValues(entry lock.Entry, asked Bounds, endless bool, path string, v *share.Values) {
	share.Is(v, path+"endless", p.Endless, endless)
	share.Range(v, path+"views", p.Views, 0, mostCounted)
	share.Range(v, path+"worlds", p.Worlds, 0, mostCounted)
	share.Range(v, path+"transitions", p.Transitions, 0, mostCounted)
	checkWords(path+"harms", p.Harms, v)
	checkWords(path+"open", p.Open, v)
	if !p.Once.IsZero() {
		v.Message(path+"once", p.Once, "prove.once.")
	}
	why := (*explore.NotProvableError)(nil)
	if errors.As(p.Refused, &why) {
		kind, _, _ := strings.Cut(why.Why.Key, ".")
		share.OneOf(v, path+"refused", kind, []string{"prove", "limit"})
		v.Message(path+"refused", why.Why, kind+".")
	}
	v.Require(p.Closed != (p.Refused != nil), path+"closed", p.Closed, i18n.New("share.want.known"))
	asked = asked.forProof()
	if p.Search.CheckValues(entry, asked, path+"search.", v); !v.OK() {
		return
	}
	for i, s := range p.Broken {
		field := fmt.Sprintf("%sbroken[%d].", path, i)
		at := -1
		if s != nil {
			at = slices.IndexFunc(p.sizes(), func(z size) bool { return isSize(p.few(asked, z, usualLimits).Settled(entry), s.Bounds) })
		}
		if v.Require(at >= 0, field+"bounds", s != nil, i18n.New("share.want.known")); !v.OK() {
			return
		}
		s.CheckValues(entry, p.few(asked, p.sizes()[at], usualLimits), field, v)
	}
}

// isSize reports whether two searches have as many clients, attempts and faults, and the same timing.
func isSize(a, b Bounds) bool {
	return a.Clients == b.Clients && a.Attempts == b.Attempts && a.Timing == b.Timing && a.Budget == b.Budget
}

// checkWords refuses what is no list of verdicts that a proof is about.
func checkWords(field string, words []verdict.Word, v *share.Values) {
	for _, w := range words {
		share.OneOf(v, field, w, explore.Provable)
	}
}
