package lessons

import (
	"strings"

	"locklab/reports/text"
	"locklab/scenarios/race"
)

// Topics are the questions of the interview, by name.
func Topics() []string { return namesBetween("interview.", ".question") }

// TopicsAbout returns the topics whose answers rest on runs of a lock.
func TopicsAbout(id string) (about []string) {
	for _, topic := range Topics() {
		for run := range strings.SplitSeq(text.Say("en", "interview."+topic+".runs"), ",") {
			if strings.HasPrefix(strings.TrimSpace(run), id+" ") {
				about = append(about, topic)
				break
			}
		}
	}
	return about
}

// Interview prints the answers for an interview: the short one, the long one and all
// further questions.
func (t *Teacher) Interview() error {
	t.out.Wrap("", t.out.Say("label.interview"))
	t.aboutVerdicts()
	if err := t.texts(labelled{"short", "interview.short"}, labelled{"long", "interview.long"}); err != nil {
		return err
	}
	t.out.Printf("\n")
	if err := t.behind("interview.long-runs"); err != nil {
		return err
	}
	t.part(t.out.Say("label.questions"))
	for _, topic := range Topics() {
		t.out.Printf("\n")
		if err := t.question(topic); err != nil {
			return err
		}
	}
	t.out.Next("locklab explain interview "+Topics()[0], "locklab explain path", "locklab explain glossary")
	return nil
}

// Question prints one question with its answer and the run that backs it.
func (t *Teacher) Question(topic string) error {
	if err := t.question(topic); err != nil {
		return err
	}
	o, err := t.backing(topic)
	if err != nil || o.History == nil {
		return err
	}
	t.out.Printf("\n")
	if err := t.notation(o); err != nil {
		return err
	}
	t.out.Next("locklab explain "+o.Strategy.ID+" "+o.Scenario.ID, "locklab explain interview")
	return nil
}

func (t *Teacher) question(topic string) error {
	for _, lang := range t.out.Langs() {
		question, err := t.line(lang, "interview."+topic+".question", nil)
		if err != nil {
			return err
		}
		t.out.Wrap("? ", question)
		lines, err := t.filler(lang, nil).lines("interview." + topic + ".answer")
		if err != nil {
			return err
		}
		for _, line := range lines {
			t.out.Wrap("  ", line)
		}
	}
	o, err := t.backing(topic)
	if err != nil {
		return err
	}
	t.backed("  "+t.out.Label("label.trace"), o)
	return t.behind("interview." + topic + ".runs")
}

// behind prints the runs behind an answer that a text lists, such as "token slow-work,
// watchdog slow-work": an answer is spoken and names none of them.
func (t *Teacher) behind(key string) error {
	names := In("en").Name(key)
	if names == "" {
		return nil
	}
	t.out.Wrap("  ", t.out.Say("label.runs"))
	for run := range strings.SplitSeq(names, ",") {
		o, err := t.run(run)
		if err != nil {
			return err
		}
		t.backed("    ", o)
	}
	return nil
}

// backed prints the command that plays a run, and how the run ends.
func (t *Teacher) backed(label string, o *race.Outcome) {
	t.out.Wrap(label, "locklab run "+o.Strategy.ID+" "+o.Scenario.ID+" = "+t.results(o))
}

// backing returns the run that backs an answer.
func (t *Teacher) backing(topic string) (*race.Outcome, error) {
	return t.run(In("en").Name("interview." + topic + ".trace"))
}

// run plays a lock in a race, named as in "token slow-work".
func (t *Teacher) run(names string) (*race.Outcome, error) {
	id, raceID, _ := strings.Cut(strings.TrimSpace(names), " ")
	return t.stage.Named(id, strings.TrimSpace(raceID))
}
