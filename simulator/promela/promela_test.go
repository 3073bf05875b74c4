package promela

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/text"
	"locklab/simulator/client"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

// needSpin skips a test without SPIN or a C compiler, or fails it where the environment says CI=true.
func needSpin(t *testing.T) {
	t.Helper()
	effort.Need(t, Installed())
}

// question is two clients with two attempts, in lockstep.
func question(t *testing.T, id, budget string) *explore.Model {
	t.Helper()
	entries := algorithms.All()
	i := slices.IndexFunc(entries, func(e lock.Entry) bool { return e.ID == id })
	parsed, err := faults.Budget(budget).Parse()
	if i < 0 || err != nil {
		t.Fatal(id, err)
	}
	return &explore.Model{Entry: entries[i], Faults: parsed, Scope: explore.Scope{Clients: 2, Attempts: 2, Nodes: min(entries[i].Servers(), 3), TTL: 9 * time.Second}}
}

// plainly is the lab's answer by the plainest search.
func plainly(t *testing.T, b *explore.Model) string {
	t.Helper()
	sim, err := b.Simulator()
	if err != nil {
		t.Fatal(err)
	}
	defer sim.Close()
	opt := b.Options()
	opt.Plain = explore.Plainest
	r, err := explore.Exhaust(t.Context(), sim, opt)
	if err != nil {
		t.Fatal(err)
	}
	var found []Found
	for _, f := range r.Found {
		found = append(found, Found{f.Verdict, f.Par})
	}
	return answer(found, r.States, r.Transitions)
}

func answer(found []Found, states, transitions int) string {
	slices.SortFunc(found, func(a, b Found) int { return strings.Compare(string(a.Verdict), string(b.Verdict)) })
	return fmt.Sprintf("%v in %d states, %d transitions", found, states, transitions)
}

func spin(t *testing.T, b *explore.Model, change func(m *model)) string {
	t.Helper()
	r, err := check(t.Context(), b, b.Entry.ID, change)
	if err != nil {
		t.Fatal(err)
	}
	return answer(r.Found, r.States, r.Transitions)
}

// The tables that are written beside a model are all that it needs: it is searched again
// without the lab, and comes to the same.
func TestSecondOpinionStandsAlone(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	needSpin(t)
	b, dir := question(t, "token", "pause=1"), t.TempDir()
	r, err := Check(t.Context(), b, "token")
	if err != nil {
		t.Fatal(err)
	}
	want := plainly(t, b)
	if got := answer(r.Found, r.States, r.Transitions); got != want {
		t.Errorf("SPIN finds %s, the lab %s", got, want)
	}
	for name, content := range r.Files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) string {
		out, err := command(t.Context(), dir, name, args...)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	_, how, _ := strings.Cut(string(r.Files["token.pml"]), " *   spin -a token.pml && cc ")
	how, _, _ = strings.Cut(how, " && ./pan")
	run("spin", "-a", "token.pml")
	run("cc", strings.Fields(how)...)
	alone, err := (&model{}).read(run("./pan", panArgs...))
	if err != nil {
		t.Fatal(err)
	}
	if got := answer(alone.Found, alone.States, alone.Transitions); got != want {
		t.Errorf("SPIN alone finds %s, the lab %s", got, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "tables.h"), []byte("6,1,1,0,0,1,0, 7,1,1,1,20000,1,0,1,\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	run("cc", strings.Fields(how)...)
	if out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "pan"), panArgs...).CombinedOutput(); err == nil || !strings.Contains(string(out), "do not have what is looked up") {
		t.Errorf("a table that lacks rows: %v, %s", err, out)
	}
}

// The oracle can fail: a judge, a rule or an automaton that is spoiled, however little, makes
// SPIN disagree with the lab.
func TestSecondOpinionCanDisagree(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	needSpin(t)
	b := question(t, "token", "crash=1,pause=1")
	want := plainly(t, b)
	text := func(old, new string) func(m *model) {
		return func(m *model) {
			m.mutateText = func(source string) string {
				if strings.Count(source, old) != 1 {
					t.Errorf("%q is not there once", old)
				}
				return strings.Replace(source, old, new, 1)
			}
		}
	}
	spoils := map[string]func(m *model){
		"a judge: nobody overlaps":   text("!HAS(inside, c) && inside != 0 -> FOUND(OVERLAP)", "inside == 255 -> FOUND(OVERLAP)"),
		"an edge: any token deletes": anyTokenDeletes,
	}
	if effort.Exhaustive() {
		spoils["a rule: nobody pauses before it sends"] = text("RUNS(c) && JUST_ASKED(c)", "0")
		spoils["a judge: a late write is no harm"] = text("value > base ||", "value > base + 99 && value > base ||")
		spoils["a judge: an orphan never refuses"] = text("(remark & CLAIMS) && HAS(met, c)", "(remark & CLAIMS) && met == 255")
		spoils["a rule: what a crashed client has sent is lost"] = text(":: TH(C,thr).phase == ASKING -> add_orphan(oper, C, step)", ":: TH(C,thr).phase == 99 -> add_orphan(oper, C, step)")
		spoils["a rule: a paused client wakes when it could have"] = text("#define RUNS(c) (!P(c).dead && !P(c).paused)", "#define RUNS(c) (!P(c).dead)")
	}
	for name, spoil := range spoils {
		t.Run(name, func(t *testing.T) {
			got := spin(t, b, spoil)
			t.Log(got)
			if got == want {
				t.Error("SPIN agrees with the lab all the same")
			}
		})
	}
}

