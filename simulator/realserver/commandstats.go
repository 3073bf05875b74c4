package realserver

import (
	"fmt"
	"strconv"
	"strings"
)

// ResetCommands has a redis-server count its commands from 0.
func (w *Wire) ResetCommands() error {
	_, err := w.Do("CONFIG", "RESETSTAT")
	return err
}

// Commands are how many commands a redis-server has executed, those that scripts call included,
// by their names in small letters. What connections say of themselves, and what is asked here, is
// left out.
func (w *Wire) Commands() (map[string]int, error) {
	said, err := w.Do("INFO", "commandstats")
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for line := range strings.Lines(fmt.Sprint(said)) {
		name, stats, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "cmdstat_"), ":calls=")
		if !ok {
			continue
		}
		name, _, _ = strings.Cut(name, "|") // client|setinfo
		switch name {
		case "hello", "client", "select", "auth", "ping", "config", "info", "command":
			continue
		}
		calls, _, _ := strings.Cut(stats, ",")
		n, err := strconv.Atoi(calls)
		if err != nil {
			return nil, fmt.Errorf("INFO commandstats says %q: %w", line, err)
		}
		counts[name] += n
	}
	return counts, nil
}
