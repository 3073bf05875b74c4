package simulator

import (
	"time"

	"locklab/simulator/i18n"
	"locklab/simulator/node"
)

// A Choice is one thing that may happen next, and a Verb says what it does.
type (
	Choice = node.Choice
	Verb   = node.Verb
)

// The ordinary course of things; see package node. Faults use verbs of their own,
// from FaultVerb on.
const (
	Pass      = node.Pass
	Arrive    = node.Arrive
	Answer    = node.Answer
	Wake      = node.Wake
	GiveUp    = node.GiveUp
	Resume    = node.Resume
	Orphaned  = node.Orphaned
	Replicate = node.Replicate
	Start     = node.Start
	Unblock   = node.Unblock
	Heal      = node.Heal
	Deliver   = node.Deliver
	Reconnect = node.Reconnect
	Survive   = node.Survive
	Choose    = node.Choose
	End       = node.End

	FaultVerb = node.FaultVerb
)

// Pending is the Thread of a Pass by which what ends then still stands; see package node.
const Pending = node.Pending

// FaultsIn returns the number of choices that inject a fault.
func FaultsIn(choices []Choice) (n int) {
	for _, c := range choices {
		if c.Verb >= FaultVerb {
			n++
		}
	}
	return n
}

// NotEnabledError is a choice that cannot happen in the world it was made in.
type NotEnabledError struct {
	Choice string
	At     time.Duration // true time
	Why    i18n.Message
}

func (e *NotEnabledError) Error() string { return "simulator: " + e.Message().String() }

// Message implements i18n.Error.
func (e *NotEnabledError) Message() i18n.Message {
	return i18n.New("error.notenabled", "choice", e.Choice, "time", e.At, "why", e.Why)
}

// Describe is a choice in words.
func (s *Simulator) Describe(c Choice) string {
	for _, f := range s.config.Faults {
		if f.Fault.Verb == c.Verb {
			return c.Text(f.Fault.Name)
		}
	}
	return c.String()
}