// The same of an ensemble: the rules of sessions and connections, and what it does to its znodes.
func TestSecondOpinionOfZooKeeperCanDisagree(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	needSpin(t)
	if !effort.Exhaustive() {
		t.Skip("it is for exhaustive tests")
	}
	b := question(t, "zk-recheck", "lose-reply=1,pause=1@10s")
	b.Attempts, b.Uses = 1, client.Wait
	want := plainly(t, b)
	if got := spin(t, b, func(*model) {}); got != want {
		t.Fatalf("SPIN finds %s, the lab %s", got, want)
	}
	text := func(old, new string) func(m *model) {
		return func(m *model) {
			m.mutateText = func(source string) string {
				if strings.Count(source, old) != 1 {
					t.Errorf("%q is not there once", old)
				}
				return strings.Replace(source, old, new, 1)
			}
		}
	}
	rows := func(what int, change func(values []int)) func(m *model) {
		return func(m *model) {
			m.mutateRow = func(r *row) {
				if r.key[0] == what {
					change(r.values)
				}
			}
		}
	}
	for name, spoil := range map[string]func(m *model){
		"nobody hears of a watch":                                    rows(8, func(v []int) { v[0] = 0 }),
		"the first of the line is nobody's":                          rows(6, func(v []int) { v[3] = 0 }),
		"what is under way when a connection breaks never runs":      text("HAS(alive, c) -> act_op", "0 -> act_op"),
		"a client that was paused pings in a session that has ended": text("!HAS(alive, c) -> cut_off(c)", "0 -> cut_off(c)"),
	} {
		t.Run(name, func(t *testing.T) {
			got := spin(t, b, spoil)
			t.Log(got)
			if got == want {
				t.Error("SPIN agrees with the lab all the same")
			}
		})
	}
}

// anyTokenDeletes has the release script delete the key of another.
func anyTokenDeletes(m *model) {
	m.mutateRow = func(r *row) {
		if r.key[0] == 3 && strings.HasPrefix(m.redis.RequestText(uint32(r.key[2]))[0], "EVAL") && r.values[2] == 1 && m.redis.ReplyText(uint32(r.values[1])) == "0" {
			r.values[0], r.values[2] = 0, 0
			copy(r.values[3:], []int{1, 1, 0, 1, 0, m.keys})
		}
	}
}

// What cannot be said is named, with the reason.
func TestSecondOpinionUnfit(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	needSpin(t)
	for id, why := range map[string]string{"zk-semaphore": "several in", "watch-multi": "transactions", "token-wait": "WAIT"} {
		if !slices.ContainsFunc(algorithms.All(), func(e lock.Entry) bool { return e.ID == id }) {
			t.Errorf("no lock %s", id)
			continue
		}
		if _, err := Check(t.Context(), question(t, id, ""), id); err == nil || !strings.Contains(text.SayError("en", err), why) {
			t.Errorf("%s: %v, want a word about %s", id, err, why)
		}
	}
	if _, err := Check(t.Context(), question(t, "token", "restart=1@1s"), "token"); err == nil || !strings.Contains(text.SayError("en", err), "restart") {
		t.Errorf("restart: %v", err)
	}
}

// What SPIN's model inherits is what the code and the engine do. Here both are written by hand, for
// the token lock: a client by the phases of its use, and SET NX PX and compare-and-delete by their definitions.
// Each row of the tables must be one of theirs.
func TestSecondOpinionTokenByDefinition(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	needSpin(t)
	b := question(t, "token", "pause=1,lose-reply=1")
	var m *model
	spin(t, b, func(learned *model) { m = learned })
	servers := 0
	for _, r := range m.rows {
		if r.key[0] != 3 {
			continue
		}
		servers++
		held := strings.TrimSuffix(strings.TrimPrefix(m.redis.KeysText(uint32(r.key[1])), "lock="), " (expires)")
		request := m.redis.RequestText(uint32(r.key[2]))
		after, reply, life := held, "", false
		switch {
		case request[0] == "SET": // SET lock token NX PX 9000
			if reply = "(nil)"; held == "" {
				after, reply, life = request[2], "OK", true
			}
		default: // EVAL script 1 lock token
			if reply = "0"; held == request[len(request)-1] {
				after, reply = "", "1"
			}
		}
		now := strings.TrimSuffix(strings.TrimPrefix(m.redis.KeysText(uint32(r.values[0])), "lock="), " (expires)")
		if now != after || m.redis.ReplyText(uint32(r.values[1])) != reply || (r.values[3] == 1) != (held != after) || life && (r.values[10] != m.keys || r.values[11] != 9000) || !life && after != "" && r.values[10] != 0 {
			t.Errorf("%q, %v: then %q, %s: %v; by definition %q, %s", held, request, now, m.redis.ReplyText(uint32(r.values[1])), r.values, after, reply)
		}
	}
	clients := followHand(t, m)
	t.Logf("%d rows of servers, %d of clients", servers, clients)
	if servers < 8 || clients < 50 {
		t.Errorf("%d rows of servers and %d of clients were compared", servers, clients)
	}
}

