package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
	"locklab/simulator/lists"
)

// A Bound is one of the Bounds. Flags, headers of contracts, links and JSON have it by the same name, and read and
// write it in the same way; the text about it is help.flag.NAME.
type Bound struct {
	Name string
	Kind string // what a value is: "int", "duration", "bool", or "string" where it may be a word
	In   Place
	// Parse sets the bound. The error says what to write in place of the value.
	Parse func(b *Bounds, written string) error
	// Format writes what Parse reads.
	Format func(b Bounds) string
	Check  func(b Bounds) error // says what to write in place of a number out of range
}

// A Place is where a bound is written.
type Place int

const (
	Everywhere Place = iota
	InLinks          // only: a search sets it, or a test
	InCommands       // and in contracts, but in no link: a run that was found is within any limit
)

// Table is all bounds, in the order of help texts.
var Table = []Bound{
	number("clients", 1, simulator.MaxClients-2, func(b *Bounds) *int { return &b.Clients }).
		refuses(AnyTimes, "error.clients.any"),
	number("attempts", 1, mostAttempts, func(b *Bounds) *int { return &b.Attempts },
		word[int]{"auto", AutoAttempts}, word[int]{AnyTimes, AnyAttempts}),
	named("timing", func(b *Bounds) *Mode { return &b.Timing }, AnyTiming, Lockstep, AutoTiming),
	number("retries", 0, explore.MaxRetries, func(b *Bounds) *int { return &b.Retries },
		word[int]{"auto", AutoRetries}),
	number("nodes", 0, simulator.MaxNodes, func(b *Bounds) *int { return &b.Nodes }),
	number("ttl", minTTL, longest, func(b *Bounds) *time.Duration { return &b.TTL }),
	boolean("fenced", func(b *Bounds) *bool { return &b.Fenced }),
	number("work", 0, longest, func(b *Bounds) *time.Duration { return &b.Work }),
	number("latency", 0, longest, func(b *Bounds) *time.Duration { return &b.Latency }, late...),
	number("lateness", 0, longest, func(b *Bounds) *time.Duration { return &b.Lateness }, late...),
	bound("uses", "string", func(b *Bounds) *client.Uses { return &b.Uses }, parseUses, formatUses),
	number("client-retries", 0, 5, func(b *Bounds) *int { return &b.ClientRetries }), // 3 is go-redis's default
	number("skew", 0, longest, func(b *Bounds) *time.Duration { return &b.Skew }),
	named("tokens", func(b *Bounds) *client.Tokens { return &b.Tokens },
		client.Unique, client.Thread, client.Prefix, client.Constant, client.TimeOfDay),
	number("slow", 0, longest, func(b *Bounds) *time.Duration { return &b.Slow }).in(InLinks),
	number("noisy", 0, 10_000, func(b *Bounds) *int { return &b.Noisy }).in(InLinks), // requests of one client a second
	boolean("idle", func(b *Bounds) *bool { return &b.Idle }).in(InLinks),
	boolean("late", func(b *Bounds) *bool { return &b.Late }).in(InLinks),
	bound(simulator.EpochSetting, "", func(b *Bounds) *simulator.Date { return &b.Epoch },
		simulator.ParseDate, simulator.Date.String).in(InLinks),
	{Name: "budget", Kind: "string", Check: inRange, Format: writtenBudget,
		Parse: func(b *Bounds, written string) (err error) {
			b.Budget, b.Endless, err = ParseBudget(written) // Check reads it
			return err
		}},
	number("max-states", 0, 1e12, func(b *Bounds) *int { return &b.MaxStates }).in(InCommands),
}

// Names are the names of the bounds that are written in contracts and in command lines.
func Names() []string {
	written := lists.Pick(Table, func(one Bound) bool { return one.In != InLinks })
	return lists.Each(written, func(one Bound) string { return one.Name })
}

// ProofNames are those that a proof for any number of clients has.
func ProofNames() []string { return []string{"nodes", "ttl", "work", "budget"} }

// BoundOf returns the bound of a name; false: there is none.
func BoundOf(name string) (Bound, bool) {
	i := slices.IndexFunc(Table, func(one Bound) bool { return one.Name == name })
	if i < 0 {
		return Bound{}, false
	}
	return Table[i], true
}

// item writes a bound with its name.
func (o Bound) item(b Bounds) string { return o.Name + "=" + o.Format(b) }

func (o Bound) in(p Place) Bound {
	o.In = p
	return o
}

// refuses returns the bound with an error of its own for a value, by its key.
func (o Bound) refuses(value, key string) Bound {
	parse := o.Parse
	o.Parse = func(b *Bounds, written string) error {
		if written == value {
			return i18n.Errorf(key)
		}
		return parse(b, written)
	}
	return o
}

// inRange is the check of a bound of which every value that Parse reads is right.
func inRange(Bounds) error { return nil }

// bound is the bound that a field is.
func bound[T any](name, kind string, of func(*Bounds) *T, parse func(string) (T, error), format func(T) string) Bound {
	return Bound{Name: name, Kind: kind, Check: inRange, Format: func(b Bounds) string { return format(*of(&b)) },
		Parse: func(b *Bounds, written string) error {
			v, err := parse(written)
			if err == nil {
				*of(b) = v
			}
			return err
		}}
}

// A word stands for a value of a bound that is else a number.
type word[T any] struct {
	written string
	value   T
}

// late are the words of Latency and Lateness.
var late = []word[time.Duration]{{"auto", 0}, {"0s", AtOnce}}

