package lessons

// Asynq prints the page about the lock that asynq's unique tasks use: a fleet's tasks go
// through asynq. What the page says of its failures is searched in package
// scenarios/locktest/libraries, with asynq's own code.
func (t *Teacher) Asynq() error {
	t.out.Sentence("asynq.title")
	t.texts(labelled{"how", "asynq.how"}, labelled{"asynq", "asynq.lab"}, labelled{"choose", "asynq.choose"}, labelled{"asynq-fleet", "asynq.here"})
	t.out.Printf("\n")
	t.aboutVerdicts()
	t.out.Next("locklab explain token", "locklab run token slow-work", "locklab run token lost-reply")
	return t.err
}
