package servertest

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"locklab/simulator/effort"
)

// OnlyLoopback checks that a process and its descendants listen on addr, and nowhere but on loopback addresses. Without
// /proc the test is skipped, or fails where the environment says CI=true.
func OnlyLoopback(t testing.TB, pid int, addr string) {
	t.Helper()
	all, err := listening(pid)
	effort.Need(t, err) // only Linux has /proc
	if !slices.Contains(all, addr) {
		t.Fatalf("the process listens on %v, not on %s", all, addr)
	}
	for _, a := range all {
		if !netip.MustParseAddrPort(a).Addr().IsLoopback() {
			t.Fatalf("the process listens on %s, which other machines reach; all: %v", a, all)
		}
	}
}

// listening returns the addresses IP:PORT on which a process and its descendants listen for TCP, from Linux's /proc.
func listening(pid int) (all []string, err error) {
	sockets := map[string]string{} // inode -> address
	for _, table := range []string{"tcp", "tcp6"} {
		lines, err := os.ReadFile("/proc/net/" + table)
		if table == "tcp6" && errors.Is(err, fs.ErrNotExist) {
			break // a machine without IPv6
		}
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(lines)) {
			const local, state, inode, listens = 1, 3, 9, "0A"
			if f := strings.Fields(line); len(f) > inode && f[state] == listens {
				if sockets[f[inode]], err = socketAddress(f[local]); err != nil {
					return nil, err
				}
			}
		}
	}
	family, err := descendants(pid)
	if err != nil {
		return nil, err
	}
	for _, p := range family {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p)) // the pattern is well formed
		for _, f := range files {
			to, _ := os.Readlink(f) // the file may be closed by now
			inode := strings.TrimSuffix(strings.TrimPrefix(to, "socket:["), "]")
			if a := sockets[inode]; a != "" && !slices.Contains(all, a) {
				all = append(all, a)
			}
		}
	}
	slices.Sort(all)
	return all, nil
}

// socketAddress reads an address as /proc/net/tcp has it: 32-bit words in the machine's order of bytes, and the port.
func socketAddress(s string) (string, error) {
	host, port, _ := strings.Cut(s, ":")
	b, err := hex.DecodeString(host)
	if err != nil {
		return "", err
	}
	for i := 0; i+4 <= len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	n, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		return "", err
	}
	ip, ok := netip.AddrFromSlice(b)
	if !ok {
		return "", fmt.Errorf("%q is no address", s)
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(n)).String(), nil
}

// descendants returns a process and all that it has started, directly or not, and that run.
func descendants(pid int) ([]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, file := range stats {
		line, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		var child, parent int
		var state string
		after := strings.LastIndex(string(line), ")") // a name may have spaces and brackets
		if _, err := fmt.Sscan(string(line[after+1:]), &state, &parent); err != nil {
			return nil, err
		}
		if _, err := fmt.Sscan(string(line), &child); err != nil {
			return nil, err
		}
		children[parent] = append(children[parent], child)
	}
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all, nil
}
