package simulator

import (
	"reflect"
	"testing"

	"locklab/simulator/node"
)

// Requests that differ in anything are different entries of the table, and have an order. The exceptions
// say how a thread waits for the answer: none waits for that of an orphaned request, and Orphan clears them.
func TestOrphansDifferInEveryField(t *testing.T) {
	cleared := map[string]bool{"Op.D": true, "Op.Open": true}
	var visit func(v reflect.Value, name string, of *node.Orphan)
	visit = func(v reflect.Value, name string, of *node.Orphan) {
		for i := range v.NumField() {
			f, name := v.Field(i), name+v.Type().Field(i).Name
			switch f.Kind() {
			case reflect.Struct:
				visit(f, name+".", of)
				continue
			case reflect.Bool:
				f.SetBool(true)
			case reflect.Uint8, reflect.Uint32, reflect.Uint64:
				f.SetUint(1)
			default:
				f.SetInt(1)
			}
			same := orphansKey([]node.Orphan{*of}) == orphansKey([]node.Orphan{{}})
			if same != cleared[name] {
				t.Errorf("%s makes requests different entries: %v, want %v", name, !same, !cleared[name])
			}
			if equal := compareOrphans(*of, node.Orphan{}) == 0; equal != (cleared[name] || name == "Msg") {
				t.Errorf("%s is in the order of requests: %v", name, !equal)
			}
			f.SetZero()
		}
	}
	var o node.Orphan
	visit(reflect.ValueOf(&o).Elem(), "", &o)
}
