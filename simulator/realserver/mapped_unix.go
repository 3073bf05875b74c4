//go:build !windows

package realserver

import (
	"os"
	"syscall"
)

// mapped is the memory of the first n bytes of a file.
func mapped(f *os.File, n int) ([]byte, error) {
	return syscall.Mmap(int(f.Fd()), 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
}

func unmap(memory []byte) { syscall.Munmap(memory) }
