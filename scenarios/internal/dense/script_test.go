package dense

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// A miniredis takes longer for a script than for all else in a run: it makes a Lua state for
// each. So a script is run once for each content of the server, and what it did is done again.
// That is right if it has looked at no more than that; PTTL as its answer is filled in. One
// time in hundred it is run all the same, and must do what was remembered.

// A memory is what a script has done.
type memory struct {
	reply   string
	ttlOf   string // the reply is what this key has still to live, in ms
	changed []value
}

// same says whether two memories are the same.
func (m *memory) same(o *memory) bool {
	return m.reply == o.reply && m.ttlOf == o.ttlOf && slices.EqualFunc(m.changed, o.changed, func(a, b value) bool {
		return a.key == b.key && a.ttl == b.ttl && a.same(b)
	})
}

// A value is a key of a server.
type value struct {
	key, kind string
	parts     []string
	ttl       time.Duration // kept: that it had; 0: for ever
}

const kept time.Duration = -1

// same says whether two values are the same, apart from their ends.
func (v value) same(o value) bool { return v.kind == o.kind && slices.Equal(v.parts, o.parts) }

// content is all keys, sorted.
func (s *store) content() (all []value) {
	for _, k := range s.m.Keys() {
		v := value{key: k, kind: s.m.Type(k), ttl: s.m.TTL(k)}
		switch v.kind {
		case "string":
			text, _ := s.m.Get(k)
			v.parts = []string{text}
		case "hash":
			fields, _ := s.m.HKeys(k)
			for _, f := range fields {
				v.parts = append(v.parts, f, s.m.HGet(k, f))
			}
		case "list":
			v.parts, _ = s.m.List(k)
		case "zset":
			members, _ := s.m.ZMembers(k)
			for _, member := range members {
				score, _ := s.m.ZScore(k, member)
				v.parts = append(v.parts, member, fmt.Sprint(score))
			}
		default:
			v.parts = []string{fmt.Sprint(s.turn)} // never the same
		}
		all = append(all, v)
	}
	return all
}

// put makes a key what it was then.
func (s *store) put(v value) {
	left := s.m.TTL(v.key)
	s.m.Del(v.key)
	switch v.kind {
	case "string":
		_ = s.m.Set(v.key, v.parts[0])
	case "hash":
		s.m.HSet(v.key, v.parts...)
	case "list":
		_, _ = s.m.Push(v.key, v.parts...)
	case "zset":
		for i := 0; i < len(v.parts); i += 2 {
			s.run(s.own, "ZADD", v.key, v.parts[i+1], v.parts[i])
		}
	}
	switch {
	case v.ttl == kept:
		left = max(left, 0)
	default:
		left = v.ttl
	}
	if v.kind != "" && left > 0 {
		s.m.SetTTL(v.key, left)
	}
}

// eval runs a script, or does what it did before.
func (s *store) eval(peer *server.Peer, args []string) string {
	s.turn++
	before := s.content()
	title := strings.Join(args, "\x00")
	for _, v := range before {
		title += fmt.Sprintf("\x01%s\x00%s\x00%t\x00%s", v.key, v.kind, v.ttl > 0, strings.Join(v.parts, "\x00"))
	}
	m, known := s.memories[title]
	if known && m != nil && s.turn%100 > 0 {
		return s.again(m)
	}
	s.looks, s.askedTTL = false, ""
	reply := s.run(peer, args...)
	if known && m == nil {
		return reply
	}
	learned, sure := s.learn(before, reply)
	if !sure {
		return reply
	}
	if known && learned != nil && !learned.same(m) {
		panic(fmt.Sprintf("a script does %v, and before %v: %q", learned, m, args))
	}
	s.memories[title] = learned
	return reply
}

// again does what a script did.
func (s *store) again(m *memory) string {
	reply := m.reply
	if m.ttlOf != "" {
		reply = fmt.Sprintf(":%d\r\n", s.m.TTL(m.ttlOf).Milliseconds())
	}
	for _, v := range m.changed {
		s.put(v)
	}
	return reply
}

// learn says what a script has done; nil: that hangs on more than the content. It is not sure
// where a key has as long to live as before, and a whole number of milliseconds.
func (s *store) learn(before []value, reply string) (m *memory, sure bool) {
	m = &memory{reply: reply}
	if s.askedTTL != "" {
		if left := s.m.TTL(s.askedTTL); reply != fmt.Sprintf(":%d\r\n", left.Milliseconds()) || left == 0 {
			return nil, true
		}
		m.ttlOf, m.reply = s.askedTTL, ""
	}
	if s.looks {
		return nil, true
	}
	after := s.content()
	for _, v := range after {
		i := slices.IndexFunc(before, func(b value) bool { return b.key == v.key })
		switch {
		case i >= 0 && before[i].ttl == v.ttl && v.ttl > 0 && v.ttl%time.Millisecond == 0:
			return nil, false
		case i >= 0 && before[i].ttl == v.ttl && v.ttl > 0:
			if !before[i].same(v) {
				v.ttl = kept
				m.changed = append(m.changed, v)
			}
		case i < 0 || !before[i].same(v) || v.ttl != before[i].ttl:
			if v.ttl%time.Millisecond != 0 { // moved by what it had
				return nil, true
			}
			m.changed = append(m.changed, v)
		}
	}
	for _, b := range before {
		if !slices.ContainsFunc(after, func(v value) bool { return v.key == b.key }) {
			m.changed = append(m.changed, value{key: b.key})
		}
	}
	return m, true
}

// watch notes what a script looks at beside the content of the server.
func (s *store) watch(command string, args []string) {
	switch command {
	case "PTTL":
		if s.askedTTL == "" || s.askedTTL == args[0] {
			s.askedTTL = args[0]
		} else {
			s.looks = true
		}
	case "TTL", "TIME", "EXPIRETIME", "PEXPIRETIME", "EVALSHA", "SCRIPT", "RANDOMKEY", "SRANDMEMBER", "SPOP":
		s.looks = true
	}
}
