package race

import (
	"locklab/simulator/client"
	"locklab/simulator/history"
)

// Makes matches the event by which a command of client c creates the key.
func CreatesKey(c int) func(*history.Event) bool {
	return func(e *history.Event) bool {
		return e.Kind == history.Change && e.Client == c && e.Key == client.Key && e.Before == ""
	}
}
