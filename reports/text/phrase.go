package text

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// A Sentence can be said in every language. A Phrase is one, an error of Errorf, and an
// error type of another package that reaches users.
type Sentence interface{ Say(lang string) string }

// A SentenceFunc is a function as a Sentence.
type SentenceFunc func(lang string) string

// Say is f.
func (f SentenceFunc) Say(lang string) string { return f(lang) }

// A Phrase is a text of the catalogues and the values of its placeholders, in no
// language yet. A value that is a Sentence or an error is said in the language of the
// whole; every other value is printed as fmt.Print does, with control characters escaped.
// The zero Phrase is the empty text.
type Phrase struct {
	Key   string
	Pairs []any // name, value, name, value ...
}

// NewPhrase returns the text of a key: NewPhrase("error.setting.absent", "name", "jump").
func NewPhrase(key string, pairs ...any) Phrase { return Phrase{key, pairs} }

// IsZero says whether p is the empty text.
func (p Phrase) IsZero() bool { return p.Key == "" }

// Say returns the text in a language.
func (p Phrase) Say(lang string) string {
	pairs := make([]string, len(p.Pairs))
	for i, v := range p.Pairs {
		pairs[i] = say(lang, v)
	}
	return Say(lang, p.Key, pairs...)
}

// Fits reports whether the catalogues have the key, and p a value for each placeholder of
// its text, and likewise the phrases among its values.
func (p Phrase) Fits() bool {
	e, ok := In(fallback).Entry(p.Key)
	if !ok || len(p.Pairs)%2 != 0 {
		return false
	}
	left := e.Text
	for i := 0; i < len(p.Pairs); i += 2 {
		name, ok := p.Pairs[i].(string)
		if inner, is := p.Pairs[i+1].(Phrase); !ok || is && !inner.Fits() {
			return false
		}
		left = strings.ReplaceAll(left, "{"+name+"}", "")
	}
	return !placeholders.MatchString(left)
}

var placeholders = regexp.MustCompile(`\{[a-z-]+\}`)

// MarshalJSON writes the key and the values. A value that is neither a Phrase nor an error
// with such a text becomes its words: it says the same in every language.
func (p Phrase) MarshalJSON() ([]byte, error) {
	if p.IsZero() {
		return []byte("null"), nil
	}
	pairs := make([]any, len(p.Pairs))
	for i, v := range p.Pairs {
		switch v := v.(type) {
		case Phrase:
			pairs[i] = v
		case *phraseError:
			pairs[i] = v.Phrase
		default:
			pairs[i] = say("en", v)
		}
	}
	return json.Marshal(phraseJSON{p.Key, pairs})
}

type phraseJSON struct {
	Key   string `json:"key"`
	Pairs []any  `json:"pairs,omitempty"`
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Phrase) UnmarshalJSON(b []byte) error {
	var j struct {
		Key   string            `json:"key"`
		Pairs []json.RawMessage `json:"pairs"`
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*p = Phrase{Key: j.Key}
	for _, raw := range j.Pairs {
		words, inner := "", Phrase{}
		if err := json.Unmarshal(raw, &words); err == nil {
			p.Pairs = append(p.Pairs, words)
			continue
		}
		if err := json.Unmarshal(raw, &inner); err != nil {
			return err
		}
		p.Pairs = append(p.Pairs, inner)
	}
	return nil
}

func say(lang string, v any) string {
	switch v := v.(type) {
	case Sentence:
		return v.Say(lang)
	case error:
		return SayError(lang, v)
	}
	return printable(fmt.Sprint(v))
}

// printable is Visible, except for the end of a line.
func printable(s string) string {
	return escaped(s, func(r rune) bool { return controls(r) && r != '\n' })
}

// phraseError is a Phrase that says what is wrong.
type phraseError struct{ Phrase }

// Errorf returns an error with a text of the catalogues. It wraps every value that is an
// error. Its Error method speaks English; Printer.Error speaks the user's language.
func Errorf(key string, pairs ...any) error { return &phraseError{NewPhrase(key, pairs...)} }

func (e *phraseError) Error() string { return e.Say("en") }

func (e *phraseError) Unwrap() (causes []error) {
	for _, v := range e.Pairs {
		if err, ok := v.(error); ok {
			causes = append(causes, err)
		}
	}
	return causes
}

// SayError returns what an error says in a language. An error that is no Sentence keeps its
// words, such as the name of a file, around those that it wraps.
func SayError(lang string, err error) string {
	if s, ok := err.(Sentence); ok {
		return s.Say(lang)
	}
	told := err.Error()
	for _, cause := range causes(err) {
		told = strings.Replace(told, cause.Error(), SayError(lang, cause), 1)
	}
	return told
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
func Lines(errs []error) Sentence { return lines(errs) }

type lines []error

func (l lines) Say(lang string) string {
	var b strings.Builder
	for _, err := range l {
		b.WriteString("\n  " + SayError(lang, err))
	}
	return b.String()
}
