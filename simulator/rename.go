package simulator

import (
	"fmt"
	"slices"
)

// Where several clients run the same code, worlds that differ only in which of
// them is which have the same futures. Renaming turns one into the other. The
// clients' names stand in their tokens (see Client.Token), and with them in
// keys, in requests and in whatever a server may answer.

// Names says how clients are to be called: client c becomes Names[c]. Names[0]
// is not used.
type Names [MaxClients + 1]uint8

// AsymmetricError is code that can tell clients apart: a reply that names one, so
// that whoever hears it knows who is who, or something that one client does and
// another one in its place would not do.
type AsymmetricError struct {
	Reply string // the reply; "": it is the other thing
	Does  string // what it does
}

func (e *AsymmetricError) Error() string {
	if e.Reply == "" {
		return fmt.Sprintf("simulator: one client asks for %s, another in its place does not, so clients cannot change places", e.Does)
	}
	return fmt.Sprintf("simulator: the reply %s names a client, so clients cannot change places", e.Reply)
}

// RenameClient is the part of client from (1-based) as if client to were in its
// place. Both must run the same code. The error is an *AsymmetricError, or one
// of Step's.
func (l *Simulator) RenameClient(part ClientPart, from, to int) (ClientPart, error) {
	if from == to || part.s.dead {
		return part, nil
	}
	if l.zoo != nil { // sessions and the order of transactions tell them apart
		return part, &AsymmetricError{Does: "what its own session is for"}
	}
	for t := range part.s.threads {
		th := &part.s.threads[t]
		if (th.phase == answered || th.phase == blocked) && th.reply != lostConn && l.procs[from-1].nodes[part.s.at].ops[t].kind.toServer() {
			if err := l.nameless(th.reply); err != nil {
				return part, err
			}
		}
	}
	at, err := l.follow(part.s.at, l.procs[from-1], l.procs[to-1])
	part.s.at = at
	return part, err
}

// twin is an entry of the process with the given id.
type renamedHistory struct {
	id int
	at uint32
}

// follow finds the entry of process b that has observed what entry at of
// process a has. That both then do the same, but for their names, is looked at
// and not believed: a token that is cut short or hashed bears no name that could
// be found in a server's data, and code may ask who it is.
func (l *Simulator) follow(at uint32, a, b *process) (uint32, error) {
	if at == 0 {
		return 0, nil
	}
	if to, ok := a.renamedHistories[renamedHistory{b.id, at}]; ok {
		return to, nil
	}
	n := a.nodes[at]
	before, err := l.follow(n.parent, a, b)
	if err != nil {
		return 0, err
	}
	if (n.seen.kind == replied || n.seen.kind == timedOut) && a.nodes[n.parent].ops[n.seen.thread].kind.toServer() {
		if err := l.nameless(uint32(n.seen.val)); err != nil {
			return 0, err
		}
	}
	to, err := b.advance(before, n.seen)
	if err != nil {
		return 0, err
	}
	var swapped Names
	swapped[a.id], swapped[b.id] = uint8(b.id), uint8(a.id)
	if !l.sameDeeds(&n, &b.nodes[to], &swapped) {
		return 0, &AsymmetricError{Does: l.didText(&n)}
	}
	a.renamedHistories[renamedHistory{b.id, at}] = to
	return to, nil
}

// sameDeeds says whether two entries ask for and record the same, but for names.
func (l *Simulator) sameDeeds(a, b *procNode, names *Names) bool {
	if a.fresh != b.fresh || len(a.notes) != len(b.notes) {
		return false
	}
	for i := range a.notes {
		x, y := &a.notes[i], &b.notes[i]
		if x.Kind != y.Kind || x.OK != y.OK || x.Claims != y.Claims || x.Token != y.Token || renameText(x.Note, names) != y.Note {
			return false
		}
	}
	for t := range a.ops {
		x, y := a.ops[t], b.ops[t]
		if x.kind.toServer() && y.kind == x.kind && l.sameBatch(x.batch, y.batch, names) {
			x.batch = y.batch
		}
		if x != y {
			return false
		}
	}
	return true
}

func (l *Simulator) sameBatch(a, b uint32, names *Names) bool {
	if l.table.batches[a].link.rename(names) != l.table.batches[b].link {
		return false
	}
	return slices.EqualFunc(l.table.batches[a].commands, l.table.batches[b].commands, func(x, y []string) bool {
		return slices.EqualFunc(x, y, func(x, y string) bool { return renameText(x, names) == y })
	})
}

func (on link) rename(to *Names) link { return link{renameText(on.conn, to), on.made} }

func (l *Simulator) nameless(reply uint32) error {
	text := l.table.replies[reply].resp
	if renameText(text, &Names{1: 2, 2: 1}) != text || renameText(text, &Names{3: 4, 4: 3, 5: 6, 6: 5, 7: 8, 8: 7}) != text {
		return &AsymmetricError{Reply: l.table.replies[reply].text}
	}
	return nil
}

// RenameNode is a server's part with the clients renamed in its data. The error is a
// *LimitError.
func (l *Simulator) RenameNode(part NodePart, to *Names) (NodePart, error) {
	l.renameData(&part.s.data, to)
	for i := range part.copies {
		l.renameData(&part.copies[i], to)
	}
	for i := range part.s.lacks {
		part.s.lacks[i] = part.s.lacks[i].renamed(to)
	}
	part.s.cut = part.s.cut.renamed(to)
	return part, l.room.Take()
}

func (s clientSet) renamed(to *Names) (renamed clientSet) {
	for c := range int8(MaxClients) {
		if s.has(c + 1) {
			renamed |= 1 << (to[c+1] - 1)
		}
	}
	return renamed
}

func (l *Simulator) renameData(d *dataState, to *Names) {
	from := l.table.shapes[d.shape]
	keys := make([]keyValue, len(from.keys))
	for i, k := range from.keys {
		k.name = renameText(k.name, to)
		parts := make([]string, len(k.parts))
		for j, p := range k.parts {
			parts[j] = renameText(p, to)
		}
		k.parts = parts
		keys[i] = k
	}
	watches := slices.Clone(from.watches)
	for i := range watches {
		w := &watches[i]
		w.conn = renameText(w.conn, to)
		w.keys = slices.Clone(w.keys)
		for j, k := range w.keys {
			w.keys[j] = renameText(k, to)
		}
		slices.Sort(w.keys)
	}
	var subs []sub
	for i := range from.subs {
		subs = append(subs, from.subs[i].renamed(to))
	}
	renamed := newKeyspace(keys, from.scripts, watches...).listened(subs)
	deadline := d.deadline
	for i := range from.ttls {
		deadline[renamed.place(renameText(from.expiring(i).name, to))] = d.deadline[i]
	}
	d.shape, d.deadline = l.table.internShape(renamed), deadline
}

// renameText renames the clients in tokens: c2.1 and the like.
func renameText(s string, to *Names) string {
	var b []byte
	for i := 0; i+2 < len(s); i++ {
		if s[i] != 'c' || s[i+1] < '1' || s[i+1] > '8' || s[i+2] != '.' || i > 0 && isWord(s[i-1]) {
			continue
		}
		if name := to[s[i+1]-'0']; name != 0 && name != s[i+1]-'0' {
			if b == nil {
				b = []byte(s)
			}
			b[i+1] = '0' + name
		}
	}
	if b == nil {
		return s
	}
	return string(b)
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
