package study

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// A ViewRow is the views of a proof, on one server, that agree in where their client is and in whose the key is.
type ViewRow struct {
	Stage string // idle, acquiring, inside, leaving, releasing, or gone: it has ended, and requests of it are under way
	Owner string // of the key: self, other, nobody, unmade (no client has made it), or free: there is no key
	Views int
	// Least and Most are what is left of the key's time to live; simulator.Never: it has none.
	Least, Most time.Duration
}

var (
	viewStages = []string{"idle", "acquiring", "inside", "leaving", "releasing", "gone"}
	viewOwners = []string{"free", "self", "other", "nobody", "unmade"}
)

// ViewRows sorts views into rows, by the client and then by the key. nil: there are several servers.
func ViewRows(v *explore.Invariant) (rows []ViewRow) {
	for i := range v.Views {
		if len(v.Shared[v.Views[i].Shared].Servers) != 1 {
			return nil
		}
		row := rowOf(v, i)
		at := slices.IndexFunc(rows, func(r ViewRow) bool { return r.Stage == row.Stage && r.Owner == row.Owner })
		if at < 0 {
			rows = append(rows, row)
			continue
		}
		r := &rows[at]
		r.Views, r.Least, r.Most = r.Views+1, min(r.Least, row.Least), max(r.Most, row.Most)
	}
	slices.SortFunc(rows, func(a, b ViewRow) int {
		stages := slices.Index(viewStages, a.Stage) - slices.Index(viewStages, b.Stage)
		return cmp.Or(stages, slices.Index(viewOwners, a.Owner)-slices.Index(viewOwners, b.Owner))
	})
	return rows
}

// rowOf is the row of one view.
func rowOf(v *explore.Invariant, at int) ViewRow {
	one := &v.Views[at]
	s := &v.Shared[one.Shared]
	row := ViewRow{Stage: stageOf(one), Owner: ownerOf(one, s), Views: 1}
	if row.Owner != "free" {
		row.Least = left(s.Servers[0])
		row.Most = row.Least
	}
	return row
}

// Culprit returns the two views of the first world that came to a verdict, and the move; "": it is not known.
func (p *Proof) Culprit(word verdict.Word) (views [2]ViewRow, move string) {
	at := slices.IndexFunc(p.Culprits, func(c explore.Culprit) bool { return c.Verdict == word })
	if at < 0 || p.Invariant == nil {
		return views, ""
	}
	for i, view := range p.Culprits[at].Views {
		views[i] = rowOf(p.Invariant, view)
	}
	return views, p.Culprits[at].Move
}

// stageOf returns the stage of a view's client, by what the judges know.
func stageOf(v *explore.WrittenView) string {
	if v.Client < 0 {
		return "gone"
	}
	for _, stage := range []string{"inside", "releasing", "leaving", "acquiring"} { // a client that asks again is inside as well
		if v.Judges[stage+".c1."] != "" {
			return stage
		}
	}
	return "idle"
}

// ownerOf returns the owner of the key, for a view's client.
func ownerOf(v *explore.WrittenView, s *explore.WrittenShared) string {
	switch owner := s.Judges["owner.0"]; owner {
	case "":
		return "free"
	case "none":
		return "unmade"
	default:
		return v.Names[owner[1]-'3']
	}
}

// left returns the remaining time to live of the key on a server.
func left(server simulator.Texts) time.Duration {
	place := 0
	for k := 0; ; k++ {
		key := fmt.Sprintf("Keys.0.keys.%d.", k)
		name, expires := server[key+"name"], server[key+"expires"] != ""
		switch {
		case name == "" || strings.HasPrefix(name, client.Key) && !expires:
			return simulator.Never
		case strings.HasPrefix(name, client.Key):
			ms, _ := strconv.Atoi(server[fmt.Sprintf("State.data.deadline.%d", place)])
			return time.Duration(ms) * time.Millisecond
		case expires:
			place++
		}
	}
}

// A Lemma is a sentence about all views of a proof, by the key of its text. Of is the number of views that it is about, and Against
// that of those of which it is not true.
type Lemma struct {
	Key         string
	Of, Against int
}

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