// hand is a client of the token lock, as its definition has it: where it is in its program, and in
// which attempt. The probe works for no time, and asks again after all leases.
type hand struct {
	at      string
	attempt int
	base    int
}

// says is what the client does when it observes something: what it notes, and what it waits for then.
func (h hand) says(m *model, c, kind, value int) (next hand, notes, wait string) {
	probe := c == m.bounds.Clients+1
	replied := ""
	if kind == 2 {
		replied = m.redis.ReplyText(uint32(value))
	}
	token := fmt.Sprintf("c%d.%d", c, h.attempt+1)
	rest := "sleep 9900"
	if probe {
		rest = "sleep 19800"
	}
	ask := func(n int) (hand, string, string) {
		return hand{at: "asking", attempt: n}, "acquire", "SET lock " + fmt.Sprintf("c%d.%d", c, n+1) + " NX PX 9000"
	}
	over := func(notes string) (hand, string, string) { // an attempt
		switch {
		case probe:
			return hand{at: "ended"}, notes, ""
		case h.attempt+1 < m.bounds.Attempts:
			return hand{at: "resting", attempt: h.attempt + 1}, notes, rest
		}
		return hand{at: "ended"}, notes + " done", ""
	}
	switch h.at {
	case "": // not begun
		return ask(0)
	case "resting":
		return ask(h.attempt)
	case "asking":
		switch {
		case replied == "OK" && probe:
			return hand{at: "releasing", attempt: h.attempt}, "enter leave release", "EVAL " + token
		case replied == "OK":
			return hand{at: "reading", attempt: h.attempt}, "enter", "read"
		case probe:
			h.at = "waiting"
			return h, "refuse", rest
		}
		return over("refuse")
	case "reading":
		if kind != 2 {
			return hand{at: "working", attempt: h.attempt, base: -1}, "", "sleep 3600"
		}
		return hand{at: "working", attempt: h.attempt, base: value}, "", "sleep 3600"
	case "working":
		if h.base < 0 {
			return hand{at: "releasing", attempt: h.attempt}, "leave release", "EVAL " + token
		}
		return hand{at: "writing", attempt: h.attempt}, "", "write " + strconv.Itoa(h.base)
	case "writing", "tail":
		if h.at == "writing" && kind != 99 {
			return hand{at: "tail", attempt: h.attempt}, "", "sleep 0"
		}
		return hand{at: "releasing", attempt: h.attempt}, "leave release", "EVAL " + token
	case "releasing":
		return over("released")
	case "waiting":
		return ask(h.attempt + 1)
	}
	return h, "", "nothing by definition"
}

// followHand walks through the tables beside the hand model, from each client's beginning, and
// returns how many rows it has compared.
func followHand(t *testing.T, m *model) (compared int) {
	rows := map[[2]int][]row{}
	ops := map[int]row{}
	for _, r := range m.rows {
		switch r.key[0] {
		case 1:
			from := [2]int{r.key[1], r.key[2]}
			rows[from] = append(rows[from], r)
		case 2:
			ops[r.key[1]] = r
		}
	}
	type pair struct {
		client, entry int
		hand          hand
	}
	seen := map[pair]bool{}
	var todo []pair
	for c := range m.bounds.Clients + 1 {
		todo = append(todo, pair{c + 1, 0, hand{}})
	}
	for len(todo) > 0 {
		p := todo[0]
		todo = todo[1:]
		if seen[p] {
			continue
		}
		seen[p] = true
		for _, r := range rows[[2]int{p.client, p.entry}] {
			compared++
			next, notes, wait := p.hand.says(m, p.client, r.key[4], r.key[5])
			var did []string
			for i := range r.values[2] {
				did = append(did, []string{"", "acquire", "enter", "refuse", "leave", "release", "released", "done"}[r.values[3+m.threads+3*i]])
			}
			if got := strings.Join(did, " "); got != notes || m.waitsFor(ops[r.values[3]]) != wait {
				t.Fatalf("c%d, %+v, observes %v: the code notes %q and waits for %q; by definition %q and %q", p.client, p.hand, r.key[4:], got, m.waitsFor(ops[r.values[3]]), notes, wait)
			}
			todo = append(todo, pair{p.client, r.values[0], next})
		}
	}
	return compared
}

// waitsFor says an operation in the words of the hand model.
func (m *model) waitsFor(r row) string {
	if r.values == nil {
		return ""
	}
	switch r.values[0] {
	case 2:
		said := m.redis.RequestText(uint32(r.values[1]))
		if said[0] == "EVAL" {
			return "EVAL " + said[len(said)-1]
		}
		return strings.Join(said, " ")
	case 3:
		return "read"
	case 4:
		return fmt.Sprintf("write %d", r.values[1])
	case 5:
		return fmt.Sprintf("sleep %d", r.values[1])
	}
	return ""
}
