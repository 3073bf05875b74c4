package reports

import (
	"strconv"
	"strings"
	"time"

	"locklab/reports/text"
	"locklab/simulator/history"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// say fills in a text of the catalogues.
var say = text.Say

// Meaning says in one line what a verdict means. An unknown verdict gives "".
func Meaning(w verdict.Word, lang string) string { return entry(lang, "meaning."+string(w)) }

// Forever says what it costs that a key never expires.
func Forever(lang string) string {
	return say(lang, "price.sentence", "price", say(lang, "price.forever"))
}

// Cure says in one line what mends a verdict, like Meaning.
func Cure(w verdict.Word, lang string) string { return entry(lang, "cure."+string(w)) }

func entry(lang, key string) string {
	e, _ := text.In(lang).Entry(key)
	return e.Text
}

// Words joins verdicts by blanks.
func Words(words []verdict.Word) string { return strings.Join(verdict.Names(words), " ") }

// clientName is how every view calls a client: c1.
func clientName(c int) string { return "c" + strconv.Itoa(c) }

func nodeName(n int) string { return "n" + strconv.Itoa(n) }

// ServerName names the one server of a run.
func ServerName(h *history.History) string {
	switch {
	case h.ZooKeeper:
		return "zookeeper"
	case h.Database:
		return "database"
	}
	return "redis"
}

// ClientNames joins the names of clients.
func ClientNames(cs []int, sep string) string { return strings.Join(lists.Each(cs, clientName), sep) }

// Millis prints t in milliseconds, with that many decimals; see Decimals.
func Millis(t time.Duration, decimals int) string {
	return strconv.FormatFloat(float64(t)/float64(time.Millisecond), 'f', decimals, 64)
}

// Decimals is 0 if all events of a run lie on whole milliseconds, else 1.
func Decimals(h *history.History) int {
	for _, e := range h.Events {
		if e.At%time.Millisecond != 0 {
			return 1
		}
	}
	return 0
}

// Span prints a length of time briefly: 250ms, 28s, 1.5s.
func Span(d time.Duration) string {
	if d < time.Second && d > -time.Second {
		return d.Round(time.Microsecond).String()
	}
	// one division: the sum that Seconds is can be off in the last digit, 3.8970000000000002
	return strconv.FormatFloat(float64(d.Round(time.Millisecond).Milliseconds())/1000, 'f', -1, 64) + "s"
}

// Brief is a time rounded to what fits into a cell: three digits or less.
func Brief(d time.Duration) time.Duration {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond)
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}

// SaidWords lists verdicts, in a language of its own each with what it is called there.
func SaidWords(lang string, words []verdict.Word) string {
	return text.Join(lang, "chart.list", lists.Each(verdict.Names(words), func(v string) string {
		return say(lang, "word.said", "word", v, "means", say(lang, "word."+v))
	}))
}

// InWords writes a length of time as "9.5 s" or "9.5 秒".
func InWords(lang string, d time.Duration) string {
	if d < time.Second {
		return say(lang, "part.millis", "n", Millis(d.Round(time.Second/10000), -1))
	}
	return say(lang, "part.seconds", "n", strconv.FormatFloat(d.Round(time.Second/10).Seconds(), 'f', -1, 64))
}

func signed(d time.Duration) string {
	if d < 0 {
		return Span(d)
	}
	return "+" + Span(d)
}
