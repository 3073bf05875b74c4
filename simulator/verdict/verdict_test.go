package verdict_test

import (
	"fmt"
	. "locklab/simulator/verdict"
	"slices"
	"strings"
	"testing"

	"locklab/simulator/history"
)

// A row is a small history, the findings that it must have, and the rule that it tests.
type row struct {
	rule  string
	nodes int // if more than the text names
	text  string
	want  string
}

func judge(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		h := tell(t, r.text)
		h.Nodes = max(h.Nodes, r.nodes)
		if got := short(Judge(h).Findings); got != r.want {
			t.Errorf("%s\n%s\nfound %q\nwant  %q", r.rule, strings.ReplaceAll(r.text, "|", "\n"), got, r.want)
		}
	}
}

// has is a client that asks at 0, is granted until 10 and enters.
const has = "0 c1 acquire | 0 c1 set a until 10 | 0 c1 enter | "

// TestStarved: what is no row here or in TestHistories TestSecondOpinionOfCharges and TestOverlapTwin find in random
// histories.
func TestStarved(t *testing.T) {
	round := func(at string) string {
		return strings.ReplaceAll("@ c1 acquire | @ c2 acquire | @ c1 set@1 a until 99 | @ c2 set@2 b until 99 | "+
			"@ c1 del@1 | @ c1 refuse | @ c2 del@2 | @ c2 refuse | ", "@ ", at+" ")
	}
	four := round("1") + round("2") + round("3") + round("4")
	judge(t, []row{
		{rule: "ten refusals in a row, and nobody had it", nodes: 3, text: four + round("5") + "6 c1 sleep",
			want: "STARVED 1 2 1..6"},
		{rule: "an entry begins a new row", nodes: 3,
			text: four + "5 c1 acquire | 5 c1 enter | 5 c1 leave | 5 c1 release | 5 c1 released | " + round("6") +
				round("7") + "8 c1 sleep"},
		{rule: "a leftover explains the refusals", nodes: 3,
			text: "0 c3 acquire | 0 c3 set@3 c until 99 | 0 c3 crash | " + four + round("5") + "6 c1 sleep"},
		{rule: "the entry that ends it", nodes: 3, text: four + round("5") + "6 c1 acquire | 7 c1 enter",
			want: "STARVED 1 2 1..7"},
		{rule: "a client that gives up by itself was not refused", nodes: 3,
			text: four + strings.Repeat("5 c1 acquire | 5 c1 refuse "+history.GaveUp+" | ", 2) + "6 c1 sleep"},
		{rule: "a crash explains them on a lock that does not live on the key",
			text: "0 c3 acquire | 0 c3 enter | 0 c3 crash | " + strings.Repeat("1 c1 acquire | 1 c1 refuse | ", 10) +
				"2 c1 sleep", want: "UNKNOWN 3 1 0..2"},
	})
}

func TestOvertaken(t *testing.T) {
	turn := "@ c2 acquire | @ c2 enter | @ c1 acquire | @ c1 refuse | @ c2 leave | @ c2 release | @ c2 released | "
	turns := func(from, to int) (s string) {
		for at := from; at <= to; at++ {
			s += strings.ReplaceAll(turn, "@ ", fmt.Sprint(at, " "))
		}
		return s
	}
	const enters = "c1 acquire | 50 c1 enter"
	judge(t, []row{
		{rule: "ten rounds, and then its turn", text: turns(0, 10) + "50 " + enters, want: "STARVED 1 0..50"},
		{rule: "the end of the run", text: turns(0, 10) + "40 c2 sleep", want: "STARVED 1 0..40"},
		{rule: "its death", text: turns(0, 10) + "20 c1 crash | 40 c2 sleep", want: "STARVED 1 0..20"},
		{rule: "a turn of its own begins a new row", text: turns(0, 5) +
			"6 c1 acquire | 6 c1 enter | 6 c1 leave | 6 c1 release | 6 c1 released | " + turns(7, 13) + "50 " + enters},
		{rule: "a client that asks once is overtaken once", text: "0 c1 acquire | 0 c1 refuse | " +
			strings.Repeat("1 c2 acquire | 1 c2 enter | 1 c2 leave | 1 c2 release | 1 c2 released | ", 20) +
			"2 c1 acquire | 2 c1 refuse | 50 " + enters},
		{rule: "a lock taken again by its holder overtakes nobody", text: "0 c2 acquire | 0 c2 enter | " +
			strings.Repeat("1 c1 acquire | 1 c1 refuse | 1 c2 acquire | 1 c2 enter | "+
				"1 c2 release | 1 c2 released | ", 20) +
			"2 c2 leave | 2 c2 release | 2 c2 released | 50 " + enters},
	})
}

func TestContended(t *testing.T) {
	for _, r := range []struct {
		rule string
		text string
		want bool
	}{
		{"one after the other", has + "1 c1 leave | 1 c1 release | 1 c1 del | 1 c1 released | 2 c2 acquire", false},
		{"while another is inside", has + "1 c2 acquire | 2 c2 refuse", true},
		{"while another, inside, has lost it without knowing", has + "10 n1 expire | 11 c2 acquire", true},
		{"while another is asking", "0 c1 acquire | 0 c2 acquire", true},
		{"while another gives it back", has + "1 c1 leave | 1 c1 release | 1 c1 del | 1 c2 acquire", true},
		{"while a dead one's key stands", has + "1 c1 crash | 2 c2 acquire", true},
		{"alone with its own leftover", has + "1 c1 leave exception | 2 c1 acquire", false},
	} {
		if got := Judge(tell(t, r.text)).Contended; got != r.want {
			t.Errorf("%s: contended %t, want %t", r.rule, got, r.want)
		}
	}
}

func TestWords(t *testing.T) {
	quiet := Judge(tell(t, has+"1 c1 leave"))
	broken := Judge(tell(t, "0 c1 acquire | 0 c1 apply | 1 c1 refuse | 1 c1 set a until never | "+
		"2 c2 acquire | 2 c2 apply | 2 c2 refuse | 3 c2 write 0 | 4 c1 write 0"))
	open := Judge(tell(t, has+"1 c1 crash | 2 c2 acquire | 2 c2 apply | 2 c2 refuse"))
	equal := func(what string, got []Word, want ...Word) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	equal("nothing found", quiet.Verdicts, Holds)
	equal("no order of time", broken.Verdicts, StaleWrite, Orphan, Unknown)

	equal("broken beats unknown and vacuous", Settle(broken, false), StaleWrite, Orphan)
	equal("unknown beats vacuous", Settle(open, false), Unknown)
	equal("vacuous beats holds", Settle(quiet, false), Vacuous)
	equal("holds", Settle(quiet, true), Holds)

	if cap(quiet.Verdicts) != 1 {
		t.Error("the list that all quiet judgements share can be appended to in place")
	}
}

// Nothing found, nothing allocated.
func TestNoAllocations(t *testing.T) {
	h := tell(t, has+"0 c1 send | 0 c1 apply | 1 c2 acquire | 1 c2 refuse | 1 c1 read | 1 c1 sleep | "+
		"2 c1 wake | 2 c1 write 0 | 3 c1 leave | 3 c1 release | 3 c1 del | 3 c1 released ok")
	if n := testing.AllocsPerRun(100, func() { Judge(h) }); n != 0 || Judge(h).Verdicts[0] != Holds {
		t.Errorf("%v allocations to judge a quiet run: %v", n, Judge(h).Verdicts)
	}
}
