package scenarios
import ("testing";"fmt";"locklab/algorithms";"time")
func TestScratch(t *testing.T){
	for _, sc := range All() {
		fmt.Printf("[%s]\n", sc.ID)
		for _, e := range algorithms.All() {
			s0:=time.Now()
			o, err := Play(e, sc, sc.Settings)
			if err != nil { fmt.Println("   ", e.ID, "ERR", err); continue }
			fmt.Printf("%-13s %v reached=%v contended=%v %s %v link=%d\n", e.ID, o.Verdicts, o.Reached, o.Judgement.Contended, o.NotApplicable, time.Since(s0), len(o.Trace.Link()))
			for _, m := range o.Missed { fmt.Println("      missed", m) }
		}
	}
}
