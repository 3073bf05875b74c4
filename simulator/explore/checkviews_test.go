package explore_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"

	"locklab/faults"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// A provedCell is a lock with faults, its views, and what they prove.
type provedCell struct {
	id, budget string
	endless    bool
	*explore.Invariant
	explore.Claim
}

// hunting reports whether "make hunt" runs the tests: checking everything that is proved takes a quarter of an hour.
func hunting() bool { return os.Getenv("LOCKLAB_HUNT") != "" }

// proved returns the views of a lock; nil: they prove nothing.
func proved(t *testing.T, id, budget string, endless bool) *provedCell {
	t.Helper()
	p, err := explore.ProveFor(t.Context(), viewModel(t, id, budget), endless, 3_000)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Closed {
		return nil
	}
	absent := slices.DeleteFunc(slices.Clone(explore.Provable), func(w verdict.Word) bool { return slices.Contains(p.Harms, w) })
	return &provedCell{id, budget, endless, p.Invariant, explore.Claim{Absent: absent, Once: !p.Once.IsZero(), Endless: endless}}
}

// TestCheckerAcceptsProofs: what is proved is accepted, with as many worlds, by a checker that shares only the moves, the judges and
// the code with the prover.
func TestCheckerAcceptsProofs(t *testing.T) {
	effort.OnlyExhaustive(t, "it closes views for seconds; one goroutine searches")
	locks, budgets := []string{"setnx", "setnx-expire", "token", "watchdog"}, []string{"crash=1"}
	if hunting() {
		locks, budgets = append(locks, "constant", "lock-delay", "watch-del", "set-ifeq"), viewBudgets
	}
	cells := 0
	for _, id := range locks {
		for _, budget := range budgets {
			for _, endless := range []bool{false, true} {
				if !hunting() && !endless || endless && budget == "" {
					continue
				}
				one := proved(t, id, budget, endless)
				if one == nil || one.Unchecked() != "" {
					continue
				}
				cells++
				if _, err := explore.CheckInvariant(t.Context(), viewModel(t, id, budget), one.Invariant, one.Claim); err != nil {
					t.Errorf("%s, %s, endless %t: %v", id, budget, endless, err)
				}
			}
		}
	}
	if cells < len(locks)-1 {
		t.Errorf("only %d cells are proved", cells)
	}
}

// hasTwin reports whether another view differs in the history of its client only: the code may do the same after both.
func (p *provedCell) hasTwin(view int) bool {
	own := p.Views[view]
	return own.Client >= 0 && slices.ContainsFunc(p.Views, func(v explore.WrittenView) bool {
		if v.Client < 0 || v.Client == own.Client || !maps.Equal(p.Clients[v.Client].State, p.Clients[own.Client].State) {
			return false
		}
		v.Client = own.Client
		return reflect.DeepEqual(v, own)
	})
}

