package locktest

import (
	cryptorand "crypto/rand"
	"encoding/binary"
	mathrand "math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"testing/cryptotest"
	"unsafe"
)

// seedCrypto seeds crypto/rand. The reader that cryptotest has set is seeded anew where
// it is what it was when this was written, which saves a Cleanup of t for each call.
func seedCrypto(t *testing.T, n uint64) {
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], n)
	cryptoMu.Lock()
	defer cryptoMu.Unlock()
	if crypto.reader != nil && cryptorand.Reader == crypto.reader && crypto.stream != nil {
		crypto.stream.Seed(seed)
		return
	}
	cryptotest.SetGlobalRandom(t, n)
	crypto.reader, crypto.stream = cryptorand.Reader, nil
	v := reflect.ValueOf(cryptorand.Reader)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return
	}
	if f := v.Elem().FieldByName("r"); f.IsValid() && f.Type() == reflect.TypeFor[*mathrand.ChaCha8]() {
		crypto.stream = (*mathrand.ChaCha8)(unsafe.Pointer(f.Pointer()))
		crypto.stream.Seed(seed)
	}
}

var (
	cryptoMu sync.Mutex
	crypto   struct {
		reader any
		stream *mathrand.ChaCha8
	}
)
