package text

import (
	"fmt"
	"strings"
	"time"

	"locklab/simulator/i18n"
	"locklab/simulator/lists"
)

// SayMessage returns a message in a language.
func SayMessage(lang string, m i18n.Message) string {
	pairs := lists.Each(m.Pairs, func(v any) string { return say(lang, v) })
	return Say(lang, m.Key, pairs...)
}

// SayMessages returns messages in a language, in one line.
func SayMessages(lang string, messages []i18n.Message) string {
	all := lists.Each(messages, func(m i18n.Message) string { return SayMessage(lang, m) })
	return strings.Join(all, "; ")
}

// A Sentence is a value of a message that is put into words by its own method.
type Sentence interface{ Say(lang string) string }

// A SentenceFunc is a function as a Sentence.
type SentenceFunc func(lang string) string

// Say is f.
func (f SentenceFunc) Say(lang string) string { return f(lang) }

// say puts a value into words, with control characters escaped.
func say(lang string, v any) string {
	switch v := v.(type) {
	case Sentence:
		return v.Say(lang)
	case i18n.Message:
		return SayMessage(lang, v)
	case error:
		return SayError(lang, v)
	case time.Duration:
		return strings.ReplaceAll(strings.ReplaceAll(v.String(), "m0s", "m"), "h0m", "h") // 24h, not 24h0m0s
	case i18n.Verbatim:
		return string(v)
	}
	return i18n.Escaped(fmt.Sprint(v), func(r rune) bool { return i18n.Controls(r) && r != '\n' })
}

// Errorf is i18n.Errorf.
func Errorf(key string, pairs ...any) error { return i18n.Errorf(key, pairs...) }

// SayError returns what an error says in a language. An error without a message keeps its
// words, such as the name of a file, around those that it wraps; those of the system are in the catalogues.
func SayError(lang string, err error) string {
	if e, ok := err.(i18n.Error); ok {
		return SayMessage(lang, e.Message())
	}
	said := err.Error()
	if key := "error.system." + strings.ReplaceAll(said, " ", "-"); In(lang).Has(key) {
		return Say(lang, key)
	}
	for _, cause := range causes(err) {
		said = strings.Replace(said, cause.Error(), SayError(lang, cause), 1)
	}
	return said
}

func causes(err error) []error {
	switch err := err.(type) {
	case interface{ Unwrap() []error }:
		return err.Unwrap()
	case interface{ Unwrap() error }:
		if cause := err.Unwrap(); cause != nil {
			return []error{cause}
		}
	}
	return nil
}

// Lines are errors as a list, each on a line of its own below the sentence that has it.
func Lines(errs []error) Sentence {
	return SentenceFunc(func(lang string) string {
		var b strings.Builder
		for _, err := range errs {
			b.WriteString("\n  " + SayError(lang, err))
		}
		return b.String()
	})
}

// Near is i18n.Near.
func Near(name string, names []string) i18n.Message { return i18n.Near(name, names) }