// number is a bound with a least and a greatest value, which may be one of some words too.
func number[T int | time.Duration](name string, least, most T, of func(*Bounds) *T, words ...word[T]) Bound {
	kind, want := "int", i18n.Errorf("error.want.range", "least", least, "most", most)
	read, unread := func(s string) (T, error) { n, err := strconv.Atoi(s); return T(n), err }, want
	if _, length := any(least).(time.Duration); length {
		kind, unread = "duration", i18n.Errorf("error.want.length")
		read = func(s string) (T, error) { d, err := time.ParseDuration(s); return T(d), err }
	}
	if words != nil {
		or := lists.Each(words, func(w word[T]) string { return w.written })
		or = slices.DeleteFunc(or, func(s string) bool { _, err := read(s); return err == nil })
		kind, want = "string", i18n.Errorf("error.want.range.or", "least", least, "most", most, "words",
			strings.Join(or, ", "))
		unread = want
	}
	at := func(is func(w word[T]) bool) int { return slices.IndexFunc(words, is) }
	b := bound(name, kind, of, func(written string) (T, error) {
		v, err := read(written)
		if err == nil {
			written = fmt.Sprint(v)
		}
		if i := at(func(w word[T]) bool { return w.written == written }); i >= 0 {
			return words[i].value, nil
		}
		if err != nil || words != nil && v < least { // a number that stands for a word
			return v, unread
		}
		return v, nil
	}, func(v T) string {
		if i := at(func(w word[T]) bool { return w.value == v }); i >= 0 {
			return words[i].written
		}
		return fmt.Sprint(v)
	})
	b.Check = func(b Bounds) error {
		v := *of(&b)
		if (v < least || v > most) && at(func(w word[T]) bool { return w.value == v }) < 0 {
			return want
		}
		return nil
	}
	return b
}

// boolean is a bound that is there or not.
func boolean(name string, of func(*Bounds) *bool) Bound {
	return bound(name, "bool", of, func(s string) (bool, error) {
		is, err := strconv.ParseBool(s)
		if err != nil {
			err = i18n.Errorf("error.want.bool")
		}
		return is, err
	}, strconv.FormatBool)
}

// named is a bound of some values with names.
func named[T fmt.Stringer](name string, of func(*Bounds) *T, all ...T) Bound {
	names := lists.Each(all, T.String)
	return bound(name, "string", of, func(s string) (v T, err error) {
		i := slices.Index(names, s)
		if i < 0 {
			return v, i18n.Errorf("error.want.named", "value", s, "near", i18n.Near(s, names), "names",
				strings.Join(names, ", "))
		}
		return all[i], nil
	}, T.String)
}

// Set sets one bound. Parts of a value are separated by commas, or by + as in links. The error names bound and value.
func (b *Bounds) Set(name, value string) error {
	one, known := BoundOf(name)
	err := i18n.Errorf("error.bound.unknown")
	if known {
		err = one.Parse(b, strings.ReplaceAll(value, "+", ","))
	}
	if err != nil {
		return i18n.Errorf("error.bound", "item", name+"="+value, "cause", err)
	}
	return nil
}

// inEveryLink are the bounds that links have first, whatever they are.
var inEveryLink = []string{"clients", "attempts", "retries", "nodes", "ttl", "fenced", "budget"}

// String writes the bounds as ParseBounds reads them, and as links have them.
func (b Bounds) String() string {
	items := b.Items(inEveryLink...)
	for _, one := range Table {
		if one.In != InCommands && !slices.Contains(inEveryLink, one.Name) {
			items = append(items, b.Unlike(Bounds{}, one.Name)...)
		}
	}
	return strings.Join(lists.Each(items, func(item string) string { return strings.ReplaceAll(item, ",", "+") }), ",")
}

// ParseBounds reads what String wrote; what is missing is zero, and Retries auto. The error names the item.
func ParseBounds(written string) (b Bounds, err error) {
	b.Retries = AutoRetries
	for item := range strings.SplitSeq(written, ",") {
		name, value, _ := strings.Cut(item, "=")
		if err := b.Set(name, value); err != nil {
			return b, err
		}
	}
	return b, nil
}

// Items writes the bounds of some names, as in "clients=2".
func (b Bounds) Items(names ...string) []string {
	return lists.Each(names, func(name string) string {
		one, _ := BoundOf(name)
		return one.item(b)
	})
}

// Unlike writes those of the bounds of some names, or of Names, that are not as in usual.
func (b Bounds) Unlike(usual Bounds, names ...string) []string {
	if names == nil {
		names = Names()
	}
	same := usual.Items(names...)
	return lists.Pick(b.Items(names...), func(item string) bool { return !slices.Contains(same, item) })
}

// AsFlags writes items, as in "clients=2", as flags of locklab explore or prove.
func AsFlags(items ...string) string {
	return strings.Join(lists.Each(items, func(item string) string {
		switch name, value, _ := strings.Cut(item, "="); {
		case value == "true":
			return "--" + name
		case name == "budget":
			return "--budget '" + value + "'"
		default:
			return "--" + name + " " + value
		}
	}), " ")
}

// Flags are those of locklab explore that give these bounds: the first and last ones, and what differs without flags.
func (b Bounds) Flags() string {
	first, last := []string{"timing", "clients", "attempts"}, []string{"budget", "max-states"}
	named := slices.Concat(first, last)
	rest := slices.DeleteFunc(Names(), func(name string) bool { return slices.Contains(named, name) })
	return AsFlags(slices.Concat(b.Items(first...), b.Unlike(OpenBounds(), rest...), b.Items(last...))...)
}

// MarshalText writes what String does.
func (b Bounds) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (b *Bounds) UnmarshalText(text []byte) (err error) {
	*b, err = ParseBounds(string(text))
	return err
}