// TestCheckerMissesAView: of a set without one of its views the checker says so, whichever it is, unless another one does for it.
func TestCheckerMissesAView(t *testing.T) {
	effort.OnlyExhaustive(t, "it closes views for seconds; one goroutine searches")
	drawn := 6
	if hunting() {
		drawn = 250
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, of := range []struct {
		id, budget string
		endless    bool
	}{{"setnx", "crash=1", true}, {"setnx-expire", "", false}, {"token", "crash=1", true}, {"token", "lose-reply=1", false}} {
		one := proved(t, of.id, of.budget, of.endless)
		check, end, err := explore.InvariantChecker(viewModel(t, of.id, of.budget))
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		for range drawn {
			view := rng.IntN(len(one.Views))
			_, err := check(t.Context(), one.Without(view), one.Claim)
			if err == nil && one.hasTwin(view) {
				continue
			}
			if wrong := (*explore.InvariantError)(nil); !errors.As(err, &wrong) || wrong.Why.Key != "prove.check.missing" && wrong.Why.Key != "prove.check.start" {
				t.Errorf("%s, %s: without view %d: %v", of.id, of.budget, view, err)
			}
		}
		if _, err := check(t.Context(), one.Invariant, one.Claim); err != nil {
			t.Errorf("%s, %s: with all views: %v", of.id, of.budget, err)
		}
	}
}

// TestCheckerRefusesOthers: views prove nothing of another lock, of more faults or a longer lease, of a harm that they come to, or if
// anything of a view is changed.
func TestCheckerRefusesOthers(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	refused := func(what, id, budget string, v *explore.Invariant, claim explore.Claim, key string) {
		t.Helper()
		_, err := explore.CheckInvariant(t.Context(), viewModel(t, id, budget), v, claim)
		if wrong := (*explore.InvariantError)(nil); !errors.As(err, &wrong) || key != "" && wrong.Why.Key != key {
			t.Errorf("%s: %v", what, err)
		}
	}
	one := proved(t, "token", "crash=1", true)
	refused("another lock", "setnx-expire", "crash=1", one.Invariant, one.Claim, "")
	refused("another fault", "token", "lose-reply=1", one.Invariant, one.Claim, "")
	refused("more faults", "token", "crash=2", one.Invariant, one.Claim, "prove.check.start")
	finite := one.Claim
	finite.Endless = false
	refused("faults that are used up", "token", "crash=1", one.Invariant, finite, "prove.check.missing")
	for i := range one.Shared {
		if one.Shared[i].Servers[0]["State.data.deadline.0"] == "8250" {
			other := *one.Invariant
			other.Shared = slices.Clone(other.Shared)
			other.Shared[i].Servers = []map[string]string{maps.Clone(other.Shared[i].Servers[0])}
			other.Shared[i].Servers[0]["State.data.deadline.0"] = "8249"
			refused("another deadline", "token", "crash=1", &other, one.Claim, "prove.check.missing")
		}
	}
	broken := proved(t, "setnx", "crash=1", true)
	broken.Absent = append(broken.Absent, verdict.Deadlock)
	refused("a DEADLOCK", "setnx", "crash=1", broken.Invariant, broken.Claim, "prove.check.deadlock")
	stale := proved(t, "token", "restart=1", false)
	stale.Absent = append(stale.Absent, verdict.Overlap)
	refused("an OVERLAP", "token", "restart=1", stale.Invariant, stale.Claim, "prove.check.harm")
	for what, change := range map[string]func(*explore.Invariant){
		"an unknown shared part": func(v *explore.Invariant) { v.Views[3].Shared = len(v.Shared) },
		"an unknown client":      func(v *explore.Invariant) { v.Views[3].Client = len(v.Clients) },
		"a name too many":        func(v *explore.Invariant) { v.Views[3].Names = append(v.Views[3].Names, "self") },
		"no observation":         func(v *explore.Invariant) { v.Clients[5].Seen[0].Seen = map[string]string{"Kind": "77"} },
		"a field of no client":   func(v *explore.Invariant) { v.Clients[5].State = map[string]string{"Colour": "red"} },
		"a field of no judge":    func(v *explore.Invariant) { v.Shared[1].Judges["colour"] = "red" },
		"a field of no server":   func(v *explore.Invariant) { v.Shared[1].Servers[0]["colour"] = "red" },
		"no server":              func(v *explore.Invariant) { v.Shared[1].Servers = nil },
		"no budget":              func(v *explore.Invariant) { v.Shared[1].Rest = nil },
		"a long list":            func(v *explore.Invariant) { v.Shared[1].Servers[0]["Keys.0.keys.len"] = "4000000000" },
	} {
		other := proved(t, "token", "crash=1", true)
		change(other.Invariant)
		refused(what, "token", "crash=1", other.Invariant, other.Claim, "")
	}
}

// TestCheckerIsSeparate: the checker calls nothing of the prover, nor what renames and divides for it.
func TestCheckerIsSeparate(t *testing.T) {
	declared := func(file string) map[string]bool {
		names := map[string]bool{}
		for _, d := range parsed(t, file).Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				names[f.Name.Name] = true
			}
		}
		return names
	}
	own := declared("checkviews.go")
	for _, file := range []string{"views.go", "worlds.go", "naming.go", "faces.go", "symmetry.go", "deadlock.go", "invariant.go", "../rename.go", "../divide.go", "../verdict/rename.go", "../verdict/divide.go"} {
		for name := range declared(file) {
			if own[name] || name == "RestOf" || name == "DeadPart" { // what a process does next, and a dead one
				continue
			}
			ast.Inspect(parsed(t, "checkviews.go"), func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					switch f := call.Fun.(type) {
					case *ast.SelectorExpr:
						if f.Sel.Name == name {
							t.Errorf("the checker calls %s of %s", name, file)
						}
					case *ast.Ident:
						if f.Name == name {
							t.Errorf("the checker calls %s of %s", name, file)
						}
					}
				}
				return true
			})
		}
	}
}

func parsed(t *testing.T, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestCheckerKnowsItsLimit: what the checker cannot check is said of the invariant, and it is not accepted.
func TestCheckerKnowsItsLimit(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for id, why := range map[string]string{"token": "", "thread-id": "error.prove.named", "watch-multi": "error.prove.connected"} {
		proof, err := explore.ProveFor(t.Context(), viewModel(t, id, "crash=1"), true, 20_000)
		if err != nil || proof.Invariant == nil || proof.Invariant.Unchecked() != why {
			t.Fatalf("%s: %v, %v", id, err, proof)
		}
		claim := explore.Claim{Absent: []verdict.Word{verdict.Overlap}, Endless: true}
		if _, err := explore.CheckInvariant(t.Context(), viewModel(t, id, "crash=1"), proof.Invariant, claim); (err != nil) != (why != "") {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// TestCheckerOfFallingLocks: a name that only an event of long ago bears is none of what is shared; and what a process keeps is not for the
// checker, which the invariant says.
func TestCheckerOfFallingLocks(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	for name, c := range map[string]struct {
		budget    faults.Budget
		unchecked string
		acquire   func(f *asking, ctx context.Context, key string) (bool, error)
	}{
		"who is refused deletes the key": {"crash=1", "", func(f *asking, ctx context.Context, key string) (bool, error) {
			taken, err := f.node.SetNX(ctx, key, f.token, 0).Result()
			if !taken && err == nil {
				err = f.node.Del(ctx, key).Err()
			}
			return taken, err
		}},
		"counts its attempts": {"", "error.prove.kept", func(f *asking, ctx context.Context, key string) (bool, error) {
			f.asked++
			return f.set(ctx, key)
		}},
	} {
		entry := fallingEntry(name, code{acquire: c.acquire})
		proof, _ := proofOf(t, entry, viewBounds(c.budget), false, 10_000)
		if !proof.Closed || proof.Invariant.Unchecked() != c.unchecked {
			t.Fatalf("%s: %v", name, proof)
		}
		if c.unchecked != "" {
			continue
		}
		if _, err := explore.CheckInvariant(t.Context(), modelOf(t, entry, viewBounds(c.budget)), proof.Invariant, explore.Claim{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
