package study

import (
	"cmp"
	"slices"
	"time"

	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A ViewRow is the views of a proof, on one server, that agree in where their client is and in whose the key is.
type ViewRow struct {
	Stage, Owner string // of an explore.Standing
	Views        int
	// Least and Most are what is left of the key's time to live; simulator.Never: it has none.
	Least, Most time.Duration
}

var (
	viewStages = []string{"idle", "acquiring", "inside", "leaving", "releasing", "gone"}
	viewOwners = []string{"free", "self", "other", "nobody", "unmade"}
)

// ViewRows sorts the views of a closed proof into rows, by the client and then by the key. nil: there are several servers.
func ViewRows(p *Proof) (rows []ViewRow) {
	if p.Search.Bounds.Nodes != 1 {
		return nil
	}
	for _, v := range p.Standings {
		at := slices.IndexFunc(rows, func(r ViewRow) bool { return r.Stage == v.Stage && r.Owner == v.Owner })
		if at < 0 {
			rows = append(rows, ViewRow{v.Stage, v.Owner, 1, v.Left, v.Left})
			continue
		}
		r := &rows[at]
		r.Views, r.Least, r.Most = r.Views+1, min(r.Least, v.Left), max(r.Most, v.Left)
	}
	slices.SortFunc(rows, func(a, b ViewRow) int {
		stages := slices.Index(viewStages, a.Stage) - slices.Index(viewStages, b.Stage)
		return cmp.Or(stages, slices.Index(viewOwners, a.Owner)-slices.Index(viewOwners, b.Owner))
	})
	return rows
}

// Culprit returns the two views of the first world that came to a verdict, and the move; "": it is not known.
func (p *Proof) Culprit(word verdict.Word) (views [2]explore.Standing, move string) {
	at := slices.IndexFunc(p.Culprits, func(c explore.Culprit) bool { return c.Verdict == word })
	if at < 0 {
		return views, ""
	}
	return p.Culprits[at].Views, p.Culprits[at].Move
}

// A Lemma is a sentence about all views of a proof, by the key of its text. Of is the number of views that it is about, and Against
// that of those of which it is not true.
type Lemma struct {
	Key         string
	Of, Against int
}

// LemmaKeys returns the keys of all lemmas.
func LemmaKeys() []string { return lists.Each(Lemmas(nil), func(l Lemma) string { return l.Key }) }

// Lemmas are what the views of a proof say of all clients: computed from the rows, whatever the lock is.
func Lemmas(rows []ViewRow) []Lemma {
	count := func(key string, about, true func(r *ViewRow) bool) Lemma {
		l := Lemma{Key: key}
		for i := range rows {
			if r := &rows[i]; about(r) {
				l.Of += r.Views
				if !true(r) {
					l.Against += r.Views
				}
			}
		}
		return l
	}
	stage := func(s string) func(*ViewRow) bool { return func(r *ViewRow) bool { return r.Stage == s } }
	own := func(r *ViewRow) bool { return r.Owner == "self" }
	return []Lemma{
		count("inside", stage("inside"), own),
		count("kept", func(r *ViewRow) bool { return r.Stage == "idle" && r.Owner != "free" }, func(r *ViewRow) bool { return !own(r) }),
		count("ends", func(r *ViewRow) bool { return r.Owner == "nobody" }, func(r *ViewRow) bool { return r.Most != simulator.Never }),
	}
}
