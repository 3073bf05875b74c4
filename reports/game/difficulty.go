package game

import (
	"slices"
	"strings"

	"locklab/scenarios/race"
	"locklab/simulator/i18n"
)

// A Difficulty is how hard a question is: as hard as its lock or its race, whichever is harder.
type Difficulty int

// The difficulties; AnyDifficulty asks for none of them.
const (
	AnyDifficulty Difficulty = iota
	Easy
	Medium
	Hard
)

// Difficulties are their names.
var Difficulties = []string{"easy", "medium", "hard"}

// ParseDifficulty reads a name; "" is AnyDifficulty. The error names them all.
func ParseDifficulty(name string) (Difficulty, error) {
	if name == "" {
		return AnyDifficulty, nil
	}
	i := slices.Index(Difficulties, strings.ToLower(name))
	if i < 0 {
		return AnyDifficulty, i18n.Errorf("error.quiz.difficulty", "name", name, "names", strings.Join(Difficulties, ", "))
	}
	return Easy + Difficulty(i), nil
}

// What an article begins with is easy; several servers, ZooKeeper and clocks that are wrong are hard.
var (
	easyLocks = []string{"mutex", "setnx", "setnx-expire", "token"}
	easyRaces = []string{"calm", "crash-holding", "crash-before-expire", "slow-work", "late-release", "gc-pause"}
)

func difficultyOf(c Cell) Difficulty {
	entry, err := race.Strategy(c.Lock)
	switch {
	case err == nil && (entry.Servers() > 1 || entry.OnZooKeeper()) || clocked(c.Race):
		return Hard
	case slices.Contains(easyLocks, c.Lock) && slices.Contains(easyRaces, c.Race):
		return Easy
	}
	return Medium
}

func clocked(race string) bool {
	return strings.Contains(race, "clock") || strings.Contains(race, "skew") || strings.Contains(race, "drift")
}
